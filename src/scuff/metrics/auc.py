"""The area under the ROC curve, averaged over labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats, Ints, Mask
from .base import Answers, Metric, Task, mean_rows, ratio
from .interval import Interval, percentile_interval


@dataclass(frozen=True)
class Auc(Metric):
    """The chance that a text with a label scores higher for it than one without, averaged over the labels that have both kinds.

    Its rows depend on all answers: they hold how each stands among the others (its placement). The resampled AUC is therefore
    one to the first order: examples keep their placements and only count more or less often, which costs one product instead
    of a sort for each resample.
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
        """As in the base; among the others, too, each example counts once however many cases it has."""
        share = 1 / np.bincount(example, minlength=examples)[example]
        return mean_rows(_rows(answers, targets, share), example, examples)

    def score(self, total: Floats) -> Floats:
        above, with_it, below, without = np.moveaxis(total.reshape(*total.shape[:-1], -1, 4), -1, 0)
        area = ratio(above, with_it) + ratio(below, without)
        known = np.isfinite(area)  # a resample can lose all examples of a rare label, which is left out there
        return np.clip(ratio(np.where(known, area, 0).sum(-1), known.sum(-1)), 0, 1)

    def interval(self, value: float, again: Floats, examples: int, one_each: bool = False) -> Interval:
        """The bootstrap's. Wilson's does not stand in for one without width: an AUC is no share of examples."""
        low, high = percentile_interval(again)
        return (min(low, value), max(high, value))


def _rows(scores: Answers, targets: Answers, weight: Floats) -> Floats:
    """Four numbers for each label: the placement of a text that has it, 1 for such a text; the placement of one that does not,
    as a difference from the AUC, 1 for such a text. All are 0 for a label that all texts have, or none.
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
    """Columns of scores, and which texts have the label of each. Of two labels that exclude each other the second says all."""
    if targets.ndim == 2:
        return scores, targets
    count = scores.shape[1]
    columns = slice(1, 2) if count == 2 else slice(None)
    return log_odds(scores)[:, columns], (targets[:, None] == np.arange(count))[:, columns]


def placements(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    """The share of the other kind that each row stands on the right side of, ties counting half.

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
