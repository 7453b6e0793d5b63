"""Searches: how an attack chooses among proposed edits. `base.py` explains how to write one."""

from __future__ import annotations

from ...specs import Family
from .base import Candidates, Dice, Offer, Search, Slope, Told, Try, Walk
from .beam import Beam, Greedy
from .best_of import BestOf
from .genetic import Genetic
from .ranked import Delete, Gradient, HeadTail, Random, Ranked, Unk, WeightedSaliency
from .substitution import Substitution

SEARCHES: dict[str, type[Search]] = {
    kind.name: kind
    for kind in (Unk, Delete, HeadTail, WeightedSaliency, Gradient, Random, Greedy, Beam, Genetic, BestOf, Substitution)
}
FAMILY: Family[Search] = Family("a search", "scuff.searches", Search, SEARCHES)
parse_search = FAMILY.build


def same_steps(one: Search, other: Search) -> bool:
    """Whether both go through a text in the same way, whatever they think of its words."""
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in (Ranked, Greedy))


__all__ = [
    "FAMILY", "SEARCHES", "Beam", "BestOf", "Candidates", "Delete", "Dice", "Genetic", "Gradient", "Greedy", "HeadTail", "Offer",
    "Random", "Ranked", "Search", "Slope", "Substitution", "Told", "Try", "Unk", "Walk", "WeightedSaliency", "parse_search",
    "same_steps",
]  # fmt: skip
