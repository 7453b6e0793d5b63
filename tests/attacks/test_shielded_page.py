"""benchmarks/shielded.py: which cells there are, and what its page makes of them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from scuff.attacks.recipes import RECIPES
from scuff.perturbations import NAMES
from scuff.perturbations.plan import Plan

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not BENCHMARKS.is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_cells_name_what_there_is_each_once(script: Any) -> None:
    shielded = script("shielded")
    cells = shielded.all_cells(shielded.MODELS, 80)
    assert len({cell.name for cell in cells}) == len(cells)
    assert {cell.what for cell in cells if cell.kind == "attack"} == set(shielded.RECIPES) <= set(RECIPES)
    low = [name for name, kind in NAMES.items() if kind.facts.level == "char"]
    assert len(low) == 13 and {*low, "segment"} == set(shielded.LOW), "all low-level perturbations"
    for cell in cells:
        if cell.kind == "accuracy":
            Plan(shielded.HIGH.get(cell.what, cell.what), 0.5)
    turns = [cell.turn for cell in cells]
    assert turns == sorted(turns) and cells[0].kind == "accuracy"


def test_counts_of_parts_are_summed(script: Any, tmp_path: Path) -> None:
    page, cells = script("shielded_page"), tmp_path / "cells"
    cells.mkdir()
    (tmp_path / "about.json").write_text("{}")
    for chunk, count in enumerate((3, 4)):
        cell = {"kind": "attack", "model": "sst2", "what": "pwws", "shield": "none", "attacker": "", "chunk": chunk}
        found = {"cell": cell, "success": {"count": count, "of": 5}, "queries": {"total": 10, "cut": 0}}
        (cells / f"{chunk}.json").write_text(json.dumps(found))
    results = page.Results(page.collected(tmp_path))
    assert results.success("sst2", "pwws", "none") == (7, 10)
    assert results.queries("sst2", "pwws", "none") == 2
    assert results.success("sst2", "pwws", "fast", "aware") is None


def test_the_page_is_the_evidence_and_the_rest_of_it_stays(script: Any) -> None:
    page = script("shielded_page")
    text = page.put_in("# Shields\n\nabove\n", f"{page.BEGIN}\nold\n{page.END}")
    assert page.put_in(text, f"{page.BEGIN}\nnew\n{page.END}") == text.replace("old", "new")
    assert text.startswith("# Shields\n\nabove\n\n")
    if page.EVIDENCE.is_file():
        found = page.Results(json.loads(page.EVIDENCE.read_text(encoding="utf-8")))
        assert page.block(found) in page.PAGE.read_text(encoding="utf-8"), "python benchmarks/shielded.py page"
