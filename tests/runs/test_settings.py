"""What the attacker sees: rules, scores, gradients, through the whole of `evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import scuff
from scuff.data.dataset import Dataset
from scuff.evaluation.dimensions import COLUMNS, TAGS
from scuff.evaluation.export import write_cases
from scuff.evaluation.plan import choose_dimensions, neutral_words
from scuff.evaluation.settings import EvaluationSettings
from scuff.victims.toy import Toy

TOY = "toy:sentiment"
SMALL: dict[str, Any] = {"examples": 24, "cases": 3, "degrees": [0.1, 0.4]}


def texts_and_labels(count: int = 30) -> list[tuple[str, str]]:
    return [
        ("a good film" if at % 2 else f"a bad film number {at}", "good" if at % 2 else "bad") for at in range(count)
    ]


def told(**settings: Any) -> tuple[scuff.Result, str]:
    said: list[str] = []
    result = scuff.evaluate(TOY, TOY, say=said.append, **SMALL, **settings)
    return result, "\n".join(said)


def test_scores_break_more_than_rules() -> None:
    result = scuff.evaluate(TOY, TOY, dimensions=["keyboard", "keyboard@edits"], setting=["rule", "score"], **SMALL)
    found = result.summary["dimensions"]
    assert list(found) == ["keyboard", "keyboard@score", "keyboard@edits", "keyboard@edits@score"]
    for base in ("keyboard", "keyboard@edits"):
        rule, score = found[base], found[f"{base}@score"]
        assert (rule["base"], rule["setting"], score["base"], score["setting"]) == (base, "rule", base, "score")
        assert score["average"]["value"] < rule["average"]["value"]
        assert all(cell["reached"] <= cell["degree"] + 1e-9 for cell in score["degrees"])


def test_the_same_bytes_whatever_the_workers_and_after_a_resume(tmp_path: Path) -> None:
    settings = {**SMALL, "dimensions": ["keyboard", "visual@edits"], "setting": ["rule", "score"]}
    outcomes = []
    for at, more in enumerate(({}, {"workers": 2})):
        result = scuff.evaluate(TOY, TOY, tmp_path / str(at), **settings, **more)
        outcomes.append([(Path(str(result.folder)) / name).read_bytes() for name in ("summary.json", "results.jsonl")])
    part = next((tmp_path / "0").rglob("round0*.npz"))
    part.unlink()
    scuff.evaluate(TOY, TOY, tmp_path / "0", **settings)
    outcomes.append([(tmp_path / "0" / name).read_bytes() for name in ("summary.json", "results.jsonl")])
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_more_cases_do_not_change_the_first(tmp_path: Path) -> None:
    settings = {"examples": 20, "degrees": [0.3], "dimensions": ["keyboard@score"], "width": 0.02}
    whole = scuff.evaluate(TOY, TOY, cases=16, **settings).summary["dimensions"]["keyboard@score"]
    assert whole["degrees"][0]["cases"] > 20 * 4


def test_a_model_without_scores_is_measured_by_rules() -> None:
    said: list[str] = []

    def answer(texts: list[str]) -> list[str]:
        return ["bad" if "bad" in text else "good" for text in texts]

    result = scuff.evaluate(
        answer, texts_and_labels(), say=said.append, dimensions=["keyboard"], setting=["score"], cases=2, degrees=[0.5]
    )
    assert list(result.summary["dimensions"]) == ["keyboard"]
    assert "keyboard@score (the model gives no scores; measured by rules alone)" in "\n".join(said)


def test_a_function_that_gives_scores_is_noticed() -> None:
    toy = Toy("sentiment")

    def answer(texts: list[str]) -> list[dict[str, float]]:
        return [dict(zip(toy.labels, map(float, row), strict=True)) for row in toy(texts).answers]

    result = scuff.evaluate(answer, TOY, dimensions=["keyboard"], setting=["score"], **SMALL)
    assert list(result.summary["dimensions"]) == ["keyboard@score"]


def test_gradients_need_a_model_that_gives_them() -> None:
    result, said = told(dimensions=["keyboard"], setting=["gradient", "rule"])
    assert list(result.summary["dimensions"]) == ["keyboard"] and "gives no gradients" in said


def test_cases_for_others_to_answer_cannot_be_guided(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected the access rule for --write-cases"):
        write_cases(TOY, str(tmp_path / "cases.jsonl"), dimensions=["keyboard"], setting=["score"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"setting": ["scores"]}, "expected rule or score or gradient for access, got 'scores'"),
        ({"tag": "evil"}, "expected general or malicious for tag, got 'evil'"),
        ({"tag": "general", "dimensions": ["keyboard"]}, "expected tag or dimensions, got both"),
        ({"protocol": "zeroe", "setting": ["score"]}, "expected the access rule for the protocol zeroe"),
        ({"dimensions": ["keyboard@sore"]}, "expected"),
        ({"dimensions": ["segment+keyboard@score"]}, "chosen one by one for @score"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scuff.evaluate(TOY, TOY, **{**SMALL, **settings})


def data(texts: list[str], targets: list[str]) -> Dataset:
    return Dataset("test", "single", (tuple(texts),), tuple(targets), tuple(map(str, range(len(texts)))))


def test_all_columns_that_can_run_are_measured_by_default() -> None:
    some = data([text for text, _ in texts_and_labels()], [label for _, label in texts_and_labels()])
    names, left_out = choose_dimensions(EvaluationSettings.of(setting=["rule", "score"]), some)
    bases = [name.partition("=")[0].partition("@")[0] for name in names]
    assert list(dict.fromkeys(bases)) + sorted(left_out) == [
        *(c for c in COLUMNS if c not in left_out), *sorted(left_out)
    ]  # fmt: skip
    assert len(names) == 2 * len(set(bases))
    for tag in TAGS:
        tagged, out = choose_dimensions(EvaluationSettings.of(tag=tag), some)
        assert [name.partition("=")[0] for name in tagged] == [c for c in TAGS[tag] if c not in out]


def test_words_that_distract_tell_nothing_of_the_label() -> None:
    texts = [f"{'awful' if at % 2 else 'lovely'} table chair window {'rain' if at % 3 else 'snow'}" for at in range(60)]
    words = neutral_words(data(texts, ["bad" if at % 2 else "good" for at in range(60)]), 0)
    three_to_one = {*range(0, 36, 4), 1, 3, 5}
    lopsided = [f"{text} point" if at in three_to_one else text for at, text in enumerate(texts)]
    assert "point" not in neutral_words(data(lopsided, ["bad" if at % 2 else "good" for at in range(60)]), 0)
    assert {"table", "chair", "window"} <= set(words) <= {"table", "chair", "window", "rain", "snow"}
    assert words == neutral_words(data(texts[::-1], ["bad" if at % 2 else "good" for at in range(60)][::-1]), 0)


def test_a_dimension_can_have_a_name() -> None:
    result = scuff.evaluate(TOY, TOY, dimensions=["slips=keyboard|truncate", "slips2=keyboard(phi=0)@score"], **SMALL)
    assert list(result.summary["dimensions"]) == ["slips", "slips2@score"]
    assert result.summary["dimensions"]["slips"]["spec"] == "keyboard|truncate"


def test_queries_are_counted_beforehand() -> None:
    _, said = told(dimensions=["keyboard"], setting=["score"])
    assert "queries" in said
    with pytest.raises(ValueError, match="expected a max_queries of at least"):
        scuff.evaluate(TOY, TOY, dimensions=["keyboard"], setting=["score"], max_queries=1000, **SMALL)
    result = scuff.evaluate(TOY, TOY, dimensions=["keyboard"], setting=["score"], max_queries=9000, **SMALL)
    assert json.dumps(result.summary["protocol"])
