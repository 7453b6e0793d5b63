"""The words of a text as the network of tier `context` reads them, and what stands between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...text.corpus import Corpus
from ...text.ragged import Ints, Ragged, bounds, spread
from ...text.words import Spans
from . import features as ft

HYPHENS = (0x2D, 0x2010, 0x2011)
APOSTROPHES = (0x27, 0x2019)


@dataclass(frozen=True, eq=False)
class Units:
    """Parts of words: a hyphenated word is several, and 's is something that stands behind one."""

    spans: Spans
    corpus: Corpus

    @classmethod
    def of(cls, corpus: Corpus) -> Units:
        codes, words = corpus.codes, corpus.words
        inside = spread(words.start, words.stop - words.start)
        hyphen = inside[np.isin(codes[inside], HYPHENS)]
        word = np.searchsorted(words.start, hyphen, "right") - 1
        start = np.sort(np.concatenate((words.start, hyphen + 1)), kind="stable")
        stop = np.sort(np.concatenate((words.stop, hyphen)), kind="stable")
        row = np.repeat(words.row, 1 + np.bincount(word, minlength=len(words)))
        end = np.append(codes, np.zeros(2, np.uint32))
        own = (stop - start > 2) & np.isin(end[stop - 1], (0x53, 0x73)) & np.isin(end[stop - 2], APOSTROPHES)
        spans = Spans(row, start, stop - 2 * own)
        return cls(spans.where(spans.stop > spans.start), corpus)

    def __len__(self) -> int:
        return len(self.spans)

    @cached_property
    def text(self) -> Ragged:
        return self.corpus.cut(self.spans)

    def gaps(self) -> tuple[Ints, Ints]:
        """What stands before and behind each unit, as features.gaps numbers it."""
        row, start, stop = self.spans.row, self.spans.start, self.spans.stop
        offsets = self.corpus.offsets
        opens, closes = np.diff(row, prepend=-1) != 0, np.diff(row, append=-1) != 0
        before = np.where(opens, offsets[row], np.append(0, stop[:-1]))
        after = np.where(closes, offsets[row + 1], np.append(start[1:], 0))
        return self._gap(before, start), self._gap(stop, after)

    def _gap(self, start: Ints, stop: Ints) -> Ints:
        length = np.maximum(stop - start, 0)
        return ft.gaps(Ragged(self.corpus.codes[spread(start, length)], bounds(length)))
