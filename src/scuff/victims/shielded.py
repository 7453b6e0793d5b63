"""A model behind a shield: `Shielded` mends texts before its victim sees them, and is a victim itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.dataset import Column as TextColumn
from ..data.dataset import Task, Text
from ..shields.base import Shield
from ..shields.chain import Chain
from ..shields.names import parse
from ..specs import digests
from ..text.edits import map_spans
from ..text.ragged import Floats, Ints
from ..version import __version__
from .base import GRADIENT_STEPS, Column, Outputs, Spans, Victim
from .query import WrongAnswers, checked, columns_of, keys_of
from .substitution import Located, Substitutable, Vocabulary, gives_slopes, require_slopes


class Through:
    """An attribute of a shielded victim that is its victim's, to read and to set."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, shielded: Any, owner: type | None = None) -> Any:
        return getattr(shielded.victim, self.name)

    def __set__(self, shielded: Any, value: Any) -> None:
        object.__setattr__(shielded.victim, self.name, value)  # which a frozen dataclass allows


class Shielded(Victim):
    """A victim behind a shield. Answers are those to the mended texts; all else is the victim's.

    Texts in tokens keep their tokens; of pairs both texts are mended. Name and identity have the shield in them, so that answers
    of a model with and without it are never mixed, in no cache and no run.

    Gradients: `saliency` is that of the mended text, and words that a repair joined share what they became. `slopes` are those of
    the victim for the text as it was given: a shield has no gradient, and is taken for the identity there (Athalye, Carlini and
    Wagner 2018). That is exact where the shield changes nothing. In either case gradients only propose; whether a text fools the
    model is decided by its answers.
    """

    # Any: a descriptor in place of a plain attribute of the base class
    task: Any = Through()
    labels: Any = Through()
    access: Any = Through()
    cases_at_once: Any = Through()
    rows_at_once: Any = Through()
    in_flight: Any = Through()
    batch_tokens: Any = Through()
    holds: Any = Through()
    state: Any = Through()
    strange: Any = Through()
    backend: Any = Through()
    steady: Any = Through()
    hint: Any = Through()
    serves: Any = Through()
    scores_are: Any = Through()
    paid: Any = Through()
    mask: Any = Through()
    unknown: Any = Through()
    sees_through_files: Any = Through()
    _identity: Any = Through()

    def __init__(self, victim: Victim, shield: str | Shield) -> None:
        """shield: one, or its spec, such as normalise+restore."""
        if not isinstance(victim, Victim):
            raise TypeError(
                f"expected a Victim for Shielded.victim, got {type(victim).__name__}: "
                "scuff.victims.open.open_victim(model, task, labels) makes one of a function"
            )
        self.victim, self.shield = victim, parse(shield)
        if isinstance(victim, Shielded):  # whose shield comes second
            self.victim, self.shield = victim.victim, Chain((*_parts(self.shield), *_parts(victim.shield)))

    @property
    def name(self) -> str:  # type: ignore[override]
        return shielded_name(getattr(self.victim, "name", type(self.victim).__name__), self.shield.spec)

    @property
    def identity(self) -> str:
        """That of the victim, the shield's spec, and what decides its result: the version of Scuff, digests of own files."""
        own = "".join(f":{digest}" for _, digest in sorted(digests([self.shield.spec]).items()))
        return f"{self.victim.identity}|{self.shield.spec}:{__version__}{own}"

    @property
    def gives_slopes(self) -> bool:
        return gives_slopes(self.victim)

    def check_task(self, task: Task) -> None:
        self.victim.check_task(task)

    def assume(self, labels: Sequence[str]) -> bool:
        return self.victim.assume(labels)

    def settle(self) -> None:
        self.victim.settle()

    def mended(self, texts: Column) -> list[Text]:
        """The texts as the victim sees them."""
        plain = [text for text in texts if isinstance(text, str)]
        if len(plain) == len(texts) and not self.shield.in_doubt(plain):
            return list(texts)
        column = TextColumn.of(texts)
        repairs = self.shield.repairs(column.corpus)
        return column.texts(repairs.edits) if len(repairs) else list(texts)

    def __call__(self, *columns: Column) -> Outputs:
        """Answers to the mended texts. Rows that are the same once mended are asked once."""
        keys = keys_of([self.mended(column) for column in columns])
        number: dict[Any, int] = {}
        place = np.fromiter((number.setdefault(key, len(number)) for key in keys), np.int64, len(keys))
        if not number:
            return self.victim(*columns)
        found = checked(self.victim(*columns_of(list(number))), self.victim)
        if len(found) != len(number):
            raise WrongAnswers(f"expected {len(number)} answers from {self.victim.name}, got {len(found)}")
        return found.take(place)

    def saliency(
        self,
        *columns: Column,
        side: int,
        words: Sequence[Spans],
        weights: Floats,
        steps: int = GRADIENT_STEPS,
        norm: str | None = None,
    ) -> list[Floats]:
        """As for all victims. A word that a repair deletes has 0."""
        column = TextColumn.of(columns[side])
        repairs = self.shield.repairs(column.corpus)
        seen = [self.mended(each) if at != side else column.texts(repairs.edits) for at, each in enumerate(columns)]
        edits = repairs.edits.listed(column.corpus)
        places = [_joined(map_spans(*both)) for both in zip(edits, words, strict=True)]
        more = {"norm": norm} if norm else {}  # as in `Query.saliency`
        found = self.victim.saliency(
            *seen, side=side, words=[spans for spans, _ in places], weights=weights, steps=steps, **more
        )
        return [np.append(values, 0.0)[group] for values, (_, group) in zip(found, places, strict=True)]

    def vocabulary(self) -> Vocabulary:
        return self._substitutable.vocabulary()

    def located(self, texts: Column) -> list[Located]:
        return self._substitutable.located(texts)

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        return self._substitutable.slopes(texts, targets)

    @property
    def _substitutable(self) -> Substitutable:
        require_slopes(self.victim, "substitutions")
        assert isinstance(self.victim, Substitutable)
        return self.victim


def _joined(spans: Spans) -> tuple[list[tuple[int, int]], Ints]:
    """Spans in their order, those that overlap as one, empty ones left out; and which of these each span is a part of, the
    number behind the last one for an empty span.
    """
    start, stop = np.array(spans, np.int64).reshape(-1, 2).T
    left = np.flatnonzero(stop > start)
    order = left[np.argsort(start[left], kind="stable")]
    reach = np.maximum.accumulate(stop[order])
    opens = np.append(True, start[order][1:] >= reach[:-1])[: order.size]
    first = np.flatnonzero(opens)
    group = np.full(start.size, first.size)
    group[order] = np.cumsum(opens) - 1
    ends = reach[np.append(first, order.size)[1:] - 1]
    return list(zip(start[order][first].tolist(), ends.tolist(), strict=True)), group


def _parts(shield: Shield) -> tuple[Shield, ...]:
    return shield.parts if isinstance(shield, Chain) else (shield,)


def shielded_name(name: str, spec: str) -> str:
    """What a model behind a shield is called."""
    return f"{name} shielded by {spec}"


def unshielded(victim: Victim) -> Victim:
    """The model itself, without a shield."""
    return victim.victim if isinstance(victim, Shielded) else victim
