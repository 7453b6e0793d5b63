"""Protocols as published: what the papers' evaluations are, what `as_published` sets of that, and where a run differs even so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..data.dataset import Dataset
from ..perturbations.base import LEVELS
from ..perturbations.published import COIN, PUBLISHED, ZEROE, Published, as_published
from ..runs.schema import PublishedFacts
from .dimensions import COLUMNS, LABEL, Dimension
from .protocol import Protocol
from .score import DEGREES
from .settings import EvaluationSettings

SUFFIXES = re.compile(r"(?:@[\w-]+)*$")  # measure and access, at the end of the spec of a dimension
PLAIN = re.compile(r"[\w.-]+")  # a name without options
BETA = 0.5  # of RobTest's final scores
LEVEL_NAMES = {strength: name for name, strength in LEVELS.items()}  # of Zéroe's levels


@dataclass(frozen=True)
class PublishedProtocol:
    """The evaluation of a paper. examples: that it samples; None for whole test sets. differs: what no setting of ours does as
    the paper.
    """

    paper: str
    section: str
    cases: int
    degrees: tuple[float, ...]
    examples: int | None
    differs: tuple[str, ...]


PROTOCOLS = {
    "robtest": PublishedProtocol(
        "RobTest (Chen et al. 2023)",
        "2.2, 2.3, 4.1, C",
        100,
        DEGREES,
        1000,
        (
            "cases of an example are different texts, and average and worst come from the same ones; the published code makes "
            "them twice",
            "malicious edits are added until the measured edit distance reaches the degree; the published code counts operations",
            "an example that is wrong when clean counts as broken, in both worst cases",
        ),
    ),
    "zeroe": PublishedProtocol(
        "From Hero to Zéroe (Eger and Benz 2020)",
        "3.1, 4.2, Table 6; thesis 4.1",
        1,
        tuple(LEVELS.values()),
        None,
        ("punctuation counts as no word, and text outside the perturbed words stays byte for byte as it is",),
    ),
}


def at_level(spec: str) -> str:
    """Returns the spec of a dimension whose degree is the strength, unless it names another measure."""
    return spec if "@" in spec else f"{spec}@level"


def published_dimension(name: str) -> str:
    """Returns the spec of a dimension with its perturbation as its paper has it, under the same name.

    Options that the user wrote stay. A dimension whose paper has another perturbation, which needs a model (syntax), stays ours:
    `published_facts` says so. Raises ValueError if the spec cannot be read.
    """
    suffix = SUFFIXES.search(name)
    at = suffix.start() if suffix else len(name)
    given, ending = name[:at].strip(), name[at:]
    Dimension.parse(name)
    named = LABEL.match(given)
    label = named[1] if named else given if PLAIN.fullmatch(given) else ""
    rest = given[named.end() :] if named else given
    if rest in COLUMNS:
        rest, measure, way = COLUMNS[rest].partition("@")
        ending = measure + way + ending
    entry = _entry(label, rest)
    if entry and entry.spec.partition("(")[0] != rest.partition("(")[0]:
        return name
    spec = as_published(rest, _column(label))
    return (f"{label}={spec}" if label else spec) + ending


def _entry(label: str, spec: str) -> Published | None:
    """Returns what is published of a perturbation, by RobTest's column where it has two papers; None if nothing."""
    return PUBLISHED.get(_column(label) or spec.partition("(")[0].strip())


def _column(label: str) -> str | None:
    """Returns the label of a dimension if that is a column of RobTest of which the table of perturbations has an entry."""
    return label if label in COLUMNS and label in PUBLISHED else None


def published_facts(settings: EvaluationSettings, protocol: Protocol, data: Dataset) -> PublishedFacts:
    """Returns the paper, what `as_published` set, and everything in which this run differs from the paper."""
    paper = PROTOCOLS[settings.protocol]
    sets: list[str] = []
    differs = list(_chosen(settings, protocol, data))
    for dimension in protocol.parsed:
        mine, rest = _perturbation(dimension, settings.protocol)
        sets += mine
        differs += rest
    return {
        "paper": paper.paper,
        "section": paper.section,
        "sets": [*_done(settings, protocol, data), *sets],
        "differs": [*differs, *paper.differs],
    }


def _done(settings: EvaluationSettings, protocol: Protocol, data: Dataset) -> Iterator[str]:
    """Yields what `as_published` decides beside the perturbations, where the user did not decide otherwise."""
    if protocol.cases == PROTOCOLS[settings.protocol].cases:
        yield f"{protocol.cases} {'cases' if protocol.cases > 1 else 'case'} per example and degree"
    if settings.protocol == "robtest":
        if protocol.rounding == "up":
            yield "the number of words or characters to change is rounded up (published code)"
        yield "the final score begins at 0 (tables of the paper)"
        yield "the worst case of each degree alone is in all tables: worst_alone"
        return
    if COIN in protocol.selections and settings.selection in (None, COIN):
        yield "words are drawn at random and a coin decides about each, until a share p has changed (3.1)"
    if len(data.columns) > 1 and len(protocol.sides) > 1:
        yield "both texts of a pair are perturbed, each with draws of its own"
    yield "the red line is the most frequent answer, for macro AUC 0.5 (4.2; thesis, eq. 4.2)"


def _chosen(settings: EvaluationSettings, protocol: Protocol, data: Dataset) -> Iterator[str]:
    """Yields what the user chose otherwise than the paper, or what the data or its sample is."""
    paper = PROTOCOLS[settings.protocol]
    if protocol.cases != paper.cases:
        yield f"{protocol.cases} cases per example and degree; the paper: {paper.cases}"
    if protocol.degrees != paper.degrees:
        yield f"degrees {_numbers(protocol.degrees)}; the paper: {_numbers(paper.degrees)}"
    if paper.examples and len(data) < paper.examples:
        yield f"{len(data):,} examples; the paper: {paper.examples:,}"
    if settings.protocol == "robtest" and protocol.rounding == "down":
        yield "the number of words or characters to change is rounded down"
    if settings.protocol == "robtest" and protocol.beta != BETA:
        yield f"beta {protocol.beta:g}; the paper: {BETA:g}"
    if settings.protocol == "zeroe" and len(protocol.sides) < len(data.columns):
        yield "one text of a pair is perturbed; the paper: both"
    for theirs, names in _chosen_otherwise(protocol).items():
        how = "a coin" if theirs == COIN else theirs
        yield f"what {', '.join(names)} changes is chosen by {settings.selection}; the paper: {how}"
    if any(dimension.access != "rule" for dimension in protocol.parsed):
        yield "scores and gradients choose among proposed edits; the published code changes important words at random"
    if any(dimension.measure == "meaning" for dimension in protocol.parsed):
        yield f"distance in meaning by {protocol.meaning}; the published code: paraphrase-distilroberta-base-v1"


def _chosen_otherwise(protocol: Protocol) -> dict[str, list[str]]:
    """Returns the perturbations of Zéroe whose words the run chooses otherwise than the paper, by the paper's way."""
    found: dict[str, list[str]] = {}
    for dimension, selection in zip(
        protocol.parsed, protocol.selections, strict=False
    ):  # () if all are chosen as usual
        perturbation = dimension.perturbation
        entry = _entry(dimension.label, perturbation.name)
        if entry and entry.paper == ZEROE and selection:
            theirs = entry.selection or perturbation.selection
            if selection != theirs:
                found.setdefault(theirs, []).append(dimension.base)
    return found


def _perturbation(dimension: Dimension, protocol: str) -> tuple[list[str], list[str]]:
    """Returns what was set to make a perturbation as published, and in what it differs from its paper even so."""
    name, perturbation = dimension.base, dimension.perturbation
    if dimension.access != "rule":
        return [], []  # said of the access rule, or of the access
    entry = _entry(dimension.label, perturbation.name)
    if entry is None or (protocol == "zeroe") != (entry.paper == ZEROE):
        return [], [f"{name} is not of this paper"]
    if entry.spec.partition("(")[0] != perturbation.name:
        return [], [f"{name}: {entry.differs}; as published it needs {entry.needs}"]
    if not _is_published(dimension):
        needs = f", which needs {entry.needs}" if entry.needs else ""
        return [], [f"{name} is {perturbation.spec}; as published it is {entry.spec}{needs}"]
    return (
        [f"{name} is {entry.spec}"] if "(" in entry.spec else [],
        [f"{name}: {entry.remains}"] if entry.remains else [],
    )


def _is_published(dimension: Dimension) -> bool:
    """Returns whether a perturbation has all options that its paper has."""
    try:
        return as_published(dimension.perturbation, _column(dimension.label)) == dimension.perturbation
    except ValueError:  # options of the user's, or of a model at hand, that do not go with those of the paper
        return False


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:g}" for value in values)
