"""Models that actors of a Ray cluster hold, one for each GPU, and the door through which workers ask them.

Workers do everything but the forward pass. What they want to know at the same time is answered together: while a model is busy,
requests of all workers gather, and the next batches are filled with them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import ray
from ray import exceptions

from ...exceptions import Failure, failure, raised
from ...victims.service import ServiceLost
from .cluster import end_actors, last_line
from .origin import Origin

Arrays = dict[str, npt.NDArray[Any]]
RESTARTS = 3  # of an actor that dies, or whose node does; what it was asked is asked again
AT_ONCE = 64  # requests of an actor that may wait at the same time
LOST = "expected an answer from the actor that holds the model, got none: it has ended"
_turn = count(os.getpid())  # workers do not all begin with the same model


class Service(Protocol):
    """A model that answers requests of many workers."""

    def answer(self, requests: Sequence[tuple[Arrays, str]]) -> list[Arrays | Exception]: ...
    def call(self, method: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any: ...


class Request:
    """What a worker asks: arrays (of an encoder, if it has a name) to be answered together with those of others, or a method to
    be called alone.
    """

    def __init__(
        self, arrays: Arrays | None, method: str = "", args: Any = (), kwargs: Any = None, encoder: str = ""
    ) -> None:
        self.encoder = encoder
        self.arrays, self.method, self.args, self.kwargs = arrays, method, args, kwargs or {}
        self.found: Any = None
        self.failed: Failure | None = None
        self.done = Event()


class Keeper:
    """An actor that holds a model. One thread asks it; the calls of workers wait for that thread."""

    def __init__(self, origin: Origin, open_service: bytes) -> None:
        self.requests: SimpleQueue[Request] = SimpleQueue()
        self.service: Service | None = None
        self.failed: Failure | None = None
        try:
            origin.adopt()
            self.service = ray.cloudpickle.loads(open_service)()
        except Exception as error:  # an exception here would end the actor, and Ray would hide it
            self.failed = failure(error)
        Thread(target=self._serve, daemon=True).start()

    def ready(self) -> tuple[Failure | None, str]:
        """Returns why the model could not be opened, None if it is open; and the node that it is on."""
        return self.failed, node()

    def answer(self, arrays: Arrays, encoder: str) -> tuple[Failure | None, Any]:
        # arrays in the memory that Ray shares cannot be written to, which PyTorch does not like
        return self._ask(Request({name: np.array(array) for name, array in arrays.items()}, encoder=encoder))

    def call(self, method: str, args: Any, kwargs: Any) -> tuple[Failure | None, Any]:
        return self._ask(Request(None, method, args, kwargs))

    def _ask(self, request: Request) -> tuple[Failure | None, Any]:
        if self.service is None:  # it was started again, where the model cannot be opened
            assert self.failed is not None
            return failure(ServiceLost(f"{LOST}, and it cannot be opened again: {last_line(self.failed[0])}")), None
        self.requests.put(request)
        request.done.wait()
        return request.failed, request.found

    def _serve(self) -> None:
        while True:
            some = [self.requests.get()]
            while not self.requests.empty():
                some.append(self.requests.get())
            self._answer([request for request in some if request.arrays is not None])
            for request in some:
                if request.arrays is None:
                    self._call(request)
                request.done.set()

    def _answer(self, requests: list[Request]) -> None:
        """Answers requests in common batches."""
        assert self.service is not None
        if not requests:
            return
        try:
            answers = self.service.answer(
                [(request.arrays, request.encoder) for request in requests if request.arrays is not None]
            )
        except Exception as error:  # of the service itself
            answers = [error] * len(requests)
        for request, found in zip(requests, answers, strict=True):
            if isinstance(found, Exception):
                request.failed = failure(found)
            else:
                request.found = found

    def _call(self, request: Request) -> None:
        assert self.service is not None
        try:
            request.found = self.service.call(request.method, request.args, request.kwargs)
        except Exception as error:
            request.failed = failure(error)


@cache
def node() -> str:
    """The node of the cluster that this process is on."""
    return str(ray.get_runtime_context().get_node_id())


@dataclass(frozen=True)
class RayDoor:
    """How a worker on the cluster reaches the models. It asks those of its own node, if there are any, in turn."""

    keepers: tuple[Any, ...]
    nodes: tuple[str, ...]  # where each was opened

    @property
    def near(self) -> tuple[Any, ...]:
        here = [keeper for keeper, its in zip(self.keepers, self.nodes, strict=True) if its == node()]
        return tuple(here) or self.keepers

    def answer(self, request: Arrays, encoder: str = "") -> Arrays:
        return self._asked("answer", request, encoder)

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return self._asked("call", method, args, kwargs)

    def _asked(self, name: str, *args: Any) -> Any:
        near = self.near
        keeper = near[next(_turn) % len(near)]
        try:
            failed, found = ray.get(getattr(keeper, name).remote(*args))
        except exceptions.RayActorError:
            raise ServiceLost(f"{LOST} for good") from None
        if failed:
            raise raised(*failed)
        return found


@contextmanager
def kept(open_service: Callable[[], Service], number: int, gpus: float = 1.0) -> Iterator[RayDoor]:
    """Opens a model in so many actors, with so many GPUs each, and yields a door to them.

    An actor that dies is started again elsewhere, and what it was asked is asked again. Raises what `open_service` raised.
    """
    kind = ray.remote(
        num_cpus=0, num_gpus=gpus, max_restarts=RESTARTS, max_task_retries=-1, max_concurrency=AT_ONCE
    )(Keeper)  # fmt: skip
    origin, opening = Origin.of_this_process(), ray.cloudpickle.dumps(open_service)
    keepers = tuple(kind.remote(origin, opening) for _ in range(number))
    try:
        opened = ray.get([keeper.ready.remote() for keeper in keepers])
        for failed, _ in opened:
            if failed:
                raise raised(*failed)
        yield RayDoor(keepers, tuple(where for _, where in opened))
    finally:
        end_actors(keepers)
