"""`scuff meaning`: what it prints and writes, the names of the authors' tool, and mistakes in one line."""

from __future__ import annotations

import gzip
import json
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
    assert main(["meaning", *files, "--other-adv-src", "src", "--other-adv-out", "out"]) == 0
    shown = capsys.readouterr().out
    assert "the other attack" in shown and "this attack less the other" in shown and "succeeded, %" in shown


def test_a_users_function(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text("def likeness(text, reference):\n    return float(len(text) == len(reference))\n")
    assert main(["meaning", *files[:4], "--source-metric", "mine.py:likeness", "--terse"]) == 0
    assert float(capsys.readouterr().out) == pytest.approx(2 / 3, abs=1e-4)
    Path("wrong.py").write_text("def likeness(text, reference):\n    return 1 / 0\n")
    assert main(["meaning", *files[:4], "--source-metric", "wrong.py:likeness"]) == 3
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--src", "src"], "expected adv_src with src for meaning, got none"),
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
