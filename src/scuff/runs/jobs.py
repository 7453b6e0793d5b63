"""Jobs on this machine: in this process, or in several that share nothing but the run folder."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from ..data.dataset import Dataset
from ..victims.truth import Truth
from .folder import Folder
from .schema import RunFile

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


class Doer(Protocol):
    """Does a job in two steps: `make` needs no victim, `do` asks one and writes the result."""

    def make(self, job: Any) -> Any: ...
    def do(self, job: Any, made: Any = None) -> None: ...


class Work(Doer, Protocol):
    """What a run does, as jobs each of which leaves one part of the trials."""

    @property
    def folder(self) -> Folder: ...
    @property
    def data(self) -> Dataset: ...
    @property
    def truth(self) -> Truth: ...
    def rounds(self) -> Iterable[list[Any]]:
        """Lists of jobs after the clean texts, each of which may depend on what the ones before left."""
        ...

    def finish(self, run: RunFile) -> Any:
        """Computes summary.json and results.jsonl from the trials. Returns the summary."""
        ...


@dataclass
class Progress:
    """How far a run is; `show` is called after each job."""

    total: int
    show: Callable[[Progress], None] | None = None
    done: int = 0
    begun: float = field(default_factory=time.monotonic)

    def step(self) -> None:
        self.done += 1
        if self.show:
            self.show(self)

    @property
    def seconds_left(self) -> float:
        return (time.monotonic() - self.begun) / max(self.done, 1) * (self.total - self.done)


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
    """Do all jobs. With several workers each opens the work for itself by `open_work` and does whole jobs, or only makes what
    this process then tries. `heard` is told what workers report about their work (`report`) after each whole job.
    """
    waiting = list(jobs)
    if workers <= 1 or open_work is None or len(waiting) < 2:
        for job in waiting:
            work.do(job)
            if progress:
                progress.step()
        return
    from concurrent.futures import ProcessPoolExecutor  # loading it takes as long as numpy's smaller half
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, (open_work,))
    try:
        for result in _spread(pool, work, waiting, workers, whole, progress):
            if heard:
                heard(result)
    except BaseException:
        for process in list(pool._processes.values()):  # a worker may sit in a model for minutes: nobody waits for it
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _spread(
    pool: ProcessPoolExecutor, work: Doer, jobs: list[Any], workers: int, whole: bool, progress: Progress | None
) -> Iterable[Any]:
    """Keep every worker busy, but no more than two jobs each on the way."""
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting = list(reversed(jobs))
    running: dict[Future[Any], Any] = {}

    def submit() -> None:
        while waiting and len(running) < 2 * workers:
            with _deaf_to_interrupts():  # a worker that begins here must not be torn apart before `_begin`
                job = waiting.pop()
                running[pool.submit(_do if whole else _make, job)] = job

    submit()
    while running:
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            job, result = running.pop(future), future.result()
            submit()  # before this process gets busy with the result
            if whole:
                yield result
            else:
                work.do(job, result)
            if progress:
                progress.step()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C waits until the end of this, in processes begun meanwhile for ever (Windows has no such thing)."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_work: Any = None  # of this worker process


def _begin(open_work: Callable[[], Doer]) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one ends the others
    Thread(target=_follow, daemon=True).start()
    _work = open_work()


def _follow() -> None:
    """End with the process that began this one: if it was killed, nobody else will end it."""
    from multiprocessing import parent_process

    if parent := parent_process():
        parent.join()
        signal.raise_signal(signal.SIGTERM)


def _make(job: Any) -> Any:
    return _work.make(job)


def _do(job: Any) -> Any:
    _work.do(job)
    return _work.report() if hasattr(_work, "report") else None
