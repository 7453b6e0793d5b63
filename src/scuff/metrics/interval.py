"""How sure a number is: 95 % intervals that resample examples, never cases."""

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


def wilson(share: float, count: float) -> Interval:
    """Wilson's interval for a proportion of `count` trials."""
    if count <= 0 or math.isnan(share):
        return (math.nan, math.nan)
    middle = (share + Z * Z / (2 * count)) / (1 + Z * Z / count)
    half = Z / (1 + Z * Z / count) * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    low, high = min(max(0.0, middle - half), share), max(min(1.0, middle + half), share)
    return (low, high)


def resamples(examples: int, seed: int, count: int = RESAMPLES) -> npt.NDArray[np.float32]:
    """How often each example is drawn in each resample: [count, examples]. The same for a seed, everywhere."""
    at = np.arange(count * examples, dtype=np.int64)
    random = mix(counters(at) ^ name_bits("bootstrap", seed)) >> np.uint64(32)
    drawn = ((random * np.uint64(max(examples, 1))) >> np.uint64(32)).astype(np.int64)
    flat = np.bincount(np.repeat(np.arange(count), examples) * examples + drawn, minlength=count * examples)
    return flat.reshape(count, examples).astype(np.float32)


def percentile_interval(values: npt.NDArray[Any]) -> Interval:
    """From 2.5 % to 97.5 % of resampled values."""
    kept = values[np.isfinite(values)]
    if not kept.size:
        return (math.nan, math.nan)
    low, high = np.quantile(kept, [0.025, 0.975])
    return (float(low), float(high))


def weighted_means(values: Floats, weight: Floats, draws: npt.NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Means over examples of values [..., examples] (nan: not known there), and the same in every resample: [..., resamples]."""
    known = np.isfinite(values)
    filled = np.where(known, values, 0) * weight
    mass = known * weight
    with np.errstate(invalid="ignore"):
        mean = filled.sum(-1) / mass.sum(-1)
        again = (filled @ draws.T) / (mass @ draws.T)
    return mean, again


def mean_interval(mean: float, again: Floats, examples: int) -> Interval:
    """The bootstrap's interval; where all examples agree, so that it has no width, Wilson's for as many examples."""
    low, high = percentile_interval(again)
    if high - low < 1e-12:
        return wilson(min(max(mean, 0.0), 1.0), examples)
    return (min(low, mean), max(high, mean))
