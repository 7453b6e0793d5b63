"""The real victims through the whole of `evaluate`: every attack on every task, and harm that grows with the degree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scuff
from scuff.evaluation.dimensions import COLUMNS
from scuff.perturbations.names import ZEROE

pytestmark = [pytest.mark.shared, pytest.mark.slow]
Models = Callable[[str], Path]
TASKS = {  # data, task, settings; the texts of jigsaw are long, so fewer of them
    "sst2": ("sst2", "single", {"examples": 64}),
    "davidson": ("davidson", "single", {"examples": 64}),
    "jigsaw": ("jigsaw", "multi", {"examples": 24}),
    "nli": ("snli", "single", {"examples": 64, "side": "second"}),
    "ud_ewt": ("ud_ewt", "tokens", {"examples": 64}),
}


TAGS = [
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "PUNCT", "SCONJ", "SYM", "VERB", "X",
]  # fmt: skip
LOW_LEVEL = [*ZEROE, "homoglyph", "invisible"]


@pytest.mark.parametrize("name", TASKS)
def test_harm_grows_with_the_degree(name: str, shared: Path, real_model: Models, tmp_path: Path) -> None:
    data, task, settings = TASKS[name]
    attacks = [attack for attack in LOW_LEVEL if task != "tokens" or attack != "segment"]
    result = scuff.evaluate(
        str(real_model(name)), str(shared / "data" / data / "dev.jsonl.gz"), tmp_path / "run", cases=1, degrees=[0.1, 0.6],
        dimensions=attacks, options={"batch_tokens": 2048}, **settings,
    )  # fmt: skip
    summary: dict[str, Any] = result.summary
    assert list(summary["dimensions"]) == attacks and summary["task"] == task and not summary["problems"]
    assert summary["clean"]["score"]["value"] > 0.7
    low, high = ([c["degrees"][at]["average"]["value"] for c in summary["dimensions"].values()] for at in (0, 1))
    # WordPiece drops what nobody sees, so `invisible` harms none of these models; single attacks on few texts are noisy
    assert sum(high) < sum(low) - 0.5
    assert sum(b <= a for a, b in zip(low, high, strict=True)) >= len(attacks) - 1
    for content in summary["dimensions"].values():
        assert all(cell["reached"] <= cell["degree"] for cell in content["degrees"])
        assert content["degrees"][1]["worst"]["value"] <= content["degrees"][0]["worst"]["value"]


@pytest.mark.parametrize(("data", "paper"), [("ud_ewt", 0.16), ("snli", 0.33)])
def test_the_red_line_of_the_papers_data(data: str, paper: float, shared: Path) -> None:
    """The paper says around 16 % and 33 % of its own test sets; a model that always gives one answer is all that it takes."""

    def most_frequent(*columns: list[Any]) -> list[Any]:
        return [["NOUN"] * len(text) if data == "ud_ewt" else "entailment" for text in columns[0]]

    file, labels = str(shared / "data" / data / "test.jsonl.gz"), {"labels": ["contradiction", "entailment", "neutral"]}
    summary = scuff.evaluate(
        most_frequent, file, protocol="zeroe", dimensions=["truncate"], degrees=[0.2], examples=20_000,
        **({"labels": TAGS} if data == "ud_ewt" else labels),
    ).summary  # fmt: skip
    assert summary["red_line"]["score"] == pytest.approx(paper, abs=0.015)
    assert summary["red_line"]["left"] == 1, "the model is that line"


@pytest.mark.parametrize("name", ["sst2", "davidson"])
def test_every_column_by_rules_and_by_scores(name: str, shared: Path, real_model: Models) -> None:
    """RobTest whole: eleven columns, two settings, average and worst, degrees that are never exceeded."""
    result = scuff.evaluate(
        str(real_model(name)), str(shared / "data" / name / "dev.jsonl.gz"), examples=4, cases=2, degrees=[0.1, 0.4],
        setting=["rule", "score"], mlm=str(real_model("mlm")), options={"batch_tokens": 2048},
    )  # fmt: skip
    found = result.summary["dimensions"]
    assert list(found) == [name for column in COLUMNS for name in (column, f"{column}@score")]
    assert not result.summary["problems"] and result.summary["protocol"]["meaning"] == "minilm"
    for content in found.values():
        assert all(cell["reached"] <= cell["degree"] + 1e-9 for cell in content["degrees"])
        assert content["worst"]["value"] <= content["average"]["value"] + 1e-9
    mean = {s: sum(found[c + s]["average"]["value"] for c in COLUMNS) for s in ("", "@score")}
    assert mean["@score"] < mean[""], "an attacker who sees scores does more harm on average"


def test_gradients_guide_as_scores_do(shared: Path, real_model: Models) -> None:
    result = scuff.evaluate(
        str(real_model("sst2")), str(shared / "data" / "sst2" / "dev.jsonl.gz"), examples=12, cases=3, degrees=[0.2],
        setting=["rule", "score", "gradient"], dimensions=["typo-g"], options={"batch_tokens": 2048},
    )  # fmt: skip
    rule, score, gradient = (content["average"]["value"] for content in result.summary["dimensions"].values())
    assert score < rule and gradient < rule
