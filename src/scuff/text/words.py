"""Words and letters: found once on the original text, carried through every edit, never found again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .ragged import Bits, Codes, Ints, Mask, Ragged, bounds, spread
from .random import text_bits
from .unicode import Classes, word_class
from .unicode_data import CONNECTOR, DIGIT, LETTER, LOWER, UPPER

WORDY = np.isin(np.arange(8), (LOWER, UPPER, LETTER, DIGIT))


@dataclass(frozen=True, eq=False)
class Spans:
    """Stretches of documents: `start` and `stop` count from the beginning of all codes, `row` is the document."""

    row: Ints
    start: Ints
    stop: Ints

    def __len__(self) -> int:
        return self.row.size

    def where(self, chosen: Mask | Ints) -> Spans:
        """Some of these spans, by mask or by index."""
        return Spans(self.row[chosen], self.start[chosen], self.stop[chosen])

    def per_row(self, rows: int) -> Ints:
        """How many spans each document has."""
        return np.bincount(self.row, minlength=rows)

    def cut(self, texts: Ragged) -> Ragged:
        """The text of each span."""
        length = self.stop - self.start
        return Ragged(texts.codes[spread(self.start, length)], bounds(length))


@dataclass(frozen=True, eq=False)
class Letters:
    """The grapheme clusters of all words; those of word i are first[i]:first[i + 1]."""

    codes: Codes
    start: Ints
    stop: Ints
    first: Ints
    joiner: Mask  # an inner apostrophe or hyphen: part of the word, no letter of it

    def of_words(self, which: Ints) -> Letters:
        """The letters of some words."""
        count = np.diff(self.first)[which]
        index = spread(self.first[which], count)
        return Letters(self.codes, self.start[index], self.stop[index], bounds(count), self.joiner[index])

    @cached_property
    def word(self) -> Ints:
        """The number of the word that each letter is in."""
        return np.repeat(np.arange(self.first.size - 1), np.diff(self.first))

    @cached_property
    def count(self) -> Ints:
        """Letters per word."""
        if not self.joiner.any():
            return np.diff(self.first)
        return np.bincount(self.word[~self.joiner], minlength=self.first.size - 1)

    @cached_property
    def identity(self) -> Bits:
        """Equal for equal letters: the code point itself, or a hash for a cluster of several."""
        out = self.codes[self.start].astype(np.uint64)
        many = np.flatnonzero(self.stop - self.start > 1)
        if many.size:
            length = self.stop[many] - self.start[many]
            out[many] = text_bits(Ragged(self.codes[spread(self.start[many], length)], bounds(length)))
        return out


def find_words(code_classes: Classes, offsets: Ints, tail: Ints) -> Spans:
    """Maximal runs of letters, digits and marks, with single inner apostrophes and hyphens.

    Scripts written without spaces (Chinese, Japanese, Thai) give whole runs: finding their words takes a dictionary.
    `tail` holds the positions that continue a grapheme cluster.
    """
    kind = word_class(code_classes)
    inside = WORDY[kind]
    if tail.size:  # the rest of a cluster goes with its first code point
        opens = np.diff(tail, prepend=-1) != 1
        inside[tail] = inside[(tail[opens] - 1)[np.cumsum(opens) - 1]]
    joiner = np.flatnonzero(kind == CONNECTOR)
    joiner = joiner[(joiner > 0) & (joiner < inside.size - 1)]
    row_start = offsets[np.searchsorted(offsets, joiner, "right") - 1]
    row_stop = offsets[np.searchsorted(offsets, joiner, "right")]
    kept = (joiner > row_start) & (joiner + 1 < row_stop) & inside[joiner - 1] & inside[joiner + 1]
    inside[joiner[kept]] = True

    edges = offsets[:-1][np.diff(offsets) > 0]  # first code of each document that is not empty
    before = np.concatenate(([False], inside[:-1]))
    before[edges] = False
    after = np.concatenate((inside[1:], [False]))
    after[edges[1:] - 1] = False
    start = np.flatnonzero(inside & ~before)
    stop = np.flatnonzero(inside & ~after) + 1
    row = np.repeat(np.arange(offsets.size - 1), np.diff(np.searchsorted(start, offsets)))
    return Spans(row, start, stop)


def find_letters(codes: Codes, code_classes: Classes, tail: Ints, words: Spans) -> Letters:
    """Split words into grapheme clusters. The first code of a word starts a letter whatever stands before the word."""
    length = words.stop - words.start
    index = spread(words.start, length)
    first = bounds(length)
    if tail.size:
        head = np.ones(codes.size, np.bool_)
        head[tail] = False
        head[words.start] = True
        head = head[index]
        index = index[head]
        first = np.concatenate(([0], np.cumsum(head)))[first]
        stop = np.append(index, 0)[1:]
        stop[first[1:] - 1] = words.stop
    else:
        stop = index + 1
    return Letters(codes, index, stop, first, ~WORDY[word_class(code_classes[index])])
