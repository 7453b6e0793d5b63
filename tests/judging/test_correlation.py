"""Correlations with resampled examples, against NumPy and slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.judging.correlation import chance_of_better, correlate, draw_examples
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
    assert np.isnan(correlate([1], [1], draws[:, :1]).value)
    assert correlate([1, 2, 4], [2, 4, 8], draws[:, :3]).value == pytest.approx(1)


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


@pytest.mark.parametrize("by_rank", [False, True])
@pytest.mark.parametrize("rare", [1, 2, 3, 9, 10, 15])
def test_rare_ratings_have_no_interval_or_one_that_holds(rare: int, by_rank: bool) -> None:
    """Ratings that have nothing to do with the metric: where there is a 95 % interval, it seldom leaves out 0."""
    outside = shown = 0
    for seed in range(100):
        chance = np.random.default_rng(seed)
        rating = np.full(50, 5.0)
        rating[chance.permutation(50)[:rare]] = 2
        draws = draw_examples([str(at) for at in range(50)], seed, 200)
        metric = chance.normal(size=50)
        found, turned = (correlate(*pair, draws, by_rank=by_rank) for pair in ((rating, metric), (metric, rating)))
        assert np.isfinite(found.value) and np.isnan(found.interval[0]) == np.isnan(turned.interval[0])
        shown += bool(np.isfinite(found.interval).all())
        outside += not np.isnan(found.interval[0]) and not found.interval[0] <= 0 <= found.interval[1]
    assert shown == (100 if rare >= 10 else 0) and outside <= 12


def test_rare_means_examples_not_items() -> None:
    """Twelve odd items of three examples are drawn together: as rare as three."""
    rating = np.repeat([0.0] * 3 + [1.0] * 17, 4)
    other = np.random.default_rng(0).normal(size=80)
    assert np.isnan(correlate(rating, other, draw_examples([str(at // 4) for at in range(80)], 0)).interval[0])
    assert np.isfinite(correlate(rating, other, draw_examples([str(at) for at in range(80)], 0)).interval[0])
