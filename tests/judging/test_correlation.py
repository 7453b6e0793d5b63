"""Correlations with resampled examples, against NumPy and slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.judging.correlation import chance_of_better, correlate, draw_examples, pearson
from scuff.metrics.rank import ranks, spearman


@given(st.integers(4, 30), st.integers(0, 10**6), st.booleans())
def test_every_resample_is_what_repeating_rows_gives(items: int, seed: int, by_rank: bool) -> None:
    chance = np.random.default_rng(seed)
    one, other = chance.integers(0, 6, items).astype(float), np.round(chance.random(items), 1)
    draws = draw_examples([str(at // 2) for at in range(items)], seed, 20)
    found = correlate(one, other, draws, by_rank=by_rank)
    for row, value in zip(draws, found.again, strict=True):
        first, second = (np.repeat(side, row.astype(int)) for side in (one, other))
        first, second = (ranks(first), ranks(second)) if by_rank else (first, second)
        if np.ptp(first) and np.ptp(second):
            assert value == pytest.approx(np.corrcoef(first, second)[0, 1])
        else:
            assert np.isnan(value)
    if np.ptp(one) and np.ptp(other):
        wanted = spearman(one, other) if by_rank else np.corrcoef(one, other)[0, 1]
        assert found.value == pytest.approx(wanted)


def test_no_variation_no_correlation() -> None:
    draws = draw_examples(list("abcde"), 0, 50)
    constant = correlate(np.full(5, 0.1), np.arange(5.0), draws)
    assert np.isnan(constant.value) and np.isnan(constant.interval).all()
    assert np.isnan(pearson([1], [1])) and pearson([1, 2, 4], [2, 4, 8]) == pytest.approx(1)


def test_items_of_one_example_are_drawn_together() -> None:
    draws = draw_examples(["a", "b", "a", "c"], 3, 40)
    assert (draws[:, 0] == draws[:, 2]).all() and not (draws[:, 0] == draws[:, 1]).all()
    assert (draws == draw_examples(["a", "b", "a", "c"], 3, 40)).all()


def test_the_better_of_two_is_found_and_equals_are_not() -> None:
    chance = np.random.default_rng(1)
    truth = chance.normal(size=400)
    near, far = truth + chance.normal(size=400) * 0.5, truth + chance.normal(size=400) * 2
    draws = draw_examples([str(at) for at in range(400)], 0)
    good, bad = correlate(truth, near, draws), correlate(truth, far, draws)
    assert good.interval[0] < good.value < good.interval[1]
    assert good.value == pytest.approx(1 / np.sqrt(1.25), abs=0.05)  # of a sum of two normals
    assert bad.value == pytest.approx(1 / np.sqrt(5), abs=0.1)
    assert chance_of_better(good, bad) < 0.01 and chance_of_better(bad, good) > 0.99
    assert chance_of_better(good, good) == 1  # never above itself


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    hits = 0
    for seed in range(60):
        chance = np.random.default_rng(seed)
        one = chance.normal(size=80)
        found = correlate(
            one, 0.6 * one + 0.8 * chance.normal(size=80), draw_examples([str(at) for at in range(80)], seed, 300)
        )
        hits += found.interval[0] <= 0.6 <= found.interval[1]
    assert 51 <= hits <= 60  # of 60, at 95 %
