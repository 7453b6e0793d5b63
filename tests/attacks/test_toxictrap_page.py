"""The tables of docs/results/toxictrap.md: the paper's figures, and what the script computes from runs."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff

PAPERS = Path(__file__).parents[2] / "benchmarks" / "papers"
if not PAPERS.is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
FIGURES = json.loads((PAPERS / "figures" / "toxictrap.json").read_text(encoding="utf-8"))
IDS = [str(number) for number in range(200)]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of benchmarks/papers."""
    monkeypatch.syspath_prepend(str(PAPERS))
    return importlib.import_module


def test_the_papers_tables_agree_with_each_other() -> None:
    """Table 6 is a part of Table 10, Table 11 has the rows of Table 5 but one, with times."""
    assert list(FIGURES["tasks"].values()) == ["HTweet-MC", "Jigsaw-ML", "Jigsaw-BL"]
    for task in FIGURES["tasks"]:
        five, six, ten, eleven = (FIGURES[f"Table {number}"][task] for number in (5, 6, 10, 11))
        assert {source: figures[:3] for source, figures in ten["unk"].items()} == six
        assert set(five) - set(eleven) == {"unk"} and all(eleven[row][:3] == five[row] for row in eleven)
        assert [len(sources) for sources in ten.values()] == [5, 5, 5] and len(five) == 9


@pytest.mark.shared
def test_the_figures_stand_in_the_paper() -> None:
    """Each row of Tables 10 and 11, with its numbers in this order."""
    papers = Path(os.environ.get("SCUFF_SHARED", PAPERS.parents[2] / "shared")) / "papers"
    found = list(papers.glob("004_*.txt"))
    if not found:
        pytest.skip("no shared papers")
    lines = found[0].read_text(encoding="utf-8").split("\n")
    text = {tuple(float(cell) for cell in line.split("\t") if cell.replace(".", "", 1).isdigit()) for line in lines}
    ends = {row[-4:] for row in text}
    for task in FIGURES["tasks"]:
        rows = [
            *FIGURES["Table 11"][task].values(),
            *(row for part in FIGURES["Table 10"][task].values() for row in part.values()),
        ]
        assert all(tuple(row) in ends for row in rows)


def test_every_row_of_the_paper_is_run_and_its_parts_exist(script: Any) -> None:
    from scuff.attacks.attack import Proposals
    from scuff.attacks.search import parse_search
    from scuff.attacks.settings import AttackSettings

    module = script("toxictrap")
    rows = {row.name: row for row in module.rows("lists.tsv")}
    for task in FIGURES["tasks"]:
        wanted = {*FIGURES["Table 5"][task]}
        wanted |= {f"{search}, {source}" for search, part in FIGURES["Table 10"][task].items() for source in part}
        assert wanted <= set(rows)
    assert {name for name in rows if name.endswith(module.WHOLE)} == {
        f"{name}{module.WHOLE}" for name, row in rows.items() if not row.turn
    }, "both forms of the limit for all rows of Tables 5 and 6"
    assert rows["gradient pos"].settings["search"] == "gradient(norm='l1')"
    for row in rows.values():
        given = dict(row.settings)
        given["perturbations"] = [spec.format(mlm="mlm") for spec in given.get("perturbations", [])]
        AttackSettings.of(recipe="toxictrap", **given)
        assert all(map(Proposals.parse, given["perturbations"])) and parse_search(given.get("search", "unk"))


def summary(row: str, rate: float, queries: float, count: int = 200) -> dict[str, Any]:
    """What is kept of a run: the first texts succeed, each asks about `queries`."""
    won = (np.arange(count) < rate * count).astype(int).tolist()
    asked = (np.full(count, queries) + np.arange(count) % 3).tolist()
    return {
        "row": row, "signature": "s", "recipe": {"deviations": []}, "examples": 250, "asked": 1, "seconds": queries,
        "success": {"value": rate, "interval": [rate - 0.05, rate + 0.05], "of": count}, "valid": {"value": rate},
        "queries": {"mean": queries}, "changed": {"mean": 0.1},
        "attacked": {"id": IDS[:count], "won": won, "queries": asked, "words": [20] * count, "score": [0.95] * count},
    }  # fmt: skip


def kept(folder: Path, task: str, changes: dict[str, tuple[float, float]], module: Any) -> None:
    """Writes summaries of all rows of a task: as in the paper, but for some."""
    paper: dict[str, Any] = {**FIGURES["Table 5"][task]}
    paper |= {f"{s}, {source}": row for s, part in FIGURES["Table 10"][task].items() for source, row in part.items()}
    (folder / "summaries" / task).mkdir(parents=True)
    for row in module.rows():
        like = paper.get(row.name) or paper["unk pos"]
        rate, queries = changes.get(row.name, (like[0] / 100, like[1]))
        each = summary(row.name, rate, queries, 100 if row.few else 200)
        (folder / "summaries" / task / f"{row.name}.json").write_text(json.dumps(each))


def test_findings_come_from_the_numbers(script: Any, tmp_path: Path) -> None:
    """What is as in the paper holds; what is not fails, and says so."""
    module, page = script("toxictrap"), script("toxictrap_page")
    kept(tmp_path, "davidson", {"unk, mlm 20": (0.9, 30.0), "unk pos, whole texts": (0.5, 40.0)}, module)
    evidence = page.gathered(tmp_path / "summaries", {})
    text = page.made(evidence, FIGURES)
    lines = {line.split(" | ")[0].strip("| "): line for line in text.split("\n")}
    assert "| yes: × 0.8" in lines["the part-of-speech constraint lowers queries: delete"]
    assert "yes: × 3.6" in lines["weighted saliency asks over 3 times as much as unk"] and "(× 3.72)" in text
    assert "yes: -10.0 [" in lines["wordnet succeeds less than glove 20"]
    assert "**no**: +23.0 [" in lines["mlm, too"] and "(-1.5)" in lines["mlm, too"]
    assert "yes: 72.2 [" in lines["success as often as in the paper: windows of 15 words"]
    assert "**no**: 50.0 [45.0, 55.0] (72.2)" in lines["the same: whole texts"]
    assert "but less elsewhere" not in text, "no such task"
    assert "windows 72.2 [67.2, 77.2], whole texts 50.0 [45.0, 55.0]" in " ".join(text.split())


def test_the_tables_have_both_forms_and_times(script: Any, tmp_path: Path) -> None:
    module, page = script("toxictrap"), script("toxictrap_page")
    kept(
        tmp_path,
        "jigsaw-bl",
        {"unk pos": (0.99, 50.0), "unk pos, whole texts": (0.5, 40.0), "beam pos": (1.0, 500.0)},
        module,
    )
    text = page.made(page.gathered(tmp_path / "summaries", {"rows": {}}), FIGURES)
    assert "200 of 250 toxic texts are attacked (80 %; the paper's 59.76 %), 100 of 250 for beam and genetic." in text
    ours = "| unk pos | 99.0 [94.0, 104.0] | 200 | 50.0 | 10.0 | 1.00 | 50.0 [45.0, 55.0] | 40.0 | 10.0 |"
    assert f"{ours} 99.3 | 47.6 | 6.8 | 1.00 |" in text, "the paper's time of unk pos is its unit, too"
    assert "| beam pos | 100.0 [95.0, 105.0] | 100 | 500.0 | 10.0 | 20.00 |" in text and "| 17.09 |" in text, (
        "16043 / 939"
    )
    assert text.count("| weighted-saliency, ") == 5 and "| 0.9 to 0.97 (200) |" in text
    assert all(len(line) <= 100 for line in text.split("\n") if not line.startswith("|"))


def test_rows_run_and_are_not_run_again(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row on a toy, as the script runs it: its numbers are kept without any text, and a second time nothing is asked."""
    pytest.importorskip("lemminflect")
    module = script("toxictrap")
    row = module.Row("unk pos", {"perturbations": ["typo"], "search": "unk", "without": ["meaning", "pos"]})
    work = module.Work("jigsaw", row, "toy:tone", "toy:tone", tmp_path, 12, None, "", "", "chrf", float("inf"))
    line = module.do(work)
    assert line.startswith("jigsaw: unk pos: ") and "FAILED" not in line
    found = json.loads(work.kept.read_text())
    lines = [json.loads(text) for text in (work.folder / "results.jsonl").read_text().splitlines()]
    attacked = [each for each in lines if each["status"] != "skipped"]
    assert found["attacked"]["id"] == [each["id"] for each in attacked] and sum(found["attacked"]["won"]) > 0
    assert all(0 <= score <= 1 for score in found["attacked"]["score"])
    assert not any(each["texts"][0] in work.kept.read_text() for each in lines)
    monkeypatch.setattr(scuff, "attack", None)
    assert module.do(work) == "jigsaw: unk pos: done before"
    late = module.Work("jigsaw", row, "toy:tone", "toy:tone", tmp_path / "b", 12, None, "", "", "chrf", 0.0)
    assert module.do(late) == "jigsaw: unk pos: no time left"
