"""Agreement against worked examples that were published, scikit-learn, and slow twins."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.judging.agreement import (
    cohen,
    coincidences,
    decided,
    disputed,
    fleiss,
    kendall_w,
    krippendorff,
    rating_counts,
)
from scuff.metrics.rank import spearman
from scuff.perturbations.readability import Readability
from scuff.resources import load

NO = np.nan
# Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C: four observers, twelve units
OBSERVERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
    [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
])  # fmt: skip
# Fleiss (1971), Table 1 as reproduced widely: ten subjects, fourteen raters, five categories
SUBJECTS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1], [7, 7, 0, 0, 0], [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def test_alpha_is_that_of_krippendorff() -> None:
    assert krippendorff(OBSERVERS, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff(OBSERVERS, "ordinal") == pytest.approx(0.815, abs=5e-4)


def slow_alpha(values: np.ndarray, ordinal: bool) -> float:
    """By the definition, pair by pair."""
    units = [[int(v) for v in column if not np.isnan(v)] for column in values.T]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]
    often = np.bincount(pooled, minlength=10)

    def far(one: int, other: int) -> float:
        low, high = sorted((one, other))
        if not ordinal:
            return float(one != other)
        return float(often[low : high + 1].sum() - (often[low] + often[high]) / 2) ** 2 if low != high else 0.0

    observed = sum(sum(far(a, b) for a, b in combinations(unit, 2)) * 2 / (len(unit) - 1) for unit in units)
    expected = sum(far(a, b) for a, b in combinations(pooled, 2)) * 2 / (len(pooled) - 1)
    return 1 - observed / expected if expected else np.nan


@given(st.integers(2, 4), st.integers(1, 9), st.integers(0, 10**6), st.booleans())
def test_alpha_agrees_with_its_definition(raters: int, items: int, seed: int, ordinal: bool) -> None:
    chance = np.random.default_rng(seed)
    values = chance.integers(0, 4, (raters, items)).astype(np.float64)
    values[chance.random(values.shape) < 0.2] = np.nan
    if (np.isfinite(values).sum(0) > 1).any():
        found = krippendorff(values, "ordinal" if ordinal else "nominal", 4)
        assert found == pytest.approx(slow_alpha(values, ordinal), nan_ok=True)


def test_fleiss_is_that_of_fleiss() -> None:
    assert fleiss(SUBJECTS) == pytest.approx(0.210, abs=5e-4)
    assert np.isnan(fleiss([[2, 0], [1, 0]]))  # not as many raters for each


@given(st.integers(1, 40), st.integers(0, 10**6), st.booleans())
def test_cohen_agrees_with_scikit_learn(items: int, seed: int, squared: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    one, other = np.random.default_rng(seed).integers(0, 6, (2, items))
    other = np.where(np.arange(items) % 2, one, other)
    found = cohen(one, other, 6, squared=squared)
    if not np.isnan(found):
        wanted = metrics.cohen_kappa_score(one, other, labels=range(6), weights="quadratic" if squared else None)
        assert found == pytest.approx(wanted)


def test_cohen_looks_at_what_both_rated() -> None:
    assert cohen([0, 1, NO, 1], [0, 1, 1, NO], 2) == 1
    assert np.isnan(cohen([NO, 1], [1, NO], 2))


def test_kendall_of_the_thesis() -> None:
    """W is a function of the mean Spearman of all pairs of raters, which docs/readability.md has: 0.53."""
    names = json.loads(load("readability.json"))["perturbations"]
    ranks = np.array([Readability.of(name).raters for name in names if Readability.of(name).raters]).T
    assert ranks.shape == (5, 10)
    mean = np.mean([spearman(one, other) for one, other in combinations(ranks, 2)])
    assert mean == pytest.approx(0.53, abs=0.005)
    assert kendall_w(ranks) == pytest.approx((4 * mean + 1) / 5)
    assert kendall_w([[1, 2, 3], [1, 2, 3]]) == 1 and kendall_w([[1, 2, 3], [3, 2, 1]]) == 0
    assert kendall_w([[1, 1, 2], [5, 5, 9]]) == pytest.approx(1)  # ties that all share


def test_pairs_count_by_how_many_rated_an_item() -> None:
    each = coincidences(np.array([[0.0, 1], [0, NO], [1, NO]]), 2)
    assert each[0].tolist() == [[1, 1], [1, 0]] and each[1].sum() == 0
    assert rating_counts(np.array([[0.0, 1], [0, NO]]), 2).tolist() == [[2, 0]]


def test_one_rating_of_several() -> None:
    values = np.array([[5.0, 4, NO, 2, 3], [5, 2, 1, 4, NO], [0, 3, 0, NO, NO]])
    assert np.array_equal(decided(values, "third"), [5, 3, 0, NO, NO], equal_nan=True)  # one of two is no agreement
    assert decided(values, "third")[0] == 5  # the third is not asked where two agree
    assert disputed(values).tolist() == [1, 2, 3, 4]
    assert decided(np.array([[NO], [3], [5]]), "third").tolist() == [5]
    assert disputed(np.array([[NO, 1], [NO, 1]])).tolist() == []  # nobody's, and agreed on
    assert np.array_equal(decided(values, "vote"), [5, NO, NO, NO, 3], equal_nan=True)
    assert decided(values, "mean")[1] == 3 and decided(values, "median")[3] == 3
    assert np.isnan(decided(np.full((2, 1), NO), "mean"))[0] and np.isnan(decided(np.full((2, 1), NO), "vote"))[0]
    votes = np.array([[1.0, 0, 1], [1, 0, 0], [0, 0, 1]])
    assert decided(votes, "vote").tolist() == [1, 0, 1]
    assert decided(values[:1], "third").tolist()[:2] == [5, 4]
    with pytest.raises(ValueError, match="expected two raters and a third"):
        decided(np.zeros((4, 1)), "third")
