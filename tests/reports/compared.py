"""Small real runs to compare: of the embedded model alone, behind a shield, and with other data and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import scuff

TOY = "toy:sentiment"
SMALL: dict[str, Any] = {
    "examples": 40, "cases": 2, "degrees": [0.2, 0.5], "dimensions": ["visual", "keyboard", "inner-shuffle"],
}  # fmt: skip
OTHERS: dict[str, dict[str, Any]] = {
    "seed": {"seed": 1},
    "degrees": {"degrees": [0.2, 0.6]},
    "dimensions": {"dimensions": ["visual", "typo-g"]},
    "fewer": {"examples": 25},
}
NOTHING_IN_COMMON = [(f"A {word} evening, number {at}", label) for at in range(6) for word, label in (
    ("superb", "positive"), ("dreadful", "negative"))]  # fmt: skip


def make_runs(folder: Path) -> Path:
    """Evaluations: plain, shielded, plain with other settings, and plain on other data. Attacks: plain and shielded."""
    scuff.evaluate(TOY, TOY, folder / "plain", **SMALL)
    scuff.evaluate(TOY, TOY, folder / "shielded", shield="normalise", **SMALL)
    for name, other in OTHERS.items():
        scuff.evaluate(TOY, TOY, folder / name, **{**SMALL, **other})
    scuff.evaluate(TOY, NOTHING_IN_COMMON, folder / "apart", **{**SMALL, "examples": 12})
    search: dict[str, Any] = {"recipe": "deepwordbug", "encoder": "chrf", "examples": 20}
    scuff.attack(TOY, TOY, output=folder / "attacked", **search)
    scuff.attack(stubborn, TOY, output=folder / "stubborn", **search)
    return folder


def stubborn(texts: list[str]) -> list[dict[str, float]]:
    """Knows a few words, and says positive of all else: an attack has less to win."""
    bad = ("worse", "poor", "bad", "dull", "awful", "cold", "worst", "dreadful")
    shares = [0.9 if any(word in text.lower() for word in bad) else 0.1 for text in texts]
    return [{"negative": share, "positive": 1 - share} for share in shares]
