"""Rank correlation: whether two measures put the same things in the same order."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats


def ranks(values: npt.ArrayLike) -> Floats:
    """Returns the rank of each value from 1; equal values share the mean of their ranks."""
    each = np.asarray(values, np.float64)
    _, group, count = np.unique(each, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[group.reshape(-1)]


def spearman(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Returns Spearman's rank correlation; nan if there are fewer than two pairs, or all values of one side are equal.

    Raises ValueError if the sides have different lengths.
    """
    first, second = ranks(one), ranks(other)
    if first.shape != second.shape:
        raise ValueError(f"expected as many values on both sides, got {first.size} and {second.size}")
    if first.size < 2:
        return math.nan
    first, second = first - first.mean(), second - second.mean()
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / size if size else math.nan
