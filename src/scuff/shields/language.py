"""Whether a short text is in another language than English, as far as its small words tell."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from ..text.language import WORDS
from ..text.ragged import Ints, Mask, Ragged
from ..text.words import Spans

WORD = re.compile(r"[^\W\d_]{2,}(?:['’][^\W\d_]+)*")  # letters by themselves may be those of a word with blanks in it
ENOUGH = 2  # small words of another language
MOST = 2000  # characters that are looked at


KNOWN = 0.9  # the share of words that are known from which a text is English beyond doubt


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """Word to the languages that have it, of words that English does not have."""
    out: dict[str, tuple[str, ...]] = dict.fromkeys((*WORDS["en"].split(), "on", "man", "two"), ("en",))
    for code, words in WORDS.items():
        for word in words.split():
            if out.get(word) != ("en",):
                out[word] = (*out.get(word, ()), code)
    return out


def is_foreign(text: str) -> bool:
    """Whether a text has more small words of another language than English ones."""
    count: dict[str, int] = {}
    for word in WORD.findall(text[:MOST].lower()):
        for code in _languages().get(word, ()):
            count[code] = count.get(code, 0) + 1
    most = max((number for code, number in count.items() if code != "en"), default=0)
    return most >= ENOUGH and most > count.get("en", 0)


def english(texts: Ragged, words: Spans, known: Mask, rows: Ints) -> Mask:
    """Which texts are not in another language; it is asked for some rows, the others count as English."""
    out = np.ones(len(texts), np.bool_)
    share = np.bincount(words.row[known], minlength=len(texts)) / np.maximum(words.per_row(len(texts)), 1)
    rows = np.unique(rows)
    rows = rows[share[rows] < KNOWN]
    for row, text in zip(rows.tolist(), Ragged.take(texts, rows).strings(), strict=True):
        out[row] = not is_foreign(text)
    return out
