"""Put a model and data in, get scores and a run folder: everything that `scuff.evaluate` promises, on small data."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import scuff
from scuff.api import dry_run
from scuff.cli.main import main
from scuff.evaluation.export import write_cases
from scuff.reports.parquet import write_parquet
from scuff.runs.folder import Folder
from scuff.victims.base import Victim
from scuff.victims.identity import probe_text
from scuff.victims.query import TooManyErrors
from scuff.victims.toy import Toy

THINGS = [
    "film",
    "hotel",
    "garden",
    "teacher",
    "kitchen",
    "journey",
    "village",
    "concert",
    "library",
    "station",
    "museum",
    "island",
]
SAYS = {"positive": "was good and everybody there", "negative": "was poor and everybody there"}
DATA = [
    (f"Yesterday the {thing} {says} noticed it before number {n}", label)
    for n, thing in enumerate(THINGS)
    for label, says in SAYS.items()
]
SMALL: dict[str, Any] = {"dimensions": ["keyboard", "truncate"], "degrees": [0.2, 0.5], "cases": 3}
Model = Callable[..., Any]


def keyword(texts: list[str]) -> list[str]:
    return ["positive" if "good" in text.split() else "negative" for text in texts]


def scores(texts: list[str]) -> list[list[float]]:
    """The same with numbers that differ from text to text."""
    return [[0.4 - len(t) / 1e4, 0.6 + len(t) / 1e4] if "good" in t else [0.7, 0.3] for t in texts]


def run(model: Any = keyword, data: Any = DATA, output: Any = None, **settings: Any) -> scuff.Result:
    return scuff.evaluate(model, data, output, **{**SMALL, **settings})


def content(folder: Path, *patterns: str) -> dict[str, bytes]:
    """Everything that must not differ from run to run."""
    found = [path for pattern in patterns or ("**/*",) for path in folder.glob(pattern) if path.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(found) if p.name != "timings.json"}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(folder: Path) -> list[dict[str, Any]]:
    """Every case as a row."""
    write_parquet(str(folder), str(folder.parent / "trials.parquet"))
    rows: list[dict[str, Any]] = pq.read_table(folder.parent / "trials.parquet").to_pylist()
    return rows


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks, as a large run has."""
    for kind in (Victim, Toy):
        monkeypatch.setattr(kind, "cases_at_once", 60)


class Recorder:
    """A model that remembers what it saw, and can be told to break on its n-th call."""

    def __init__(self, model: Model = keyword) -> None:
        self.model, self.seen = model, list[tuple[Any, ...]]()
        self.calls, self.breaks_at, self.error = 0, 0, KeyboardInterrupt()  # type: int, int, BaseException

    def __call__(self, *columns: Any) -> Any:
        self.calls += 1
        if self.calls == self.breaks_at:
            raise self.error
        self.seen += zip(*columns, strict=True)
        return self.model(*columns)

    def seen_beside(self, clean: Iterable[Any]) -> list[Any]:
        """What it saw without the perturbed texts by which a model is known again."""
        originals = list(clean)
        probes = [probe_text(tuple(text) if isinstance(text, list) else text) for text in originals]
        known = [list(text) if isinstance(text, tuple) else text for text in probes]
        return [text for (text,) in self.seen if text not in known or text in originals]


# what comes out


def test_a_plain_callable() -> None:
    result = run()
    summary = result.summary
    assert result.clean == 1 and result.folder is None
    assert 0 < result.worst < result.average < 1
    assert list(summary["dimensions"]) == ["keyboard", "truncate"]
    for dimension in summary["dimensions"].values():
        assert [cell["degree"] for cell in dimension["degrees"]] == [0.2, 0.5]
        for cell in dimension["degrees"]:
            assert cell["cases"] <= 3 * len(DATA) and cell["reached"] <= cell["degree"]
            low, high = cell["average"]["interval"]
            assert 0 <= low <= cell["average"]["value"] <= high <= 1
            assert cell["worst"]["value"] <= cell["average"]["value"]
        worst = [cell["worst"]["value"] for cell in dimension["degrees"]]
        assert all(after <= before for before, after in pairwise(worst)), "the worst case falls with the degree"
    printed = str(result)
    assert "keyboard" in printed and "overall" in printed and "clean" in printed and "few examples (24)" in printed


def test_the_same_call_gives_the_same_numbers_and_another_seed_others() -> None:
    assert run().summary == run().summary != run(seed=1).summary


def test_scores_give_an_area_under_the_curve() -> None:
    summary = run(scores, labels=["negative", "positive"]).summary
    assert summary["clean"]["auc"]["value"] == 1 and "auc" in summary["dimensions"]["keyboard"]["degrees"][0]
    assert "auc" not in run().summary["clean"]


def test_numbers_need_names() -> None:
    with pytest.raises(ValueError, match=r"--labels.*negative, positive"):
        run(scores)


def test_data_in_other_shapes(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    expected = run().summary
    frame = pandas.DataFrame(DATA, columns=["text", "label"])
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_json(tmp_path / "data.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "data.parquet")
    dicts = [{"text": text, "label": label} for text, label in DATA]
    for data in (frame, dicts, *(str(tmp_path / f"data.{suffix}") for suffix in ("csv", "jsonl", "parquet"))):
        found = run(data=data).summary
        assert found["dimensions"] == expected["dimensions"] and found["data"]["digest"] == expected["data"]["digest"]


@pytest.mark.parametrize("side", ["first", "second", "both"])
def test_pairs(side: str) -> None:
    data = [
        (text, f"somebody said that the {thing} existed", label)
        for (text, label), thing in zip(DATA, THINGS * 2, strict=True)
    ]
    model = Recorder(lambda first, second: keyword(first))
    summary = run(model, data, side=side).summary
    firsts, seconds = ({row[at] for row in data} for at in (0, 1))
    changed = {(pair[0] not in firsts, pair[1] not in seconds) for pair in model.seen}
    wanted = {"first": (True, False), "second": (False, True), "both": (True, True)}
    assert changed - {(False, False)} <= {wanted[side], *([(True, False), (False, True)] if side == "both" else [])}
    assert wanted[side] in changed
    assert (summary["overall"]["average"]["value"] == 1) == (side == "second")


def test_a_second_side_needs_a_second_column() -> None:
    with pytest.raises(ValueError, match=r"expected sides among the 1 columns of the data"):
        run(side="second")


def test_tokens(tmp_path: Path) -> None:
    data = [
        {"tokens": ["Anna", "saw", "the", "river", "Thames", "near", "Oxford", f"{n}"], "tags": [*"NOOONON", "O"]}
        for n in range(12)
    ]
    model = Recorder(lambda texts: [["N" if token[:1].isupper() else "O" for token in text] for text in texts])
    result = run(model, data, tmp_path / "run", dimensions=["full-shuffle", "keyboard"])
    assert result.summary["metric"] == "token accuracy" and result.clean == 1 and result.average < 1
    assert all(isinstance(text, list) and len(text) == 8 for (text,) in model.seen), "every token stays a token"
    asked = model.seen_beside(row["tokens"] for row in data)
    assert {row["tokens"] for row in table(tmp_path / "run")} == {json.dumps(text) for text in asked}
    with pytest.raises(ValueError, match="expected perturbations that keep each token for tagging data, got segment"):
        run(model, data, dimensions=["segment"])
    assert "segment" not in run(model, data, dimensions=None, cases=1, degrees=[0.5]).summary["dimensions"]


@pytest.mark.parametrize("none", ["benign", "nothing of that"])
def test_label_sets_with_a_label_for_none(none: str) -> None:
    data = [
        (f"{text} with many words", [*(["rude"] if "film" in text else []), *(["spam"] if "good" in text else [])])
        for text, _ in DATA
    ]

    def model(texts: list[str]) -> list[list[str]]:
        found = [[name for name, word in (("rude", "film"), ("spam", "good")) if word in text] for text in texts]
        return [names or [none] for names in found]

    told = {} if none == "benign" else {"none": none}
    result = run(model, data, labels=["rude", none, "spam"], **told)
    assert result.clean == 1 and 0 < result.average < 1
    assert result.summary["metric"] == "exact match" and result.summary["clean"]["chance"] == 0.125
    with pytest.raises(ValueError, match="expected one of the model's labels for none"):
        run(model, data, labels=["rude", none, "spam"], none="gone")


def test_translation() -> None:
    pytest.importorskip("sacrebleu")
    data = [{"source": text, "target": text.upper()} for text, _ in DATA]
    result = run(lambda texts: [text.upper() for text in texts], data)
    assert result.summary["metric"] == "chrF" and result.clean == pytest.approx(1)
    assert 0.3 < result.worst < result.average < 1


def test_labels_are_lined_up_by_name() -> None:
    data = [(text, {"positive": "POS", "negative": "neg"}[label]) for text, label in DATA]
    result = run(data=data, labels=["negative", "positive"], map={"POS": "positive", "neg": "negative"})
    assert result.clean == 1
    shouting = [(text, label.upper()) for text, label in DATA]
    assert run(data=shouting, labels=["positive", "negative"]).clean == 1, "case and order do not matter"


def test_a_mismatch_stops_with_both_lists() -> None:
    with pytest.raises(
        ValueError, match=r"\(good, bad\).*got negative, positive in the data.*--map DATA=MODEL.*--labels"
    ) as caught:
        run(labels=["good", "bad"])
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="two labels of the data mean the same"):
        run(labels=["x", "y"], map={"positive": "x", "negative": "x"})


def test_the_preflight_tells_and_warns() -> None:
    said: list[str] = []
    run(say=said.append)
    told = "\n".join(said)
    assert "one label: negative, positive" in told and "expected positive, answered positive" in told
    assert "clean   100.0 %" in told and "about 288 queries" in told and "WARNING" not in told
    said.clear()
    run(lambda texts: ["positive"] * len(texts), say=said.append)
    assert any(line.startswith("WARNING the clean score is no better than guessing (50.0 %)") for line in said)


def test_a_dry_run_stops_there(tmp_path: Path) -> None:
    model = Recorder()
    said: list[str] = []
    dry_run(model, DATA, say=said.append, **SMALL)
    assert any(line.startswith("clean ") for line in said)
    asked = model.seen_beside(text for text, _ in DATA)
    assert not list(tmp_path.iterdir()) and set(asked) == {text for text, _ in DATA}, "no cases were asked"
    assert len(model.seen) == 3 * len(DATA), "clean texts twice, and perturbed, to know the model by"


def test_examples_without_a_label_are_skipped_and_counted() -> None:
    data = [*DATA, ("no label here", ""), ("none here", None), (None, "positive"), ("nor here", "-")]
    result = run(data=data)
    assert result.summary["data"]["skipped"] == {"no label": 3, "no text": 1}
    assert result.summary["clean"]["examples"] == len(DATA)
    assert "examples left out: 3 with no label, 1 with no text" in str(result)


def test_a_sample_keeps_the_shares_of_labels(tmp_path: Path) -> None:
    data = [*DATA, *((f"{text} again", label) for text, label in DATA if label == "negative")]
    run(data=data, output=tmp_path / "run", examples=12)
    labels = [line["target"] for line in lines(tmp_path / "run" / "examples.jsonl")]
    assert sorted(labels) == ["negative"] * 8 + ["positive"] * 4


def test_odd_texts(tmp_path: Path) -> None:
    texts = [
        "",
        "word",
        " ",
        "😀😀 👩‍👩‍👧‍👦 fun 🇩🇪",
        "שלום עולם good מאוד",
        "مرحبا بالعالم",
        "漢字かな",
        "a\nb\tc\u2028d",
        "\x00good\x07",
    ]
    data = [(text, keyword([text])[0]) for text in texts]
    model = Recorder()
    result = run(model, data, tmp_path / "run", dimensions=["keyboard", "segment", "visual@edits", "invisible"])
    assert result.clean == 1 and result.summary["problems"] == {}
    assert {row["text"] for row in table(tmp_path / "run")} == set(model.seen_beside(texts))


def test_a_long_text(tmp_path: Path) -> None:
    text = "good " * 20_000
    result = run(
        data=[(text, "positive"), ("short", "negative")],
        output=tmp_path / "run",
        degrees=[0.1],
        cases=1,
        dimensions=["keyboard"],
    )
    assert result.clean == 1 and result.summary["dimensions"]["keyboard"]["degrees"][0]["reached"] > 0.04
    assert (tmp_path / "run" / "report.html").stat().st_size < 100_000


# what goes wrong


def test_a_victim_that_fails_on_some_texts() -> None:
    def model(texts: list[str]) -> list[str]:
        if any("film" in text or "hotel" in text for text in texts):
            raise RuntimeError("no " + ("films" if any("film" in text for text in texts) else "hotels"))
        return keyword(texts)

    expected = run(data=[(text, label) for text, label in DATA if "film" not in text and "hotel" not in text]).summary
    data = [DATA[-1], *DATA[:-1]]
    result = run(model, data, max_errors=1000)
    summary = result.summary
    assert summary["clean"]["error"] == 4 and summary["clean"]["answered"] == len(DATA) - 4 and result.clean == 1
    assert set(summary["problems"]) == {"error: RuntimeError: no films", "error: RuntimeError: no hotels"}
    cells = [cell for dimension in summary["dimensions"].values() for cell in dimension["degrees"]]
    assert all(cell["error"] for cell in cells)
    assert sum(summary["problems"].values()) == 4 + sum(cell["error"] for cell in cells)
    assert f"{sum(cell['error'] for cell in cells)} errors" in str(result)
    assert expected["clean"]["answered"] == summary["clean"]["answered"]


def test_a_victim_that_fails_on_every_case(tmp_path: Path) -> None:
    clean = {text for text, _ in DATA}
    multi = [(text, [label]) for text, label in DATA]

    def model(texts: list[str]) -> list[Any]:
        if not clean.issuperset(texts):
            raise RuntimeError("only clean texts")
        return keyword(texts)

    for data in (DATA, multi):
        folder = tmp_path / str(len(data[0][1]))
        with pytest.raises(
            RuntimeError, match="expected answers to some of 288 cases, got none: error: RuntimeError: only"
        ):
            run(model, data, folder, max_errors=10_000)
        result = scuff.report(folder)
        assert result.clean == 1 and np.isnan(result.average)
        assert str(result) and not any(
            cell["average"]["value"] for cell in result.summary["dimensions"]["keyboard"]["degrees"]
        )


def test_an_attack_that_fails_on_one_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(output=tmp_path / "before")
    keyboard: Any = type(scuff.parse("keyboard"))
    choose = keyboard.choose

    def broken(self: Any, corpus: Any, *rest: Any) -> Any:
        if any("museum was good" in text for text in corpus.strings()):
            raise ZeroDivisionError("in the attack")
        return choose(self, corpus, *rest)

    monkeypatch.setattr(keyboard, "choose", broken)
    summary = run(output=tmp_path / "after").summary
    assert summary["problems"] == {"error: ZeroDivisionError: in the attack": 2}
    assert [cell["error"] for cell in summary["dimensions"]["keyboard"]["degrees"]] == [1, 1]
    assert [cell["error"] for cell in summary["dimensions"]["truncate"]["degrees"]] == [0, 0]
    before, after = (lines(tmp_path / name / "results.jsonl") for name in ("before", "after"))
    differ = [new["texts"][0] for old, new in zip(before, after, strict=True) if old != new]
    assert len(differ) == 1 and "museum was good" in differ[0]
    bad = next(line for line in after if line["texts"] == differ)
    assert bad["dimensions"]["keyboard"]["average"] == [None, None]
    assert bad["dimensions"]["truncate"] == before[after.index(bad)]["dimensions"]["truncate"]


def test_a_victim_that_fails_at_once_is_told_at_once() -> None:
    def model(texts: list[str]) -> list[str]:
        raise OSError("the weights are gone")

    with pytest.raises(ValueError, match="expected answers to two examples, got error: OSError: the weights are gone"):
        run(model)
    with pytest.raises(
        ValueError, match=r"expected the labels of the data .negative, positive., got others, such as 'no idea'"
    ):
        run(lambda texts: ["no idea"] * len(texts))


def test_a_label_that_the_data_does_not_have_is_a_wrong_answer() -> None:
    """Data of one class, such as toxic texts only: a model that flips must not look perfect."""
    data = [(text, label) for text, label in DATA if label == "positive"]
    result = run(data=data)
    assert result.clean == 1 and result.average < 1 and not result.summary["problems"]
    by_name = run(
        lambda texts: [{k: float(k == v) for k in ("positive", "negative")} for v in keyword(texts)], data=data
    )
    assert by_name.average == result.average and by_name.worst == result.worst


@pytest.mark.usefixtures("blocks")
def test_too_many_errors_stop_the_run_and_finished_blocks_stay(tmp_path: Path) -> None:
    folder, good = tmp_path / "run", tmp_path / "good"
    broken, clean = True, {text for text, _ in DATA}

    def model(texts: list[str]) -> list[str]:
        if broken and any("station" in text and text not in clean for text in texts):
            raise RuntimeError("out of luck")
        return keyword(texts)

    with pytest.raises(TooManyErrors, match="expected at most 2 errors, got 3; the last: RuntimeError: out of luck"):
        run(model, output=folder, max_errors=2)
    done = content(folder, "trials/*")
    assert len(done) > 2 and not (folder / "summary.json").exists()
    with pytest.raises(
        ValueError, match=r"expected a finished run, got \d+ of \d+ blocks left to do: `scuff evaluate --resume"
    ):
        scuff.report(folder)
    broken = False
    run(model, output=folder, max_errors=2)
    run(model, output=good, max_errors=2)
    assert content(folder) == content(good) and done.items() <= content(folder).items()


@pytest.mark.usefixtures("blocks")
def test_too_many_errors_of_all_workers_say_what_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fails.py").write_text(
        f"import time\nCLEAN = {[text for text, _ in DATA]!r}\n"
        "def predict(texts):\n    time.sleep(0.05)\n    if not {*texts} <= {*CLEAN}:\n        raise RuntimeError('no noise')\n"
        "    return ['positive' for text in texts]\n"
    )
    # as a rule both together: one alone would have to do as much before the other begins
    with pytest.raises(TooManyErrors, match=r"got \d+( in all workers; one of)?(;)? the last: RuntimeError: no noise"):
        run("fails.py:predict", workers=2, max_errors=20)


def test_a_share_of_errors() -> None:
    def model(texts: list[str]) -> list[str]:
        if any("film" in text for text in texts):
            raise RuntimeError("no films")
        return keyword(texts)

    data = [*DATA[2:], *DATA[:2]]
    run(model, data, max_errors="20%")
    with pytest.raises(TooManyErrors, match=r"expected at most 3 errors"):
        run(model, data, max_errors="1%")
    for wrong in ("many", "-1", "150%"):
        with pytest.raises(ValueError, match="expected a number or a share such as 5% for max_errors"):
            run(model, data, max_errors=wrong)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dimension": ["keyboard"]}, "expected a setting, got 'dimension'; did you mean dimensions?"),
        ({"dimensions": ["keybord"]}, "expected the name of a perturbation, got 'keybord'; did you mean keyboard"),
        ({"dimensions": ["keyboard", "keyboard"]}, "expected each dimension once, and at least one, got keyboard, keyboard"),
        ({"degrees": [0, 0.5]}, "expected degrees in (0, 1], got 0.0, 0.5"),
        ({"degrees": ["low"]}, "expected a number for degrees, got 'low'"),
        ({"cases": 0}, "expected 1 or more cases, got 0"),
        ({"cases": 2.5}, "expected a whole number for cases, got 2.5"),
        ({"examples": 0}, "expected 1 or more for examples, got 0"),
        ({"workers": 0}, "expected 1 or more for workers, got 0"),
        ({"width": 2}, "expected a number in (0, 1) for width, got 2"),
        ({"width": "narrow"}, "expected a number for width, got 'narrow'"),
        ({"beta": 1}, "expected a number in [0, 1) for beta, got 1"),
        ({"protocol": "glue"}, "expected robtest or zeroe for protocol, got 'glue'"),
        ({"side": "third"}, "expected first or second or both for side, got 'third'"),
        ({"task": "regression"}, "expected single, multi, tokens, text for --task, got 'regression'"),
        ({"map": ["a=b"]}, "expected names and values for map, got ['a=b']"),
        ({"protect": ["url"]}, "to protect, got 'url'"),
        ({"max_queries": 20}, "expected a max_queries of at least 120 for one case of 24 examples in each of 4 cells"),
    ],
)  # fmt: skip
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        run(**settings)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "expected"), (["a text"], "a list of dicts or of tuples (text, label), got a list of str"), (5, "got int"),
        ([("a", "b", "c", "d")], "got a list of tuple"), ([{"phrase": "a", "label": "b"}], "expected --text NAME"),
        ([{"text": "a"}], "expected a column of labels"), ([("a", None)], "expected labelled examples, got {'no label': 1}"),
        ([("a \ud800", "x"), ("b", "y")], "expected Unicode text"),
    ],
)  # fmt: skip
def test_wrong_data(data: Any, message: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        run(data=data)
    assert message in str(caught.value) and "\n" not in str(caught.value)


# run folders


def test_a_run_folder_has_everything(tmp_path: Path) -> None:
    model = Recorder()
    result = run(model, output=tmp_path / "run")
    assert result.folder == str(tmp_path / "run")
    names = set(content(tmp_path / "run"))
    assert names == {
        "run.json", "examples.jsonl", "results.jsonl", "summary.json", "report.html", "trials/clean-00000.npz",
        "trials/round0-00000.npz", "lock",
    }  # fmt: skip
    stored = lines(tmp_path / "run" / "examples.jsonl")
    assert [(line["texts"][0], line["target"]) for line in stored] == DATA and len(
        {line["id"] for line in stored}
    ) == len(DATA)
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == result.summary
    results = lines(tmp_path / "run" / "results.jsonl")
    assert [line["texts"] for line in results] == [line["texts"] for line in stored]
    for line in results:
        for dimension in line["dimensions"].values():
            case = dimension["broken_by"]
            if case:
                assert keyword(case["texts"]) == [case["answer"]["label"]] != [line["target"]]
            assert (case is None) == (dimension["worst"][-1] == 1)
    timings = json.loads((tmp_path / "run" / "timings.json").read_text())
    assert len(timings) == 1 and timings[0]["seconds"] >= timings[0]["victim_seconds"]
    assert timings[0]["queries"] == len(model.seen)
    assert "seconds" not in (tmp_path / "run" / "summary.json").read_text()


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("call", [4, 6, 8])
def test_a_resumed_run_is_the_same_to_the_byte(call: int, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    settings = {"labels": ["negative", "positive"], "width": 0.05, "cases": 12}
    run(Recorder(scores), output=whole, **settings)
    model = Recorder(scores)
    model.breaks_at = call
    with pytest.raises(KeyboardInterrupt):
        run(model, output=broken, **settings)
    half = content(broken, "trials/*")
    assert len(half) < len(content(whole, "trials/*")) and not (broken / "summary.json").exists()
    said: list[str] = []
    again = Recorder(scores)
    run(again, output=broken, say=said.append, **settings)
    assert content(broken) == content(whole)
    assert any("resumed" in line for line in said) == bool(half)
    if half:
        untouched = Recorder(scores)
        run(untouched, output=tmp_path / "third", **settings)
        assert len(again.seen) < len(untouched.seen), "what was done before was not asked again"
    assert len(json.loads((broken / "timings.json").read_text())) == 2, "of the part before the interruption, too"
    assert not list(broken.rglob("*.part"))


def test_the_same_call_on_a_finished_folder(tmp_path: Path) -> None:
    run(output=tmp_path / "run")
    before = content(tmp_path / "run")
    (tmp_path / "run" / "report.html").unlink()
    (tmp_path / "run" / "summary.json").write_text("{}")
    run(output=tmp_path / "run")
    assert content(tmp_path / "run") == before
    assert len(json.loads((tmp_path / "run" / "timings.json").read_text())) == 1, "nothing was left to do"


def test_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(output=folder)
    before = content(folder)

    def other(texts: list[str]) -> list[str]:
        return ["negative" if "poor" in text.split() else "positive" for text in texts]

    differ: dict[str, dict[str, Any]] = {
        "seed": {"seed": 7}, "model": {"model": other}, "data": {"data": DATA[1:]}, "cases": {"cases": 4},
        "degrees": {"degrees": [0.2]}, "dimensions": {"dimensions": ["keyboard"]}, "protect": {"protect": ["urls"]},
        "beta": {"beta": 0.4}, "labels, model": {"labels": ["positive", "negative"]}, "width": {"width": 0.1},
        "cases, seed": {"seed": 1, "cases": 2},
    }  # fmt: skip
    for name, settings in differ.items():
        with pytest.raises(
            ValueError, match=rf"expected the run that began there, got another {name}: choose another folder"
        ):
            run(output=folder, **settings)
    assert content(folder) == before


def test_a_model_that_answers_otherwise_under_the_same_name_is_noticed(tmp_path: Path) -> None:
    def made(word: str) -> Model:
        return lambda texts: ["positive" if word in text else "negative" for text in texts]

    run(made("good"), output=tmp_path / "run")
    with pytest.raises(ValueError, match="got another model: choose another folder"):
        run(made("poor"), output=tmp_path / "run")


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(ValueError, match="expected a new folder or a run of Scuff, got something else"):
        run(output=tmp_path)
    with pytest.raises(ValueError, match="expected a new folder or a run of Scuff, got something else"):
        run(output=tmp_path / "thesis.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_resume_by_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"examples": 30, **SMALL}
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", **settings)
    whole = content(tmp_path / "run")
    for name in ("trials/round0-00000.npz", "summary.json", "results.jsonl", "report.html"):
        (tmp_path / "run" / name).unlink()
    scuff.resume(tmp_path / "run")
    assert content(tmp_path / "run") == whole
    run(output=tmp_path / "object")
    with pytest.raises(
        ValueError, match="expected a run whose model is known by name, got one given as a Python object"
    ):
        scuff.resume(tmp_path / "object")
    with pytest.raises(ValueError, match=r"expected a run folder with run\.json, got none"):
        scuff.resume(tmp_path / "nothing")


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    run(output=tmp_path / "run")
    before = content(tmp_path / "run")
    part = tmp_path / "run" / "trials" / "round0-00000.npz"
    part.write_bytes(part.read_bytes()[:1000])
    with pytest.raises(
        ValueError, match=r"round0-00000\.npz: expected a part of the trials, got: .*; delete it to have it made again"
    ):
        scuff.report(tmp_path / "run")
    said: list[str] = []
    run(output=tmp_path / "run", say=said.append)
    assert content(tmp_path / "run") == before
    told = [line for line in said if line.startswith("WARNING")]
    assert len(told) == 1 and "round0-00000.npz: expected a part of the trials, got: damaged bytes" in told[0]
    assert told[0].endswith(": its block is done again")


def test_report_computes_everything_again(tmp_path: Path) -> None:
    result = run(scores, output=tmp_path / "run", labels=["negative", "positive"])
    before = content(tmp_path / "run")
    for name in ("summary.json", "results.jsonl", "report.html"):
        (tmp_path / "run" / name).unlink()
    again = scuff.report(tmp_path / "run")
    assert content(tmp_path / "run") == before
    assert again.summary == result.summary and str(again) == str(result)


@pytest.mark.usefixtures("blocks")
def test_every_case_is_a_row_of_the_table(tmp_path: Path) -> None:
    model = Recorder(scores)
    result = run(model, output=tmp_path / "run", labels=["negative", "positive"])
    rows = table(tmp_path / "run")
    cells = [(name, cell) for name, dimension in result.summary["dimensions"].items() for cell in dimension["degrees"]]
    for name, cell in cells:
        here = [row for row in rows if row["dimension"] == name and row["degree"] == cell["degree"]]
        assert len(here) == cell["cases"] and np.mean([row["reached"] for row in here]) == pytest.approx(
            cell["reached"], abs=1e-6
        )
    clean = [row for row in rows if row["dimension"] == "clean"]
    assert len(clean) == len(DATA) and len(rows) == len(DATA) + sum(cell["cases"] for _, cell in cells)
    assert {row["text"] for row in rows} == set(model.seen_beside(text for text, _ in DATA))
    target = {line["id"]: line["target"] for line in lines(tmp_path / "run" / "examples.jsonl")}
    for row in rows:
        said = ["negative", "positive"][int(np.argmax(scores([row["text"]])[0]))]
        assert row["answer"] == said and row["score"] == (said == target[row["id"]]) and row["problem"] == ""


def test_a_row_without_an_answer_has_none(tmp_path: Path) -> None:
    clean = {text for text, _ in DATA}

    def model(texts: list[str]) -> list[Any]:
        return [keyword([text])[0] if text in clean else None for text in texts]

    with pytest.raises(RuntimeError, match="got none: unparsed: null"):
        run(model, output=tmp_path / "run")
    changed = [row for row in table(tmp_path / "run") if row["text"] not in clean]
    assert changed and all(row["answer"] is None and row["score"] is None for row in changed)
    assert {row["problem"] for row in changed} == {"unparsed: null"}


def test_a_text_column_that_is_called_as_one_of_ours(tmp_path: Path) -> None:
    run(data=[{"answer": text, "label": label} for text, label in DATA], output=tmp_path / "run", text="answer")
    rows = table(tmp_path / "run")
    assert [row["text_answer"] for row in rows[: len(DATA)]] == [text for text, _ in DATA]
    assert {row["answer"] for row in rows} == {"positive", "negative"}


# how it is done changes nothing

FILE_MODEL = """
import scores_beside

def predict(texts):
    return [scores_beside.score(text) for text in texts]
"""


def models(folder: Path) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    (folder / "worker_model.py").write_text(FILE_MODEL)
    (folder / "scores_beside.py").write_text(
        "def score(text):\n    return [1 - 0.9 * ('good' in text), 0.9 * ('good' in text)]\n"
    )
    yield "file", f"{folder}/worker_model.py:predict", {"data": DATA, "labels": ["negative", "positive"]}
    yield "toy", "toy:sentiment", {"data": "toy:sentiment", "examples": 24}
    yield "memory", keyword, {"data": DATA}


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("kind", ["file", "toy", "memory"])
def test_workers_change_nothing(kind: str, tmp_path: Path) -> None:
    model, settings = next((m, s) for name, m, s in models(tmp_path) if name == kind)
    one, two = tmp_path / "one", tmp_path / "two"
    run(model, output=one, **settings)
    run(model, output=two, workers=2, **settings)
    assert content(one) == content(two) and len(content(one, "trials/*")) > 3
    timings = [json.loads((folder / "timings.json").read_text())[0] for folder in (one, two)]
    assert timings[1]["workers"] == 2 and timings[0]["queries"] == timings[1]["queries"]


@pytest.mark.slow
@pytest.mark.usefixtures("blocks")
def test_neither_workers_nor_batches_change_a_run_of_a_transformer(tmp_path: Path) -> None:
    """One worker with two threads and large batches, two workers with one thread and small ones: the same bytes."""
    hf, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    from victims.small import TINY, save_tokenizer

    torch.manual_seed(3)
    names = {0: "negative", 1: "positive"}
    model = hf.BertForSequenceClassification(
        hf.BertConfig(vocab_size=save_tokenizer(tmp_path / "model"), id2label=names, **TINY)
    )
    model.save_pretrained(tmp_path / "model")
    one, two = tmp_path / "one", tmp_path / "two"
    settings = {"access": ["rule", "score"], "dimensions": ["keyboard"], "degrees": [0.3], "cases": 2}
    run(str(tmp_path / "model"), output=one, options={"batch_tokens": 2048}, **settings)
    run(str(tmp_path / "model"), output=two, options={"batch_tokens": 90}, workers=2, **settings)
    for pattern in (
        "trials/*",
        "results.jsonl",
        "summary.json",
    ):  # the report names the size of batches that was chosen
        assert content(one, pattern) == content(two, pattern) != {}, pattern
    scores = np.concatenate([part["scores"] for part in map(Folder(one).read_part, Folder(one).parts())])
    assert len(np.unique(scores)) > 50


def test_an_adaptive_run_asks_less_and_its_cases_are_the_first_of_the_full_run(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    full, adaptive = tmp_path / "a" / "run", tmp_path / "b" / "run"
    settings = {"cases": 16, "degrees": [0.1, 0.6]}
    run(output=full, **settings)
    summary = run(output=adaptive, width=0.1, **settings).summary
    queries = summary["queries"]
    assert queries["saved"] > 0 and queries["cases"] + queries["saved"] <= queries["planned"]
    assert "queries saved" in str(scuff.Result(summary, None))

    def cases(folder: Path) -> dict[tuple[str, str, float], list[tuple[int, str]]]:
        found: dict[tuple[str, str, float], list[tuple[int, str]]] = {}
        for row in table(folder):
            found.setdefault((row["id"], row["dimension"], row["degree"]), []).append((row["draw"], row["text"]))
        return {key: sorted(value) for key, value in found.items()}

    all_cases, fewer = cases(full), cases(adaptive)
    assert all_cases.keys() == fewer.keys()
    assert all(all_cases[key][: len(few)] == few for key, few in fewer.items())
    sizes = {len(few) for key, few in fewer.items() if key[1] != "clean"}
    assert 4 in sizes and max(sizes) > 4, "some cells stayed at the first round, some went on"


def test_a_budget_lowers_the_cases() -> None:
    model = Recorder()
    summary = run(model, max_queries=250).summary
    cells = [cell for dimension in summary["dimensions"].values() for cell in dimension["degrees"]]
    assert max(cell["cases_each"] for cell in cells) == 2
    assert summary["clean"]["examples"] + summary["queries"]["cases"] <= 250
    assert len(set(model.seen)) <= 250


def test_the_cache_saves_the_second_run(tmp_path: Path) -> None:
    (tmp_path / "my_cached.py").write_text(
        "CALLS = []\ndef predict(texts):\n    CALLS.extend(texts)\n"
        "    return ['positive' if 'good' in t.split() else 'negative' for t in texts]\n"
    )
    settings = {"cache": str(tmp_path / "answers.db")}
    name = f"{tmp_path}/my_cached.py:predict"
    first = run(name, output=tmp_path / "one", **settings)
    second = run(name, output=tmp_path / "two", **settings)
    assert content(tmp_path / "one", "trials/*", "summary.json") == content(
        tmp_path / "two", "trials/*", "summary.json"
    )
    assert first.summary == second.summary
    queries = [json.loads((tmp_path / folder / "timings.json").read_text())[0]["queries"] for folder in ("one", "two")]
    assert queries[0] > 4 * len(DATA) and queries[1] == 3 * len(DATA), "only texts by which a model is known again"


def test_protocol_zeroe() -> None:
    summary = run(protocol="zeroe", dimensions=None, degrees=None, cases=None).summary
    assert set(summary["dimensions"]) >= {
        f"{name}@level" for name in ("keyboard", "intrude", "segment", "visual", "phonetic")
    }
    assert len(summary["dimensions"]) in (9, 10)
    for dimension in summary["dimensions"].values():
        assert [cell["degree"] for cell in dimension["degrees"]] == [0.2, 0.5, 0.8]
        assert all(cell["cases"] == len(DATA) for cell in dimension["degrees"])
    left = [entry["left"] for entry in summary["harm"]]
    assert left == sorted(left)


def test_protected_words_stay() -> None:
    assert run(protect=["word:good", "word:poor"], dimensions=["keyboard", "full-shuffle"]).worst == 1


def test_assert_robust() -> None:
    result = scuff.assert_robust(keyword, DATA, min={"clean": 1, "keyboard": 0.1}, max_drop=0.9, **SMALL)
    assert result.clean == 1
    with pytest.raises(AssertionError) as caught:
        scuff.assert_robust(keyword, DATA, min={"clean": 1, "keyboard": 0.99}, max_drop=0.01, **SMALL)
    message = str(caught.value)
    assert message.startswith("the model is less robust than asked:\nFAIL keyboard: ") and str(result) in message
    assert "ok  " not in message and message.count("FAIL") == 3
    with pytest.raises(ValueError, match="expected the name of a score, got 'keybaord'; there are keyboard"):
        scuff.assert_robust(keyword, DATA, min={"keybaord": 0.9}, **SMALL)
    with pytest.raises(ValueError, match="expected something to check"):
        scuff.assert_robust(keyword, DATA, **SMALL)


# without a model


def test_cases_can_be_asked_elsewhere(tmp_path: Path) -> None:
    direct = run(scores, labels=["negative", "positive"]).summary
    cases = tmp_path / "cases.jsonl"
    count = write_cases(DATA, str(cases), **SMALL)
    asked = lines(cases)
    assert len(asked) == count == len({line["text"] for line in asked})
    assert [line["text"] for line in asked[: len(DATA)]] == [text for text, _ in DATA], "clean texts come first"
    for line, answer in zip(asked, scores([line["text"] for line in asked]), strict=True):
        line["prediction"] = answer
    cases.write_text("".join(json.dumps(line) + "\n" for line in asked))
    found = run(None, predictions=str(cases), labels=["negative", "positive"]).summary
    for part in ("clean", "overall", "dimensions", "harm", "problems"):
        assert found[part] == direct[part]
    labels = keyword([line["text"] for line in asked])
    with (tmp_path / "cases.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerows(
            [("text", "answer"), *((line["text"], label) for line, label in zip(asked, labels, strict=True))]
        )
    assert run(None, predictions=str(tmp_path / "cases.csv")).summary["dimensions"] == run().summary["dimensions"]
    with pytest.raises(ValueError, match="--labels"):
        run(None, predictions=str(cases))


def test_answers_that_are_missing(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    write_cases(DATA, str(cases), **SMALL)
    asked = lines(cases)
    clean = {text for text, _ in DATA}
    kept = [line for n, line in enumerate(asked) if line["text"] in clean or n % 3]
    for line in kept[:-1]:
        line["prediction"] = keyword([line["text"]])[0]
    cases.write_text("".join(json.dumps(line) + "\n" for line in kept))
    result = run(None, predictions=str(cases), output=tmp_path / "run")
    cells = [cell for dimension in result.summary["dimensions"].values() for cell in dimension["degrees"]]
    lost = sum(cell["unanswered"] for cell in cells)
    assert lost >= len(asked) - len(kept) + 1 and result.summary["problems"] == {"unanswered": lost}
    assert f"{lost} unanswered" in str(result) and sum(cell["error"] for cell in cells) == 0
    whole = content(tmp_path / "run")
    (tmp_path / "run" / "trials" / "round0-00000.npz").unlink()
    with pytest.raises(ValueError, match="whose data is known by name"):
        scuff.resume(tmp_path / "run")
    run(None, predictions=str(cases), output=tmp_path / "run")
    assert content(tmp_path / "run") == whole


def test_a_run_of_predictions_can_be_resumed(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in DATA))
    cases = tmp_path / "cases.jsonl"
    write_cases(str(tmp_path / "data.csv"), str(cases), **SMALL)
    asked = [{**line, "prediction": keyword([line["text"]])[0]} for line in lines(cases)]
    cases.write_text("".join(json.dumps(line) + "\n" for line in asked))
    run(None, str(tmp_path / "data.csv"), tmp_path / "run", predictions=str(cases))
    whole = content(tmp_path / "run")
    (tmp_path / "run" / "trials" / "round0-00000.npz").unlink()
    scuff.resume(tmp_path / "run")
    assert content(tmp_path / "run") == whole


def test_texts_of_scuff_perturb_are_cases(tmp_path: Path) -> None:
    """What `scuff perturb --select below` writes is what an evaluation asks, so answers to it are found."""
    clean, noisy = tmp_path / "clean.csv", tmp_path / "noisy.csv"
    clean.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in DATA))
    draws = 3 * 4  # an example whose versions came out alike is drawn again, up to three times as often
    options = ["-a", "keyboard", "-l", "0.2", "--select", "below", "--draws", str(draws), "--seed", "5"]
    assert main(["perturb", str(clean), *options, "-o", str(noisy), "-q"]) == 0
    for path in (clean, noisy):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        with path.with_suffix(".jsonl").open("w") as out:
            for row in rows:
                out.write(json.dumps({"text": row["text"], "prediction": keyword([row["text"]])[0]}) + "\n")
    settings = {"dimensions": ["keyboard"], "degrees": [0.2], "cases": 4, "seed": 5}
    predictions = [str(path.with_suffix(".jsonl")) for path in (clean, noisy)]
    found = run(None, str(clean), predictions=predictions, **settings).summary
    assert found["problems"] == {} and found["queries"]["cases"] == 4 * len(DATA)
    assert found["dimensions"] == run(data=str(clean), **settings).summary["dimensions"]
    with pytest.raises(RuntimeError, match="expected answers to some of 96 cases, got none: unanswered"):
        run(None, str(clean), predictions=predictions, **{**settings, "seed": 6})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"text": "a"}\n', "expected one column of answers (prediction, "),
        (
            '{"sentence": "a", "prediction": "positive"}\n',
            "expected the text column 'text', as in the data, got sentence",
        ),
        ('{"text": "a", "prediction": null}\n', "expected answers, got none"),
        ("", "expected examples, got none"),
    ],
)
def test_bad_predictions(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text(content)
    with pytest.raises(ValueError, match="expected") as caught:
        run(None, predictions=str(tmp_path / "answers.jsonl"))
    assert message in str(caught.value) and "answers.jsonl" in str(caught.value)


def test_a_copied_folder_is_a_run(tmp_path: Path) -> None:
    """Nothing in a folder depends on where it stands."""
    run(output=tmp_path / "run")
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    scuff.report(tmp_path / "copy")
    assert content(tmp_path / "copy") == content(tmp_path / "run")


@pytest.mark.usefixtures("blocks")
def test_a_block_without_an_answer_is_exported_beside_those_with_scores(tmp_path: Path) -> None:
    clean = {text for text, _ in DATA}
    last = {text for text, _ in DATA[-8:]}

    def model(texts: list[str]) -> list[list[float]]:
        if any(text not in clean and any(text[-12:] == other[-12:] for other in last) for text in texts):
            raise RuntimeError("not these")
        return scores(texts)

    run(model, output=tmp_path / "run", labels=["negative", "positive"], max_errors="100%", protect=["re:.{12}$"])
    rows = table(tmp_path / "run")
    assert {row["scores"] is None or np.isnan(row["scores"]).all() for row in rows if row["problem"]} == {True}
    assert all(len(row["scores"]) == 2 for row in rows if not row["problem"])
    assert {row["target"] for row in rows} == {"negative", "positive"}
