"""Random search: the first random text that reaches the goal, or the best of all. Works with models that give no scores."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from ...specs import check_number
from ...victims.base import Access
from ..space import State, View
from .base import EVEN, Dice, Search, Try, Walk

WAVE = 8  # texts that are tried at once: with more, queries after a success would be wasted
TRIES = 4  # random texts drawn for each one wanted, since constraints forbid some


@dataclass(frozen=True)
class BestOf(Search):
    """Tries `n` texts with edits at random sites. The number of sites is random, at most a `share` of all that can change."""

    n: int = 100
    share: float = 0.5

    name: ClassVar[str] = "best-of"
    summary: ClassVar[str] = "random texts, until one succeeds; needs no scores"
    needs: ClassVar[Access] = Access.DECISION

    def __post_init__(self) -> None:
        if type(self.n) is not int or self.n < 1:
            raise ValueError(f"expected a whole number above 0 for best-of.n, got {self.n!r}")
        check_number(self.share, 1e-6, 1, "best-of.share")

    def walk(self, view: View, dice: Dice) -> Walk:
        seen: set[State] = set()
        best: State = ()
        most, left = view.clean, self.n
        for _ in range(-(-self.n * TRIES // WAVE)):
            states = [state for state in self._drawn(view, dice) if not (state in seen or seen.add(state))][:left]  # type: ignore[func-returns-value]
            if not states:
                continue
            told = yield Try(states)
            if not view.open_ended and (won := told.winner()) is not None:
                return states[won]
            top = told.best()
            if top is not None and told.margin[top] > most + EVEN:
                best, most = states[top], float(told.margin[top])
            left -= int(np.isfinite(told.margin).sum())
            if left <= 0:
                break
        return best

    def _drawn(self, view: View, dice: Dice) -> list[State]:
        """WAVE random states, none if nothing can change."""
        if not view.sites:
            return []
        out = []
        for _ in range(WAVE):
            count = 1 + dice.below(ceil(self.share * len(view.sites)))
            sites = [view.sites[at] for at in dice.order(len(view.sites))[:count].tolist()]
            edits = [view.options(site)[dice.below(len(view.options(site)))] for site in sites]
            out.append(tuple(sorted(edits)))
        return out
