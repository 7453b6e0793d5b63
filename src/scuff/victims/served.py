"""Networks that another process holds: this one cuts texts into pieces and sends them through a door."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ..huggingface.batches import Pieces
from ..huggingface.encoder import INSIDE, Encoder
from ..huggingface.loading import Loaded, quiet
from ..text.ragged import Floats
from .base import GRADIENT_STEPS, Access, Column, Spans, Victim
from .huggingface import Arrays, Transformer
from .service import Door
from .substitution import Vocabulary, require_slopes


class Served(Transformer):
    """A Transformer without its network. Answers, name and identity are the same, bit for bit."""

    serves = True

    def __init__(self, door: Door) -> None:
        facts = door.call("facts")
        self.door, self._said = door, facts.pop("identity")
        for name, value in facts.items():
            setattr(self, name, value)

    @property
    def identity(self) -> str:
        return str(self._said)

    @contextmanager
    def ready(self) -> Iterator[None]:
        with quiet():
            yield

    def send(self, pieces: Pieces) -> Callable[[], Arrays]:
        request = {"ids": pieces.flat["input_ids"].astype(np.int32), "length": pieces.length.astype(np.int32)}
        if self.takes_types and "token_type_ids" in pieces.flat:
            request["types"] = pieces.flat["token_type_ids"].astype(np.int32)
        if pieces.texts > 1:
            request["texts"] = np.array([pieces.texts], np.int32)
        found = self.door.answer(request)
        return lambda: found

    def saliency(
        self,
        *columns: Column,
        side: int,
        words: Sequence[Spans],
        weights: Floats,
        steps: int = GRADIENT_STEPS,
        norm: str | None = None,
    ) -> list[Floats]:
        options = {"side": side, "words": words, "weights": weights, "steps": steps, "norm": norm}
        if self.access < Access.GRADIENT:
            return Victim.saliency(self, *columns, side=side, words=words, weights=weights)
        return self.door.call("saliency", *columns, **options)

    def vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            self._vocabulary = self.door.call("vocabulary")
        return self._vocabulary

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        require_slopes(self, "slopes")
        return self.door.call("slopes", texts, targets)

    def settle(self) -> None:
        """Batches are the service's."""


class ServedEncoder(Encoder):
    """An Encoder without its network. Vectors are the same, bit for bit."""

    def __init__(self, door: Door, name: str, loaded: Loaded, longest: int) -> None:
        self.door, self.name, self.loaded, self.longest, self.steady = door, name, loaded, longest, True

    def _steady_sums(self, pieces: Pieces) -> Any:
        request = {"ids": pieces.flat["input_ids"].astype(np.int32), "length": pieces.length.astype(np.int32)}
        return self.door.answer({**request, INSIDE: pieces.flat[INSIDE].astype(np.int32)}, self.name)["sums"]


def use_encoders_of(door: Door) -> None:
    """From now on, `Encoder.load` of this process takes encoders that the other one holds, if that has them on a GPU."""

    @cache
    def find(name: str) -> Encoder | None:
        facts = door.call("encoder", name)
        return ServedEncoder(door, name, *facts) if facts else None

    Encoder.elsewhere = find
