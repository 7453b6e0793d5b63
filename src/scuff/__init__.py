"""Scuff: scratch the text, see whether the model holds."""

__version__ = "0.1.0"

from .perturb import NAMES, OneOf, Only, Perturbation, Protect, Then, parse, perturb, perturb_tokens
from .text import Corpus, Edit, Edits

__all__ = [
    "NAMES", "Corpus", "Edit", "Edits", "OneOf", "Only", "Perturbation", "Protect", "Then", "__version__",
    "parse", "perturb", "perturb_tokens",
]  # fmt: skip
