"""What every search shares. A search is written for one example: it yields texts to try and is sent what came of them.

The engine runs the searches of many examples side by side and puts what all of them want to try into one batch, so a search that
is easy to read is as fast as one that is written for a whole block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ...specs import Part
from ...text.ragged import Floats, Ints
from ...text.random import Rng
from ...victims.base import Access
from ..space import State, View

EVEN = 1e-6  # scores that differ by less are equal: in another batch a model may say something else in the last digits


class Try(NamedTuple):
    """Texts to try. `free`: only to learn from, whatever the constraints say; such a text is never the result."""

    states: Sequence[State]
    free: bool = False


class Told(NamedTuple):
    """The margin of each text, -inf where a constraint forbids it or no answer came; and how like the original it is."""

    margin: Floats
    likeness: Floats

    def best(self) -> int | None:
        """The first of the best, if any is allowed."""
        if not self.margin.size or (top := self.margin.max()) == -np.inf:
            return None
        return int(np.argmax(self.margin >= top - EVEN))

    def winner(self) -> int | None:
        """Of those that reach the goal the one most like the original, the first of the best where nothing tells."""
        won = np.flatnonzero(self.margin > 0)
        if not won.size:
            return None
        likeness = self.likeness[won]
        most = won[likeness >= likeness.max() - EVEN]
        return int(most[np.argmax(self.margin[most] >= self.margin[most].max() - EVEN)])


Walk = Generator[Try, Told, State]


class Dice:
    """Chance for one example: the same whatever other examples there are."""

    def __init__(self, rng: Rng, row: int) -> None:
        self.rng, self.row, self.thrown = rng, row, 0

    def uniform(self, count: int) -> Floats:
        """In [0, 1)."""
        at = np.arange(self.thrown, self.thrown + count)
        self.thrown += count
        return self.rng.uniform(np.full(count, self.row), at)

    def below(self, limit: int) -> int:
        return int(self.uniform(1)[0] * limit)

    def order(self, count: int) -> Ints:
        return np.argsort(self.uniform(count), kind="stable")

    def pick(self, weights: Floats) -> int:
        """A place, as likely as its weight."""
        edges = np.cumsum(weights)
        return min(int(np.searchsorted(edges, self.uniform(1)[0] * edges[-1], "right")), weights.size - 1)


@dataclass(frozen=True)
class Search(Part, ABC):
    """Its fields are its options; `name(option=value)` is its spec."""

    needs: ClassVar[Access] = Access.SCORE  # how much a model must tell
    hidden: ClassVar[bool] = False  # whether it asks with sites hidden by the model's word for the unknown

    @abstractmethod
    def walk(self, view: View, dice: Dice) -> Walk:
        """The search of one example; returns the state that it settles on, () if none is better than the original."""


def highest_first(margin: Floats) -> Ints:
    """Places by margin; neighbours in that order that are equal in all digits that count, in their own order."""
    order = np.argsort(-margin, kind="stable")
    with np.errstate(invalid="ignore"):  # forbidden ones are all alike
        apart = -np.diff(margin[order], prepend=margin[order[:1]]) > EVEN
    return order[np.lexsort((order, np.cumsum(apart)))]


def without_step(margin: Floats) -> Floats:
    """The goal's own scores: margins have a step of 1 between texts that reach it and all others."""
    return np.where(margin > 0, margin, margin + 1)
