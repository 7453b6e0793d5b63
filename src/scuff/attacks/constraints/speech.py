"""A constraint on parts of speech: edited words keep theirs, judged among the tokens around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ...english.tagger import UNIVERSAL, tag_words
from ...english.tokens import sentences
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Ints, Mask, bounds
from ...text.random import text_bits
from ...text.words import Spans
from .base import Constraint
from .words import edited_words

NEAR = 4  # tokens on each side, as in TextFooler: 997 of 1,000 tags are then those of the whole sentence
HYPHENS = ("-", "‐", "‑")

Window = tuple[tuple[str, ...], int]  # tokens, and the place of the one whose tag is wanted
GONE: Window = ((), 0)  # of a deleted word


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The tokens of some texts. Positions count from the start of the first text. Sentences in capitals are lowercased."""

    words: list[str]
    start: Ints
    stop: Ints
    begin: Ints  # the number of the first token of its sentence
    end: Ints  # and of the first of the next sentence
    loud: Mask  # whether its sentence was in capitals

    @classmethod
    def of(cls, texts: Sequence[str], offsets: Ints) -> TokenTable:
        words: list[str] = []
        spans: list[tuple[int, int]] = []
        length, loud = [], []
        for text, offset in zip(texts, offsets.tolist(), strict=False):
            for sentence in sentences(text):
                tokens = [text[a:b] for a, b in sentence]
                capitals = len(tokens) > 3 and "".join(tokens).isupper()  # the tagger takes capitals for names
                words += [token.lower() for token in tokens] if capitals else tokens
                spans += [(offset + a, offset + b) for a, b in sentence]
                length.append(len(tokens))
                loud.append(capitals)
        start, stop = np.array(spans, np.int64).reshape(-1, 2).T
        count = np.array(length, np.int64)
        edges = bounds(count)
        begin, end = np.repeat(edges[:-1], count), np.repeat(edges[1:], count)
        return cls(words, start, stop, begin, end, np.repeat(np.array(loud, np.bool_), count))


def windows(before: Corpus, after: Corpus, old: Spans, new: Spans) -> tuple[list[Window], list[Window]]:
    """The window of each edited word, before and after the edits. Each original text is split into tokens once."""
    _, first_row, text = np.unique(text_bits(before), return_index=True, return_inverse=True)
    originals = before.take(first_row)
    texts = originals.strings()
    tokens, joined = TokenTable.of(texts, originals.offsets), "".join(texts)
    shift = originals.offsets[text[old.row]] - before.offsets[old.row]
    start, stop = old.start + shift, old.stop + shift
    first, last = np.searchsorted(tokens.stop, start, "right"), np.searchsorted(tokens.start, stop)
    low = np.maximum(first - NEAR, tokens.begin[first])
    high = np.minimum(last + NEAR, tokens.end[last - 1])
    # the edited words inside each window have numbers from `near` up to `far`
    apart = old.row * (len(tokens.words) + 1)
    near, far = np.searchsorted(apart + last, apart + low, "right"), np.searchsorted(apart + first, apart + high)

    spelt = after.cut(new).strings()
    more = (tokens.start[first] < start) | (tokens.stop[last - 1] > stop)  # a token may be longer than its word: @user
    for at in np.flatnonzero(more & (new.stop > new.start)).tolist():
        left, right = joined[tokens.start[first[at]] : start[at]], joined[stop[at] : tokens.stop[last[at] - 1]]
        spelt[at] = left + spelt[at] + right
    fresh = [_cut(word) for word in spelt]
    for at in np.flatnonzero(tokens.loud[first]).tolist():
        fresh[at] = tuple(token.lower() for token in fresh[at])

    was, now, words = [], [], tokens.words
    begin, end = first.tolist(), last.tolist()
    for at, (a, b, i, j) in enumerate(zip(low.tolist(), high.tolist(), near.tolist(), far.tolist(), strict=True)):
        was.append((tuple(words[a:b]), begin[at] - a + _head(words[begin[at] : end[at]])))
        window: list[str] = []
        place, done = 0, a
        for other in range(i, j):
            alone = done <= begin[other] and (other > at or end[other] <= begin[at])
            if other == at or alone:  # of two words in one token, as in an address, only `at` itself
                window += words[done : begin[other]]
                place = len(window) if other == at else place
                window += fresh[other]
                done = end[other]
        now.append(((*window, *words[done:b]), place + _head(fresh[at])) if fresh[at] else GONE)
    return was, now


@lru_cache(1 << 16)
def _cut(word: str) -> tuple[str, ...]:
    """The tokens of a word: `do` and `n't` of `don't`."""
    return tuple(word[a:b] for sentence in sentences(word) for a, b in sentence)


def _head(tokens: Sequence[str]) -> int:
    """The place of the token that decides a word's part of speech: the one after the last hyphen, else the first."""
    if len(tokens) == 1:
        return 0
    return max((at for at in range(1, len(tokens)) if tokens[at - 1] in HYPHENS), default=0)


EITHER = ("NOUN", "VERB")  # parts of speech that count as equal unless strict


@dataclass(frozen=True)
class PartOfSpeech(Constraint):
    """Every edited word keeps its universal part of speech, judged among the tokens around it in its sentence.

    strict=False: nouns and verbs may replace each other (TextFooler, Jin et al. 2020). The tagger guesses what a misspelt word
    is, as in the papers. Other edited words nearby are taken as they are after their edits. A word may not be deleted. English
    only.
    """

    strict: bool = True

    name: ClassVar[str] = "pos"
    summary: ClassVar[str] = "edited words keep their part of speech"

    def __post_init__(self) -> None:
        if not isinstance(self.strict, bool):
            raise ValueError(f"expected True or False for pos.strict, got {self.strict!r}")

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        old, new = edited_words(before, edits)
        was, now = map(_tags, windows(before, after, old, new))
        fine = np.array([self._same(one, other) for one, other in zip(was, now, strict=True)], np.bool_)
        allowed = np.ones(len(before), np.bool_)
        allowed[old.row[~fine]] = False
        return allowed

    def _same(self, one: str, other: str) -> bool:
        return one == other or (not self.strict and one in EITHER and other in EITHER)


REMEMBERED = 1 << 17  # windows whose tags are kept: searches try them again and again
_known: dict[Window, str] = {}


def _tags(asked: Sequence[Window]) -> list[str]:
    """The universal tag of each window's word; "" for a deleted word."""
    if len(_known) > REMEMBERED:
        _known.clear()
    new = list(dict.fromkeys(window for window in asked if window not in _known))
    for window, tags in zip(new, tag_words([tokens for tokens, _ in new]), strict=True):
        _known[window] = UNIVERSAL[tags[window[1]]] if tags else ""
    return [_known[window] for window in asked]
