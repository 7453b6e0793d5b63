"""The area under the ROC curve, its macro average over labels, and the same in every resample of the examples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats, Ints, Mask


def placements(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    """Of each row the share of the other kind that it stands on the right side of, ties counting half.

    Their mean over the positive rows is the area under the ROC curve, and so is that over the negative ones (DeLong, 1988).
    """
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    group = np.cumsum(np.append(False, ranked[1:] != ranked[:-1])[: order.size])  # equal scores
    share: dict[bool, Floats] = {}
    for kind in (True, False):
        mass = np.bincount(group, np.where(positive == kind, weight, 0.0)[order]).astype(np.float64)
        with np.errstate(invalid="ignore"):
            share[kind] = (np.cumsum(mass) - mass / 2) / mass.sum()  # of this kind, below a score
    out = np.empty(order.size)
    out[order] = np.where(positive[order], share[False][group], 1 - share[True][group])
    return out


def auc(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], weight: Floats) -> float:
    """The chance that a positive row scores above a negative one; nan where a kind has no weight."""
    if not (weight[positive].sum() > 0 and weight[~positive].sum() > 0):
        return math.nan
    return float(np.average(placements(scores, positive, weight)[positive], weights=weight[positive]))


def macro_auc(scores: npt.NDArray[Any], targets: npt.NDArray[np.bool_], weight: Floats) -> float:
    """Mean over the labels (columns) that have rows of both kinds; nan if there is none."""
    found = [auc(scores[:, at], targets[:, at], weight) for at in range(targets.shape[1])]
    known = [value for value in found if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def resampled_auc(
    scores: npt.NDArray[Any], example: Ints, targets: Mask, draws: npt.NDArray[np.float32]
) -> tuple[float, Floats]:
    """`scores` [cases, labels] of cases of these examples, `targets` [examples, labels]; an example counts once however many
    cases it has.

    A resampled AUC is taken to the first order: examples keep their placements among all others and only count more or less
    often, which costs one product instead of a sort for each of a thousand resamples.
    """
    count = np.bincount(example, minlength=len(targets))
    there = count > 0
    share = 1 / count[example]
    values, again = [], []
    for label in range(targets.shape[1]):
        kinds = [there & targets[:, label], there & ~targets[:, label]]
        if not all(kind.any() for kind in kinds):
            continue
        placed = placements(scores[:, label], targets[example, label], share)
        mean = np.bincount(example, placed * share, len(targets))
        values.append(float(mean[kinds[0]].mean()))
        with np.errstate(invalid="ignore"):
            parts = [(draws @ (mean * kind)) / (draws @ kind.astype(np.float64)) for kind in kinds]
        again.append(parts[0] + parts[1] - values[-1])
    if not values:
        return float("nan"), np.empty(0)
    stacked = np.stack(again)
    known = np.isfinite(stacked)  # a resample can lose all examples of a rare label: it is left out there
    with np.errstate(invalid="ignore"):
        return sum(values) / len(values), np.where(known, stacked, 0).sum(0) / known.sum(0)


def log_odds(scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Probabilities that sum to 1 as log odds, which order rows alike but do not run into each other close to 1."""
    if not np.allclose(scores.sum(1), 1, atol=1e-3):
        return scores
    precise = scores.astype(np.float64)
    rest = np.stack([np.delete(precise, at, axis=1).sum(1) for at in range(precise.shape[1])], 1)
    with np.errstate(divide="ignore"):
        return np.log(precise) - np.log(rest)
