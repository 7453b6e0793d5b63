"""The types of proof.json, which `scuff harden` writes: what a model was before and is after, on the same cases; and how a change
of a score is measured.
"""

from __future__ import annotations

import math
from typing import Any, TypedDict

from ..metrics.interval import percentile_interval
from ..text.ragged import Floats
from .display import rounded

Estimated = tuple[Floats, Floats]  # a score, and its values in resamples of the examples

SAME = 1e-9  # resampled differences that are nearer are one


class Change(TypedDict):
    """A score before and after, and the difference with its paired 95 % interval; None where there is no value."""

    before: float | None
    after: float | None
    difference: float | None
    interval: list[float | None]


def change_of(before: Estimated, after: Estimated, examples: int) -> Change:
    """The change between two scores from 0 to 1 with its paired interval: both are resampled alike.

    Where all resamples agree, as if no example differs, they say nothing of other examples. Then the rule of three does: of what
    none of n examples shows, a share up to 3/n is possible.
    """
    old, new = float(before[0]), float(after[0])
    gap = new - old
    low, high = percentile_interval(after[1] - before[1])
    if high - low < SAME:
        possible = 3 / max(examples, 1)
        low, high = max(gap - possible, -1.0), min(gap + possible, 1.0)
    inside = (min(low, gap), max(high, gap)) if math.isfinite(gap) else (math.nan, math.nan)
    return {
        "before": rounded(old),
        "after": rounded(new),
        "difference": rounded(gap),
        "interval": [rounded(end) for end in inside],
    }


class DegreeChange(Change):
    """The change of an average score at one degree."""

    degree: float


class DimensionChange(TypedDict):
    """The changes of the final scores of a dimension, and of its average at each degree."""

    seen: bool  # the model was trained on this perturbation, or on one that makes changes of the same sort
    average: Change
    worst: Change
    degrees: list[DegreeChange]


class GroupChange(TypedDict):
    """The changes of the mean over some dimensions."""

    dimensions: int
    average: Change
    worst: Change
    auc: Change | None  # macro AUC over all of their cases; None: not defined


class Comparison(TypedDict):
    """Two evaluations of the same cases."""

    examples: int
    cases: int
    metric: str
    clean: Change
    clean_auc: Change | None
    all: GroupChange
    seen: GroupChange | None  # None: no such dimension was measured
    unseen: GroupChange | None
    dimensions: dict[str, DimensionChange]


class AttackComparison(TypedDict):
    """Two attacks by the same recipe on the same examples. Each searches anew: an attacker adapts to the model."""

    recipe: str
    examples: int
    attacked: list[int]  # before, after: those that the goal applies to, as they were answered right
    success: Change


class Part(TypedDict):
    """One of the three parts of the data."""

    name: str
    examples: int
    digest: str


class Proof(TypedDict):
    """proof.json."""

    scuff: str
    model: str  # before
    hardened: str  # after: the folder, or what it is called
    methods: list[str]
    trained: bool
    shield: str | None
    perturbations: list[str]  # that were trained on
    data: dict[str, Part]  # train, dev, test
    split: str  # how they came about, in words
    seed: int
    command: str
    training: dict[str, Any]  # metrics of each stage, by its name
    comparison: Comparison
    attack: AttackComparison | None
    words: list[str]  # what was won and lost
