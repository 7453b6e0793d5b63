"""Memory does not grow with the size of a file; one text may be huge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import scuff
from scuff.data.formats import jsonl, streams
from scuff.data.formats.files import Input
from scuff.data.perturbing import chunks

LINE = "Some ordinary line of text, of which there are very many in this file; don't count them.\n"
MEASURE = """
import re, sys
from scuff.cli.main import main
assert main(["perturb", sys.argv[1], "-a", "inner-shuffle", "-o", sys.argv[2], "-q"]) == 0
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])  # ru_maxrss would count the parent's, too
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to measure a process's peak memory")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    used = []
    for megabytes in (12, 30):
        source = tmp_path / f"{megabytes}.txt"
        source.write_text(LINE * (megabytes * 1_000_000 // len(LINE)))
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, source, tmp_path / "out.txt"], capture_output=True, check=True
        )
        used.append(int(done.stdout) / 1024)  # MB on Linux
    assert used[1] < used[0] + 25, used


def test_an_array_on_one_line_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = []
    more = jsonl._Scanner._more

    def watched(scanner: jsonl._Scanner) -> bool:
        done = more(scanner)
        held.append(len(scanner.text))
        return done

    monkeypatch.setattr(streams, "CHUNK", 1000)
    monkeypatch.setattr(jsonl, "CHUNK", 500)
    monkeypatch.setattr(jsonl._Scanner, "_more", watched)
    (tmp_path / "a.json").write_text("[" + ", ".join(['{"text": "some ordinary words"}'] * 3000) + "]")
    source = Input(str(tmp_path / "a.json"))
    reader = source.open()
    sizes = [len(chunk.records) for chunk in chunks(source, reader, 1)]
    reader.source.close()
    assert sum(sizes) == 3000 and max(sizes) < 20 and len(held) > 90 and max(held) < 1100


@pytest.mark.slow
def test_ten_megabytes_in_one_text() -> None:
    text = LINE * (10_000_000 // len(LINE))
    new = scuff.perturb(text, "inner-shuffle", "low", seed=1)
    assert len(new) == len(text) and sorted(new[:1000]) == sorted(text[:1000]) and new != text
    assert scuff.perturb("漢" * 1_000_000, "full-shuffle") == "漢" * 1_000_000
    assert len(scuff.perturb("漢字" * 500_000, "full-shuffle", 1)) == 1_000_000


SHIELD = MEASURE.replace(
    '"perturb", sys.argv[1], "-a", "inner-shuffle"', '"shield", sys.argv[1], "--shield", "normalise"'
)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to measure a process's peak memory")
def test_memory_of_a_shield_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Lines are generated while the shield reads them; each has a look-alike, and the log and the report are kept, too."""
    used, line = [], LINE.replace("o", "\u043e", 1)
    flags = ', "--edits", sys.argv[2] + ".log", "--report", sys.argv[2] + ".json", "-q"'
    for megabytes in (12, 30):
        job = subprocess.Popen(
            [sys.executable, "-c", SHIELD.replace(', "-q"', flags), "-", tmp_path / "out.txt"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with job:
            assert job.stdin and job.stdout
            for _ in range(megabytes):
                job.stdin.write((line * (1_000_000 // len(line))).encode())
            job.stdin.close()
            used.append(int(job.stdout.read()) / 1024)  # MB on Linux
    assert (tmp_path / "out.txt").stat().st_size > 29_000_000
    assert used[1] < used[0] + 25, used


@pytest.mark.slow
def test_ten_megabytes_in_one_text_are_mended() -> None:
    line = LINE.replace("o", "\u043e", 1)
    assert scuff.shield(line * (10_000_000 // len(line)), "normalise") == LINE * (10_000_000 // len(LINE))
