"""The training mixtures of the Zéroe papers: which record gets which attack and level."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from ..perturb import LEVELS
from ..text import Corpus, Rng
from ..text.ragged import Ints
from .formats import Value

Choice = tuple[str, str]  # attack, level


def mixtures(rows: list[list[Value]], attacks: list[str], seed: int) -> Iterator[tuple[str, list[Choice], Ints]]:
    """(mixture, what there is to choose from, which of it each record gets). A record's share depends on its text alone."""
    keys = Corpus.of([json.dumps(row, ensure_ascii=False) for row in rows]).keys
    index = np.arange(len(rows))

    def draw(limit: int, *names: object) -> Ints:
        return Rng.of(keys, seed, "zeroe", *names).below(limit, index, np.zeros_like(index))

    levels = {name: draw(len(LEVELS), "level", name) for name in attacks}
    for name in attacks:
        yield f"{name}.lmh", [(name, level) for level in LEVELS], levels[name]
    for left_out in [*(attacks if len(attacks) > 1 else []), None]:
        others = [name for name in attacks if name != left_out]
        part = draw(len(others), "attack", left_out)
        level = np.stack([levels[name] for name in others])[part, index]
        choices = [(name, level) for name in others for level in LEVELS]
        yield f"no-{left_out}" if left_out else "all", choices, part * len(LEVELS) + level
