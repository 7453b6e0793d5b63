"""Constraints on characters: the edit distance and chrF between a changed text and the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...metrics.chrf import chrf_distance
from ...metrics.edit import LONG, edit_distance, edits_distance
from ...specs import check_count, check_number
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Mask
from .base import Constraint

if TYPE_CHECKING:
    from ..candidates import Candidates


@dataclass(frozen=True)
class EditDistance(Constraint):
    """At most `most` characters are inserted, deleted or replaced (Levenshtein; DeepWordBug, Gao et al. 2018: 30).

    For a text of more than 5,000 characters the distances of its edits are summed, which is never too low.
    """

    most: int = 30

    name: ClassVar[str] = "edit-distance"
    summary: ClassVar[str] = "at most so many characters change"

    def __post_init__(self) -> None:
        check_count(self.most, 0, "edit-distance.most")

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        return edits_distance(before, edits) <= self.most

    def allows(self, candidates: Candidates) -> Mask:
        if not candidates.simple:
            return super().allows(candidates)
        fine = candidates.farthest <= self.most
        unsure = np.flatnonzero(~fine & (candidates.lengths <= LONG)).tolist()
        if unsure:
            # pairs of all: those that are allowed are asked about, so their texts have to be written anyway
            before, after = ([texts[at] for at in unsure] for texts in candidates.pairs)
            fine[unsure] = edit_distance(before, after, self.most) <= self.most
        return fine


@dataclass(frozen=True)
class Chrf(Constraint):
    """chrF of the changed text against the original, in [0, 1] (Popović 2015), is at least `least`."""

    least: float = 0.5

    name: ClassVar[str] = "chrf"
    summary: ClassVar[str] = "most character n-grams are kept"

    def __post_init__(self) -> None:
        check_number(self.least, 0, 1, "chrf.least")

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        return 1 - chrf_distance(before.strings(), after.strings()) >= self.least - 1e-9
