"""The outcome of a gate as Markdown: the verdict, the bounds, and the change against another run."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import scuff
from scuff.reports.gate import check_summary
from scuff.reports.outcome import change_table, markdown

TOY = "toy:sentiment"


@pytest.fixture(scope="module")
def summary() -> Any:
    return scuff.evaluate(TOY, TOY, dimensions=["keyboard"], degrees=[0.3], examples=20, cases=1).summary


def test_the_same_run_has_not_changed(summary: Any) -> None:
    rows = [line for line in change_table(summary, summary) if line.startswith("| ")][1:]
    names = ["clean", "average", "worst", "worst_alone", "keyboard", "keyboard.worst", "keyboard.worst_alone"]
    assert [row.split(" | ")[0][2:] for row in rows] == names
    assert all(row.endswith(" | same |") for row in rows)


def test_a_change_beyond_the_interval_is_bold(summary: Any) -> None:
    before = deepcopy(summary)
    before["clean"]["score"] = {"value": 0.5, "interval": [0.4, 0.6]}
    before["overall"]["average"]["value"] += 0.01
    rows = change_table(summary, before)
    assert "| clean | 50.0 [40.0, 60.0] | 95.0 | **▲ +45.0** |" in rows
    assert next(row for row in rows if row.startswith("| average ")).endswith(" | ▼ -1.0 |")
    before["overall"]["worst"] = {"value": None, "interval": [None, None]}
    assert next(row for row in change_table(summary, before) if row.startswith("| worst ")).endswith(" | - |")


def test_runs_that_cannot_be_compared_are_told(summary: Any) -> None:
    other = {**summary, "metric": "macro-f1"}
    told = change_table(summary, other)
    assert told[-1] == "Not compared: expected a baseline of the same data and settings, got another metric."
    lines = check_summary(summary, {"average": 0.1})
    assert markdown(lines, summary, baseline=other).endswith(f"{told[-1]}\n")


def test_an_attack_shows_its_success(summary: Any) -> None:
    attack = scuff.attack(TOY, TOY, "deepwordbug", encoder="chrf", examples=8)
    rows = change_table(attack.summary, attack.summary)
    assert [row.split(" | ")[0] for row in rows if row.startswith("| ")][1:] == ["| clean", "| after", "| success"]
    told = markdown(check_summary(attack.summary, {}, max_success=0), attack.summary, attack.verdict.markdown())
    assert told.startswith(f"### Robustness of {TOY} on {TOY}: failed 1 of 1 bounds\n\nRight on ")
    assert "| at most 0.0 | ❌ **fail** |" in told
