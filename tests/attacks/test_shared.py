"""Attacks on real models: a multiclass and a multilabel filter of toxic texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import scuff


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "recipe", "benign"), [("davidson", "tt-deepwordbug", "neither"), ("jigsaw", "toxictrap", "benign")]
)
def test_toxic_texts_pass_for_benign(
    name: str, recipe: str, benign: str, shared: Path, real_model: Callable[[str], Path], tmp_path: Path
) -> None:
    result = scuff.attack(
        str(real_model(name)), str(shared / "data" / name / "dev.jsonl.gz"), recipe, tmp_path / "run", examples=20,
        vectors=str(shared / "data" / "counterfitted" / "neighbours.tsv.gz"), options={"batch_tokens": 2048},
    )  # fmt: skip
    summary = result.summary
    assert result.success > 0.5 and not summary["problems"] and summary["queries"]["unanswered"] == 0
    assert summary["status"]["skipped"] + summary["success"]["of"] == 20 and set(summary["skipped"]) <= {
        "not toxic",
        "missed by the model",
    }
    assert summary["after"]["value"] < summary["clean"]["value"] and 0 < summary["changed"]["mean"] < 0.5
    for line in result.lines:
        said = line["adversarial"] and line["adversarial"]["answer"]
        if line["status"] == "skipped":
            assert line["queries"] == 0 and said is None
        else:
            assert 1 < line["queries"] < 2000
        if line["status"] == "succeeded":
            assert said == [benign] if summary["task"] == "multi" else said["label"] == benign
    again = scuff.report(tmp_path / "run")
    assert again.summary == summary
