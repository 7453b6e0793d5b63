"""`scuff.attack` as a whole: results, errors, run folders, resuming, reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scuff
from scuff.english import inflection
from scuff.reports.gate import check_summary
from scuff.reports.parquet import write_parquet
from scuff.resources import MissingResource
from scuff.runs.folder import NoAnswers
from scuff.victims.base import Victim
from scuff.victims.identity import probe_text
from scuff.victims.query import TooManyErrors
from scuff.victims.toy import Toy

THINGS = ["film", "hotel", "garden", "teacher", "kitchen", "journey", "village", "concert", "library", "station"]
DATA = [
    (f"Yesterday the {thing} was {word} and everybody there noticed it before number {n}", label)
    for n, thing in enumerate(THINGS)
    for word, label in (("good", "positive"), ("poor", "negative"))
]
PLAIN: dict[str, Any] = {"recipe": "deepwordbug", "encoder": "chrf"}
NAMES = ["negative", "positive"]
Model = Callable[..., Any]


def score(text: str) -> float:
    return 0.6 + len(text) / 1e4 if "good" in text.split() else 0.3


def keyword(texts: list[str]) -> list[dict[str, float]]:
    """A model whose scores depend on a word and, slightly, on the length of the text."""
    return [{"negative": 1 - score(text), "positive": score(text)} for text in texts]


def decide(texts: list[str]) -> list[str]:
    return ["positive" if "good" in text.split() else "negative" for text in texts]


def attack(model: Any = keyword, data: Any = DATA, output: Any = None, **settings: Any) -> scuff.AttackResult:
    return scuff.attack(model, data, output=output, **{**PLAIN, **settings})


def content(folder: Path, *patterns: str) -> dict[str, bytes]:
    """The files of a run folder that must be the same in every run, with their bytes."""
    found = [path for pattern in patterns or ("**/*",) for path in folder.glob(pattern) if path.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(found) if p.name != "timings.json"}


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two examples in each block, as if the run were large."""
    for kind in (Victim, Toy):
        monkeypatch.setattr(kind, "cases_at_once", 128)


class Recorder:
    """A model that records the texts it was asked about, and is interrupted on its call number `breaks_at`."""

    def __init__(self, model: Model = keyword) -> None:
        self.model, self.seen, self.calls, self.breaks_at = model, list[Any](), 0, 0

    def __call__(self, *columns: Any) -> Any:
        self.calls += 1
        if self.calls == self.breaks_at:
            raise KeyboardInterrupt
        self.seen += zip(*columns, strict=True)
        return self.model(*columns)


# results


def test_a_plain_callable() -> None:
    result = attack()
    assert result.success == 0.5 and result.folder is None and len(result.adversarial) == 10
    for before, after in result.adversarial:
        assert "good" in before.split() and "good" not in after.split() and len(before.split()) == len(after.split())
    summary = result.summary
    assert summary["status"] == {"skipped": 0, "failed": 10, "succeeded": 10, "error": 0}
    assert summary["clean"]["value"] == 1 and summary["after"]["value"] == 0.5
    assert summary["success"]["interval"] == pytest.approx([0.299, 0.701], abs=1e-3)
    won = [line for line in result.lines if line["status"] == "succeeded"]
    assert summary["changed"]["mean"] == pytest.approx(sum(line["adversarial"]["changed"] for line in won) / 10)
    assert "attack success rate         50.0" in str(result) and "few texts were attacked (20)" in str(result)
    assert result.paper.splitlines()[2].startswith("| list | unk |  | 50.0 [29.9, 70.1] |")


def test_the_answers_in_the_lines_are_those_of_the_model() -> None:
    result = attack()
    for line in result.lines:
        assert line["clean"]["answer"]["label"] == line["target"] == decide(line["texts"])[0]
        if tried := line["adversarial"]:
            text, out, at = line["texts"][0], "", 0
            for _, start, stop, new in tried["edits"]:
                out, at = out + text[at:start] + new, stop
            assert tried["texts"] == [out + text[at:]]
            said = max(NAMES, key=keyword(tried["texts"])[0].__getitem__)
            assert tried["answer"]["label"] == said and (said != line["target"]) == (line["status"] == "succeeded")


def test_the_seed_decides_the_texts() -> None:
    assert attack().lines == attack().lines != attack(seed=1).lines


def test_queries_count_the_texts_that_the_model_saw() -> None:
    model = Recorder()
    result = attack(model, data=DATA[:1])
    probe = (probe_text(DATA[0][0]),)  # by which a model is known again
    assert len({*model.seen} - {probe}) == result.lines[0]["queries"] == result.summary["queries"]["total"]


@pytest.mark.parametrize("most", [1, 2, 12])
def test_a_budget_for_each_example(most: int) -> None:
    summary = attack(max_queries=most).summary
    assert summary["queries"]["limit"] == most and summary["queries"]["mean"] <= most
    assert summary["queries"]["cut"] == (20 if most < 3 else 20 - summary["status"]["succeeded"])
    assert summary["curve"]["queries"][-1] <= most


def test_no_time() -> None:
    result = attack(max_time=1e-9)
    assert {(line["status"], line["reason"]) for line in result.lines} == {("failed", "no time was left")}
    assert "20 attacks ran out of queries or time" in str(result)


def test_targeted_skips_examples_of_the_target_class() -> None:
    result = attack(goal="targeted(label='negative')")
    assert result.success == 1 and result.summary["skipped"] == {"already the target": 10}


def test_toxictrap_on_one_label() -> None:
    data = [(text, {"positive": "toxic", "negative": "neither"}[label]) for text, label in DATA]
    model = Recorder(lambda texts: [{"toxic": score(text), "neither": 1 - score(text)} for text in texts])
    result = attack(model, data, recipe="tt-deepwordbug")
    assert result.success == 1 and result.summary["skipped"] == {"not toxic": 10}
    assert result.summary["recipe"]["goal"] == "toxictrap(benign='neither', threshold=0.5)", "what was found is told"


def test_toxictrap_on_label_sets_with_thresholds() -> None:
    data = [(text, ["rude", "spam"] if label == "positive" else []) for text, label in DATA]

    def model(texts: list[str]) -> list[dict[str, float]]:
        return [{"rude": score(text), "spam": 0.2 + score(text) / 2} for text in texts]

    strict = attack(model, data, recipe="tt-deepwordbug", goal="toxictrap(threshold=0.9)", labels=["rude", "spam"])
    loose = attack(
        model, data, recipe="tt-deepwordbug", goal="toxictrap(thresholds={'rude': 0.5})", labels=["rude", "spam"]
    )
    assert strict.success == 0 and loose.success == 1 and loose.summary["success"]["of"] == 10
    assert loose.summary["labels"] == {"rude, spam": {"of": 10, "count": 10}}
    assert loose.summary["clean"]["value"] == 1 and loose.summary["after"]["value"] == 0.5
    won = next(line for line in loose.lines if line["status"] == "succeeded")
    before, after = won["clean"]["scores"], won["adversarial"]["scores"]
    assert set(before) == {"rude", "spam"} and before["rude"] > 0.5 > after["rude"] and after["spam"] < 0.5


def test_goals_that_do_not_fit_a_model_or_a_perturbation() -> None:
    data = [(text, ["rude"] if label == "positive" else []) for text, label in DATA]
    settings = {"recipe": "tt-deepwordbug", "search": "best-of", "labels": ["rude"]}
    with pytest.raises(ValueError, match=r"expected a model that gives scores for toxictrap\(threshold=0.9\), got"):
        attack(
            lambda texts: [["rude"] if score(text) > 0.5 else [] for text in texts],
            data, goal="toxictrap(threshold=0.9)", **settings,
        )  # fmt: skip
    with pytest.raises(ValueError, match="expected the perturbation omit for the goal reduction, got typo"):
        attack(decide, search="best-of", goal="reduction", perturbations=["typo"])


def test_attacks_that_have_nothing_to_try_are_counted() -> None:
    result = attack(constraint=["edit-distance(most=0)"])
    untried = result.summary["queries"]["untried"]
    assert untried == result.summary["success"]["of"] > 0 and {"nothing can change"} == {
        line["reason"] for line in result.lines if line["status"] == "failed"
    }
    assert f"{untried} attacks failed untried: nothing there can change under this recipe" in str(result)


def test_originals_without_an_answer_do_not_pass_a_gate() -> None:
    def model(texts: list[str]) -> list[str]:
        if any("poor" in text.split() for text in texts):
            raise ValueError("too poor")
        return decide(texts)

    result = attack(model, search="best-of", max_errors=1000)
    lost = len(DATA) // 2
    assert result.summary["unanswered"] == lost
    assert f"{lost} examples had no answer even unchanged: nothing is known there" in str(result)
    assert not check_summary(result.summary, {"answered": 0.9})[0].passed
    asked = result.timings[-1]["queries"]
    probes = 3 * len(DATA)  # by which a model is known again; the first of them are the clean texts of the pre-flight
    assert asked <= result.summary["queries"]["total"] + 2 * len(DATA) + probes, (
        "rows of a batch that failed count once"
    )


def test_a_model_that_only_decides() -> None:
    with pytest.raises(ValueError, match=r"expected a model with score access for the search unk, .* --search best-of"):
        attack(decide)
    result = attack(decide, search="best-of")
    assert result.success == 0.5 and result.lines[0]["adversarial"]["answer"] == {"label": "negative"}


def test_a_scikit_learn_pipeline() -> None:
    pipeline = pytest.importorskip("sklearn.pipeline")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    model = pipeline.make_pipeline(CountVectorizer(), LogisticRegression())
    model.fit([text for text, _ in DATA], [label for _, label in DATA])
    assert attack(model).success > 0.4


@pytest.mark.slow
def test_the_embedded_label_sets() -> None:
    result = attack("toy:tone", "toy:tone", recipe="tt-pwws", examples=40)
    assert 0 < result.success < 1 and result.summary["task"] == "multi"
    for line in result.lines:
        if line["status"] == "succeeded":
            assert line["target"] and line["adversarial"]["answer"] == []


@pytest.mark.parametrize("side", ["first", "second"])
def test_pairs(side: str) -> None:
    data = [(text, f"somebody said that the {text.split()[2]} existed", label) for text, label in DATA]
    model = Recorder(lambda first, second: keyword(first))
    result = attack(model, data, side=side)
    assert result.success == (0.5 if side == "first" else 0)
    kept = 1 if side == "first" else 0
    assert {row[kept] for row in model.seen} == {row[kept] for row in data}, "the other text stays as it is"
    assert {row[1 - kept] for row in model.seen} > {row[1 - kept] for row in data}
    if side == "first":
        assert result.adversarial[0][0] in {row[0] for row in data}


def test_tags() -> None:
    words = ["Anna", "saw", "the", "river", "Thames", "near", "Oxford"]
    data = [{"tokens": [*words, f"{n}"], "tags": [*"NOOONON", "O"]} for n in range(6)]
    model = Recorder(
        lambda texts: [["N" if token in ("Anna", "Thames", "Oxford") else "O" for token in text] for text in texts]
    )
    result = attack(model, data, goal="tags(share=0.3)")
    assert result.success == 1 and all(len(text) == 8 for (text,) in model.seen), "every token stays a token"
    assert result.summary["clean"]["value"] == 1 and result.summary["after"]["value"] == pytest.approx(5 / 8)
    assert result.adversarial[0][0] == "Anna saw the river Thames near Oxford 0" and result.summary["labels"] == {}
    assert "tags; of all examples" in str(result)
    with pytest.raises(ValueError, match="expected perturbations that keep each token for tagging data, got segment"):
        attack(model, data, goal="tags", perturbations=["segment"])
    with pytest.raises(
        ValueError, match="expected data with one label or label sets for the goal untargeted, got a tag per token"
    ):
        attack(model, data)
    with pytest.raises(ValueError, match="expected a search without gradients for tagging data, got gradient"):
        attack(model, data, goal="tags", search="gradient")


def test_input_reduction_leaves_the_accuracy_alone() -> None:
    result = attack(recipe="input-reduction")
    assert result.success == 1 and result.summary["after"]["value"] == 1
    assert all(len(after) < len(before) for before, after in result.adversarial)


def test_odd_texts(tmp_path: Path) -> None:
    texts = [
        "", "word", " ", "😀😀 👩‍👩‍👧‍👦 fun 🇩🇪 good", "שלום עולם good מאוד", "مرحبا good بالعالم", "漢字かな good",
        "a\nb\tc\u2028d good", "\x00good\x07", "no\u0301rmal good te\u0301xt", "good", "good good",
    ]  # fmt: skip
    data = [(text, decide([text])[0]) for text in texts]
    for recipe, settings in (
        ("deepwordbug", {"perturbations": ["typo", "homoglyph", "invisible", "segment"]}),
        ("deepwordbug", {"search": "genetic(population=4, generations=2)"}),
        ("input-reduction", {}),
    ):
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        result = attack(data=data, output=folder, recipe=recipe, **settings)
        assert result.summary["status"]["error"] == 0 and result.summary["status"]["succeeded"] >= 6
        assert [line["texts"][0] for line in result.lines] == texts and result.lines[0][
            "reason"
        ] == "nothing can change"
        assert str(result) and (folder / "report.html").is_file()
        write_parquet(str(folder), str(folder / "all.parquet"))


def test_a_long_text(tmp_path: Path) -> None:
    text = "the weather was fine and so was everything else " * 2100 + "good"
    result = attack(data=[(text, "positive"), ("a good one", "positive")], output=tmp_path / "run", max_queries=20)
    assert len(text) > 100_000 and result.lines[0]["queries"] == 20
    assert [line["status"] for line in result.lines] == ["failed", "succeeded"]
    assert (tmp_path / "run" / "report.html").stat().st_size < 100_000


# errors


def test_a_model_that_fails_on_some_texts() -> None:
    def model(texts: list[str]) -> list[dict[str, float]]:
        if any("film" in text or ("station" in text and text not in clean) for text in texts):
            raise RuntimeError("no films\nor stations")
        return keyword(texts)

    clean = {text for text, _ in DATA}
    data = [*DATA[2:], *DATA[:2]]
    result = attack(model, data, max_errors=1000)
    summary = result.summary
    assert summary["status"] == {"skipped": 2, "failed": 9, "succeeded": 9, "error": 0}
    assert summary["skipped"] == {"no answer: error: RuntimeError: no films": 2} and summary["success"]["of"] == 18
    assert summary["queries"]["unanswered"] > 9
    assert summary["clean"]["value"] == 1, "of those that were answered"
    whole = attack(data=data).lines
    for line, fine in zip(result.lines, whole, strict=True):
        if "film" not in line["texts"][0] and "station" not in line["texts"][0]:
            assert line == fine, "an example that fails does not touch others"
    assert "queries had no answer" in str(result) and "ended in an error" in str(result)
    with pytest.raises(TooManyErrors, match="expected at most 3 errors, got 4; the last: RuntimeError: no films"):
        attack(model, data, max_errors=3)


def test_a_model_that_answers_only_where_words_are_hidden() -> None:
    """Answers to texts with hidden words do not count: no text that could be the outcome was answered."""

    def model(texts: list[str]) -> list[dict[str, float]]:
        if not all(text in clean or "[UNK]" in text for text in texts):
            raise RuntimeError("too strange")
        return keyword(texts)

    clean = {text for text, _ in DATA}
    with pytest.raises(
        NoAnswers, match="expected answers to some of 20 attacks, got none: error: RuntimeError: too st"
    ):
        attack(model, max_errors=10_000)


def test_scores_that_are_no_numbers() -> None:
    def model(texts: list[str]) -> list[list[float]]:
        return [[float("nan")] * 2 if "film" in text else [1 - score(text), score(text)] for text in texts]

    data = [*DATA[2:], *DATA[:2]]
    summary = attack(model, data, labels=NAMES, max_errors=100).summary
    assert summary["skipped"] == {"no answer: error: scores that are no numbers": 2}
    assert summary["status"]["succeeded"] == 9
    with pytest.raises(ValueError, match=r"expected answers.*, got error: scores that are no numbers"):
        attack(lambda texts: [[float("nan")] * 2] * len(texts), data, labels=NAMES)


def test_a_perturbation_that_fails_on_one_example(monkeypatch: pytest.MonkeyPatch) -> None:
    before = attack(perturbations=["keyboard"]).lines
    keyboard: Any = type(scuff.parse("keyboard"))
    propose = keyboard.propose

    def broken(self: Any, corpus: Any, *rest: Any, **options: Any) -> Any:
        if any("station was good" in text for text in corpus.strings()):
            raise ZeroDivisionError("in the perturbation")
        return propose(self, corpus, *rest, **options)

    monkeypatch.setattr(keyboard, "propose", broken)
    result = attack(perturbations=["keyboard"])
    assert result.summary["problems"] == {"error: ZeroDivisionError: in the perturbation": 1}
    differ = [new["texts"][0] for old, new in zip(before, result.lines, strict=True) if old != new]
    assert len(differ) == 1 and "station was good" in differ[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"recipe": "toxictrop"}, "expected the name of a recipe, got 'toxictrop'; did you mean toxictrap"),
        ({"recipes": "pwws"}, "expected a setting, got 'recipes'; did you mean recipe?"),
        ({"without": ["speech"]}, "expected the name of a constraint, got 'speech'"),
        ({"perturbations": ["paraphrase"]}, "paraphrase needs a model"),
        ({"predictions": ["answers.jsonl"]}, "expected a model for an attack, got predictions"),
        ({"side": "both"}, "expected first or second for side, got both"),
        ({"goal": "tags(share=2)"}, "tags.share, got 2"),
        (
            {"task": "text", "goal": "targeted(label='positive')"},
            "expected data with one label for the goal targeted, got texts: --goal decrease, or --recipe deepwordbug",
        ),
        ({"valid": -1}, "expected a number in [0, 1] for valid, got -1"),
        ({"max_time": "0"}, "expected a number above 0 for max_time, got 0"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, MissingResource)) as caught:
        attack(**settings)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    near = tmp_path / "near.tsv"
    near.write_text("good\tfine decent\npoor\tbad weak\n")
    meaning = sys.modules["scuff.metrics.meaning"]
    monkeypatch.setattr(meaning, "find_encoder", lambda: None)
    meaning.distance_in_meaning.cache_clear()  # type: ignore[attr-defined]
    with pytest.raises(
        MissingResource, match=r"pip install 'scuff\[meaning\]'; or leave the constraint out: --no-meaning"
    ):
        attack(recipe="textbugger", vectors=str(near), encoder=None)
    result = attack(recipe="textbugger", vectors=str(near), encoder=None, without="meaning")
    assert result.success > 0 and result.summary["similarity"]["measure"] == "chrf"
    assert "chosen otherwise: no meaning" in result.summary["recipe"]["deviations"]
    assert "MiniLM" not in str(result.summary["recipe"]["deviations"]), "a constraint that is left out has no deviation"
    meaning.distance_in_meaning.cache_clear()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lemminflect", None)
    inflection._library.cache_clear()
    with pytest.raises(
        MissingResource, match=r"expected the package lemminflect, got none: pip install 'scuff\[english\]'"
    ):
        attack(perturbations=["inflection"], data=[("unheard of verbs vanish", "negative")])
    inflection._library.cache_clear()


def test_neighbours_have_no_cosines(tmp_path: Path) -> None:
    near = tmp_path / "near.tsv"
    near.write_text("good\tfine decent\npoor\tbad weak\n")
    with pytest.raises(ValueError, match="got lists of neighbours without cosines; or leave the constraint out"):
        attack(recipe="tt-textfooler", goal="untargeted", vectors=str(near))
    result = attack(recipe="tt-textfooler", goal="untargeted", vectors=str(near), without=["word-vectors", "meaning"])
    assert result.adversarial[0][1].split()[4] in ("fine", "decent")


# run folders


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("at", [1, 4, 9, 23])
def test_an_interrupted_run_resumes(at: int, tmp_path: Path) -> None:
    model = Recorder()
    whole = attack(model, output=tmp_path / "whole")
    model.calls, model.breaks_at = 0, at
    with pytest.raises(KeyboardInterrupt):
        attack(model, output=tmp_path / "run")
    done = content(tmp_path / "run", "trials/*") if (tmp_path / "run").exists() else {}
    model.breaks_at = 0
    again = attack(model, output=tmp_path / "run")
    assert (
        content(tmp_path / "run") == content(tmp_path / "whole") and done.items() <= content(tmp_path / "run").items()
    )
    assert again.lines == whole.lines and again.summary == whole.summary


@pytest.mark.slow
def test_neither_blocks_nor_order_nor_workers_change_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"recipe": "deepwordbug", "search": "beam(width=2)", "perturbations": ["2*typo"], "examples": 12}
    whole = attack("toy:sentiment", "toy:sentiment", tmp_path / "whole", **settings)
    monkeypatch.setattr(Toy, "cases_at_once", 150)
    blocks = attack("toy:sentiment", "toy:sentiment", tmp_path / "blocks", **settings)
    workers = attack("toy:sentiment", "toy:sentiment", tmp_path / "workers", workers=2, **settings)
    assert len(list((tmp_path / "blocks" / "trials").iterdir())) == 5
    assert whole.lines == blocks.lines == workers.lines
    one, two = (json.loads((tmp_path / name / "timings.json").read_text())[0] for name in ("blocks", "workers"))
    assert (one["workers"], two["workers"]) == (1, 2) and one["queries"] == two["queries"]
    swapped = attack(data=[*reversed(DATA)]).lines
    plain = attack().lines
    assert {line["texts"][0]: line["queries"] for line in plain} == {
        line["texts"][0]: line["queries"] for line in swapped
    }
    assert {str(line["adversarial"]) for line in plain} == {str(line["adversarial"]) for line in swapped}


def test_resume_by_folder(tmp_path: Path) -> None:
    attack("toy:sentiment", "toy:sentiment", tmp_path / "run", examples=20)
    before = content(tmp_path / "run")
    for name in ("trials/attack-00000.npz", "summary.json", "results.jsonl", "report.html"):
        (tmp_path / "run" / name).unlink()
    with pytest.raises(
        ValueError, match=r"expected a finished run, got 1 of 1 blocks left to do: `scuff attack --resume .*` goes on"
    ):
        scuff.report(tmp_path / "run")
    assert isinstance(scuff.resume(tmp_path / "run"), scuff.AttackResult) and content(tmp_path / "run") == before
    attack(output=tmp_path / "object")
    with pytest.raises(
        ValueError, match="expected a run whose model is known by name, got one given as a Python object"
    ):
        scuff.resume(tmp_path / "object")


def test_another_setting_is_refused(tmp_path: Path) -> None:
    attack(output=tmp_path / "run")
    for settings, what in (
        ({"seed": 1}, "seed"), ({"search": "delete"}, "search"), ({"max_queries": 5}, "max_queries"), ({"valid": 0.1}, "most"),
        ({"without": "stop-words"}, "constraints"), ({"transform": ["typo"]}, "transform"), ({"data": DATA[2:]}, "data"),
    ):  # fmt: skip
        with pytest.raises(
            ValueError, match=f"expected the run that began there, got another {what}: choose another folder"
        ):
            attack(output=tmp_path / "run", **settings)
    with pytest.raises(ValueError, match="got another command"):
        scuff.evaluate(keyword, DATA, tmp_path / "run", dimensions=["keyboard"])


def test_report_needs_neither_model_nor_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    near = tmp_path / "near.tsv"
    near.write_text("good\tfine decent\npoor\tbad weak\n")
    settings = {
        "perturbations": ["embedding"],
        "vectors": str(near),
        "constraint": ["meaning(least=0.1, encoder='chrf')"],
    }
    result = attack(output=tmp_path / "run", **settings)
    before = content(tmp_path / "run")
    for name in ("summary.json", "results.jsonl", "report.html"):
        (tmp_path / "run" / name).unlink()
    near.unlink()
    monkeypatch.setattr("scuff.metrics.meaning.usual_meaning", lambda: "another")
    again = scuff.report(tmp_path / "run")
    assert isinstance(again, scuff.AttackResult) and content(tmp_path / "run") == before
    assert (again.summary, again.lines, str(again), again.paper) == (
        result.summary,
        result.lines,
        str(result),
        result.paper,
    )
    (tmp_path / "run" / "timings.json").unlink()
    assert "time          not known" in str(scuff.report(tmp_path / "run"))


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    attack(output=tmp_path / "run")
    before, part = content(tmp_path / "run"), tmp_path / "run" / "trials" / "attack-00000.npz"
    part.write_bytes(part.read_bytes()[:500])
    with pytest.raises(ValueError, match=r"attack-00000\.npz: expected a part of the trials, got: .*; delete it"):
        scuff.report(tmp_path / "run")
    said: list[str] = []
    attack(output=tmp_path / "run", say=said.append)
    assert content(tmp_path / "run") == before
    assert any(line.startswith("WARNING") and "attack-00000.npz: expected a part" in line for line in said)


def test_a_full_disk_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are written in the background: an error in writing the last one must not be lost."""
    from scuff.runs.folder import Folder

    write = Folder.write_part

    def full(self: Folder, name: str, arrays: Any) -> None:
        if name.startswith("attack"):
            raise OSError(28, "No space left on device")
        write(self, name, arrays)

    monkeypatch.setattr(Folder, "write_part", full)
    with pytest.raises(OSError, match="No space left on device"):
        attack(output=tmp_path / "run")
    monkeypatch.undo()
    attack(output=tmp_path / "run")
    attack(output=tmp_path / "other")
    assert content(tmp_path / "run") == content(tmp_path / "other")
    assert len(json.loads((tmp_path / "run" / "timings.json").read_text())) == 2, "the time of both calls is written"


def test_a_row_for_each_example(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    data = [{"id": f"n{n}", "status": text, "label": label} for n, (text, label) in enumerate(DATA)]
    result = attack(data=data, output=tmp_path / "run", text="status", id="id")
    assert write_parquet(str(tmp_path / "run"), str(tmp_path / "all.parquet")) == len(DATA)
    for row, line in zip(parquet.read_table(tmp_path / "all.parquet").to_pylist(), result.lines, strict=True):
        assert (row["queries"], row["reached"]) == (line["queries"], line["reached"])
        tried = line["adversarial"] or {"texts": [None], "answer": None, "valid": None, "similarity": None}
        assert (row["id"], row["status"], row["queries"]) == (line["id"], line["status"], line["queries"])
        assert (row["text_status"], row["adversarial_text_status"]) == (line["texts"][0], tried["texts"][0])
        assert (row["valid"], row["similarity"], row["target"]) == (tried["valid"], tried["similarity"], line["target"])
        assert row["answer"] == line["clean"]["answer"]["label"]


def test_the_cache_saves_the_second_run(tmp_path: Path) -> None:
    (tmp_path / "my_attacked.py").write_text(
        "def predict(texts):\n    sure = [0.8 if 'good' in text.split() else 0.3 for text in texts]\n"
        "    return [{'positive': score, 'negative': 1 - score} for score in sure]\n"
    )
    name, cache = f"{tmp_path}/my_attacked.py:predict", str(tmp_path / "answers.db")
    for folder in ("one", "two"):
        attack(name, output=tmp_path / folder, cache=cache)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    queries = [json.loads((tmp_path / folder / "timings.json").read_text())[0]["queries"] for folder in ("one", "two")]
    assert queries[0] > 5 * len(DATA) and queries[1] == 3 * len(DATA), "only texts by which a model is known again"


def test_found_is_called_with_each_success() -> None:
    told: list[dict[str, Any]] = []
    result = attack(found=told.append)
    won = {line["id"]: line for line in result.lines if line["status"] == "succeeded"}
    assert len(told) == len(won) == 10
    for success in told:
        line = won[success["id"]]
        assert success["texts"] == line["texts"] and success["edits"] == line["adversarial"]["edits"]
        assert (success["before"], success["after"]) == (line["clean"]["answer"], line["adversarial"]["answer"])
    with pytest.raises(ValueError, match="expected 1 worker where successes are shown as they come, got 2"):
        attack("toy:sentiment", "toy:sentiment", found=told.append, workers=2)


def test_protected_words_stay() -> None:
    assert attack(protect=["word:good"]).success == 0


def test_every_search_runs() -> None:
    found = {}
    for search in ("unk", "delete", "weighted-saliency", "random", "greedy", "beam(width=2)", "genetic", "best-of"):
        found[search] = attack("toy:sentiment", "toy:sentiment", search=search, examples=12, max_queries=400).summary
    assert all(summary["success"]["value"] > 0.2 for summary in found.values())
    queries = {name: summary["queries"]["mean"] for name, summary in found.items()}
    assert queries["beam(width=2)"] > queries["unk"] < queries["weighted-saliency"]


# how many are attacked, and by which recipe


@pytest.mark.slow
def test_so_many_are_attacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The goal applies to about half of the texts: as many are looked at as it takes, the same whatever batches and workers."""
    settings: dict[str, Any] = {"recipe": "tt-deepwordbug", "goal": None, "attacked": 20}
    tone, said = ("toy:tone", "toy:tone"), list[str]()
    whole = attack(*tone, tmp_path / "whole", say=said.append, **settings)
    looked = whole.summary["examples"]
    assert whole.summary["success"]["of"] == 20 < looked < 60
    assert f"attack  20 of {looked} examples looked at: those that the goal applies to" in said
    assert any(f"a sample of {looked} until 20 could be attacked" in line for line in said)
    monkeypatch.setattr("scuff.attacks.setup.LEAST_LOOK", 1)
    monkeypatch.setattr(Toy, "cases_at_once", 192)
    workers = attack(*tone, tmp_path / "workers", workers=2, **settings)
    assert workers.lines == whole.lines
    for name in ("trials/attack-00000.npz", "summary.json", "results.jsonl"):
        (tmp_path / "whole" / name).unlink()
    monkeypatch.undo()
    assert scuff.resume(tmp_path / "whole").summary == whole.summary
    fewer = attack(*tone, **{**settings, "attacked": 5}).lines
    ids = [line["id"] for line in whole.lines if line["status"] != "skipped"]
    assert len(fewer) < looked and {line["id"] for line in fewer if line["status"] != "skipped"} < set(ids)
    other = attack(*tone, seed=1, **settings).lines
    assert {line["id"] for line in other} != {line["id"] for line in whole.lines}
    assert any(line["status"] == "failed" or line["status"] == "succeeded" for line in other)


def test_fewer_than_wanted_are_attacked() -> None:
    said: list[str] = []
    result = attack(
        "toy:tone", "toy:tone", recipe="tt-deepwordbug", goal=None, attacked=30, examples=20, say=said.append
    )
    assert result.summary["examples"] == 20 and result.summary["success"]["of"] < 20
    assert (
        f"attack  {result.summary['success']['of']} of 20 examples looked at in all: those that the goal applies to"
        in said
    )
    with pytest.raises(ValueError, match="expected 1 or more for attacked, got 0"):
        attack(attacked=0)


@pytest.mark.slow
def test_a_dead_model_is_not_looked_for_long() -> None:
    asked = []

    def dead(texts: list[str]) -> list[str]:
        asked.append(len(texts))
        raise RuntimeError("gone")

    with pytest.raises((RuntimeError, ValueError), match="gone"):
        scuff.attack(dead, DATA * 100, "deepwordbug", search="best-of", attacked=5, labels=["negative", "positive"])
    assert sum(asked) < 1000


def test_the_default_recipe_runs_with_what_there_is(tmp_path: Path) -> None:
    near = tmp_path / "near.tsv"
    near.write_text("good\tfine decent\npoor\tbad weak\n")
    said: list[str] = []
    plain = scuff.attack(
        "toy:sentiment", "toy:sentiment", output=tmp_path / "run", examples=4, encoder="chrf", say=said.append
    )
    assert plain.summary["recipe"]["name"] == "deepwordbug"
    (line,) = [line for line in said if line.startswith("recipe  ")]
    assert line.endswith("; the default, because no word vectors are given (--vectors FILE: toxictrap)")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["config"]["recipe"] == "deepwordbug"
    assert scuff.resume(tmp_path / "run").summary == plain.summary
    for at, settings in enumerate(({"vectors": str(near)}, {"perturbations": "typo"}, {"transform": "typo"})):
        settings |= {"goal": "untargeted", "without": ["meaning"], "encoder": "chrf", "examples": 4}
        result = scuff.attack("toy:sentiment", "toy:sentiment", output=tmp_path / f"{at}", **settings)  # type: ignore[arg-type]
        assert result.summary["recipe"]["name"] == "toxictrap"
        assert "recipe" not in json.loads((tmp_path / f"{at}" / "run.json").read_text())["config"], "as it always was"
        assert scuff.resume(tmp_path / f"{at}").summary == result.summary
    with pytest.raises(MissingResource, match="toxictrap needs word vectors: --vectors FILE"):
        scuff.attack("toy:sentiment", "toy:sentiment", "toxictrap")
