"""Runs the jobs of a run: in this process, or in worker processes that share only the run folder."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from ..data.dataset import Dataset
from ..victims.truth import Truth
from .folder import Folder
from .progress import Progress
from .schema import RunFile

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


class WorkerLost(RuntimeError):
    """Raised if a worker process ended by itself or was killed."""


class Doer(Protocol):
    """Does a job in two steps: `make` needs no victim; `do` takes what `make` returned, asks the victim and writes a part."""

    def make(self, job: Any) -> Any: ...
    def do(self, job: Any, made: Any = None) -> None: ...


class Work(Doer, Protocol):
    """What a run does, as jobs, each of which writes one part of the trials."""

    @property
    def folder(self) -> Folder: ...
    @property
    def data(self) -> Dataset: ...
    @property
    def truth(self) -> Truth: ...
    def rounds(self) -> Iterable[list[Any]]:
        """Yields lists of jobs, to be done after the clean texts. A list may depend on the trials of the lists before it."""
        ...

    def finish(self, run: RunFile) -> Any:
        """Computes summary.json and results.jsonl from the trials and writes them. Returns the summary."""
        ...


LOOK = 0.5  # seconds after which answers of workers are counted again


def run_jobs(
    work: Doer,
    jobs: Iterable[Any],
    *,
    workers: int = 1,
    open_work: Callable[[], Doer] | None = None,
    whole: bool = False,
    heard: Callable[[Any], None] | None = None,
    progress: Progress | None = None,
) -> None:
    """Does all jobs, in several processes if there are workers and `open_work` is given.

    Each worker opens the work for itself with `open_work`. whole: workers do whole jobs, and `heard` is called with what their
    `report` returns after each job. Otherwise they only `make`, and this process asks the victim and writes.
    """
    waiting = list(jobs)
    if workers <= 1 or open_work is None or len(waiting) < 2:
        for job in waiting:
            work.do(job)
            if progress:
                progress.step(job)
        return
    from concurrent.futures import ProcessPoolExecutor  # slow to import
    from multiprocessing import get_context

    context = get_context("spawn")
    answers = context.Value("q", 0)  # in all workers
    pool = ProcessPoolExecutor(workers, context, _begin, (open_work, answers))
    try:
        for result in _spread(pool, work, waiting, workers, whole, progress, answers):
            if heard:
                heard(result)
    except BaseException:
        for process in list(pool._processes.values()):  # a worker may be busy with the model for minutes: do not wait
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _spread(
    pool: ProcessPoolExecutor, work: Doer, jobs: list[Any], workers: int, whole: bool, progress: Progress | None, answers: Any
) -> Iterable[Any]:  # fmt: skip
    """Submits at most two jobs per worker at a time, so that none is idle. Yields what workers report of whole jobs.

    answers: a number that workers add their answers to.
    """
    from concurrent.futures import FIRST_COMPLETED, wait
    from concurrent.futures.process import BrokenProcessPool

    waiting = list(reversed(jobs))
    running: dict[Future[Any], Any] = {}

    def submit() -> None:
        while waiting and len(running) < 2 * workers:
            with _interrupts_blocked():  # `submit` may start a worker, which must not be interrupted before `_begin`
                job = waiting.pop()
                running[pool.submit(_do if whole else _make, job)] = job

    def count() -> None:
        if progress and (new := answers.value - counted[0]):
            counted[0] += new
            progress.answered(new)

    counted = [0]
    submit()
    while running:
        processes, oldest = list(pool._processes.values()), list(running.values())[:workers]
        finished = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED).done
        count()
        for future in finished:
            job = running.pop(future)
            try:
                result = future.result()
            except BrokenProcessPool:
                raise WorkerLost(_why_lost(processes, oldest)) from None
            submit()  # first, so that workers have jobs while this process uses the result
            if whole:
                yield result
            else:
                work.do(job, result)
            if progress:
                progress.step(job)


def _why_lost(processes: list[Any], jobs: list[Any]) -> str:
    """Returns what is known of a worker that ended: the signal, and the blocks that were being done."""
    for process in processes:
        process.join(1)
    codes = {process.exitcode for process in processes} - {0, None, -signal.SIGTERM}  # the pool terminates the others
    killed = -signal.SIGKILL in codes if hasattr(signal, "SIGKILL") else False
    how = "was killed, perhaps because memory ran out," if killed else f"ended (exit code {max(codes, default=0)})"
    blocks = " or ".join(str(getattr(job, "name", job)) for job in jobs)
    return (
        f"a worker process {how} while it did block {blocks}; finished blocks stay: the same command or --resume goes on, with "
        "fewer --workers it needs less memory"
    )


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Delays Ctrl-C until the end of the block; processes started in it never receive it. Does nothing on Windows."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_work: Any = None  # in a worker process: what it opened


def _begin(open_work: Callable[[], Doer], answers: Any) -> None:
    """Prepares a worker process. answers: a number that it adds its answers to."""
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent terminates its workers
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        _work = open_work()
    except Exception as error:  # to be raised where the parent process can tell it
        _work = _Unopened(error)
    if hasattr(_work, "tell"):

        def add(count: int) -> None:
            with answers.get_lock():
                answers.value += count

        _work.tell(add)


class _Unopened:
    """Stands for work that could not be opened: raises the reason when a job is to be done."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def make(self, job: Any) -> Any:
        raise self.error

    def do(self, job: Any, made: Any = None) -> None:
        raise self.error


def _end_with_parent() -> None:
    """Waits for the parent process to end and then ends this one: a parent that was killed does not terminate its workers."""
    from multiprocessing import parent_process

    if parent := parent_process():
        parent.join()
        signal.raise_signal(signal.SIGTERM)


def _make(job: Any) -> Any:
    return _work.make(job)


def _do(job: Any) -> Any:
    _work.do(job)
    return _work.report() if hasattr(_work, "report") else None
