"""Toxic texts that pass for benign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...perturb.base import check_number
from ...text.dataset import NONE_NAMES, Task
from ...text.ragged import Floats, Mask
from ...victims.base import Access, Outputs
from .base import MISSED, NOT_TOXIC, WRONG, Goal, Reasons, named, reasons


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
