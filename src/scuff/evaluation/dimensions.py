"""Robustness dimensions: a perturbation, how its degree is measured and what the attacker sees; and which of them a run has."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..data.dataset import Dataset
from ..perturbations.base import Perturbation
from ..perturbations.combine import Then
from ..perturbations.contextual import Contextual
from ..perturbations.names import ZEROE, parse
from ..perturbations.plan import Plan
from ..resources import MissingResource
from ..text.random import name_bits
from ..victims.base import Access

if TYPE_CHECKING:
    from .settings import EvaluationSettings


Measure = Literal["units", "edits", "meaning", "level"]

Setting = Literal["rule", "score", "gradient"]

MEASURES: tuple[Measure, ...] = get_args(Measure)

SETTINGS: tuple[Setting, ...] = get_args(Setting)

# RobTest's columns (Table 3), -m for malicious, -g for general
COLUMNS: dict[str, str] = {
    "typo-m": "typo@edits",
    "typo-g": "typo",
    "glyph-m": "glyph@edits",
    "glyph-g": "glyph",
    "phonetic-m": "phonetic@edits",
    "phonetic-g": "phonetic(slight=True)",
    "synonym": "synonym",
    "contextual": "contextual",
    "inflection": "inflection",
    "syntax": "syntax",
    "distraction": "distraction",
}

TAGS = {"general": [c for c in COLUMNS if not c.endswith("-m") and c != "distraction"]}

TAGS["malicious"] = [c for c in COLUMNS if c not in TAGS["general"]]

TAKEN = ("clean", "average", "worst", "each", "overall", "answered")  # what `scuff check` calls other scores

LABEL = re.compile(r"([\w.-]+)=")


@dataclass(frozen=True)
class Dimension:
    """`typo`: degree d changes at most a share d of the words (or whatever unit the attack names). `typo@edits`: an edit
    distance of at most a share d of the characters. `syntax@meaning`, the default where whole sentences change: at most d away
    in meaning. `keyboard@level`: the attack's own level, as in `scuff perturb -l` (Zéroe). `typo-m` and `typo-g` are RobTest's
    names; `mine=...` gives one of yours. `...@score`, `...@gradient`: the attacker sees scores or gradients.
    """

    perturbation: Perturbation
    measure: Measure = "units"
    setting: Setting = "rule"
    label: str = ""  # what it is called, if that is not the spec

    def __post_init__(self) -> None:
        if self.setting != "rule" and (isinstance(self.perturbation, Then) or self.measure == "level"):
            raise ValueError(
                f"expected an attack whose edits can be chosen one by one for @{self.setting}, got {self.spec}"
            )

    @classmethod
    def parse(cls, spec: str) -> Dimension:
        """`attack`, `attack@measure`, `attack@setting`, `attack@measure@setting`; a quoted @ belongs to the attack."""
        setting: Setting = "rule"
        measure: Measure | None = None
        rest = spec.strip()
        for known in SETTINGS:
            if rest.endswith(f"@{known}"):
                rest, setting = rest.removesuffix(f"@{known}"), known
                break
        named = LABEL.match(rest)
        label = named[1] if named else rest if rest in COLUMNS else ""
        rest = rest[named.end() :] if named else rest
        rest = COLUMNS.get(rest, rest)
        for way in MEASURES:
            if rest.endswith(f"@{way}"):
                rest, measure = rest.removesuffix(f"@{way}"), way
                break
        if tail := re.search(r"@[\w-]*$", rest):
            ways = ", ".join(f"@{way}" for way in (*MEASURES, *SETTINGS))
            raise ValueError(
                f"expected one of {ways} at the end of a dimension, each once, got {tail[0]!r} in {spec!r}"
            )
        perturbation = parse(rest)
        found = cls(perturbation, measure or usual_measure(perturbation), setting, label)
        if named:
            found._check_label()
        return found

    def _check_label(self) -> None:
        """A name of the user's must not stand for something else already."""
        if self.label in TAKEN:
            raise ValueError(f"expected another name for a dimension than {', '.join(TAKEN)}, got {self.label}")
        if self.label in COLUMNS:
            usual = Dimension.parse(COLUMNS[self.label])
            if (usual.perturbation.name, usual.measure) != (self.perturbation.name, self.measure):
                raise ValueError(
                    f"expected {usual.spec} for RobTest's {self.label}, got {self.spec}: choose another name"
                )

    @property
    def spec(self) -> str:
        """Repeats the dimension, whatever it is called."""
        measure = "" if self.measure == usual_measure(self.perturbation) else f"@{self.measure}"
        return self.perturbation.spec + measure + ("" if self.setting == "rule" else f"@{self.setting}")

    @property
    def base(self) -> str:
        """Its name in any setting."""
        return self.label or replace(self, setting="rule").spec

    @property
    def name(self) -> str:
        return self.base + ("" if self.setting == "rule" else f"@{self.setting}")

    @property
    def unit(self) -> str:
        """What the degree is a share of."""
        return {"edits": "characters", "meaning": "meaning"}.get(self.measure, self.perturbation.facts.unit)

    @property
    def tag(self) -> str:
        """Whom it stands for."""
        if self.label in COLUMNS:
            return "malicious" if self.label in TAGS["malicious"] else "general"
        return "malicious" if self.perturbation.facts.tags == ("malicious",) else "general"

    @property
    def needs(self) -> Access:
        return {"rule": Access.BLIND, "score": Access.SCORE, "gradient": Access.GRADIENT}[self.setting]

    def ready(self, tokens: bool) -> Dimension:
        """With the attack in the form that suits its degree, or texts that are cut into tokens."""
        perturbation = self.perturbation.for_tokens() if tokens else self.perturbation
        return replace(self, perturbation=perturbation.for_characters() if self.measure == "edits" else perturbation)


def usual_measure(perturbation: Perturbation) -> Measure:
    return "meaning" if perturbation.facts.level == "sentence" else "units"


WORDS = 24  # words of the data that distract

# one text in so many has such a word; by what share labels may differ from the average; texts that are too few to tell
OFTEN, EVEN, FEW = 100, 0.2, 5


def choose_dimensions(
    config: EvaluationSettings, data: Dataset, access: Access = Access.GRADIENT
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
            if data.task == "tokens" and not dimension.perturbation.facts.keeps_tokens:
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


def _filled(name: str, config: EvaluationSettings, data: Dataset) -> str:
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
    if data.task == "tokens" and not dimension.perturbation.facts.keeps_tokens:
        return "changes the tokens, whose tags would be lost"
    try:
        _try(dimension)
    except MissingResource as missing:
        return str(missing)
    return ""


def _try(dimension: Dimension) -> None:
    """What is not installed, or cannot be opened, is told before anything is asked."""
    Plan(dimension.perturbation, 1.0).texts(["A good day."])


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
