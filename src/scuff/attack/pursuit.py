"""The search of one example while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .search import Told, Try, Walk
from .space import State, View


@dataclass(eq=False)
class Pursuit:
    """The search of one example: what it wants to know, what it has learnt, where it ended."""

    view: View
    walk: Walk
    wish: Try = field(default_factory=lambda: Try(()))
    known: dict[State, tuple[float, float, Any]] = field(default_factory=dict)  # margin, likeness, answer
    queries: int = 1  # the original was asked, too
    state: State = ()
    margin: float = -np.inf
    reason: str = ""  # why it ended before the search did
    failed: str = ""  # what broke it

    def begin(self) -> bool:
        """Whether it wants to try anything."""
        try:
            self.wish = next(self.walk)
        except StopIteration as end:
            return self._settle(end.value)
        return True

    def advance(self) -> bool:
        """Tell the search what it wanted to know; whether it wants more."""
        told = [self.known[state] for state in self.wish.states]
        margin, likeness = np.array([t[0] for t in told], np.float64), np.array([t[1] for t in told], np.float64)
        if self.reason:
            seen = [
                (known[0], -at, state) for at, (state, known) in enumerate(self.known.items()) if known[2] is not None
            ]
            top = max(seen, default=(-np.inf, 0, ()))
            return self._settle(top[2] if top[0] > self.view.clean else ())
        try:
            self.wish = self.walk.send(Told(margin, likeness))
        except StopIteration as end:
            return self._settle(end.value)
        return True

    def _settle(self, state: State) -> bool:
        self.state = state
        self.margin = self.known[state][0] if state else self.view.clean
        return False

    @property
    def answer(self) -> Any:
        return self.known[self.state][2] if self.state else None

    def new(self) -> list[State]:
        """What it wants to try and does not know yet, each once."""
        return [state for state in dict.fromkeys(self.wish.states) if state not in self.known]
