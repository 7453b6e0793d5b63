"""Scuff: scratch the text, see whether the model holds.

Rooms are imported when something of them is first used, so that `import scuff` and `scuff --help` take no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import interrupts as _interrupts  # noqa: F401 - first: it guards later imports against Ctrl-C
from .version import __version__

if TYPE_CHECKING:
    from .api import (
        assert_robust,
        attack,
        augment,
        compare,
        detect,
        evaluate,
        harden,
        judge_export,
        judge_import,
        mapper,
        meaning,
        perturb,
        perturb_tokens,
        ray_perturb,
        ray_shield,
        report,
        resume,
        shield,
        shield_tokens,
    )
    from .judging.judgement import Judgement
    from .perturbations import NAMES, LanguageWarning, OneOf, Only, Perturbation, Protect, Then, parse
    from .reports.comparison_result import Comparison
    from .reports.hardened import HardenResult
    from .reports.results import AttackResult, MeaningResult, Result
    from .shields import Detection, Repair, Shield
    from .shields import Detection as Verdict  # noqa: F401  its name up to 0.6
    from .text import Corpus, Edit, Edits, map_span, map_spans

__all__ = [
    "NAMES",
    "AttackResult",
    "Comparison",
    "Corpus",
    "Detection",
    "Edit",
    "Edits",
    "HardenResult",
    "Judgement",
    "LanguageWarning",
    "MeaningResult",
    "OneOf",
    "Only",
    "Perturbation",
    "Protect",
    "Repair",
    "Result",
    "Shield",
    "Then",
    "__version__",
    "assert_robust",
    "attack",
    "augment",
    "compare",
    "detect",
    "evaluate",
    "harden",
    "judge_export",
    "judge_import",
    "map_span",
    "map_spans",
    "mapper",
    "meaning",
    "parse",
    "perturb",
    "perturb_tokens",
    "ray_perturb",
    "ray_shield",
    "report",
    "resume",
    "shield",
    "shield_tokens",
]  # fmt: skip

_FROM_TEXT = ("Corpus", "Edit", "Edits", "map_span", "map_spans")
_FROM_PERTURBATIONS = ("NAMES", "LanguageWarning", "OneOf", "Only", "Perturbation", "Protect", "Then", "parse")
_FROM_SHIELDS = ("Detection", "Repair", "Shield")
_OLD = {"Verdict": "Detection"}  # names up to 0.6: a verdict is what a run says
_ROOMS = (
    "api",
    "attacks",
    "data",
    "evaluation",
    "judging",
    "metrics",
    "perturbations",
    "reports",
    "runs",
    "shields",
    "text",
    "training",
    "victims",
)


def __getattr__(name: str) -> Any:
    """Imports the room that a public name is in."""
    from importlib import import_module

    name = _OLD.get(name, name)
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in __all__:
        raise AttributeError(f"module 'scuff' has no attribute {name!r}")
    places = {"text": _FROM_TEXT, "perturbations": _FROM_PERTURBATIONS, "shields": _FROM_SHIELDS}
    room = next((room for room, names in places.items() if name in names), "api")
    value = getattr(import_module(f".{room}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
