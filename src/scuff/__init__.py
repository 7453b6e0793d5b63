"""Scuff: scratch the text, see whether the model holds."""

from . import interrupts as _interrupts  # noqa: F401 - first: it guards the imports below against Ctrl-C
from .api import AttackResult, Result, assert_robust, attack, augment, evaluate, perturb, perturb_tokens, report, resume
from .perturbations import NAMES, LanguageWarning, OneOf, Only, Perturbation, Protect, Then, parse
from .text import Corpus, Edit, Edits, map_span, map_spans
from .version import __version__

__all__ = [
    "NAMES", "AttackResult", "Corpus", "Edit", "Edits", "LanguageWarning", "OneOf", "Only", "Perturbation", "Protect",
    "Result", "Then", "__version__", "assert_robust", "attack", "augment", "evaluate", "map_span", "map_spans", "parse",
    "perturb", "perturb_tokens", "report", "resume",
]  # fmt: skip
