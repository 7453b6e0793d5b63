"""Beam search, and greedy search as a beam of one: every edit at every site, round by round, from the best texts so far."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar

import numpy as np

from ..space import State, View
from .base import EVEN, Dice, Request, Search, Try, Walk, highest_first

Further = Generator[Request, Any, list[State]]  # may ask for something first


def by_rounds(view: View, further: Callable[[Sequence[State]], Further], kept: int, rounds: int | None = None) -> Walk:
    """Tries what `further` makes of the `kept` best texts, again and again, until the goal is reached, nothing is left to try, or
    so many rounds are over. Returns the best text of all.
    """
    beam: list[State] = [()]
    best: State = ()
    most = view.clean
    for _ in repeat(None) if rounds is None else range(rounds):
        states = yield from further(beam)
        told = yield Try(states)
        top = told.best()
        if top is None:
            break
        if told.margin[top] > most + EVEN:
            best, most = states[top], float(told.margin[top])
        if not view.open_ended and (won := told.winner()) is not None:
            return states[won]
        order = highest_first(told.margin)[:kept]
        beam = [states[at] for at in order.tolist() if np.isfinite(told.margin[at])]
    return best


@dataclass(frozen=True)
class Greedy(Search):
    """Adds the best edit anywhere, round by round, until the goal is reached or nothing is left to try: a beam of one."""

    name: ClassVar[str] = "greedy"
    summary: ClassVar[str] = "the best edit anywhere, then the best one beside it, and so on"

    @property
    def kept(self) -> int:
        """How many texts go on to the next round."""
        return 1

    def walk(self, view: View, dice: Dice) -> Walk:
        def further(beam: Sequence[State]) -> Further:
            return list(dict.fromkeys(state for old in beam for state in view.further(old)))
            yield  # makes this a generator

        return (yield from by_rounds(view, further, self.kept))


@dataclass(frozen=True)
class Beam(Greedy):
    """As greedy, but from the `width` best texts of each round."""

    width: int = 8

    name: ClassVar[str] = "beam"
    summary: ClassVar[str] = "like greedy, from the best few texts"

    def __post_init__(self) -> None:
        if type(self.width) is not int or self.width < 1:
            raise ValueError(f"expected a whole number above 0 for beam.width, got {self.width!r}")

    @property
    def kept(self) -> int:
        return self.width
