"""The Python functions: typed keywords are the settings, parts may be objects, old names still work, workers build parts."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

import scuff
from scuff import Perturbation, api, specs
from scuff.attacks import Attack, AttackSettings
from scuff.attacks.search import Search, Try
from scuff.cli.main import main, parser
from scuff.evaluation import Dimension, EvaluationSettings, final_score
from scuff.perturbations import Corpus, Ints, Mask, Ragged, Rng, WordPerturbation
from scuff.reports import check_summary
from scuff.reports.parquet import write_parquet
from scuff.shields import Repairs, Shield
from scuff.training.augmentation import Augmentation
from scuff.training.harden_settings import HardenSettings
from scuff.victims import Access, Outputs, Victim

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
        (scuff.harden, api.HardenKeywords, HardenSettings, {"methods"}),
    ],
)
def test_keywords_are_the_settings(function: Any, keywords: Any, settings: Any, beside: set[str]) -> None:
    assert set(get_type_hints(keywords)) | beside == {field.name for field in fields(settings)}
    text = inspect.getdoc(function) or ""
    for field in fields(settings):
        if not (function is scuff.attack and field.name == "predictions"):  # which an attack refuses
            assert field.name in text, f"{function.__name__} does not explain {field.name}"


@pytest.mark.parametrize(
    ("command", "settings"), [("evaluate", EvaluationSettings), ("attack", AttackSettings), ("harden", HardenSettings)]
)
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


def test_column_and_text_mean_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert EvaluationSettings.of(column="body") == EvaluationSettings.of(text=["body"])
    assert AttackSettings.of(column=["a", "b"]).asdict()["text"] == ["a", "b"], "run.json keeps its names"
    with pytest.raises(ValueError, match="expected text once, got it as column, too"):
        EvaluationSettings.of(text="a", column="b")
    for command, flags in (("perturb", "p"), ("zeroe", "p"), ("augment", ""), ("evaluate", ""), ("attack", "")):
        for flag in ("--column", "--text", "-c"):
            words = [command, "x", flag, "a", flag, "b", *(["-p", "truncate", "-o", "y"] if flags else [])]
            given = vars(parser(command).parse_args(words))
            assert given.get("column", given.get("text")) == ["a", "b"]
    data = tmp_path / "a.csv"
    data.write_text("review,body,label\n" + "some fine words here,other fine words here,positive\n" * 2)
    (tmp_path / "settings.yaml").write_text("column: body\ndimensions: [keyboard]\ncases: 1\ndegrees: [0.5]\n")
    command = ["evaluate", TOY, str(data), "--config", str(tmp_path / "settings.yaml"), "-q"]
    assert main([*command, "-o", str(tmp_path / "run")]) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["config"]["text"] == ["body"]
    rows = scuff.augment(str(data), **{"column": "body"}, dimensions="truncate", degree=0.5, only_perturbed=True)
    assert rows[0]["review"] == "some fine words here" and rows[0]["body"] != "other fine words here"
    capsys.readouterr()


def test_parquet_tells_the_access_of_each_case(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    scuff.evaluate(TOY, TOY, tmp_path / "run", dimensions="keyboard", access=["rule", "score"], **SMALL)
    write_parquet(str(tmp_path / "run"), str(tmp_path / "cases.parquet"))
    rows = pq.read_table(tmp_path / "cases.parquet").to_pylist()
    assert {(row["dimension"], row["setting"]) for row in rows} == {
        ("clean", "clean"), ("keyboard", "rule"), ("keyboard@score", "score")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"access": "rule", "setting": "score"}, "expected access once, got it as setting, too"),
        ({"access": []}, "expected each access once, and at least one, got none"),
        ({"access": ["rule", "rule"]}, "expected each access once, and at least one, got rule, rule"),
        ({"task": "foo"}, "expected single, multi, tokens, text for --task, got 'foo'"),
        ({"metric": ["accuracy"]}, r"expected text, such as name\(option=value\), for metric, got \['accuracy'\]"),
        (
            {"dimensions": [{"keyboard": {"phi": 0.2}}]},
            r"expected text, such as name\(option=value\), for dimensions, got",
        ),
    ],
)
def test_settings_that_contradict_or_are_of_another_kind(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scuff.evaluate(TOY, TOY, **{**SMALL, **settings})


@pytest.mark.parametrize("lost", ["key", "signature", "model"])
def test_a_run_json_without_a_key_is_refused(tmp_path: Path, lost: str) -> None:
    scuff.evaluate(TOY, TOY, tmp_path / "run", dimensions="keyboard", **SMALL)
    path = tmp_path / "run" / "run.json"
    run = json.loads(path.read_text())
    del run[lost]
    path.write_text(json.dumps(run))
    with pytest.raises(
        ValueError, match=f"run.json: expected a file that this version of Scuff wrote, got another: {lost}"
    ):
        scuff.report(tmp_path / "run")


def test_the_worst_auc_is_of_the_least_sure_answers() -> None:
    """An example whose answer stays right still has a worst case: the one that the model is least sure of."""
    settings: dict[str, Any] = {"examples": 60, "cases": 4, "degrees": [0.3, 0.5], "dimensions": ["keyboard", "typo-m"]}
    found = scuff.evaluate(TOY, TOY, metric="auc", encoder="chrf", **settings).summary["dimensions"]
    for content in found.values():
        for cell in content["degrees"]:
            assert cell["worst"]["value"] < cell["average"]["value"]


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


@dataclass(frozen=True)
class Marked(Loud):
    """Put what a function makes of it in place of a word, which no spec can say."""

    mark: Callable[[str], str] = str.upper

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        old = corpus.cut(corpus.words.where(which)).strings()
        return Ragged.of([self.mark(word) for word in old]), np.ones(which.size, np.int64)


def test_options_that_are_no_literals_work_in_this_process_only() -> None:
    seen: list[str] = []

    def model(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return ["positive"] * len(texts)

    marks = [
        Dimension(Marked(mark), label=f"odd{at}") for at, mark in enumerate((lambda w: w + "#", lambda w: w + "*"))
    ]
    scuff.evaluate(model, TOY, dimensions=marks, **SMALL)
    assert any("#" in text for text in seen) and any("*" in text for text in seen)
    with pytest.raises(ValueError, match="expected parts that worker processes can import"):
        scuff.evaluate(model, TOY, dimensions=marks, workers=2, **SMALL)
    assert scuff.evaluate(TOY, TOY, dimensions=["intrude(symbols='#1')"], workers=2, **SMALL).average > 0


def test_a_part_with_an_init_of_its_own_is_refused() -> None:
    class Odd(Loud):
        def __init__(self, times: int) -> None:
            self.__dict__["times"] = times

    with pytest.raises(TypeError, match="expected a frozen dataclass, whose fields are its options, got Odd"):
        scuff.evaluate(TOY, TOY, dimensions=[Odd(2)], **SMALL)


@pytest.mark.parametrize(
    ("attribute", "wrong", "message"),
    [
        (
            "able",
            lambda self, corpus: np.ones(len(corpus.words) - 1, bool),
            r"expected a mask of \d+ words from .*able, got bool",
        ),
        (
            "able",
            lambda self, corpus: np.ones(len(corpus.words), int),
            r"expected a mask of \d+ words from .*able, got int64",
        ),
        (
            "rewrite",
            lambda self, corpus, which, rng: (Ragged.of([]), which),
            r"expected \d+ spellings and costs from .*rewrite",
        ),
        ("propose", lambda self, corpus, rng, k=1: None, "expected Edits from .*propose, got NoneType"),
    ],
)
def test_a_perturbation_that_breaks_the_rules_is_named(attribute: str, wrong: Any, message: str) -> None:
    kind = type("Wrong", (Loud,), {attribute: wrong, "choose": Perturbation.choose})
    with pytest.raises((TypeError, ValueError), match=message):
        scuff.perturb("some words here", kind())


@dataclass(frozen=True)
class Stars(Shield):
    """Takes stars out of texts; not of a text with a bomb in it."""

    kinds = ("star",)

    def mend(self, corpus: Corpus) -> Repairs:
        texts = corpus.strings()
        if "bomb" in texts:
            raise IndexError("list index out of range")
        places = [
            (row, at, at + 1, "", "star") for row, text in enumerate(texts) for at, c in enumerate(text) if c == "*"
        ]
        return Repairs.at(places, self.kinds)


def test_shield() -> None:
    text, new = "*w*ord* https://x.org/*", "word https://x.org/"
    assert scuff.shield(text, Stars()) == new and scuff.shield([text, ""], Stars()) == [new, ""]
    assert scuff.shield(text, Stars(), protect=["urls"]) == "word https://x.org/*"
    assert scuff.shield(text, Stars(), only=["urls"]) == "*w*ord* https://x.org/"
    assert scuff.shield("", Stars(), return_edits=True) == ("", [])
    mended, repairs = scuff.shield([text], Stars(), return_edits=True)
    assert repairs[0][1] == scuff.Repair(2, 3, "*", "", ("star",)) and scuff.map_spans(repairs[0], [(1, 6)]) == [(0, 4)]
    assert isinstance(Stars(), scuff.Shield) and mended == [new]
    assert scuff.shield_tokens([["*a*", "*", "b"], []], Stars()) == [["a", "*", "b"], []]
    assert scuff.shield_tokens([["*a", "b*"]], Stars(), return_edits=True)[1][0][1][:2] == (4, 5)


def test_shield_raises_or_warns() -> None:
    texts = ["a*", "bomb", None, "half \ud800"]
    with pytest.raises(IndexError):
        scuff.shield(["bomb"], Stars())
    with pytest.raises(
        ValueError, match=r"expected Unicode text, got the lone surrogate U\+D800 at character 5 of text 1"
    ):
        scuff.shield(["a", texts[3]], Stars())
    with pytest.warns(RuntimeWarning, match="2 of 4 texts stay as they are: text 1: .*Stars: IndexError") as told:
        assert scuff.shield(texts, Stars(), skip_errors=True) == ["a", *texts[1:]]
    assert told[0].filename == __file__, "the user's line"
    with pytest.raises(ValueError, match="expected the name of a shield, got 'nonsense'"):
        scuff.shield("a", "nonsense")
    spans = scuff.Protect(spans=(((0, 2),), ()))
    assert scuff.shield(["*a b*", "*"], Stars(), protect=spans) == ["*a b", ""]
    with pytest.raises(ValueError, match="expected protected spans for each of 1 texts"):
        scuff.shield(["a"], Stars(), protect=spans)


def test_detect() -> None:
    assert scuff.Verdict is scuff.Detection  # its name up to 0.6
    clean, foul = "We went to the market and bought some bread.", "Get fr\u0435\u0435 m\u043en\u0435y, cl\u200bick here"
    one = scuff.detect(foul)
    assert (
        isinstance(one, scuff.Detection)
        and one.tampered
        and one.kinds["look-alike"] > 0.9
        and 0.9 < one.probability <= 1
    )
    assert scuff.detect([foul, None, clean]) == [one, None, scuff.detect(clean)] and not scuff.detect(clean).tampered
    assert scuff.detect(np.array([clean, foul]), false_alarms=0.001)[1].tampered and scuff.detect([]) == []  # type: ignore[union-attr]
    assert scuff.detect("").tampered is False
    with pytest.raises(ValueError, match=r"for detector\.false_alarms, got 2"):
        scuff.detect(clean, false_alarms=2)
    with pytest.raises(ValueError, match="expected Unicode text, got the lone surrogate"):
        scuff.detect("\ud800")
    with pytest.warns(RuntimeWarning, match="1 of 2 texts have no answer: text 0: expected Unicode text") as told:
        assert scuff.detect(["\ud800", foul], skip_errors=True) == [None, one]
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: scuff.perturb("some text", 5),
            "expected the name of a perturbation or an object of that kind, got int",
        ),  # type: ignore[call-overload]
        (lambda: scuff.perturb({"text": "some"}, "keyboard"), "expected a string or a list of strings, .*, got dict"),  # type: ignore[call-overload]
        (lambda: scuff.perturb(5, "keyboard"), "expected a string or a list of strings, .*, got int"),  # type: ignore[call-overload]
        (
            lambda: scuff.perturb_tokens(["some", "text"], "keyboard"),
            "expected sentences that are lists of tokens, got strings",
        ),
        (lambda: scuff.shield("some text", 5), "expected the name of a shield or an object of that kind, got int"),  # type: ignore[call-overload]
        (lambda: scuff.shield("some text", Stars), "got the class Stars itself: add \\(\\)"),  # type: ignore[call-overload]
        (lambda: scuff.shield({"text": "some"}, Stars()), "expected a string or a list of strings, .*, got dict"),  # type: ignore[call-overload]
        (lambda: scuff.shield("some text", Stars(), protect=5), 'expected kinds of text, such as \\["urls"\\]'),  # type: ignore[arg-type]
        (lambda: scuff.shield_tokens(["some"], Stars()), "expected sentences that are lists of tokens, got strings"),
    ],
)
def test_texts_of_another_kind_are_refused(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_a_table_is_no_list_of_texts() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": ["a good film"], "label": ["positive"]})
    with pytest.raises(TypeError, match=r"expected column=NAME for a DataFrame, one or more of text, label, got none"):
        scuff.perturb(table, "keyboard")
    with pytest.raises(ValueError, match=r"expected a column 'body' of the DataFrame, got text, label"):
        scuff.perturb(table, "keyboard", column="body")
    assert list(scuff.perturb(table["text"], "disemvowel", 1.0)) == ["a gd flm"]


def attack_by(walk: Any) -> dict[str, Any]:
    kind = type("Wrong", (Search,), {"walk": walk})
    return dict(scuff.attack(TOY, TOY, "deepwordbug", search=kind(), examples=20, encoder="chrf").summary)


def test_a_search_that_breaks_the_rules_fails_for_its_example_alone() -> None:
    def raises(self: Any, view: Any, dice: Any) -> Any:
        if view.row % 2:
            raise KeyError("third")
        yield Try(view.further(())[:1])
        return ()

    def endless(self: Any, view: Any, dice: Any) -> Any:
        while view.row % 2:
            yield Try([()])
        return ()
        yield

    def wrong_state(self: Any, view: Any, dice: Any) -> Any:
        yield Try(view.further(())[:1])
        return (99999, -5) if view.row % 2 else ()

    def no_try(self: Any, view: Any, dice: Any) -> Any:
        yield [()] if view.row % 2 else Try([()])
        return ()

    for walk, reason in (
        (raises, "error: KeyError: 'third'"),
        (endless, "error: RuntimeError: expected a search that ends, got 10,001 requests in a row with nothing new"),
        (wrong_state, "error: expected a state that was tried from a search, got (99999, -5)"),
        (no_try, "error: TypeError: expected Try(states) from a search, got list"),
    ):
        summary = attack_by(walk)
        assert list(summary["problems"]) == [reason]
        assert 0 < summary["status"]["error"] < summary["success"]["of"]


def test_a_victim_that_breaks_the_rules_is_told() -> None:
    class Wrong(Victim):
        name, task, labels, access = "wrong", "single", ("negative", "positive"), Access.SCORE

        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def __call__(self, *columns: Any) -> Any:
            return self.answer(len(columns[0]))

    for answer, message in (
        (lambda n: ["negative"] * n, "expected Outputs from wrong, got list: return Outputs.of"),
        (lambda n: Outputs.of(np.ones((n, 3))), "expected a column for each label of wrong .*, got 3 columns"),
        (lambda n: Outputs.of(np.full((n, 2), np.nan)), "error: scores that are no numbers"),
    ):
        with pytest.raises((ValueError, RuntimeError), match=message):
            scuff.evaluate(Wrong(answer), TOY, dimensions=["keyboard"], **SMALL)


def test_another_version_of_a_users_file_is_another_run(module: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"dimensions": ["parts_file.py:Louder"], **SMALL}
    (tmp_path / "parts_file.py").write_text(MODULE)
    first = scuff.evaluate(TOY, TOY, tmp_path / "run", **settings)
    assert scuff.evaluate(TOY, TOY, tmp_path / "run", **settings).summary == first.summary
    (tmp_path / "parts_file.py").write_text(MODULE.replace('"!"', '"?!"'))
    with pytest.raises(ValueError, match="expected the run that began there, got another parts"):
        scuff.evaluate(TOY, TOY, tmp_path / "run", **settings)


def test_a_run_with_objects_can_be_reported_but_not_resumed_by_name(tmp_path: Path) -> None:
    mine = Attack.of("mine", "none", "untargeted", ["typo(layout='any')"], "unk")
    found = scuff.attack(TOY, TOY, mine, tmp_path / "run", examples=20, encoder="chrf")
    assert scuff.report(tmp_path / "run").summary == found.summary
    with pytest.raises(
        ValueError, match=r"expected a run whose parts are known by name, got __main__:mine.*, a Python object"
    ):
        scuff.resume(tmp_path / "run")


def test_a_broken_entry_point_ends_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gone = EntryPoint("gone", "no_such_module:Gone", "scuff.perturbations")
    monkeypatch.setattr(specs, "entry_points", lambda group: {"gone": gone} if group == gone.group else {})
    assert main(["list", "perturbations"]) == 0
    assert "gone           cannot be imported: ModuleNotFoundError" in capsys.readouterr().out
    with pytest.raises(
        ValueError, match=r"gone: expected an entry point that can be imported .*, got ModuleNotFoundError"
    ):
        scuff.perturb("some text", "gone")


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


@pytest.mark.slow
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
        ({"dimensions": [main]}, r"expected an object, got the function main itself: add \(\)"),
        ({"dimensions": ["no_such_module:Loud"]}, "no_such_module: expected a module that can be imported"),
        ({"dimensions": ["json:loads"]}, "for json:loads, got too few options: missing a required argument: 's'"),
        ({"dimensions": ["json:JSONDecoder"]}, r"expected a perturbation \(Perturbation\) from json:JSONDecoder"),
        ({"dimensions": ["nowhere.py:Loud"]}, "nowhere.py: expected a Python file, got nothing of that name"),
    ],
)
def test_wrong_parts_are_told(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        scuff.evaluate(TOY, TOY, **SMALL, **settings)


def test_wrong_arguments_get_one_line_that_names_them() -> None:
    rows = [("a good film", "a"), ("a bad film", "b")]
    _, edits = scuff.perturb("Paris is in France today", "intrude", 1, return_edits=True)
    anything: Any = scuff
    calls: list[tuple[str, Callable[[], object]]] = [
        ("a whole number for seed, got 'x'", lambda: anything.perturb("x", "keyboard", seed="x")),
        ("a whole number for perturb.draw, got 1.5", lambda: anything.perturb("x", "keyboard", draw=1.5)),
        ("for protect, got 3", lambda: anything.perturb("x", "keyboard", protect=3)),
        ("to protect, got 3", lambda: anything.perturb("x", "keyboard", protect=[3])),
        ("ids for each of 1 texts, got 3", lambda: anything.perturb("x", "keyboard", ids=3)),
        ("str for each token of sentence 0, got None", lambda: anything.perturb_tokens([["a", None]], "keyboard")),
        ("a list of tokens for sentence 0, got None", lambda: anything.perturb_tokens([None], "keyboard")),
        ("whole numbers for a span, got ('a', 3)", lambda: anything.map_span(edits, "a", 3)),
        ("whole numbers for a span, got (1.5, 3)", lambda: anything.map_span(edits, 1.5, 3)),
        ("inside the 24 characters of the text, got (0, 500)", lambda: anything.map_span(edits, 0, 500, length=24)),
        ("a number for augment.degree, got 'x'", lambda: anything.augment(rows, degree="x")),
        ("a whole number for augment.seed, got 'x'", lambda: anything.augment(rows, seed="x")),
        ("a setting of augment, got 'degre'; did you mean degree", lambda: anything.augment(rows, degre=1)),
        ("True or False for augment.each, got 'x'", lambda: anything.augment(rows, each="x")),
    ]
    for message, call in calls:
        with pytest.raises((TypeError, ValueError), match=re.escape(message)) as caught:
            call()
        assert str(caught.value).startswith("expected ")


def test_spans_keep_their_labels() -> None:
    text = "Paris is in France today"
    new, edits = scuff.perturb(text, "intrude", 1, return_edits=True)
    start, stop, label = scuff.map_spans(edits, [[12, 18, "LOC"]], length=len(text))[0]
    assert new[start:stop][::2] == "France" and label == "LOC"
