"""Wrong tags, and the same answer to fewer words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...text.dataset import Task
from ...text.ragged import Floats, Mask
from ...victims.base import Outputs
from .base import WRONG, Goal, Reasons, reasons


@dataclass(frozen=True)
class Tags(Goal):
    """Wrong tags: the share of tokens with one, until `share` is reached."""

    share: float = 0.5

    name: ClassVar[str] = "tags"
    summary: ClassVar[str] = "a share of wrong tags"
    tasks: ClassVar[tuple[Task, ...]] = ("tokens",)

    def __post_init__(self) -> None:
        if type(self.share) not in (int, float) or not 0 < self.share <= 1:
            raise ValueError(f"expected a number in (0, 1] for tags.share, got {self.share!r}")

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        wrong = np.array(
            [np.mean(a != b) if len(a) == len(b) > 0 else 0.0 for a, b in zip(scores, targets, strict=True)]
        )
        return wrong, wrong >= self.share

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        _, there = self.judge(outputs.answers, targets, np.zeros(len(outputs)))
        return reasons(len(outputs), (there, WRONG))


@dataclass(frozen=True)
class Reduction(Goal):
    """The same right answer with as few words as possible (Feng et al. 2018): the share that was left out."""

    name: ClassVar[str] = "reduction"
    summary: ClassVar[str] = "the same answer to as few words as possible"
    tasks: ClassVar[tuple[Task, ...]] = ("single",)
    transforms: ClassVar[tuple[str, ...]] = ("omit",)
    open_ended: ClassVar[bool] = True

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        sure, kept = scores[np.arange(len(scores)), targets], scores.argmax(1) == targets
        there = kept & (changed > 0) & (changed < 1)  # an empty text is no reduction
        return np.where(there, changed * 0.99 + sure * 0.01, sure), there
