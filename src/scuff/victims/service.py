"""A model that many processes ask: `Service` holds it and fills batches with the rows of all, and a `Door` reaches it.

Workers do everything but the forward pass: they perturb, search and cut texts into pieces. What travels is numbers. Answers do
not depend on who else asks: on a GPU because of fixed shapes (huggingface/cuda.py), elsewhere because every request has batches
of its own. On a GPU a service also holds the sentence encoders that workers need.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..huggingface.batches import Pieces
from ..huggingface.cuda import Stream
from ..huggingface.encoder import INSIDE, Encoder, open_encoder
from ..huggingface.loading import answering
from ..huggingface.shapes import IN_FLIGHT, Asked
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

    def answer(self, request: Arrays, encoder: str = "") -> Arrays:
        """As `Service.answer`, for one request. Raises what the model raised; ServiceLost if nobody answers."""
        ...

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """As `Service.call`."""
        ...


class Service:
    """Answers requests with one model, in the process that has it open.

    A request has the pieces of n rows, the longest first: "ids" one row behind the other, "length" of each row and, if the model
    takes them, "types"; "texts": how many a row has, if not one. The answer is what `Transformer.send` finds. A request to a
    sentence encoder, by its name, has "inside", whether a piece counts; the answer is the "sums" of the last layer over these
    pieces of each row.
    """

    def __init__(self, victim: Transformer) -> None:
        self.victim = victim
        self._encoders: dict[str, Encoder] = {}
        # on the GPU or on the way: whose request it is, and since when
        self._open: dict[Stream, dict[Asked, tuple[Any, float]]] = {}
        self._kinds: dict[Stream, str] = {}  # what the answers of each stream are called
        self._queue: deque[tuple[Any, Pieces, float]] = deque()  # to be answered one by one
        self.requests = self.rows = 0
        self.waited = 0.0  # seconds that requests waited for their answers, all together
        self.first = self.last = 0.0  # when the first request came, and when the last answer was ready

    def answer(self, requests: Sequence[tuple[Arrays, str]]) -> list[Arrays | Exception]:
        """Answers requests, each with the encoder that it is for, "" for the model; batches are filled across them. Where the
        model raises, its exception is the answer.
        """
        out: dict[int, Arrays | Exception] = {}
        with self.ready():
            for at, (request, encoder) in enumerate(requests):
                try:
                    self.put(at, request, encoder)
                except Exception as error:
                    out[at] = error
            while self.busy:
                out.update(self.step())
        return [out[at] for at in range(len(requests))]

    def call(self, method: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a method of the victim that is rarely needed: `saliency`, `slopes`, `vocabulary`; or returns its "facts", or what
        `encoder` does.
        """
        if method == "facts":
            return {name: getattr(self.victim, name) for name in FACTS}
        if method == "encoder":
            return self.encoder(*args)
        if method not in ("saliency", "slopes", "vocabulary"):
            raise ValueError(f"expected encoder, facts, saliency, slopes or vocabulary, got {method}")
        return getattr(self.victim, method)(*args, **kwargs)

    def encoder(self, name: str) -> tuple[Any, int] | None:
        """Opens a sentence encoder. Returns what a worker needs to know of it, without its network: it, and how many pieces it
        sees; None if its answers would depend on the batch, so that each worker should have its own.
        """
        encoder = self._encoders.get(name) or open_encoder(name)
        if not encoder.steady:
            return None
        self._encoders[name] = encoder
        known = replace(encoder.loaded, model=None)
        vars(known)["digest"] = encoder.identity
        return known, encoder.longest

    def ready(self) -> AbstractContextManager[Any]:
        """What `put` and `step` have to be called in."""
        return answering(self.victim.model) if self.victim.in_shapes else self.victim.ready()

    @property
    def busy(self) -> bool:
        return bool(self._queue or any(self._open.values()))

    def put(self, whose: Any, request: Arrays, encoder: str = "") -> None:
        """Takes a request, to be answered by `step`. whose: comes back with the answer. encoder: which one is asked, if any."""
        names = {"ids": "input_ids", "types": "token_type_ids", INSIDE: INSIDE}
        flat = {names[name]: request[name] for name in request if name in names}
        texts, now = int(request["texts"][0]) if "texts" in request else 1, time.perf_counter()
        pieces = Pieces(np.arange(len(request["length"])), request["length"], flat, texts)
        if encoder:
            if encoder not in self._encoders:  # this process took the place of one that ended, which had opened it
                self.encoder(encoder)
            self._ask(self._encoders[encoder].stream, "sums", pieces, whose, now)
            return
        self.requests, self.rows, self.first = self.requests + 1, self.rows + len(pieces), self.first or now
        if self.victim.in_shapes:
            kind = "tags" if self.victim.task == "tokens" else "logits"
            self._ask(self.victim.stream_for(texts), kind, pieces, whose, now)
        else:
            self._queue.append((whose, pieces, now))

    def _ask(self, stream: Stream, kind: str, pieces: Pieces, whose: Any, now: float) -> None:
        self._kinds[stream] = kind
        self._open.setdefault(stream, {})[stream.ask(pieces)] = whose, now

    def step(self) -> list[tuple[Any, Arrays | Exception]]:
        """Goes on with what was put. Returns what is answered now, perhaps nothing."""
        done: list[tuple[Any, Arrays | Exception]] = []
        if self._queue:
            whose, pieces, since = self._queue.popleft()
            done.append((whose, self._alone(pieces, since)))
        for stream, asked in self._open.items():
            if asked:
                done += self._go_on(stream, asked)
        return done

    def _go_on(self, stream: Stream, asked: dict[Asked, tuple[Any, float]]) -> list[tuple[Any, Arrays | Exception]]:
        """Sends and takes batches of a stream."""
        kind = self._kinds[stream]
        try:
            stream.send()
            done = stream.take(wait=len(stream.flying) == IN_FLIGHT)
        except Exception:  # of a batch of many: whose rows are to blame is found by asking each alone
            again = list(asked.items())
            asked.clear()
            alone = partial(self._sums_alone, stream) if kind == "sums" else self._alone
            return [(whose, alone(one.pieces, since)) for one, (whose, since) in again]
        out: list[tuple[Any, Arrays | Exception]] = []
        for one in done:
            whose, since = asked.pop(one)
            out.append((whose, {kind: one.answers}))
            if kind != "sums":
                self._note(since)
        return out

    def _sums_alone(self, stream: Stream, pieces: Pieces, since: float) -> Arrays | Exception:
        try:
            return {"sums": stream.finish(stream.ask(pieces))}
        except Exception as error:
            return error

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
        """What the model did so far: requests, rows, seconds from the first request to the last answer, and seconds that requests
        waited, all together; of a GPU its batches, and which share of them is no padding.
        """
        out = {
            "requests": self.requests, "rows": self.rows, "asked_seconds": round(max(0.0, self.last - self.first), 3),
            "waited_seconds": round(self.waited, 3),
        }  # fmt: skip
        if not self.victim.in_shapes:
            return out
        stream = self.victim.stream
        return {**out, "batches": stream.number, "filled": round(stream.asked_tokens / max(1, stream.sent_tokens), 3)}
