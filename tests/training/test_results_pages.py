"""benchmarks/papers/*_training*.py: cells, the papers' tables, and what the pages make of the numbers that runs leave."""

from __future__ import annotations

import importlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAPERS = Path(__file__).parents[2] / "benchmarks" / "papers"
if not PAPERS.is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
# what the text of section 4.3.1 says and its own Table 7 does not: disemvowel wins more at high
NOT_IN_ITS_TABLES = {("leave-one-out wins less at high than at mid: visual, intrude, disemvowel", "pos")}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of benchmarks/papers."""
    monkeypatch.syspath_prepend(str(PAPERS))
    return importlib.import_module


def test_findings_hold_in_the_papers_own_tables(script: Any) -> None:
    """So a finding that fails for us does so by our numbers, not by how it was put."""
    paper = script("zeroe_training_evidence").paper()
    failed = {
        (finding.says, task)
        for finding in script("zeroe_training_findings").FINDINGS
        for task in finding.tasks
        if not finding.test(paper, task)[0]
    }
    assert failed == NOT_IN_ITS_TABLES


@pytest.mark.shared
def test_figures_stand_in_the_papers(script: Any) -> None:
    """Each row of numbers, in this order."""
    papers = Path(os.environ.get("SCUFF_SHARED", PAPERS.parents[2] / "shared")) / "papers"
    texts = {number: next(papers.glob(f"{number}_*.txt"), None) for number in ("000", "002", "004")}
    if None in texts.values():
        pytest.skip("no shared papers")
    rows = {
        number: {_numbers(line) for line in path.read_text(encoding="utf-8").splitlines()}
        for number, path in texts.items()
        if path
    }
    told = json.loads((PAPERS / "figures" / "zeroe_training.json").read_text(encoding="utf-8"))
    for key in ("table 8, POS: 1-1", "table 9, NLI: 1-1", "table 10, TC: 1-1"):
        for row in (told[key]["clean"], *(each for levels in told[key]["test"].values() for each in levels.values())):
            assert tuple(value for value in row if value is not None) in rows["000"], key
    for key, number in (
        ("table 7: leave-one-out", "000"),
        ("thesis table A.7: PP", "002"),
        ("thesis table A.8: PLM", "002"),
    ):
        for name, levels in told[key].items():
            for row in levels.values() if isinstance(levels, dict) else [levels]:
                assert tuple(value for value in row if value is not None) in rows[number], (key, name)
    tox = json.loads((PAPERS / "figures" / "toxictrap_training.json").read_text(encoding="utf-8"))
    ends = {row[-4:] for row in rows["004"]}
    for key in ("Tables 7 and 13", "Tables 8 and 12"):
        for task in tox["tasks"]:
            assert all(tuple(row) in ends for row in tox[key][task].values()), (key, task)


def _numbers(line: str) -> tuple[float, ...]:
    return tuple(float(cell) for cell in re.split(r"\s+", line) if re.fullmatch(r"\d+(\.\d+)?", cell))


@pytest.mark.parametrize("name", ["zeroe_training", "toxictrap_training"])
def test_cells_are_named_once_and_need_what_there_is(script: Any, name: str) -> None:
    module = script(name)
    cells = (
        module.all_cells(module.TASKS) if name == "zeroe_training" else module.all_cells(module.TASKS, module.Sizes())
    )
    names = {cell.name for cell in cells}
    assert len(names) == len(cells) and all(set(cell.needs) <= names for cell in cells)
    turns = {cell.name: cell.turn for cell in cells}
    assert all(turns[need] <= cell.turn for cell in cells for need in cell.needs), "what is needed comes first"


def test_nothing_is_tested_that_was_trained_on(script: Any) -> None:
    module = script("zeroe_training")
    for name in module.ZEROE:
        for method in ("loo", "wide"):
            seen = {entry.perturbation.name for entry in module.mixture_of(method, name).entries}
            assert name not in seen and not any(name in module.MORE.get(each, ()) for each in seen)
            assert len(seen) >= 9
    tox = script("toxictrap_training_plan")
    assert all(recipe not in tox.TRAININGS[tox.unseen_for(recipe)] for recipe in (*tox.TRAP, *tox.EXTEND))


def test_ways_attack_models_that_never_saw_the_recipe_also_in_a_second_round(script: Any) -> None:
    plan = script("toxictrap_training_plan")
    cells = {cell.name: cell for cell in plan.all_cells(["davidson"], plan.Sizes())}
    ways = [cell for cell in cells.values() if cell.given["way"]]
    assert {cell.given["way"] for cell in ways} == set(plan.WAYS) - {""}
    for cell in ways:
        about, needs = cell.given, [cells[name].given for name in cell.needs]
        if about["kind"] == "attack":
            assert about["shield"] == plan.WAYS[about["way"]].shield, (
                "a model is tested behind the shield it was trained behind"
            )
            assert about["recipe"] not in plan.TRAININGS[about["training"]]
        elif about["kind"] == "model":
            used = {need["recipe"] for need in needs if need["kind"] == "found"}
            assert used == set(plan.TRAININGS[about["training"]])
            assert any(need["way"] for need in needs) == plan.WAYS[about["way"]].again


def test_gains_of_made_up_answers(script: Any, tmp_path: Path) -> None:
    """Of ten sentences of ten tokens: 9, 6 and 8 right before, under attack and after leave-one-out."""
    module, evidence = script("zeroe_training"), script("zeroe_training_evidence")
    names = module.perturbations_of("pos")
    rows = {"clean": np.full(10, 9)} | {f"{name}.{level}": np.full(10, 6) for name in names for level in module.LEVELS}
    module.keep_rows(tmp_path, "pos--none", rows, {"truth": np.full(10, 10)})
    for name in names:
        after = {"clean": np.full(10, 9)} | {f"{name}.{level}": np.full(10, 8) for level in module.LEVELS}
        module.keep_rows(tmp_path, f"pos--loo--{name}", after, {})
    (tmp_path / "cells").mkdir()
    about = {"worst": {"pos": 0.2}, "sizes": {"train": {"pos": 1}, "epochs": {"pos": 1}}}
    (tmp_path / "about.json").write_text(json.dumps(about))
    kept = evidence.from_cells(tmp_path)
    found = kept["tasks"]["pos"]
    assert found["mean"]["loo"] == [0.2222, 0.2222, 0.2222] and found["share"]["loo"][0] == pytest.approx(
        2 / 3, abs=1e-4
    )
    assert found["most"][0] == pytest.approx(1 / 3, abs=1e-4) and found["clean won"]["loo"][0] == 0
    text = script("zeroe_training_page").text_of(kept)
    assert "**POS: reached.** Leave-one-out wins +22.2" in text and "| leave-one-out | +4 | +4.1 | +22.2" in text


def test_a_label_of_few_comments_is_no_part_of_the_score(script: Any, tmp_path: Path) -> None:
    """One comment decided a sixth of the average, and a shield that mended all seemed to do harm."""
    module, evidence = script("zeroe_training"), script("zeroe_training_evidence")
    known = np.zeros((40, 6), np.uint16)
    known[:20, 0], known[:10, 1], known[0, 3] = 1, 1, 1
    assert module.frequent(known).tolist() == [True, True, False, False, False, False]
    assert module.frequent(known[:12]).any(), "few examples, as in a try: the most frequent are kept"
    ranks = known * 5
    ranks[0, 3], ranks[1:, 3] = 0, 1  # the one comment comes last
    names = module.perturbations_of("tc")
    rows = {"clean": ranks} | {f"{name}.{level}": ranks for name in names for level in module.LEVELS}
    module.keep_rows(tmp_path, "tc--none", rows, {"truth": known})
    assert evidence.Answers("tc", tmp_path).cells["tc--none"]["clean"][0] == 1


def test_runs_with_a_fault_are_not_shown(script: Any) -> None:
    """POS behind a shield that changed nothing, and PLM of ten steps: named as not run until they are run again."""
    page = script("zeroe_training_page")
    kept = json.loads(page.DATA.read_text(encoding="utf-8"))
    for found in kept["tasks"].values():
        for each in found["shields"].values():
            assert each["none.shield"]["mean"][0] != 0, "a shield that wins exactly nothing was not there"
    told = page.missing(kept)
    for name in page.TITLES.values():
        assert (f"| {name} | PLM | all |" in told) != any("plm" in cell for cell in kept["cells"])
    assert "| POS | no training |" not in told


def test_names_of_cells_have_gamma_in_them_where_it_decides(script: Any) -> None:
    module = script("toxictrap_training")
    mark = f"gamma-{module.GAMMA:g}"
    for cell in module.all_cells(["davidson"], module.Sizes()):
        plain = cell.given["training"] == "none" and cell.given["kind"] != "found"
        assert (mark in cell.name) != plain
    assert module.GAMMA == 0.2 and module.ADVERSARIAL_EPOCHS == 3, "A2T's; 0.05 taught too little"


def test_no_more_texts_are_attacked_than_a_recipe_needs(script: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """Once the parts before have gamma |D| and a fifth more, a part is empty and the model is not even opened."""
    module = script("toxictrap_training")
    monkeypatch.setattr(module, "dataset", lambda *_, **__: range(100))
    work = module.Work(tmp_path, "", "cpu", "", module.Sizes(part=10))
    cells = [each for each in module.all_cells(["davidson"], work.sizes) if each.given["kind"] == "found"]
    second = next(each for each in cells if each.given["recipe"] == "unk" and each.given["part"] == 1)
    first = module.name_of("davidson", "found", "none", "unk", part=0)
    lines = "".join(json.dumps({"text": f"{at}"}) + "\n" for at in range(24))
    module.write(tmp_path / "found" / f"{first}.jsonl", lines)
    assert module.find(second, work)["attacked"] == 0
    assert (tmp_path / "found" / f"{second.name}.jsonl").read_text() == ""
    assert len(module.lines_of(work, "davidson", "unk", 2)) == 24


def test_parts_of_an_attack_are_one_row(script: Any) -> None:
    evidence = script("toxictrap_training_evidence")

    def cell(training: str, recipe: str, part: int, won: list[int]) -> dict[str, Any]:
        about = {"kind": "attack", "training": training, "recipe": recipe, "shield": "", "part": part, "way": ""}
        return {
            "cell": about,
            "examples": 4,
            "id": list("abc"),
            "won": won,
            "queries": [10, 20, 30],
            "words": [0.1, None, 0.3],
        }

    cells = [cell("none", "unk", 0, [1, 1, 1]), cell("none", "unk", 1, [1, 0, 1]), cell("AT2", "unk", 0, [0, 0, 1])]
    attacks = evidence.gathered(cells)
    row = evidence.row_of(attacks["none, unk"])
    assert row["success"][0] == 83.33 and (row["of"], row["texts"], row["queries"], row["words"]) == (6, 8, 20, 20)
    found = evidence.unseen(attacks)["alone"]
    assert found["recipes"] == 1 and found["before"][0] == pytest.approx(83.3333, abs=1e-3)
    assert found["lower"][0] == pytest.approx(60, abs=1e-3)


def test_a_training_behind_a_shield_sees_mended_texts(script: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """Clean and adversarial ones, those that choose the epoch too; of ten adversarial ones nine are trained on."""
    from scuff.data.dataset import Dataset

    module = script("toxictrap_training")
    clean = Dataset(
        "d", "single", (("a nіce day", "you are bad"),), ("neither", "offensive"), ("0", "1")
    )  # a Cyrillic i
    monkeypatch.setattr(module, "dataset", lambda *_, **__: clean)
    monkeypatch.setattr(module, "most", lambda size: 10)
    work = module.Work(tmp_path, "", "cpu", "", module.Sizes(parts=1))
    for recipe in module.TRAININGS["AT2"][:1]:
        rows = [{"text": f"you аre bad {at}", "label": "offensive", "source": "1"} for at in range(10)]  # a Cyrillic a
        name = module.name_of("davidson", "found", "none", recipe, part=0)
        module.write(tmp_path / "found" / f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    feed, dev, counts = module.examples_of(work, "davidson", "AT2", "")
    assert counts == {recipe: 9} and (len(feed), len(dev)) == (11, 3)
    assert "you аre bad 1" in feed.columns[0] and "you аre bad 0" in dev.columns[0]
    feed, dev, _ = module.examples_of(work, "davidson", "AT2", "fast")
    assert (
        feed.columns[0][:3] == ("a nice day", "you are bad", "you are bad 1") and dev.columns[0][2] == "you are bad 0"
    )


def test_a_mean_says_of_how_many_recipes_it_is(script: Any) -> None:
    page = script("toxictrap_training_page")
    row = {"success": [20.0, 10.0, 30.0], "of": 9, "texts": 10, "queries": 5.0, "words": 1.0}
    mean = {"before": [80, 70, 90], "after": [16, 10, 20], "lower": [80, 70, 90]}
    models = {"AT2": {"differences": {name: [-0.005, -0.01, 0.0] for name in ("accuracy", "auc", "f1")}}}
    found = {
        "attacks": {"none, unk": row, "AT2, unk": row},
        "models": models,
        "unseen": {"alone": {"recipes": 1, **mean}},
    }
    kept = {"tasks": {"davidson": found}}
    assert page.aims(kept) == "Not run.", "of one recipe alone nothing is said"
    assert "| AT2, no shield | 1 | 80.0 [70.0, 90.0] | 16.0" in page.ways(kept)
    found["unseen"]["alone"]["recipes"] = 7
    assert page.aims(kept).startswith("**Reached.**")
    models["AT2"]["differences"]["accuracy"] = [-0.02, -0.03, -0.01]
    assert page.aims(kept).startswith("**Missed.**"), "three quarters, but at two points of clean accuracy"


def test_cells_that_are_done_are_not_run_again_and_failures_stop_what_needs_them(
    script: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    cells = script("cells")
    (tmp_path / "helper_of_cells.py").write_text(
        "def do(cell, work):\n    if cell.given['bad']:\n        raise ValueError('no')\n    return {'n': cell.given['n']}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    do = script("helper_of_cells").do
    made = [
        cells.Cell("a", "k", {"n": 1, "bad": False}), cells.Cell("b", "k", {"n": 2, "bad": True}, needs=("a",)),
        cells.Cell("c", "k", {"n": 3, "bad": False}, needs=("b",)),
    ]  # fmt: skip
    assert cells.Runner(do, None, tmp_path, 1, 60).run(made) == 1
    assert cells.read(tmp_path, "a")["n"] == 1 and not cells.path_of(tmp_path, "c").is_file()
    cells.write(cells.path_of(tmp_path, "b"), "{}")
    before = cells.path_of(tmp_path, "a").stat().st_mtime_ns
    assert cells.Runner(do, None, tmp_path, 1, 60).run(made) == 0
    assert cells.read(tmp_path, "c")["n"] == 3 and cells.path_of(tmp_path, "a").stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["zeroe_training_page", "toxictrap_training_page"])
def test_pages_are_made_of_the_kept_numbers(script: Any, name: str) -> None:
    page = script(name)
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.count(page.BEGIN) == 1 and page.END in text
    if page.DATA.is_file():
        kept = json.loads(page.DATA.read_text(encoding="utf-8"))
        assert f"{page.BEGIN}\n\n{page.text_of(kept)}\n\n{page.END}" in text, (
            f"python benchmarks/papers/{name[:-5]}.py page"
        )
