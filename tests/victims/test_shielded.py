"""A model behind a shield is a victim: it answers about mended texts, and is never taken for the model alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from reports.page import page_at
from scuff.cli.main import main
from scuff.reports import write_parquet
from scuff.runs.folder import BadRun, Folder
from scuff.shields import Corpus, Repairs, Shield
from scuff.text.edits import Edits
from scuff.text.ragged import Ragged
from scuff.text.words import Spans
from scuff.victims import Access, Column, Outputs, Query, Shielded, Victim, open_victim
from scuff.victims.shielded import unshielded
from scuff.victims.substitution import gives_slopes
from scuff.victims.toy import Toy
from scuff.victims.toy_translator import ToyTranslator
from victims.stripping import FILE, Strip

GAP = "\u200b"
STRIP = f"{FILE}:Strip"
FEW: dict[str, Any] = {"examples": 12, "encoder": "chrf", "max_queries": 40}
CASES: dict[str, Any] = {
    "examples": 12,
    "dimensions": ["invisible@level", "keyboard@level"],
    "degrees": [0.5],
    "cases": 1,
}


class Echo(Victim):
    """Records what it is asked, and answers with the length of each text; its gradient is the length of each word."""

    name, task, labels, access = "echo", "single", ("short", "long"), Access.GRADIENT

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.words: list[Any] = []

    def __call__(self, *columns: Column) -> Outputs:
        self.seen += list(zip(*columns, strict=True))
        long = np.array([sum(len(text) for text in row) > 8 for row in zip(*columns, strict=True)], np.float64)
        return Outputs.of(np.stack([1 - long, long], 1))

    def saliency(self, *columns: Column, side: int, words: Any, **more: Any) -> Any:
        self.seen, self.words = list(zip(*columns, strict=True)), words
        return [np.array([stop - start for start, stop in spans], np.float64) for spans in words]


@dataclass(frozen=True)
class Instead(Shield):
    """Puts `xyz` in place of the first three characters of longer texts."""

    def mend(self, corpus: Corpus) -> Repairs:
        row = np.flatnonzero(corpus.lengths > 3)
        spans = Spans(row, corpus.offsets[row], corpus.offsets[row] + 3)
        return Repairs.of(Edits.of(corpus, spans, Ragged.of(["xyz"] * row.size)), row * 0, ("replaced",))


def test_the_victim_sees_mended_texts_each_once() -> None:
    echo = Echo()
    found = Shielded(echo, Strip())([f"ab{GAP}c", "abc", f"a long{GAP} text", "abc"])
    assert sorted(echo.seen) == [("a long text",), ("abc",)]
    assert found.answers.argmax(1).tolist() == [0, 0, 1, 0]


def test_of_pairs_both_texts_are_mended() -> None:
    echo = Echo()
    Shielded(echo, Strip())([f"a{GAP}"], [f"{GAP}b"])
    assert echo.seen == [("a", "b")]


@given(st.lists(st.lists(st.text("ab" + GAP, min_size=1, max_size=4), min_size=1, max_size=4), min_size=1, max_size=4))
def test_tokens_stay_tokens(sentences: list[list[str]]) -> None:
    rows = [tuple(tokens) for tokens in sentences]
    mended = Shielded(Echo(), Strip()).mended(rows)
    assert [len(row) for row in mended] == [len(row) for row in rows]
    for before, after in zip(rows, mended, strict=True):
        for old, new in zip(before, after, strict=True):
            assert new == (old.replace(GAP, "") or new) and new, "no token is left empty"
    lists: list[Any] = [*sentences]
    assert list(map(tuple, Shielded(Echo(), Strip()).mended(lists))) == mended, "tokens in lists are mended, too"


def test_all_else_is_the_victims() -> None:
    toy = Toy("sentiment")
    shielded = Shielded(toy, Strip())
    for name in (
        "task",
        "labels",
        "access",
        "cases_at_once",
        "rows_at_once",
        "paid",
        "mask",
        "unknown",
        "sees_through_files",
    ):
        assert getattr(shielded, name) == getattr(toy, name), name
    shielded.batch_tokens, shielded.steady = 7, True
    assert (toy.batch_tokens, toy.steady) == (7, True)
    assert unshielded(shielded) is toy and unshielded(toy) is toy


def test_name_and_identity_have_the_shield_in_them() -> None:
    toy = Toy("sentiment")
    names = {(victim.name, victim.identity) for victim in (toy, Shielded(toy, Strip()), Shielded(toy, Strip("x")))}
    assert len({name for name, _ in names}) == len({identity for _, identity in names}) == 3
    assert scuff.__version__ in Shielded(toy, Strip()).identity


def test_another_version_of_an_own_shield_is_another_model(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(Path(FILE).read_text(encoding="utf-8"), encoding="utf-8")
    first = Shielded(Toy("sentiment"), f"{file}:Strip").identity
    file.write_text(f"{file.read_text(encoding='utf-8')}\n# changed\n", encoding="utf-8")
    assert Shielded(Toy("sentiment"), f"{file}:Strip").identity != first


def test_a_shield_before_a_shield_is_a_chain() -> None:
    twice = Shielded(Shielded(Echo(), Strip("x")), Strip("y"))
    assert isinstance(twice.victim, Echo) and twice.mended(["axyb"]) == ["ab"]
    assert [part.what for part in twice.shield.parts] == ["y", "x"]  # type: ignore[attr-defined]


def test_only_victims_are_shielded() -> None:
    with pytest.raises(TypeError, match=r"expected a Victim for Shielded\.victim, got str"):
        Shielded("toy:sentiment", Strip())  # type: ignore[arg-type]


def test_saliency_is_that_of_the_mended_text() -> None:
    echo = Echo()
    texts = [f"ab{GAP}c de", f"a b {GAP}", "abc"]
    words = [[(0, 4), (5, 7)], [(0, 1), (2, 3), (4, 5)], [(0, 3)]]
    found = Shielded(echo, Strip()).saliency(texts, side=0, words=words, weights=np.ones((3, 2)))
    assert echo.seen == [("abc de",), ("a b ",), ("abc",)]
    assert [each.tolist() for each in found] == [[3, 2], [1, 1, 0], [3]], "a word that is deleted has 0"


def test_words_that_a_repair_joins_share_what_they_become() -> None:
    echo = Echo()
    texts, words = ["a b c", "d"], [[(0, 1), (2, 3), (4, 5)], [(0, 1)]]
    found = Shielded(echo, Instead()).saliency(texts, side=0, words=words, weights=np.ones((2, 2)))
    assert echo.seen == [("xyz c",), ("d",)] and echo.words == [[(0, 3), (4, 5)], [(0, 1)]]
    assert [each.tolist() for each in found] == [[3, 3, 1], [1]]


def test_slopes_pass_through() -> None:
    alone, texts = ToyTranslator(), ["der Hund schläft"]
    shielded = Shielded(alone, Strip())
    assert gives_slopes(shielded) and not gives_slopes(Shielded(Toy("sentiment"), Strip()))
    assert shielded.located(texts)[0].ids.tolist() == alone.located(texts)[0].ids.tolist()
    assert np.array_equal(shielded.slopes(texts, ["x"])[0], alone.slopes(texts, ["x"])[0])
    assert shielded.vocabulary() is alone.vocabulary() or shielded.vocabulary().surfaces == alone.vocabulary().surfaces


def test_a_batch_that_raises_is_isolated_as_ever() -> None:
    class Fragile(Echo):
        def __call__(self, *columns: Column) -> Outputs:
            if any("bad" in text for text in columns[0]):
                raise RuntimeError("broke")
            return super().__call__(*columns)

    found = Query(Shielded(Fragile(), Strip()))(["good", f"b{GAP}ad", "fine"])
    assert found.problem.tolist() == ["", "error: RuntimeError: broke", ""]


# runs


@cache
def unseen() -> Strip:
    """A shield that deletes the characters that `invisible` inserts."""
    texts = [scuff.perturb("some words to hide characters in", "invisible", 1.0, seed=seed) for seed in range(40)]
    return Strip("".join(sorted(set("".join(texts)) - set("some words to hide characters in"))))


def test_an_evaluation_of_a_shielded_model(tmp_path: Path) -> None:
    alone = scuff.evaluate("toy:sentiment", "toy:sentiment", **CASES)
    found = scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", shield=unseen(), **CASES)
    dimensions = found.summary["dimensions"]
    kept = dimensions["invisible@level"]["degrees"][0]
    assert kept["average"]["value"] == found.clean == alone.clean, "what is mended harms nothing"
    assert kept["reached"] and kept["reached"] > 0.3, "degrees are those before the shield"
    same = dimensions["keyboard@level"]["degrees"][0]["average"]
    assert same == alone.summary["dimensions"]["keyboard@level"]["degrees"][0]["average"]
    run = Folder(tmp_path / "run").run()
    assert run["shield"] == found.summary["shield"] == {"spec": unseen().spec, "mended": 0}
    assert "shielded by" in run["signature"] and run["config"]["shield"] == unseen().spec
    assert "shield victims.stripping:Strip" in " ".join(str(found).split())
    assert scuff.report(tmp_path / "run").summary == found.summary


def test_a_run_goes_on_only_with_the_same_shield(tmp_path: Path) -> None:
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", shield=STRIP, **CASES)
    for other in ({}, {"shield": f"{STRIP}(what='x')"}):
        with pytest.raises(BadRun, match=r"got another model, (parts, )?shield"):
            scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", **CASES, **other)
    part = sorted((tmp_path / "run" / "trials").iterdir())[-1]
    before = (tmp_path / "run" / "summary.json").read_bytes()
    part.unlink()
    scuff.resume(tmp_path / "run")
    assert (tmp_path / "run" / "summary.json").read_bytes() == before


def test_the_cache_keeps_both_apart(tmp_path: Path) -> None:
    cache, data = (
        str(tmp_path / "cache"),
        [(f"a good{GAP} film {n}", "positive") for n in range(4)] + [("bad", "negative")],
    )
    few: dict[str, Any] = {"dimensions": ["keyboard"], "degrees": [0.4], "cases": 1}
    alone = scuff.evaluate("toy:sentiment", data, cache=cache, **few)
    shielded = scuff.evaluate("toy:sentiment", data, cache=cache, shield=STRIP, **few)
    again = scuff.evaluate("toy:sentiment", data, cache=cache, **few)
    assert alone.summary["dimensions"] == again.summary["dimensions"]
    assert shielded.summary["shield"]["mended"] == 4
    assert (
        shielded.summary["dimensions"]
        == scuff.evaluate("toy:sentiment", data, shield=STRIP, **few).summary["dimensions"]
    )


def test_what_a_shield_cannot_stand_before(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a model for shield .*, got predictions"):
        scuff.evaluate(None, "toy:sentiment", shield=STRIP, predictions="answers.jsonl")
    with pytest.raises(ValueError, match="expected a shield for attacker unaware, got none"):
        scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", attacker="unaware", **FEW)
    with pytest.raises(ValueError, match="expected the name of a shield, got 'nothing'"):
        scuff.evaluate("toy:sentiment", "toy:sentiment", shield="nothing")


def test_assert_robust_takes_a_shield() -> None:
    scuff.assert_robust("toy:sentiment", "toy:sentiment", min={"invisible@level": 0.8}, shield=unseen(), **CASES)
    with pytest.raises(AssertionError, match="less robust than asked"):
        scuff.assert_robust("toy:sentiment", "toy:sentiment", min={"invisible@level": 0.8}, **CASES)


# attacks

INVISIBLE: dict[str, Any] = {
    "perturbations": ["2*invisible"],
    "search": "unk",
    "goal": "untargeted",
    "without": ["edit-distance"],
}


def test_an_aware_attacker_asks_the_shielded_model() -> None:
    alone = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", **INVISIBLE, **FEW)
    assert alone.summary["success"]["count"] > 3
    found = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", shield=unseen(), **INVISIBLE, **FEW)
    assert found.summary["success"]["count"] == 0, "each text that it tries is mended"
    assert found.summary["shield"]["attacker"] == "aware" and "found" not in found.summary["shield"]
    assert found.summary["shield"]["clean"] == found.summary["clean"] == alone.summary["clean"]


def test_an_unaware_attacker_asks_the_model_alone(tmp_path: Path) -> None:
    alone = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", **INVISIBLE, **FEW)
    found = scuff.attack(
        "toy:sentiment", "toy:sentiment", "deepwordbug", tmp_path / "run", shield=unseen(), attacker="unaware",
        **INVISIBLE, **FEW,
    )  # fmt: skip
    shield, success = found.summary["shield"], found.summary["success"]
    assert shield["found"]["count"] == alone.summary["success"]["count"] > success["count"] == 0
    assert (shield["survived"]["count"], shield["survived"]["of"]) == (0, shield["found"]["count"])
    assert found.summary["queries"]["total"] == alone.summary["queries"]["total"], "queries are those of the search"
    for line, before in zip(found.lines, alone.lines, strict=True):
        assert line["found"] == (before["status"] == "succeeded")
        if line["found"]:
            assert line["status"] == "failed" and line["reason"] == "the shield held"
            assert line["adversarial"] and line["adversarial"]["mended"] == line["texts"][0]
            assert line["adversarial"]["answer"] == line["clean"]["answer"], "the answer is that of the shielded model"
    page = page_at(tmp_path / "run").text()
    assert "unaware attacker" in page and "--attacker unaware" in page and "--shield" in page
    assert "of these, past the shield" in str(found)
    parquet = pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "run", str(tmp_path / "rows.parquet"))
    rows = parquet.read_table(tmp_path / "rows.parquet").to_pydict()
    assert rows["found"] == [line["found"] for line in found.lines] and sum(map(bool, rows["mended"])) >= sum(
        rows["found"]
    )


def test_some_attacks_survive_and_a_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    given: dict[str, Any] = {**FEW, "examples": 24, "shield": f"{STRIP}(what='aeiou')", "attacker": "unaware"}
    found = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", tmp_path / "run", **given)
    shield = found.summary["shield"]
    assert 0 < shield["survived"]["count"] == found.summary["success"]["count"] < shield["found"]["count"]
    assert shield["clean"]["value"] != found.summary["clean"]["value"]
    assert any(reason.startswith("without the shield") for reason in found.summary["skipped"])
    files = [tmp_path / "run" / name for name in ("summary.json", "results.jsonl", "report.html")]
    before = [file.read_bytes() for file in files]
    scuff.report(tmp_path / "run")
    assert [file.read_bytes() for file in files] == before
    for part in (tmp_path / "run" / "trials").iterdir():
        part.unlink()
    scuff.resume(tmp_path / "run")
    assert [file.read_bytes() for file in files] == before


@pytest.mark.slow
def test_workers_change_no_byte(tmp_path: Path) -> None:
    given: dict[str, Any] = {**FEW, "examples": 24, "shield": f"{STRIP}(what='aeiou')", "attacker": "unaware"}
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", folder, workers=workers, **given)
    for name in ("summary.json", "results.jsonl", "report.html"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_the_command_and_its_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("settings.yaml").write_text(
        json.dumps({"shield": STRIP, "examples": 8, "attacker": "unaware", "encoder": "chrf"})
    )
    command = ["attack", "toy:sentiment", "toy:sentiment", "--recipe", "deepwordbug", "--max-queries", "10"]
    assert main([*command, "-o", "run", "--config", "settings.yaml"]) == 0
    assert "attacker unaware" in capsys.readouterr().out
    run = json.loads(Path("run/run.json").read_text())
    assert run["key"]["attacker"] == "unaware" and run["key"]["shield"] == STRIP and STRIP in run["key"]["parts"]
    assert main([*command, "--shield", f"{STRIP}(wat=1)"]) == 2
    Path("settings.yaml").write_text(json.dumps({"shield": STRIP, "attacker": "both"}))
    assert main([*command, "--config", "settings.yaml"]) == 2
    assert capsys.readouterr().err.count("expected") == 2


def test_an_object_that_is_shielded_already() -> None:
    shielded = Shielded(open_victim("toy:sentiment", "single", ()), Strip())
    found = scuff.attack(shielded, "toy:sentiment", "deepwordbug", attacker="unaware", **FEW)
    assert found.summary["shield"]["attacker"] == "unaware"
