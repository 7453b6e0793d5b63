"""A model that many processes ask: `Service` holds it and fills batches with the rows of all, and a `Door` reaches it.

Workers do everything but the forward pass: they perturb, search and cut texts into pieces. What travels is numbers. Answers do
not depend on who else asks: on a GPU because of fixed shapes (huggingface/cuda.py), elsewhere because every request has batches
of its own.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from ..huggingface.batches import Pieces
from ..huggingface.cuda import IN_FLIGHT, Asked
from ..huggingface.loading import answering
from .base import StopRun
from .huggingface import Arrays, Transformer

# what a worker knows of the model, so that it need not open it
FACTS = (
    "name", "task", "labels", "access", "count", "mask", "unknown", "max_length", "num_beams", "max_new_tokens", "prefix",
    "batch_tokens", "rows_at_once", "cases_at_once", "gives_slopes", "backend", "steady", "tokenizer", "identity", "takes_types",
    "reads",
)  # fmt: skip


class ServiceLost(StopRun):
    """The process that holds the model has ended."""


class Door(Protocol):
    """How a worker reaches a service. Can be pickled."""

    def answer(self, request: Arrays) -> Arrays:
        """As `Service.answer`, for one request. Raises what the model raised; ServiceLost if nobody answers."""
        ...

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """As `Service.call`."""
        ...


class Service:
    """Answers requests with one model, in the process that has it open.

    A request has the pieces of n rows, the longest first: "ids" one row behind the other, "length" of each row and, if the model
    takes them, "types". The answer is what `Transformer.send` finds.
    """

    def __init__(self, victim: Transformer) -> None:
        self.victim = victim
        self._open: dict[Asked, tuple[Any, float]] = {}  # on the GPU or on the way: whose request it is, and since when
        self._queue: deque[tuple[Any, Pieces, float]] = deque()  # to be answered one by one
        self.requests = self.rows = 0
        self.waited = 0.0  # seconds that requests waited for their answers, all together
        self.first = self.last = 0.0  # when the first request came, and when the last answer was ready

    def answer(self, requests: Sequence[Arrays]) -> list[Arrays | Exception]:
        """Answers requests; batches are filled across them. Where the model raises, its exception is the answer."""
        out: dict[int, Arrays | Exception] = {}
        with self.ready():
            for at, request in enumerate(requests):
                self.put(at, request)
            while self.busy:
                out.update(self.step())
        return [out[at] for at in range(len(requests))]

    def call(self, method: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a method of the victim that is rarely needed: `saliency`, `slopes`, `vocabulary`; or returns its "facts"."""
        if method == "facts":
            return {name: getattr(self.victim, name) for name in FACTS}
        if method not in ("saliency", "slopes", "vocabulary"):
            raise ValueError(f"expected facts, saliency, slopes or vocabulary, got {method}")
        return getattr(self.victim, method)(*args, **kwargs)

    def ready(self) -> AbstractContextManager[Any]:
        """What `put` and `step` have to be called in."""
        return answering(self.victim.model) if self.victim.in_shapes else self.victim.ready()

    @property
    def busy(self) -> bool:
        return bool(self._open or self._queue)

    def put(self, whose: Any, request: Arrays) -> None:
        """Takes a request, to be answered by `step`. whose: comes back with the answer."""
        flat = {"input_ids": request["ids"]} | ({"token_type_ids": request["types"]} if "types" in request else {})
        pieces, now = Pieces(np.arange(len(request["length"])), request["length"], flat), time.perf_counter()
        self.requests, self.rows, self.first = self.requests + 1, self.rows + len(pieces), self.first or now
        if self.victim.in_shapes:
            self._open[self.victim.stream.ask(pieces)] = whose, now
        else:
            self._queue.append((whose, pieces, now))

    def step(self) -> list[tuple[Any, Arrays | Exception]]:
        """Goes on with what was put. Returns what is answered now, perhaps nothing."""
        if self._queue:
            whose, pieces, since = self._queue.popleft()
            return [(whose, self._alone(pieces, since))]
        if not self._open:
            return []
        stream = self.victim.stream
        try:
            stream.send()
            done = stream.take(wait=len(stream.flying) == IN_FLIGHT)
        except Exception:  # of a batch of many: whose rows are to blame is found by asking each alone
            asked, self._open = self._open, {}
            return [(whose, self._alone(one.pieces, since)) for one, (whose, since) in asked.items()]
        name = "tags" if self.victim.task == "tokens" else "logits"
        return [(self._closed(one), {name: one.answers}) for one in done]

    def _closed(self, asked: Asked) -> Any:
        whose, since = self._open.pop(asked)
        self._note(since)
        return whose

    def _note(self, since: float) -> None:
        self.last = time.perf_counter()
        self.waited += self.last - since

    def _alone(self, pieces: Pieces, since: float) -> Arrays | Exception:
        try:
            return self.victim.send(pieces)()
        except Exception as error:
            return error
        finally:
            self._note(since)

    def figures(self) -> dict[str, float]:
        """What was done so far: requests, rows, seconds from the first request to the last answer, and seconds that requests
        waited, all together; of a GPU its batches, and which share of them is no padding.
        """
        out = {
            "requests": self.requests, "rows": self.rows, "asked_seconds": round(self.last - self.first, 3),
            "waited_seconds": round(self.waited, 3),
        }  # fmt: skip
        if not self.victim.in_shapes:
            return out
        stream = self.victim.stream
        return {**out, "batches": stream.number, "filled": round(stream.asked_tokens / max(1, stream.sent_tokens), 3)}
