"""95 % intervals: Wilson's for proportions, and bootstraps that resample examples, never cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text.ragged import Floats
from ..text.random import counters, mix, name_bits

Z = 1.959963984540054  # the normal distribution's 97.5 % point
RESAMPLES = 1000

Interval = tuple[float, float]
Draws = npt.NDArray[np.floating[Any]]  # how often each example is drawn in each resample: [resamples, examples]


def wilson(share: float, count: float) -> Interval:
    """Wilson's interval for a proportion of `count` trials."""
    if count <= 0 or math.isnan(share):
        return (math.nan, math.nan)
    middle = (share + Z * Z / (2 * count)) / (1 + Z * Z / count)
    half = Z / (1 + Z * Z / count) * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    low, high = min(max(0.0, middle - half), share), max(min(1.0, middle + half), share)
    return (low, high)


def resamples(examples: int, seed: int, count: int = RESAMPLES, first: int = 0) -> npt.NDArray[np.float32]:
    """How often each example is drawn in each resample: [count, examples]. Depends on the seed alone, not on the machine.

    first: the number of the first of these resamples, where not all are made at once.
    """
    at = np.arange(first * examples, (first + count) * examples, dtype=np.int64)
    random = mix(counters(at) ^ name_bits("bootstrap", seed)) >> np.uint64(32)
    drawn = ((random * np.uint64(max(examples, 1))) >> np.uint64(32)).astype(np.int64)
    flat = np.bincount(np.repeat(np.arange(count), examples) * examples + drawn, minlength=count * examples)
    return flat.reshape(count, examples).astype(np.float32)


def percentile_interval(values: npt.NDArray[Any]) -> Interval:
    """The 2.5 % and 97.5 % quantiles of resampled values; nan if all are nan."""
    kept = values[np.isfinite(values)]
    if not kept.size:
        return (math.nan, math.nan)
    low, high = np.quantile(kept, [0.025, 0.975])
    return (float(low), float(high))


def weighted_rows(values: Floats, weight: Floats) -> Floats:
    """(weighted value, weight) of each of values [..., examples], whose sums make a weighted mean; (0, 0) where one is nan."""
    known = np.isfinite(values)
    return np.stack([np.where(known, values, 0) * weight, known * weight], -1)


def resampled_sums(rows: Floats, draws: Draws) -> tuple[Floats, Floats]:
    """Sums over examples of rows [..., examples, k], and the same in every resample: [..., resamples, k].

    Rows with a nan are left out; a sum of no rows is nan.
    """
    known = ~np.isnan(rows).any(-1)
    planes = np.ascontiguousarray(np.where(known, np.moveaxis(rows, -1, 0), 0))  # makes matrix products fast
    total = np.stack([plane.sum(-1) for plane in planes], -1)
    again = np.stack([plane @ draws.T for plane in planes], -1)
    count = known.astype(np.float64)
    total[count.sum(-1) == 0] = np.nan
    again[count @ draws.T == 0] = np.nan
    return total, again


def weighted_means(values: Floats, weight: Floats, draws: Draws) -> tuple[Floats, Floats]:
    """Means over examples of values [..., examples], and the same in every resample: [..., resamples]. Leaves out what is nan."""
    sums = resampled_sums(weighted_rows(values, weight), draws)
    with np.errstate(invalid="ignore"):
        mean, again = (some[..., 0] / some[..., 1] for some in sums)
    return mean, again


def mean_interval(mean: float, again: Floats, examples: int) -> Interval:
    """The bootstrap's interval; if all resamples agree, so that it has no width, Wilson's interval for that many examples."""
    low, high = percentile_interval(again)
    if high - low < 1e-12 and -1e-9 < mean < 1 + 1e-9:
        return wilson(min(max(mean, 0.0), 1.0), examples)
    return (min(low, mean), max(high, mean))
