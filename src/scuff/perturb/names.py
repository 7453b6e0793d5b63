"""Perturbations by name: the one table that the command line, the docs and the contract tests read."""

from __future__ import annotations

import ast
from dataclasses import fields
from difflib import get_close_matches

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
}
ZEROE = tuple(NAMES)[:10]  # the ten attacks of the paper


def by_name(name: str) -> type[Perturbation]:
    """The class behind a name; a wrong name suggests the near ones."""
    if name in NAMES:
        return NAMES[name]
    near = get_close_matches(name, NAMES, 2, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(NAMES)}"
    raise ValueError(f"expected the name of an attack, got {name!r}; {hint}")


def parse(spec: str) -> Perturbation:
    """`name`, `name(option=value)`, `a|b` (one of them per word), `a+b` (one after the other; `|` binds tighter)."""
    sequence = [[_single(single) for single in _split(part, "|")] for part in _split(spec, "+")]
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


def _single(spec: str) -> Perturbation:
    name, bracket, rest = spec.strip().partition("(")
    kind = by_name(name.strip())
    options: dict[str, object] = {}
    if bracket:
        try:
            call = ast.parse(f"f({rest}", mode="eval").body
            if not isinstance(call, ast.Call) or call.args:
                raise ValueError
            options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        except (SyntaxError, ValueError):
            raise ValueError(f"expected name(option=value, ...), got {spec.strip()!r}") from None
    known = [field.name for field in fields(kind)]
    for option in options:
        if option not in known:
            raise ValueError(f"expected {' or '.join(known) or 'no option'} for {name.strip()}, got {option!r}")
    return kind(**options)
