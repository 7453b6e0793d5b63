"""Correlation of ratings with metrics: Pearson and Spearman, with bootstraps that resample examples, never items.

One table of resamples serves all metrics, so that two metrics are compared on the same draws (a paired bootstrap).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..metrics.interval import RESAMPLES, Interval, percentile_interval, resamples
from ..text.ragged import Floats

RARE = 10  # examples: with fewer that differ from the most frequent value, resamples say nothing about the spread
BETTER = 0.01  # a correlation is significantly better if p is below this (TEAPOT, section 4.2)

Draws = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Correlation:
    """A correlation coefficient with its 95 % interval, nan where a value is too rare for one. again: in each resample."""

    value: float
    interval: Interval
    again: Floats


def draw_examples(example: list[str], seed: int, count: int = RESAMPLES) -> Draws:
    """Returns how often each item counts in each resample of the examples that the items are of: [count, items]."""
    names, number = np.unique(np.array(example, object).astype(str), return_inverse=True)
    return resamples(names.size, seed, count)[:, number.reshape(-1)]


def correlate(one: npt.ArrayLike, other: npt.ArrayLike, draws: Draws, *, by_rank: bool = False) -> Correlation:
    """Returns Pearson's or, by rank, Spearman's correlation, with an interval from the resamples.

    Has no interval if nearly all values of a side are equal: resamples keep the few others or lose them, and among those that
    keep them the coefficient hardly moves. Of 50 values one of which differs, most intervals would leave out a true 0.
    """
    first, second = np.asarray(one, np.float64), np.asarray(other, np.float64)
    whole = np.ones((1, first.size))
    if first.size < 2:
        return Correlation(math.nan, (math.nan, math.nan), np.full(len(draws), np.nan))
    value, again = (_correlated(first, second, weight, by_rank) for weight in (whole, draws.astype(np.float64)))
    enough = all(vary_enough(side[None], draws) for side in (first, second))
    return Correlation(float(value[0]), percentile_interval(again) if enough else (math.nan, math.nan), again)


def vary_enough(values: Floats, draws: Draws) -> bool:
    """Returns whether RARE examples or more have a value other than the most frequent one. values: [raters, items], nan: none."""
    known = np.isfinite(values)
    each, often = np.unique(values[known], return_counts=True)
    odd = (known & (values != each[often.argmax()])).any(0) if each.size else np.zeros(values.shape[1], np.bool_)
    return len({column.tobytes() for column in draws.T[odd]}) >= RARE  # items of one example are drawn together


def _correlated(one: Floats, other: Floats, weight: Floats, by_rank: bool) -> Floats:
    if by_rank:
        return _weighted(_weighted_ranks(one, weight), _weighted_ranks(other, weight), weight)
    return _weighted(one[None], other[None], weight)


def _weighted(one: Floats, other: Floats, weight: Floats) -> Floats:
    """Returns Pearson's correlation under each row of weights. one, other: [rows or 1, items]."""
    total = np.maximum(weight.sum(1, keepdims=True), 1e-300)
    first = one - (weight * one).sum(1, keepdims=True) / total
    second = other - (weight * other).sum(1, keepdims=True) / total
    both, left, right = ((weight * x * y).sum(1) for x, y in ((first, second), (first, first), (second, second)))
    size = np.sqrt(left * right)
    scale = np.maximum((weight * np.abs(one)).sum(1) * (weight * np.abs(other)).sum(1), 1e-300)
    known = size > 1e-12 * scale / total[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        out: Floats = np.where(known, np.clip(both / size, -1, 1), np.nan)
    return out


def _weighted_ranks(values: Floats, weight: Floats) -> Floats:
    """Returns the mean rank of each value if it is there as often as its weight says: [rows, items]."""
    _, group = np.unique(values, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    often = np.add.reduceat(weight[:, order], starts, axis=1)
    middle: Floats = (np.cumsum(often, 1) - (often - 1) / 2)[:, group]
    return middle


def chance_of_better(one: Correlation, other: Correlation) -> float:
    """Returns p of a paired bootstrap: the share of resamples in which the first correlation is not above the second."""
    above = int((one.again > other.again).sum())  # nan is not above
    return (len(one.again) - above + 1) / (len(one.again) + 1)
