"""The macro AUC of many cases per example, and the same in every resample of the examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..metrics.labels import placements
from ..text.ragged import Floats, Ints, Mask


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
