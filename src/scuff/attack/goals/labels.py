"""Any other answer, or a certain one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...text.dataset import Task
from ...text.ragged import Floats, Mask
from ...victims.base import Outputs
from .base import THERE, WRONG, Goal, Reasons, named, reasons


@dataclass(frozen=True)
class Untargeted(Goal):
    """Any wrong answer: 1 - the score of the right label; for label sets, of the label that is least sure to be right."""

    name: ClassVar[str] = "untargeted"
    summary: ClassVar[str] = "any other answer than the right one"

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        if self.task == "single":
            return 1 - scores[np.arange(len(scores)), targets], scores.argmax(1) != targets
        sure = np.where(targets, scores, 1 - scores)
        return 1 - sure.min(1), ~self.right(scores, targets)


@dataclass(frozen=True)
class Targeted(Goal):
    """One class, whatever the text was: its score."""

    label: str = ""

    name: ClassVar[str] = "targeted"
    summary: ClassVar[str] = "a class that you name"
    tasks: ClassVar[tuple[Task, ...]] = ("single",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", str(self.label))  # labels may look like numbers

    def ready(self, task: Task, labels: Sequence[str]) -> Goal:
        mine = super().ready(task, labels)
        if self.label not in labels:
            raise ValueError(f"expected one of {named(labels)} for targeted.label, got {self.label!r}")
        return mine

    @property
    def wanted(self) -> int:
        return self.labels.index(self.label)

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        wrong = ~self.right(outputs.answers, targets)
        return reasons(len(outputs), (targets == self.wanted, THERE), (wrong, WRONG))

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        return scores[:, self.wanted], scores.argmax(1) == self.wanted

    def weights(self, targets: npt.NDArray[Any]) -> Floats:
        return np.tile(-np.eye(len(self.labels))[self.wanted], (len(targets), 1))
