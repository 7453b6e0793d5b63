"""Any model by name or as it is, and a line that helps where there is none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from scuff.huggingface.loading import BadModel
from scuff.victims.base import OTHER, Column, Outputs, Victim
from scuff.victims.open import open_victim
from scuff.victims.plain import Plain
from scuff.victims.toy import Toy

TWO = ("negative", "positive")
MODEL = """
from words_beside import GOOD

def predict(texts):
    return ["positive" if set(text.split()) & GOOD else "negative" for text in texts]

class Model:
    def __call__(self, texts):
        return predict(texts)

model = Model()
number = 5
"""


class Own(Victim):
    name, task, labels = "own", "single", TWO

    def __call__(self, *columns: Column) -> Outputs:
        return Outputs.of(np.zeros(len(columns[0]), np.int64))


def opened(model: Any, **options: Any) -> Victim:
    return open_victim(model, "single", TWO, options)


def says(model: Any) -> list[str]:
    """Its labels for a good and a bad text."""
    answers = opened(model)(["good", "bad"]).answers
    return [TWO[at] for at in (answers.argmax(1) if answers.ndim > 1 else answers)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a model in a file that imports another beside it."""
    (tmp_path / "my_model_file.py").write_text(MODEL)
    (tmp_path / "words_beside.py").write_text('GOOD = {"good", "nice"}\n')
    for name in ("my_model_file", "words_beside"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_function_in_a_file(folder: Path) -> None:
    victim = opened(f"{folder}/my_model_file.py:predict")
    assert victim(["so nice", "so dull"]).answers.tolist() == [1, 0]
    assert victim.name == f"{folder}/my_model_file.py:predict" and victim.sees_through_files
    assert says(f"{folder}/my_model_file.py:model") == ["positive", "negative"], "an object that can be called"


def test_a_function_in_a_module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    victim = opened("my_model_file:predict")
    assert victim(["so nice", "so dull"]).answers.tolist() == [1, 0] and victim.sees_through_files
    monkeypatch.delitem(sys.modules, "my_model_file")


def test_a_changed_file_is_another_model(folder: Path) -> None:
    before = opened(f"{folder}/my_model_file.py:predict").identity
    assert opened(f"{folder}/my_model_file.py:predict").identity == before
    (folder / "my_model_file.py").write_text(MODEL.replace("set(text.split()) & GOOD", "True"))
    assert opened(f"{folder}/my_model_file.py:predict").identity != before
    assert says(f"{folder}/my_model_file.py:predict") == ["positive"] * 2


def test_two_files_of_one_name(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    (other / "my_model_file.py").write_text("def predict(texts):\n    return ['negative'] * len(texts)\n")
    first, second = (opened(f"{where}/my_model_file.py:predict") for where in (folder, other))
    assert first(["good"]).answers.tolist() == [1] and second(["good"]).answers.tolist() == [0]


def test_a_file_may_hold_a_victim_or_a_pipeline(folder: Path) -> None:
    (folder / "holds.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "from scuff.victims.toy import Toy\n"
        "toy = Toy('sentiment')\n"
        "dummy = DummyClassifier(strategy='constant', constant='positive').fit(['a', 'b'], ['negative', 'positive'])\n"
    )
    assert isinstance(opened(f"{folder}/holds.py:toy"), Toy)
    before = opened(f"{folder}/holds.py:dummy")
    assert before(["x"]).answers.tolist() == [[0.0, 1.0]] and before.sees_through_files
    with (folder / "holds.py").open("a") as file:
        file.write("# another version\n")
    assert opened(f"{folder}/holds.py:dummy").identity != before.identity


def test_objects_as_they_are() -> None:
    own = Own()
    assert opened(own) is own
    assert isinstance(opened("toy:sentiment"), Toy)

    def keyword(texts: list[str]) -> list[str]:
        return ["positive" if text == "good" else "negative" for text in texts]

    class Object:
        def __call__(self, texts: list[str]) -> list[str]:
            return keyword(texts)

    assert says(keyword) == says(Object()) == says(lambda texts: keyword(texts)) == ["positive", "negative"]
    model = make_pipeline(CountVectorizer(), LogisticRegression(C=100)).fit(["good", "bad"], ["positive", "negative"])
    assert says(model) == says(model.predict) == says(model.predict_proba) == ["positive", "negative"]
    assert isinstance(opened(keyword), Plain) and not opened(keyword).sees_through_files
    assert "keyword" in opened(keyword).name and "Object" in opened(Object()).name


def test_what_a_callable_says_is_part_of_its_identity() -> None:
    def one(texts: list[str]) -> list[int]:
        return [0 for _ in texts]

    def two(texts: list[str]) -> list[int]:
        return [1 for _ in texts]

    two.__qualname__ = one.__qualname__
    assert opened(one).identity == opened(one).identity != opened(two).identity
    assert opened(len).identity, "of what is written in C there is no source"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{folder}/gone.py:predict", "{folder}/gone.py: expected a Python file, got nothing of that name"),
        ("{folder}/my_model_file.py:predikt", "expected 'predikt' in it, got GOOD, predict, Model, model, number"),
        ("{folder}/my_model_file.py:number", "in Python a callable, pipeline or Victim, got int"),
        ("{folder}/my_model_file.py", "expected the name of a function in it, as in {folder}/my_model_file.py:predict, got none"),
        ("{folder}/broken.py:predict", "a module that can be imported, got ZeroDivisionError: division by zero"),
        ("{folder}/syntax.py:predict", "expected a module that can be imported, got SyntaxError:"),
        ("{folder}/needs.py:predict", "got ModuleNotFoundError: No module named 'no_such_package'"),
        ("{folder}/leaves.py:predict", "expected a module that can be imported, got SystemExit: usage: leaves two lines"),
        ("no_such_module:predict", "no_such_module: expected a module that can be imported, got ModuleNotFoundError"),
        ("json:dump_all", "json: expected 'dump_all' in it, got"),
        ("toy:unknown", "expected sentiment, tone or translate for toy, got 'unknown'"),
    ],
)  # fmt: skip
def test_helpful_errors(name: str, message: str, folder: Path) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "syntax.py").write_text("def predict(:\n")
    (folder / "needs.py").write_text("import no_such_package\n")
    (folder / "leaves.py").write_text("raise SystemExit('usage: leaves\\n  two lines')\n")
    with pytest.raises(ValueError, match="expected") as caught:
        opened(name.format(folder=folder))
    assert message.format(folder=folder) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("model", [5, None, object(), ["toy:sentiment"]])
def test_what_is_no_model(model: Any) -> None:
    with pytest.raises(BadModel, match=r"file\.py:name, module:name.* in Python a callable, pipeline or Victim, got"):
        opened(model)


def test_options(folder: Path) -> None:
    with pytest.raises(BadModel, match="expected no options for toy:sentiment, got 'device'"):
        opened("toy:sentiment", device="cpu")
    with pytest.raises(BadModel, match=r"expected .*timeout, .*retries, .* for http://127\.0\.0\.1:9/x, got 'timeuot'"):
        opened("http://127.0.0.1:9/x", timeuot=5)
    with pytest.raises(
        BadModel, match=r"expected .*temperature.* for chat:http://127\.0\.0\.1:9/v1#m, got 'temprature'"
    ):
        opened("chat:http://127.0.0.1:9/v1#m", temprature=0)
    with pytest.raises(BadModel, match=r"expected no options for .*my_model_file\.py:predict, got device"):
        opened(f"{folder}/my_model_file.py:predict", device="cpu")


def test_a_model_of_hugging_face_is_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    from scuff.victims import huggingface

    asked: list[str] = []

    def load(name: str, task: str, labels: Any = None) -> Victim:
        asked.append(name)
        return Own()

    monkeypatch.setattr(huggingface, "load", load)
    for name in ("hf:gpt2", "gpt2", "org/name", "hf:org/name"):
        opened(name)
    assert asked == ["gpt2", "gpt2", "org/name", "org/name"]


def test_which_labels_an_endpoint_is_read_with() -> None:
    """The user's; else those of the data, and (other) for an endpoint that may answer with any."""

    def labels(model: str, given: tuple[str, ...] = (), data: tuple[str, ...] = TWO, task: Any = "single") -> Any:
        victim = open_victim(model, task, given, data_labels=data)
        assert victim.paid and not opened("toy:sentiment").paid
        return victim.labels

    http, chat = "http://127.0.0.1:9/x", "chat:http://127.0.0.1:9/v1#m"
    assert (
        labels(http) == (*TWO, OTHER)
        and labels(http, ("a", "b")) == ("a", "b")
        and labels(http, data=(), task="text") == ()
    )
    assert labels(chat) == TWO and labels(chat, ("a", "b")) == ("a", "b") == labels(chat, ("a", "b"), ("one",))
    with pytest.raises(ValueError, match=r"^expected --labels to ask for, got one label in the data: one$"):
        labels(chat, data=("one",))
    with pytest.raises(ValueError, match=r"expected the names of the labels for http\.labels"):
        open_victim(http, "single", ())
