"""Scuff: scratch the text, see whether the model holds."""

__version__ = "0.1.0"

from .perturb import NAMES, OneOf, Only, Perturbation, Protect, Then, parse, perturb, perturb_tokens
from .session import AttackResult, Result, assert_robust, attack, augment, evaluate, report, resume
from .text import Corpus, Edit, Edits

__all__ = [
    "NAMES", "AttackResult", "Corpus", "Edit", "Edits", "OneOf", "Only", "Perturbation", "Protect", "Result", "Then",
    "__version__", "assert_robust", "attack", "augment", "evaluate", "parse", "perturb", "perturb_tokens", "report", "resume",
]  # fmt: skip
