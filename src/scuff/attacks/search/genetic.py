"""Genetic search: a population of texts that mate and mutate (Alzantot et al. 2018)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...specs import check_number
from ..space import State, View
from .base import EVEN, Dice, Search, Told, Try, Walk, highest_first

Member = tuple[State, float]  # and its margin
Grown = Generator[Try, Told, list[Member]]


@dataclass(frozen=True)
class Genetic(Search):
    """`population` texts for at most `generations`; a child takes each edit from one of two parents, which are chosen by their
    margin (the lower the `temperature`, the more the best), and then gets the best edit at a random site that can still change.
    The best text of a generation lives on.
    """

    population: int = 60
    generations: int = 20
    temperature: float = 0.3

    name: ClassVar[str] = "genetic"
    summary: ClassVar[str] = "a population of texts that mate and mutate; many queries"

    def __post_init__(self) -> None:
        for option in ("population", "generations"):
            value = getattr(self, option)
            if type(value) is not int or value < 1:
                raise ValueError(f"expected a whole number above 0 for genetic.{option}, got {value!r}")
        check_number(self.temperature, 1e-6, 1e6, "genetic.temperature")

    def walk(self, view: View, dice: Dice) -> Walk:
        members = yield from self._mutated(view, dice, [((), view.clean)] * self.population)
        for _ in range(self.generations):
            order = highest_first(np.array([margin for _, margin in members])).tolist()
            members = [members[at] for at in order]
            if members[0][1] > 0 and not view.open_ended:
                break
            children = yield from self._born(view, dice, members)
            members = [members[0], *(yield from self._mutated(view, dice, children))]
        state, margin = members[highest_first(np.array([margin for _, margin in members]))[0]]
        return state if margin > view.clean + EVEN else ()

    def _born(self, view: View, dice: Dice, members: list[Member]) -> Grown:
        """Returns children of two parents each; the better parent instead of a child that a constraint forbids."""
        fitness = np.array([margin for _, margin in members])
        chance = np.exp((fitness - fitness.max()) / self.temperature)
        parents = [(members[dice.pick(chance)], members[dice.pick(chance)]) for _ in range(self.population - 1)]
        states = [_mixed(view, dice, one[0], other[0]) for one, other in parents]
        told = yield Try(states)
        better = [max(pair, key=lambda member: member[1]) for pair in parents]
        return [
            (state, float(margin)) if np.isfinite(margin) else parent
            for state, margin, parent in zip(states, told.margin, better, strict=True)
        ]

    def _mutated(self, view: View, dice: Dice, members: list[Member]) -> Grown:
        """Returns each member with the best edit at a random site; if that is no improvement, at another site, until no site is
        left or any member reaches the goal.
        """
        done = list(members)
        open_sites = [_untouched(view, state) for state, _ in members]
        waiting = [at for at, sites in enumerate(open_sites) if sites]
        while waiting and (view.open_ended or all(margin <= 0 for _, margin in done)):
            states: list[State] = []
            tried = []  # for each waiting member, where its states begin and how many there are
            for at in waiting:
                sites = open_sites[at]
                chosen = sites.pop(dice.pick(np.array([len(view.options(site)) for site in sites], np.float64)))
                tried.append((len(states), len(view.options(chosen))))
                states += view.with_each(members[at][0], chosen)
            told = yield Try(states)
            still = []
            for at, (first, count) in zip(waiting, tried, strict=True):
                part = Told(told.margin[first : first + count], told.likeness[first : first + count])
                best = part.best()
                if best is not None and part.margin[best] > members[at][1] + EVEN:
                    done[at] = (states[first + best], float(part.margin[best]))
                elif open_sites[at]:
                    still.append(at)
            waiting = still
        return done


def _untouched(view: View, state: State) -> list[int]:
    """The sites at which a state has no edit."""
    taken = view.taken(state)
    return [site for site in view.sites if site not in taken]


def _mixed(view: View, dice: Dice, one: State, other: State) -> State:
    """A child that has, at each site, the edit of one parent or of the other, or none if that parent has none."""
    mine, theirs = view.taken(one), view.taken(other)
    sites = sorted({*mine, *theirs})
    coin = dice.uniform(len(sites))
    picked = [(mine if side < 0.5 else theirs).get(site) for site, side in zip(sites, coin.tolist(), strict=True)]
    return tuple(sorted(edit for edit in picked if edit is not None))
