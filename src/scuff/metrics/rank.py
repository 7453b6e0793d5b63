"""Rank correlation: whether two measures put the same things in the same order."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats
from ..text.random import counters, mix, name_bits


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


SHUFFLES = 10_000
CELLS = 200_000  # numbers that are made at once


def trend(values: npt.ArrayLike, seed: int = 0) -> tuple[float, float]:
    """Returns Spearman's rank correlation of values with their order, and p, two-sided: how often a random order has one that is
    at least as far from 0. nan if the values are all equal, or fewer than three.
    """
    each = ranks(values)
    centred = each - each.mean() if each.size else each
    size = math.sqrt(float(centred @ centred)) * math.sqrt((each.size**3 - each.size) / 12)
    if each.size < 3 or not size:
        return math.nan, math.nan
    places = np.arange(each.size) - (each.size - 1) / 2
    found, as_far, step = float(places @ centred), 0, max(1, CELLS // each.size)
    for first in range(0, SHUFFLES, step):
        count = min(step, SHUFFLES - first)
        at = np.arange(first * each.size, (first + count) * each.size)
        order = mix(counters(at) ^ name_bits("trend", seed)).reshape(count, -1).argsort(1)
        as_far += int((np.abs(centred[order] @ places) >= abs(found) - 1e-9).sum())
    return found / size, (as_far + 1) / (SHUFFLES + 1)
