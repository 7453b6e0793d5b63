"""Constraints: which changed texts are still close enough to the original. `base.py` explains how to write one."""

from __future__ import annotations

from ...specs import Family
from .base import Constraint
from .characters import Chrf, EditDistance
from .meaning import Meaning
from .speech import PartOfSpeech
from .vectors import WordVectors
from .words import Changed, MinLength, StopWords

# the cheap ones first: each is asked only about texts that those before it allow
CONSTRAINTS: dict[str, type[Constraint]] = {
    kind.name: kind for kind in (StopWords, MinLength, Changed, EditDistance, WordVectors, Chrf, PartOfSpeech, Meaning)
}
FAMILY: Family[Constraint] = Family("a constraint", "scuff.constraints", Constraint, CONSTRAINTS)
parse_constraint = FAMILY.build

__all__ = [
    "CONSTRAINTS",
    "FAMILY",
    "Changed",
    "Chrf",
    "Constraint",
    "EditDistance",
    "Meaning",
    "MinLength",
    "PartOfSpeech",
    "StopWords",
    "WordVectors",
    "parse_constraint",
]
