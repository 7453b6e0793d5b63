"""What an attacker wants to hear, as a signed margin: above 0 it is reached, and a larger one is always nearer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...text.calls import spec_of
from ...text.dataset import TASK_WORDS, Task
from ...text.ragged import Floats, Mask
from ...victims.base import OTHER, Access, Outputs

Reasons = npt.NDArray[np.object_]
WRONG, NOT_TOXIC, MISSED, THERE = "already wrong", "not toxic", "missed by the model", "already the target"


@dataclass(frozen=True)
class Goal(ABC):
    """Called with answers and the targets of their examples. `ready` tells it what the model's labels are."""

    task: Task | None = field(default=None, init=False, repr=False)
    labels: tuple[str, ...] = field(default=(), init=False, repr=False)

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    tasks: ClassVar[tuple[Task, ...]] = ("single", "multi")
    transforms: ClassVar[tuple[str, ...]] = ()  # the only ones that it makes sense with; none: any
    open_ended: ClassVar[bool] = False  # there is always a better text: a search goes on after the first success

    def ready(self, task: Task, labels: Sequence[str]) -> Goal:
        """This goal for a model; what does not fit is told here."""
        if task not in self.tasks:
            wanted = " or ".join(TASK_WORDS[kind] for kind in self.tasks)
            hint = ": --goal tags" if task == "tokens" else ""
            raise ValueError(f"expected data with {wanted} for the goal {self.name}, got {TASK_WORDS[task]}{hint}")
        mine = replace(self)
        object.__setattr__(mine, "task", task)
        object.__setattr__(mine, "labels", tuple(labels))
        return mine

    @property
    def spec(self) -> str:
        return spec_of(self)

    @property
    def needs(self) -> Access:
        """What a model must tell for this goal."""
        return Access.DECISION

    def __call__(self, outputs: Outputs, targets: npt.NDArray[Any], changed: Floats) -> Floats:
        """The margin of each answer, nan where there is none. `changed`: the share of words that differ from the original."""
        out = np.full(len(outputs), np.nan)
        rows = np.flatnonzero(outputs.answered)
        if rows.size:
            score, reached = self.judge(self.scores(outputs.answers[rows]), targets[rows], changed[rows])
            out[rows] = np.where(reached, np.maximum(score, 1e-9), np.minimum(score - 1, 0))
        return out

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        """Why an example is not attacked, "" if it is: the answers are those to the original texts, and given."""
        return reasons(len(outputs), (~self.right(outputs.answers, targets), WRONG))

    @abstractmethod
    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        """How near each answer is, in [0, 1], and whether it is there."""

    def weights(self, targets: npt.NDArray[Any]) -> Floats:
        """Of each label's score in the sum whose gradient tells which words keep the model from the goal."""
        if self.task == "single":
            return np.eye(len(self.labels))[targets]
        return np.where(targets, 1.0, -1.0) / max(1, len(self.labels))

    def scores(self, answers: npt.NDArray[Any]) -> Any:
        """A score for every label, also of a model that only decides."""
        if self.task == "tokens":
            return answers
        return answers.astype(np.float64) if answers.ndim == 2 else np.eye(len(self.labels))[answers]

    def right(self, answers: npt.NDArray[Any], targets: npt.NDArray[Any]) -> Mask:
        scores = self.scores(answers)
        if self.task == "tokens":
            return np.array([len(a) == len(b) and bool((a == b).all()) for a, b in zip(scores, targets, strict=True)])
        return scores.argmax(1) == targets if self.task == "single" else ((scores > 0.5) == targets).all(1)


def reasons(count: int, *found: tuple[Mask, str]) -> Reasons:
    """The first reason that holds for each row."""
    out = np.full(count, "", object)
    for mask, reason in reversed(found):
        out[mask] = reason
    return out


def named(labels: Sequence[str]) -> str:
    """Labels that a user can mean."""
    return ", ".join(label for label in labels if label != OTHER)
