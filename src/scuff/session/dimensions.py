"""Which dimensions a run has: those the user names, or all that can run here, in every setting that was asked for."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..attack import COLUMNS, TAGS, Dimension
from ..perturb import ZEROE, Contextual, Plan
from ..resources import MissingResource
from ..text.dataset import Dataset
from ..text.hash import name_bits
from ..victims.base import Access

if TYPE_CHECKING:
    from .config import Config

WORDS = 24  # words of the data that distract
# one text in so many has such a word; by what share labels may differ from the average; texts that are too few to tell
OFTEN, EVEN, FEW = 100, 0.2, 5


def choose_dimensions(
    config: Config, data: Dataset, access: Access = Access.GRADIENT
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Specs, and why some that would be in it by default, or in a setting, are left out."""
    left_out: dict[str, str] = {}
    if config.tag and config.protocol == "zeroe":
        raise ValueError("expected no tag for the protocol zeroe, got one: it is of the ten attacks of the paper")
    if config.dimensions:
        if config.tag:
            raise ValueError("expected tag or dimensions, got both: a tag chooses among all dimensions")
        names = [_filled(name, config, data) for name in config.dimensions]
        for dimension in map(Dimension.parse, names):
            if data.task == "tokens" and not dimension.attack.facts.keeps_tokens:
                raise ValueError(f"expected attacks that keep each token for tagging data, got {dimension.name}")
            _try(dimension)
    else:
        usual = ZEROE if config.protocol == "zeroe" else TAGS[config.tag] if config.tag else COLUMNS
        names = []
        for name in usual:
            filled = _filled(name, config, data)
            if reason := _unusable(Dimension.parse(filled), data):
                left_out[name] = reason
            else:
                names.append(filled)
    if config.protocol == "zeroe":
        return tuple(name if "@" in name else f"{name}@level" for name in names), left_out
    return _in_settings(names, config.setting, access, left_out), left_out


def _in_settings(
    names: Sequence[str], settings: Sequence[str], access: Access, left_out: dict[str, str]
) -> tuple[str, ...]:
    """Each dimension in each setting; what the model does not allow becomes the rule setting, and that is told."""
    out: dict[str, int] = {}
    for name in names:
        given = Dimension.parse(name).setting != "rule" or name.endswith("@rule")
        for spec in [name] if given else [f"{name}@{setting}" for setting in settings]:
            dimension = Dimension.parse(spec)
            if dimension.needs > access:
                what = {Access.SCORE: "scores", Access.GRADIENT: "gradients"}[dimension.needs]
                why = (
                    f"the model gives no {what}"
                    if access
                    else "answers that were collected before say nothing of new texts"
                )
                left_out[dimension.name] = f"{why}; measured by rules alone"
                out.setdefault(spec.removesuffix(f"@{dimension.setting}"), 0)
            else:
                plain = spec.removesuffix("@rule")
                out[plain] = out.get(plain, 0) + 1
    return tuple(name for name, times in out.items() for _ in range(max(1, times)))  # twice: the protocol refuses it


def _filled(name: str, config: Config, data: Dataset) -> str:
    """With what the attack needs to know of the settings and the data."""
    plain, at, setting = name.partition("@")
    if plain == "contextual":  # the spec says by which model
        with suppress(MissingResource):
            return f"contextual={Contextual(mlm=config.mlm or '').settled().spec}{at}{setting}"
    if plain == "distraction" and data.task != "tokens" and (words := neutral_words(data, config.seed)):
        return f"distraction=distraction(words={words!r}){at}{setting}"
    return name


def _unusable(dimension: Dimension, data: Dataset) -> str:
    """Why a dimension cannot run here; "" if it can."""
    if data.task == "tokens" and not dimension.attack.facts.keeps_tokens:
        return "changes the tokens, whose tags would be lost"
    try:
        _try(dimension)
    except MissingResource as missing:
        return str(missing)
    return ""


def _try(dimension: Dimension) -> None:
    """What is not installed, or cannot be opened, is told before anything is asked."""
    Plan(dimension.attack, 1.0).texts(["A good day."])


def light_columns() -> list[str]:
    """RobTest's columns that can run here without a network."""
    nothing = Dataset("nothing", "single", ((),), (), ())
    return [name for name in COLUMNS if name != "contextual" and not _unusable(Dimension.parse(name), nothing)]


def neutral_words(data: Dataset, seed: int) -> tuple[str, ...]:
    """Words of the data that tell nothing of a text's label: about equally frequent with each. Rare ones may be so by chance."""
    texts: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: Counter[str] = Counter()
    for target, *columns in zip(data.targets, *data.columns, strict=True):
        label = _label(target, data.task)
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
    """Of a rare label one more or less tells nothing."""
    return abs(found - expected) <= EVEN * expected + (expected < FEW)


PLAIN = re.compile(r"\b[a-z]{4,12}\b")


def _label(target: Any, task: str) -> str:
    if task == "multi":
        return "some" if target else "none"
    return str(target) if task == "single" else ""
