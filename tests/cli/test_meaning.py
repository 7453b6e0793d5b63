"""`scuff meaning`: what it prints and writes, the names of the authors' tool, and mistakes in one line."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

import scuff
from scuff.cli.main import main

COLUMNS = {
    "src": ["Ein Hund läuft.", "Zwei Männer sitzen.", "Die Frau liest."],
    "adv_src": ["Ein Hnud läuft.", "Zwei Männer sitzen.", "Der Mann schläft."],
    "out": ["A dog runs.", "Two men sit.", "The woman reads."],
    "adv_out": ["A runs.", "Two men sit.", "A man."],
    "ref": ["A dog is running.", "Two men are sitting.", "The woman reads."],
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The flags, with the files in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, texts in COLUMNS.items():
        Path(name).write_bytes("\r\n".join(texts).encode() + b"\r\n")
    return [word for name in COLUMNS for word in (f"--{name.replace('_', '-')}", name)]


def test_plain_terse_and_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    result = scuff.meaning(**COLUMNS)
    assert main(["meaning", *files]) == 0
    shown = capsys.readouterr().out
    assert shown == f"{result}\n" and "succeeded (S > 1), %" in shown and "3 lines" in shown
    assert main(["meaning", *files, "--terse", "--scale", "100"]) == 0
    wanted = (result.source_likeness, result.relative_decrease, result.succeeded)
    assert capsys.readouterr().out == "\t".join(f"{100 * value:.3f}" for value in wanted) + "\n"
    assert main(["meaning", *files, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == result.summary
    assert main(["meaning", *files, "--jsonl", "-"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == result.lines
    assert main(["meaning", *files, "--jsonl", "lines.gz", "--json", "all.json"]) == 0
    assert capsys.readouterr().out == shown
    with gzip.open("lines.gz", "rt") as lines:
        assert [json.loads(line) for line in lines] == result.lines
    assert json.loads(Path("all.json").read_text()) == result.summary


def test_the_names_of_the_authors_tool(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--s-src", "chrf", "--s-tgt", "zero_one", "--success-threshold", "1.5", "--json", "-"]
    assert main(["meaning", *files, *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["target_metric"]["metric"] == "exact-match" and found["threshold"] == 1.5
    assert found["relative_decrease"]["mean"] == pytest.approx(1 / 3)


def test_two_attacks(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The other attack changed nothing, so that it has s_src 1 and d_tgt 0 on every line."""
    other = ["--other-adv-src", "src", "--other-adv-out", "out"]
    assert main(["meaning", *files, *other]) == 0
    blocks = capsys.readouterr().out.split("\n\n")
    first = scuff.meaning(**COLUMNS)
    numbers = {
        line[:27].strip(): line[27:].replace("[", " ").replace(",", " ").split() for line in blocks[2].splitlines()
    }
    assert blocks[2].startswith("the other attack") and numbers["source likeness (s_src)"][0] == "1.0000"
    assert numbers["relative decrease (d_tgt)"][0] == "0.0000" and numbers["succeeded (S > 1), %"][0] == "0.00"
    gaps = {line[:27].strip(): line[27:].replace("[", " ").replace(",", " ").split() for line in blocks[3].splitlines()}
    assert blocks[3].startswith("this attack less the other")
    wanted = {
        "source likeness (s_src)": first.source_likeness - 1, "relative decrease (d_tgt)": first.relative_decrease,
        "success (S = s_src + d_tgt)": first.summary["success"]["mean"] - 1, "succeeded, %": 100 * first.succeeded,
    }  # fmt: skip
    for name, gap in wanted.items():
        low, high = (float(word.strip("]")) for word in gaps[name][1:3])
        assert float(gaps[name][0]) == pytest.approx(gap, abs=0.005) and low <= gap <= high + 0.005, name
        assert 0.1 < float(gaps[name][3]) <= 1, "three lines prove nothing"
    assert main(["meaning", *files, *other, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["other"]["source_likeness"]["mean"] == 1 and found["other"]["succeeded"]["count"] == 0
    assert found["comparison"]["source_likeness"]["difference"] == pytest.approx(first.source_likeness - 1)


def test_a_users_function(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text("def likeness(text, reference):\n    return float(len(text) == len(reference))\n")
    assert main(["meaning", *files[:4], "--source-metric", "mine.py:likeness", "--terse"]) == 0
    assert float(capsys.readouterr().out) == pytest.approx(2 / 3, abs=1e-4)
    Path("wrong.py").write_text("def likeness(text, reference):\n    return 1 / 0\n")
    assert main(["meaning", *files[:4], "--source-metric", "wrong.py:likeness"]) == 3
    assert capsys.readouterr().err.count("\n") == 1


FAULTY = """
from dataclasses import dataclass
import numpy as np
from scuff.metrics import Mean

def boom(text, reference):
    if "Mann" in text and "schläft" in text:
        raise ValueError("boom")
    return 1.0

def none(text, reference):
    return float("nan") if text == "Zwei Männer sitzen." else 1.0

def one(text): ...

@dataclass(frozen=True)
class Mine(Mean):
    def values(self, answers, targets, labels=()):
        raise KeyError("boom")
"""


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("boom", 3, "line 3: expected a number from own_faulty.py:boom(text, reference), got ValueError: boom (SCUFF_DEBUG=1"),
        ("none", 2, "line 2: expected a number from own_faulty.py:none(text, reference), got nan"),
        ("one", 2, "expected a function of two texts, a text and its reference, or a metric, got own_faulty.py:one(text)"),
        ("Mine", 3, "lines 1 to 3: expected values from own_faulty.py:Mine, got KeyError: 'boom' (SCUFF_DEBUG=1 shows where)"),
    ],
)  # fmt: skip
def test_mistakes_of_a_users_metric(
    name: str, code: int, message: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("own_faulty.py").write_text(FAULTY)
    assert main(["meaning", *files[:4], "--source-metric", f"own_faulty.py:{name}"]) == code
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


def test_outputs_are_checked_before_anything_is_scored(
    files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(*anything: object, **options: object) -> None:
        raise AssertionError("scored")

    with monkeypatch.context() as patch:
        patch.setattr("scuff.evaluation.meaning.measure_meaning", score)
        for flags, message in (
            (["--jsonl", "ok", "--json", "nodir/x"], "nodir/x: expected a folder to write to"),
            (["--json", "ok", "--jsonl", "nodir/x"], "nodir/x: expected a folder to write to"),
            (["--json", "ok", "--jsonl", "./ok"], "expected two files for --json and --jsonl, got ./ok for both"),
            (["--json", "-", "--jsonl", "/dev/stdout"], "- for --json or for --jsonl, got it for both"),
        ):
            assert main(["meaning", *files, *flags]) == 2
            assert message in capsys.readouterr().err and not Path("ok").exists()
    Path("ok").write_text("before")
    assert main(["meaning", *files[:3], "gone", "--json", "ok"]) == 2
    assert "gone: expected a file, got nothing" in capsys.readouterr().err and Path("ok").read_text() == "before"


def test_progress_stays_off_standard_output(
    files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scuff.runs.progress.SELDOM", 0)
    monkeypatch.setattr("scuff.data.aligned.BLOCK", 2)
    for flags in ([], ["--terse"], ["--json", "-"], ["--jsonl", "-"]):
        assert main(["meaning", *files, *flags]) == 0
        told = capsys.readouterr()
        assert told.err == "2 lines\n3 lines\n" and "2 lines" not in told.out
    monkeypatch.setattr("scuff.runs.progress.OFTEN", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["meaning", *files, "--terse"]) == 0
    told = capsys.readouterr()
    assert told.err.endswith("\r       \r") and told.err.count("\n") == 0 and told.out.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--src", "src"], "expected --adv-src with --src for meaning, got none"),
        ([], "expected --src and --adv-src, --out and --adv-out, or all four for meaning, got none"),
        (["--src", "src", "--adv-src", "src", "--threshold", "-1"], "expected a number from 0 for --threshold, got -1.0"),
        (["--src", "src", "--adv-src", "src", "--s-src", "Zero-One"], "got 'Zero-One'; did you mean zero-one"),
        (["--src", "src", "--adv-src", "two"], "expected as many texts in every file, got 3 in src, 2 in two"),
        (["--src", "src", "--adv-src", "empty"], "expected as many texts in every file, got 3 in src, 0 in empty"),
        (["--src", "empty", "--adv-src", "empty"], "empty, empty: expected a text at least, got none"),
        (["--src", "src", "--adv-src", "latin"], "latin: line 1: expected UTF-8, got byte 0xe9 at byte 0 of the file"),
        (["--src", "src", "--adv-src", "gone"], "gone: expected a file, got nothing of that name"),
        (["--src", "src", "--adv-src", "src", "--s-src", "blue"], "the name of a metric, got 'blue'; did you mean bleu?"),
        (["--src", "src", "--adv-src", "src", "--scale", "0"], "expected a number above 0 for --scale, got 0.0"),
        (["--src", "src", "--adv-src", "src", "--jsonl", "src"], "src: expected an output other than the input"),
        (["--src", "src", "--adv-src", "src", "--json", "-", "--jsonl", "-"], "- for --json or for --jsonl, got it for both"),
    ],
)  # fmt: skip
def test_mistakes(flags: list[str], message: str, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("two").write_text("a\nb\n")
    Path("empty").touch()
    Path("latin").write_bytes(b"\xe9\nb\nc\n")
    assert main(["meaning", *flags]) == 2
    told = capsys.readouterr()
    assert message in told.err and told.err.count("\n") == 1 and not told.out
    assert Path("src").read_bytes().count(b"\n") == 3
