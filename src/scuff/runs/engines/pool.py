"""Workers and the jobs that they are given: what engines of several workers have in common, whatever a worker is."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Any, Generic, TypeVar

from .base import Job, Open, Say, Tell, WorkerLost

TRIES = 3  # workers that a job, or the opening of the work, may cost
LOOK = 0.5  # seconds after which answers of workers are counted again
GUARD = '; a Python script that uses workers is a file, and needs `if __name__ == "__main__":`'
SHORT = 1.0  # seconds: a worker gets a second job before it has finished the first only where jobs take less


class Event(Enum):
    """What happens to a worker."""

    OPENED = "it has opened the work"
    DONE = "it has done its first job"
    FAILED = "the work or the job raised an exception"
    LOST = "it has ended"


@dataclass(eq=False)
class Task:
    """A job under way. number: its place among the jobs. losses: workers that ended while they did it."""

    number: int
    job: Any
    losses: int = 0


@dataclass(eq=False)
class Worker:
    """What an engine knows of one of its workers. tasks: those that it was given, of which it does the first."""

    tasks: deque[Task] = field(default_factory=deque)
    opened: bool = False
    since: float = 0.0  # when it began the first of its tasks
    counted: int = 0  # answers of its that were told
    after: int = 0  # generations of workers that ended, before it was started, without having opened the work


@dataclass(frozen=True)
class Loss:
    """How a worker ended. clean: by itself, so that another one would do the same."""

    how: str
    clean: bool = False


W = TypeVar("W", bound=Worker)


class Pool(ABC, Generic[W]):
    """Gives jobs to workers and takes their results. Subclasses say how to start, reach and end a worker."""

    apart = True
    kind = "worker process"
    at_hand = 2  # jobs that a worker may have at a time, if they are short

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._crew: list[W] = []
        self._open: Open | None = None
        self._waiting: deque[Task] = deque()  # taken, and given to no worker yet
        self._unopened = 0  # generations of workers in a row of which one ended before it had opened the work
        self._say: Say | None = None  # tells the user of the run what happens
        self._spent, self._finished = 0.0, 0  # seconds of all jobs that were done, and their number

    @property
    @abstractmethod
    def threads(self) -> int:
        """As Engine.threads."""

    @abstractmethod
    def _start(self, open_work: Open) -> W:
        """Starts a worker, which opens the work."""

    def _can_start(self) -> bool:
        """Whether a worker can be started now."""
        return True

    @abstractmethod
    def _give(self, worker: W, job: Any) -> None:
        """Sends a job to a worker, which does it after those that it has. Does nothing if the worker has ended."""

    @abstractmethod
    def _events(self, seconds: float) -> list[tuple[W, Event, Any]]:
        """Waits for something to happen, at most some seconds. Returns it with the result, the exception or the Loss."""

    @abstractmethod
    def _answers(self, worker: W) -> int:
        """How many answers a worker has counted since it started."""

    @abstractmethod
    def _end(self, workers: list[W], at_once: bool) -> None:
        """Ends workers. at_once: even if they are busy."""

    def run(
        self,
        jobs: Iterable[Job],
        open_work: Open,
        *,
        ordered: bool = False,
        tell: Tell | None = None,
        say: Say | None = None,
    ) -> Iterator[tuple[Job, Any]]:
        self._say = say
        if open_work is not self._open:
            self._stop(at_once=False)
            self._open = open_work
        source, held, yielded = map(Task, count(), jobs), dict[int, tuple[Any, Any]](), 0
        try:
            while self._supply(source, len(held)):
                events = self._events(LOOK)
                for worker, event, value in events:
                    if done := self._record(worker, event, value):
                        held[done.number if ordered else len(held) + yielded] = done.job, value
                self._count(tell)
                self._look()
                # before results are yielded, so that workers have jobs while the caller uses them
                self._supply(source, len(held) if ordered else 0)
                while yielded in held:
                    yield held.pop(yielded)
                    yielded += 1
        except BaseException:  # a worker may be busy with the model for minutes: do not wait
            self._stop(at_once=True)
            raise

    def _look(self) -> None:
        """Says what the user should know while the run waits."""

    def close(self) -> None:
        self._stop(at_once=False)

    def _stop(self, at_once: bool) -> None:
        crew, self._crew, self._open = self._crew, [], None
        self._waiting.clear()
        self._unopened = 0
        if crew:
            self._end(crew, at_once)

    def _supply(self, source: Iterator[Task], held: int) -> bool:
        """Takes jobs, starts workers for them as long as there are too few, and gives jobs to those that have least.

        held: results that wait for those of earlier jobs. Returns whether any job is under way.
        """
        room = self.at_hand if self._finished and self._spent / self._finished < SHORT else 1
        taken = len(self._waiting) + sum(len(worker.tasks) for worker in self._crew)
        while taken < room * self.workers and taken + held < 4 * self.workers and (task := next(source, None)):
            self._waiting.append(task)
            taken += 1
        assert self._open is not None
        while len(self._crew) < min(self.workers, taken) and self._can_start():
            worker = self._start(self._open)
            worker.after = self._unopened
            self._crew.append(worker)
        ready = [worker for worker in self._crew if worker.opened]
        while self._waiting and ready:
            worker = min(ready, key=lambda each: len(each.tasks))
            if len(worker.tasks) >= room:
                break
            task = self._waiting.popleft()
            if not worker.tasks:
                worker.since = time.monotonic()
            worker.tasks.append(task)
            self._give(worker, task.job)
        return taken > 0

    def _record(self, worker: W, event: Event, value: Any) -> Task | None:
        """Records what happened to a worker. Returns the task that it has done, if it has done one."""
        if event is Event.FAILED:
            raise value
        if event is Event.LOST:
            self._lost(worker, value)
        elif event is Event.OPENED:
            worker.opened = True
        else:
            now = time.monotonic()
            self._spent, self._finished, self._unopened = self._spent + now - worker.since, self._finished + 1, 0
            worker.since = now
            return worker.tasks.popleft()
        return None

    def _lost(self, worker: W, loss: Loss) -> None:
        """Takes back the jobs of a worker that ended. Raises WorkerLost if another one would fare no better."""
        self._crew.remove(worker)
        if not worker.opened:
            self._unopened += worker.after == self._unopened  # many that end together, as with a node, count once
            what, hopeless = "opened the model", loss.clean or self._unopened >= TRIES
        elif worker.tasks:
            worker.tasks[0].losses += 1
            what = f"did block {name_of(worker.tasks[0].job)}"
            hopeless = worker.tasks[0].losses >= TRIES
        else:
            what, hopeless = "had nothing to do", False
        if hopeless:
            hint = GUARD if loss.clean and not worker.opened else ", with fewer --workers it needs less memory"
            raise WorkerLost(
                f"a {self.kind} {loss.how} while it {what}{'' if loss.clean else f' ({TRIES} times)'}; finished blocks stay: the "
                f"same command or --resume goes on{hint}"
            )
        if self._say:
            again = "the block is done again" if worker.opened and worker.tasks else "another one is started"
            self._say(f"WARNING a {self.kind} {loss.how} while it {what}: {again}")
        self._waiting.extendleft(reversed(worker.tasks))

    def _count(self, tell: Tell | None) -> None:
        """Tells the answers that are new."""
        new = 0
        for worker in self._crew:
            answers = self._answers(worker)
            new, worker.counted = new + answers - worker.counted, answers
        if tell and new:
            tell(new)


def name_of(job: Any) -> str:
    """The name of a job, for messages."""
    return str(getattr(job, "name", job))
