"""Means over many texts with their intervals, and paired tests of differences, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..text.ragged import Floats
from ..text.random import counters, mix, name_bits
from .interval import RESAMPLES, Interval, Z, mean_interval, percentile_interval, resamples

# texts above which the normal distribution takes the place of resampling: the two then differ less than two seeds do
LARGE = 20_000
CELLS = 2_000_000  # numbers of a table of resamples that are made at once


def mean_with_interval(values: Floats, seed: int) -> tuple[float, Interval]:
    """The mean and its 95 % interval, by a bootstrap of the texts."""
    mean = float(values.mean())
    if values.size > LARGE:
        return mean, _normal(values, mean)
    again = np.concatenate(
        [resamples(values.size, seed, count, first) @ values for first, count in _parts(values.size)]
    )
    if values.min() >= 0 and values.max() <= 1:
        return mean, mean_interval(mean, again / values.size, values.size)
    low, high = percentile_interval(again / values.size)
    return mean, (min(low, mean), max(high, mean))


def paired_difference(one: Floats, other: Floats, seed: int) -> tuple[float, Interval, float]:
    """The mean of one - other of the same texts, its 95 % interval by a bootstrap of the texts, and p, two-sided.

    p is that of approximate randomisation: how often the mean is at least as far from 0 if each difference has either sign by
    chance. It is never below 1 / (RESAMPLES + 1).
    """
    gap = one - other
    mean = float(gap.mean())
    if not gap.any():
        return 0.0, (0.0, 0.0), 1.0
    if gap.size > LARGE:
        error = float(gap.std(ddof=1)) / math.sqrt(gap.size)
        return mean, _normal(gap, mean), math.erfc(abs(mean) / error / math.sqrt(2)) if error else 0.0
    total, as_far, again = float(gap.sum()), 0, []
    for first, count in _parts(gap.size):
        again.append(resamples(gap.size, seed, count, first) @ gap / gap.size)
        at = np.arange(first * gap.size, (first + count) * gap.size)
        sign = (mix(counters(at) ^ name_bits("signs", seed)) >> np.uint64(63)).astype(np.float64).reshape(count, -1)
        as_far += int((np.abs((2 * sign - 1) @ gap) >= abs(total) - 1e-9).sum())
    low, high = percentile_interval(np.concatenate(again))
    return mean, (min(low, mean), max(high, mean)), (as_far + 1) / (RESAMPLES + 1)


def _normal(values: Floats, mean: float) -> Interval:
    half = Z * float(values.std(ddof=1)) / math.sqrt(values.size)
    return (mean - half, mean + half)


def _parts(size: int) -> Iterator[tuple[int, int]]:
    """Yields the first resample of each part, and how many there are in it."""
    step = max(CELLS // max(size, 1), 1)
    for first in range(0, RESAMPLES, step):
        yield first, min(step, RESAMPLES - first)
