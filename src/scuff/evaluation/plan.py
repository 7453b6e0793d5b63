"""The protocol that settings make for a data set: which dimensions run here, by which access, with how many cases."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..data.dataset import Dataset
from ..metrics.meaning import distance_in_meaning, usual_meaning
from ..perturbations.base import LEVELS
from ..perturbations.contextual import Contextual
from ..perturbations.names import ZEROE
from ..perturbations.plan import Plan
from ..resources import MissingResource
from ..runs.settings import SIDES
from ..text.random import name_bits
from ..victims.base import Access
from .dimensions import COLUMNS, TAGS, Dimension
from .protocol import CASES, Protocol
from .score import DEGREES
from .settings import EvaluationSettings

WORDS = 24  # neutral words of the data that a distraction is made of
# one text in so many has such a word; by what share labels may differ from the average; texts that are too few to tell
OFTEN, EVEN, FEW = 100, 0.2, 5
PLAIN = re.compile(r"\b[a-z]{4,12}\b")


def make_protocol(
    settings: EvaluationSettings, data: Dataset, at_once: int, access: Access = Access.GRADIENT
) -> tuple[Protocol, dict[str, str]]:
    """Returns the protocol, and why some dimensions are left out. Zéroe's has one case at each of its levels.

    at_once: cases that the victim wants in a block. access: what the victim tells.
    """
    zeroe = settings.protocol == "zeroe"
    if zeroe and settings.access != ("rule",):
        raise ValueError("expected the access rule for the protocol zeroe, got others: it has levels, not degrees")
    dimensions, left_out = choose_dimensions(settings, data, access)
    cases = (1 if zeroe else CASES) if settings.cases is None else settings.cases
    protocol = Protocol(
        dimensions=dimensions,
        degrees=settings.degrees or (tuple(LEVELS.values()) if zeroe else DEGREES),
        cases=max(1, cases),
        seed=settings.seed,
        sides=SIDES[settings.side],
        protect=settings.protect,
        width=settings.width,
        beta=settings.beta,
        meaning=choose_meaning(settings, map(Dimension.parse, dimensions)) or "chrf",
        at_once=at_once,
    )
    protocol.usable(data)
    return replace(protocol, cases=min(cases, _affordable(settings, protocol, data))), left_out


def choose_meaning(settings: EvaluationSettings, dimensions: Iterable[Dimension]) -> str | None:
    """How the degree of sentence-level dimensions is measured; None if there are none. Raises if the encoder cannot be opened."""
    if not any(dimension.measure == "meaning" for dimension in dimensions):
        return None
    found = settings.encoder or usual_meaning()
    distance_in_meaning(found)(["one"], ["other"])
    return found


def _affordable(settings: EvaluationSettings, protocol: Protocol, data: Dataset) -> int:
    """The cases per cell that the budget of queries allows: every example gets its share."""
    if settings.max_queries is None:
        return sys.maxsize
    cells, beforehand = len(protocol.cells), protocol.probes(data)
    most = ((settings.max_queries - beforehand) // len(data) - 1) // cells
    if most < 1:
        least = (
            f"{len(data) * (1 + cells) + beforehand:,} for one case of {len(data):,} examples in each of {cells} cells"
        )
        raise ValueError(f"expected a max_queries of at least {least}, got {settings.max_queries:,}")
    return most


def choose_dimensions(
    settings: EvaluationSettings, data: Dataset, access: Access = Access.GRADIENT
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Returns the specs of the dimensions that a run has, and why some that were to be expected are left out."""
    left_out: dict[str, str] = {}
    if settings.tag and settings.protocol == "zeroe":
        raise ValueError("expected no tag for the protocol zeroe, got one: it is of the ten perturbations of the paper")
    if settings.dimensions:
        if settings.tag:
            raise ValueError("expected tag or dimensions, got both: a tag chooses among all dimensions")
        names = [_filled(name, settings, data) for name in settings.dimensions]
        for dimension in map(Dimension.parse, names):
            if data.task == "tokens" and not dimension.perturbation.facts.keeps_tokens:
                raise ValueError(f"expected perturbations that keep each token for tagging data, got {dimension.name}")
            _try(dimension)
    else:
        usual = ZEROE if settings.protocol == "zeroe" else TAGS[settings.tag] if settings.tag else COLUMNS
        names = []
        for name in usual:
            filled = _filled(name, settings, data)
            if reason := _unusable(Dimension.parse(filled), data):
                left_out[name] = reason
            else:
                names.append(filled)
    if settings.protocol == "zeroe":
        return tuple(name if "@" in name else f"{name}@level" for name in names), left_out
    return _by_access(names, settings.access, access, left_out), left_out


def _by_access(
    names: Sequence[str], wanted: Sequence[str], access: Access, left_out: dict[str, str]
) -> tuple[str, ...]:
    """Each dimension with each access that is wanted; where the model gives less, by rules, which is noted in `left_out`."""
    out: dict[str, int] = {}
    for name in names:
        given = Dimension.parse(name).access != "rule" or name.endswith("@rule")
        for spec in [name] if given else [f"{name}@{each}" for each in wanted]:
            dimension = Dimension.parse(spec)
            if dimension.needs > access:
                what = {Access.SCORE: "scores", Access.GRADIENT: "gradients"}[dimension.needs]
                blind = "answers that were collected before say nothing of new texts"
                why = f"the model gives no {what}" if access else blind
                left_out[dimension.name] = f"{why}; measured by rules alone"
                out.setdefault(spec.removesuffix(f"@{dimension.access}"), 0)
            else:
                plain = spec.removesuffix("@rule")
                out[plain] = out.get(plain, 0) + 1
    return tuple(name for name, times in out.items() for _ in range(max(1, times)))  # twice: the protocol refuses it


def _filled(name: str, settings: EvaluationSettings, data: Dataset) -> str:
    """A dimension with what its perturbation needs to know of the settings and the data."""
    plain, at, access = name.partition("@")
    if plain == "contextual":  # the spec says by which model
        with suppress(MissingResource):
            return f"contextual={Contextual(mlm=settings.mlm or '').settled().spec}{at}{access}"
    if plain == "distraction" and data.task != "tokens" and (words := neutral_words(data, settings.seed)):
        return f"distraction=distraction(words={words!r}){at}{access}"
    return name


def _unusable(dimension: Dimension, data: Dataset) -> str:
    """Why a dimension cannot run here; "" if it can."""
    if data.task == "tokens" and not dimension.perturbation.facts.keeps_tokens:
        return "changes the tokens, whose tags would be lost"
    try:
        _try(dimension)
    except MissingResource as missing:
        return str(missing)
    return ""


def _try(dimension: Dimension) -> None:
    """Uses a perturbation once, so that a missing package or file raises before the victim is asked."""
    Plan(dimension.perturbation, 1.0).texts(["A good day."])


def light_columns() -> list[str]:
    """RobTest's columns that can run here without a network."""
    nothing = Dataset("nothing", "single", ((),), (), ())
    return [name for name in COLUMNS if name != "contextual" and not _unusable(Dimension.parse(name), nothing)]


def neutral_words(data: Dataset, seed: int) -> tuple[str, ...]:
    """Words of the data that say nothing about a text's label: about equally frequent with each, and not rare."""
    texts: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: Counter[str] = Counter()
    for target, *columns in zip(data.targets, *data.columns, strict=True):
        label = _stratum(target, data.task)
        sizes[label] += 1
        texts[label].update({word for text in columns if isinstance(text, str) for word in PLAIN.findall(text)})
    often = Counter({word: sum(found[word] for found in texts.values()) for found in texts.values() for word in found})
    total = sum(sizes.values())
    neutral = [
        word
        for word, count in often.items()
        if count >= max(3, total / OFTEN)
        and all(_even(texts[label][word], count * sizes[label] / total) for label in sizes)
    ]
    return tuple(sorted(sorted(neutral), key=lambda word: int(name_bits("neutral", seed, word)))[:WORDS])


def _even(found: int, expected: float) -> bool:
    """Whether a count is near what is expected; of a rare label one more or less means nothing."""
    return abs(found - expected) <= EVEN * expected + (expected < FEW)


def _stratum(target: Any, task: str) -> str:
    """The group of examples among which words are counted: one per label; of label sets, with and without labels."""
    if task == "multi":
        return "some" if target else "none"
    return str(target) if task == "single" else ""
