"""What tests of `scuff evaluate` and `scuff attack` share: data, a model that waits, and breaking in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from scuff.cli.main import main

SCUFF = [sys.executable, "-m", "scuff"]
ROWS = [
    (f"Yesterday the {thing} was {word} and everybody there noticed it", label)
    for thing in ("film", "hotel", "garden", "teacher", "kitchen", "journey", "village", "concert")
    for word, label in (("good", "positive"), ("poor", "negative"))
]
CSV = "text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS)


def a_users_folder(path: Path, monkeypatch: pytest.MonkeyPatch, model: str, slow: str) -> Path:
    """An empty folder with models and data, in which the test is."""
    monkeypatch.chdir(path)
    monkeypatch.delenv("SCUFF_DEBUG", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, content in (("model.py", model), ("slow.py", slow), ("data.csv", CSV)):
        monkeypatch.delitem(sys.modules, name.removesuffix(".py"), raising=False)  # of another test
        (path / name).write_text(content)
    return path


def slow_model(at_once: int, *answer: str) -> str:
    """Small blocks, as if the run were large; if asked to, it waits after some of them, so that there is time to break in, but
    not for ever: if the test fails, nobody ends it.
    """
    lines = "\n    ".join(answer)
    return f"""
import os, sys, time
from pathlib import Path
import scuff
sys.modules["scuff.victims.base"].Victim.cases_at_once = {at_once}
HOLD = time.monotonic() + 120 if "HOLD" in os.environ else 0
if HOLD:
    Path(f"pid-{{os.getpid()}}").touch()

def predict(texts):
    while time.monotonic() < HOLD and Path("hold").exists() and len(list(Path("run/trials").glob("*.npz"))) >= 3:
        time.sleep(0.02)
    {lines}
"""


def content(folder: Path) -> dict[str, bytes]:
    """Everything that must not differ from run to run; what was being written when a run was killed does not count."""
    found = [
        path for path in folder.rglob("*") if path.is_file() and path.suffix != ".part" and path.name != "timings.json"
    ]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def fails(capfd: pytest.CaptureFixture[str], *argv: str, code: int = 2) -> str:
    """One line on stderr, nothing on stdout."""
    capfd.readouterr()
    assert main(list(argv)) == code
    out, err = capfd.readouterr()
    last = err.splitlines()[-1]
    assert last.startswith("scuff: ") and "Traceback" not in err and not out
    return last


def left_alone(folder: Path, model: str, command: Sequence[str]) -> dict[str, bytes]:
    """What a run leaves when nobody breaks in."""
    (folder / "slow.py").write_text(model)
    (folder / "data.csv").write_text(CSV)
    done = subprocess.run(command, cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr
    return content(folder / "run")


def begun(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """A run in a process of its own, which waits after some blocks."""
    Path("hold").touch()
    job = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "HOLD": "yes"},
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while len(list(Path("run/trials").glob("*.npz"))) < 3:
        assert job.poll() is None, job.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)
    return job


def stopped(command: Sequence[str], number: signal.Signals, workers: int) -> dict[str, bytes]:
    """Break into a run; what it had done by then."""
    job = begun([*command, "--workers", str(workers)])
    if workers > 1 and number == signal.SIGINT:
        os.killpg(job.pid, number)  # as a terminal does
    else:
        job.send_signal(number)
    out, err = job.communicate(timeout=20)
    assert job.returncode == (-9 if number == signal.SIGKILL else 130) and out == b""
    if number != signal.SIGKILL:
        assert err.decode().splitlines()[-1].startswith("scuff: interrupted") and b"Traceback" not in err
        assert workers > 1 or not list(Path().rglob("*.part"))
    return content(Path("run"))
