"""Parts that a thread writes are there for whoever looks, byte for byte, and failures are not lost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scuff.runs.folder import WAITING, Folder, WriteBehind


def arrays(number: int) -> dict[str, Any]:
    return {"score": np.full(100, number, np.float32)}


@pytest.fixture
def folder(tmp_path: Path) -> WriteBehind:
    (tmp_path / "trials").mkdir()
    return WriteBehind(tmp_path)


def test_what_was_written_is_there(folder: WriteBehind, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, waiting = Folder.write_part, []

    def slow(self: Folder, name: str, content: Any) -> None:
        time.sleep(0.02)
        plain(self, name, content)

    monkeypatch.setattr(Folder, "write_part", slow)
    for number in range(4):
        folder.write_part(f"part{number}", arrays(number))
        waiting.append(len(folder._pending))
    assert waiting == [1, 2, WAITING, WAITING]
    assert folder.has_part("part3") and folder.parts() == [f"part{number}" for number in range(4)]
    assert folder.read_part("part2")["score"].tolist() == [2.0] * 100
    raw = folder.part_path("part1").read_bytes()
    plain(folder, "part1", arrays(1))
    assert folder.part_path("part1").read_bytes() == raw


def test_a_failure_is_raised_where_somebody_looks(folder: WriteBehind) -> None:
    folder.part_path("part0").mkdir()  # so that no file can be put there
    folder.write_part("part0", arrays(0))
    with pytest.raises(OSError, match="part0"):
        folder.parts()
    folder.write_part("part1", arrays(1))
    assert folder.has_part("part1")
