"""Goals: which answers an attacker wants, as a signed margin that is above 0 where the goal is reached.

A goal of your own writes `judge`: for answers, targets and the share of changed words it returns a score in [0, 1], how near
each answer is, and whether the goal is reached. The base class turns these into the *margin*, which searches maximise: the score
itself (above 0) where the goal is reached, the score minus 1 (0 or less) where it is not, nan without an answer. So every success
is above every failure, and within each kind nearer is higher.

Before an attack, `ready` gives the goal the model's labels, `aims` turns targets and the model's answers to the original texts
into what `judge` and `skips` are given as targets (by default the targets alone), and `skips` says which examples are not
attacked and why: by default those that the model already gets wrong. `weights` is for the search `gradient` only: the gradient
of sum(weights * scores) tells which words keep the model from the goal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...data.dataset import TASK_WORDS, Task
from ...specs import Part
from ...text.ragged import Floats, Mask
from ...victims.base import Access, Outputs

Reasons = npt.NDArray[np.object_]  # strings

WRONG = "already wrong"  # why examples are not attacked
HINTS: dict[Task, str] = {
    "tokens": ": --goal tags",
    "text": ": --goal decrease, or --recipe deepwordbug",
}  # a goal that fits, for error messages


@dataclass(frozen=True)
class Goal(Part, ABC):
    """What an attacker wants. Its fields that can be set are its options; `task` and `labels` are set by `ready`.

    Answers and targets are label numbers int[n], label sets bool[n, labels], or object[n] of tags or texts; answers may also be
    scores float[n, labels].
    """

    task: Task | None = field(default=None, init=False, repr=False)
    labels: tuple[str, ...] = field(default=(), init=False, repr=False)

    tasks: ClassVar[tuple[Task, ...]] = ("single", "multi")
    perturbations: ClassVar[tuple[str, ...]] = ()  # the only ones that suit the goal, by name; (): any
    open_ended: ClassVar[bool] = False  # whether a search goes on after a success, since there may be a better one
    weighs_source: ClassVar[bool] = False  # whether `kept` says that a success must also be like the original text

    def ready(self, task: Task, labels: Sequence[str]) -> Goal:
        """Returns this goal for a model with these labels. Raises ValueError if the goal does not fit the task or the labels."""
        if task not in self.tasks:
            wanted = " or ".join(TASK_WORDS[kind] for kind in self.tasks)
            raise ValueError(
                f"expected data with {wanted} for the goal {self.name}, got {TASK_WORDS[task]}{HINTS.get(task, '')}"
            )
        mine = replace(self)
        object.__setattr__(mine, "task", task)
        object.__setattr__(mine, "labels", tuple(labels))
        return mine

    @property
    def needs(self) -> Access:
        """The least access to a victim that the goal can work with."""
        return Access.DECISION

    def aims(self, targets: npt.NDArray[Any], answers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns what `judge` and `skips` get as targets. answers: the model's to the original texts; None where it has none."""
        return targets

    def __call__(
        self, outputs: Outputs, targets: npt.NDArray[Any], changed: Floats, alike: Floats | None = None
    ) -> Floats:
        """The margin of each answer, nan where there is none. changed: the share of the words of each text that were changed.
        alike: chrF of each text against the original, for goals with `weighs_source`.
        """
        out = np.full(len(outputs), np.nan)
        rows = np.flatnonzero(outputs.answered)
        if rows.size:
            score, reached = self.judge(self.scores(outputs.answers[rows]), targets[rows], changed[rows])
            if alike is not None:
                reached = reached & self.kept(score, alike[rows])
            out[rows] = np.where(reached, np.maximum(score, 1e-9), np.minimum(score - 1, 0))
        return out

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        """Why each example is not attacked; "" if it is. outputs: the answers to the original texts, none of them missing."""
        return reasons(len(outputs), (~self.right(outputs.answers, targets), WRONG))

    @abstractmethod
    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        """Returns how near each answer is to the goal, in [0, 1], and whether it reaches it. scores: see `scores`."""

    def kept(self, score: Floats, alike: Floats) -> Mask:
        """Whether texts whose answers reach the goal are like enough to the original to count, by chrF."""
        return np.ones(len(score), np.bool_)

    def references(self, targets: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns the answers (labels, label sets or texts) that a search by gradients makes less likely. targets: see `aims`."""
        return targets

    def weights(self, targets: npt.NDArray[Any]) -> Floats:
        """The weights of the labels' scores: float[n, labels], positive for labels that keep a text from the goal."""
        if self.task == "single":
            return np.eye(len(self.labels))[targets]
        return np.where(targets, 1.0, -1.0) / max(1, len(self.labels))

    def scores(self, answers: npt.NDArray[Any]) -> Any:
        """The scores float[n, labels] of answers; labels without scores count as 1, all others as 0. Tags and texts stay as
        they are.
        """
        if self.task in ("tokens", "text"):
            return answers
        return answers.astype(np.float64) if answers.ndim == 2 else np.eye(len(self.labels))[answers]

    def right(self, answers: npt.NDArray[Any], targets: npt.NDArray[Any]) -> Mask:
        """Which answers are right: the label, all labels of a set, or all tags."""
        scores = self.scores(answers)
        if self.task == "tokens":
            return np.array([len(a) == len(b) and bool((a == b).all()) for a, b in zip(scores, targets, strict=True)])
        return scores.argmax(1) == targets if self.task == "single" else ((scores > 0.5) == targets).all(1)


def reasons(count: int, *found: tuple[Mask, str]) -> Reasons:
    """The first reason whose mask holds for each row, "" if none does."""
    out = np.full(count, "", object)
    for mask, reason in reversed(found):
        out[mask] = reason
    return out
