"""Small runs whose bytes are compared, and a hand that kills their workers."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import scuff
from cli.runs import CSV, content
from scuff.runs.progress import Progress

# in small blocks, as if the run were large; each process notes how many texts it was asked about
MODEL = """
import os, sys, time
from pathlib import Path
import scuff
sys.modules["scuff.victims.base"].Victim.cases_at_once = {at_once}
PAUSE = float(Path("pause").read_text())
NOTES = Path("notes") / str(os.getpid())
NOTES.touch()

def predict(texts):
    time.sleep(PAUSE)
    with open(NOTES, "a") as notes:
        notes.write(f"{{len(texts)}}\\n")
    return [{{"positive": p, "negative": 1 - p}} for p in (0.8 if "good" in text.split() else 0.3 for text in texts)]
"""
SETTINGS: dict[str, dict[str, Any]] = {
    "evaluate": {"dimensions": ["keyboard", "typo-g"], "degrees": [0.2, 0.5], "cases": 3},
    "attack": {"recipe": "deepwordbug", "max_queries": 40},
}
AT_ONCE = {"evaluate": 20, "attack": 50}
# seconds of a batch, so that a block takes less than what is between two kills
PAUSE = {"evaluate": 0.3, "attack": 0.06}
BLOCK = {"evaluate": 20, "attack": 41}  # texts that a block asks about, at most
KINDS = tuple(SETTINGS)


def prepare(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch, pause: float = 0.0) -> None:
    """Makes a folder with model and data, and goes there."""
    (folder / "notes").mkdir(parents=True)
    (folder / "model.py").write_text(MODEL.format(at_once=AT_ONCE[kind]))
    (folder / "data.csv").write_text(CSV)
    (folder / "pause").write_text(str(pause))
    monkeypatch.chdir(folder)
    monkeypatch.delitem(sys.modules, "model", raising=False)


def measure(kind: str, output: str, **settings: Any) -> dict[str, bytes]:
    """Does the run. Returns its bytes, without the times."""
    verb: Any = scuff.evaluate if kind == "evaluate" else scuff.attack
    given = {"encoder": "chrf", **SETTINGS[kind], **settings}
    if kind == "attack":
        verb("model.py:predict", "data.csv", given.pop("recipe"), output, **given)
    else:
        verb("model.py:predict", "data.csv", output, **given)
    return content(Path(output))


def asked() -> int:
    """How many texts all processes were asked about."""
    return sum(int(line) for notes in Path("notes").iterdir() for line in notes.read_text().splitlines())


@dataclass
class Killer:
    """Kills the busiest worker every few seconds: to be called as `show` of a run."""

    every: float
    most: int = 1000
    kills: int = 0
    last: float = field(default_factory=time.monotonic)

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() - self.last < self.every or self.kills >= self.most:
            return
        asked = [notes for notes in Path("notes").iterdir() if notes.stat().st_size and notes.name != str(os.getpid())]
        for process in (int(notes.name) for notes in sorted(asked, key=lambda notes: -notes.stat().st_size)):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
            self.kills, self.last = self.kills + 1, time.monotonic()
            return


def disturbed(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., dict[str, bytes]]) -> None:
    """Does a run whose workers are killed, one after the other. Its bytes must be those of one that nobody disturbs, and no
    more than one block may be done again for each that was killed.
    """
    prepare(folder / "calm", kind, monkeypatch)
    calm, usual = run(kind, "run", workers=1, engine="local"), asked()
    prepare(folder / "killed", kind, monkeypatch, PAUSE[kind])
    said: list[str] = []
    killer = Killer(1.2)
    # kills come by the clock, so on a slow machine one block may be hit again and again; `test_engines.py` tests when to give up
    monkeypatch.setattr("scuff.runs.engines.pool.TRIES", 1000)
    found = run(kind, "run", show=killer, say=said.append)
    again = sum("the block is done again" in line for line in said)
    assert found == calm
    assert killer.kills >= 2 and again <= killer.kills, (killer, said)
    assert asked() <= usual + killer.kills * BLOCK[kind], "no finished block is asked about again"
