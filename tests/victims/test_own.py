"""A user's own Victim, named on the command line and in Python: by module, by file, by entry point, in worker processes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import scuff
from scuff import specs
from scuff.cli.main import main
from scuff.huggingface.loading import BadModel
from scuff.victims import Victim, open_victim

OWN = """
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from scuff.victims import Access, Outputs, Task, Victim


class Keyword(Victim):
    \"\"\"Says positive if the text has a word. pids: a folder that gets a file for each process that builds one.\"\"\"

    task, labels, access = "single", ("negative", "positive"), Access.SCORE

    def __init__(self, word="good", pids=None):
        self.word = word
        if pids:
            (Path(pids) / str(os.getpid())).touch()

    def __call__(self, *columns):
        score = np.array([(self.word in text) * 0.9 for text in columns[0]], np.float32)
        return Outputs.of(np.stack([1 - score, score], 1))


@dataclass(frozen=True)
class Frozen(Victim):
    word: str
    task: ClassVar[Task] = "single"

    def __call__(self, *columns):
        return Outputs.of(np.array([int(self.word in text) for text in columns[0]]))


class Named(Keyword):
    name = "mine"


class Open(Keyword):
    def __init__(self, **words):
        super().__init__(**words)


class Silent(Victim):
    task = "single"


class Taskless(Keyword):
    task = "words"


def make(word):
    return lambda texts: ["positive" if word in text else "negative" for text in texts]
"""
TWO = ("negative", "positive")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_victims.py").write_text(OWN)
    monkeypatch.delitem(sys.modules, "own_victims", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def opened(spec: str, labels: tuple[str, ...] = (), **options: Any) -> Victim:
    return open_victim(spec, "single", labels, options)


def says(victim: Victim) -> list[int]:
    answers = victim(["a good day", "a bad day"]).answers
    return (answers.argmax(1) if answers.ndim > 1 else answers).tolist()


@pytest.mark.parametrize("where", ["own_victims", "own_victims.py", "{folder}/own_victims.py"])
def test_by_module_and_by_file(where: str, folder: Path) -> None:
    where = where.format(folder=folder)
    plain = opened(f"{where}:Keyword")
    assert says(plain) == says(opened(f"{where}:Keyword()")) == [1, 0]
    assert plain.name == f"{where}:Keyword" and plain.sees_through_files and plain.labels == TWO
    given, beside = opened(f"{where}:Keyword(word='bad')"), opened(f"{where}:Keyword", word="bad")
    assert says(given) == says(beside) == says(opened(f"{where}:Keyword(word='good')", word="bad")) == [0, 1]
    assert given.name == f"{where}:Keyword(word='bad')"
    assert len({plain.identity, given.identity, beside.identity}) == 3, "other options, other answers"
    assert says(opened(f"{where}:Open", word="bad")) == [0, 1], "options that are checked by nobody else"
    assert opened(f"{where}:Named").name == "mine"
    assert says(opened(f"{where}:make(word='bad')", TWO)) == [0, 1], "a function that gives a callable"


def test_a_frozen_dataclass_and_the_users_labels(folder: Path) -> None:
    victim = opened("own_victims.py:Frozen(word='bad')", TWO)
    assert says(victim) == [0, 1] and victim.labels == TWO and victim.sees_through_files
    assert victim.identity.startswith("own_victims.py:Frozen(word='bad'):")
    changed = OWN.replace("int(self.word in text)", "1")
    (folder / "own_victims.py").write_text(changed)
    assert opened("own_victims.py:Frozen(word='bad')", TWO).identity != victim.identity


def test_by_entry_point(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, _ = specs.import_object("own_victims.py", "Keyword")
    entry = SimpleNamespace(name="keyword", value="own_victims:Keyword", load=lambda: kind)
    monkeypatch.setattr(specs, "entry_points", lambda group: {"keyword": entry} if group == "scuff.victims" else {})
    victim = opened("keyword(word='bad')")
    assert says(victim) == says(opened("keyword", word="bad")) == [0, 1] and says(opened("keyword")) == [1, 0]
    assert victim.name == "keyword(word='bad')" and victim.sees_through_files
    assert victim.identity != opened("keyword").identity
    with pytest.raises(BadModel, match=r"^expected word, pids for keyword, got 'wrod'$"):
        opened("keyword(wrod=1)")


def test_an_object_without_a_name(folder: Path) -> None:
    kind, _ = specs.import_object("own_victims.py", "Keyword")
    victim = kind()
    assert open_victim(victim, "single", ()) is victim
    assert victim.name == victim.identity == "Keyword" and not victim.sees_through_files


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("own_victims.py:Keyword(wrod=1)", "expected word, pids for own_victims.py:Keyword, got 'wrod'"),
        ("own_victims:Frozen", "expected word for own_victims:Frozen, got no word"),
        ("own_victims.py:Keyword(good)", "expected name(option=value, ...), got \"own_victims.py:Keyword(good)\""),
        ("own_victims.py:Silent", "expected a Victim with a method __call__ from own_victims.py:Silent, got one without"),
        ("own_victims.py:Taskless", "single, multi, tokens, text as the task of own_victims.py:Taskless, got 'words'"),
        ("own_victims.py:Keywort(word='x')", "own_victims.py: expected 'Keywort' in it, got os, dataclass, Path"),
        ("keyword(word='x')", "expected file.py:Name, module:Name or an installed victim before the brackets, got"),
    ],
)  # fmt: skip
def test_helpful_errors(spec: str, message: str, folder: Path) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        opened(spec)
    assert message.replace('"', "'") in str(caught.value).replace('"', "'")


def test_in_worker_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers open it by the same spec and options; nothing changes in the results."""
    rows = [{"text": f"a {word} day, number {n}", "label": label} for n in range(20) for word, label in
            (("good", "positive"), ("bad", "negative"))]  # fmt: skip
    Path("data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(Victim, "cases_at_once", 20)  # small blocks, so that there is work for two
    few: dict[str, Any] = {"dimensions": ["keyboard"], "degrees": [0.3], "cases": 2}
    Path("pids").mkdir()
    scuff.evaluate("own_victims.py:Keyword(word='good')", "data.jsonl", output="one", **few)
    scuff.evaluate("own_victims.py:Keyword(word='good', pids='pids')", "data.jsonl", output="two", workers=2, **few)
    built = {int(path.name) for path in Path("pids").iterdir()}
    assert len(built) > 1 and os.getpid() in built, "by workers, too"
    command = [
        "evaluate",
        "own_victims:Keyword",
        "data.jsonl",
        "--dimensions",
        "keyboard",
        "--degrees",
        "0.3",
        "--cases",
        "2",
    ]
    assert main([*command, "-o", "three", "--workers", "2", "--with", "word=good"]) == 0
    found = [json.loads(Path(name, "summary.json").read_text()) for name in ("one", "two", "three")]
    assert found[0]["clean"]["score"]["value"] == 1
    assert found[0]["dimensions"] == found[1]["dimensions"] == found[2]["dimensions"]
