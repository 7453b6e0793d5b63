"""Runs: started, resumed after an interruption, done by worker processes, or computed again from the trials."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from .folder import BadRun, Folder, WriteBehind
from .jobs import Doer, Progress, Work, run_jobs
from .schema import RunFile
from .setup import Say, Setup

ATTACK, EVALUATE = "attack", "evaluate"
Show = Callable[[Progress], None]  # is told after every job how far a run is
Result = TypeVar("Result")
Finish = Callable[[Folder, Any], Result]  # makes a result of a folder and its summary


def silent(message: str) -> None:
    """Says nothing."""


def start_run(
    setup: Setup,
    output: str | Path | None,
    finish: Finish[Result],
    *,
    named: bool = False,
    say: Say = silent,
    show: Show | None = None,
) -> Result:
    """Tells the pre-flight of a setup and does its run, in a temporary folder if `output` is None.

    named: `output` is a folder of runs, in which this one gets a name made of its settings.
    """
    try:
        setup.check_parts()
        setup.preflight(say)
        if output is not None:
            return _conduct(setup, Folder(Path(output) / setup.folder_name if named else output), finish, say, show)
        with tempfile.TemporaryDirectory(prefix="scuff-") as temporary:
            return _conduct(setup, Folder(Path(temporary) / "run"), finish, say, show)
    finally:
        setup.close()


def dry_run(setup: Setup, say: Say) -> None:
    """Only the pre-flight. Writes nothing."""
    try:
        setup.preflight(say)
    finally:
        setup.close()


def resume_run(
    folder: str | Path,
    open_setup: Callable[[RunFile], Setup],
    finish: Finish[Result],
    *,
    say: Say = silent,
    show: Show | None = None,
) -> Result:
    """Goes on with a run that was interrupted. open_setup: is given what run.json says."""
    setup = open_setup(Folder(folder).run())
    try:
        setup.check_parts()
        setup.preflight(silent)  # whose answers to the clean texts are used
        return _conduct(setup, Folder(folder), finish, say, show)
    finally:
        setup.close()


def compute_again(kind: type[Setup], folder: str | Path, finish: Finish[Result]) -> Result:
    """Computes everything of a finished run anew from its trials, without its victim."""
    work = kind.read(Folder(folder))
    for jobs in work.stages():
        if left := work.left(jobs):
            raise BadRun(
                f"{folder}: expected a finished run, got {len(left)} of {len(jobs)} blocks left to do: "
                f"`scuff {kind.kind} --resume {folder}` goes on"
            )
    return finish(work.folder, work.finish(work.folder.run()))


def kind_of(folder: str | Path) -> str:
    """Which command wrote a run folder: evaluate or attack."""
    return ATTACK if Folder(folder).run()["key"].get("kind") == ATTACK else EVALUATE


def check_resumable(folder: str | Path, command: str) -> None:
    """Raises BadRun if a run is of another command, or cannot be opened again by the names in run.json."""
    found = kind_of(folder)
    if found != command:
        raise BadRun(
            f"{folder}: expected a run of `scuff {command}`, got one of `scuff {found}`: "
            f"`scuff {found} --resume {folder}` goes on with it"
        )
    run = Folder(folder).run()
    for what in ("model", "data"):
        if run[what]["spec"] is None and not (what == "model" and run["config"].get("predictions")):
            raise BadRun(
                f"{folder}: expected a run whose {what} is known by name, got one given as a Python object or by an address that "
                "may hold a key: call it as before"
            )


def _conduct(setup: Setup, folder: Folder, finish: Finish[Result], say: Say, show: Show | None) -> Result:
    """Does all that is left of a run, and computes its numbers, while no other process may touch the folder."""
    with folder.locked():
        run, behind = setup.start(folder), WriteBehind(folder.path)
        try:
            work = setup.work(behind)
            _do_stages(setup, work, say, show)
            summary = work.finish(run)
            result = finish(behind, summary)
        finally:
            behind.settle()  # nothing may be written after the lock is gone
    setup.check_answers(summary)
    return result


def _do_stages(setup: Setup, work: Work, say: Say, show: Show | None) -> None:
    """The first stage, the clean texts, in this process; the others also in workers. Writes timings even if interrupted."""
    workers, whole, any_left = setup.settings.workers, setup.reopens, False
    threads = max(1, (os.cpu_count() or 1) // workers)
    opened = partial(open_worker, type(setup), str(work.folder.path), whole, threads)
    setup.query.errors = 0  # the pre-flight met those of the clean texts, which are asked again
    try:
        for at, jobs in enumerate(work.stages()):
            left = work.left(jobs)
            if len(left) < len(jobs):
                say(f"resumed: {len(jobs) - len(left)} of {len(jobs)} blocks were done before")
            any_left = any_left or bool(left)
            run_jobs(
                work, left, workers=workers if at else 1, open_work=opened if whole or setup.makes_alone else None,
                whole=whole, heard=setup.hear, progress=Progress(len(left), show),
            )  # fmt: skip
    finally:
        if any_left:
            setup.write_timings(work.folder)


@dataclass(eq=False)
class Worker:
    """Work in a process of its own, which reports what it has done so far."""

    work: Work
    setup: Setup

    def make(self, job: Any) -> Any:
        return self.work.make(job)

    def do(self, job: Any, made: Any = None) -> None:
        self.work.do(job, made)

    def report(self) -> tuple[int, int, float, int]:
        return self.setup.report()


def open_worker(kind: type[Setup], path: str, whole: bool, threads: int) -> Doer:
    """The work of a run folder in a worker process; whole: with its victim."""
    bare = kind.read(Folder(path))
    if not whole:
        return bare
    setup = kind.reopen(bare, threads)
    return Worker(setup.work(bare.folder), setup)
