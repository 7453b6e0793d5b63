"""The figures of the papers that the results pages stand beside: as the papers' text has them, and consistent in themselves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from scuff.evaluation.dimensions import COLUMNS
from scuff.evaluation.score import final_score

BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "papers"
PAPER = "003_54c51b3f7eb720ba.txt"


def test_robtest_rows_follow_the_formula_of_its_final_score() -> None:
    """Eq. 1 begun at 0, in all 252 rows: a digit that was misread would show."""
    content = json.loads((BENCHMARKS / "figures" / "robtest.json").read_text(encoding="utf-8"))
    rows = 0
    for sizes in content["reports"].values():
        for columns in sizes.values():
            assert tuple(columns) == tuple(COLUMNS)
            for name, table in columns.items():
                for row, cells in table.items():
                    if cells is None:
                        assert name == "syntax" and row.startswith("score")
                        continue
                    rows += 1
                    *scores, final = cells
                    by_degree = dict(zip(content["degrees"], scores, strict=True))
                    assert final_score(by_degree, published=True) == pytest.approx(final, abs=0.06), (name, row)
    assert rows == 252


def test_robtest_rows_are_those_of_the_text(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparisons of Figures 16 and 17 have the rows of Figures 10 and 11 again, in the same order of columns."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import robtest_figures

    try:
        found = robtest_figures.figures((shared / "papers" / PAPER).read_text(encoding="utf-8"))
    finally:
        sys.modules.pop("robtest_figures", None)
    robtest_figures.check_order(found)
    saved = json.loads(robtest_figures.FILE.read_text(encoding="utf-8"))["reports"]
    for number, (task, size) in robtest_figures.REPORTS.items():
        assert list(saved[task][size].values()) == found[number]
