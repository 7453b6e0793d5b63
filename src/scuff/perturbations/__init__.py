"""Perturbations: each proposes edits to a corpus; the base class selects and checks.

A file with a perturbation of one's own needs nothing but this module: `Perturbation` or `WordPerturbation`, `Facts`, and the
types that its methods take and return.
"""

from ..text import Corpus, Edits, Letters, Ragged, Rng, Spans
from ..text.ragged import Bits, Codes, Ints, Mask
from .base import LEVELS, Facts, Perturbation
from .blocks import Tally
from .combine import OneOf, Only, Then, all_proposals, only
from .contextual import Contextual
from .distraction import Distraction
from .drop import Disemvowel, Truncate
from .embedding import Embedding
from .homoglyph import Homoglyph, Invisible
from .inflection import Inflection
from .intrude import Intrude
from .keyboard import Keyboard
from .languages import LanguageWarning, warn_of_language
from .names import NAMES, ZEROE, parse
from .natural import Natural
from .omit import Omit
from .paraphrase import Paraphrase
from .phonetic import Phonetic
from .plan import Plan
from .protect import Protect
from .published import PUBLISHED, Published, as_published
from .readability import Readability
from .segment import Segment
from .shuffle import FullShuffle, InnerShuffle
from .synonym import Synonym
from .syntax import Syntax
from .typo import Typo
from .visual import Glyph, Visual
from .words import WordPerturbation

__all__ = [
    "LEVELS", "NAMES", "PUBLISHED", "ZEROE", "Bits", "Codes", "Contextual", "Corpus", "Disemvowel", "Distraction", "Edits",
    "Embedding", "Facts", "FullShuffle", "Glyph", "Homoglyph", "Inflection", "InnerShuffle", "Intrude", "Ints",
    "Invisible", "Keyboard", "LanguageWarning", "Letters", "Mask", "Natural", "Omit", "OneOf", "Only", "Paraphrase",
    "Perturbation", "Phonetic", "Plan", "Protect", "Published", "Ragged", "Readability", "Rng", "Segment", "Spans", "Synonym",
    "Syntax", "Tally", "Then", "Truncate", "Typo", "Visual", "WordPerturbation", "all_proposals", "as_published", "only", "parse",
    "warn_of_language",
]  # fmt: skip
