"""Metrics of decisions: labels, label sets and tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..text.ragged import Floats
from .base import Answers, Mean, Metric, Task, ratio


@dataclass(frozen=True)
class Accuracy(Mean):
    """The share of answers that are the right label."""

    name: ClassVar[str] = "accuracy"
    summary: ClassVar[str] = "the share of answers that are the right label"
    title: ClassVar[str] = "accuracy"
    tasks: ClassVar[tuple[Task, ...]] = ("single",)
    right_or_wrong: ClassVar[bool] = True

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        return np.asarray(np.equal(answers, targets), np.float64)


@dataclass(frozen=True)
class ExactMatch(Mean):
    """The share of answers that are the right set of labels, none missing and none too many."""

    name: ClassVar[str] = "exact-match"
    summary: ClassVar[str] = "the share of answers that are exactly the right set of labels"
    title: ClassVar[str] = "exact match"
    tasks: ClassVar[tuple[Task, ...]] = ("multi",)
    right_or_wrong: ClassVar[bool] = True

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        return np.asarray(np.equal(answers, targets).all(1), np.float64)


@dataclass(frozen=True)
class TokenAccuracy(Mean):
    """The share of tokens with the right tag: a sentence counts by its tokens, an empty one is right and counts nothing."""

    name: ClassVar[str] = "token-accuracy"
    summary: ClassVar[str] = "the share of tokens that have the right tag"
    title: ClassVar[str] = "token accuracy"
    tasks: ClassVar[tuple[Task, ...]] = ("tokens",)

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        pairs = zip(answers, targets, strict=True)
        return np.array([np.equal(said, right).mean() if len(right) else 1.0 for said, right in pairs], np.float64)

    def weight(self, targets: Answers) -> Floats:
        return np.array([len(tags) for tags in targets], np.float64)


@dataclass(frozen=True)
class MacroF1(Metric):
    """The mean over labels of F1 = 2 right / (said + due). Labels that were neither said nor due are left out."""

    name: ClassVar[str] = "macro-f1"
    summary: ClassVar[str] = "F1 of each label, averaged over labels, so that rare ones count as much as frequent ones"
    title: ClassVar[str] = "macro F1"
    tasks: ClassVar[tuple[Task, ...]] = ("single", "multi")

    def statistics(self, answers: Answers, targets: Answers, labels: Sequence[str]) -> Floats:
        said, due = (one if one.ndim == 2 else one[:, None] == np.arange(len(labels)) for one in (answers, targets))
        return np.concatenate([said & due, said.astype(np.float64) + due], 1)

    def score(self, total: Floats) -> Floats:
        right, both = np.split(total, 2, axis=-1)
        there = both > 0
        f1 = np.where(there, 2 * ratio(right, both), 0)
        return np.where(np.isnan(total).any(-1), np.nan, ratio(f1.sum(-1), there.sum(-1)))
