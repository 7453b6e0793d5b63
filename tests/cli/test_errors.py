"""Bad input: one line that says what was expected and where, exit code 2, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from scuff.cli.main import main

GOOD = "hello there\nmore text\n"
CASES: dict[str, tuple[str, bytes, list[str], str]] = {
    "no name": ("", b"", [""], "expected the name of a file, got none"),
    "missing file": ("", b"", ["gone.txt"], "gone.txt: expected a file, got nothing of that name"),
    "folder": ("", b"", ["."], "expected a folder with files, got one without"),
    "broken utf-8": (
        "a.txt",
        b"fine\nbro\xffken\n",
        [],
        "a.txt: line 2: expected UTF-8, got byte 0xff at byte 8 of the file",
    ),
    "utf-16": ("a.txt", "hello".encode("utf-16"), [], "line 1: expected UTF-8, got byte 0xff at byte 0"),
    "not gzip": ("a.txt.gz", b"plain", [], "expected gzip data"),
    "cut gzip": ("a.txt.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03K", [], "expected gzip data"),
    "unknown attack": (
        "a.txt",
        b"x",
        ["-a", "keybaord"],
        "expected the name of a perturbation, got 'keybaord'; did you mean keyboard",
    ),
    "unknown level": (
        "a.txt",
        b"x",
        ["-l", "huge"],
        "expected low, mid, high or a number in [0, 1] for level, got 'huge'",
    ),
    "strength above 1": ("a.txt", b"x", ["-l", "1.2"], "got '1.2'"),
    "missing column": (
        "a.csv",
        b"id,body\n1,x\n",
        ["-c", "text"],
        "a.csv: line 1: expected a column 'text', got id, body",
    ),
    "no guess": ("a.csv", b"a,b\n1,x\n", [], "a.csv: expected --column NAME, one or more of: a, b"),
    "short row": ("a.csv", b"id,text\n1,x\n2\n", [], "a.csv: line 3: expected 2 fields, got 1"),
    "open quote": (
        "a.csv",
        b'id,text\n1,"x\n',
        [],
        "a.csv: line 2: expected CSV, got a row that begins here: unexpected end of data",
    ),
    "empty csv": ("a.csv", b"", [], "a.csv: line 1: expected a header, got nothing"),
    "broken json": ("a.jsonl", b'{"text": "a"}\n{"text": \n', [], "a.jsonl: line 2: expected a JSON object"),
    "json list": ("a.jsonl", b"[1]\n", [], "line 1: expected a JSON object, got list"),
    "number for text": (
        "a.jsonl",
        b'{"text": 5}\n',
        [],
        "line 1: expected text or a list of tokens in column 'text', got int",
    ),
    "missing key": (
        "a.jsonl",
        b'{"txt": "a"}\n{"txt": "b"}\n',
        ["-c", "text"],
        "line 1: expected a column 'text', got txt",
    ),
    "corrupt gzip": ("a.txt.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + b"\xff" * 30, [], "expected gzip data"),
    "deep json": ("a.jsonl", b'{"text":' + b"[" * 200_000, [], "line 1: expected a JSON object"),
    "huge number": ("a.jsonl", b'{"text": "a", "n": ' + b"9" * 5000 + b"}", [], "line 1: expected a JSON object"),
    "semicolons": (
        "a.csv",
        b"text;label\nhello;x\n",
        [],
        "a.csv: line 1: expected columns between commas, got 'text;label'",
    ),
    "draw column": (
        "a.csv",
        b"text,draw\nhello,x\n",
        ["--draws", "2"],
        "line 2: expected no column 'draw', which is to be added",
    ),
    "conllu id": (
        "a.conllu",
        b"1-99999999999\tHello\t_\n\n",
        [],
        "a.conllu: line 1: expected CoNLL-U: number, tab, form",
    ),
    "line end": (
        "a.txt",
        b"hello\n",
        ["-a", "intrude(symbols='\\n')"],
        "expected a perturbation that puts no line ends into lines",
    ),
    "option type": (
        "a.txt",
        b"x",
        ["-a", "disemvowel(vowels=5)"],
        "expected at least one character for disemvowel.vowels, got 5",
    ),
    "phi type": ("a.txt", b"x", ["-a", "keyboard(phi='x')"], "expected a number in [0, 1] for keyboard.phi, got 'x'"),
    "no parquet": ("a.parquet", b"nonsense", [], "expected Parquet"),
    "segment tokens": (
        "a.conllu",
        b"1\tHello\t_\n\n",
        ["-a", "segment"],
        "expected a perturbation that keeps each token, got segment",
    ),
    "conllu without tabs": ("a.conllu", b"1 Hello\n\n", [], "a.conllu: line 1: expected CoNLL-U: number, tab, form"),
    "blanks in columns": (
        "a.conll",
        b"hello X\n",
        ["-a", "intrude(symbols=' ')"],
        "expected a perturbation that keeps each token, got intrude(symbols=' ')",
    ),
    "column of lines": (
        "a.txt",
        b"x",
        ["-c", "text"],
        "expected a table (csv, tsv, jsonl, json, parquet) for --column, got lines",
    ),
    "id of lines": ("a.txt", b"x", ["--id", "n"], "expected a table with a column 'n', got lines"),
    "format": ("a.txt", b"x", ["--format", "xml"], "for --format, got 'xml'"),
    "two perturbations": (
        "a.txt",
        b"x",
        ["-a", "keyboard", "-p", "truncate"],
        "expected one -p, got 2: -p 'keyboard+truncate' applies one after the other, -p 'keyboard|truncate' one of them",
    ),
    "whole and format": (
        "a.csv",
        b"text\nx\n",
        ["--whole", "--format", "csv"],
        "expected --whole or --format csv, got both",
    ),
    "draws": ("a.txt", b"x", ["--draws", "0"], "expected 1 or more for --copies, got 0"),
    "protect": ("a.txt", b"x", ["--protect", "url"], "to protect, got 'url'"),
    "select": (
        "a.txt",
        b"some text",
        ["--select", "most"],
        "expected quota, coin, each, below, edits, all for selection, got 'most'",
    ),
    "spans": (
        "a.jsonl",
        b'{"text": "a", "s": [1]}\n',
        ["--protect-spans", "s"],
        "line 1: expected [[start, stop], ...] inside the text in column 's'",
    ),
    "errors file": (
        "a.txt",
        b"x",
        ["-a", "natural(errors='gone.tsv')"],
        "expected a list of misspellings for natural.errors, got no file of the name gone.tsv",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    name, content, options, message = CASES[case]
    monkeypatch.chdir(tmp_path)
    if name:
        (tmp_path / name).write_bytes(content)
        options = [name, *options]
    suffix = "".join(Path(name).suffixes) or ".txt"
    attack = [] if "-a" in options else ["-a", "truncate"]
    before = set(os.listdir())
    assert main(["perturb", *options, *attack, "-o", f"out{suffix}"]) == 2
    out, err = capfd.readouterr()
    assert message in err and err.startswith("scuff: ") and err.count("\n") == 1 and not out
    assert set(os.listdir()) == before, "nothing is left behind"


def test_output_equal_to_input(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text(GOOD)
    (tmp_path / "link.txt").symlink_to(path)
    for target in ("a.txt", "link.txt"):
        assert main(["perturb", str(path), "-a", "truncate", "-o", str(tmp_path / target)]) == 2
        assert "expected an output other than the input" in capfd.readouterr().err
    assert path.read_text() == GOOD
    assert main(["perturb", str(path), "-a", "truncate", "-o", str(tmp_path / "no/such/out.txt")]) == 2
    assert "expected a folder to write to" in capfd.readouterr().err
    assert main(["perturb", str(path), "-a", "truncate", "-o", str(tmp_path / "out.csv")]) == 2
    assert "Scuff does not convert" in capfd.readouterr().err


def test_names_of_files_that_cannot_be(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(GOOD)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    command = ["perturb", str(tmp_path / "a.txt"), "-p", "truncate"]
    for flag in ("-o", "--edits"):
        assert main([*command, "-o", str(tmp_path / "out.txt"), flag, f"{tmp_path}/new/"]) == 2
        assert "new/: expected a file to write, got the name of a folder" in capfd.readouterr().err
    assert main(["perturb", str(tmp_path / "loop"), "-p", "truncate"]) == 2
    assert "loop: expected a file, got: a link that leads back to itself" in capfd.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "loop"]


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_an_error_at_the_first_record_leaves_stdout_empty(
    name: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / name).write_text({"a.csv": "text,draw\nx,1\n", "a.json": '[{"text": "x", "draw": 1}]'}[name])
    assert main(["perturb", str(tmp_path / name), "-p", "truncate", "--copies", "2"]) == 2
    out, err = capfdbinary.readouterr()
    assert not out and b"expected no column 'draw', which is to be added" in err


def test_edits_equal_to_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(GOOD)
    for out in (str(tmp_path / "out.txt"), "-"):
        assert main(["perturb", str(tmp_path / "a.txt"), "-a", "truncate", "-o", out, "--edits", out]) == 2
        assert "expected --edits to name another file than --output" in capfd.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["a.txt"]


def test_pipes_and_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(GOOD)
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    assert (
        main(["perturb", str(tmp_path / "a.txt"), "-a", "truncate", "-l", "1", "-o", str(tmp_path / "pipe"), "-q"]) == 0
    )
    assert reader.communicate(timeout=20)[0] == b"hell ther\nmor tex\n"
    assert not (tmp_path / "pipe").is_file()


def test_an_older_output_survives_a_failure(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"fine\n\xff\n")
    (tmp_path / "out.txt").write_text("precious")
    assert main(["perturb", str(tmp_path / "bad.txt"), "-a", "truncate", "-o", str(tmp_path / "out.txt")]) == 2
    assert (tmp_path / "out.txt").read_text() == "precious"


SCUFF = [sys.executable, "-m", "scuff"]


@pytest.mark.slow
def test_pipes(tmp_path: Path) -> None:
    done = subprocess.run(
        [*SCUFF, "perturb", "-", "-a", "truncate", "-l", "1"], input=GOOD.encode(), capture_output=True
    )
    assert done.returncode == 0 and done.stdout == b"hell ther\nmor tex\n"
    assert b"4 of 4 words changed (100.0%)" in done.stderr and b"\r" not in done.stderr
    big = tmp_path / "big.txt"
    big.write_text(GOOD * 200_000)
    head = subprocess.run(
        f"{sys.executable} -m scuff perturb {big} -a truncate | head -1", shell=True, capture_output=True
    )
    assert head.returncode == 0 and head.stderr == b"" and head.stdout.count(b"\n") == 1


def test_closed_streams(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(GOOD)

    def run(command: str) -> tuple[int, bytes, bytes]:
        done = subprocess.run(f"{sys.executable} -m scuff {command}", shell=True, capture_output=True, cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr

    assert run("perturb a.txt -p truncate -l 1 2>&-") == (0, b"hell ther\nmor tex\n", b"")
    assert run("perturb gone.txt -p truncate 2>&-") == (2, b"", b""), "no message stands among the data"
    assert run("zeroe a.txt -p truncate -o out >&- 2>&-")[0] == 0 and (tmp_path / "out/all.txt").exists()
    code, _, err = run("perturb a.txt -p truncate >&-")
    assert code == 2 and err == b"scuff: expected standard output, got none: it is closed\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    job = subprocess.Popen(
        [*SCUFF, "perturb", "-", "-a", "truncate", "-o", str(tmp_path / "out.txt")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, number, signal.SIG_DFL),  # tests that nohup started ignore hang-ups
    )
    assert job.stdin and job.stderr
    job.stdin.write(GOOD.encode() * 4000)  # more than is looked at to know what it is
    job.stdin.flush()
    for _ in range(200):
        if list(tmp_path.iterdir()):
            break
        time.sleep(0.05)
    for _ in range(20):  # one that comes just before the process begins to wait for input is seen only after that
        job.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            job.wait(2)
            break
    assert job.returncode == 130
    said = job.stderr.read()
    assert said.startswith(b"scuff: interrupted") and said.count(b"\n") == 1 and not list(tmp_path.iterdir())
    assert b"the same command starts from the beginning" in said
    job.stdin.close()
    job.stderr.close()


def test_usage_errors_exit_with_2() -> None:
    for argv in (["nonsense"], ["perturb"], ["perturb", "x.txt"], ["list", "--tag", "evil"]):
        with pytest.raises(SystemExit) as stop:
            main(argv)
        assert stop.value.code == 2


def test_usage_errors_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for argv, message in (
        (["perturb", "x.txt"], "scuff perturb: error: the following arguments are required: -p"),
        (["perturb", "x.txt", "-p", "truncate", "--colunm", "a"], "got --colunm a; did you mean --column? (see"),
        (["evaluate", "--cases", "x"], "scuff evaluate: error: argument --cases: invalid int value: 'x' (see"),
        (["attak", "x"], "scuff: error: expected a command, got 'attak'; did you mean attack? (see scuff --help)"),
    ):  # fmt: skip
        with pytest.raises(SystemExit):
            main(argv)
        err = capsys.readouterr().err
        assert message in err and err.count("\n") == 1


@pytest.mark.parametrize("command", ["perturb", "shield", "augment", "evaluate"])
def test_what_an_interrupt_says_is_true(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"scuff.cli.{command}.run", interrupted)
    assert main([command, "a", *(["-p", "truncate"] if command == "perturb" else [])]) == 130
    what = "goes on" if command == "evaluate" else "starts from the beginning"
    assert capsys.readouterr().err.endswith(f"and the same command {what}\n")


def test_a_user_part_that_raises_anything_gives_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "broken_part.py").write_text("raise ZeroDivisionError('oh')\n")
    (tmp_path / "a.txt").write_text(GOOD)
    assert main(["perturb", "a.txt", "-p", "broken_part:Any"]) in (2, 3)
    err = capsys.readouterr().err
    assert err.startswith("scuff: ") and "oh" in err and err.count("\n") == 1


def test_an_output_that_is_a_link_stays_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, real = tmp_path / "a.txt", tmp_path / "real.txt"
    source.write_text(GOOD)
    real.write_text("old")
    real.chmod(0o640)
    (tmp_path / "link.txt").symlink_to(real)
    (tmp_path / "new.txt").symlink_to(tmp_path / "later.txt")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    for name, target in (("link.txt", real), ("new.txt", tmp_path / "later.txt")):
        assert main(["perturb", str(source), "-p", "truncate", "-l", "1", "-q", "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).is_symlink() and target.read_text() == "hell ther\nmor tex\n"
    assert real.stat().st_mode & 0o777 == 0o640
    assert main(["perturb", str(source), "-p", "truncate", "-o", str(tmp_path / "loop.txt")]) == 2
    assert "got a link that leads back to itself" in capsys.readouterr().err
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(GOOD)
    assert main(["perturb", str(tmp_path / "a.txt"), "-p", "truncate", "-o", "/dev/full"]) == 3
    err = capsys.readouterr().err
    assert err == "scuff: /dev/full: expected to write it, got: No space left on device\n"
    with open("/dev/full", "wb") as full:
        job = [*SCUFF, "perturb", str(tmp_path / "a.txt"), "-p", "truncate", "-q"]
        done = subprocess.run(job, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3 and done.stderr == b"scuff: standard output: " + err.split(": ", 2)[2].encode()


def test_odd_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(GOOD)
    command = ["perturb", str(tmp_path / "a.txt"), "-p", "truncate", "-l", "1", "-q", "-o"]
    assert main([*command, "/dev/stdout"]) == 0 and capfd.readouterr().out == "hell ther\nmor tex\n"
    assert main([*command, str(tmp_path / ("x" * 250 + ".txt"))]) == 0, "the temporary name must not be too long"
    assert main([*command, str(tmp_path)]) == 2 and "got a folder" in capfd.readouterr().err
    monkeypatch.setattr(os, "access", lambda *_: False)
    (tmp_path / "b.txt").write_text("precious")
    assert main([*command, str(tmp_path / "b.txt")]) == 2 and (tmp_path / "b.txt").read_text() == "precious"
    assert "b.txt: expected a file that can be written, got one that is read-only" in capfd.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(GOOD)
    (tmp_path / "locked").mkdir(mode=0o555)
    assert main(["perturb", str(tmp_path / "a.txt"), "-p", "truncate", "-o", str(tmp_path / "locked/b.txt")]) == 2
    assert "locked/b.txt: expected a file that can be written, got: Permission denied" in capfd.readouterr().err
