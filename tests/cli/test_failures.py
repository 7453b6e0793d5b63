"""A text that a perturbation raises on stays as it is and is reported with its place; the others are as if nothing failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import scuff
from scuff.cli.main import main

MODULE = """
from dataclasses import dataclass
import numpy as np
from scuff.perturbations import Ragged, WordPerturbation


@dataclass(frozen=True)
class Fussy(WordPerturbation):
    "Write words in capitals; not a text with a bomb in it."

    always: bool = False

    def able(self, corpus):
        words = corpus.cut(corpus.words).strings()
        if "bomb" in words or self.always:
            raise IndexError("list index out of range")
        return np.ones(len(words), bool)

    def rewrite(self, corpus, which, rng):
        old = corpus.cut(corpus.words.where(which))
        return Ragged.of([word.upper() for word in old.strings()]), old.lengths
"""
FUSSY = "fussy_parts:Fussy"
WHY = f"{FUSSY}: IndexError: list index out of range\n"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's module, in the folder where the program runs."""
    (tmp_path / "fussy_parts.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


FILES = {  # content, options, the result, where the bombs are
    "a.txt": ("fine day\nthe bomb\n\nbomb\nend", [], "FINE DAY\nthe bomb\n\nbomb\nEND", ["line 2", "line 4"]),
    "a.csv": ('text,y\nfine,1\n"the\nbomb",2\nbomb,3\n', [], 'text,y\nFINE,1\n"the\nbomb",2\nbomb,3\n', ["line 3", "line 5"]),
    "a.jsonl": ('{"text": "fine"}\n\n{"text":"bomb"}\n', [], '{"text": "FINE"}\n\n{"text":"bomb"}\n', ["line 3"]),
    "a.json": ('["fine",\n["bomb", "x"]\n,["day"]]', [], '["FINE",\n["bomb", "x"]\n,["DAY"]]', ["line 2"]),
    "a.conll": ("fine\tA\n\nbomb\tB\nday\tC\n", [], "FINE\tA\n\nbomb\tB\nday\tC\n", ["sentence 2"]),
    "b.csv": ("a,b\nbomb,x\nx,bomb\n", ["-ca", "-cb"], "a,b\nbomb,X\nX,bomb\n", ["line 2, column 'a'", "line 3, column 'b'"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_perturb_goes_on(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    content, options, wanted, places = FILES[name]
    Path(name).write_text(content)
    command = ["perturb", name, "-p", FUSSY, "-l", "1", "-o", f"out.{name}", "-q", "--edits", "edits", *options]
    assert main(command) == 3
    assert Path(f"out.{name}").read_text() == wanted
    told = f"texts that stay as before, since they could not be perturbed: {len(places)}"
    said = "".join(f"scuff: {name}: {place}: {WHY}" for place in places)
    assert capsys.readouterr().err == f"{said}scuff: {told}; all others are done (--skip-errors: exit code 0)\n"
    assert main([*command, "--skip-errors"]) == 0
    assert Path(f"out.{name}").read_text() == wanted and capsys.readouterr().err == f"{said}scuff: {told}\n"


BAD = (
    '{"text": 5}\n{"text": "fine day", "n": 1}\n\n{"txt": "gone"}\n{"text": "a\\ud800b", "n": 2}\n{"text":["x", "\\udc00"]}\n'
    '{"text":["end"], "n": 3}'
)


def test_records_without_a_text_stay(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.jsonl").write_text(BAD)
    command = ["perturb", "a.jsonl", "-p", FUSSY, "-l", "1", "-q", "-c", "text"]
    wanted = [
        "line 1: expected text or a list of tokens in column 'text', got int",
        "line 4: expected a column 'text', got txt",
        "line 5: expected Unicode text, got the lone surrogate U+D800 at character 1",
        "line 6: expected Unicode text, got the lone surrogate U+DC00 at character 0",
    ]
    assert main([*command, "-o", "b.jsonl", "--edits", "edits"]) == 3
    assert Path("b.jsonl").read_text() == BAD.replace("fine day", "FINE DAY").replace("end", "END")
    *told, last = capsys.readouterr().err.splitlines()
    assert told == [f"scuff: a.jsonl: {line}" for line in wanted] and "could not be perturbed: 4; all others" in last
    assert main([*command, "-o", "c.jsonl", "--skip-errors", "--copies", "2", "--protect-spans", "n"]) == 2, "no spans"
    assert main([*command, "-o", "c.jsonl", "--skip-errors", "--copies", "2"]) == 0
    copies = [json.loads(line) for line in Path("c.jsonl").read_text().splitlines() if line]
    assert copies[:2] == [{"text": 5, "draw": 0}, {"text": 5, "draw": 1}] and len(copies) == 12
    array = "[" + ",\n".join(line for line in BAD.splitlines() if line) + "]"
    Path("a.json").write_text(array)
    assert main(["perturb", "a.json", *command[2:], "-o", "b.json", "--skip-errors"]) == 0
    assert Path("b.json").read_text() == array.replace("fine day", "FINE DAY").replace("end", "END")
    assert main([*command, "--id", "n", "-o", "d.jsonl", "--skip-errors"]) == 0, "nor is one without its id"
    assert main(["zeroe", "a.jsonl", "-p", FUSSY, "-c", "text", "-o", "out", "-q", "--skip-errors"]) == 0
    assert Path("out/clean.jsonl").read_text() == BAD and "END" in Path("out/all.jsonl").read_text()


def test_a_column_that_no_record_has_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.jsonl").write_text('{"text": "fine"}\n' * 3)
    assert main(["perturb", "a.jsonl", "-p", FUSSY, "-c", "txet", "-o", "b.jsonl", "--skip-errors"]) == 2
    assert capsys.readouterr().err == "scuff: a.jsonl: line 1: expected a column 'txet', got text\n"
    assert not Path("b.jsonl").exists()


def test_the_other_texts_are_as_if_nothing_failed() -> None:
    clean = [f"line number {n} of some words" for n in range(200)]
    mixed = [line for n, text in enumerate(clean) for line in (["a bomb"] * (n % 7 == 0) + [text])]
    for name, lines in (("clean.txt", clean), ("mixed.txt", mixed)):
        Path(name).write_text("\n".join(lines))
        main(["perturb", name, "-p", f"{FUSSY}+intrude", "-l", "0.4", "--copies", "2", "-o", f"out.{name}", "-q"])
    new = [line for line in Path("out.mixed.txt").read_text().splitlines() if line != "a bomb"]
    assert new == Path("out.clean.txt").read_text().splitlines() != [line for line in clean for _ in range(2)]


def test_many_failures_are_counted_and_the_first_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text("bomb\n" * 600 + "fine\n")
    assert main(["perturb", "a.txt", "-p", FUSSY, "-l", "1", "-o", "b.txt", "-q"]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11 and "could not be perturbed: 600, the first 10 of them named here;" in lines[-1]
    assert Path("b.txt").read_text() == "bomb\n" * 600 + "FINE\n"


@pytest.mark.parametrize("command", [["perturb", "a.txt", "-o", "out.txt"], ["zeroe", "a.txt", "-o", "out"]])
def test_what_fails_on_every_text_is_no_fault_of_the_text(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.txt").write_text("fine day\nbomb\n")
    assert main([*command, "-p", f"{FUSSY}(always=True)", "-q"]) == 3 or command[0] == "zeroe"
    err = capsys.readouterr().err
    assert "IndexError: list index out of range" in err and err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir() if path.is_file()) == ["a.txt", "fussy_parts.py"]


def test_zeroe_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text("fine day\nthe bomb\n")
    assert main(["zeroe", "a.txt", "-p", FUSSY, "-o", "out", "-q"]) == 3
    err = capsys.readouterr().err
    assert err.startswith(f"scuff: fussy.low.txt: a.txt: line 2: {WHY}") and "could not be perturbed: 3;" in err
    assert Path("out/fussy.high.txt").read_text() == "FINE DAY\nthe bomb\n"
    entries = {entry["file"]: entry for entry in json.loads(Path("out/manifest.json").read_text())["files"]}
    assert entries["fussy.high.txt"]["failed"] == 1 and "failed" not in entries["clean.txt"]
    assert main(["zeroe", "a.txt", "-p", FUSSY, "-o", "again", "-q", "--skip-errors"]) == 0


def test_show_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "-p", FUSSY, "fine day", "the bomb"]) == 3
    out, err = capsys.readouterr()
    assert "  high FINE DAY\n  high the bomb\n" in out and f"scuff: 'the bomb': {WHY}" in err
    assert main(["show", "-p", FUSSY, "fine day", "the bomb", "--skip-errors"]) == 0


def test_augment_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("text,y\nfine day,1\nthe bomb,2\nlast day,3\n")
    command = ["augment", "a.csv", "--dimensions", FUSSY, "--degree", "1", "-q", "-o", "b.csv"]
    assert main(command) == 3
    wanted = "text,y\nfine day,1\nFINE DAY,1\nthe bomb,2\nlast day,3\nLAST DAY,3\n"
    assert Path("b.csv").read_text() == wanted
    err = capsys.readouterr().err
    assert err.startswith("scuff: a.csv: line 3: IndexError: list index") and "texts that get no copies" in err
    assert main([*command, "--skip-errors"]) == 0 and Path("b.csv").read_text() == wanted


def test_python_raises_or_warns() -> None:
    texts = ["fine day", "the bomb", None]
    with pytest.raises(IndexError):
        scuff.perturb(texts, FUSSY, 1.0)
    with pytest.warns(RuntimeWarning, match=rf"1 of 3 texts stay as they are: text 1: {FUSSY}: IndexError"):
        assert scuff.perturb(texts, FUSSY, 1.0, skip_errors=True) == ["FINE DAY", "the bomb", None]
    rows = [("fine day", "x"), ("the bomb", "y")]
    with pytest.raises(RuntimeError, match=r"record 2: IndexError: list index out of range \(skip_errors=True"):
        scuff.augment(rows, dimensions=FUSSY, degree=1)
    with pytest.warns(RuntimeWarning, match="1 of 2 examples get no copies"):
        made = scuff.augment(rows, dimensions=FUSSY, degree=1, skip_errors=True)
    assert made == [rows[0], ("FINE DAY", "x"), rows[1]]
