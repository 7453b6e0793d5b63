"""Metrics of classifiers: accuracy, exact match, macro F1 and recall, accuracy of tags, AUC and average precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats, Ints, Mask
from .base import Answers, Mean, Metric, Task, mean_rows, ratio
from .interval import Interval, percentile_interval


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
    """The share of answers that are the right set of labels, none missing and none too many, or exactly the right text."""

    name: ClassVar[str] = "exact-match"
    summary: ClassVar[str] = "the share of answers that are exactly the right set of labels, or the right text"
    title: ClassVar[str] = "exact match"
    tasks: ClassVar[tuple[Task, ...]] = ("multi", "text")
    right_or_wrong: ClassVar[bool] = True

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        same = np.equal(answers, targets)
        return np.asarray(same if same.ndim == 1 else same.all(1), np.float64)


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


@dataclass(frozen=True)
class MacroRecall(Metric):
    """The mean over labels of recall = right / due. Labels that no text has are left out."""

    name: ClassVar[str] = "macro-recall"
    summary: ClassVar[str] = "the share of the texts of each label that are found, averaged over labels"
    title: ClassVar[str] = "macro recall"
    tasks: ClassVar[tuple[Task, ...]] = ("single", "multi")

    def statistics(self, answers: Answers, targets: Answers, labels: Sequence[str]) -> Floats:
        said, due = (one if one.ndim == 2 else one[:, None] == np.arange(len(labels)) for one in (answers, targets))
        return np.concatenate([said & due, due], 1).astype(np.float64)

    def score(self, total: Floats) -> Floats:
        right, due = np.split(total, 2, axis=-1)
        there = due > 0
        recall = np.where(there, ratio(right, due), 0)
        return np.where(np.isnan(total).any(-1), np.nan, ratio(recall.sum(-1), there.sum(-1)))


@dataclass(frozen=True)
class Auc(Metric):
    """The chance that a text with a label scores higher for it than one without, averaged over the labels that have both kinds.

    A row depends on all answers: it holds the placement of one answer among the others. The resampled AUC is therefore a
    first-order approximation: examples keep their placements and only count more or less often, which costs one product
    instead of a sort for each resample.
    """

    name: ClassVar[str] = "auc"
    summary: ClassVar[str] = "the area under the ROC curve of each label's scores, averaged over labels"
    title: ClassVar[str] = "macro AUC"
    tasks: ClassVar[tuple[Task, ...]] = ("single", "multi")
    needs_scores: ClassVar[bool] = True

    def statistics(self, answers: Answers, targets: Answers, labels: Sequence[str]) -> Floats:
        return _rows(answers, targets, np.ones(len(answers)))

    def example_rows(
        self, answers: Answers, targets: Answers, labels: Sequence[str], example: Ints, examples: int
    ) -> Floats:
        """As in the base class. Placements, too, count each example once, however many cases it has."""
        share = 1 / np.bincount(example, minlength=examples)[example]
        return mean_rows(_rows(answers, targets, share), example, examples)

    def score(self, total: Floats) -> Floats:
        above, with_it, below, without = np.moveaxis(total.reshape(*total.shape[:-1], -1, 4), -1, 0)
        area = ratio(above, with_it) + ratio(below, without)
        known = np.isfinite(area)  # a resample can lose all examples of a rare label, which is left out there
        return np.clip(ratio(np.where(known, area, 0).sum(-1), known.sum(-1)), 0, 1)

    def interval(self, value: float, again: Floats, examples: int, one_each: bool = False) -> Interval:
        """The bootstrap's interval, even if it has no width: Wilson's is for shares of examples, which an AUC is not."""
        low, high = percentile_interval(again)
        return (min(low, value), max(high, value))


@dataclass(frozen=True)
class AveragePrecision(Metric):
    """The area under the curve of precision and recall, as scikit-learn has it: the mean over the texts with a label of the
    precision at their score; averaged over labels. Labels that no text has are left out; of two exclusive labels it is that of
    the second.

    As for `Auc` a row depends on all answers, and resamples are a first-order approximation: beside its own precision a row has
    what it adds to the precision at all lower scores, which sums to 0 over all texts.
    """

    name: ClassVar[str] = "average-precision"
    summary: ClassVar[str] = "the area under the precision-recall curve of each label's scores, averaged over labels"
    title: ClassVar[str] = "average precision"
    tasks: ClassVar[tuple[Task, ...]] = ("single", "multi")
    needs_scores: ClassVar[bool] = True

    def statistics(self, answers: Answers, targets: Answers, labels: Sequence[str]) -> Floats:
        return _precision_rows(answers, targets, np.ones(len(answers)))

    def example_rows(
        self, answers: Answers, targets: Answers, labels: Sequence[str], example: Ints, examples: int
    ) -> Floats:
        """As in the base class. Precision, too, counts each example once, however many cases it has."""
        share = 1 / np.bincount(example, minlength=examples)[example]
        return mean_rows(_precision_rows(answers, targets, share), example, examples)

    def score(self, total: Floats) -> Floats:
        at_own, with_it, at_lower = np.moveaxis(total.reshape(*total.shape[:-1], -1, 3), -1, 0)
        area = np.clip(ratio(at_own + at_lower, with_it), 0, 1)
        known = np.isfinite(area)
        return ratio(np.where(known, area, 0).sum(-1), known.sum(-1))

    def interval(self, value: float, again: Floats, examples: int, one_each: bool = False) -> Interval:
        """As for `Auc`: no share of examples."""
        low, high = percentile_interval(again)
        return (min(low, value), max(high, value))


def _precision_rows(scores: Answers, targets: Answers, weight: Floats) -> Floats:
    """Three numbers per text and label. With the label: its precision, 1, what it adds elsewhere; without it: 0, 0, the same."""
    scores, has = _one_against_rest(scores, targets)
    out = np.zeros((*scores.shape, 3))
    for at in range(scores.shape[1]):
        one = has[:, at]
        if not one.any():
            continue
        order = np.argsort(-scores[:, at], kind="stable")
        ranked = scores[order, at]
        group = np.cumsum(np.append(False, ranked[1:] != ranked[:-1]))  # equal scores, the highest first
        mass = np.bincount(group, (weight * one)[order])
        above = np.cumsum(np.bincount(group, weight[order]))
        precision = np.cumsum(mass) / above
        # of all texts with the label at this score or a lower one
        gain, loss = (np.cumsum(part[::-1])[::-1] for part in (mass / above, mass / above * precision))
        has_it = one[order]
        out[order, at] = np.stack([precision[group] * has_it, has_it, gain[group] * has_it - loss[group]], 1)
    return out.reshape(len(out), 3 * scores.shape[1])


def _rows(scores: Answers, targets: Answers, weight: Floats) -> Floats:
    """Four numbers per text and label. With the label: placement, 1, 0, 0. Without it: 0, 0, placement - AUC, 1.

    All are 0 for a label that all texts have, or none.
    """
    scores, has = _one_against_rest(scores, targets)
    out = np.zeros((*scores.shape, 4))
    for at in range(scores.shape[1]):
        one = has[:, at]
        if one.any() and not one.all():
            placed = placements(scores[:, at], one, weight)
            area = np.average(placed[one], weights=weight[one])
            out[:, at] = np.stack([placed * one, one, (placed - area) * ~one, ~one], 1)
    return out.reshape(len(out), 4 * scores.shape[1])


def _one_against_rest(scores: Answers, targets: Answers) -> tuple[Answers, Mask]:
    """Columns of scores, and which texts have the label of each. Of two exclusive labels the second is enough."""
    if targets.ndim == 2:
        return scores, targets
    count = scores.shape[1]
    columns = slice(1, 2) if count == 2 else slice(None)
    return log_odds(scores)[:, columns], (targets[:, None] == np.arange(count))[:, columns]


def placements(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    """The share of rows of the other kind that each row is ranked correctly against; ties count half.

    Their mean over the positive rows is the area under the ROC curve, and so is their mean over the negative ones (DeLong, 1988).
    """
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    group = np.cumsum(np.append(False, ranked[1:] != ranked[:-1])[: order.size])  # equal scores
    share: dict[bool, Floats] = {}
    for kind in (True, False):
        mass = np.bincount(group, np.where(positive == kind, weight, 0.0)[order]).astype(np.float64)
        with np.errstate(invalid="ignore"):
            share[kind] = (np.cumsum(mass) - mass / 2) / mass.sum()  # of this kind with lower scores
    out = np.empty(order.size)
    out[order] = np.where(positive[order], share[False][group], 1 - share[True][group])
    return out


def log_odds(scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Probabilities that sum to 1 as log odds: the same order, but values near 1 stay distinct. Other scores as they are."""
    if not np.allclose(scores.sum(1), 1, atol=1e-3):
        return scores
    precise = scores.astype(np.float64)
    rest = np.stack([np.delete(precise, at, axis=1).sum(1) for at in range(precise.shape[1])], 1)
    with np.errstate(divide="ignore"):
        return np.log(precise) - np.log(rest)
