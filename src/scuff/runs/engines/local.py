"""The engine of one machine: worker processes, each at the end of a pipe of its own, so that one that dies harms no other."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from ...exceptions import failure, raised
from .base import Hosted, Open
from .pool import Event, Loss, Pool, Worker

if TYPE_CHECKING:
    from ...victims.service import Service

SPAWN = get_context("spawn")  # a copy of this process would have its locks, without the threads that release them
GRACE = 5.0  # seconds in which idle workers should end by themselves


@dataclass(eq=False, kw_only=True)
class Process(Worker):
    """A worker process.

    answers: a number that only the worker writes, in shared memory without a lock, which a worker that is killed would keep.
    """

    process: BaseProcess
    pipe: Connection
    answers: Any


class Local(Pool[Process]):
    """Does jobs in processes of this machine."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._living: set[BaseProcess] = set()
        # otherwise this process, when it ends, would wait for them
        Finalize(self, _kill, (self._living,), exitpriority=10)

    @property
    def threads(self) -> int:
        return max(1, (os.cpu_count() or 1) // self.workers)

    @contextmanager
    def host(self, service: Service) -> Iterator[Hosted]:
        from ...victims.slabs import Host

        with Host(service) as host:
            yield Hosted(host.door, host.figures)

    def keep(self, open_service: Callable[[], Service]) -> None:
        return None  # this process has the machine's GPUs

    def _start(self, open_work: Open) -> Process:
        ours, theirs = SPAWN.Pipe()
        answers = SPAWN.RawValue("q", 0)
        process = SPAWN.Process(target=_serve, args=(theirs, answers, open_work))
        with _interrupts_blocked():  # it must not be interrupted before `_serve` says so
            process.start()
            self._living.add(process)
        theirs.close()
        return Process(process=process, pipe=ours, answers=answers)

    def _give(self, worker: Process, job: Any) -> None:
        with suppress(OSError):  # it has ended, which `_events` will tell
            worker.pipe.send((job,))

    def _events(self, seconds: float) -> list[tuple[Process, Event, Any]]:
        of: dict[Any, Process] = {worker.pipe: worker for worker in self._crew}
        of |= {worker.process.sentinel: worker for worker in self._crew}
        ready = set(wait(list(of), seconds))
        some = dict.fromkeys(of[each] for each in ready)
        return [event for worker in some for event in self._messages(worker, worker.process.sentinel in ready)]

    def _messages(self, worker: Process, ended: bool) -> Iterator[tuple[Process, Event, Any]]:
        """Yields what a worker has sent. ended: whether it has sent all of it."""
        try:
            while worker.pipe.poll():
                event, value = worker.pipe.recv()
                yield worker, event, raised(*value) if event is Event.FAILED else value
        except (EOFError, OSError):
            ended = True
        except Exception as error:  # of a result that cannot be rebuilt here
            yield worker, Event.FAILED, error
        if ended:
            yield worker, Event.LOST, self._loss(worker)

    def _loss(self, worker: Process) -> Loss:
        """Returns how a worker ended."""
        worker.process.join(GRACE)
        code = worker.process.exitcode
        self._end([worker], at_once=True)
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            return Loss("was killed, perhaps because memory ran out," if name == "SIGKILL" else f"was ended by {name}")
        return Loss(f"ended (exit code {code or 0})", clean=True)

    def _answers(self, worker: Process) -> int:
        return int(worker.answers.value)

    def _end(self, workers: list[Process], at_once: bool) -> None:
        if not at_once:
            for worker in workers:
                with suppress(OSError):
                    worker.pipe.send(())
            _join((worker.process for worker in workers), GRACE)
        _kill({worker.process for worker in workers})
        for worker in workers:
            worker.pipe.close()
            self._living.discard(worker.process)


def _join(processes: Iterable[BaseProcess], seconds: float) -> None:
    """Waits for processes to end, at most some seconds for all of them."""
    until = time.monotonic() + seconds
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))


def _kill(processes: set[BaseProcess]) -> None:
    """Ends processes, if need be the hard way."""
    living = [process for process in processes if process.is_alive()]
    for process in living:
        process.terminate()
    _join(living, GRACE)
    for process in living:
        if process.is_alive():
            process.kill()
    _join(living, GRACE)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Delays Ctrl-C until the end of the block; processes started in it never receive it. Does nothing on Windows."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # when it is started it lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# in a worker process


def _serve(pipe: Connection, answers: Any, open_work: Open) -> None:
    """Opens the work and does the jobs that come through the pipe until it is told to end. Counts answers in `answers`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent ends its workers
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(pipe, jobs), daemon=True).start()

    def tell(count: int) -> None:
        answers.value += count

    try:
        do = open_work(tell)
    except Exception as error:
        _send(pipe, Event.FAILED, failure(error))
        return
    _send(pipe, Event.OPENED)
    while (job := jobs.get()) != ():
        try:
            if isinstance(job, Exception):
                raise job
            _send(pipe, Event.DONE, do(*job))
        except Exception as error:  # of the job, or since its result cannot be sent
            _send(pipe, Event.FAILED, failure(error))


def _listen(pipe: Connection, jobs: SimpleQueue[Any]) -> None:
    """Takes jobs from the pipe, so that the parent need not wait until this process is free.

    Ends the process when the parent has ended, however busy it is: a parent that was killed does not end its workers.
    """
    while True:
        try:
            jobs.put(pipe.recv())
        except (EOFError, OSError):
            signal.raise_signal(signal.SIGTERM)
            os._exit(1)  # the model, or a library of its, does something else with that signal
        except Exception as error:  # of a job that cannot be rebuilt here
            jobs.put(error)


def _send(pipe: Connection, event: Event, value: Any = None) -> None:
    message = ForkingPickler.dumps((event, value))
    with suppress(OSError):  # the parent has ended, and `_listen` ends this process
        pipe.send_bytes(message)
