"""The gate: what is known too little never passes, thresholds are read in one way, and those of a test before its model runs."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import scuff
from scuff.attacks.goals import Goal
from scuff.cli.main import main
from scuff.metrics import Metric
from scuff.perturbations.keyboard import Keyboard
from scuff.reports.gate import Line, check_summary
from scuff.resources import MissingResource
from scuff.runs.folder import Folder, NoAnswers
from scuff.runs.pack import pack_texts, unpack_texts

TOY = "toy:sentiment"
ONE_WORD = [("good", "positive"), ("awful", "negative"), ("fine", "positive"), ("poor", "negative")] * 3
SMALL: dict[str, Any] = {"examples": 12, "cases": 1, "degrees": [0.3]}
SEARCH: dict[str, Any] = {"recipe": "deepwordbug", "encoder": "chrf", "examples": 12}


def lines(summary: Any, *args: Any, **bounds: Any) -> list[str]:
    return [str(line) for line in check_summary(summary, *args, **bounds)]


# little evidence


@pytest.fixture(scope="module")
def unchanged() -> Any:
    """An evaluation in which no text changed: three tenths of one word are none."""
    return scuff.evaluate(TOY, ONE_WORD, dimensions=["keyboard", "truncate"], **SMALL).summary


@pytest.mark.parametrize(
    ("bounds", "name"),
    [
        ({"least": {"average": 0}}, "tried"), ({"least": {"worst": 0}}, "tried"), ({"least": {"each": 0}}, "tried"),
        ({"least": {"keyboard": 0}}, "keyboard.tried"), ({"least": {"keyboard.worst": 0}}, "keyboard.tried"),
        ({"least": {"keyboard@0.3": 0}}, "keyboard@0.3.tried"), ({"least": {"keyboard@0.3.worst": 0}}, "keyboard@0.3.tried"),
        ({"least": {}, "max_drop": 1}, "tried"),
    ],
)  # fmt: skip
def test_texts_that_stay_as_they_are_prove_nothing(unchanged: Any, bounds: dict[str, Any], name: str) -> None:
    failed = [line for line in check_summary(unchanged, **bounds) if not line.passed]
    own = (
        ["keyboard.tried", "truncate.tried"]
        if name == "tried" and not {"average", "worst"} & {*bounds["least"]}
        else []
    )
    assert [line.name for line in failed] == [name, *own]
    assert str(failed[0]) == (
        f"FAIL {name}: 0.0, at least 50.0 (the share of texts that changed: the others count with their clean answer; "
        "--min tried=VALUE sets another)"
    )
    bounds["least"]["tried"] = 0
    assert all(line.passed for line in check_summary(unchanged, **bounds)), "unless a share is given"


def test_the_clean_score_needs_no_change(unchanged: Any) -> None:
    assert [line.name for line in check_summary(unchanged, {"clean": 0.1, "answered": 0.9})] == ["clean", "answered"]


def test_half_of_the_texts_must_have_changed(unchanged: Any) -> None:
    half = json.loads(json.dumps(unchanged))
    (cell,) = half["dimensions"]["keyboard"]["degrees"]
    cell["unchanged_examples"] = cell["examples"] // 2
    assert lines(half, {"keyboard": 0})[1:] == []
    assert len(lines(half, {"average": 0})) == 2, "a quarter of all"
    assert len(lines(half, {"keyboard": 0, "truncate": 0})) == 3 and lines(half, {"average": 0, "tried": "25%"})[
        1:
    ] == ["ok   tried: 25.0, at least 25.0"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_queries": 1}, "in 0 nothing could change, 11 ran out of queries or time too early"),
        ({"max_time": 1e-9}, "in 0 nothing could change, 11 ran out of queries or time too early"),
        ({"protect": "re:.*"}, "in 11 nothing could change, 0 ran out of queries or time too early"),
    ],
)
def test_attacks_that_tried_nothing_prove_nothing(settings: dict[str, Any], said: str) -> None:
    summary = scuff.attack(TOY, TOY, **SEARCH, **settings).summary
    assert summary["success"]["count"] == 0
    for bounds in ({"least": {}, "max_success": 1}, {"least": {"after": 0}}, {"least": {}, "max_drop": 1}):
        held, last = map(str, check_summary(summary, **bounds))  # type: ignore[arg-type]
        assert held.startswith("ok ")
        assert last == (
            f"FAIL tried: 0.0, at least 50.0 (the share of 11 attacks that tried something: {said}; --min tried=VALUE sets "
            "another)"
        )


def test_a_budget_that_pays_for_changes_is_evidence() -> None:
    """It is what an attacker with so many queries can do, whether the search is at its end then or not."""
    summary = scuff.attack(TOY, TOY, **SEARCH, max_queries=25).summary
    assert summary["queries"]["cut"] > 0 == summary["queries"]["early"]
    assert all(line.passed for line in check_summary(summary, {"tried": 1}, max_success=1))
    del summary["queries"]["early"]  # as in runs of version 0.1, which do not tell the two apart
    known = check_summary(summary, {"tried": 0})[0].value
    assert known == pytest.approx(1 - summary["queries"]["cut"] / summary["success"]["of"])


def test_after_an_attack_on_nothing() -> None:
    summary = scuff.attack(TOY, [("a superb film", "negative"), ("an awful film", "positive")], **SEARCH).summary
    assert summary["success"]["of"] == 0
    assert lines(summary, {"after": 0})[1] == "FAIL tried: -, at least 50.0 (nothing was attacked)"


@dataclass(frozen=True)
class Nowhere(Metric):
    """A metric of a user that is wrong, and has no value."""

    value: float = math.nan
    tasks: ClassVar[tuple[Any, ...]] = ("single",)

    def statistics(self, answers: Any, targets: Any, labels: Any) -> Any:
        return np.ones((len(answers), 1))

    def score(self, total: Any) -> Any:
        return np.full(total.shape[:-1], self.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_never_passes(value: float) -> None:
    summary = scuff.evaluate(TOY, TOY, dimensions=["keyboard"], metric=Nowhere(value), **SMALL).summary
    for name in ("clean", "average", "worst", "keyboard", "keyboard@0.3"):
        assert lines(summary, {name: 0})[0] == f"FAIL {name}: -, at least 0.0"
    assert lines(summary, {}, 1)[0].startswith("FAIL keyboard: -, at least -")
    assert not any(line.passed for line in check_summary(summary, {}, 1, baseline=summary))
    assert not Line("x", value, 0).passed and not Line("x", value, 1, most=True).passed


@dataclass(frozen=True)
class Undecided(Goal):
    """A goal of a user that gives no number for some answers."""

    always: bool = True
    original: bool = False

    def judge(self, scores: Any, targets: Any, changed: Any) -> Any:
        score = 1 - scores[np.arange(len(scores)), targets]
        lost = (changed > 0) if not self.original else np.full(len(score), True)
        lost &= self.always | (np.arange(len(score)) % 2 == 0)
        return np.where(lost, np.nan, score), scores.argmax(1) != targets


@pytest.mark.parametrize("original", [False, True])
def test_a_goal_that_gives_no_number_is_an_error(original: bool, tmp_path: Path) -> None:
    with pytest.raises(
        NoAnswers, match="expected answers to some of 11 attacks, got none: error: expected a number from"
    ):
        scuff.attack(TOY, TOY, output=tmp_path / "run", goal=Undecided(original=original), **SEARCH)
    summary = Folder(tmp_path / "run").summary()
    assert any(line.startswith("FAIL answered: 0.0") for line in lines(summary, {}, max_success=1))


def test_a_goal_that_gives_some_numbers_goes_on() -> None:
    result = scuff.attack(TOY, TOY, goal=Undecided(always=False), **SEARCH)
    assert result.success > 0 and result.summary["status"]["error"] < 11


# thresholds


def test_as_many_digits_as_tell_them_apart() -> None:
    assert str(Line("x", 0.96378, 0.964)) == "FAIL x: 96.38, at least 96.40"
    assert str(Line("x", 0.9639996, 0.964)) == "FAIL x: 96.39996, at least 96.40000"
    assert str(Line("x", 0.96378, 0.96375)) == "ok   x: 96.4, at least 96.4"
    assert str(Line("x", 0.3604, 0.36, most=True)) == "FAIL x: 36.04, at most 36.00"
    assert str(Line("x", None, 0.5)) == "FAIL x: -, at least 50.0"


@pytest.mark.parametrize("value", ["80", "101%", "-1", "-5%", "nan", "inf", "much", "%", ""])
def test_other_numbers_are_refused(value: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    hint = ": write 0.8 or 80%" if value == "80" else ""
    for option, what in ((f"--max-drop={value}", repr(value)), (f"--min=keyboard={value}", repr(f"keyboard={value}"))):
        assert main(["check", str(tmp_path), option]) == 2
        error = capfd.readouterr().err
        assert error.startswith("scuff: expected ") and error.endswith(f"got {what}{hint}\n"), error


def untouched(texts: list[str]) -> list[str]:
    raise AssertionError("the model was asked")


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"min": {"x": 95}}, r"expected a number in \[0, 1\], or a percentage, for min\['x'\], got 95: write 0.95 or 95%"),
        ({"min": {"keyboard": "95"}}, "got '95': write 0.95 or 95%"),
        ({"min": {"average": 0.5}, "max_drop": 5}, "for max_drop, got 5: write 0.05 or 5%"),
        ({"min": {"keybord": 0.5}}, r"got 'keybord'; did you mean keyboard"),
        ({"min": {"keybord@0.1.worst": 0.5}}, "got 'keybord@0.1.worst'; did you mean keyboard"),
        ({"min": {"avrage": 0.5}}, "expected the name of a score"),
        ({"min": {"after": 0.5}}, "expected the name of a score"),
        ({"min": {"keyboard@0.15": 0.5}}, "got 'keyboard@0.15'; there are keyboard@0.5, keyboard@0.1"),
        ({"min": {"keyboard": 0.5}, "dimensions": ["typo-g"]}, "expected the name of a score, got 'keyboard'; there are"),
        ({"min": {"typo-m": 0.5}, "tag": "general"}, "expected the name of a score, got 'typo-m'; there are typo-g"),
        ({"min": {"typo-m": 0.5}, "protocol": "zeroe"}, "expected the name of a score, got 'typo-m'"),
        ({"min": {"keyboard@0.1": 0.5}, "dimensions": ["keyboard"], "degrees": [0.2]}, "there are keyboard@0.2"),
        ({"min": {"each@score": 0.5}}, "expected the name of a score, got 'each@score'"),
        ({}, "expected something to check"),
    ],
)  # fmt: skip
def test_wrong_thresholds_are_told_before_the_model_is_asked(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scuff.assert_robust(untouched, ONE_WORD, **bounds)


@pytest.mark.parametrize(
    ("bounds", "measured"),
    [
        ({"keyboard": 0.1}, ["keyboard"]),
        ({"keyboard": "10%", "typo-m.worst": 0, "clean": 0}, ["keyboard", "typo-m"]),
        ({"keyboard@0.3": 0, "keyboard.worst": 0}, ["keyboard"]),
        ({"keyboard@score": 0}, ["keyboard@score"]),
        ({"keyboard@edits": 0}, ["keyboard@edits"]),
    ],
)
def test_what_is_named_is_measured(bounds: dict[str, Any], measured: list[str]) -> None:
    result = scuff.assert_robust(TOY, TOY, min=bounds, **SMALL)
    assert list(result.summary["dimensions"]) == measured


def test_a_bound_over_all_dimensions_measures_the_default_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if these were RobTest's dimensions, since all of those take long. The last one lacks a model."""
    for module in ("plan", "thresholds"):
        monkeypatch.setattr(f"scuff.evaluation.{module}.usual_dimensions", lambda _: ["typo-m", "typo-g", "paraphrase"])
    usual = scuff.evaluate(TOY, TOY, **SMALL).summary
    assert list(usual["dimensions"]) == ["typo-m", "typo-g"] and list(usual["left_out"]) == ["paraphrase"]
    for bounds in ({"worst": 0, "keyboard": 0, "typo-g": 0}, {"each": 0, "keyboard.worst": 0}):
        wider = scuff.assert_robust(TOY, TOY, min=bounds, **SMALL).summary
        assert set(wider["dimensions"]) == {"typo-m", "typo-g", "keyboard"} and wider["left_out"] == usual["left_out"]
        assert wider["dimensions"]["typo-m"] == usual["dimensions"]["typo-m"]
    assert list(scuff.assert_robust(TOY, TOY, min={"typo-g": 0}, max_drop=1, **SMALL).summary["dimensions"]) == [
        "typo-m", "typo-g"
    ]  # fmt: skip
    with pytest.raises(MissingResource, match="paraphrase needs a model"):
        scuff.assert_robust(TOY, TOY, min={"worst": 0, "paraphrase": 0}, **SMALL)
    named = scuff.evaluate(TOY, TOY, dimensions=["keyboard", "default"], **SMALL).summary
    assert list(named["dimensions"]) == ["keyboard", "typo-m", "typo-g"]
    with pytest.raises(ValueError, match="expected tag or dimensions, got both"):
        scuff.evaluate(TOY, TOY, dimensions=["default"], tag="general", **SMALL)


def test_dimensions_that_the_user_chose_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    result = scuff.assert_robust(TOY, TOY, min={"keyboard": 0, "each": 0}, dimensions=["keyboard", "typo-g"], **SMALL)
    assert list(result.summary["dimensions"]) == ["keyboard", "typo-g"]
    result = scuff.assert_robust(
        lambda texts: ["positive"] * len(texts), ONE_WORD, min={"keyboard": 0, "tried": 0}, dimensions=["keyboard"],
        access=["score"], **SMALL,
    )  # fmt: skip
    assert list(result.summary["dimensions"]) == ["keyboard"], "a model without scores is measured by rules"


def test_a_dimension_may_be_an_object() -> None:
    own = Keyboard(phi=0.5)
    result = scuff.assert_robust(TOY, TOY, min={own.spec: 0}, dimensions=own, **SMALL)
    assert list(result.summary["dimensions"]) == [own.spec]


def test_too_little_evidence_fails_a_test() -> None:
    with pytest.raises(AssertionError, match=r"less robust than asked:\nFAIL keyboard.tried: 0.0, at least 50.0 \(the"):
        scuff.assert_robust(TOY, ONE_WORD, min={"keyboard": 0}, **SMALL)


def test_a_run_of_the_last_version_that_is_computed_again(tmp_path: Path) -> None:
    """Its trials do not say that nothing was tried, but no query beside the original tells as much."""
    scuff.attack(TOY, TOY, output=tmp_path / "run", **SEARCH, max_queries=1)
    folder, (name,) = (
        Folder(tmp_path / "run"),
        [part.stem for part in (tmp_path / "run" / "trials").glob("attack-*.npz")],
    )
    part = folder.read_part(name)
    reasons = [reason.removesuffix(" to try a change") for reason in unpack_texts("reason", part)]
    folder.write_part(name, {**part, **pack_texts("reason", reasons)})
    result = scuff.report(tmp_path / "run")
    assert isinstance(result, scuff.AttackResult) and {line["reason"] for line in result.lines} >= {"no query was left"}
    assert not check_summary(result.summary, {}, max_success=1)[-1].passed


def test_each_dimension_needs_evidence_of_its_own() -> None:
    """Hebrew has letters to type wrong, but none that `phonetic` knows: its score is that of clean texts."""
    texts = [(f"הספר הזה טוב מאוד מספר {n}", "good") for n in range(6)]
    run: Any = {"dimensions": ["phonetic-g", "inner-shuffle"], "degrees": [0.6], "cases": 1, "labels": ["good", "bad"]}
    summary = scuff.evaluate(lambda some: ["good"] * len(some), texts, **run).summary
    for bounds in ({"least": {"each": 0.5}}, {"least": {}, "max_drop": 0.5}):
        failed = [line.name for line in check_summary(summary, **bounds) if not line.passed]
        assert failed == ["phonetic-g.tried"]


def test_a_bound_is_given_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data, run = [("some words", "good")], tmp_path / "run"
    scuff.evaluate(
        lambda texts: ["good"] * len(texts), data, run, dimensions=["keyboard"], cases=1, labels=["good", "bad"]
    )
    assert main(["check", str(tmp_path / "run"), "--min", "clean=0.9", "--min", "clean=0.1"]) == 2
    assert "expected one minimum of clean for --min, got another: 'clean=0.1'" in capfd.readouterr().err
