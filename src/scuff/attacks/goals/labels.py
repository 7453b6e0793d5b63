"""Goals for labels and tags: a wrong label, a label that the user names, wrong tags, fewer words, toxic texts that pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...data.dataset import NONE_NAMES, Task
from ...specs import check_number, some
from ...text.ragged import Floats, Mask
from ...victims.base import OTHER, Access, Outputs
from .base import WRONG, Goal, Reasons, reasons
from .texts import Decrease

NOT_TOXIC, MISSED, THERE = "not toxic", "missed by the model", "already the target"  # why examples are not attacked


def named(labels: Sequence[str]) -> str:
    """The labels that a user can name, for error messages."""
    return some(label for label in labels if label != OTHER)


@dataclass(frozen=True)
class Untargeted(Goal):
    """Any wrong answer. Score: 1 - the score of the right label; for label sets, that of the label nearest to being wrong.

    For texts it is the goal `decrease`, as "untargeted" means in work on translation (Michel et al. 2019).
    """

    name: ClassVar[str] = "untargeted"
    summary: ClassVar[str] = "any other answer than the right one; for texts: decrease"

    def ready(self, task: Task, labels: Sequence[str]) -> Goal:
        return Decrease().ready(task, labels) if task == "text" else super().ready(task, labels)

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        if self.task == "single":
            return 1 - scores[np.arange(len(scores)), targets], scores.argmax(1) != targets
        sure = np.where(targets, scores, 1 - scores)
        return 1 - sure.min(1), ~self.right(scores, targets)


@dataclass(frozen=True)
class Targeted(Goal):
    """A class that the user names. Score: the model's score of that class."""

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
        """The number of the class."""
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
    """At least a `share` of the tags is wrong. Score: the share of wrong tags."""

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
    """The same right answer to as few words as possible (Feng et al. 2018). Score: mostly the share of words left out."""

    name: ClassVar[str] = "reduction"
    summary: ClassVar[str] = "the same answer to as few words as possible"
    tasks: ClassVar[tuple[Task, ...]] = ("single",)
    perturbations: ClassVar[tuple[str, ...]] = ("omit",)
    open_ended: ClassVar[bool] = True

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        sure, kept = scores[np.arange(len(scores)), targets], scores.argmax(1) == targets
        there = kept & (changed > 0) & (changed < 1)  # not the original, and not an empty text
        return np.where(there, changed * 0.99 + sure * 0.01, sure), there


@dataclass(frozen=True)
class ToxicTrap(Goal):
    """A detected toxic text that is no longer detected (Bespalov et al. 2023).

    One label (eq. 2): reached if the benign class wins; the score is that of this class. Label sets (eq. 3, algorithm 1): reached
    if the benign label is above `threshold` and every other below 1 - threshold; the score is the mean of the benign score and of
    1 - each other score. `thresholds` sets the limits of single labels, also of what counts as detected, which is 0.5 otherwise.
    `benign`: by default the label with such a name (benign, neither, none, ...); a model of label sets may have none.
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
            unclear = f"{' and '.join(likely)}, each of which could be it" if likely else "none that says so"
            got = unclear if benign is None else repr(benign)
            raise ValueError(
                f"expected the label that means benign among {named(labels)}, got {got}: "
                "--goal \"toxictrap(benign='LABEL')\""
            )
        if task == "single" and self.needs > Access.DECISION:
            raise ValueError(
                "expected no threshold for toxictrap with one label, where the benign label has to win, got "
                f"{self.spec}: thresholds are for label sets"
            )
        strange = [label for label in self.thresholds if label not in labels]
        if strange:
            raise ValueError(f"expected some of {named(labels)} for toxictrap.thresholds, got {some(strange)}")
        return Goal.ready(replace(self, benign=benign), task, labels)

    @property
    def needs(self) -> Access:
        """Scores if there is a threshold other than 0.5, else decisions."""
        return Access.SCORE if self.thresholds or self.threshold != 0.5 else Access.DECISION

    @property
    def raised(self) -> Mask:
        """Which labels the attacker wants to raise: the benign one. All others are to be lowered."""
        return np.array([label == self.benign for label in self.labels], np.bool_)

    @property
    def limits(self) -> Floats:
        """The score of each label that must be passed: from below by the benign one, from above by all others."""
        usual = np.where(self.raised, self.threshold, 1 - self.threshold)
        return np.array([self.thresholds.get(label, usual[at]) for at, label in enumerate(self.labels)])

    def skips(self, outputs: Outputs, targets: npt.NDArray[Any]) -> Reasons:
        """Attacks toxic examples that the model detects. With one label, only those whose label is right; label sets are rarely
        all right, so any toxic label counts.
        """
        scores, raised = self.scores(outputs.answers), self.raised
        if self.task == "single":
            benign = self.labels.index(str(self.benign))
            missed, wrong = scores.argmax(1) == benign, ~self.right(outputs.answers, targets)
            return reasons(len(outputs), (np.equal(targets, benign), NOT_TOXIC), (missed, MISSED), (wrong, WRONG))
        says = scores > [self.thresholds.get(label, 0.5) for label in self.labels]
        # with a threshold below 0.5 an original text may reach the goal
        _, there = self.judge(scores, targets, np.zeros(len(scores)))
        missed = says[:, raised].any(1) | ~says[:, ~raised].any(1) | there
        return reasons(len(outputs), (np.logical_not(targets[:, ~raised].any(1)), NOT_TOXIC), (missed, MISSED))

    def judge(self, scores: Any, targets: npt.NDArray[Any], changed: Floats) -> tuple[Floats, Mask]:
        raised = self.raised
        if self.task == "single":
            return scores[:, raised][:, 0], scores.argmax(1) == self.labels.index(str(self.benign))
        there = np.where(raised, scores > self.limits, scores < self.limits).all(1)
        return np.where(raised, scores, 1 - scores).mean(1), there  # the paper's sum, divided by the number of labels

    def weights(self, targets: npt.NDArray[Any]) -> Floats:
        return np.tile(np.where(self.raised, -1.0, 0.0 if self.task == "single" else 1.0), (len(targets), 1))
