"""A hundred runs are a table and a trend, in little memory; the trend is that of scipy."""

from __future__ import annotations

import os
import shutil
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.evaluation.statistics import Side, read_side
from scuff.metrics.rank import spearman, trend
from scuff.runs.folder import Folder


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Ten models, each better than the one before, whose runs are copied to a hundred folders."""
    rows = [(f"the {noun} was {word}", label) for noun in ("film", "plot", "cast", "song", "end", "book", "show", "star")
            for word, label in (("good", "pos"), ("bad", "neg"))]  # fmt: skip
    folder = tmp_path_factory.mktemp("hundred")

    def model(known: int) -> Any:
        nouns = ("film", "plot", "cast", "song", "end", "book", "show", "star")[: known + 1]
        return lambda texts: [
            "pos" if "good" in text and any(noun in text for noun in nouns) else "neg" for text in texts
        ]

    made = []
    for at in range(8):
        scuff.evaluate(
            model(at),
            rows,
            folder / f"made{at}",
            dimensions=["keyboard"],
            degrees=[0.3],
            cases=1,
            labels=["neg", "pos"],
        )
        for copy in range(13):
            made.append(folder / f"run{at}-{copy:02}")
            made[-1].mkdir()
            for name in ("run.json", "summary.json", "results.jsonl"):
                shutil.copyfile(folder / f"made{at}" / name, made[-1] / name)
    return made[:100]


def test_a_hundred_runs_are_a_table_and_a_trend(hundred: list[Path]) -> None:
    found = scuff.compare(*hundred)
    assert len(found.content["changes"]) == 99 and found.content["trend"] is not None
    assert (
        found.content["trend"]["words"] == "rises"
        and "Over the runs robustness rises (rank correlation +" in found.verdict
    )
    assert found.material.detailed == [0, 91, 99], "the first, the best and the last"
    assert len(found.html) < 400_000 and len(str(found).splitlines()) < 110
    back = scuff.compare(*reversed(hundred))
    assert "falls" in back.verdict and back.worse


def test_the_examples_of_two_runs_are_in_memory_at_most(hundred: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[weakref.ref[Side]] = []
    most = 0

    def reading(folder: Folder) -> Side:
        nonlocal most
        side = read_side(folder)
        alive.append(weakref.ref(side))
        most = max(most, sum(each() is not None for each in alive))
        return side

    monkeypatch.setattr("scuff.reports.compared.read_side", reading)
    scuff.compare(*hundred[:30])
    assert len(alive) == 30 and most <= 3  # the first, one that is read, and the one before it


def test_runs_in_order_of_their_dates(hundred: list[Path]) -> None:
    chosen = hundred[::20]
    for at, folder in enumerate(chosen):
        os.utime(folder / "run.json", (10**9 - at, 10**9 - at))
    found = scuff.compare(*chosen, order="date", names=list("abcde"))
    assert [run["name"] for run in found.content["runs"]] == list("edcba")


@given(st.lists(st.floats(0, 1).map(lambda value: round(value, 2)), min_size=3, max_size=12))
def test_a_trend_is_the_rank_correlation_with_the_order(values: list[float]) -> None:
    correlation, p = trend(values)
    assert correlation == pytest.approx(spearman(values, range(len(values))), nan_ok=True)
    assert np.isnan(p) or 0 < p <= 1


def test_p_of_a_trend_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = [0.5, 0.52, 0.51, 0.58, 0.55, 0.6, 0.57]
    found = stats.permutation_test(
        (values,), lambda each: np.dot(each, range(7)), permutation_type="pairings", n_resamples=np.inf
    )
    ranked = stats.permutation_test(
        (stats.rankdata(values),), lambda each: np.dot(each, range(7)), permutation_type="pairings", n_resamples=np.inf
    )
    assert trend(values)[1] == pytest.approx(ranked.pvalue, abs=0.01) and found.pvalue < 0.05
