"""Perturbations: each proposes edits to a corpus; the base class selects and checks."""

from .base import LEVELS, Facts, Perturbation
from .combine import OneOf, Only, Then, all_proposals, only
from .contextual import Contextual
from .distraction import Distraction
from .drop import Disemvowel, Truncate
from .embedding import Embedding
from .homoglyph import Homoglyph, Invisible
from .inflection import Inflection
from .intrude import Intrude
from .keyboard import Keyboard
from .names import NAMES, ZEROE, parse
from .natural import Natural
from .omit import Omit
from .paraphrase import Paraphrase
from .phonetic import Phonetic
from .plan import Plan, Tally
from .protect import Protect
from .segment import Segment
from .shuffle import FullShuffle, InnerShuffle
from .synonym import Synonym
from .syntax import Syntax
from .typo import Typo
from .visual import Glyph, Visual
from .words import WordPerturbation

__all__ = [
    "LEVELS", "NAMES", "ZEROE", "Contextual", "Disemvowel", "Distraction", "Embedding", "Facts", "FullShuffle", "Glyph",
    "Homoglyph", "Inflection", "InnerShuffle", "Intrude", "Invisible", "Keyboard", "Natural", "Omit", "OneOf",
    "Only", "Paraphrase", "Perturbation", "Phonetic", "Plan", "Protect", "Segment", "Synonym", "Syntax", "Tally", "Then",
    "Truncate", "Typo", "Visual", "WordPerturbation", "all_proposals", "only", "parse",
]  # fmt: skip
