"""Memory does not grow with the size of a file; one text may be huge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import scuff

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


def test_ten_megabytes_in_one_text() -> None:
    text = LINE * (10_000_000 // len(LINE))
    new = scuff.perturb(text, "inner-shuffle", "low", seed=1)
    assert len(new) == len(text) and sorted(new[:1000]) == sorted(text[:1000]) and new != text
    assert scuff.perturb("漢" * 1_000_000, "full-shuffle") == "漢" * 1_000_000
    assert len(scuff.perturb("漢字" * 500_000, "full-shuffle", 1)) == 1_000_000
