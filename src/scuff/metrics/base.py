"""The base classes of metrics: a row of numbers for each answer, and a score of the sum of such rows, as in sacrebleu.

Rows add up, so the score of a corpus and its interval come from the same rows, which are computed once: an interval resamples
the rows of examples and scores each sum, which costs a matrix product instead of a thousand passes over the answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..specs import Part
from ..text.ragged import Floats, Ints
from .interval import Draws, Interval, mean_interval, resampled_sums, weighted_rows, wilson

Task = Literal["single", "multi", "tokens", "text"]  # one label, a set of labels, a tag per token, a text

Answers = npt.NDArray[Any]


@dataclass(frozen=True)
class Metric(Part, ABC):
    """Its fields are its options; `name(option=value)` is its spec. A new metric writes `statistics` and `score`.

    Answers and targets are label numbers int[n] (-1: no label of the model), label sets bool[n, labels], or object[n] of tags
    (an int array each) or of texts. A metric with `needs_scores` is given the model's scores float[n, labels] as answers.
    """

    title: ClassVar[str] = ""  # for reports, instead of the spec
    tasks: ClassVar[tuple[Task, ...]] = ()  # that it can score; (): any
    needs_scores: ClassVar[bool] = False

    @property
    def signature(self) -> str:
        """What its numbers depend on beside its options, as sacrebleu writes it; "" where the name says it all."""
        return ""

    @abstractmethod
    def statistics(self, answers: Answers, targets: Answers, labels: Sequence[str]) -> Floats:
        """Returns one row of numbers for each answer: [n, k]."""

    @abstractmethod
    def score(self, total: Floats) -> Floats:
        """Returns the score of each sum of rows: [..., k] in, [...] out; nan where it is not defined."""

    def __call__(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> float:
        """The score of all answers together."""
        rows = self.statistics(answers, targets, labels)
        return float(self.score(rows.sum(0))) if len(rows) else float("nan")

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        """The score of each answer alone."""
        return self.score(self.statistics(answers, targets, labels))

    def check(self, task: str, labels: Sequence[str], scores: bool) -> None:
        """Raises ValueError if a run cannot be scored by this metric. scores: whether the model gives one for every label.

        A metric whose options depend on the labels extends this method.
        """
        if self.tasks and task not in self.tasks:
            raise ValueError(f"expected a metric for {task}, got {self.spec}, which is for {' and '.join(self.tasks)}")
        if self.needs_scores and not scores:
            raise ValueError(f"expected a model that gives a score for every label for {self.spec}, got decisions only")

    def example_rows(
        self, answers: Answers, targets: Answers, labels: Sequence[str], example: Ints, examples: int
    ) -> Floats:
        """The mean row over the cases of each example, so that each example counts once: [examples, k], nan without a case.

        example: the number of the example that each answer is about.
        """
        return mean_rows(self.statistics(answers, targets, labels), example, examples)

    def estimate(self, rows: Floats, draws: Draws) -> tuple[Floats, Floats]:
        """The scores of rows [..., examples, k], and those of every resample: [..., resamples].

        Rows of nan are left out. A score without any row is nan, whatever the metric returns for an empty sum.
        """
        if np.isnan(rows).all():
            return np.full(rows.shape[:-2], np.nan), np.full((*rows.shape[:-2], len(draws)), np.nan)
        if rows.ndim > 3:  # one by one, since resampled sums take much memory
            parts = [self.estimate(part, draws) for part in rows]
            return np.stack([score for score, _ in parts]), np.stack([again for _, again in parts])
        with np.errstate(invalid="ignore", divide="ignore"):
            score, again = map(self.score, resampled_sums(rows, draws))
        if np.shape(score) != rows.shape[:-2]:
            raise ValueError(
                f"expected scores of shape {rows.shape[:-2]} from {self.spec}.score, got {np.shape(score)}"
            )
        return score, again

    def relative(self, total: Floats, base: Floats) -> float:
        """The score of one sum of rows divided by that of another over the same examples."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(self.score(total) / self.score(base))

    def interval(self, value: float, again: Floats, examples: int, one_each: bool = False) -> Interval:
        """The 95 % interval of a score, from its resamples. one_each: each example counts with one answer, not with several."""
        return mean_interval(value, again, examples)


@dataclass(frozen=True)
class Mean(Metric):
    """A metric whose score is the mean of the values of single answers. A new one writes `values` instead of rows."""

    right_or_wrong: ClassVar[bool] = False  # whether a value is 0 or 1, so that the score is a proportion

    @abstractmethod
    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        """The score of each answer alone: [n]."""

    def weight(self, targets: Answers) -> Floats:
        """How much each example counts."""
        return np.ones(len(targets))

    def statistics(self, answers: Answers, targets: Answers, labels: Sequence[str]) -> Floats:
        return weighted_rows(self.values(answers, targets, labels), self.weight(targets))

    def score(self, total: Floats) -> Floats:
        return ratio(total[..., 0], total[..., 1])

    def relative(self, total: Floats, base: Floats) -> float:
        return float(ratio(total[0], base[0]))  # the weights are equal

    def interval(self, value: float, again: Floats, examples: int, one_each: bool = False) -> Interval:
        if one_each and self.right_or_wrong:
            return wilson(value, examples)
        return mean_interval(value, again, examples)


def mean_rows(rows: Floats, example: Ints, examples: int) -> Floats:
    """Means by example of rows [n, k]: [examples, k], nan where an example has none."""
    rows = np.asarray(rows, np.float64)
    if rows.ndim != 2 or len(rows) != len(example):
        raise ValueError(f"expected statistics of shape ({len(example)}, k), one row per answer, got {rows.shape}")
    count = np.bincount(example, minlength=examples)
    sums = np.stack([np.bincount(example, column, examples) for column in rows.T], 1)
    return ratio(sums, count[:, None])


def ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Floats:
    """part / whole; 0 / 0 is nan, without a warning."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(part / whole, np.float64)
