"""Perturbations by name: the one table that the command line, the docs and the contract tests read."""

from __future__ import annotations

from ..text.calls import checked, made
from .base import Perturbation
from .combine import OneOf, Then
from .contextual import Contextual
from .distraction import Distraction
from .drop import Disemvowel, Truncate
from .embedding import Embedding
from .inflection import Inflection
from .intrude import Intrude
from .keyboard import Keyboard
from .natural import Natural
from .omit import Omit
from .paraphrase import Paraphrase
from .phonetic import Phonetic
from .segment import Segment
from .shuffle import FullShuffle, InnerShuffle
from .synonym import Synonym
from .syntax import Syntax
from .typo import Typo
from .unseen import Homoglyph, Invisible
from .visual import Glyph, Visual

NAMES: dict[str, type[Perturbation]] = {
    "inner-shuffle": InnerShuffle,
    "full-shuffle": FullShuffle,
    "intrude": Intrude,
    "disemvowel": Disemvowel,
    "truncate": Truncate,
    "segment": Segment,
    "keyboard": Keyboard,
    "natural": Natural,
    "phonetic": Phonetic,
    "visual": Visual,
    "homoglyph": Homoglyph,
    "invisible": Invisible,
    "typo": Typo,
    "glyph": Glyph,
    "synonym": Synonym,
    "embedding": Embedding,
    "contextual": Contextual,
    "inflection": Inflection,
    "syntax": Syntax,
    "paraphrase": Paraphrase,
    "distraction": Distraction,
    "omit": Omit,
}
ZEROE = tuple(NAMES)[:10]  # the ten attacks of the paper


def by_name(name: str) -> type[Perturbation]:
    """The class behind a name; a wrong name suggests the near ones."""
    return NAMES[checked(name, NAMES, "an attack")]


def parse(spec: str) -> Perturbation:
    """`name`, `name(option=value)`, `a|b` (one of them per word), `a+b` (one after the other; `|` binds tighter)."""
    sequence = [[made(single, NAMES, "an attack") for single in _split(part, "|")] for part in _split(spec, "+")]
    parts = tuple(parts[0] if len(parts) == 1 else OneOf(tuple(parts)) for parts in sequence)
    return parts[0] if len(parts) == 1 else Then(parts)


def _split(spec: str, mark: str) -> list[str]:
    """Cut at a mark that stands outside brackets and quotes."""
    parts, depth, quote, begin, escaped = [], 0, "", 0, False
    for at, char in enumerate(spec):
        if quote:
            quote, escaped = ("", False) if char == quote and not escaped else (quote, char == "\\" and not escaped)
        elif char in "'\"":
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == mark and depth == 0:
            parts.append(spec[begin:at])
            begin = at + 1
    return [*parts, spec[begin:]]
