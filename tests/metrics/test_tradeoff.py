"""The trade-off of an attack: equation (1) of Michel et al. (2019) against the words of the paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.metrics.tradeoff import relative_decrease, succeeded, success

share = st.floats(0, 1)


def equation_1(base: float, attacked: float) -> float:
    return 0.0 if attacked >= base else (base - attacked) / base


@given(st.lists(st.tuples(share, share), max_size=20))
def test_the_relative_decrease_is_equation_1(scores: list[tuple[float, float]]) -> None:
    base, attacked = np.array(scores).reshape(-1, 2).T
    found = relative_decrease(base, attacked)
    assert found.tolist() == [equation_1(*pair) for pair in scores]
    assert ((found >= 0) & (found <= 1)).all()


def test_where_nothing_can_be_lost() -> None:
    assert relative_decrease([0, 0, 0.4, 0.4, 0.4], [0, 0.5, 0.4, 0.7, 0]).tolist() == [0, 0, 0, 0, 1]
    assert [math.isnan(each) for each in relative_decrease([math.nan, 1], [0.5, math.nan])] == [True, True]
    assert relative_decrease([], []).size == 0 and relative_decrease(0.8, 0.2) == pytest.approx(0.75)
    with pytest.raises(ValueError, match=r"expected scores of 0 or more, got -0\.1"):
        relative_decrease([0.5], [-0.1])


@given(share, share, share)
def test_success_is_the_sum(source: float, base: float, attacked: float) -> None:
    lost = relative_decrease([base], [attacked])
    assert success([source], lost).tolist() == [source + lost[0]]
    assert succeeded([source], lost).tolist() == [source + lost[0] > 1]


def test_the_papers_examples() -> None:
    """Table 4: 0.81 + 0.84 succeeded, 0.54 + 0 did not; and with right or wrong answers the source has to stay above 0.8."""
    assert succeeded([0.8089, 0.5446], [0.8406, 0.0]).tolist() == [True, False]
    assert succeeded([0.81, 0.79, 1.0], [1, 1, 0], threshold=1.8).tolist() == [True, False, False]
    assert not succeeded([1.0], [0.0])[0], "what changed nothing is no success"
