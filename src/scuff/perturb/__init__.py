"""Perturbations: each proposes edits to a corpus; the base class selects and checks."""

from .api import perturb, perturb_tokens
from .base import LEVELS, Facts, Perturbation
from .combine import OneOf, Only, Then, only
from .drop import Disemvowel, Truncate
from .intrude import Intrude
from .keyboard import Keyboard
from .names import NAMES, parse
from .natural import Natural
from .plan import Plan, Tally
from .protect import Protect
from .segment import Segment
from .shuffle import FullShuffle, InnerShuffle

__all__ = [
    "LEVELS", "NAMES", "Disemvowel", "Facts", "FullShuffle", "InnerShuffle", "Intrude", "Keyboard", "Natural",
    "OneOf", "Only", "Perturbation", "Plan", "Protect", "Segment", "Tally", "Then", "Truncate", "only", "parse", "perturb",
    "perturb_tokens",
]  # fmt: skip
