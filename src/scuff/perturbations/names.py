"""The shipped perturbations by name, and specs: what the command line, the docs and the contract tests read."""

from __future__ import annotations

from ..specs import Family, split_outside
from .base import Perturbation
from .combine import OneOf, Then
from .contextual import Contextual
from .distraction import Distraction
from .drop import Disemvowel, Truncate
from .embedding import Embedding
from .homoglyph import Homoglyph, Invisible
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

ZEROE = tuple(NAMES)[:10]  # the ten perturbations of the paper
FAMILY: Family[Perturbation] = Family("a perturbation", "scuff.perturbations", Perturbation, NAMES)


def parse(spec: str | Perturbation) -> Perturbation:
    """Builds the perturbation of a spec; one that is built already is returned as it is.

    `name`, `name(option=value)`, `module:Class(...)`, `file.py:Class(...)`, `a|b` (one of them per word), `a+b` (one after the
    other; `|` binds tighter).
    """
    if not isinstance(spec, str):
        return FAMILY.build(spec)
    sequence = [[FAMILY.build(single) for single in split_outside(part, "|")] for part in split_outside(spec, "+")]
    parts = tuple(parts[0] if len(parts) == 1 else OneOf(tuple(parts)) for parts in sequence)
    return parts[0] if len(parts) == 1 else Then(parts)
