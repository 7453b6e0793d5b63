"""Means over many texts with their intervals, and paired tests of differences, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..text.ragged import Floats
from ..text.random import counters, mix, name_bits
from .interval import RESAMPLES, Interval, Z, percentile_interval, resamples, wilson

# texts above which the normal distribution takes the place of resampling: the two then differ less than two seeds do
LARGE = 20_000
CELLS = 2_000_000  # numbers of a table of resamples that are made at once


def mean_with_interval(values: Floats, seed: int, most: float = 1.0) -> tuple[float, Interval]:
    """The mean of values in [0, most], and its 95 % interval, which is inside of that, too.

    Values that are all 0 or 1 (most: 1) are a share of the texts and have Wilson's interval; others have that of a bootstrap of
    the texts. It has no width if all texts have the same value: the texts then say nothing about how far it is from the truth.
    """
    mean = float(values.mean())
    if most == 1 and np.isin(values, (0.0, 1.0)).all():
        return mean, wilson(mean, values.size)
    if values.min() == values.max():
        return float(values[0]), (float(values[0]), float(values[0]))
    if values.size > LARGE:
        return mean, _normal(values, mean, 0.0, most)
    again = [resamples(values.size, seed, count, first) @ values / values.size for first, count in _parts(values.size)]
    return mean, _around(mean, np.concatenate(again))


def paired_difference(one: Floats, other: Floats, seed: int, most: float = 1.0) -> tuple[float, Interval, float]:
    """The mean of one - other of the same texts, its 95 % interval by a bootstrap of the texts, and p, two-sided.

    Both have values in [0, most]. The interval has no width if all differences are the same. p is that of approximate
    randomisation: how often the mean is at least as far from 0 if each difference has either sign by chance. It is never below
    1 / (RESAMPLES + 1).
    """
    gap = one - other
    mean = float(gap.mean())
    if not gap.any():
        return 0.0, (0.0, 0.0), 1.0
    same = bool(gap.min() == gap.max())
    if gap.size > LARGE:
        error = 0.0 if same else float(gap.std(ddof=1)) / math.sqrt(gap.size)
        p = math.erfc(abs(mean) / error / math.sqrt(2)) if error else 0.0
        return mean, (mean, mean) if same else _normal(gap, mean, -most, most), p
    total, as_far, again = float(gap.sum()), 0, []
    for first, count in _parts(gap.size):
        again.append(resamples(gap.size, seed, count, first) @ gap / gap.size)
        at = np.arange(first * gap.size, (first + count) * gap.size)
        sign = (mix(counters(at) ^ name_bits("signs", seed)) >> np.uint64(63)).astype(np.float64).reshape(count, -1)
        as_far += int((np.abs((2 * sign - 1) @ gap) >= abs(total) - 1e-9).sum())
    interval = (mean, mean) if same else _around(mean, np.concatenate(again))
    return mean, interval, (as_far + 1) / (RESAMPLES + 1)


def _around(mean: float, again: Floats) -> Interval:
    """The interval of resampled means, with the mean itself in it."""
    low, high = percentile_interval(again)
    return (min(low, mean), max(high, mean))


def _normal(values: Floats, mean: float, least: float, most: float) -> Interval:
    """The normal interval, cut where no mean can be."""
    half = Z * float(values.std(ddof=1)) / math.sqrt(values.size)
    return (max(mean - half, least), min(mean + half, most))


def _parts(size: int) -> Iterator[tuple[int, int]]:
    """Yields the first resample of each part, and how many there are in it."""
    step = max(CELLS // max(size, 1), 1)
    for first in range(0, RESAMPLES, step):
        yield first, min(step, RESAMPLES - first)
