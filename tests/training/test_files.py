"""Augmenting files in blocks and partitions gives the bytes of one process: no copy is equal to an example or another copy."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scuff.cli.main import main
from scuff.data import blocks
from scuff.runs.engines import open as opening
from scuff.runs.engines.here import Here

DIMENSIONS = ["--dimensions", "typo-g", "keyboard", "--degree", "0.4"]
TEXTS = [f"some words of text {n % 17} here" for n in range(60)]  # many are equal, and so are their copies
TABLE = "text,label\n" + "".join(f'"{text}",{n % 2}\n' if n % 9 else "\n" for n, text in enumerate(TEXTS))


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def small(monkeypatch: pytest.MonkeyPatch, size: int = 300) -> None:
    monkeypatch.setattr(blocks, "SIZE", size)


def augmented(monkeypatch: pytest.MonkeyPatch, name: str, *flags: str) -> tuple[bytes, bytes]:
    """Returns what one process and what blocks write."""
    assert main(["augment", name, "-o", f"whole.{name}", *flags]) == 0
    with monkeypatch.context() as patch:
        small(patch)
        assert main(["augment", name, "-o", f"blocks.{name}", *flags]) == 0
    return Path(f"whole.{name}").read_bytes(), Path(f"blocks.{name}").read_bytes()


@pytest.mark.parametrize(
    "flags",
    [
        [*DIMENSIONS, "--trace"],
        [*DIMENSIONS, "--copies", "3", "--share", "0.5", "--exact", "--only-perturbed"],
        ["--mixture", "keyboard,typo@low", "--trace", "--id", "label"],
        ["--mixture", "keyboard,typo,clean", "--only-perturbed"],
    ],
)
def test_csv(flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("\ufeff" + TABLE, encoding="utf-8")
    whole, found = augmented(monkeypatch, "a.csv", *flags)
    assert whole == found
    told = [line for line in capsys.readouterr().err.splitlines() if "examples" in line]
    assert len(told) == 2 and told[0].replace("whole.", "") == told[1].replace("blocks.", "")
    assert sorted(path.name for path in Path().iterdir()) == ["a.csv", "blocks.a.csv", "whole.a.csv"]


def test_json_lines_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [json.dumps({"text": text, "label": n % 2}) + "\n" for n, text in enumerate(TEXTS)]
    Path("a.jsonl").write_text("".join(lines))
    whole, found = augmented(monkeypatch, "a.jsonl", *DIMENSIONS, "-q")
    assert whole == found
    sentences = ["".join(f"{word}\tX\n" for word in text.split()) + "\n" for text in TEXTS]
    Path("a.conll").write_text("".join(sentences))
    whole, found = augmented(monkeypatch, "a.conll", "--dimensions", "keyboard", "--degree", "0.5", "-q")
    assert whole == found


def test_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from scuff.data.formats import parquet

    monkeypatch.setattr(parquet, "BATCH", 10)
    monkeypatch.setattr(blocks, "ROWS", 1 << 20)
    pq.write_table(pa.table({"text": TEXTS, "label": [n % 2 for n in range(60)]}), "a.parquet", row_group_size=25)
    assert main(["augment", "a.parquet", "-o", "whole.parquet", *DIMENSIONS, "-q"]) == 0
    monkeypatch.setattr(blocks, "ROWS", 20)
    assert main(["augment", "a.parquet", "-o", "b.parquet", *DIMENSIONS, "-q"]) == 0
    assert Path("b.parquet").read_bytes() == Path("whole.parquet").read_bytes()
    assert pq.read_table("b.parquet").num_rows > 60


def test_partitions_are_one_data_set(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rows, header = TABLE.splitlines(keepends=True)[1:], "text,label\n"
    Path("a.csv").write_text(TABLE)
    for number in range(3):
        Path("in").mkdir(exist_ok=True)
        Path(f"in/{number}.csv").write_text(header + "".join(rows[20 * number : 20 * number + 20]))
    assert main(["augment", "a.csv", "-o", "whole.csv", *DIMENSIONS, "-q"]) == 0
    small(monkeypatch)
    assert main(["augment", "in", "-o", "out", *DIMENSIONS, "-q"]) == 0
    parts = [Path(f"out/{number}.csv").read_text() for number in range(3)]
    assert header + "".join(part.removeprefix(header) for part in parts) == Path("whole.csv").read_text()
    Path("in/+.csv").write_text(header)  # of a partition without rows its header is written
    Path("in/9.jsonl").touch()
    assert main(["augment", "in", "-o", "out", *DIMENSIONS, "-q"]) == 0
    assert parts == [Path(f"out/{number}.csv").read_text() for number in range(3)]
    assert Path("out/+.csv").read_text() == header and Path("out/9.jsonl").read_bytes() == b""
    Path("in/d.json").write_text("[]")
    assert main(["augment", "in", "-o", "out", *DIMENSIONS, "-q"]) == 2
    assert "in/d.json: expected csv, tsv, jsonl, parquet or tokens in UTF-8" in capsys.readouterr().err


class Stopped(Here):
    """An engine that is interrupted after some jobs."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def run(self, *given: object, **more: object) -> Iterator[object]:  # type: ignore[override]
        for each in super().run(*given, **more):  # type: ignore[arg-type]
            if not self.jobs:
                raise KeyboardInterrupt
            self.jobs -= 1
            yield each


@pytest.mark.parametrize("jobs", [2, 8])  # in the first step, and in the second
def test_an_interrupted_command_goes_on(
    jobs: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.csv").write_text(TABLE)
    command = ["augment", "a.csv", *DIMENSIONS, "-q", "-o"]
    assert main([*command, "whole.csv"]) == 0
    small(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(opening, "open_engine", lambda *given: Stopped(jobs))
        assert main([*command, "b.csv"]) == 130
    assert "the same command goes on" in capsys.readouterr().err and not Path("b.csv").exists()
    assert main([*command, "b.csv"]) == 0
    assert Path("b.csv").read_bytes() == Path("whole.csv").read_bytes()


@pytest.mark.slow
def test_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.csv").write_text(TABLE)
    small(monkeypatch)
    found = []
    for workers in ("1", "3"):
        assert main(["augment", "a.csv", "-o", "b.csv", *DIMENSIONS, "--workers", workers, "-q"]) == 0
        found.append(Path("b.csv").read_bytes())
    assert found[0] == found[1]


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limit on the size of files")
def test_a_full_disk_while_arrays_are_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """NumPy writes to files that it knows on its own; and two folders of parts say once where to go on."""
    import resource

    small(monkeypatch, 20_000)
    rows = [f"These are words of text number {n} of a table,{n % 2}\n" for n in range(2000)]
    Path("a.csv").write_text("text,label\n" + "".join(rows))
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, usual[1]))
    try:
        assert main(["augment", "a.csv", "-o", "b.csv", *DIMENSIONS, "-q"]) == 3
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    said = capsys.readouterr().err
    assert "b.csv.texts.parts/texts: expected to write it, got: File too large; the same command goes on from" in said
    assert said.count("goes on") == 1
    assert main(["augment", "a.csv", "-o", "b.csv", *DIMENSIONS, "-q"]) == 0
    assert sorted(path.name for path in Path().iterdir()) == ["a.csv", "b.csv"]
