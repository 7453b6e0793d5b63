"""Goals: what an attacker wants to hear, as a signed margin that is above 0 where the goal is reached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..data.dataset import NONE_NAMES, TASK_WORDS, Task
from ..specs import Family, Part, check_number
from ..text.ragged import Floats, Mask
from ..victims.base import OTHER, Access, Outputs

Reasons = npt.NDArray[np.object_]

WRONG, NOT_TOXIC, MISSED, THERE = "already wrong", "not toxic", "missed by the model", "already the target"


@dataclass(frozen=True)
class Goal(Part, ABC):
    """Called with answers and the targets of their examples. `ready` tells it what the model's labels are."""

    task: Task | None = field(default=None, init=False, repr=False)
    labels: tuple[str, ...] = field(default=(), init=False, repr=False)

    tasks: ClassVar[tuple[Task, ...]] = ("single", "multi")
    perturbations: ClassVar[tuple[str, ...]] = ()  # the only ones that it makes sense with; none: any
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
    perturbations: ClassVar[tuple[str, ...]] = ("omit",)
    open_ended: ClassVar[bool] = True

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        sure, kept = scores[np.arange(len(scores)), targets], scores.argmax(1) == targets
        there = kept & (changed > 0) & (changed < 1)  # an empty text is no reduction
        return np.where(there, changed * 0.99 + sure * 0.01, sure), there


@dataclass(frozen=True)
class ToxicTrap(Goal):
    """A detected toxic text that is no longer detected (Bespalov et al. 2023).

    One label (eq. 2): the benign class wins; guided by its score. Label sets (eq. 3, algorithm 1): the benign label is above
    `threshold` and every other below 1 - threshold; guided by the sum of the benign score and one minus each other. `thresholds`
    sets single labels, also for what counts as detected; for others that is 0.5. `benign`: by default the label that is called
    so (benign, neither, none, ...); a model of label sets may have none.
    """

    benign: str | None = None
    threshold: float = 0.5
    thresholds: dict[str, float] = field(default_factory=dict)

    name: ClassVar[str] = "toxictrap"
    summary: ClassVar[str] = "toxic texts that pass for benign; one label or label sets"

    def __post_init__(self) -> None:
        if self.benign is not None:
            object.__setattr__(self, "benign", str(self.benign))  # labels may look like numbers
        if not isinstance(self.thresholds, dict):
            raise ValueError(f"expected labels with numbers for toxictrap.thresholds, got {self.thresholds!r}")
        check_number(self.threshold, 0, 1, "toxictrap.threshold")
        for label, value in self.thresholds.items():
            check_number(value, 0, 1, f"toxictrap.thresholds of {label}")

    def ready(self, task: Task, labels: Sequence[str]) -> Goal:
        likely = [
            name for name in labels if name.casefold().replace("-", "_") in NONE_NAMES and name.casefold() != "other"
        ]
        benign = self.benign if self.benign is not None or len(likely) != 1 else likely[0]
        if (benign is None and (task == "single" or likely)) or (benign is not None and benign not in labels):
            raise ValueError(
                f"expected the label that means benign among {named(labels)}, got {benign!r}: "
                "--goal \"toxictrap(benign='LABEL')\""
            )
        if task == "single" and self.needs > Access.DECISION:
            raise ValueError(
                "expected no threshold for toxictrap with one label, where the benign label has to win, got "
                f"{self.spec}: thresholds are for label sets"
            )
        strange = [label for label in self.thresholds if label not in labels]
        if strange:
            raise ValueError(f"expected some of {named(labels)} for toxictrap.thresholds, got {', '.join(strange)}")
        return Goal.ready(replace(self, benign=benign), task, labels)

    @property
    def needs(self) -> Access:
        """A threshold says nothing about bare decisions."""
        return Access.SCORE if self.thresholds or self.threshold != 0.5 else Access.DECISION

    @property
    def raised(self) -> Mask:
        """Which label is to hold."""
        return np.array([label == self.benign for label in self.labels], np.bool_)

    @property
    def limits(self) -> Floats:
        usual = np.where(self.raised, self.threshold, 1 - self.threshold)
        return np.array([self.thresholds.get(label, usual[at]) for at, label in enumerate(self.labels)])

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        """With one label those are attacked that are answered right; a set of labels is rarely all right: those that are found
        toxic at all.
        """
        scores, raised = self.scores(outputs.answers), self.raised
        if self.task == "single":
            benign = self.labels.index(str(self.benign))
            missed, wrong = scores.argmax(1) == benign, ~self.right(outputs.answers, targets)
            return reasons(len(outputs), (np.equal(targets, benign), NOT_TOXIC), (missed, MISSED), (wrong, WRONG))
        says = scores > [self.thresholds.get(label, 0.5) for label in self.labels]
        _, there = self.judge(
            scores, targets, np.zeros(len(scores))
        )  # with a threshold below 0.5 perhaps from the start
        missed = says[:, raised].any(1) | ~says[:, ~raised].any(1) | there
        return reasons(len(outputs), (np.logical_not(targets[:, ~raised].any(1)), NOT_TOXIC), (missed, MISSED))

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        raised = self.raised
        if self.task == "single":
            return scores[:, raised][:, 0], scores.argmax(1) == self.labels.index(str(self.benign))
        there = np.where(raised, scores > self.limits, scores < self.limits).all(1)
        return np.where(raised, scores, 1 - scores).mean(1), there  # the paper's sum, over the number of labels

    def weights(self, targets: npt.NDArray[Any]) -> Floats:
        return np.tile(np.where(self.raised, -1.0, 0.0 if self.task == "single" else 1.0), (len(targets), 1))


GOALS: dict[str, type[Goal]] = {goal.name: goal for goal in (Untargeted, Targeted, ToxicTrap, Tags, Reduction)}
FAMILY: Family[Goal] = Family("a goal", "scuff.goals", Goal, GOALS)
parse_goal = FAMILY.build
