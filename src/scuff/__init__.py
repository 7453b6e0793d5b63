"""Scuff: scratch the text, see whether the model holds.

Rooms are imported when something of them is first used, so that `import scuff` and `scuff --help` take no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import interrupts as _interrupts  # noqa: F401 - first: it guards later imports against Ctrl-C
from .version import __version__

if TYPE_CHECKING:
    from .api import (
        AttackResult,
        MeaningResult,
        Result,
        assert_robust,
        attack,
        augment,
        evaluate,
        meaning,
        perturb,
        perturb_tokens,
        report,
        resume,
    )
    from .perturbations import NAMES, LanguageWarning, OneOf, Only, Perturbation, Protect, Then, parse
    from .text import Corpus, Edit, Edits, map_span, map_spans

__all__ = [
    "NAMES", "AttackResult", "Corpus", "Edit", "Edits", "LanguageWarning", "MeaningResult", "OneOf", "Only", "Perturbation",
    "Protect", "Result", "Then", "__version__", "assert_robust", "attack", "augment", "evaluate", "map_span", "map_spans",
    "meaning", "parse", "perturb", "perturb_tokens", "report", "resume",
]  # fmt: skip

_FROM_TEXT = ("Corpus", "Edit", "Edits", "map_span", "map_spans")
_FROM_PERTURBATIONS = ("NAMES", "LanguageWarning", "OneOf", "Only", "Perturbation", "Protect", "Then", "parse")
_ROOMS = (
    "api",
    "attacks",
    "data",
    "evaluation",
    "metrics",
    "perturbations",
    "reports",
    "runs",
    "text",
    "training",
    "victims",
)


def __getattr__(name: str) -> Any:
    """Imports the room that a public name is in."""
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in __all__:
        raise AttributeError(f"module 'scuff' has no attribute {name!r}")
    room = "text" if name in _FROM_TEXT else "perturbations" if name in _FROM_PERTURBATIONS else "api"
    value = getattr(import_module(f".{room}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
