"""Constraints on characters: the edit distance and chrF between a changed text and the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...metrics.chrf import chrf_distance
from ...metrics.edit import edits_distance
from ...specs import check_count, check_number
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Mask
from .base import Constraint


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
