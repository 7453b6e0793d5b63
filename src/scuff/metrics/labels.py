"""Scores of classifiers: how much of an answer is right, and the area under the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def auc(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    """Area under the ROC curve: the chance that a positive row scores above a negative one, ties counting half.

    `weight` is [rows], or [resamples, rows] for many weightings at once. nan where a class has no weight.
    """
    weight = np.atleast_2d(weight)
    order = np.argsort(scores, kind="stable")
    if not order.size:
        return np.full(weight.shape[0], np.nan)
    ranked = scores[order]
    first = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))  # where a new score begins
    up = np.add.reduceat(np.where(positive, weight, 0.0)[:, order], first, axis=1)  # weight of positives per score
    down = np.add.reduceat(np.where(positive, 0.0, weight)[:, order], first, axis=1)
    below = np.cumsum(down, axis=1) - down / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return (up * below).sum(1) / (up.sum(1) * down.sum(1))


def macro_auc(scores: npt.NDArray[Any], targets: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    """Mean over the labels (columns) that have rows of both kinds."""
    columns = [at for at in range(targets.shape[1]) if 0 < targets[:, at].sum() < len(targets)]
    if not columns:
        return np.full(np.atleast_2d(weight).shape[0], np.nan)
    found = np.stack([auc(scores[:, at], targets[:, at], weight) for at in columns])
    known = ~np.isnan(found)
    with np.errstate(invalid="ignore"):  # a resample can lose all rows of a rare label: it is left out there
        return np.where(known, found, 0).sum(0) / known.sum(0)
