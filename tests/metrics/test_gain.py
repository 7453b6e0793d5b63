"""What mending won, against the numbers that Zéroe prints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.metrics.gain import gain, helping_groups, left, left_by_guessing, won_back

FIGURES = Path(__file__).parents[2] / "benchmarks" / "papers" / "figures"
LEVELS = ("low", "mid", "high")
TRAINED = json.loads((FIGURES / "zeroe_training.json").read_text(encoding="utf-8"))
BEFORE = json.loads((FIGURES / "zeroe.json").read_text(encoding="utf-8"))
POS = TRAINED["table 8, POS: 1-1"]
NAMES, CLEAN = POS["train"], BEFORE["clean"]["pos"]


def before(name: str, level: str) -> float:
    return float(BEFORE["table 6"][name][level][0])


def pos_gains() -> np.ndarray:
    """By tested perturbation, level, trained perturbation."""
    return np.array([[gain(POS["test"][b][p], before(b, p), CLEAN) for p in LEVELS] for b in NAMES])


def test_gains_are_figure_3s() -> None:
    """The figure prints points that are not divided by s(0), and has mid and high of full-shuffle exchanged."""
    printed = TRAINED["figure 3, POS, as printed"]
    for row, name in zip(pos_gains(), NAMES, strict=True):
        levels = ("low", "high", "mid") if name == "full-shuffle" else LEVELS
        assert np.allclose(row * CLEAN, [printed[name][level] for level in levels], atol=0.006), name


def test_mean_gains_are_table_3s() -> None:
    own = [pos_gains()[at, :, at] for at in range(len(NAMES))]
    assert round(float(np.mean(own)) * CLEAN) == 16
    rows = TRAINED["table 7: leave-one-out"]
    loo = [gain(rows[b][p][0], before(b, p), CLEAN) for b in NAMES for p in LEVELS]
    assert round(100 * float(np.mean(loo))) == 4


def test_clean_text_may_lose() -> None:
    """At p = none the paper's POS models lose up to 2 points."""
    won = gain(POS["clean"], CLEAN, CLEAN)
    assert (won < 0).all() and won.min() == pytest.approx(95.04 / 96.65 - 1)


def test_groups_are_section_4_3_1s() -> None:
    told = {frozenset(group) for group in TRAINED["groups, section 4.3.1"].values()}
    assert {frozenset(group) for group in helping_groups(NAMES, pos_gains().mean(1))} == told


def test_red_line() -> None:
    assert left_by_guessing(0.5, 0.93) == pytest.approx(0.5 / 0.93)


def test_share_of_the_loss() -> None:
    assert won_back([0.8, 0.6], [0.6, 0.4], 1.0) == pytest.approx(0.4)
    assert np.isnan(won_back([0.8], [1.0], 1.0)) and np.isnan(left(0.5, 0.0))


def test_bad_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 2 rows and columns for gains, got 1 by 2"):
        helping_groups(["a", "b"], [[0, 1]])
    with pytest.raises(ValueError, match="finite"):
        helping_groups(["a"], [[np.nan]])


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from([-1.0, 0.0, 0.3]))
def test_groups_part_the_names(size: int, seed: int, least: float) -> None:
    names = [f"p{at}" for at in range(size)]
    table = np.random.default_rng(seed).normal(size=(size, size))
    groups = helping_groups(names, table, least=least)
    assert sorted(name for group in groups for name in group) == names
    order = np.random.default_rng(seed).permutation(size)
    again = helping_groups([names[at] for at in order], table[np.ix_(order, order)], least=least)
    assert {frozenset(group) for group in again} == {frozenset(group) for group in groups}
    apart = (table + table.T) / 2
    at = {name: place for place, name in enumerate(names)}
    for one in groups:
        for other in groups:
            if one is not other:
                assert apart[np.ix_([at[n] for n in one], [at[n] for n in other])].mean() <= least
