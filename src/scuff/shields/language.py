"""Whether short texts are in another language than English, as far as their small words tell."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..text.language import WORDS
from ..text.ragged import Bits, Ints, Mask, Ragged, spread
from ..text.words import Spans
from .hashes import word_bits
from .lexicon import folded
from .tongues import languages_of

ENOUGH = 2  # small words of another language
SHARE = 0.25  # of the words of a text: frequent ones of another language
KNOWN = 0.9  # the share of words that are known from which a text is English beyond doubt
ENGLISH = "on man two com sen van den"  # besides those of WORDS, which are listed for longer texts


@cache
def _small_words() -> tuple[Bits, Bits]:
    """Hashes of small words, sorted, and the languages that have each, as bits: the first is English, whose words no other has.

    Letters by themselves do not count: they may be those of a word with blanks in it.
    """
    english = {*WORDS["en"].split(), *ENGLISH.split()}
    languages = dict.fromkeys(english, 1)
    for bit, code in enumerate(code for code in WORDS if code != "en"):
        for word in WORDS[code].split():
            if word not in english:
                languages[word] = languages.get(word, 0) | 2 << bit
    words = [word for word in languages if len(word) > 1]
    keys = word_bits(Ragged.of(words))
    order = np.argsort(keys)
    return keys[order], np.array([languages[word] for word in words], np.uint64)[order]


def english(texts: Ragged, words: Spans, known: Mask, rows: Ints) -> Mask:
    """Which texts do not have more small words of another language than English ones.

    It is asked for some rows; the others, and those with many known words, count as English.
    """
    many = words.per_row(len(texts))
    share = np.bincount(words.row[known], minlength=len(texts)) / np.maximum(many, 1)
    asked = np.zeros(len(texts), np.bool_)
    asked[rows] = True
    asked &= share < KNOWN
    first = np.searchsorted(words.row, np.arange(len(texts)))
    some = words.where(spread(first[asked], many[asked]))
    keys = word_bits(folded(some.cut(texts)))
    small, languages = _small_words()
    at = np.minimum(np.searchsorted(small, keys), small.size - 1)
    hit = np.flatnonzero(small[at] == keys)
    row, spoken = some.row[hit], languages[at[hit]]
    count = np.stack(
        [
            np.bincount(row[(spoken >> np.uint64(bit) & np.uint64(1)) > 0], minlength=len(texts))
            for bit in range(len(WORDS))
        ]
    )
    other = count[1:].max(0)
    return ~(asked & (other >= ENOUGH) & (other > count[0])) & ~_spoken(some, keys, count[0], asked, many)


def _spoken(words: Spans, keys: Bits, usual: Ints, asked: Mask, many: Ints) -> Mask:
    """Which texts have many frequent words of one of many languages, and far fewer small English ones."""
    tongues = languages_of(keys)
    hit = np.flatnonzero(tongues)
    most = np.zeros(many.size, np.int64)
    for bit in range(int(tongues.max(initial=0)).bit_length()):
        mine = hit[(tongues[hit] >> np.uint64(bit) & np.uint64(1)) > 0]
        most = np.maximum(most, np.bincount(words.row[mine], minlength=many.size))
    found: Mask = asked & (most >= ENOUGH) & (most > 2 * usual) & (most >= SHARE * many)
    return found
