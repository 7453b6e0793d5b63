"""Means over many texts with their intervals, and paired tests of differences, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

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


def _parts(size: int, total: int = RESAMPLES) -> Iterator[tuple[int, int]]:
    """Yields the first resample of each part, and how many there are in it."""
    step = max(CELLS // max(size, 1), 1)
    for first in range(0, total, step):
        yield first, min(step, total - first)


# tests of a difference between two systems on the same texts

FLIPS = 10_000  # random changes of sign of a test, where there are too many to try all
ALL_FLIPS = 13  # differences up to which all 2^n changes of sign are tried
EQUAL = 1e-6  # differences that are nearer are equal: files hold six digits


def flip_test(gaps: Floats, seed: int = 0) -> Floats:
    """p, two-sided, of each column of paired differences [texts, columns]: how often their sum is at least as far from 0 if each
    difference has either sign by chance (Fisher's randomisation test).

    Where all differences other than 0 have one size, as between right and wrong answers, p is exact: it is McNemar's exact test
    then. So it is with few differences. Else it comes of FLIPS random changes of sign, the same for all columns, and is never
    below 1 / (FLIPS + 1). nan: a pair of which one is not known; it counts as no difference.
    """
    known = np.where(np.isfinite(gaps) & (np.abs(gaps) > EQUAL), gaps, 0.0)
    out = np.ones(known.shape[1])
    random = []
    for column, gap in enumerate(known.T):
        other = gap[gap != 0]
        if not other.size:
            continue
        if np.ptp(np.abs(other)) <= EQUAL:
            out[column] = sign_test(int((other > 0).sum()), int((other < 0).sum()))
        elif other.size <= ALL_FLIPS:
            signs = 1.0 - 2 * ((np.arange(2**other.size)[:, None] >> np.arange(other.size)) & 1)
            out[column] = _as_far(signs @ other, other).mean()
        else:
            random.append(column)
    if random:
        chosen = known[:, random]
        counts = np.zeros(len(random))
        for first, count in _parts(len(known), FLIPS):
            moved = _swaps(len(known), seed, count, first) @ chosen
            counts += _as_far(chosen.sum(0) - 2 * moved, chosen).sum(0)
        out[random] = (counts + 1) / (FLIPS + 1)
    return out


def _as_far(sums: Floats, gaps: Floats) -> npt.NDArray[np.bool_]:
    """Which sums are as far from 0 as that of the gaps; what is nearly as far counts, since files hold six digits."""
    slack = EQUAL * np.count_nonzero(gaps, axis=0)
    return np.abs(sums) >= np.abs(gaps.sum(0)) - slack


def sign_test(more: int, less: int) -> float:
    """p, two-sided, of so many differences up and so many down, if either way is as likely: McNemar's exact test."""
    count, term, tail = more + less, 1, 0
    for at in range(min(more, less) + 1):
        tail += term
        term = term * (count - at) // (at + 1)
    return min(1.0, 2 * tail / 2**count)


def swap_test(
    score: Callable[[Floats], Floats], one: Floats, other: Floats, seed: int = 0, count: int = RESAMPLES
) -> float:
    """p, two-sided, of the difference between the scores of two systems whose rows [..., texts, k] are summed: how often it is at
    least as far from 0 if the two swap their rows of each text by chance, as sacrebleu's approximate randomisation.

    score: of sums [..., resamples, k], a number per resample. Texts of which one system has no row (nan) stand still.
    """
    known = np.isfinite(one).all(-1, keepdims=True) & np.isfinite(other).all(-1, keepdims=True)
    first, second = (np.where(known, rows, 0.0) for rows in (one, other))
    gap, ends = second - first, [rows.sum(-2, keepdims=True) for rows in (first, second)]
    if not np.abs(gap).max(initial=0) > EQUAL:
        return 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        found = abs(float((score(ends[1]) - score(ends[0])).item()))
        as_far = 0
        for start, size in _parts(gap.shape[-2], count):
            moved = np.matmul(_swaps(gap.shape[-2], seed, size, start), gap)
            again = score(ends[1] - moved) - score(ends[0] + moved)
            as_far += int((np.abs(again) >= found - EQUAL).sum())
    return (as_far + 1) / (count + 1) if math.isfinite(found) else math.nan


def _swaps(texts: int, seed: int, count: int, first: int) -> Floats:
    """Which texts change sides in each of `count` tries: 0 or 1, [count, texts]. 64 of them come of one random number."""
    words = -(-texts // 64)
    at = np.arange(first * words, (first + count) * words, dtype=np.int64)
    bits = (mix(counters(at) ^ name_bits("swaps", seed))).astype("<u8").view(np.uint8).reshape(count, -1)
    return np.unpackbits(bits, axis=1)[:, :texts].astype(np.float64)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number (Holm 1979), so that the chance of any false one stays below the level that they are
    held against. None, which was not tested, stays and does not count.
    """
    tested = sorted((p, at) for at, p in enumerate(ps) if p is not None)
    out: list[float | None] = [None] * len(ps)
    least = 0.0
    for rank, (p, at) in enumerate(tested):
        least = max(least, min(1.0, (len(tested) - rank) * p))
        out[at] = least
    return out
