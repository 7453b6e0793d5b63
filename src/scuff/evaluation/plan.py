"""Makes the protocol of an evaluation from its settings and data: chooses dimensions, access, degrees and number of cases."""

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
from ..perturbations.published import as_published, published_selection
from ..resources import MissingResource
from ..text.random import name_bits
from ..victims.base import Access
from .dimensions import COLUMNS, DEFAULT, TAGS, Dimension
from .judged import read_judged
from .protocol import CASES, Protocol
from .published import PROTOCOLS, at_level, published_dimension
from .score import DEGREES
from .settings import EvaluationSettings


def make_protocol(
    settings: EvaluationSettings, data: Dataset, at_once: int, access: Access = Access.GRADIENT
) -> tuple[Protocol, dict[str, str]]:
    """Returns the protocol, and the dimensions that are left out with the reasons. Raises ValueError if it does not fit the data.

    Zéroe's protocol has one case at each of its three levels. at_once: the queries of a block that suit the victim. access: what
    the victim gives.
    """
    zeroe, published = settings.protocol == "zeroe", settings.as_published
    if zeroe and settings.access != ("rule",):
        raise ValueError("expected the access rule for the protocol zeroe, got others: it has levels, not degrees")
    dimensions, left_out = choose_dimensions(settings, data, access)
    usual = 1 if zeroe else PROTOCOLS["robtest"].cases if published else CASES
    cases = usual if settings.cases is None else settings.cases
    protocol = Protocol(
        dimensions=dimensions,
        degrees=settings.degrees or (tuple(LEVELS.values()) if zeroe else DEGREES),
        cases=max(1, cases),
        seed=settings.seed,
        sides=settings.sides if settings.side or not zeroe else tuple(range(len(data.columns))),
        protect=settings.protect,
        width=settings.width,
        beta=settings.beta,
        meaning=choose_meaning(settings, map(Dimension.parse, dimensions)) or "chrf",
        at_once=at_once,
        all_queries=True,
        rounding=settings.rounding or ("up" if published and not zeroe else "down"),
        selections=choose_selections(settings, dimensions),
        final_from_zero=published and not zeroe,
        judged=read_judged(settings.validity) if settings.validity else None,
    )
    protocol.usable(data)
    return replace(protocol, cases=min(cases, _affordable(settings, protocol, data))), left_out


def choose_meaning(settings: EvaluationSettings, dimensions: Iterable[Dimension]) -> str | None:
    """Returns the name of the measure of meaning, `chrf` or an encoder; None if no dimension needs one.

    Uses it once, so that an encoder that cannot be opened raises now.
    """
    if not any(dimension.measure == "meaning" for dimension in dimensions):
        return None
    name = settings.encoder or usual_meaning()
    distance_in_meaning(name)(["one"], ["other"])
    return name


def _affordable(settings: EvaluationSettings, protocol: Protocol, data: Dataset) -> int:
    """Returns how many cases per example and cell `max_queries` allows. Raises ValueError if it is less than one."""
    if settings.max_queries is None:
        return sys.maxsize
    cells, beforehand = len(protocol.cells), round(protocol.probes(data).sum()) * len(protocol.rounds)
    most = ((settings.max_queries - beforehand) // len(data) - 1) // cells
    if most < 1:
        least = (
            f"{len(data) * (1 + cells) + beforehand:,} for one case of {len(data):,} examples in each of {cells} cells"
        )
        raise ValueError(f"expected a max_queries of at least {least}, got {settings.max_queries:,}")
    return most


def choose_dimensions(
    settings: EvaluationSettings, data: Dataset, access: Access = Access.GRADIENT, *, any_paper: bool = False
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Returns the specs of the dimensions of a run, and those that are left out with the reasons.

    any_paper: as published, each perturbation is that of the paper that has it; else what the protocol's paper lacks stays ours.

    Raises ValueError or MissingResource if a dimension that the user named cannot run; a default one is left out instead. The
    name `default` stands for all default ones that are not named beside it.
    """
    left_out: dict[str, str] = {}
    if settings.tag and settings.protocol == "zeroe":
        raise ValueError("expected no tag for the protocol zeroe, got one: it is of the ten perturbations of the paper")
    if settings.dimensions and settings.tag:
        raise ValueError("expected tag or dimensions, got both: a tag chooses among all dimensions")
    paper = None if any_paper else settings.protocol
    given = settings.dimensions or (DEFAULT,)
    named = [name if name == DEFAULT else _filled(name, settings, data, paper) for name in given]
    names: list[str] = []
    for name in named:
        if name == DEFAULT:
            names += _usable(settings, data, set(named), left_out, paper)
            continue
        dimension = Dimension.parse(name)
        if data.task == "tokens" and not dimension.perturbation.facts.keeps_tokens:
            raise ValueError(f"expected perturbations that keep each token for tagging data, got {dimension.name}")
        _try(dimension)
        names.append(name)
    if settings.protocol == "zeroe":
        return tuple(map(at_level, names)), left_out
    return _by_access(names, settings.access, access, left_out), left_out


def choose_selections(settings: EvaluationSettings, dimensions: Iterable[str]) -> tuple[str | None, ...]:
    """Returns how each dimension at a strength chooses words: as the user says, else as published; () if all as usual."""
    found: list[str | None] = []
    zeroe = settings.protocol == "zeroe"
    for dimension in map(Dimension.parse, dimensions):
        published = published_selection(dimension.perturbation) if settings.as_published and zeroe else None
        found.append((settings.selection or published) if dimension.measure == "level" else None)
    return tuple(found) if any(found) else ()


def usual_dimensions(settings: EvaluationSettings) -> list[str]:
    """Returns the dimensions that are measured if the user names none."""
    return list(ZEROE if settings.protocol == "zeroe" else TAGS[settings.tag] if settings.tag else COLUMNS)


def _usable(
    settings: EvaluationSettings, data: Dataset, named: set[str], left_out: dict[str, str], paper: str | None
) -> Iterable[str]:
    """Yields the specs of the default dimensions that can run and are not named; adds the others to `left_out`."""
    for name in usual_dimensions(settings):
        filled = _filled(name, settings, data, paper)
        if filled not in named and (reason := _unusable(Dimension.parse(filled), data)):
            left_out[name] = reason
        elif filled not in named:
            yield filled


def _by_access(
    names: Sequence[str], wanted: Sequence[str], access: Access, left_out: dict[str, str]
) -> tuple[str, ...]:
    """Returns a spec for each dimension with each access that is wanted.

    Where the model gives less, the dimension is measured with the access `rule` instead, which is added to `left_out`.
    """
    out: dict[str, int] = {}
    for name in names:
        given = Dimension.parse(name).access != "rule" or name.endswith("@rule")
        for spec in [name] if given else [f"{name}@{each}" for each in wanted]:
            dimension = Dimension.parse(spec)
            if dimension.needs > access:
                what = {Access.SCORE: "scores", Access.GRADIENT: "gradients"}[dimension.needs]
                collected = "answers that were collected before say nothing of new texts"
                why = f"the model gives no {what}" if access else collected
                left_out[dimension.name] = f"{why}; measured by rules alone"
                out.setdefault(spec.removesuffix(f"@{dimension.access}"), 0)
            else:
                plain = spec.removesuffix("@rule")
                out[plain] = out.get(plain, 0) + 1
    # a spec that the user gave twice stays twice, so that Protocol raises; one that stands in for others is there once
    return tuple(name for name, times in out.items() for _ in range(max(1, times)))


def _filled(name: str, settings: EvaluationSettings, data: Dataset, paper: str | None) -> str:
    """Returns the spec of a dimension with options that come from the paper (as_published), the settings (contextual) or the data
    (distraction). paper: the protocol whose paper counts; None for all.
    """
    plain, at, access = name.partition("@")
    label = f"{plain}-level" if settings.protocol == "zeroe" else plain  # the plain name is RobTest's, by its degrees
    if plain == "contextual":  # its spec names the masked language model
        ours = Contextual(mlm=settings.mlm or "")
        published = as_published(ours) if settings.as_published and paper != "zeroe" else ours
        for contextual in (published, ours):
            with suppress(MissingResource):
                assert isinstance(contextual, Contextual), "options alone make it as published"
                return f"{label}={contextual.settled().spec}{at}{access}"
    if plain == "distraction" and data.task != "tokens" and (words := neutral_words(data, settings.seed)):
        return f"{label}=distraction(words={words!r}){at}{access}"
    return published_dimension(name, paper) if settings.as_published else name


def _unusable(dimension: Dimension, data: Dataset) -> str:
    """Returns why a dimension cannot run on this data or in this installation; "" if it can."""
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
    """Returns the names of RobTest's dimensions that can run in this installation without a language model."""
    no_data = Dataset("nothing", "single", ((),), (), ())
    return usable_dimensions((name for name in COLUMNS if name != "contextual"), no_data)


def usable_dimensions(names: Iterable[str], data: Dataset) -> list[str]:
    """Returns those of the dimensions that can run in this installation on such data."""
    return [name for name in names if not _unusable(Dimension.parse(name), data)]


def unusable_dimensions(names: Iterable[str], data: Dataset) -> dict[str, str]:
    """Returns those of the dimensions that cannot run in this installation on such data, and why."""
    return {name: why for name in names if (why := _unusable(Dimension.parse(name), data))}


NEUTRAL_WORDS = 24  # words that a distraction is made of
ONE_IN = 100  # a neutral word is in one text of so many, or in more
UNEVEN = 0.2  # the share by which its frequency with a label may differ from its frequency overall
RARE = 5  # where fewer texts than this are expected, one text more or less is allowed, too
LOWER_CASE = re.compile(r"\b[a-z]{4,12}\b")


def neutral_words(data: Dataset, seed: int) -> tuple[str, ...]:
    """Returns words of the data that do not hint at a label: about equally frequent with each, and not rare."""
    texts: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: Counter[str] = Counter()
    for target, *columns in zip(data.targets, *data.columns, strict=True):
        label = _stratum(target, data.task)
        sizes[label] += 1
        texts[label].update({word for text in columns if isinstance(text, str) for word in LOWER_CASE.findall(text)})
    overall = Counter({word: sum(each[word] for each in texts.values()) for each in texts.values() for word in each})
    total = sum(sizes.values())
    neutral = [
        word
        for word, count in overall.items()
        if count >= max(3, total / ONE_IN)
        and all(_even(texts[label][word], count * sizes[label] / total) for label in sizes)
    ]
    return tuple(sorted(sorted(neutral), key=lambda word: int(name_bits("neutral", seed, word)))[:NEUTRAL_WORDS])


def _even(count: int, expected: float) -> bool:
    """Returns whether a count is near the expected one."""
    return abs(count - expected) <= UNEVEN * expected + (expected < RARE)


def _stratum(target: Any, task: str) -> str:
    """Returns the group of examples in which words are counted: one per label; for label sets, "some" or "none"."""
    if task == "multi":
        return "some" if target else "none"
    return str(target) if task == "single" else ""
