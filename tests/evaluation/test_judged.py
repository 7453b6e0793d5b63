"""Shares of valid cases that a user's raters found: they weigh the degrees of the final score, and only that changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff
from scuff.cli.main import main
from scuff.evaluation.score import final_score
from scuff.runs.folder import BadRun

SETTINGS: dict[str, Any] = {
    "dimensions": ["typo-m", "keyboard", "typo-m@score"], "degrees": [0.1, 0.3, 0.5], "examples": 20, "cases": 3,
}  # fmt: skip
GOOD: dict[str, Any] = {
    "kind": "scuff validity", "version": 1, "name": "kit bcdfghjk, 3 raters",
    "dimensions": {"typo-m": {"degrees": [0.5, 0.1], "valid": [0.2, 1.0], "of": [50, 50]}},
}  # fmt: skip


def write(path: Path, content: Any) -> str:
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_they_weigh_the_final_score_and_nothing_else(tmp_path: Path) -> None:
    file = write(tmp_path / "weights.json", GOOD)
    plain = scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "plain", **SETTINGS)
    weighed = scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "weighed", validity=file, **SETTINGS)
    for name in ("typo-m", "typo-m@score"):  # by the name without the access where it has no own
        content = weighed.summary["dimensions"][name]
        by = content["by_validity"]
        assert by["column"] == "typo-m" and by["judged"] == "kit bcdfghjk, 3 raters"
        scores = {cell["degree"]: cell["average"]["value"] for cell in content["degrees"]}
        weight = np.array([1.0, 0.6, 0.2])  # 0.3 lies half way between 0.1 and 0.5
        assert by["average"]["value"] == pytest.approx(weight @ list(scores.values()) / weight.sum(), abs=2e-6)
        assert by["average"]["value"] == pytest.approx(final_score(scores, validity=([0.1, 0.5], [1.0, 0.2])), abs=2e-6)
        assert by != plain.summary["dimensions"][name]["by_validity"]
    assert "by_validity" not in weighed.summary["dimensions"]["keyboard"]
    assert "judged" not in plain.summary["dimensions"]["typo-m"]["by_validity"]
    assert plain.summary["dimensions"]["keyboard"]["by_validity"]["column"] == "typo-g"
    for path in ("results.jsonl", "examples.jsonl"):
        assert (tmp_path / "plain" / path).read_bytes() == (tmp_path / "weighed" / path).read_bytes()
    for result in (plain, weighed):
        for content in result.summary["dimensions"].values():
            content.pop("by_validity", None)
    assert plain.summary["dimensions"] == weighed.summary["dimensions"]


def test_run_table_and_report_name_them(tmp_path: Path) -> None:
    file = write(tmp_path / "weights.json", GOOD)
    folder = tmp_path / "run"
    result = scuff.evaluate("toy:sentiment", "toy:sentiment", folder, validity=file, **SETTINGS)
    run = json.loads((folder / "run.json").read_text())
    assert run["config"]["validity"] == file
    assert run["key"]["judged"] == {
        "name": "kit bcdfghjk, 3 raters",
        "dimensions": {"typo-m": [[0.1, 1.0], [0.5, 0.2]]},
    }
    assert "validity:kit bcdfghjk, 3 raters" in run["signature"]
    value = result.summary["dimensions"]["typo-m"]["by_validity"]["average"]["value"]
    page = " ".join((folder / "report.html").read_text(encoding="utf-8").split())
    for text in (" ".join(str(result).split()), page):
        assert "(kit bcdfghjk, 3 raters), not by RobTest" in text and f"typo-m {100 * (value or 0):.1f}, worst" in text
        assert "without a validity-weighted score: keyboard" in text
    Path(file).unlink()  # the run has all that it needs
    before = (folder / "summary.json").read_bytes()
    scuff.report(folder)
    assert (folder / "summary.json").read_bytes() == before


def test_other_ratings_are_another_run(tmp_path: Path) -> None:
    file = write(tmp_path / "weights.json", GOOD)
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", validity=file, **SETTINGS)
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", validity=file, **SETTINGS)  # resumes
    with pytest.raises(BadRun, match="judged"):
        scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", **SETTINGS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no json", "got no JSON"),
        ({"kind": "other"}, "expected a file of validity .scuff judge import --weights., got another"),
        ({**GOOD, "version": 9}, "of this version of Scuff, got another: version"),
        ({**GOOD, "dimensions": {"typo-m": {"degrees": [0.1]}}}, "dimensions.typo-m.of is missing"),
        (
            {**GOOD, "dimensions": {"a": {"degrees": [0.1], "valid": [1.5], "of": [1]}}},
            "each with a share in .0, 1., for a",
        ),
        ({**GOOD, "dimensions": {"a": {"degrees": [0.1, 0.2], "valid": [1], "of": [1]}}}, "for a, got others"),
        ({**GOOD, "dimensions": {"a": {"degrees": [], "valid": [], "of": []}}}, "for a, got others"),
    ],
)
def test_bad_files(content: Any, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "weights.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ValueError, match=message):
        scuff.evaluate("toy:sentiment", "toy:sentiment", validity=str(file))
    assert main(["evaluate", "toy:sentiment", "toy:sentiment", "--validity", str(tmp_path / "gone.json")]) == 2
    assert "gone.json: expected a file of validity, got nothing of that name" in capsys.readouterr().err
