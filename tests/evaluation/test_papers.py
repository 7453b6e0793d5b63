"""The figures of the papers that the results pages stand beside: as the papers' text has them, and consistent in themselves."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import scuff
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


@pytest.fixture(scope="module")
def papers() -> Iterator[dict[str, ModuleType]]:
    """The scripts of benchmarks/papers, which import each other by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        names = ("victims", "robtest", "robtest_figures", "robtest_findings", "robtest_page")
        for name in names:
            patch.delitem(sys.modules, name, raising=False)
        yield {name: import_module(name) for name in names}


def test_robtest_rows_are_those_of_the_text(shared: Path, papers: dict[str, ModuleType]) -> None:
    """The comparisons of Figures 16 and 17 have the rows of Figures 10 and 11 again, in the same order of columns."""
    figures = papers["robtest_figures"]
    found = figures.figures((shared / "papers" / PAPER).read_text(encoding="utf-8"))
    figures.check_order(found)
    saved = json.loads(figures.FILE.read_text(encoding="utf-8"))["reports"]
    for number, (task, size) in figures.REPORTS.items():
        assert list(saved[task][size].values()) == found[number]


def test_page_has_the_numbers_of_the_runs(papers: dict[str, ModuleType], tmp_path: Path) -> None:
    """Two real runs of the toy classifier stand for the larger and the smaller model: the smaller one is asked other cases."""
    page, names = papers["robtest_page"], ("typo-g", "glyph-g")
    (tmp_path / "metrics.json").write_text('{"dev": {"accuracy": 0.9}, "test": {"accuracy": 0.8}, "layers": 3}')
    for seed, name in enumerate(("sst2", "sst2-3")):
        folder = tmp_path / f"run-{name}"
        scuff.evaluate(
            "toy:sentiment", "toy:sentiment", folder, dimensions=names, access=["rule", "score"], examples=12, cases=4,
            options={}, degrees=[0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6], seed=0, protect=["re:[gG]\\w+"] if seed else [],
        )  # fmt: skip
        papers["robtest"].copy_numbers(folder, tmp_path / "summaries" / name, tmp_path / "metrics.json")
    summary = json.loads((tmp_path / "run-sst2" / "summary.json").read_text(encoding="utf-8"))
    run = page.read_run(tmp_path / "summaries" / "sst2")
    for name, content in summary["dimensions"].items():
        found = run["dimensions"][name]
        for way in ("average", "worst"):
            expected = [100 * cell[way]["value"] for cell in content["degrees"]]
            assert found[way] == pytest.approx(expected, abs=1e-3)
        by_degree = dict(zip(run["degrees"], found["alone"], strict=True))
        assert found["final"]["alone"][0] == pytest.approx(final_score(by_degree, published=True), abs=1e-2)
        assert all(one >= other - 1e-6 for one, other in zip(found["alone"], found["worst"], strict=True))
    leads = page.pairs(tmp_path / "summaries")
    assert set(leads) == {"score-rule-sst2", "larger-sst2"}
    for column in names:
        for row, dimension in (("rule-average", column), ("score-average", f"{column}@score")):
            both = [
                page.read_run(tmp_path / "summaries" / name)["dimensions"][dimension]["final"]["average"][0]
                for name in ("sst2", "sst2-3")
            ]
            low, high = leads["larger-sst2"][column][row][1:]
            assert leads["larger-sst2"][column][row][0] == pytest.approx(both[0] - both[1], abs=1e-2)
            assert low <= leads["larger-sst2"][column][row][0] <= high
    evidence = {"runs": {"sst2": run}, "pairs": leads, "ranks": {}}
    paper = json.loads(page.FIGURES.read_text(encoding="utf-8"))
    lines = page.task_table("sst2", evidence, paper)
    row = next(line for line in lines if "ours: rule, average" in line)
    assert [float(cell) for cell in row.split("|")[4:11]] == pytest.approx(
        run["dimensions"]["typo-g"]["average"], abs=0.051
    )
    assert "| typo-g | paper: rule, average | 95.3 | 94.2 | 93.4 |" in "\n".join(lines)
    verdicts = [finding.verdict for finding in papers["robtest_findings"].findings(evidence, paper)]
    assert set(verdicts) <= {"yes", "**no**", "not decided", ""} and any(verdicts) and not all(verdicts)


def test_the_page_shows_the_evidence(papers: dict[str, ModuleType]) -> None:
    page = papers["robtest_page"]
    evidence, paper = (json.loads(file.read_text(encoding="utf-8")) for file in (page.EVIDENCE, page.FIGURES))
    shown = page.PAGE.read_text(encoding="utf-8")
    for lines in (
        page.findings_table(evidence, paper), page.victims_table(evidence), page.muted_table(evidence, paper),
        page.published_table(evidence, paper), page.sizes_table(evidence, paper), page.gradient_table(evidence),
        *(page.task_table(task, evidence, paper) for task in page.LARGER),
    ):  # fmt: skip
        assert "\n".join(lines) in shown


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [((11, 6, 0, 11), "yes"), ((11, 5, 0, 11), "not decided"), ((5, 5, 0, 11), "**no**"), ((6, 6, 5, 11), "**no**")],
)
def test_verdicts_about_columns(papers: dict[str, ModuleType], counts: tuple[int, int, int, int], verdict: str) -> None:
    assert papers["robtest_findings"].decided(*counts, exceptions=1) == verdict


def test_training_sees_every_text_once_in_an_epoch(papers: dict[str, ModuleType]) -> None:
    rows = [{"text": "word " * (at % 40), "label": "ab"[at % 2]} for at in range(1000)]

    def tokenizer(texts: list[str], **_: object) -> dict[str, list[list[int]]]:
        return {"input_ids": [[1, *map(len, text.split()), 2] for text in texts]}

    part = papers["victims"].Part(rows, ["a", "b"], tokenizer)
    first, again, other = part.shuffled(0), part.shuffled(0), part.shuffled(1)
    assert sorted(first.tolist()) == list(range(1000)) == sorted(other.tolist())
    assert (first == again).all() and (first != other).any()
    size = papers["victims"].BATCH
    spread = [np.ptp(part.length[first[at : at + size]]) for at in range(0, 960, size)]
    assert max(spread) <= 4  # a batch holds texts of about one length


def test_deltas_bring_a_victim_home(
    papers: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch, victims = pytest.importorskip("torch"), papers["victims"]
    from safetensors.torch import load_file, save_file

    minilm, trained = tmp_path / "minilm", tmp_path / "trained" / "mine"
    words = torch.randn(50, 8).half()
    for folder in (minilm, trained):
        folder.mkdir(parents=True)
        for file in (*victims.TOKENIZER, "config.json", "metrics.json"):
            (folder / file).write_text("{}")
    save_file({"embeddings.word_embeddings.weight": words}, minilm / "model.safetensors")
    weights = {
        victims.WORDS: words.float(),
        "bert.a": torch.randn(40, 30),
        "bert.b": torch.randn(40, 30),
        "c": torch.ones(3),
    }
    save_file(weights, trained / "model.safetensors")
    monkeypatch.setattr(victims, "PART", 40 * 30 * 2)
    victims.write_deltas(trained, tmp_path / "home")
    deltas = sorted((tmp_path / "home").iterdir())
    assert [delta.name for delta in deltas] == [f"mine.delta-{number}.safetensors" for number in (1, 2, 3)]
    shared = tmp_path / "shared" / "models" / "mine"
    shared.mkdir(parents=True)
    for delta in deltas:
        delta.rename(shared / delta.name.removeprefix("mine."))
    for file in ("config.json", "metrics.json"):
        (shared / file).write_text("{}")
    monkeypatch.setattr(victims, "SHARED", tmp_path / "shared")
    assert victims.restore("mine", minilm, tmp_path / "back") and not victims.restore(
        "other", minilm, tmp_path / "back"
    )
    found = load_file(tmp_path / "back" / "mine" / "model.safetensors")
    assert found.keys() == weights.keys()
    assert all(torch.allclose(found[key], weights[key], atol=1e-2) for key in weights)
