"""Perturbations: each proposes edits to a corpus; the base class selects and checks."""

from .api import perturb, perturb_tokens
from .base import LEVELS, Facts, Perturbation
from .combine import OneOf, Only, Then, only
from .drop import Disemvowel, Truncate
from .intrude import Intrude
from .keyboard import Keyboard
from .names import NAMES, ZEROE, parse
from .natural import Natural
from .phonetic import Phonetic
from .plan import Plan, Tally
from .protect import Protect
from .segment import Segment
from .shuffle import FullShuffle, InnerShuffle
from .unseen import Homoglyph, Invisible
from .visual import Visual
from .wordwise import WordPerturbation

__all__ = [
    "LEVELS", "NAMES", "ZEROE", "Disemvowel", "Facts", "FullShuffle", "Homoglyph", "InnerShuffle", "Intrude", "Invisible",
    "Keyboard", "Natural", "OneOf", "Only", "Perturbation", "Phonetic", "Plan", "Protect", "Segment", "Tally", "Then",
    "Truncate", "Visual", "WordPerturbation", "only", "parse", "perturb", "perturb_tokens",
]  # fmt: skip
