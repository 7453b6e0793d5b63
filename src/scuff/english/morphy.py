"""Base forms by WordNet's own rules (morphy), and what stands in the same synsets: needs no package beside Scuff's table."""

from __future__ import annotations

from functools import cache, lru_cache

from ..resources import load
from .wordnet import PARTS, table

ENDINGS = {
    "n": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}  # fmt: skip


@cache
def _irregular() -> dict[tuple[str, str], list[str]]:
    """WordNet's irregular forms: lemmas by part of speech and form."""
    lines = (line.split(" ") for line in load("irregular.txt").decode().splitlines())
    return {(part, form): lemmas for part, form, *lemmas in lines}


def bases(word: str, pos: str) -> list[str]:
    """The lemmas of the table that a word in lower case can be a form of, as n, v, a or r, itself included."""
    listed = _irregular().get((pos, word))
    if listed is None:
        listed = [word[: -len(old)] + new for old, new in ENDINGS[pos] if word.endswith(old)]
    return [form for form in dict.fromkeys([word, *listed]) if table().senses(form, PARTS[pos])]


@lru_cache(100_000)
def synsets(word: str) -> frozenset[int]:
    """The synsets of a word in lower case, in any of its base forms, senses and parts of speech. Synonyms share one."""
    net = table()
    senses = (net.senses(base, parts) for pos, parts in PARTS.items() for base in bases(word, pos))
    return frozenset(int(net.synset[sense]) for some in senses for sense in some)


@lru_cache(100_000)
def synset_words(word: str) -> frozenset[str]:
    """The word, and every single word in its synsets."""
    net = table()
    found = (net.words[at] for synset in synsets(word) for at in net.word[net.first[synset] : net.first[synset + 1]])
    return frozenset((word, *(each for each in found if " " not in each)))
