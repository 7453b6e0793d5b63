"""Searches: how an attack chooses among the edits that were proposed."""

from ...text.calls import made
from .base import Dice, Search, Told, Try, Walk
from .beam import Beam, Greedy
from .genetic import Genetic
from .ranked import Delete, Gradient, Random, Ranked, Unk, WeightedSaliency
from .sample import BestOf

SEARCHES: dict[str, type[Search]] = {
    kind.name: kind for kind in (Unk, Delete, WeightedSaliency, Gradient, Random, Greedy, Beam, Genetic, BestOf)
}


def parse_search(spec: str) -> Search:
    return made(spec, SEARCHES, "a search")


__all__ = [
    "SEARCHES",
    "Beam",
    "BestOf",
    "Delete",
    "Dice",
    "Genetic",
    "Gradient",
    "Greedy",
    "Random",
    "Ranked",
    "Search",
    "Told",
    "Try",
    "Unk",
    "Walk",
    "WeightedSaliency",
    "parse_search",
]  # fmt: skip
