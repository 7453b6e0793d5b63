"""How texts end and how they are written: what something that is added to them must follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..text import Corpus
from ..text.ragged import Ints, Mask, sums
from ..text.unicode import case_map


def _table(characters: str) -> Mask:
    table = np.zeros(0xFFFF, np.bool_)  # its last entry stands for all characters behind
    table[[ord(c) for c in characters]] = True
    return table


WHITE = _table("".join(chr(c) for c in range(0x3001) if chr(c).isspace()))
CLOSING = WHITE | _table("\"'`´)]}’”»›」』】）")
STOPS = _table(".!?…‽。！？؟।॥։")  # they end a sentence
MARKS = _table(".,!?;:")


@dataclass(frozen=True, eq=False)
class Endings:
    """Of each text that has something in it."""

    row: Ints
    end: Ints  # behind its last character that is not white space, counted from the beginning of all codes
    stopped: Mask  # it ends with a sentence
    plain: Mask  # it ends with a word between blanks, so that a comma may follow
    spaced: Mask  # it puts a space before punctuation
    lower: Mask  # it has letters, none of them a capital

    @classmethod
    def of(cls, corpus: Corpus) -> Endings:
        white, closing = (_among(table, corpus) for table in (WHITE, CLOSING))
        last = _last(~white, corpus)
        row = np.flatnonzero(last >= 0)
        end, close = last[row] + 1, _last(~closing, corpus)[row]
        stopped = (close >= 0) & _among(STOPS, corpus)[close]
        before, after = np.append(True, white[:-1]), np.append(white[1:], True)
        before[corpus.offsets[:-1][corpus.lengths > 0]] = False
        after[corpus.offsets[1:][corpus.lengths > 0] - 1] = True
        spaced = sums(_among(MARKS, corpus) & before & after, corpus.offsets)[row] > 0
        changes = [(case_map(upper=upper)[corpus.codes] != corpus.codes) for upper in (False, True)]
        capitals, small = (sums(change, corpus.offsets)[row] for change in changes)
        return cls(row, end, stopped, _ends_in_word(corpus, end), spaced, (capitals == 0) & (small > 0))


def _ends_in_word(corpus: Corpus, end: Ints) -> Mask:
    words = corpus.words
    if not len(words):
        return np.zeros(end.size, np.bool_)
    at = np.maximum(np.searchsorted(words.stop, end, "right") - 1, 0)
    begin = words.start[at]
    first = begin == corpus.offsets[words.row[at]]
    return (words.stop[at] == end) & (first | WHITE[np.minimum(corpus.codes[begin - 1], WHITE.size - 1)])


def _among(table: Mask, corpus: Corpus) -> Mask:
    return table[np.minimum(corpus.codes, table.size - 1)]


def _last(wanted: Mask, corpus: Corpus) -> Ints:
    """The last position of each text that is wanted; -1 if there is none."""
    at = np.append(-1, np.flatnonzero(wanted))
    last = at[np.searchsorted(at, corpus.offsets[1:]) - 1]
    return np.where(last >= corpus.offsets[:-1], last, -1)
