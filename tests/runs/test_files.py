"""Files in blocks and partitions: the same bytes for any number of workers, also after a command was killed."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scuff.cli.main import main
from scuff.data import blocks
from scuff.runs import files
from scuff.runs.engines.here import Here

PERTURB = ["perturb", "-p", "truncate", "-l", "0.5", "-q"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Blocks of a few lines, in an own folder."""
    monkeypatch.setattr(blocks, "SIZE", 200)
    monkeypatch.chdir(tmp_path)
    return


def lines(first: int = 0, count: int = 40) -> str:
    return "".join(f"line number {n} of several lines\n" for n in range(first, first + count))


def at_once(content: str, monkeypatch: pytest.MonkeyPatch, *flags: str) -> bytes:
    """Returns what becomes of lines in one process, from the beginning to the end."""
    Path("whole.txt").write_text(content)
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "SIZE", 1 << 30)
        assert main([*PERTURB, "whole.txt", "-o", "whole.out", *flags]) == 0
    return Path("whole.out").read_bytes()


def test_blocks_are_joined(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = at_once(lines(), monkeypatch, "--copies", "2", "--edits", "whole.jsonl")
    Path("a.txt").write_text(lines())
    assert main([*PERTURB[:-1], "a.txt", "-o", "b.txt", "--copies", "2", "--edits", "b.jsonl"]) == 0
    assert "80 texts in b.txt" in capsys.readouterr().err
    assert Path("b.txt").read_bytes() == wanted and Path("b.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert not list(Path().glob("*.parts"))


def test_a_folder_of_partitions(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, first in (("day=1/a.txt", 0), ("day=2/a.txt", 40), ("_SUCCESS", 0), (".hidden/a.txt", 0)):
        Path("in", name).parent.mkdir(parents=True, exist_ok=True)
        Path("in", name).write_text(lines(first))
    with gzip.open("in/c.txt.gz", "wt") as out:
        out.write(lines(7))
    assert main([*PERTURB, "in", "-o", "out", "--edits", "told", "--workers", "1"]) == 0
    for name, first in (("day=1/a.txt", 0), ("day=2/a.txt", 40)):
        assert Path("out", name).read_bytes() == at_once(lines(first), monkeypatch)
        assert len(Path("told", f"{name}.jsonl").read_text().splitlines()) == 40
    assert gzip.decompress(Path("out/c.txt.gz").read_bytes()) == at_once(lines(7), monkeypatch)
    assert sorted(str(path.relative_to("out")) for path in Path("out").rglob("*") if path.is_file()) == [
        "c.txt.gz", "day=1/a.txt", "day=2/a.txt",
    ]  # fmt: skip
    assert main([*PERTURB, "in/day=*/a.txt", "-o", "other"]) == 2
    assert "expected inputs of different names, got a.txt twice" in capsys.readouterr().err


def test_patterns_and_several_files(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x1.txt").write_text(lines())
    Path("x2.txt").write_text(lines(40))
    assert main([*PERTURB, "x*.txt", "-o", "out"]) == 0
    assert main([*PERTURB, "x2.txt", "x1.txt", "-o", "again"]) == 0
    for name, first in (("x1.txt", 0), ("x2.txt", 40)):
        wanted = at_once(lines(first), monkeypatch)
        assert Path("out", name).read_bytes() == Path("again", name).read_bytes() == wanted


class Stopped(Here):
    """An engine that is interrupted after some jobs."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def run(self, *given: object, **more: object) -> Iterator[object]:  # type: ignore[override]
        for done, each in enumerate(super().run(*given, **more)):  # type: ignore[arg-type]
            if done == self.jobs:
                raise KeyboardInterrupt
            yield each


@pytest.mark.parametrize("jobs", [1, 3, 5])
def test_an_interrupted_command_goes_on(
    jobs: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from scuff.runs.engines import open as opening

    wanted = at_once(lines(), monkeypatch)
    Path("a.txt").write_text(lines())
    Path("b.txt").write_text("old")
    usual = opening.open_engine
    monkeypatch.setattr(opening, "open_engine", lambda *given: Stopped(jobs))
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 130
    said = capsys.readouterr().err
    assert "no file was left half written, and the same command goes on from " in said and said.endswith(
        "b.txt.parts\n"
    )
    assert Path("b.txt").read_text() == "old" and Path("b.txt.parts").is_dir()
    done = []
    treat = files._do
    monkeypatch.setattr(files, "_do", lambda treatment, job: [done.append(job.start), treat(treatment, job)][1])
    monkeypatch.setattr(opening, "open_engine", usual)
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 0
    assert Path("b.txt").read_bytes() == wanted and len(done) == 6 - jobs and not Path("b.txt.parts").exists()


def test_other_settings_or_another_file_begin_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from scuff.runs.engines import open as opening

    Path("a.txt").write_text(lines())
    with monkeypatch.context() as patch:
        patch.setattr(opening, "open_engine", lambda *given: Stopped(3))
        assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 130
    Path("a.txt").write_text(lines(1))
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 0
    assert Path("b.txt").read_bytes() == at_once(lines(1), monkeypatch)


def test_the_first_error_of_the_file_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    bad = lines().encode().replace(b"number 7", b"numb\xe9r 7").replace(b"number 30", b"numb\xe9r 30")
    Path("a.txt").write_bytes(bad)
    assert main([*PERTURB, "a.txt", "-o", "b.txt", "--workers", "2"]) == 2
    assert "a.txt: line 8: expected UTF-8, got byte 0xe9" in capsys.readouterr().err
    assert sorted(os.listdir()) == ["a.txt"]


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["a.txt", "a.txt", "-o", "out"], "out: expected inputs of different names, got a.txt twice"),
        (["a.txt", "-", "-o", "out"], "expected files, since the input is several, got standard input among them"),
        (["in", "-o", "a.txt"], "expected a folder for --output, since the input is several files, got a.txt"),
        (["in"], "expected a folder for --output, since the input is several files, got -"),
        (["in", "-o", "in"], "in: expected a folder without inputs, got one with in/a.txt"),
        (["none", "-o", "b"], "none: expected a file, got nothing of that name"),
        (["none*", "-o", "b"], "none*: expected a pattern that some files match, got one without"),
        (["a.txt", "-o", "b", "--workers", "0"], "expected 1 or more for --workers, got 0"),
        (["a.txt", "-o", "b", "--address", "auto"], "expected engine ray for address auto, got local"),
        (["a.txt", "-o", "held"], "held.parts: expected a folder for the parts of the output, got something else"),
    ],
)  # fmt: skip
def test_errors(flags: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text(lines())
    Path("in").mkdir()
    Path("in/a.txt").write_text("a\n")
    Path("held.parts").mkdir()
    Path("held.parts/mine").write_text("")
    assert main([*PERTURB, *flags]) == 2
    assert told in capsys.readouterr().err


def test_another_process_is_not_disturbed(capsys: pytest.CaptureFixture[str]) -> None:
    import fcntl

    Path("a.txt").write_text(lines())
    Path("b.txt.parts").mkdir()
    with open("b.txt.parts/lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 2
    assert "expected an output that nobody writes, got one that another process is busy with" in capsys.readouterr().err


def test_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from scuff.data.formats import parquet

    monkeypatch.setattr(parquet, "BATCH", 10)
    pq.write_table(pa.table({"text": lines().splitlines(), "n": range(40)}), "a.parquet", row_group_size=17)
    assert main([*PERTURB, "a.parquet", "-o", "whole.parquet", "-c", "text"]) == 0
    monkeypatch.setattr(blocks, "ROWS", 20)
    assert main([*PERTURB, "a.parquet", "-o", "b.parquet", "-c", "text"]) == 0
    assert Path("b.parquet").read_bytes() == Path("whole.parquet").read_bytes()
    assert pq.ParquetFile("b.parquet").num_row_groups == 4


@pytest.mark.filterwarnings("default")
@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_language_is_told_once(workers: str, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("a.txt", "b.txt"):
        Path(name).write_text("Das ist ein ganz normaler deutscher Text, den nicht jeder lesen kann.\n" * 2)
    assert main(["perturb", "a.txt", "b.txt", "-p", "phonetic", "-o", "out", "--workers", workers, "-q"]) == 0
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith("scuff: warning: phonetic is made for English, but the texts look")


BIG = "import sys; from scuff.data import blocks; blocks.SIZE = 20000\n"
COMMAND = [sys.executable, "-c", BIG + "from scuff.cli.main import main; sys.exit(main(sys.argv[1:]))", *PERTURB]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_workers_give_the_same_bytes_also_after_kill(kind: str) -> None:
    texts = [f"A longer text, number {n}, of a file that has\nmany of them, {'x ' * (n % 50)}" for n in range(4000)]
    if kind == "csv":
        rows = "".join(f'{n},"{text}"\n' for n, text in enumerate(texts))
        Path("a.csv").write_text(f"n,text\n{rows}")
    else:
        Path("a.jsonl").write_text("".join(json.dumps({"n": n, "text": text}) + "\n" for n, text in enumerate(texts)))
    flags = [f"a.{kind}", "-c", "text", "--id", "n", "--edits", "e.jsonl"]
    found = []
    for workers in ("1", "2", "4"):
        subprocess.run([*COMMAND, *flags, "-o", f"b.{kind}", "--workers", workers], check=True)
        found.append((Path(f"b.{kind}").read_bytes(), Path("e.jsonl").read_bytes()))
    assert found[0] == found[1] == found[2]
    Path(f"b.{kind}").unlink()
    for wait in (1.5, 0.3):  # until some blocks are done, then killed, then once more
        running = subprocess.Popen([*COMMAND, *flags, "-o", f"b.{kind}", "--workers", "2"], start_new_session=True)
        done = Path(f"b.{kind}.parts/done.jsonl")
        before = len(done.read_text().splitlines()) if done.exists() else 0
        deadline = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < deadline:
            if done.exists() and len(done.read_text().splitlines()) > before + 2:
                break
            time.sleep(0.01)
        time.sleep(wait * 0.01)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        assert not Path(f"b.{kind}").exists() and done.exists()
    subprocess.run([*COMMAND, *flags, "-o", f"b.{kind}", "--workers", "2"], check=True)
    assert (Path(f"b.{kind}").read_bytes(), Path("e.jsonl").read_bytes()) == found[0]
    assert not done.parent.exists()
