"""The words that rules ask for, from a data file, and what the dictionary knows."""

from __future__ import annotations

from functools import cache, lru_cache

from ...language.inflect import inflected, lemma
from ...resources import load


@cache
def _sections() -> dict[str, str]:
    parts = load("syntax.txt").decode().split("[")[1:]
    return {name: entries for name, _, entries in (part.partition("]") for part in parts)}


@cache
def words(name: str) -> frozenset[str]:
    """A list of single words."""
    return frozenset(_sections()[name].split())


@cache
def phrases(name: str) -> frozenset[str]:
    """A list with an entry per line."""
    return frozenset(_sections()[name].strip().split("\n"))


@lru_cache(100_000)
def can_be(word: str, tag: str) -> bool:
    """Whether the dictionary has a word with this tag."""
    return inflected(lemma(word, tag), tag) is not None
