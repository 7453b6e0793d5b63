"""The base class of searches, and the protocol between a search and the engine.

Before a search begins, perturbations propose edits to the original text. A *site* is a place that can change, mostly a word.
Sites and edits have numbers. A *state* is a text that can be tried: a tuple of ascending edit numbers, at most one per site; ()
is the original. A search is a generator, `walk`, written for one example. A `View` shows it the example: `sites`, `options(site)`
(the edits of a site), `further(state)` (all states with one edit more), `clean` (the margin of the original), `hides(site)`.

The search yields `Try(states)` and is sent `Told`, with a margin for each state: above 0 where the goal is reached, higher where
it is nearer, -inf where a constraint forbids the text or the victim gave no answer. The search ends by returning the state it
settles on, which must be () or one that it tried. `Try(states, free=True)` asks without constraints, to rank sites; such a state
must not be returned. A text is one query, however often it is tried. When the budget is spent, the engine ends the search and
keeps the best text so far.

    def walk(self, view: View, dice: Dice) -> Walk:  # the best single edit
        states = view.further(())
        told = yield Try(states)
        best = told.best()  # None if every text is forbidden
        return () if best is None or told.margin[best] <= view.clean else states[best]

A search with `slopes = True` may also yield `Slope(states, most, each)`. It asks for substitutions in these texts that promise
most by the victim's gradients. It is sent a list with an `Offer` for each state, whose edits have numbers as all others have: a
state of the search may then have them, too. A backward pass is a query. Offers are empty once the budget does not pay for the
passes and a try after them, so that a search tries what it has. `candidates` says what offers are chosen from.

The engine runs many such generators side by side and puts all they want to try into one batch, so a search that is written for
one example is as fast as one written for a whole block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...specs import Part
from ...text.ragged import Floats, Ints
from ...text.random import Rng
from ...victims.base import Access
from ...victims.substitution import MAX_SCRAMBLING, NEAREST
from ..space import State, View

FEW = 64  # margins that are sorted faster one by one than by arrays
EVEN = 1e-6  # margins that differ by less count as equal: the last digits of a score depend on its batch


class Try(NamedTuple):
    """What a search yields: states to try. free: without constraints, only to learn from; such a state is never the outcome."""

    states: Sequence[State]
    free: bool = False


class Told(NamedTuple):
    """What a search is sent for a Try, state by state.

    margin: above 0 where the goal is reached, -inf where a constraint forbids the text or there is no answer. likeness: how
    similar a text that reaches the goal is to the original; 0 for all others, and where no constraint measures it.
    """

    margin: Floats
    likeness: Floats

    def best(self) -> int | None:
        """The place of the highest margin, the first of equal ones; None if all are -inf."""
        margin = self.margin.tolist()  # mostly few: arrays would take longer
        if not margin or (top := max(margin)) == -np.inf:
            return None
        return next(at for at, value in enumerate(margin) if value >= top - EVEN)

    def winner(self) -> int | None:
        """The place of the success most similar to the original, of equal ones the first with the highest margin; or None."""
        if not max(self.margin.tolist(), default=0.0) > 0:
            return None
        won = np.flatnonzero(self.margin > 0)
        likeness = self.likeness[won]
        most = won[likeness >= likeness.max() - EVEN]
        return int(most[np.argmax(self.margin[most] >= self.margin[most].max() - EVEN)])


class Slope(NamedTuple):
    """The other thing that a search can yield, if it has `slopes = True`: asks for substitutions in these texts.

    most: how many at most, those with the highest gain. each: how many of them at most at one site.
    """

    states: Sequence[State]
    most: int
    each: int


class Offer(NamedTuple):
    """What a search is sent for each state of a Slope: numbers of edits, at sites without one, the highest gain first.

    gain: by how much each raises the adversarial loss, to first order.
    """

    edits: Sequence[int]
    gain: Floats


class Candidates(NamedTuple):
    """What a Slope is answered with. within: "vocabulary", any piece of the same kind; "neighbours", its `nearest` ones by the
    model's embeddings; "swaps", a spelling that the model does not know, by up to `max_scrambling` swaps of inner letters. sign:
    takes the sign of the gradient only.
    """

    within: str = "vocabulary"
    sign: bool = True
    nearest: int = NEAREST
    max_scrambling: int = MAX_SCRAMBLING

    @property
    def summary(self) -> str:
        """What takes the place of a piece, in words."""
        return {
            "vocabulary": "pieces into any other of the same kind, by gradients",
            "neighbours": f"pieces into one of their {self.nearest:,} nearest in the model's embeddings, by gradients",
            "swaps": "letters of words, so that the model does not know them, by gradients",
        }[self.within]


Request = Try | Slope
Walk = Generator[Request, Any, State]  # is sent Told for a Try, list[Offer] for a Slope


class Dice:
    """Random numbers for one example. They depend on the seed, the search and the example's text or id, not on other examples."""

    def __init__(self, rng: Rng, row: int) -> None:
        self.rng, self.row, self.thrown = rng, row, 0

    def uniform(self, count: int) -> Floats:
        """`count` numbers in [0, 1)."""
        at = np.arange(self.thrown, self.thrown + count)
        self.thrown += count
        return self.rng.uniform(np.full(count, self.row), at)

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1."""
        return int(self.uniform(1)[0] * limit)

    def order(self, count: int) -> Ints:
        """The numbers from 0 to count - 1, shuffled."""
        return np.argsort(self.uniform(count), kind="stable")

    def pick(self, weights: Floats) -> int:
        """A place in `weights`, with a probability proportional to its weight."""
        edges = np.cumsum(weights)
        return min(int(np.searchsorted(edges, self.uniform(1)[0] * edges[-1], "right")), weights.size - 1)


@dataclass(frozen=True)
class Search(Part, ABC):
    """A way to choose among proposed edits. Its fields are its options; `name(option=value)` is its spec."""

    needs: ClassVar[Access] = Access.SCORE  # the least access to a victim that the search can work with
    hidden: ClassVar[bool] = False  # whether `view.hides` writes the victim's unknown token ([UNK]) instead of deleting
    cuts: ClassVar[bool] = False  # whether the search uses `view.cut`
    slopes: ClassVar[bool] = False  # whether the search yields `Slope`: it proposes its own edits, then

    @property
    def gradient_norm(self) -> str | None:
        """The norm of the gradient that `view.importance` is, of a search that needs gradients; None: integrated gradients."""
        return None

    @property
    def candidates(self) -> Candidates:
        """What the offers of a search with `slopes` are chosen from."""
        return Candidates()

    @abstractmethod
    def walk(self, view: View, dice: Dice) -> Walk:
        """Searches one example: yields Try, is sent Told, returns the state it settles on; () if none beats the original."""


def highest_first(margin: Floats) -> Ints:
    """The places of margins, from the highest to the lowest. Runs of margins that differ by EVEN or less keep their order."""
    if margin.size <= FEW:
        return np.array(_few_highest_first(margin.tolist()), np.int64)
    order = (-margin).argsort(kind="stable")
    ordered = margin[order]
    with np.errstate(invalid="ignore"):  # -inf minus -inf: forbidden texts count as equal
        apart = np.append(False, ordered[:-1] - ordered[1:] > EVEN)
    return order[np.lexsort((order, np.cumsum(apart)))]


def _few_highest_first(margin: list[float]) -> list[int]:
    """The same for few margins, which need no arrays."""
    order = sorted(range(len(margin)), key=margin.__getitem__, reverse=True)
    first = 0  # of a run
    for at in range(1, len(order) + 1):
        if at == len(order) or margin[order[at - 1]] - margin[order[at]] > EVEN:
            if at > first + 1:
                order[first:at] = sorted(order[first:at])
            first = at
    return order


def without_step(margin: Floats) -> Floats:
    """The goal's scores in [0, 1]: undoes the 1 that `Goal.__call__` subtracts from those of texts that miss the goal."""
    return np.where(margin > 0, margin, margin + 1)
