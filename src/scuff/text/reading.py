"""How far a model reads that takes only so many pieces of a text: what stands behind its last word cannot change its answer.

A word here is what stands between blanks and has an ASCII letter or digit: every tokenizer that cuts at blanks makes at least one
piece of it. So a model of `most` pieces reads `most` words at most, whatever the text; in other scripts, or without blanks, it is
taken to read everything. One word more is kept, since a tokenizer may look at what follows a blank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .edits import Edits
from .ragged import Ints, Mask, Ragged, bounds, rows_of, spread

BLANK = ord(" ")


def _plain(codes: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> Mask:
    """Which code points are ASCII letters or digits."""
    lower = codes | 32
    return ((codes >= 48) & (codes <= 57)) | ((lower >= 97) & (lower <= 122) & (codes < 128))


@dataclass(frozen=True, eq=False)
class Reading:
    """The words of some texts, of which a model reads `most` at most. start, stop: of each, counted from the start of its text.
    Those of text i are edges[i]:edges[i + 1]. lengths: of the texts.
    """

    most: int
    start: Ints
    stop: Ints
    edges: Ints
    lengths: Ints

    @classmethod
    def of(cls, texts: Ragged, most: int) -> Reading:
        """The words of texts. most: pieces that the model takes of a text."""
        inside = texts.codes != BLANK
        edge = np.zeros(texts.codes.size + 1, np.bool_)  # where a text begins
        edge[texts.offsets] = True
        before, behind = np.append(False, inside), np.append(inside, False)
        start = np.flatnonzero(behind & (~before | edge))
        stop = np.flatnonzero(before & (~behind | edge))
        solid = bounds(_plain(texts.codes))
        counts = solid[stop] > solid[start]
        start, stop = start[counts], stop[counts]
        edges = np.searchsorted(start, texts.offsets)
        at = texts.offsets[rows_of(start, texts.offsets)]
        return cls(most + 1, start - at, stop - at, edges, texts.lengths)

    @property
    def long(self) -> Mask:
        """Which texts have words that the model does not read."""
        return self.edges[1:] - self.edges[:-1] > self.most

    def end(self, rows: Ints, more: Ints | int = 0) -> Ints:
        """How far the model reads at most in each of these texts, if `more` of its words are gone; else its length."""
        at = self.edges[rows] + self.most + more
        there = at <= self.edges[rows + 1]
        return np.where(there, np.append(self.stop, 0)[np.where(there, at - 1, 0)], self.lengths[rows])

    def hit(self, edits: Edits) -> Ints:
        """How many words each edit may take away: all that it touches or stands beside."""
        wide = int(self.lengths.max(initial=0)) + 4  # so that texts do not mix
        row = np.repeat(np.arange(self.lengths.size), self.edges[1:] - self.edges[:-1])
        start, stop = self.start + row * wide, self.stop + row * wide
        at = edits.row * wide
        return np.searchsorted(start, at + edits.stop, "right") - np.searchsorted(stop, at + edits.start)

    def cut(self, texts: Ragged, spare: int) -> Ragged:
        """The texts as far as the model reads if up to `spare` of their words are gone."""
        length = np.where(self.long, self.end(np.arange(len(texts)), spare), texts.lengths)
        return Ragged(texts.codes[spread(texts.offsets[:-1], length)], bounds(length))

    def first(self, text: str) -> str:
        """A text up to its last word that the model reads: equal for two texts that the model cannot tell apart."""
        left, at = self.most, 0
        for word in text.split(" "):
            at += len(word) + 1
            if (word.isascii() and word.isalnum()) or any(letter.isascii() and letter.isalnum() for letter in word):
                left -= 1
                if not left:
                    return text[: at - 1]
        return text
