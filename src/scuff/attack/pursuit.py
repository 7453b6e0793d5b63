"""The search of one example while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..text.dataset import Text
from .search import Told, Try, Walk
from .space import State, View

Heard = tuple[float, Any]  # margin and answer, none if there is none
Known = tuple[float, float, Any]  # margin, likeness, answer; no answer of what cannot be the result


@dataclass(eq=False)
class Pursuit:
    """The search of one example: what it wants to know, what it has learnt, where it ended."""

    view: View
    walk: Walk
    heard: dict[Text, Heard]  # every text that was asked, in that order: two states may write the same
    known: dict[State, Known]  # every state that it wanted to try
    wish: Try = field(default_factory=lambda: Try(()))
    queries: int = 1  # the original was asked, too
    needed: int = 1  # queries before what it wants to know now
    asked: bool = False  # whether about a text that could be the result
    reached: int = 0  # queries that the first one took that reaches the goal; 0: none did
    state: State = ()
    reason: str = ""  # why it ended before the search did
    failed: str = ""  # what broke it

    @classmethod
    def of(cls, view: View, walk: Walk, original: Text) -> Pursuit:
        return cls(view, walk, {original: (view.clean, None)}, {(): (view.clean, 0.0, None)})

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
            return self._settle(self._best())
        try:
            self.wish = self.walk.send(Told(margin, likeness))
        except StopIteration as end:
            return self._settle(end.value)
        return True

    def _settle(self, state: State) -> bool:
        """End there; where the search went on past a text that reaches the goal and lost it, at that."""
        self.state = self._best() if self.reached and self.known[state][0] <= 0 else state
        return False

    def _best(self) -> State:
        """The first of the best that were answered; the original if none is better."""
        seen = [(known[0], -at, state) for at, (state, known) in enumerate(self.known.items()) if known[2] is not None]
        top = max(seen, default=(-np.inf, 0, ()))
        return top[2] if top[0] > self.view.clean else ()

    @property
    def margin(self) -> float:
        return self.known[self.state][0]

    @property
    def answer(self) -> Any:
        return self.known[self.state][2]

    @property
    def spent(self) -> int:
        """Queries so far; a pass for gradients is one, which was made beforehand."""
        return self.queries + (self.view.importance is not None)

    @property
    def answered(self) -> bool:
        """Whether it knows the answer to a text that could be the result."""
        return any(answer is not None for _, _, answer in self.known.values())

    def reach(self, texts: Sequence[Text]) -> None:
        """The last of these texts, told in this order, reaches the goal. With as many queries as that took and no more, a search
        would have come to it, too.
        """
        if not self.reached:
            number = {text: at for at, text in enumerate(self.heard, 1 + self.spent - self.queries)}
            self.reached = max(self.needed, *(number[text] for text in texts))

    def told(self, counts: bool) -> None:
        """All that it wanted to know is told; whether some of it could be the result."""
        self.asked |= counts
        self.needed = self.spent

    def new(self) -> list[State]:
        """What it wants to try and does not know yet, each once."""
        return [state for state in dict.fromkeys(self.wish.states) if state not in self.known]

    def fresh(self, texts: Sequence[Text], room: float) -> tuple[list[int], int]:
        """Which of these texts are to be asked, each once, no more than there is room for; how many can be told then."""
        found: dict[Text, int] = {}
        for at, text in enumerate(texts):
            if text not in self.heard and text not in found:
                if len(found) >= room:
                    return list(found.values()), at
                found[text] = at
        return list(found.values()), len(texts)
