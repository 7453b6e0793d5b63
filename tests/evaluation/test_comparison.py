"""Two runs on the same cases: differences are those of the scores, intervals pair examples, other cases are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff
from scuff.attacks.comparison import compare_attacks
from scuff.evaluation.comparison import compare_runs
from scuff.evaluation.score import degree_weights
from scuff.metrics.interval import percentile_interval, resamples
from scuff.runs.folder import BadRun, Folder

SMALL: dict[str, Any] = {"examples": 40, "cases": 2, "degrees": [0.2, 0.5], "dimensions": ["visual", "keyboard"]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for task in ("sentiment", "tone"):
        for name, shield in (("before", None), ("after", "normalise")):
            scuff.evaluate(f"toy:{task}", f"toy:{task}", folder / f"{task}-{name}", shield=shield, **SMALL)
    return folder


def finals(folder: Path, name: str, what: str) -> np.ndarray[Any, Any]:
    """The final score of each example, from results.jsonl."""
    weight = degree_weights([0.2, 0.5])
    lines = list(Folder(folder).evaluation_results())
    return np.array([np.dot(weight, line["dimensions"][name][what]) for line in lines])  # type: ignore[literal-required]


def test_changes_are_those_of_the_examples(runs: Path) -> None:
    found = compare_runs(str(runs / "sentiment-before"), str(runs / "sentiment-after"), ["visual"])
    draws = resamples(40, 0)
    for name, entry in found["dimensions"].items():
        before, after = (finals(runs / f"sentiment-{when}", name, "average") for when in ("before", "after"))
        change = entry["average"]
        assert change["before"] == pytest.approx(before.mean(), abs=2e-4)  # lines are rounded
        assert change["difference"] == pytest.approx((after - before).mean(), abs=2e-4)
        low, high = percentile_interval(draws @ (after - before) / 40)
        if np.array_equal(before, after):
            low, high = -3 / 40, 3 / 40  # the rule of three
        assert change["interval"] == pytest.approx([low, high], abs=1e-3)
        assert entry["seen"] == (name == "visual")
    won = found["dimensions"]["visual"]["average"]
    assert (won["difference"] or 0) > 0.05 and (won["interval"][0] or 0) > 0  # look-alikes are what it mends
    summaries = [Folder(runs / f"sentiment-{when}").evaluation_summary() for when in ("before", "after")]
    assert [found["all"]["average"]["before"], found["all"]["average"]["after"]] == [
        summary["overall"]["average"]["value"] for summary in summaries
    ]
    assert found["seen"] and found["seen"]["average"] == won and found["clean_auc"] is None
    assert found["unseen"] and found["unseen"]["worst"] == found["dimensions"]["keyboard"]["worst"]


def test_label_sets_have_an_auc(runs: Path) -> None:
    found = compare_runs(str(runs / "tone-before"), str(runs / "tone-after"))
    clean = Folder(runs / "tone-after").evaluation_summary()["clean"]
    assert found["clean_auc"] and found["clean_auc"]["after"] == clean["auc"]["value"] and found["seen"] is None


def test_a_run_does_not_differ_from_itself(runs: Path) -> None:
    found = compare_runs(str(runs / "tone-after"), str(runs / "tone-after"))
    same = found["all"]["worst"]
    assert same["difference"] == 0 and same["interval"] == [-3 / 40, 3 / 40]  # the rule of three


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"examples": 30}, "expected a run on the examples of"),
        ({"seed": 0, "cases": 1}, "got another cases"),
        ({"metric": "macro-f1"}, "expected scores by accuracy"),
        ({"width": 0.2}, "got another width"),
    ],
)
def test_other_cases_are_refused(runs: Path, tmp_path: Path, other: dict[str, Any], said: str) -> None:
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "other", **{**SMALL, **other})
    with pytest.raises(BadRun, match=said):
        compare_runs(str(runs / "sentiment-before"), str(tmp_path / "other"))


def test_attacks_are_compared_by_example(tmp_path: Path) -> None:
    for name, shield in (("before", None), ("after", "normalise")):
        scuff.attack(
            "toy:sentiment", "toy:sentiment", "deepwordbug", tmp_path / name, shield=shield, examples=12, encoder="chrf"
        )
    found = compare_attacks(str(tmp_path / "before"), str(tmp_path / "after"))
    lines = [list(Folder(tmp_path / name).attack_results()) for name in ("before", "after")]
    rates = []
    for one in lines:
        attacked = [line for line in one if line["status"] != "skipped"]
        rates.append(sum(line["status"] == "succeeded" for line in attacked) / len(attacked))
    change = found["success"]
    assert [change["before"], change["after"]] == pytest.approx(rates, abs=1e-6)
    assert change["difference"] == pytest.approx(rates[1] - rates[0], abs=1e-6)
    assert (change["interval"][0] or 0) <= (change["difference"] or 0) <= (change["interval"][1] or 0)
    scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", tmp_path / "fewer", examples=4, encoder="chrf")
    with pytest.raises(BadRun, match="got other examples"):
        compare_attacks(str(tmp_path / "before"), str(tmp_path / "fewer"))
