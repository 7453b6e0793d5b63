"""Targets in the victim's own label numbers, and how right its answers are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.dataset import NONE_NAMES, Dataset, Task, align
from ..metrics import Mean, usual_metric
from ..specs import some
from ..text.ragged import Floats, Ints
from .base import OTHER, Outputs, as_objects

DIGITS = 6  # of a probability: later ones may differ from batch to batch


@dataclass(frozen=True, eq=False)
class Truth:
    """Targets as label numbers [n], label sets [n, labels], tags or texts (objects [n])."""

    task: Task
    labels: tuple[str, ...]
    targets: npt.NDArray[Any]

    @classmethod
    def of(cls, data: Dataset, labels: Sequence[str], mapping: dict[str, str], none: str | None = None) -> Truth:
        """Aligns targets with the model's labels by name. none: the model's label for texts that no other label fits."""
        if data.task == "text":
            return cls("text", (), as_objects(data.targets))
        number = align(data.labels, labels, mapping)
        if data.task == "single":
            return cls("single", tuple(labels), np.array([number[str(target)] for target in data.targets], np.int64))
        if data.task == "tokens":
            tags = [np.array([number[tag] for tag in target], np.int64) for target in data.targets]
            return cls("tokens", tuple(labels), as_objects(tags))
        sets = np.zeros((len(data), len(labels)), np.bool_)
        for at, target in enumerate(data.targets):
            sets[at, [number[label] for label in target]] = True
        spare = [name for name in labels if labels.index(name) not in number.values()]
        if none is None:
            none = next((name for name in spare if name.casefold().replace("-", "_") in NONE_NAMES), None)
        if none is not None:
            if none not in labels:
                raise ValueError(f"expected one of the model's labels for none ({some(labels)}), got {none!r}")
            sets[:, labels.index(none)] = ~np.delete(sets, labels.index(none), axis=1).any(1)
        return cls("multi", tuple(labels), sets)

    @property
    def metric(self) -> Mean:
        """The task's usual metric: it decides how right a single answer is."""
        return usual_metric(self.task)

    @property
    def weight(self) -> Floats:
        """How much each example counts in the usual metric."""
        return self.metric.weight(self.targets)

    @property
    def chance(self) -> float:
        """The usual metric of guessing among the labels; for label sets, of guessing each label with probability one half."""
        count = len([label for label in self.labels if label != OTHER])
        if self.task == "text" or not count:
            return 0.0
        return 0.5**count if self.task == "multi" else 1 / count

    @property
    def majority(self) -> float:
        """The usual metric of always giving the most frequent answer."""
        if self.task == "text" or not len(self.targets):
            return 0.0
        flat = np.concatenate(list(self.targets)) if self.task == "tokens" else self.targets
        counts = np.unique(flat, axis=0, return_counts=True)[1]
        return float(counts.max(initial=0) / max(counts.sum(), 1))

    def take(self, rows: Ints) -> Truth:
        return Truth(self.task, self.labels, self.targets[rows])

    def score(self, outputs: Outputs) -> tuple[Floats, npt.NDArray[np.object_]]:
        """How right each answer is by the usual metric, in [0, 1] (nan: no answer), and the problem of each that is none."""
        problem = outputs.problem.copy()
        answers = outputs.answers
        if self.task == "tokens":
            for at in np.flatnonzero(outputs.answered).tolist():
                if len(answers[at]) != len(self.targets[at]):
                    problem[at] = f"unparsed: {len(answers[at])} tags for {len(self.targets[at])} tokens"
        good = np.equal(problem, "").astype(np.bool_)
        out = np.full(len(outputs), np.nan)
        if good.any():  # else nothing tells what kind the answers would have been
            out[good] = self.metric.values(self.predicted(answers[good]), self.targets[good], self.labels)
        return out, problem

    def margin(self, outputs: Outputs) -> Floats:
        """How sure a victim that gives scores is of the target: the log odds of the right label, in which small changes show even
        near probability 1; for label sets the mean over labels of the score for what holds. nan: no answer, or no scores.
        """
        answers = outputs.answers
        if answers.dtype.kind != "f":
            return np.full(len(outputs), np.nan)
        if self.task == "single":
            sure = np.round(answers[np.arange(len(answers)), self.targets].astype(np.float64), DIGITS)
            sure = np.clip(sure, 10.0**-DIGITS, 1 - 10.0**-DIGITS)
            return np.log(sure) - np.log1p(-sure)
        return np.where(self.targets, answers, 1 - answers).mean(1, dtype=np.float64)

    @property
    def direction(self) -> Floats:
        """Weights of the label scores [n, labels] in the sum whose gradient is the saliency of words."""
        if self.task == "single":
            return np.eye(len(self.labels))[self.targets]
        return np.where(self.targets, 1.0, -1.0) / max(1, len(self.labels))

    def predicted(self, answers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Decisions: label numbers (-1: no label) or label sets of scores; all other answers as they are."""
        if answers.dtype.kind != "f":
            return answers
        if self.task == "multi":
            return answers > 0.5
        return np.where(np.isnan(answers).any(1), -1, np.nan_to_num(answers).argmax(1))
