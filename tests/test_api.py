"""The Python functions: typed keywords are the settings, parts may be objects, old names still work, workers build parts."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

import scuff
from scuff import api
from scuff.attacks import Attack, AttackSettings
from scuff.attacks.search import Search, Try
from scuff.cli.main import parser
from scuff.evaluation import Dimension, EvaluationSettings, final_score
from scuff.perturbations import Corpus, Ints, Mask, Ragged, Rng, WordPerturbation
from scuff.reports import check_summary
from scuff.reports.parquet import write_parquet
from scuff.training.augmentation import Augmentation

TOY = "toy:sentiment"
SMALL: dict[str, Any] = {"examples": 16, "cases": 2, "degrees": [0.5]}
MODULE = """
from dataclasses import dataclass
import numpy as np
from scuff.attacks.search import Search, Try
from scuff.perturbations import Ragged, WordPerturbation


@dataclass(frozen=True)
class Louder(WordPerturbation):
    marks: int = 1

    def able(self, corpus):
        return np.ones(len(corpus.words), bool)

    def rewrite(self, corpus, which, rng):
        old = corpus.cut(corpus.words.where(which)).strings()
        return Ragged.of([word + "!" * self.marks for word in old]), np.full(which.size, self.marks)


@dataclass(frozen=True)
class FirstSite(Search):
    def walk(self, view, dice):
        states = [(edit,) for site in view.sites[:1] for edit in view.options(site)]
        told = yield Try(states)
        best = told.best()
        return states[best] if best is not None and told.margin[best] > 0 else ()
"""


@dataclass(frozen=True)
class Loud(WordPerturbation):
    """Write words in capitals."""

    def able(self, corpus: Corpus) -> Mask:
        return np.array([word != word.upper() for word in corpus.cut(corpus.words).strings()], np.bool_)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        old = corpus.cut(corpus.words.where(which)).strings()
        return Ragged.of([word.upper() for word in old]), np.array([len(word) for word in old], np.int64)


@dataclass(frozen=True)
class LastSite(Search):
    """Try what may stand at the last site."""

    def walk(self, view: Any, dice: Any) -> Any:
        states = [(edit,) for site in view.sites[-1:] for edit in view.options(site)]
        told = yield Try(states)
        best = told.best()
        return states[best] if best is not None and told.margin[best] > 0 else ()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A user's module, in the folder where the program runs."""
    (tmp_path / "users_parts.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "users_parts"


@pytest.mark.parametrize(
    ("function", "keywords", "settings", "beside"),
    [
        (scuff.evaluate, api.EvaluateKeywords, EvaluationSettings, set()),
        (scuff.attack, api.AttackKeywords, AttackSettings, {"recipe"}),
        (scuff.augment, api.AugmentKeywords, Augmentation, set()),
    ],
)
def test_keywords_are_the_settings(function: Any, keywords: Any, settings: Any, beside: set[str]) -> None:
    assert set(get_type_hints(keywords)) | beside == {field.name for field in fields(settings)}
    text = inspect.getdoc(function) or ""
    for field in fields(settings):
        if not (function is scuff.attack and field.name == "predictions"):  # which an attack refuses
            assert field.name in text, f"{function.__name__} does not explain {field.name}"


@pytest.mark.parametrize(("command", "settings"), [("evaluate", EvaluationSettings), ("attack", AttackSettings)])
def test_flags_come_from_the_settings(command: str, settings: Any) -> None:
    flags = parser(command)._subparsers._group_actions[0].choices[command]._option_string_actions  # type: ignore[union-attr]
    for field in fields(settings):
        about = field.metadata
        if about["group"]:
            for flag in about["flags"] or [f"--{field.name.replace('_', '-')}"]:
                assert flags[flag].dest == field.name
                assert flags[flag].help == about["help"].replace("%", "%%")


def test_old_names_of_settings_still_work(tmp_path: Path) -> None:
    new = scuff.evaluate(TOY, TOY, tmp_path / "new", dimensions="keyboard", access="score", **SMALL)
    old = scuff.evaluate(TOY, TOY, tmp_path / "old", dimensions="keyboard", **{"setting": ["score"]}, **SMALL)
    assert new.summary == old.summary and list(new.summary["dimensions"]) == ["keyboard@score"]
    written = json.loads((tmp_path / "new" / "run.json").read_text())["config"]
    assert written["setting"] == ["score"] and "access" not in written, "run.json keeps its names"
    assert AttackSettings.of(transform="typo") == AttackSettings.of(perturbations=["typo"])


def test_parquet_tells_the_access_of_each_case(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    scuff.evaluate(TOY, TOY, tmp_path / "run", dimensions="keyboard", access=["rule", "score"], **SMALL)
    write_parquet(str(tmp_path / "run"), str(tmp_path / "cases.parquet"))
    rows = pq.read_table(tmp_path / "cases.parquet").to_pylist()
    assert {(row["dimension"], row["setting"]) for row in rows} == {
        ("clean", "clean"), ("keyboard", "rule"), ("keyboard@score", "score")
    }  # fmt: skip


def test_friends_of_an_evaluation_can_be_imported() -> None:
    assert final_score({0.1: 0.5}) == 0.5 and scuff.evaluation.final_score is final_score
    assert "dimensions" in (inspect.getdoc(scuff.evaluate) or "") and inspect.isfunction(scuff.evaluate)


def test_dimensions_may_be_objects() -> None:
    named = Dimension(Loud(), label="loud")
    result = scuff.evaluate(
        TOY, TOY, dimensions=[Loud(), named, "keyboard|truncate", Dimension(Loud(), "edits")], **SMALL
    )
    specs = {name: content["spec"] for name, content in result.summary["dimensions"].items()}
    assert list(specs)[1:3] == ["loud", "keyboard|truncate"] and specs["loud"].endswith(":Loud")
    assert len(specs) == 4 and next(iter(specs)).endswith(":Loud")
    assert all(content["degrees"][0]["unchanged"] == 0 for content in result.summary["dimensions"].values())


def test_parts_of_an_attack_may_be_objects() -> None:
    settings: dict[str, Any] = {"examples": 30, "encoder": "chrf"}
    by_name = scuff.attack(TOY, TOY, "deepwordbug", search="greedy", **settings)
    found = scuff.attack(TOY, TOY, "deepwordbug", search=LastSite(), perturbations=[Loud()], **settings)
    assert found.summary["recipe"]["search"].endswith(":LastSite")
    assert found.summary["recipe"]["transform"][0].endswith(":Loud")
    assert found.summary["queries"]["total"] < by_name.summary["queries"]["total"]


def test_a_recipe_may_be_an_object() -> None:
    mine = Attack.of("mine", "none", "untargeted", ["typo(layout='any')"], "unk", ["stop-words"])
    other = Attack.of("mine", "none", "untargeted", ["typo(layout='any')"], LastSite(), ["stop-words"])
    settings: dict[str, Any] = {"examples": 30, "encoder": "chrf"}
    first, second, again = (scuff.attack(TOY, TOY, recipe, **settings) for recipe in (mine, other, mine))
    assert first.summary["recipe"]["name"] == second.summary["recipe"]["name"] == "mine"
    assert second.summary["recipe"]["search"].endswith(":LastSite")
    assert first.summary == again.summary != second.summary


def test_objects_that_their_specs_do_not_tell_apart_stay_apart() -> None:
    class Odd(WordPerturbation):
        """Not a dataclass, so that its spec has no options."""

        def __init__(self, mark: str) -> None:
            self.__dict__["mark"] = mark

        def able(self, corpus: Corpus) -> Mask:
            return np.ones(len(corpus.words), np.bool_)

        def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
            old = corpus.cut(corpus.words.where(which)).strings()
            return Ragged.of([word + self.__dict__["mark"] for word in old]), np.ones(which.size, np.int64)

        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = object.__hash__

    dimensions = [Dimension(Odd(mark), label=f"odd{at}") for at, mark in enumerate("#*")]
    seen: list[str] = []

    def model(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return ["positive"] * len(texts)

    scuff.evaluate(model, TOY, dimensions=dimensions, **SMALL)
    assert any("#" in text for text in seen) and any("*" in text for text in seen)


def test_another_metric_scores_a_run(tmp_path: Path) -> None:
    usual = scuff.evaluate(TOY, TOY, dimensions=["keyboard"], **SMALL).summary
    f1 = scuff.evaluate(TOY, TOY, tmp_path / "run", dimensions=["keyboard"], metric="macro-f1", **SMALL).summary
    assert usual["metric"] == "accuracy" and f1["metric"] == "macro F1"
    assert usual["clean"]["auc"] == f1["clean"]["auc"]
    assert scuff.report(tmp_path / "run").summary == f1, "the metric is kept in the folder"
    with pytest.raises(ValueError, match="expected the run that began there, got another metric"):
        scuff.evaluate(TOY, TOY, tmp_path / "run", dimensions=["keyboard"], **SMALL)
    with pytest.raises(ValueError, match="expected a baseline of the same data and settings, got another metric"):
        check_summary(f1, {}, max_drop=0.1, baseline=usual)


@pytest.mark.parametrize(
    ("model", "metric", "message"),
    [
        (TOY, "f1", "expected the name of a metric, got 'f1'; known are accuracy, exact-match, macro-f1"),
        (TOY, "token-accuracy", "expected a metric for single, got token-accuracy, which is for tokens"),
        (
            lambda texts: ["positive" for _ in texts],
            "auc",
            "expected a model that gives a score for every label for auc",
        ),
    ],
)
def test_a_metric_that_does_not_fit_is_told(model: Any, metric: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scuff.evaluate(model, TOY, metric=metric, dimensions=["keyboard"], **SMALL)


def test_workers_build_a_users_part_by_its_spec(module: str, tmp_path: Path) -> None:
    spec = f"{module}:Louder(marks=2)"
    results = [
        scuff.evaluate(
            TOY, TOY, tmp_path / str(workers), dimensions=[spec], workers=workers, examples=300, cases=40, degrees=[0.5]
        )
        for workers in (1, 2)
    ]
    assert results[0].summary == results[1].summary
    assert results[0].summary["dimensions"][spec]["spec"] == spec


def test_workers_of_an_attack_build_a_users_part(module: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"search": f"{module}:FirstSite", "examples": 200, "encoder": "chrf"}
    results = [scuff.attack(TOY, TOY, "deepwordbug", tmp_path / str(n), workers=n, **settings) for n in (1, 2)]
    assert results[0].summary == results[1].summary and results[0].lines == results[1].lines
    assert results[0].summary["recipe"]["search"] == f"{module}:FirstSite"


def test_a_part_that_workers_cannot_import_is_refused() -> None:
    @dataclass(frozen=True)
    class Here(Loud):
        """Exists in this function only."""

    assert scuff.evaluate(TOY, TOY, dimensions=[Here()], **SMALL).average > 0
    with pytest.raises(
        ValueError, match=r"expected parts that worker processes can import, got .*Here: put the class into"
    ):
        scuff.evaluate(TOY, TOY, dimensions=[Here()], workers=2, **SMALL)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dimensions": [Loud]}, r"expected an object, got the class Loud itself: add \(\)"),
        ({"dimensions": ["no_such_module:Loud"]}, "no_such_module: expected a module that can be imported"),
        ({"dimensions": ["json:loads"]}, "for json:loads, got too few options: missing a required argument: 's'"),
        ({"dimensions": ["json:JSONDecoder"]}, r"expected a perturbation \(Perturbation\) from json:JSONDecoder"),
        ({"dimensions": ["nowhere.py:Loud"]}, "nowhere.py: expected a Python file, got nothing of that name"),
    ],
)
def test_wrong_parts_are_told(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        scuff.evaluate(TOY, TOY, **SMALL, **settings)
