"""The words of a text as the network of tier `context` reads them, and what stands between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...text.corpus import Corpus
from ...text.ragged import Ints, Ragged, bounds, spread
from ...text.words import Spans
from ..word_parts import HYPHENS, at_hyphens, has_own
from . import features as ft


@dataclass(frozen=True, eq=False)
class Units:
    """Parts of words: a hyphenated word is several, and 's is something that stands behind one."""

    spans: Spans
    corpus: Corpus

    @classmethod
    def of(cls, corpus: Corpus) -> Units:
        parts, _ = at_hyphens(corpus.codes, corpus.words, HYPHENS)
        spans = Spans(parts.row, parts.start, parts.stop - 2 * has_own(corpus.codes, parts))
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
