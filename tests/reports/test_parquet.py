"""The Parquet table of a run says what its summary says: the summary's numbers are computed from what is read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff
from scuff.reports.parquet import write_parquet

TOY, TONE = "toy:sentiment", "toy:tone"
SMALL: dict[str, Any] = {"examples": 10, "cases": 2, "degrees": [0.2, 0.5]}
PAIRS = [(f"the first text of {n}", f"a second text of {n}", "yes" if n % 2 else "no") for n in range(6)]
TAGS = [{"tokens": ["Anna", "saw", "the", f"{n}"], "tags": ["N", "V", "O", "O"]} for n in range(4)]
TEXTS = [(f"the text number {n}", f"THE TEXT NUMBER {n}") for n in range(6)]


def same(first: Sequence[str], second: Sequence[str]) -> list[str]:
    return ["yes" if "second" in b and a[-1] in "135" else "no" for a, b in zip(first, second, strict=True)]


def tagger(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[{"Anna": "N", "saw": "V"}.get(token, "O") for token in row] for row in rows]


def shaky(texts: Sequence[str]) -> list[str]:
    """A model that does not answer everything."""
    if any("z" in text for text in texts):
        raise ValueError("no z")
    return ["positive" if "good" in text else "negative" for text in texts]


EVALUATIONS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "rule": (TOY, TOY, {"dimensions": ["keyboard", "mine=homoglyph@edits"]}),
    "score": (TOY, TOY, {"dimensions": ["keyboard", "segment@rule"], "access": ["rule", "score"]}),
    "score only": (TOY, TOY, {"dimensions": ["keyboard"], "access": "score"}),
    "sets": (TONE, TONE, {"dimensions": ["keyboard", "typo-m"]}),
    "pairs": (same, PAIRS, {"dimensions": ["full-shuffle"], "side": "second"}),
    "tags": (tagger, TAGS, {"dimensions": ["keyboard"]}),
    "texts": (lambda texts: [text.upper() for text in texts], TEXTS, {"dimensions": ["keyboard"], "task": "text"}),
    "zeroe": (TOY, TOY, {"protocol": "zeroe", "degrees": [], "cases": 1}),
    "adaptive": (TOY, TOY, {"dimensions": ["keyboard"], "width": 0.3, "cases": 8}),
    "unanswered": (shaky, [("a good day", "positive"), ("a poor day", "negative")] * 5, {"dimensions": ["keyboard"], "cases": 9}),
}  # fmt: skip


def table_of(folder: Path, path: Path) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    count = write_parquet(str(folder), str(path))
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    assert len(rows) == count
    return rows


@pytest.mark.parametrize("name", EVALUATIONS)
def test_the_cases_of_an_evaluation(name: str, tmp_path: Path) -> None:
    model, data, settings = EVALUATIONS[name]
    summary = scuff.evaluate(model, data, tmp_path / "run", max_errors=10_000, **{**SMALL, **settings}).summary
    rows = table_of(tmp_path / "run", tmp_path / "cases.parquet")
    results = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    clean = [row for row in rows if row["dimension"] == "clean"]
    assert [(row["id"], row["setting"], row["degree"]) for row in clean] == [
        (line["id"], "clean", 0) for line in results
    ]
    assert [row["score"] for row in clean] == pytest.approx([line["clean"]["score"] for line in results])
    assert len(rows) - len(clean) == summary["queries"]["cases"]
    assert sum(row["problem"] == "" for row in rows) == summary["answered"] + summary["clean"]["answered"]
    assert all((row["score"] is None) == bool(row["problem"]) for row in rows)
    assert {row["dimension"] for row in rows} == {"clean", *summary["dimensions"]}
    for dimension, content in summary["dimensions"].items():
        mine = [row for row in rows if row["dimension"] == dimension]
        assert {row["setting"] for row in mine} == {content["setting"]}
        assert {row["degree"] for row in mine} == {cell["degree"] for cell in content["degrees"]}
        for at, cell in enumerate(content["degrees"]):
            here = [row for row in mine if row["degree"] == cell["degree"]]
            assert len(here) == cell["cases"] and len({row["id"] for row in here}) == cell["examples"]
            assert sum(row["problem"].startswith("error") for row in here) == cell["error"]
            for column, told in (("reached", cell["reached"]), ("distance", cell["edit_distance"])):
                each = [[row[column] for row in here if row["id"] == line["id"]] for line in results]
                assert np.mean([np.mean(values) for values in each if values]) == pytest.approx(told, abs=1e-6)
            for line in results:
                scores = [row["score"] for row in here if row["id"] == line["id"] and row["score"] is not None]
                told = line["dimensions"][dimension]["average"][at]
                assert told == pytest.approx(np.mean(scores), abs=1e-5) if scores else told is None
            texts = {tuple(row[field] for field in fields_of(tmp_path / "run")) for row in here}
            assert texts, "what was asked is there"


def fields_of(folder: Path) -> list[str]:
    fields: list[str] = json.loads((folder / "run.json").read_text())["data"]["fields"]
    return fields


ATTACKS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "one label": (TOY, TOY, {"recipe": "deepwordbug"}),
    "sets": (TONE, TONE, {"recipe": "tt-deepwordbug"}),
    "a budget": (TOY, TOY, {"recipe": "deepwordbug", "max_queries": 8}),
    "so many": (TONE, TONE, {"recipe": "tt-deepwordbug", "attacked": 5}),
    "pairs": (same, PAIRS, {"recipe": "deepwordbug", "search": "best-of(n=20)", "side": "second"}),
    "tags": (tagger, TAGS, {"recipe": "deepwordbug", "goal": "tags(share=0.3)"}),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_the_examples_of_an_attack(name: str, tmp_path: Path) -> None:
    model, data, settings = ATTACKS[name]
    wanted = {} if "attacked" in settings else {"examples": 10}
    result = scuff.attack(model, data, output=tmp_path / "run", encoder="chrf", **{**wanted, **settings})
    rows, summary = table_of(tmp_path / "run", tmp_path / "examples.parquet"), result.summary
    assert {status: sum(row["status"] == status for row in rows) for status in summary["status"]} == summary["status"]
    attacked = [row for row in rows if row["status"] != "skipped"]
    won = [row for row in rows if row["status"] == "succeeded"]
    assert (
        len(attacked) == summary["success"]["of"]
        and sum(bool(row["valid"]) for row in won) == summary["valid"]["count"]
    )
    assert sum(row["queries"] for row in attacked) == summary["queries"]["total"]
    assert [row["id"] for row in rows] == [line["id"] for line in result.lines]
    if won:
        assert np.mean([row["changed"] for row in won]) == pytest.approx(summary["changed"]["mean"], abs=1e-6)
        assert np.mean([row["similarity"] for row in won]) == pytest.approx(summary["similarity"]["mean"], abs=1e-6)
        assert all(row["margin"] > 0 and 0 < row["reached"] <= row["queries"] for row in won)
    fields = fields_of(tmp_path / "run")
    for row, line in zip(rows, result.lines, strict=True):
        for at, field in enumerate(fields):
            text = line["texts"][at]
            assert row[field] == (text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))
            new = line["adversarial"] and line["adversarial"]["texts"][at]
            assert row[f"adversarial_{field}"] == (
                new if isinstance(new, str | None) else json.dumps(new, ensure_ascii=False)
            )
