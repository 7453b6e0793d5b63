"""The command that a report prints repeats the run, byte for byte; what no command can name is a call in Python."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import scuff
from reports.page import page_at
from scuff.cli.main import main
from scuff.perturbations.base import Facts, Perturbation
from scuff.reports.command import repeating
from scuff.reports.formatting import short
from scuff.runs.folder import Folder
from scuff.text.edits import Edits

MODEL = """
def predict(texts):
    return [{"negative": 0.2 + 0.6 * ("poor" in text), "-positive": 0.8 - 0.6 * ("poor" in text)} for text in texts]
"""
ROWS = [
    (f"Yesterday the {thing} was {word}, it's so", word) for thing in ("film", "hotel") for word in ("good", "poor")
]
EVALUATE = ["--dimensions", "keyboard", "--examples", "4", "--cases", "1"]
ATTACK = ["--encoder", "chrf", "--recipe", "deepwordbug"]


def shown(folder: Path) -> str:
    """The command in the report of a run that repeats it."""
    return page_at(folder).commands[-1]


def content(folder: Path) -> dict[str, bytes]:
    kept = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("timings.json", "lock")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


@pytest.mark.parametrize(
    "argv",
    [
        ["evaluate", "toy:sentiment", "toy:sentiment", *EVALUATE],
        ["evaluate", "toy:sentiment", "toy:sentiment", *EVALUATE, "-q", "--workers", "2", "--setting", "rule", "score",
         "--degrees", "0.1", "0.35", "--protect", "re:[a-c]+ 'x'", "--protect", "word:$HOME", "--seed", "3", "--beta", "0.25"],
        ["evaluate", "toy:sentiment", "toy:sentiment", "--dimensions", "distraction", "mine=keyboard(layout='qwertz')@edits",
         "--examples", "4", "--cases", "1", "--encoder", "chrf", "--metric", "macro-f1"],
        ["evaluate", "toy:sentiment", "toy:sentiment", "--protocol", "zeroe", "--examples", "3", "--dimensions", "truncate",
         "keyboard"],
        ["evaluate", "my model.py:predict", "the data.csv", *EVALUATE, "--map", "good=-positive", "poor=negative",
         "--labels=negative", "--labels=-positive", "--text", "re view", "--label", "tone"],
        ["attack", "toy:sentiment", "toy:sentiment", *ATTACK, "--examples", "4", "--max-queries", "30", "--valid", "0.3"],
        ["attack", "toy:sentiment", "toy:sentiment", "--encoder", "chrf", "--attacked", "3", "-p", "3*typo", "homoglyph",
         "--no-pos", "--no-meaning", "--goal", "targeted(label='negative')", "--constraint", "chrf(least=0.2)",
         "--search", "beam(width=2)"],
        ["attack", "toy:sentiment", "toy:sentiment", "--encoder", "chrf", "--examples", "3"],
    ],
)  # fmt: skip
def test_the_command_repeats_the_run(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my model.py").write_text(MODEL)
    Path("the data.csv").write_text("re view,tone\n" + "".join(f'"{text}",{label}\n' for text, label in ROWS))
    assert main([*argv, "-o", "first"]) == 0, capfd.readouterr().err
    words = shlex.split(shown(tmp_path / "first"))
    assert words[0] == "scuff"
    assert main([*words[1:], "-o", "again"]) == 0, capfd.readouterr().err
    assert content(tmp_path / "again") == content(tmp_path / "first")


def test_answers_that_were_collected_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("text,label\ngood,positive\nbad,negative\n")
    Path("answers.csv").write_text("text,prediction\ngood,positive\nbad,negative\n")
    small = ["--degrees", "0.1", "--dimensions", "keyboard", "--cases", "1"]
    assert main(["evaluate", "data.csv", "--predictions", "answers.csv", *small, "-o", "first"]) == 0
    words = shlex.split(shown(tmp_path / "first"))
    assert words[:3] == ["scuff", "evaluate", "data.csv"] and main([*words[1:], "-o", "again"]) == 0
    assert content(tmp_path / "again") == content(tmp_path / "first")


def test_pairs_of_an_older_run_are_perturbed_on_one_side_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 0.2 the protocol zeroe perturbed the first text of a pair unless told otherwise; now it is both."""
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(
        "def predict(first, second):\n    return ['yes' if 'good' in text else 'no' for text in first]\n"
    )
    Path("pairs.csv").write_text("a,b,label\na good day outside,rain again,yes\na bad day outside,rain again,no\n")
    argv = ["evaluate", "model.py:predict", "pairs.csv", "--text", "a", "--text", "b", "--labels", "no", "yes", "--protocol",
            "zeroe", "--dimensions", "truncate"]  # fmt: skip
    assert main([*argv, "--side", "first", "-o", "first"]) == 0
    run = Folder("first").run()
    now = repeating(run)
    del run["config"]["side"]
    assert repeating(run) == now and "--side first" in now[0]
    assert main([*argv, "-o", "both"]) == 0
    assert "--side" not in repeating(Folder("both").run())[0], "that is usual"


def test_objects_are_named_as_such(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Mine(Perturbation):
        """A perturbation that no command can name."""

        facts: ClassVar[Facts] = Facts("character", ("general",), "nothing")

        def propose(self, corpus: Any, rng: Any, *, k: Any = None) -> Edits:
            return Edits.join([])

    def model(texts: list[str]) -> list[str]:
        return ["positive"] * len(texts)

    scuff.evaluate(model, [("a good day", "positive")] * 3, tmp_path / "run", dimensions="keyboard", cases=1)
    command, needs = repeating(Folder(tmp_path / "run").run())
    assert command == "scuff.evaluate(model, data, dimensions=['keyboard'], cases=1)"
    assert needs == "model and data: objects in Python, or an address that may hold a key"
    assert shown(tmp_path / "run") == command and f"It needs {needs}." in page_at(tmp_path / "run").text("p.")
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "own", dimensions=[Mine()], cases=1, examples=3)
    command, needs = repeating(Folder(tmp_path / "own").run())
    assert command.startswith("scuff.evaluate('toy:sentiment', 'toy:sentiment', ") and "Mine" in needs


def test_the_report_is_of_one_run(tmp_path: Path) -> None:
    scuff.evaluate("toy:sentiment", "toy:sentiment", tmp_path / "run", dimensions="keyboard", cases=1, examples=3)
    run, page = Folder(tmp_path / "run").run(), (tmp_path / "run" / "report.html").read_text()
    number = run["signature"].rpartition("run:")[2]
    assert f"scuff {scuff.__version__}, run {number}, data {run['data']['digest'][:12]}" in page
    assert run["signature"] not in page, "run.json and summary.json have it"


@pytest.mark.parametrize(
    ("spec", "seen"),
    [
        ("keyboard", "keyboard"),
        ("distraction(words=('have', 'been', 'from', 'with'))", "distraction(words=(4 values))"),
        ("""x(a=('it\\'s', "b, c", 'd)', 'e', 1.5), b=2)""", "x(a=(5 values), b=2)"),
        ("x(a=[1, 2, 3, 4,])@edits", "x(a=(4 values))@edits"),
        ("x(a=('b', 'c', 'd'))", "x(a=('b', 'c', 'd'))"),
        ("3*typo(operations='insert', layout='any')", "3*typo(operations='insert', layout='any')"),
    ],
)  # fmt: skip
def test_long_lists_are_counted(spec: str, seen: str) -> None:
    assert short(spec) == seen


def test_no_heading_lists_words(tmp_path: Path) -> None:
    own = "distraction(words=('have', 'been', 'from', 'with', 'that'))"
    result = scuff.evaluate(
        "toy:sentiment", "toy:sentiment", tmp_path / "run", dimensions=["distraction", own, own.replace("been", "bean")],
        cases=1, examples=60, degrees=[0.5], encoder="chrf",
    )  # fmt: skip
    titles = [data for path, data in page_at(tmp_path / "run").words if path[-1:] == ("h3.",)]
    named = [title for title in titles if title.startswith("distraction(words=")]
    assert len(named) == 2 and any("'bean'" in title for title in named), "two of the same name have their own"
    again = scuff.evaluate(
        "toy:sentiment", "toy:sentiment", tmp_path / "one", dimensions=["distraction", own], cases=1, examples=60,
        degrees=[0.5], encoder="chrf",
    )  # fmt: skip
    page = page_at(tmp_path / "one")
    for text in (page.text("body.", without="pre."), str(again), again.paper):
        assert "'have'" not in text and "distraction(words=(5 values))" in text
    assert own in again.summary["dimensions"] and "'have'" in str(result)
