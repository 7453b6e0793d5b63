"""Paired tests and Holm's correction, against scipy, statsmodels and slow twins."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.metrics.classification import MacroF1
from scuff.metrics.paired import ALL_FLIPS, FLIPS, flip_test, holm, sign_test, swap_test


@given(st.integers(0, 60), st.integers(0, 60))
def test_right_and_wrong_answers_have_mcnemars_exact_test(more: int, less: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(more, more + less).pvalue if more + less else 1.0
    assert sign_test(more, less) == pytest.approx(expected)
    gaps = np.array([1.0] * more + [-1.0] * less + [0.0] * 5)
    assert flip_test(gaps[:, None])[0] == pytest.approx(expected)


def test_mcnemar_of_statsmodels() -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for more, less in ((3, 14), (0, 9), (40, 61), (700, 801)):
        found = tables.mcnemar([[50, more], [less, 20]], exact=True).pvalue
        assert sign_test(more, less) == pytest.approx(found)


@given(st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=1, max_size=9))
def test_few_differences_are_tried_with_all_signs(values: list[float]) -> None:
    gaps = np.array(values)
    total = abs(gaps.sum())
    slow = np.mean([abs(np.dot(signs, gaps)) >= total - 1e-7 for signs in product((1, -1), repeat=len(gaps))])
    assert flip_test(gaps[:, None])[0] == pytest.approx(slow)


def test_many_differences_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(3)
    for shift in (0.0, 0.05, 0.12):
        gaps = np.round(random.normal(shift, 0.4, 60), 4)
        found = stats.permutation_test(
            (gaps,), np.sum, permutation_type="samples", n_resamples=40_000, rng=np.random.default_rng(0)
        )
        assert flip_test(gaps[:, None], seed=1)[0] == pytest.approx(found.pvalue, abs=0.02)


def test_columns_do_not_depend_on_each_other_and_unknown_pairs_are_left_out() -> None:
    random = np.random.default_rng(0)
    gaps = random.normal(0.1, 0.5, (200, 4))
    gaps[:, 2] = np.sign(gaps[:, 2])
    together = flip_test(gaps, 5)
    assert together == pytest.approx([flip_test(gaps[:, [at]], 5)[0] for at in range(4)])
    assert flip_test(gaps, 6)[0] != together[0], "the seed decides which signs are tried"
    more = np.concatenate([gaps, np.full((10, 4), np.nan)])
    assert flip_test(more)[2] == pytest.approx(together[2])
    assert flip_test(np.full((200, 1), 0.25) + np.arange(200)[:, None] / 1e4)[0] == pytest.approx(1 / (FLIPS + 1))
    assert flip_test(np.zeros((5, 1)))[0] == 1
    assert math.log2(FLIPS) > ALL_FLIPS


def test_a_false_alarm_is_as_rare_as_it_says() -> None:
    """Two systems that are the same but for chance: about one in twenty tests is below 0.05."""
    random = np.random.default_rng(8)
    found = flip_test(random.normal(0, 1, (80, 1000)))
    assert 0.03 < (found < 0.05).mean() < 0.07


def test_metrics_that_are_no_means_are_tested_by_swapping() -> None:
    """For a mean it is the same test; for macro F1 a slow twin swaps the answers themselves."""
    random = np.random.default_rng(1)
    one, other = (random.random((60, 1)) for _ in range(2))
    p = swap_test(lambda sums: sums[..., 0] / 60, one, other, 2, 20_000)
    assert p == pytest.approx(flip_test(other - one)[0], abs=0.015)
    assert swap_test(lambda sums: sums[..., 0], one, one) == 1
    metric, targets = MacroF1(), random.integers(0, 3, 50)
    answers = [np.where(random.random(50) < share, targets, random.integers(0, 3, 50)) for share in (0.5, 0.8)]
    labels = ("a", "b", "c")
    rows = [metric.statistics(each, targets, labels) for each in answers]
    found = swap_test(metric.score, rows[0], rows[1], 0, 2000)
    gap, as_far = abs(metric(answers[1], targets, labels) - metric(answers[0], targets, labels)), 0
    for _ in range(2000):
        swap = random.random(50) < 0.5
        mixed = [np.where(swap, *pair) for pair in ((answers[0], answers[1]), (answers[1], answers[0]))]
        as_far += abs(metric(mixed[0], targets, labels) - metric(mixed[1], targets, labels)) >= gap - 1e-9
    assert found == pytest.approx(as_far / 2000, abs=0.03)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, None, 0.02]) == [0.5, None, 0.04] and holm([]) == [] and holm([0.9, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_of_statsmodels(ps: list[float]) -> None:
    tests = pytest.importorskip("statsmodels.stats.multitest")
    found = holm(ps)
    assert found == pytest.approx(tests.multipletests(ps, method="holm")[1].tolist())
    assert all(corrected is not None and corrected >= p for p, corrected in zip(ps, found, strict=True))
