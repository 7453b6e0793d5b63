"""The engine of many machines: workers are actors on a Ray cluster (https://docs.ray.io).

Actors write parts into the run folder, which all nodes share. A dead actor or node costs the blocks that were being done. Actors
end with the process that started them, so a run whose process was killed is resumed as any other.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

import ray
from ray import exceptions

from ...exceptions import failure, raised
from .base import Hosted, Open
from .cluster import HeadLost, NoCluster, connect, end_actors, head_answers, last_line
from .origin import Origin
from .pool import LOOK, Event, Loss, Pool, Worker
from .ray_doors import kept

if TYPE_CHECKING:
    from ...victims.service import Door, Service

T = TypeVar("T")
PATIENCE = 20.0  # seconds without any worker after which the user is told
WAIT = 40.0  # seconds in which a head node that does not answer may come back; after 60, Ray ends this process without a word
WATCH = 5.0  # seconds after which we see whether it answers
CALLS = 200  # a second, at most, that ask workers for what they have counted


class Hand:
    """An actor: opens the work and does jobs, one after the other. `answers` may be called while a job is done."""

    def __init__(self) -> None:
        self.counted = 0
        self.do: Any = None

    def open(self, origin: Origin, open_work: bytes) -> tuple[Event, Any, int]:
        """Opens the work; not in the constructor, which runs in another thread than the jobs.

        open_work: in bytes, since it can be rebuilt only after `Origin.adopt`.
        """
        try:
            origin.adopt()
            self.do = ray.cloudpickle.loads(open_work)(self.tell)
        except Exception as error:
            return Event.FAILED, failure(error), self.counted
        return Event.OPENED, None, self.counted

    def tell(self, count: int) -> None:
        self.counted += count

    def work(self, job: Any) -> tuple[Event, Any, int]:
        try:
            return Event.DONE, self.do(job), self.counted
        except Exception as error:
            return Event.FAILED, failure(error), self.counted

    @ray.method(concurrency_group="counts")  # type: ignore[untyped-decorator, unused-ignore]
    def answers(self) -> int:
        return self.counted


@dataclass(eq=False, kw_only=True)
class Actor(Worker):
    """A worker on the cluster. pending: what it was asked and has not answered, in order."""

    actor: Any
    pending: deque[Any]
    placed: bool = False  # whether it runs: the cluster may have no CPU for it yet
    answers: int = 0
    asked: list[Any] = field(default_factory=list)  # one question for its answers, at most


class Ray(Pool[Actor]):
    """Does jobs in actors on a Ray cluster, one CPU each."""

    kind = "Ray worker"
    threads = 1
    at_hand = 1  # an actor that dies in its next job may not have sent the last result yet: that would cost two

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._ends = ExitStack()  # what has to be done in the end, also if nobody closes it
        if connect(address, workers):
            self._ends.callback(ray.shutdown)
        finalize(self, self._ends.close)
        super().__init__(workers or max(1, int(ray.cluster_resources().get("CPU", 1))))
        self._origin = Origin.of_this_process()
        self._class = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, concurrency_groups={"counts": 1})(Hand)
        # when workers were asked for their answers; when one was placed; when we saw whether the head node answers; when it did
        self._asked = self._busy = self._watched = self._headed = time.monotonic()

    def host(self, service: Service) -> AbstractContextManager[Hosted]:
        raise ValueError(
            f"expected a Ray cluster with GPUs for a model on a GPU ({service.victim.name}), got none: start its nodes with "
            "--num-gpus, or open the model with device=cpu"
        )

    def keep(self, open_service: Callable[[], Service]) -> Door | None:
        number = int(ray.cluster_resources().get("GPU", 0))
        return self._ends.enter_context(kept(open_service, number)) if number else None

    def close(self) -> None:
        super().close()
        self._ends.close()

    def _start(self, open_work: Open) -> Actor:
        actor = self._with_head(self._class.remote)
        return Actor(actor=actor, pending=deque([actor.open.remote(self._origin, ray.cloudpickle.dumps(open_work))]))

    def _give(self, worker: Actor, job: Any) -> None:
        worker.pending.append(worker.actor.work.remote(job))

    def _events(self, seconds: float) -> list[tuple[Actor, Event, Any]]:
        self._ask_for_answers()
        firsts = {worker.pending[0]: worker for worker in self._crew if worker.pending}
        counts = {ref: worker for worker in self._crew for ref in worker.asked}
        refs = [*firsts, *counts]
        if not refs:  # no worker could be started
            time.sleep(seconds)
            return []
        ready, _ = ray.wait(refs, num_returns=1, timeout=seconds)
        if ready:
            ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        for ref in set(ready) & set(counts):
            worker = counts[ref]
            worker.asked.clear()
            with suppress(exceptions.RayError):  # it has ended, which its jobs will tell
                worker.answers, worker.placed = max(worker.answers, ray.get(ref)), True
        return [self._event(firsts[ref], ref) for ref in ready if ref in firsts]

    def _event(self, worker: Actor, ref: Any) -> tuple[Actor, Event, Any]:
        """Returns what came of the first call that a worker was asked."""
        try:
            event, value, answers = ray.get(ref)
        except exceptions.RayTaskError as error:
            # `Hand` raises nothing: what was sent cannot be rebuilt there, or here
            return worker, Event.FAILED, RuntimeError(f"a {self.kind} failed: {last_line(error)}")
        except exceptions.RayError as error:
            if "creation task" in str(error):  # as where Scuff is not installed
                return worker, Event.FAILED, NoCluster(f"a {self.kind} could not be started: {last_line(error)}")
            self._end([worker], at_once=True)
            return worker, Event.LOST, _loss(error)
        worker.pending.popleft()
        worker.placed, worker.answers = True, max(worker.answers, answers)
        return worker, event, raised(*value) if event is Event.FAILED else value

    def _ask_for_answers(self) -> None:
        """Asks busy workers for what they have counted, every now and then; the more workers, the more seldom."""
        now = time.monotonic()
        if now - self._asked < max(LOOK, len(self._crew) / CALLS):
            return
        self._asked = now
        for worker in self._crew:
            if (worker.tasks or not worker.placed) and not worker.asked:
                worker.asked.append(worker.actor.answers.remote())

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._watched > WATCH:
            self._watch()
        if self._watched > self._headed:
            self._busy = now
            return
        if not self._crew or any(worker.placed for worker in self._crew):
            self._busy = now
        elif self._say and now - self._busy > PATIENCE:
            self._busy = math.inf  # told once
            self._say("WARNING the Ray cluster has no free CPU for a worker: the run waits for one")

    def _can_start(self) -> bool:
        return head_answers()

    def _with_head(self, call: Callable[[], T]) -> T:
        """Does what waits for the head node, which may die meanwhile, in a thread of its own. Raises HeadLost."""
        done = Future[T]()
        Thread(target=lambda: _settle(done, call), daemon=True).start()
        while not wait([done], WATCH).done:
            self._watch()
        return done.result()

    def _watch(self) -> None:
        """Sees whether the head node answers. Raises HeadLost if it has not for long."""
        silent, self._watched = self._watched > self._headed, time.monotonic()
        if head_answers():
            self._headed = self._watched
        elif self._watched - self._headed > WAIT:
            raise HeadLost(
                f"expected the head node of the Ray cluster to answer, got nothing for {WAIT:.0f} seconds; finished blocks stay: "
                "the same command or --resume goes on"
            )
        elif self._say and not silent:
            self._say("WARNING the head node of the Ray cluster does not answer: the run waits for it")

    def _answers(self, worker: Actor) -> int:
        return worker.answers

    def _end(self, workers: list[Actor], at_once: bool) -> None:
        end_actors(worker.actor for worker in workers)


def _settle(done: Future[T], call: Callable[[], T]) -> None:
    try:
        done.set_result(call())
    except BaseException as error:
        done.set_exception(error)


def _loss(error: Exception) -> Loss:
    """Returns how an actor ended, from Ray's many words, which often do not say whether its node did."""
    lost = "node has died" in str(error) or isinstance(error, exceptions.NodeDiedError)
    return Loss(
        "was lost with its node" if lost else "was killed, perhaps because memory ran out, or lost with its node,"
    )
