"""The random choice among proposed edits: one per site, no overlaps, inside a budget. Works on bare arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .ragged import Bits, Ints, Mask
from .random import Rng, shuffled

Unit = Literal["sites", "letters"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """What the choice needs to know of some edits, which are sorted by row and start. `index` says which they are."""

    index: Ints
    row: Ints
    start: Ints
    stop: Ints
    site: Ints
    cost: Ints
    order: Bits | None = None  # which goes first in its document, if chance does not decide

    def where(self, chosen: Mask | Ints) -> Candidates:
        index, row, start, stop, site, cost = (
            field[chosen] for field in (self.index, self.row, self.start, self.stop, self.site, self.cost)
        )
        return Candidates(index, row, start, stop, site, cost, None if self.order is None else self.order[chosen])

    def one_per_site(self, rng: Rng) -> Candidates:
        """Of the alternatives for one site keep one, each equally likely."""
        if (np.diff(self.site) > 0)[np.diff(self.row) == 0].all():  # one proposal per site: nothing to choose
            return self
        order = np.lexsort((self.site, self.row))
        row, site = self.row[order], self.site[order]
        first = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(site, prepend=-1) != 0))
        count = np.diff(np.append(first, order.size))
        pick = first + rng.stream("alternative").below(count, row[first], site[first])
        return self.where(np.sort(order[pick]))

    def without_overlaps(self, rng: Rng) -> Candidates:
        """Of edits that overlap the one that comes first in the random order stays; in rounds until none overlap."""
        left = self
        while True:
            clash = (left.row[1:] == left.row[:-1]) & (left.start[1:] < left.stop[:-1])
            if not clash.any():
                return left
            priority = left.priority(rng)
            forward = priority[:-1] <= priority[1:]
            behind = np.append(False, clash & forward)  # overlaps an edit to its left that goes first
            ahead = np.append(clash & ~forward, False)  # and to its right
            wins = ~(behind | ahead)
            loses = np.append(False, clash & wins[:-1]) | np.append(clash & wins[1:], False)
            left = left.where(~(loses & ~wins))

    def priority(self, rng: Rng) -> Bits:
        """The order of sites, at random unless it is given. A larger budget chooses what a smaller one does, and more."""
        return rng.stream("order").bits(self.row, self.site) if self.order is None else self.order

    def affordable(self, budget: Ints | int, rng: Rng, unit: Unit) -> Candidates:
        """Go through the sites of each document in random order and take what the budget still allows."""
        rows = int(self.row[-1]) + 1
        left = np.broadcast_to(np.asarray(budget, np.int64), (max(rows, np.size(budget)),))[:rows].copy()
        cost = np.maximum(self.cost, 1) if unit == "letters" else np.ones_like(self.cost)
        order = shuffled(np.bincount(self.row, minlength=rows), self.priority(rng))
        chosen = np.zeros(self.row.size, np.bool_)
        while order.size:
            row, spend = self.row[order], cost[order]
            spent = np.cumsum(spend)
            first = np.flatnonzero(np.diff(row, prepend=-1))
            spent -= np.repeat(spent[first] - spend[first], np.diff(np.append(first, row.size)))
            fits = spent <= left[row]
            chosen[order[fits]] = True
            np.subtract.at(left, row[fits], spend[fits])
            order = order[~fits]
            order = order[cost[order] <= left[self.row[order]]]  # smaller ones may still fit
        return self.where(chosen)


def choose(candidates: Candidates, budget: Ints | int | None, rng: Rng, unit: Unit, coin: float | None) -> Ints:
    """Indices of the edits chosen, in order of position."""
    chosen = candidates.one_per_site(rng)
    if coin is not None:
        chosen = chosen.where(rng.stream("coin").uniform(chosen.row, chosen.site) < coin)
    chosen = chosen.without_overlaps(rng)
    if budget is not None and chosen.row.size:
        chosen = chosen.affordable(budget, rng, unit)
    return chosen.index
