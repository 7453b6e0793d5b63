"""The types of proof.json, which `scuff harden` writes: what a model was before and is after, on the same cases."""

from __future__ import annotations

from typing import Any, TypedDict


class Change(TypedDict):
    """A score before and after, and the difference with its paired 95 % interval; None where there is no value."""

    before: float | None
    after: float | None
    difference: float | None
    interval: list[float | None]


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
