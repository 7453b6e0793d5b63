"""How fast and for how long a network is trained: shared by the training of translators, classifiers, taggers and encoders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ..specs import check_count, check_number, check_positive, known_name


@dataclass(frozen=True)
class Schedule:
    """Of a training: rate is the highest learning rate, after `warmup` of all steps; from there it falls to 0 in a line."""

    rate: float = 2e-3
    epochs: int = 16
    batch_tokens: int = 4096
    warmup: float = 0.1
    smoothing: float = 0.1  # of labels
    clip: float = 1.0  # the norm of the gradient
    patience: int = 5  # epochs in which neither loss nor score (chrF of translators) of the dev part became better

    def __post_init__(self) -> None:
        for name in ("rate", "clip"):
            check_positive(getattr(self, name), f"schedule.{name}")
        for name in ("epochs", "batch_tokens", "patience"):
            check_count(getattr(self, name), 1, f"schedule.{name}")
        check_number(self.warmup, 0, 1, "schedule.warmup")
        check_number(self.smoothing, 0, 1, "schedule.smoothing")

    def at(self, progress: float) -> float:
        """The learning rate when so much of the training, from 0 to 1, is done."""
        rising = progress / self.warmup if self.warmup else 1.0
        return self.rate * min(rising, (1 - progress) / (1 - self.warmup) if self.warmup < 1 else 1.0)


def settled(given: Schedule | Mapping[str, Any] | None, usual: Schedule) -> Schedule:
    """The schedule that a user gave: a whole one, or what differs from the usual one. Raises ValueError for other names."""
    if isinstance(given, Schedule):
        return given
    names = {field.name: None for field in fields(Schedule)}
    return replace(
        usual, **{known_name(name, names, "a field of schedule"): value for name, value in (given or {}).items()}
    )


def stale(scores: list[float], losses: list[float]) -> int:
    """Epochs since the dev part had its best loss or its best score, whichever came later."""
    return len(scores) - 1 - max(scores.index(max(scores)), losses.index(min(losses)))
