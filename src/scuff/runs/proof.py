"""The types of comparisons of two runs, and of proof.json, which `scuff harden` writes: what a model was before and is after; and
how a change of a score is measured.
"""

from __future__ import annotations

import math
from typing import Any, TypedDict, final

from ..metrics.interval import percentile_interval
from ..text.ragged import Floats
from .display import rounded
from .schema import AccessName

Estimated = tuple[Floats, Floats]  # a score, and its values in resamples of the examples

SAME = 1e-9  # resampled differences that are nearer are one


class Change(TypedDict):
    """A score before and after, and the difference with its paired 95 % interval; None where there is no value.

    p: of the paired test, two-sided, that the two do not differ; corrected where several were tested; None: not tested, as where
    the runs have no examples in common.
    """

    before: float | None
    after: float | None
    difference: float | None
    interval: list[float | None]
    p: float | None


def change_of(before: Estimated, after: Estimated, examples: int, p: float | None = None) -> Change:
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
        "p": None if p is None else rounded(p),
    }


class DegreeChange(Change):
    """The change of an average score at one degree."""

    degree: float


class Sides(TypedDict):
    """Examples that changed sides: broken before, held after (mended), and the other way round (broken)."""

    mended: int
    broken: int


class DimensionChange(TypedDict):
    """The changes of the final scores of a dimension, and of its average at each degree.

    p of average and worst is corrected for the number of dimensions (Holm). sides: of the examples that are right when clean in
    both runs, those that some case broke in one run only.
    """

    seen: bool  # the model was trained on this perturbation, or on one that makes changes of the same sort
    access: AccessName
    average: Change
    worst: Change
    degrees: list[DegreeChange]
    sides: Sides


class GroupChange(TypedDict):
    """The changes of the mean over some dimensions."""

    dimensions: int
    average: Change
    worst: Change
    auc: Change | None  # macro AUC over all of their cases; None: not defined


@final
class EvaluationComparison(TypedDict):
    """Two evaluations of the same examples. paired: False if they have none in common: intervals are then wider, and nothing is
    tested. sides: of the clean texts.
    """

    paired: bool
    examples: int
    cases: int
    metric: str
    clean: Change
    sides: Sides
    clean_auc: Change | None
    all: GroupChange
    seen: GroupChange | None  # None: no such dimension was measured
    unseen: GroupChange | None
    dimensions: dict[str, DimensionChange]


class AttackComparison(TypedDict):
    """Two attacks by the same recipe on the same examples. Each searches anew: an attacker adapts to the model."""

    paired: bool
    recipe: str
    examples: int
    attacked: list[int]  # before, after: those that the goal applies to, as they were answered right
    success: Change
    held: Change  # the share of all examples that were attacked in vain
    queries: Change  # their mean number
    sides: Sides  # of the examples that were attacked in both runs


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
    comparison: EvaluationComparison
    attack: AttackComparison | None
    words: list[str]  # what was won and lost
