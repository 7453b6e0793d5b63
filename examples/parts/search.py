"""A search: yields texts to try, is sent their margins, returns the one that it settles on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scuff.attacks.search import Dice, Search, Try, Walk
from scuff.attacks.space import View


@dataclass(frozen=True)
class OneEdit(Search):
    """Try every single edit and take the best; `most` limits how many are tried."""

    most: int = 1000

    name: ClassVar[str] = "one-edit"
    summary: ClassVar[str] = "the best single edit"

    def walk(self, view: View, dice: Dice) -> Walk:
        states = view.further(())[: self.most]  # a state is a tuple of edits; () is the original text
        told = yield Try(states)
        best = told.best()  # None if every text is forbidden
        return () if best is None or told.margin[best] <= view.clean else states[best]
