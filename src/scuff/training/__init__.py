"""Training data with perturbed copies, and training: feeds and mixtures, and what trainers other than Scuff's need of them.

Names are imported when they are first used: only some of them need torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .attack_training import train_on_attacks
    from .attacked import AdversarialExamples, Attacked, adversarial_examples, attacked_feed
    from .dataloader import Collator, Examples
    from .feeds import Ahead, Clean, Feed, Mixed
    from .mixtures import Mixture, leave_one_out, low_mid_high
    from .perturber import Perturber
    from .pretraining import pretrain
    from .schedule import Schedule
    from .trainer import fine_tune

__all__ = [
    "AdversarialExamples", "Ahead", "Attacked", "Clean", "Collator", "Examples", "Feed", "Mixed", "Mixture", "Perturber",
    "Schedule", "adversarial_examples", "attacked_feed", "fine_tune", "leave_one_out", "low_mid_high", "pretrain",
    "train_on_attacks",
]  # fmt: skip

_FILES = {
    "attack_training": ("train_on_attacks",),
    "attacked": ("AdversarialExamples", "Attacked", "adversarial_examples", "attacked_feed"),
    "dataloader": ("Collator", "Examples"),
    "feeds": ("Ahead", "Clean", "Feed", "Mixed"),
    "mixtures": ("Mixture", "leave_one_out", "low_mid_high"),
    "perturber": ("Perturber",),
    "pretraining": ("pretrain",),
    "schedule": ("Schedule",),
    "trainer": ("fine_tune",),
}


def __getattr__(name: str) -> Any:
    """Imports the file that a public name is in."""
    file = next((file for file, names in _FILES.items() if name in names), None)
    if file is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f".{file}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "transformers"):
            raise
        from ..resources import MissingResource

        raise MissingResource(f"expected {error.name} for {name}, got none: pip install 'scuff[training]'") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
