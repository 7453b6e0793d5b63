"""Protocols as published: what the papers' evaluations are, what `as_published` sets of that, and where a run differs even so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

from ..data.dataset import Dataset
from ..metrics import Auc, parse_metric, usual_metric
from ..perturbations.base import LEVELS, Perturbation
from ..perturbations.names import FAMILY, parse
from ..perturbations.published import COIN, PUBLISHED, ROBTEST, ZEROE, Published, as_published
from ..runs.schema import PublishedFacts
from ..specs import parse_call
from .dimensions import COLUMNS, LABEL, MEASURES, Dimension, usual_measure
from .protocol import Protocol
from .score import DEGREES
from .settings import EvaluationSettings

SUFFIXES = re.compile(r"(?:@[\w-]+)*$")  # measure and access, at the end of the spec of a dimension
MEASURED = re.compile(rf"@(?:{'|'.join(MEASURES)})\b")
PLAIN = re.compile(r"[\w.-]+")  # a name without options
BETA = 0.5  # of RobTest's final scores
LEVEL_NAMES = {strength: name for name, strength in LEVELS.items()}  # of Zéroe's levels
PROTOCOL_OF = {ROBTEST: "robtest", ZEROE: "zeroe"}
# options for a model, words or a file that no spec can name, so that a value is no deviation
FOR_USERS = {("contextual", "mlm"), ("distraction", "words"), ("natural", "errors")}
MEASURE_WORDS = {
    "units": "a share of the words", "edits": "a share of the characters", "meaning": "a distance in meaning",
    "level": "the strength",
}  # fmt: skip


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


def published_dimension(name: str, protocol: str | None = None) -> str:
    """Returns the spec of a dimension with its perturbation as its paper has it, under the same name.

    Options that the user wrote stay. protocol: what its paper does not have stays ours; None takes each perturbation from the
    paper that has it. A dimension whose paper has another perturbation, which needs a model (syntax), stays ours, too:
    `published_facts` says so. Raises ValueError if the spec cannot be read.
    """
    suffix = SUFFIXES.search(name)
    at = suffix.start() if suffix else len(name)
    given, ending = name[:at].strip(), name[at:]
    dimension = Dimension.parse(name)
    named = LABEL.match(given)
    rest = given[named.end() :] if named else given
    label = named[1] if named else given if PLAIN.fullmatch(given) and _usually(dimension, ending, protocol) else ""
    if rest in COLUMNS:
        rest, measure, way = COLUMNS[rest].partition("@")
        ending = measure + way + ending
    entry = _entry(dimension, protocol)
    ours = protocol is not None and entry is None
    if (ours and label in COLUMNS) or (entry and entry.spec.partition("(")[0] != dimension.perturbation.name):
        return name
    spec = rest if ours else as_published(rest, _column(dimension, protocol))
    return (f"{label}={spec}" if label else spec) + ending


def _usually(dimension: Dimension, ending: str, protocol: str | None) -> bool:
    """Returns whether the name of a perturbation alone says how the degree is measured, so that it can name the dimension."""
    usual = "level" if protocol == "zeroe" else usual_measure(dimension.perturbation)
    return dimension.label in COLUMNS or dimension.measure == usual or not MEASURED.search(ending)


def _entry(dimension: Dimension, protocol: str | None) -> Published | None:
    """Returns what is published of a perturbation, by the paper of the protocol if there is one; None if nothing."""
    perturbation = dimension.perturbation
    if FAMILY.shipped.get(perturbation.name) is not type(perturbation):
        return None
    entry = PUBLISHED.get(_column(dimension, protocol) or perturbation.name)
    return entry if entry and protocol in (None, PROTOCOL_OF[entry.paper]) else None


def _column(dimension: Dimension, protocol: str | None) -> str | None:
    """Returns the column of RobTest that a dimension is, if the table of perturbations has an entry of it."""
    if dimension.label in COLUMNS and dimension.label in PUBLISHED:
        return dimension.label
    if protocol == "robtest" and dimension.perturbation.name == "phonetic":
        return {"edits": "phonetic-m", "units": "phonetic-g"}.get(dimension.measure)
    return None


def published_facts(settings: EvaluationSettings, protocol: Protocol, data: Dataset) -> PublishedFacts:
    """Returns the paper, what `as_published` set, and everything in which this run differs from the paper."""
    paper = PROTOCOLS[settings.protocol]
    sets: list[str] = []
    differs = [*_chosen(settings, protocol, data), *_scored(settings, protocol, data)]
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
    for dimension, selection in zip(protocol.parsed, protocol.selections, strict=False):  # () if all are as usual
        entry = _entry(dimension, "zeroe")
        if entry and selection:
            theirs = entry.selection or dimension.perturbation.selection
            if selection != theirs:
                found.setdefault(theirs, []).append(dimension.base)
    return found


def _scored(settings: EvaluationSettings, protocol: Protocol, data: Dataset) -> Iterator[str]:
    """Yields what the user chose otherwise than the paper of the texts that may change, the cases that count, and the metric."""
    if protocol.protect:
        yield f"protected text stays as it is ({', '.join(protocol.protect)}); the paper: all text may change"
    if protocol.width is not None:
        yield f"adaptive: fewer cases where an interval is narrower than {protocol.width:g}; the paper: as many everywhere"
    if settings.protocol == "zeroe" and settings.examples and len(data) == settings.examples:
        yield f"{len(data):,} examples; the paper: whole test sets"
    usual = usual_metric(data.task)
    chosen = parse_metric(settings.metric) if settings.metric else usual
    paper = Auc() if settings.protocol == "zeroe" and data.task == "multi" else usual
    if chosen != paper and not settings.metric:
        yield f"scores are {chosen.title}, only s* (left) is of the paper's metric, {paper.title}, where the model gives scores"
    elif chosen != paper:
        yield f"scores are {chosen.title or chosen.spec}; the paper: {paper.title}"


def _perturbation(dimension: Dimension, protocol: str) -> tuple[list[str], list[str]]:
    """Returns what was set to make a perturbation as published, and in what it differs from its paper even so."""
    name, perturbation = dimension.base, dimension.perturbation
    if dimension.access != "rule":
        return [], []  # said of the access rule, or of the access
    entry = _entry(dimension, protocol)
    if entry is None:
        return [], [f"{name} is not of this paper"]
    if entry.spec.partition("(")[0] != perturbation.name:
        return [], [f"{name}: {entry.differs}; as published it needs {entry.needs}"]
    theirs, wanted = parse(entry.spec), parse_call(entry.spec)[1]
    other = [option for option in _options(theirs) if getattr(perturbation, option) != getattr(theirs, option)]
    other = [option for option in other if (perturbation.name, option) not in FOR_USERS]
    alike = [option for option in wanted if option not in other]
    differs = list(_measure(dimension, protocol))
    if other:
        needs = f", which needs {entry.needs}" if entry.needs else ""
        differs.append(f"{name} has {_values(perturbation, other)}; as published {_values(theirs, other)}{needs}")
    if entry.remains:
        like = PUBLISHED.get(entry.remains.removeprefix("as "), entry)  # "as phonetic-g", which may not be in this run
        differs.append(f"{name}: {like.remains}")
    if wanted and not other and dimension.label:
        return [f"{name} is {entry.spec}"], differs
    return [f"{name} has {_values(perturbation, alike)}"] if alike else [], differs


def _options(perturbation: Perturbation) -> list[str]:
    return [field.name for field in fields(perturbation) if field.init]


def _values(perturbation: Perturbation, options: list[str]) -> str:
    return ", ".join(f"{option}={getattr(perturbation, option)!r}" for option in options)


def _measure(dimension: Dimension, protocol: str) -> Iterator[str]:
    """Yields how the degree of a dimension is measured, if its paper measures it otherwise."""
    columns = [Dimension.parse(spec) for spec in COLUMNS.values()] if protocol == "robtest" else []
    theirs = {each.measure for each in columns if each.perturbation.name == dimension.perturbation.name} or {"level"}
    if dimension.measure not in theirs:
        coin = "; no coin chooses words" if protocol == "zeroe" else ""
        paper = " or ".join(MEASURE_WORDS[way] for way in MEASURES if way in theirs)
        yield f"the degree of {dimension.base} is {MEASURE_WORDS[dimension.measure]}{coin}; the paper: {paper}"


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:g}" for value in values)
