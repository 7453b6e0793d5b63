"""Beam search, and greedy search as a beam of one: every edit at every site, round by round, from the best texts so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..space import State, View
from .base import EVEN, Dice, Search, Try, Walk, highest_first


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
        beam: list[State] = [()]
        best: State = ()
        most = view.clean
        while True:
            states = list(dict.fromkeys(state for old in beam for state in view.further(old)))
            told = yield Try(states)
            top = told.best()
            if top is None:
                return best
            if told.margin[top] > most + EVEN:
                best, most = states[top], float(told.margin[top])
            won = told.winner()
            if won is not None and not view.open_ended:
                return states[won]
            order = highest_first(told.margin)[: self.kept]
            beam = [states[at] for at in order.tolist() if np.isfinite(told.margin[at])]


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
