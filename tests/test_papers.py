"""The pages of results: the papers' figures are those of their texts, the tables those that the kept numbers give."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAPER_NAMES = {
    "full-shuffle": "Full-Swap", "inner-shuffle": "Inner-Swap", "intrude": "Intrude", "disemvowel": "Disemvowel",
    "truncate": "Truncate", "segment": "Segment", "keyboard": "Keyboard-Typo", "natural": "Natural Noise",
    "phonetic": "Phonetic", "visual": "Visual",
}  # fmt: skip


@pytest.fixture
def zeroe() -> Iterator[Any]:
    """The module that writes the page of Zéroe."""
    folder = str(ROOT / "benchmarks" / "papers")
    sys.path.insert(0, folder)
    yield importlib.import_module("zeroe_page")
    sys.path.remove(folder)


def test_zeroe_findings_hold_in_the_papers_own_table(zeroe: Any) -> None:
    """So a finding that fails for us does so by our numbers, not by how it was put."""
    paper = zeroe.paper_tables()
    for finding in zeroe.FINDINGS:
        for task in finding.tasks if "Figure" not in finding.section else ():
            assert finding.test(paper, task)[0], (finding.says, task)


def test_zeroe_ranks_are_those_of_table_5(zeroe: Any) -> None:
    import json

    figures = json.loads(zeroe.FIGURES.read_text(encoding="utf-8"))
    for task, names in figures["table 5"].items():
        ranks = [zeroe.paper_tables()[task].rank(name) for name in names]
        assert all(abs(rank - place) <= 0.5 for place, rank in enumerate(ranks, 1)), task


def test_zeroe_page_is_made_of_the_kept_numbers(zeroe: Any) -> None:
    page = zeroe.PAGE.read_text(encoding="utf-8")
    assert f"{zeroe.BEGIN}\n\n{zeroe.tables_text(zeroe.read())}\n\n{zeroe.END}" in page, (
        "run benchmarks/papers/zeroe.py --page"
    )
    for name, make in (("zeroe-figure-1.svg", zeroe.figure_1), ("zeroe-figure-5.svg", zeroe.figure_5)):
        assert (zeroe.RESULTS / name).read_text(encoding="utf-8") == make(zeroe.read())


@pytest.mark.shared
def test_zeroe_figures_are_those_of_the_paper(zeroe: Any, shared: Path) -> None:
    import json

    text = next((shared / "papers").glob("000_*.txt")).read_text(encoding="utf-8")
    text = text[text.index("Attack Mode Accuracy AUCROC") : text.index("Table 6: Attacks against")].replace(",", ".")
    figures = json.loads(zeroe.FIGURES.read_text(encoding="utf-8"))["table 6"]
    assert set(figures) == set(PAPER_NAMES)
    for name, title in PAPER_NAMES.items():
        block = text[text.index(f"\n{title}\n") :]
        for level in ("low", "mid", "high"):
            found = re.search(rf"^{level} (\S+) (\S+) (\S+)$", block, re.MULTILINE)
            assert found is not None
            assert [None if cell == "-" else float(cell) for cell in found.groups()] == figures[name][level]
