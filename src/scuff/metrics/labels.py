"""Scores of classifiers: the area under the ROC curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats


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
