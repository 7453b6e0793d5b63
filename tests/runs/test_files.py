"""Files in blocks and partitions: the same bytes for any number of workers, also after a command was killed."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scuff.cli.main import main
from scuff.data import blocks
from scuff.data.formats.streams import replacing
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


def test_an_input_that_cannot_be_read_leaves_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    Path("x1.txt").write_text(lines())
    assert main([*PERTURB, "x1.txt", "x2.txt", "-o", "out", "--edits", "changes"]) == 2
    assert "x2.txt: expected a file, got nothing of that name" in capsys.readouterr().err
    assert os.listdir() == ["x1.txt"]


def test_links_in_a_folder_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("far", "parts", "parts/_not"):
        Path(folder).mkdir()
    Path("far/b.txt").write_text(lines())
    Path("parts/a.txt").write_text(lines(40))
    Path("parts/day=1").symlink_to("../far")
    Path("parts/_not/gone.txt").symlink_to("nothing")
    assert main([*PERTURB, "parts", "-o", "out"]) == 0
    assert [str(path.relative_to("out")) for path in sorted(Path("out").rglob("*.txt"))] == ["a.txt", "day=1/b.txt"]
    Path("far/gone.txt").symlink_to("nothing")
    assert main([*PERTURB, "parts", "-o", "out"]) == 2
    assert "parts/day=1/gone.txt: expected a file, got a link to nothing" in capsys.readouterr().err
    Path("far/gone.txt").unlink()
    Path("far/back").symlink_to("../parts")
    assert main([*PERTURB, "parts", "-o", "out"]) == 2
    assert "parts/day=1/back: expected a folder, got a link that leads back" in capsys.readouterr().err


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
        (["in", "-o", "in/out"], "in/out: expected a folder outside the input in for --output, got one inside"),
        (["in", "-o", "out", "--edits", "in"], "in: expected a folder without inputs, got one with in/a.txt"),
        (["in/**/*.txt", "-o", "in/o"], "in/o: expected a folder outside the input in for --output, got one inside"),
        (["in/a.txt", "a.txt.jsonl", "-o", "out", "--edits", "out"], "out/a.txt.jsonl: expected --output to name another"),
        (["in", "-o", "linked"], "linked/a.txt: expected an output other than the input, got the same file"),
        (["a.txt", "-o", "hard.txt"], "hard.txt: expected an output other than the input, got the same file"),
        (["a.txt", "-o", "s3://bucket/b.txt"], "expected a path on this disk for --output, got s3://bucket/b.txt"),
        (["a.txt", "-o", "b", "--edits", "s3://c/d"], "expected a path on this disk for --edits, got s3://c/d"),
        (["a.txt", "s3://c/d?key=1", "-o", "out"], "expected files on this disk, since the input is several, got s3://c/d a"),
        (["a.txt", "pipe", "-o", "out"], "pipe: expected files, since the input is several, got a pipe or a device"),
        (["a.txt", "in/a.csv", "-c", "x", "-o", "out"], "a.txt: expected a table"),
        (["a.txt", "-o", "held"], "held.parts: expected a folder for the parts of the output, got something else"),
    ],
)  # fmt: skip
def test_errors(flags: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text(lines())
    Path("in").mkdir()
    Path("in/a.txt").write_text("a\n")
    Path("a.txt.jsonl").write_text('{"text": "a"}\n')
    Path("linked").mkdir()
    Path("linked/a.txt").symlink_to(Path("in/a.txt").absolute())
    Path("hard.txt").hardlink_to("a.txt")
    os.mkfifo("pipe")
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


@pytest.mark.filterwarnings("default")
def test_a_file_system_without_locks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import fcntl

    def refuse(*given: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    Path("a.txt").write_text(lines())
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 0
    assert "b.txt.parts: cannot be locked (Operation not supported): see to it" in capsys.readouterr().err


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


def interrupted(monkeypatch: pytest.MonkeyPatch, jobs: int, *command: str) -> None:
    """Interrupts a command after some of its blocks."""
    from scuff.runs.engines import open as opening

    with monkeypatch.context() as patch:
        patch.setattr(opening, "open_engine", lambda *given: Stopped(jobs))
        assert main([*command]) == 130


def blocks_done(monkeypatch: pytest.MonkeyPatch, *command: str) -> int:
    """Runs a command. Returns how many blocks it has done."""
    done, treat = [], files._do
    with monkeypatch.context() as patch:
        patch.setattr(files, "_do", lambda treatment, job: [done.append(job.start), treat(treatment, job)][1])
        assert main([*command]) == 0
    return len(done)


@pytest.mark.parametrize(("spoil", "again"), [("nothing", 3), ("deleted", 9), ("changed", 9)])
def test_a_finished_file_that_is_gone_is_made_again(spoil: str, again: int, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("in").mkdir()
    for name, first in (("a.txt", 0), ("b.txt", 40)):
        Path("in", name).write_text(lines(first))
    interrupted(monkeypatch, 9, *PERTURB, "in", "-o", "out", "--edits", "told")
    assert Path("out/a.txt").exists() and not Path("out/b.txt").exists()
    if spoil == "deleted":
        Path("told/a.txt.jsonl").unlink()
    elif spoil == "changed":
        Path("out/a.txt").write_text("mine")
    assert blocks_done(monkeypatch, *PERTURB, "in", "-o", "out", "--edits", "told") == again
    assert Path("out/a.txt").read_bytes() == at_once(lines(), monkeypatch)
    assert len(Path("told/a.txt.jsonl").read_text().splitlines()) == 40


def test_a_file_that_the_perturbation_reads_is_part_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.txt").write_text(lines())
    Path("errors.txt").write_text("number\tnubmer\n")
    command = ["perturb", "a.txt", "-o", "b.txt", "-p", "natural(errors='errors.txt')", "-q"]
    interrupted(monkeypatch, 3, *command)
    Path("errors.txt").write_text("number\tnumbre\n")
    assert blocks_done(monkeypatch, *command) == 6
    assert "nubmer" not in Path("b.txt").read_text() and "numbre" in Path("b.txt").read_text()


@pytest.mark.parametrize("when", ["put_in_place", "note", "clean"])
def test_parquet_killed_while_it_is_finished(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from scuff.data.formats import parquet
    from scuff.data.parts import Parts

    monkeypatch.setattr(parquet, "BATCH", 10)
    monkeypatch.setattr(blocks, "ROWS", 10)
    pq.write_table(pa.table({"text": lines().splitlines()}), "a.parquet")
    command = ["a.parquet", "-o", "b.parquet", "--edits", "e.jsonl"]
    assert main([*PERTURB, *command]) == 0
    wanted = Path("b.parquet").read_bytes(), Path("e.jsonl").read_bytes()

    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    def stop_at_the_end(parts: Parts, entry: dict[str, object]) -> None:
        stop() if "start" not in entry else note(parts, entry)

    note = Parts.note
    with monkeypatch.context() as patch:
        if when == "note":
            patch.setattr(Parts, "note", stop_at_the_end)
        else:
            patch.setattr(*((files, when) if when == "put_in_place" else (files._Stream, when)), stop)
        assert main([*PERTURB, *command]) == 130
    next(Path("b.parquet.parts").glob("0-*.part")).unlink()
    assert main([*PERTURB, *command]) == 0
    assert (Path("b.parquet").read_bytes(), Path("e.jsonl").read_bytes()) == wanted
    assert not Path("b.parquet.parts").exists()


def test_killed_between_the_names_of_two_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first that gets its name is the file of edits, which is empty here: nothing is mended."""
    Path("a.txt").write_text(lines())
    command, finish = (
        ["shield", "--shield", "normalise", "-q", "a.txt", "-o", "b.txt", "--edits", "e.jsonl"],
        files._Stream.finish,
    )

    def finish_and_stop(stream: files._Stream) -> None:
        finish(stream)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files._Stream, "finish", finish_and_stop)
        assert main(command) == 130
    assert Path("e.jsonl").read_bytes() == b"" and not Path("b.txt").exists()
    assert main(command) == 0
    assert Path("b.txt").read_text() == lines() and Path("e.jsonl").read_bytes() == b""
    assert not Path("b.txt.parts").exists()


def test_what_is_hidden_from_others_stays_hidden_while_it_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.txt").write_text(lines())
    Path("b.txt").write_text("old")
    Path("b.txt").chmod(0o600)
    interrupted(monkeypatch, 3, *PERTURB, "a.txt", "-o", "b.txt")
    assert stat.S_IMODE(Path("b.txt.parts").stat().st_mode) == 0o700
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 0
    assert stat.S_IMODE(Path("b.txt").stat().st_mode) == 0o600
    with replacing("b.txt"):
        (part,) = Path().glob(".b.txt.*.part")
        assert stat.S_IMODE(part.stat().st_mode) == 0o600


def test_a_power_cut_may_leave_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.txt").write_text(lines())
    interrupted(monkeypatch, 3, *PERTURB, "a.txt", "-o", "b.txt")
    done = Path("b.txt.parts/done.jsonl")
    done.write_bytes(done.read_bytes() + bytes(20) + b"\n" + bytes(9))
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 0
    assert Path("b.txt").read_bytes() == at_once(lines(), monkeypatch)


@pytest.mark.parametrize("last", ["0-1000.part", "done.jsonl", "key.json", "lock"])
def test_a_killed_removal_stops_nobody(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from scuff.data.parts import Parts

    Path("a.txt").write_text(lines())
    interrupted(monkeypatch, 3, *PERTURB, "a.txt", "-o", "b.txt")
    Path("b.txt.parts/0-1000.part").write_text("")
    unlink = Path.unlink

    def until(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok)
        if path.name == last:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", until)
        with pytest.raises(KeyboardInterrupt):
            Parts("b.txt").remove()
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 0
    assert Path("b.txt").read_bytes() == at_once(lines(), monkeypatch) and not Path("b.txt.parts").exists()


def test_a_full_disk_names_the_file_and_the_way_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from scuff.data.formats import streams

    Path("a.txt").write_text(lines())
    free, write = 2000, streams._Output.write

    def limited(file: object, data: object) -> int:
        """A disk on which the last write is short, as on a real one."""
        nonlocal free
        content = bytes(data)[: max(free, 0)]  # type: ignore[call-overload]
        if not content:
            raise streams.CannotWrite.of(file.shown, OSError(errno.ENOSPC, "No space left on device"))  # type: ignore[attr-defined]
        free -= len(content)
        return write(file, content)  # type: ignore[arg-type]

    monkeypatch.delattr(os, "copy_file_range", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr(streams._Output, "write", limited)
        assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 3
    said = capsys.readouterr().err
    assert (
        "b.txt.parts/" in said
        and "expected to write it, got: No space left on device; the same command goes on" in said
    )
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 0
    assert Path("b.txt").read_bytes() == at_once(lines(), monkeypatch) and not Path("b.txt.parts").exists()


def test_what_fails_before_a_block_is_done_leaves_no_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nowhere(*given: object) -> None:
        raise ConnectionError("expected a Ray cluster at 10.0.0.5:6379, got: Connection refused")

    monkeypatch.setattr("scuff.runs.engines.open.open_engine", nowhere)
    Path("a.txt").write_text(lines())
    assert main([*PERTURB, "a.txt", "-o", "b.txt"]) == 2
    assert "expected a Ray cluster" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["a.txt"]


def test_short_writes_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from scuff.data.formats import streams
    from scuff.data.parts import append, join_pieces

    write = streams._Output.write
    monkeypatch.setattr(streams._Output, "write", lambda file, data: write(file, bytes(data)[:7]))
    monkeypatch.delattr(os, "copy_file_range", raising=False)
    Path("a").write_text(lines())
    join_pieces(Path("b"), [Path("a"), b"some bytes between\n", Path("a")])
    append(Path("a"), Path("b"))
    assert Path("b").read_text() == f"{lines()}some bytes between\n{lines()}{lines()}" and not Path("a").exists()


def test_a_pipe_is_written_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.txt").write_text(lines())
    os.mkfifo("pipe")
    reading = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
    assert main([*PERTURB, "a.txt", "-o", "pipe"]) == 0
    assert reading.communicate(timeout=60)[0] == at_once(lines(), monkeypatch) and Path("pipe").is_fifo()


def test_detection_writes_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("in").mkdir()
    Path("in/a.csv").write_text("text\nsome words\n")
    assert main(["shield", "in", "--detect", "-q", "-o", "out"]) == 0
    assert json.loads(Path("out/a.csv.jsonl").read_text())["row"] == 0 and os.listdir("out") == ["a.csv.jsonl"]


def test_what_one_process_does_blocks_do(capsys: pytest.CaptureFixture[str]) -> None:
    """The same errors, and the same names that are allowed, for small files and big ones."""
    Path("a.txt").write_text(lines())
    Path("small.txt").write_text("one line\n")
    Path("file").write_text("")
    for name in ("small.txt", "a.txt"):
        for output in ("new/", "new/b.txt", "file/b.txt"):
            assert main([*PERTURB, name, "-o", output]) == 2
            assert not Path("new").exists() and capsys.readouterr().err.startswith(f"scuff: {output}: expected a f")
        assert main([*PERTURB, name, "-o", "x" * 250]) == 0
    assert not list(Path().glob("*.parts"))


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
