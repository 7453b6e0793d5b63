"""Means with intervals, and paired tests: against slow twins, scipy's exact test by hand, and the promise of bounded memory."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from scuff.metrics import paired
from scuff.metrics.interval import RESAMPLES, resamples, wilson
from scuff.metrics.paired import mean_with_interval, paired_difference


def test_parts_of_resamples_are_the_whole() -> None:
    whole = resamples(17, 5, 30)
    assert (np.concatenate([resamples(17, 5, 10, first) for first in (0, 10, 20)]) == whole).all()


@pytest.mark.parametrize("cells", [1, 4_000, 10**7])
def test_the_interval_is_that_of_resampled_means(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(50) * 2
    monkeypatch.setattr(paired, "CELLS", cells)
    mean, interval = mean_with_interval(values, seed=3, most=2)
    slow = [np.repeat(values, drawn.astype(int)).mean() for drawn in resamples(50, 3)]
    assert mean == values.mean() and interval == pytest.approx(np.quantile(slow, [0.025, 0.975]))


def test_equal_values() -> None:
    mean, (low, high) = mean_with_interval(np.ones(20), 0)
    assert mean == high == 1 and 0.8 < low < 1, "twenty texts do not prove that all are so"
    assert paired_difference(np.ones(5), np.ones(5), 0) == (0, (0, 0), 1)
    assert mean_with_interval(np.array([0.3]), 0)[0] == 0.3


@pytest.mark.parametrize("size", [3, paired.LARGE, paired.LARGE + 1])
def test_one_rule_for_any_number_of_texts(size: int) -> None:
    """0 and 1 are a share of the texts; one value of any other kind has no spread to resample."""
    for value in (0.0, 1.0):
        assert mean_with_interval(np.full(size, value), 0) == (value, wilson(value, size))
    half = np.arange(size) % 2 == 0
    assert mean_with_interval(half.astype(float), 0) == (half.mean(), wilson(half.mean(), size))
    for value, most in ((0.1, 1), (0.5, 1), (1.0, 2), (2.0, 2)):
        assert mean_with_interval(np.full(size, value), 0, most) == (value, (value, value))
    gap, interval, p = paired_difference(np.full(size, 0.75), np.full(size, 0.5), 0)
    assert gap == 0.25 and interval == (0.25, 0.25) and p == pytest.approx(1 / 4 if size == 3 else 0, abs=0.05)


def test_intervals_end_where_values_do() -> None:
    values = np.ones(paired.LARGE + 1)
    values[7] = 0.3
    mean, (low, high) = mean_with_interval(values, 0)
    assert low < mean < high == 1
    mean, (low, high) = mean_with_interval(1 - values, 0)
    assert 0 == low < mean < high
    mean, (low, high) = mean_with_interval(1 + values, 0, most=2)
    assert 1 < low < mean < high == 2
    mean, (low, high), _ = paired_difference(values, np.zeros(values.size), 0)
    assert low < mean < high == 1
    mean, (low, high), _ = paired_difference(np.zeros(values.size), values, 0)
    assert -1 == low < mean < high


def test_p_is_that_of_all_signs() -> None:
    """Ten differences have 1,024 signs, so that the exact p can be counted."""
    random = np.random.default_rng(4)
    for shift in (0.0, 0.1, 0.3):
        one, other = random.random(10) + shift, random.random(10)
        gap = one - other
        exact = np.mean([abs(np.dot(signs, gap)) >= abs(gap.sum()) - 1e-9 for signs in product((-1, 1), repeat=10)])
        mean, (low, high), p = paired_difference(one, other, 0)
        assert mean == pytest.approx(gap.mean()) and low < mean < high
        assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / RESAMPLES) + 1 / RESAMPLES)


def test_p_holds_its_promise() -> None:
    """Of two attacks that do not differ, 5 % have p below 0.05."""
    random = np.random.default_rng(1)
    found = [paired_difference(random.random(40), random.random(40), seed)[2] for seed in range(200)]
    assert 0.01 < np.mean(np.array(found) <= 0.05) < 0.1
    assert paired_difference(random.random(40) + 1, random.random(40), 0)[2] == 1 / (RESAMPLES + 1)


def test_many_texts_are_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    one, other = random.random(3000), random.random(3000) + 0.012
    resampled = mean_with_interval(one, 0), paired_difference(one, other, 0)
    monkeypatch.setattr(paired, "LARGE", 100)
    normal = mean_with_interval(one, 0), paired_difference(one, other, 0)
    width = resampled[0][1][1] - resampled[0][1][0]
    assert normal[0][1] == pytest.approx(resampled[0][1], abs=0.08 * width)
    assert normal[1][1] == pytest.approx(resampled[1][1], abs=0.08 * width)
    assert normal[1][2] == pytest.approx(resampled[1][2], abs=0.05) and 0 < normal[1][2] < 1
