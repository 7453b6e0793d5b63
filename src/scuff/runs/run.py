"""Starts a run, resumes one that was interrupted, or computes a finished one again from its trials."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..specs import can_be_rebuilt
from ..stores import StorePath, as_path
from .engines.base import Do, Engine, Tell
from .engines.here import Here
from .folder import BadRun, Folder, WriteBehind
from .preflight import tune
from .progress import Forecast, Progress
from .schema import RunFile
from .serving import serving
from .setup import Say, Setup
from .trials import CleanTexts, Job, Work, left

if TYPE_CHECKING:
    from ..victims.service import Door

ATTACK, EVALUATE = "attack", "evaluate"
COLLECTED_AT = 10_000  # new objects after which Python looks for garbage while a job is done; usually 700
Show = Callable[[Progress], None]  # called after each batch of answers and after each job
Result = TypeVar("Result")
Finish = Callable[[Folder, Any], Result]  # given the folder and its summary, writes the report and returns the result


def silent(message: str) -> None:
    """Ignores a message."""


def start_run(
    setup: Setup,
    output: str | Path | StorePath | None,
    finish: Finish[Result],
    *,
    named: bool = False,
    say: Say = silent,
    show: Show | None = None,
    forecast: bool = True,
) -> Result:
    """Does the pre-flight and the run of a setup, and closes it. Returns what `finish` returns.

    output: the run folder; None stands for a temporary one. named: `output` is a folder of runs, in which this one gets a name
    made of its settings. forecast: whether costs are worth a trial; not where a run is one of many that are much the same.
    """
    told = forecast and (say is not silent or show is not None)
    say = _above(say, show)
    try:
        setup.check_workers()
        each = _preflight(setup, say, show)
        if output is not None:
            folder = Folder(as_path(output) / setup.folder_name if named else output)
            if setup.settings.fresh and folder.started:
                say(f"fresh   the run that was in {folder.path} is now in {folder.set_aside()}")
            expected = Forecast() if folder.started else _forecast(setup, say, each, told)
            return _conduct(setup, folder, finish, say, show, expected)
        expected = _forecast(setup, say, each, told)
        with tempfile.TemporaryDirectory(prefix="scuff-") as temporary:
            return _conduct(setup, Folder(Path(temporary) / "run"), finish, say, show, expected)
    finally:
        setup.close()


def _above(say: Say, show: Show | None) -> Say:
    """Returns `say`, with the line of a progress bar deleted before each message."""
    clear = getattr(show, "clear", None)
    if clear is None:
        return say

    def said(message: str) -> None:
        clear()
        say(message)

    return said


def _preflight(setup: Setup, say: Say, show: Show | None) -> float:
    """Does the pre-flight, which asks about all clean texts, and shows its progress."""
    progress, job = Progress(show=show), Job("clean", range(len(setup.data)), queries=len(setup.data))
    progress.add_jobs([job])
    setup.query.tell = progress.answered
    each = setup.preflight(say)
    progress.step(job)
    setup.query.tell = None
    return each


def _forecast(setup: Setup, say: Say, each: float, told: bool) -> Forecast:
    """Says the plan and its costs, and looks for the best batch size if that is worth its time.

    told: whether somebody hears it. If not, the forecast is made only to decide about the batch size.
    """
    if not told and setup.victim.batch_tokens is not None:
        return Forecast()
    forecast = setup.forecast(say, each)
    tune(setup, forecast.queries)
    return forecast


def dry_run(setup: Setup, say: Say) -> None:
    """Does only the pre-flight of a setup, and closes it. Writes nothing."""
    try:
        setup.forecast(say, setup.preflight(say))
        setup.tell(say)
    finally:
        setup.close()


def resume_run(
    folder: str | Path | StorePath,
    open_setup: Callable[[RunFile], Setup],
    finish: Finish[Result],
    *,
    say: Say = silent,
    show: Show | None = None,
) -> Result:
    """Does what is left of a run that was interrupted. open_setup: makes the setup from run.json."""
    setup, say = open_setup(Folder(folder).run()), _above(say, show)
    try:
        setup.check_workers()
        _preflight(setup, silent, show)  # its answers to the clean texts are used again
        return _conduct(setup, Folder(folder), finish, say, show, Forecast())
    finally:
        setup.close()


@contextmanager
def where_it_began(folder: str | Path) -> Iterator[Path | StorePath]:
    """Changes to the folder in which a run was started, since paths in run.json are relative to it. Yields the run folder.

    Stays here if that folder is not known (a run of an earlier version, or in a store) or has none of the files (the run was
    moved).
    """
    path, here = as_path(folder), Path.cwd()
    if isinstance(path, StorePath):
        yield path
        return
    run = Folder(path).run()
    there = Path(os.path.normpath(path.resolve() / run.get("began_in", "missing")))
    named = [run["model"]["spec"], run["data"]["spec"], *(run["config"].get("predictions") or [])]
    named += [run["config"].get(name) for name in ("vectors", "mlm", "encoder")]
    files = [file for name in named if name for file in _files_of(name)]
    if there == here or not any((there / file).exists() for file in files):
        yield path
        return
    os.chdir(there)
    try:
        yield here / path
    finally:
        os.chdir(here)


def _files_of(name: str) -> list[Path]:
    """The relative paths that a model or data may be named by: as it is, before the colon, and as a module."""
    path, colon, _ = name.rpartition(":")
    found = [Path(name), *([Path(path), Path(*path.split(".")).with_suffix(".py")] if colon and path else [])]
    return [file for file in found if not file.is_absolute()]


def compute_again(kind: type[Setup], folder: str | Path, finish: Finish[Result]) -> Result:
    """Computes all files of a finished run again from its trials, without its victim. Raises BadRun if it is not finished."""
    work = kind.read(Folder(folder))
    for jobs in chain([CleanTexts(work.folder, work.data, work.truth).jobs()], work.rounds()):
        if waiting := left(work.folder, jobs):
            raise BadRun(
                f"{folder}: expected a finished run, got {len(waiting)} of {len(jobs)} blocks left to do: "
                f"`scuff {kind.kind} --resume {folder}` goes on"
            )
    return finish(work.folder, work.finish(work.folder.run()))


def kind_of(folder: str | Path | StorePath) -> str:
    """Returns the command that wrote a run folder: "evaluate" or "attack"."""
    return ATTACK if Folder(folder).run()["key"].get("kind") == ATTACK else EVALUATE


def check_command(folder: str | Path | StorePath, command: str) -> None:
    """Raises BadRun if a run is of another command."""
    kind = kind_of(folder)
    if kind != command:
        raise BadRun(
            f"{folder}: expected a run of `scuff {command}`, got one of `scuff {kind}`: "
            f"`scuff {kind} --resume {folder}` goes on with it"
        )


def check_resumable(folder: str | Path, kind: type[Setup]) -> None:
    """Raises BadRun if run.json does not name the parts, the model and the data of a run."""
    run = Folder(folder).run()
    if lost := [spec for spec in kind.settings_class.parts_in(run["config"]) if not can_be_rebuilt(spec)]:
        raise BadRun(
            f"{folder}: expected a run whose parts are known by name, got {lost[0]}, a Python object: call it as before"
        )
    for what in ("model", "data"):
        if run[what]["spec"] is None and not (what == "model" and run["config"].get("predictions")):
            raise BadRun(
                f"{folder}: expected a run whose {what} is known by name, got one given as a Python object or by an address that "
                "may hold a key: call it as before"
            )


def _conduct(
    setup: Setup, folder: Folder, finish: Finish[Result], say: Say, show: Show | None, forecast: Forecast
) -> Result:
    """Does all jobs that are left and computes the numbers, with the folder locked. Raises NoAnswers if nothing was answered."""
    with folder.locked():
        run, behind = setup.start(folder), WriteBehind(folder.files)
        setup.tell(say)
        try:
            work = setup.work(behind)
            with serving(setup.victim, setup.engine) if setup.serves else nullcontext() as hosted:
                setup.service_figures = hosted and hosted.figures
                _do_rounds(setup, work, say, Progress(forecast, show), hosted and hosted.door)
            summary = work.finish(run)
            result = finish(behind, summary)
        finally:
            behind.settle()  # nothing may be written after the lock is released
    setup.check_answers(summary)
    return result


def _do_rounds(setup: Setup, work: Work, say: Say, progress: Progress, door: Door | None) -> None:
    """Asks about the clean texts in this process, then does the rounds of the work, in workers if there are some.

    door: through which workers reach the model, if they do not open it themselves. Writes timings.json even if interrupted.
    """
    any_left = False
    clean = CleanTexts(work.folder, work.data, work.truth, setup.ask)
    since = setup.query.cache.since if setup.query.cache else 0
    engine = setup.engine
    opened = partial(open_worker, type(setup), str(work.folder.path), setup.reopens, engine.threads, since, door)
    setup.query.errors = 0  # clean texts that failed in the pre-flight are asked again, and must not count twice
    try:
        for at, jobs in enumerate(chain([clean.jobs()], work.rounds())):
            waiting = left(work.folder, jobs, say)
            if at and len(waiting) < len(jobs):
                say(f"resumed: {len(jobs) - len(waiting)} of {len(jobs)} blocks were done before")
            any_left = any_left or bool(waiting)
            if not at:  # the pre-flight has the answers
                for job in waiting:
                    clean.do(job)
                setup.query.tell = progress.answered
                continue
            progress.add_jobs(waiting)
            for job in _done(setup, work, waiting, engine, opened, say, progress):
                progress.step(job)
        if old := setup.old_answers(work.folder, any_left):
            say(f"WARNING nothing was asked: all answers are from {old}; --fresh asks again")
    finally:
        if any_left:
            setup.write_timings(work.folder)


def _done(
    setup: Setup,
    work: Work,
    jobs: list[Job],
    engine: Engine,
    opened: Callable[[Tell], Do],
    say: Say,
    progress: Progress,
) -> Iterator[Job]:
    """Does jobs and yields each when it is done. Workers that can open the victim do whole jobs and report their queries;
    others only `make`, and this process asks the victim and writes.
    """
    if not engine.apart or (len(jobs) < 2 and not setup.held_elsewhere):
        for job, _ in Here().run(jobs, lambda tell: partial(_do, work)):
            yield job
        return
    for job, result in engine.run(jobs, opened, tell=progress.answered, say=say):
        if setup.reopens:
            setup.hear(result)
        else:
            work.do(job, result)
        yield job


@dataclass(eq=False)
class WholeJobs:
    """Does jobs in a worker with a victim of its own. Returns a report of what was asked so far."""

    setup: Setup
    work: Work

    def __call__(self, job: Job) -> Any:
        _do(self.work, job)
        return self.setup.report()


def _do(work: Work, job: Job) -> None:
    """Does a job. Meanwhile Python looks for garbage less often: a search makes objects by the thousand that are none."""
    usual = gc.get_threshold()
    gc.set_threshold(usual[0] and max(usual[0], COLLECTED_AT), *usual[1:])
    try:
        work.do(job)
    finally:
        gc.set_threshold(*usual)


def open_worker(
    kind: type[Setup], path: str, whole: bool, threads: int, since: float, door: Door | None, tell: Tell
) -> Do:
    """Opens the work of a run folder in a worker. whole: with its victim. since: as for DiskCache. door: as for `Setup.reopen`.
    tell: counts answers.

    Returns the function that does jobs; if not whole, one that only makes something of them.
    """
    bare = kind.read(Folder(path))
    if not whole:
        return bare.make
    setup = kind.reopen(bare, threads, door)
    if setup.query.cache:
        setup.query.cache.since = since
    setup.query.tell = tell
    return WholeJobs(setup, setup.work(bare.folder))
