"""One contract for all engines: every job once, in any order; nothing taken too early; what happens when something breaks.

`test_ray.py` runs these tests with Ray, too, in a network of its own.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runs import labours
from runs.labours import Block
from runs.loopback import INSIDE
from scuff.runs.engines.base import Engine, WorkerLost
from scuff.runs.engines.open import open_engine

ENGINES: dict[str, dict[str, Any]] = {
    "here": {"workers": 1},
    "local": {"workers": 2},
    **({"ray": {"engine": "ray", "workers": 2}} if INSIDE in os.environ else {}),
}
every = pytest.mark.parametrize("engine", ENGINES, indirect=True)
apart = pytest.mark.parametrize("engine", [name for name in ENGINES if name != "here"], indirect=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray cluster, which all engines of this file find."""
    if INSIDE not in os.environ:
        yield
        return
    with closing(open_engine("ray", workers=2)):
        yield


@pytest.fixture
def engine(request: pytest.FixtureRequest, cluster: None) -> Iterator[Engine]:
    with closing(open_engine(**ENGINES[request.param])) as opened:
        yield opened


@every
def test_each_job_is_done_once_and_its_answers_are_counted(engine: Engine) -> None:
    told: list[int] = []
    found = list(engine.run(range(30), labours.squares, tell=told.append))
    assert sorted(found) == [(number, number**2) for number in range(30)] and sum(told) == sum(range(30))
    assert list(engine.run([], labours.squares)) == [], "no jobs"
    assert sorted(engine.run(iter([5, 6]), labours.squares)) == [(5, 25), (6, 36)], "again, with the same work"
    assert list(engine.run([b"ab"], labours.bytes_of)) == [(b"ab", b"ab")], "and with another"


@every
def test_jobs_are_taken_when_there_is_room_for_them(engine: Engine) -> None:
    taken = 0

    def source() -> Iterator[int]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield number

    for done, _ in enumerate(engine.run(source(), labours.squares), 1):
        assert taken <= done + 2 * engine.workers + 2 * engine.workers, "those under way, and those yielded together"
        time.sleep(0.001)
    assert taken == 100


@every
def test_results_in_the_order_of_the_jobs(engine: Engine, tmp_path: Path) -> None:
    jobs, taken = [0.3, *([0.0] * 40), 0.1, *([0.001] * 20)], 0

    def source() -> Iterator[float]:
        nonlocal taken
        for job in jobs:
            taken += 1
            yield job

    found = []
    for job, result in engine.run(source(), partial(labours.naps, str(tmp_path)), ordered=True):
        found.append(job)
        assert job == result and taken <= len(found) + 4 * engine.workers
    assert found == jobs


@every
def test_an_exception_is_raised_here(engine: Engine) -> None:
    for job, kind, text in (
        (ValueError("expected a dog, got a cat"), ValueError, "expected a dog, got a cat"),
        ("no travel", (labours.NoTravel, RuntimeError), "1 and 2"),
    ):
        with pytest.raises(kind, match=text):
            list(engine.run([1, 2, job, 4], labours.raises))
    assert sorted(engine.run([1, 2], labours.raises)) == [(1, 1), (2, 2)], "a later call works"


@every
def test_an_exception_of_the_source_is_raised_here(engine: Engine) -> None:
    def source() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(engine.run(source(), labours.squares))


@every
def test_work_that_cannot_be_opened_says_why(engine: Engine) -> None:
    with pytest.raises(FileNotFoundError, match="no weights here"):
        list(engine.run([1, 2, 3], labours.unopened))


@apart
def test_what_cannot_travel_is_told(engine: Engine) -> None:
    with pytest.raises(Exception, match="lock"):
        list(engine.run(["no result", 1], labours.raises))


@apart
def test_a_traceback_comes_along(engine: Engine) -> None:
    with pytest.raises(ValueError, match="oh") as caught:
        list(engine.run([ValueError("oh")], labours.raises))
    assert "labours.py" in str(caught.value.__cause__)


@apart
def test_jobs_and_results_may_be_large(engine: Engine) -> None:
    jobs = [bytes([number]) * 3_000_000 for number in range(8)]
    assert sorted(engine.run(jobs, labours.bytes_of)) == [(job, job) for job in jobs]


@apart
def test_a_dead_worker_costs_its_block_only(engine: Engine, tmp_path: Path) -> None:
    jobs, said = [Block(f"b{at}", int(at in (2, 7)) + int(at == 7)) for at in range(12)], []
    found = list(engine.run(jobs, partial(labours.kills, str(tmp_path)), say=said.append))
    assert sorted(result for _, result in found) == sorted(job.name for job in jobs)
    begun = sorted(path.name.partition("-")[0] for path in tmp_path.iterdir())
    assert begun == sorted([*(job.name for job in jobs), "b2", "b7", "b7"]), "no other block is done again"
    assert len(said) == 3 and all(
        re.match(r"WARNING a (worker process|Ray worker) was killed, perhaps because memory", line) for line in said
    )
    assert "while it did block b2: the block is done again" in "".join(said)


@apart
def test_a_job_that_kills_every_worker_ends_the_run_and_is_named(engine: Engine, tmp_path: Path) -> None:
    jobs = [Block("fine"), Block("deadly", 100), *(Block(f"more{at}") for at in range(5))]
    with pytest.raises(WorkerLost, match=r"while it did block deadly \(3 times\); finished blocks stay"):
        list(engine.run(jobs, partial(labours.kills, str(tmp_path))))
    assert len(list(tmp_path.glob("deadly-*"))) == 3


@apart
def test_workers_that_die_while_they_open_the_work(engine: Engine, tmp_path: Path) -> None:
    rare, ever = tmp_path / "rare", tmp_path / "ever"
    for path in (rare, ever):
        path.mkdir()
    said: list[str] = []
    found = list(engine.run([b"a", b"b"], partial(labours.killed_while_opening, str(rare), 2), say=said.append))
    lost = [line for line in said if "no free CPU" not in line]  # which is true while a slow machine starts another one
    assert len(found) == 2 and len(lost) == 2 and "while it opened the model: another one is started" in lost[0]
    with pytest.raises(WorkerLost, match=r"while it opened the model \(3 times\)"):
        list(engine.run([b"a", b"b"], partial(labours.killed_while_opening, str(ever), 1000)))
    with pytest.raises(WorkerLost, match=r"while it opened the model( \(3 times\))?; finished blocks stay"):
        list(engine.run([b"a", b"b"], labours.leaves))


@apart
def test_no_more_workers_than_jobs(engine: Engine, tmp_path: Path) -> None:
    assert len(list(engine.run([0.0], partial(labours.naps, str(tmp_path))))) == 1
    assert len(list(tmp_path.iterdir())) == 1


def lives(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system does not list its processes")
@apart
def test_busy_workers_end_when_the_run_is_given_up(engine: Engine, tmp_path: Path) -> None:
    results = engine.run([0.0, 30.0, 30.0, 30.0], partial(labours.naps, str(tmp_path)))
    assert next(results)[0] == 0.0
    begun = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    workers = [int(path.name) for path in tmp_path.iterdir()]
    while any(map(lives, workers)) and time.monotonic() < begun + 10:
        time.sleep(0.02)
    assert workers and not any(map(lives, workers)) and time.monotonic() - begun < 10


DEAF = """
import signal
from runs import labours
from scuff.runs.engines.open import open_engine

if __name__ == "__main__":
    engine = open_engine(workers=2)
    heard = [blocked for _, blocked in engine.run(range(4), labours.masks)]
    engine.close()
    assert len(heard) == 4 and all(signal.SIGINT in blocked for blocked in heard), heard
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system has no signal masks")
def test_workers_are_deaf_to_ctrl_c_from_their_first_instruction_and_this_process_is_not(tmp_path: Path) -> None:
    """In a process of its own, in which Python starts what watches over shared memory together with the first worker."""
    (tmp_path / "deaf.py").write_text(DEAF)
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(tmp_path / "deaf.py")], env={**os.environ, "PYTHONPATH": path}, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


UNGUARDED = """
import scuff
from scuff.victims.base import Victim
Victim.cases_at_once = 20  # several blocks

def predict(texts):
    return ["good" if "good" in text else "bad" for text in texts]

data = [("a good room", "good"), ("a cold room", "bad")] * 20
scuff.evaluate(predict, data, "run", dimensions=["keyboard"], examples=40, cases=2, workers=2, encoder="chrf")
"""


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_a_script_that_its_workers_begin_again_is_told_what_it_lacks(way: str, tmp_path: Path) -> None:
    """Before the worker asks the model, and before it finds the run locked by its parent."""
    (tmp_path / "script.py").write_text(UNGUARDED)
    with open(tmp_path / "script.py") as script:
        command = [sys.executable, *(["script.py"] if way == "file" else ["-"])]
        done = subprocess.run(command, stdin=script, cwd=tmp_path, capture_output=True, text=True)
    said = done.stderr.splitlines()
    assert done.returncode == 1 and "a file, and needs `if __name__" in said[-1], done.stderr
    assert "busy" not in done.stderr
    assert ("expected a script that uses workers behind" in done.stderr) == (way == "file")


@pytest.mark.parametrize("work", ["naps", "deaf"])
def test_busy_workers_end_with_a_process_that_is_killed(work: str, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    (tmp_path / "killed.py").write_text(
        "from functools import partial\nfrom runs import labours\nfrom scuff.runs.engines.open import open_engine\n"
        f"if __name__ == '__main__':\n    list(open_engine(workers=2).run([600.0] * 2, partial(labours.{work}, 'marks')))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    parent = subprocess.Popen([sys.executable, "killed.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path})
    until = time.monotonic() + 60
    while len(workers := [int(mark.name) for mark in (tmp_path / "marks").iterdir()]) < 2:
        assert time.monotonic() < until and parent.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)  # until they are busy
    parent.kill()
    parent.wait()
    until = time.monotonic() + 20
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    left = [worker for worker in workers if lives(worker)]
    for worker in left:
        os.kill(worker, signal.SIGKILL)
    assert not left
