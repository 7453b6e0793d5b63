"""A model that changed is never mixed with what it answered before: by function, object, file, endpoint, in folder and cache."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import scuff
from scuff.cli.main import main
from scuff.runs.folder import BadRun
from scuff.victims.contents import contents
from scuff.victims.identity import probe_text
from scuff.victims.open import open_victim
from victims.scripted import serving

THINGS = ["film", "garden", "kitchen", "museum", "island", "journey", "teacher", "station", "river", "market"]
DATA = [
    (f"Yesterday the {thing} was {word} and everybody there noticed it before number {n}", label)
    for n, thing in enumerate(THINGS * 2)
    for word, label in (("good", "positive"), ("poor", "negative"))
]
FEW: dict[str, Any] = {"dimensions": ["keyboard"], "degrees": [0.4], "cases": 2}
SMALL = ["--dimensions", "keyboard", "--degrees", "0.4", "--cases", "2"]
ATTACK = ["--recipe", "deepwordbug", "--max-queries", "20", "--encoder", "chrf"]
PREDICT = "import joblib\nmodel = joblib.load({path!r})\ndef predict(texts):\n    return model.predict_proba(texts)\n"
LABELS = ["--labels", "negative", "positive"]


def trained(strength: float) -> Any:
    """A pipeline; with less strength it gives the same labels to clean texts, and other scores."""
    texts, labels = zip(*DATA, strict=True)
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    return model.fit(texts, labels, logisticregression__sample_weight=np.full(len(DATA), strength))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with clf.py, which loads model.joblib, and data."""
    monkeypatch.chdir(tmp_path)
    joblib.dump(trained(1.0), "model.joblib")
    Path("clf.py").write_text(PREDICT.format(path="model.joblib"))
    Path("data.jsonl").write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in DATA))
    return tmp_path


def retrain(strength: float = 0.001) -> None:
    """Replaces the model. The next process loads it: modules of this one are forgotten."""
    joblib.dump(trained(strength), "model.joblib")
    Path("clf.py").touch()  # imported again, as a new process would


def table(folder: str | Path) -> dict[str, Any]:
    return dict(json.loads(Path(folder, "summary.json").read_text()))


COMMANDS = {
    "evaluate": ["evaluate", "clf.py:predict", "data.jsonl", *LABELS, *SMALL],
    "attack": ["attack", "clf.py:predict", "data.jsonl", *LABELS, *ATTACK],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_retrained_model_gives_a_new_table(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The worst find: the same command, after `model.joblib` was trained again, showed the table of the old model."""
    assert main(COMMANDS[command]) == 0
    assert main(COMMANDS[command]) == 0
    err = capsys.readouterr().err
    assert re.search(
        r"WARNING nothing was asked: all answers are from runs/\S+, of \d{4}-\d\d-\d\d \d\d:\d\d; --fresh", err
    )
    (old,) = Path("runs").iterdir()
    retrain()
    assert main(COMMANDS[command]) == 0
    assert "nothing was asked" not in capsys.readouterr().err
    (new,) = set(Path("runs").iterdir()) - {old}
    assert main([*COMMANDS[command], "-o", "truth"]) == 0
    assert table(new) == table("truth") != table(old)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_retrained_model_is_refused_in_the_old_folder(
    command: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COMMANDS[command], "-o", "run"]) == 0
    (block,) = (path for path in Path("run", "trials").iterdir() if "clean" not in path.name)
    block.unlink()  # the rest was answered by the old model
    retrain()
    before = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    capsys.readouterr()
    for again in ([*COMMANDS[command], "-o", "run"], [command, "--resume", "run"]):
        assert main(again) == 2
        line = capsys.readouterr().err.strip().splitlines()[-1]
        assert (
            "run: expected the run that began there, got another model: choose another folder, or start anew with --fresh"
            in line
        )
        assert re.search(r"\(it holds another model\.steps\.\S+", line)
    assert {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()} == before
    assert main([*COMMANDS[command], "-o", "run", "--fresh"]) == 0
    assert "fresh   the run that was in run is now in run-old" in capsys.readouterr().err
    assert {path: Path("run-old", path.relative_to("run")).read_bytes() for path in before} == before, "nothing is lost"
    assert main([*COMMANDS[command], "-o", "truth"]) == 0 and table("run") == table("truth")
    assert main([*COMMANDS[command], "-o", "run", "--fresh", "-q"]) == 0 and Path("run-old2").is_dir()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cache_knows_which_model_answered(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cached = [*COMMANDS[command], "--cache", "answers.db", "-o"]
    assert main([*cached, "one"]) == 0 and main([*cached, "two"]) == 0
    assert "WARNING nothing was asked: all answers are from answers.db, the oldest of 2" in capsys.readouterr().err
    assert main([*cached, "three", "--fresh"]) == 0
    assert "nothing was asked" not in capsys.readouterr().err, "fresh ones are asked, and replace the old"
    asked = json.loads(Path("three", "timings.json").read_text())[0]["queries"]
    assert asked == json.loads(Path("one", "timings.json").read_text())[0]["queries"]
    retrain()
    assert main([*cached, "four"]) == 0 and main([*COMMANDS[command], "-o", "truth"]) == 0
    assert table("four") == table("truth") != table("one") == table("two") == table("three")


@pytest.mark.parametrize(
    "source",
    [
        "import joblib\ndef predict(texts):\n    return joblib.load('model.joblib').predict_proba(texts)\n",
        "import subprocess, sys, json\ndef predict(texts):\n"
        "    done = subprocess.run([sys.executable, 'script.py'], input=json.dumps(texts), capture_output=True, text=True)\n"
        "    return json.loads(done.stdout)\n",
    ],
    ids=["loads at every call", "pipes to a script"],
)
def test_a_model_that_holds_nothing_is_known_by_its_scores(source: str, here: Path) -> None:
    Path("clf.py").write_text(source)
    Path("script.py").write_text(
        "import json, sys\nweight = float(open('weight.txt').read())\n"
        "print(json.dumps([[1 - (p := weight if 'good' in t else 0.1), p] for t in json.load(sys.stdin)]))\n"
    )
    Path("weight.txt").write_text("0.9")
    few = {**FEW, "labels": ["negative", "positive"]}
    scuff.evaluate("clf.py:predict", "data.jsonl", "run", **few)
    scuff.evaluate("clf.py:predict", "data.jsonl", "run", **few)
    Path("weight.txt").write_text("0.91")
    joblib.dump(trained(0.9), "model.joblib")
    with pytest.raises(BadRun, match=r"got another model: .* --fresh \(it answers \d+ of 80 texts otherwise\)$"):
        scuff.evaluate("clf.py:predict", "data.jsonl", "run", **few)


class Counting:
    """A model with state: word weights, beside counters and caches that change whenever it is asked."""

    def __init__(self, weight: float = 1.0) -> None:
        self.weights = {"good": weight, "poor": -1.0}
        self.calls, self.known = 0, dict[str, float]()

    def __call__(self, texts: list[str]) -> list[str]:
        self.calls += 1
        for text in texts:
            self.known[text] = sum(self.weights.get(word, 0) for word in text.split())
        return ["positive" if self.known[text] > 0 else "negative" for text in texts]


def test_objects_are_known_by_what_they_hold_and_not_by_counters(tmp_path: Path) -> None:
    """Its labels say nothing of the weights: all are the same."""
    model = Counting()
    first = scuff.evaluate(model, DATA, tmp_path / "run", **FEW)
    assert scuff.evaluate(model, DATA, tmp_path / "run", **FEW).summary == first.summary, "asked before"
    assert scuff.evaluate(Counting(), DATA, tmp_path / "run", **FEW).summary == first.summary, "another of the same"
    with pytest.raises(BadRun, match=r"got another model: .*\(it holds another weights\)$"):
        scuff.evaluate(Counting(2.0), DATA, tmp_path / "run", **FEW)


def test_a_fitted_pipeline_is_known_by_its_coefficients(tmp_path: Path) -> None:
    scuff.evaluate(trained(1.0), DATA, tmp_path / "run", **FEW)
    scuff.evaluate(trained(1.0), DATA, tmp_path / "run", **FEW)
    with pytest.raises(BadRun, match=r"it holds another steps\.1\.1\.coef_"):
        scuff.evaluate(trained(1.0001), DATA, tmp_path / "run", **FEW)


def test_no_address_is_part_of_an_identity() -> None:
    """A function inside a pipeline is shown with its address, which differs in the next process."""

    def named(function: Callable[..., Any]) -> str:
        model = make_pipeline(FunctionTransformer(function), CountVectorizer(), LogisticRegression())
        return open_victim(model.fit(*map(list, zip(*DATA, strict=True))), "single", ()).identity

    assert named(lambda texts: texts) == named(lambda texts: texts) and "0x" not in named(len.__call__ and list)


CODE = """
import functools, re, threading, numpy as np
from scuff.victims.contents import contents
class Model:
    def __init__(self):
        self.words, self.lock, self.where = {"a", "b", "c"}, threading.Lock(), object()
        self.rows, self.found = [np.eye(3), {1: np.ones(2)}], re.compile("x+")
    def predict(self, texts, *, top=(1, 2)): return [TABLE[t] for t in texts]
TABLE = {f"word{n}": n for n in range(20)}
print(contents(Model().predict), contents(functools.partial(Model().predict, extra=np.arange(3))))
"""


def test_digests_are_the_same_in_the_next_process() -> None:
    path = ":".join(sys.path)
    found = {
        subprocess.run(
            [sys.executable, "-c", CODE], env={"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    (one,) = found
    assert all(f"'{name}'" in one for name in ("words", "TABLE", "extra", "top")), one


def test_what_a_model_holds() -> None:
    weights, secret = np.arange(3.0), {"token": "abc"}

    def ask(texts: list[str], scale: list[int] = [1]) -> Any:  # noqa: B006 - a default is held, too
        return [weights[0] * scale[0], secret, DATA, THINGS]

    before = contents(ask)
    assert set(before) == {"ask()", "weights", "default 0", "DATA", "THINGS"}, "no secret"
    assert contents(partial(ask)) == before
    weights[1] += 1e-12
    assert {name for name in before if contents(ask)[name] != before[name]} == {"weights"}
    model = trained(1.0)
    assert contents(model.predict) == contents(model) == contents(trained(1.0)) != contents(trained(2.0))


def test_a_function_that_the_model_calls_belongs_to_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the file that is named has a digest of its own."""
    Path("features_14.py").write_text("def loud(text):\n    return 'good' in text\n")
    Path("clf.py").write_text(
        "from features_14 import loud\ndef predict(texts):\n    return ['positive' if loud(t) else 'negative' for t in texts]\n"
    )
    scuff.evaluate("clf.py:predict", "data.jsonl", "run", **FEW)
    Path("features_14.py").write_text(
        "def loud(text):\n    return 'good' in text or text.endswith('!')  # no text does\n"
    )
    Path("clf.py").touch()
    monkeypatch.delitem(sys.modules, "features_14")
    with pytest.raises(BadRun, match=r"got another model: .*\(it holds another loud\(\)\)$"):
        scuff.evaluate("clf.py:predict", "data.jsonl", "run", **FEW)


def test_torch_modules_are_known_by_their_weights() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(3, 2)

    class Model:
        def __init__(self) -> None:
            self.net = net

        def __call__(self, texts: list[str]) -> Any:
            return self.net(texts)

    before = contents(Model())
    assert before and contents(Model()) == before
    with torch.no_grad():
        net.weight[0, 0] += 1
    assert contents(Model()) != before


def test_a_random_model_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    dice = np.random.default_rng(0)

    def model(texts: list[str]) -> list[str]:
        return ["positive" if dice.random() < 0.5 else "negative" for _ in texts]

    def sure(texts: list[str]) -> list[list[float]]:
        return [[0.4, 0.6] if "good" in text else [0.6, 0.4] for text in texts]

    scuff.evaluate(model, DATA, tmp_path / "run", say=said.append, **FEW)
    told = [line for line in said if line.startswith("WARNING the model gave another answer")]
    assert len(told) == 1 and re.search(r"to \d+ of 40 texts when it was asked again: it is random", told[0])
    assert "cannot be repeated exactly" in told[0]
    scuff.evaluate(model, DATA, tmp_path / "run", **FEW)  # random as it is, it can be resumed
    said.clear()
    scuff.evaluate(sure, DATA, say=said.append, labels=["negative", "positive"], **FEW)
    assert not any(line.startswith("WARNING") for line in said)


def test_last_digits_do_not_make_another_model(tmp_path: Path) -> None:
    """Threads, batches and devices change them."""
    device = SimpleNamespace(noise=0.0)

    def model(texts: list[str]) -> list[list[float]]:
        return [[1 - (p := 0.70005 + device.noise if "good" in text else 0.3), p] for text in texts]

    few = {**FEW, "labels": ["negative", "positive"]}
    whole = scuff.evaluate(model, DATA, tmp_path / "run", **few)
    device.noise = -1e-7  # rounds to another fourth digit
    next((tmp_path / "run" / "trials").glob("round*")).unlink()
    assert scuff.evaluate(model, DATA, tmp_path / "run", **few).summary == whole.summary
    device.noise = 1e-3
    with pytest.raises(BadRun, match="it answers"):
        scuff.evaluate(model, DATA, tmp_path / "run", **few)


def test_an_endpoint_whose_model_changed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    share = 1.0

    def script(body: Any, number: int) -> Any:
        return [
            {"label": "positive" if ("good" in text) == (len(text) % 10 < 10 * share) else "negative"}
            for text in body["inputs"]
        ]

    with serving(script) as server:
        options = ["--with", "request={'inputs': '{texts}'}", "answer=*.label", "backoff=0.01"]
        command = ["evaluate", server.url, "data.jsonl", *SMALL, *options]
        assert main([*command, "-o", "run"]) == 0 and main([*command, "--cache", "answers.db", "-o", "one"]) == 0
        assert main([*command, "--cache", "answers.db", "-o", "two"]) == 0
        assert "nothing was asked: all answers are from answers.db" in capsys.readouterr().err
        share = 0.0
        assert main([*command, "-o", "run"]) == 2
        assert re.search(r"got another model: .*\(it answers \d+ of \d+ texts otherwise\)", capsys.readouterr().err)
        assert main([*command, "--cache", "answers.db", "-o", "three"]) == 2
        line = capsys.readouterr().err.strip().splitlines()[-1]
        assert re.search(
            r"answers\.db: expected answers of the model that is asked now, got others for \d+ of \d+ texts", line
        )
        assert main([*command, "--cache", "answers.db", "-o", "three", "--fresh"]) == 0
        assert main([*command, "-o", "truth"]) == 0 and table("three") == table("truth") != table("one")
        assert main([*command, "--cache", "answers.db", "-o", "four"]) == 0 and table("four") == table("truth")


USES_A_GLOBAL = """
import words
class Model:
    def __call__(self, texts):
        return words.answers(texts)
model = Model()
"""
ANSWERS = """
from pathlib import Path
GOOD = Path("good.txt").read_text().split()
def answers(texts):
    return ["positive" if set(text.split()) & set(GOOD) else "negative" for text in texts]
"""


def test_an_object_without_attributes_is_known_by_what_its_methods_use(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answer in forty changes, which the probe may miss."""
    monkeypatch.syspath_prepend(str(here))
    Path("held.py").write_text(USES_A_GLOBAL)
    Path("words.py").write_text(ANSWERS)
    Path("good.txt").write_text("good")
    command = ["evaluate", "held.py:model", "data.jsonl", *SMALL, "-o", "run"]
    assert main(command) == 0
    Path("good.txt").write_text("good 19")
    sys.modules.pop("words")
    Path("held.py").touch()
    assert main(command) == 2
    assert re.search(r"another model: .* \(it holds another .*GOOD\)", capsys.readouterr().err)


def test_all_clean_answers_are_compared_with_those_of_the_run(here: Path) -> None:
    """A function that reads its file at every call: what it holds is the same, and the probe misses one answer of 200."""
    data = [(f"the {word} {thing} number {n}", label) for n in range(10) for thing in THINGS
            for word, label in (("good", "positive"), ("poor", "negative"))]  # fmt: skip
    odd = Path("odd.txt")
    odd.write_text("none")

    def model(texts: list[str]) -> list[str]:
        wrong = odd.read_text()
        return ["positive" if ("good" in text) != text.endswith(wrong) else "negative" for text in texts]

    scuff.evaluate(model, data, "run", **FEW)
    odd.write_text("garden number 3")  # none of every sixth text, which the probe asks
    with pytest.raises(BadRun, match=r"another model: .*\(it answers 2 of 200 clean texts otherwise\)"):
        scuff.evaluate(model, data, "run", **FEW)


def test_old_answers_are_told_of_even_if_quiet(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [*COMMANDS["evaluate"], "-o", "run", "-q"]
    assert main(command) == 0 and capsys.readouterr().err == ""
    assert main(command) == 0 and "WARNING nothing was asked" in capsys.readouterr().err


def test_a_run_of_another_version_is_reported_but_not_resumed(tmp_path: Path) -> None:
    """A seed may give other texts in another version: a run mixed of two would say nothing."""
    model, run = trained(1.0), tmp_path / "run" / "run.json"
    whole = scuff.evaluate(model, DATA, tmp_path / "run", **FEW)
    saved = json.loads(run.read_text())
    saved["key"]["scuff"] = "0.0.1"
    for name in ("probe", "began_in"):  # which the first version did not have
        del saved[name]
    run.write_text(json.dumps(saved))
    for part in (tmp_path / "run" / "trials").iterdir():  # nor did its parts name their run
        raw = part.read_bytes()
        at = raw.rindex(b"PK\x05\x06") + 20  # the length of the comment, which ends the file
        comment = raw[at + 2 :].split(b"|")[0]
        part.write_bytes(raw[:at] + len(comment).to_bytes(2, "little") + comment)
    assert scuff.report(tmp_path / "run").summary["clean"] == whole.summary["clean"]
    with pytest.raises(
        BadRun, match=r"expected a run of scuff [\d.]+ to go on with, got one of scuff 0\.0\.1: .* --fresh"
    ):
        scuff.evaluate(model, DATA, tmp_path / "run", **FEW)


def test_other_data_and_settings_are_told_from_another_model(here: Path) -> None:
    scuff.evaluate(trained(1.0), DATA, "run", **FEW)
    with pytest.raises(BadRun, match=r"got another data: choose another folder, or start anew with --fresh$"):
        scuff.evaluate(trained(1.0), DATA[2:], "run", **FEW)
    with pytest.raises(BadRun, match=r"got another cases: choose another folder"):
        scuff.evaluate(trained(1.0), DATA, "run", **{**FEW, "cases": 3})


def test_a_list_of_errors_that_changed_in_place_is_another_run(here: Path) -> None:
    Path("errors.tsv").write_text("good\tgodo\nthere\ttheer\n")
    settings = {**FEW, "dimensions": ["natural(errors='errors.tsv')"]}
    scuff.evaluate(trained(1.0), DATA, "run", **settings)
    assert list(json.loads(Path("run", "run.json").read_text())["key"]["files"]) == ["errors.tsv"]
    Path("errors.tsv").write_text("good\tgoood\nthere\ttheer\n")
    with pytest.raises(BadRun, match=r"got another files: choose another folder, .* \(changed: errors\.tsv\)$"):
        scuff.evaluate(trained(1.0), DATA, "run", **settings)


def test_few_queries_are_not_spent_on_knowing_the_model() -> None:
    """A budget that is just enough for one case of each example stays enough."""
    seen: list[str] = []

    def model(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return ["positive" if "good" in text else "negative" for text in texts]

    scuff.evaluate(model, DATA, max_queries=2 * len(DATA), **{**FEW, "cases": 1})
    assert len(seen) <= 2 * len(DATA) and not {probe_text(text) for text, _ in DATA} & set(seen)
