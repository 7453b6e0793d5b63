"""A goal: how near an answer is to what the attacker wants, and whether it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from scuff.attacks.goals import Goal
from scuff.text.ragged import Floats, Mask
from scuff.victims import Access


@dataclass(frozen=True)
class Unsure(Goal):
    """The score of the right label falls below `below`, whichever label wins."""

    below: float = 0.6

    name: ClassVar[str] = "unsure"
    summary: ClassVar[str] = "the model is no longer sure of the right answer"
    tasks = ("single",)

    @property
    def needs(self) -> Access:
        return Access.SCORE

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        right = scores[range(len(scores)), targets]
        return 1 - right, right < self.below
