"""A robustness dimension: an attack, how its degree is measured, and what the attacker knows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ..perturb import Perturbation, Then, parse
from ..victims.base import Access

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

    attack: Perturbation
    measure: Measure = "units"
    setting: Setting = "rule"
    label: str = ""  # what it is called, if that is not the spec

    def __post_init__(self) -> None:
        if self.setting != "rule" and (isinstance(self.attack, Then) or self.measure == "level"):
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
        attack = parse(rest)
        found = cls(attack, measure or usual_measure(attack), setting, label)
        if named:
            found._check_label()
        return found

    def _check_label(self) -> None:
        """A name of the user's must not stand for something else already."""
        if self.label in TAKEN:
            raise ValueError(f"expected another name for a dimension than {', '.join(TAKEN)}, got {self.label}")
        if self.label in COLUMNS:
            usual = Dimension.parse(COLUMNS[self.label])
            if (usual.attack.name, usual.measure) != (self.attack.name, self.measure):
                raise ValueError(
                    f"expected {usual.spec} for RobTest's {self.label}, got {self.spec}: choose another name"
                )

    @property
    def spec(self) -> str:
        """Repeats the dimension, whatever it is called."""
        measure = "" if self.measure == usual_measure(self.attack) else f"@{self.measure}"
        return self.attack.spec + measure + ("" if self.setting == "rule" else f"@{self.setting}")

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
        return {"edits": "characters", "meaning": "meaning"}.get(self.measure, self.attack.facts.unit)

    @property
    def tag(self) -> str:
        """Whom it stands for."""
        if self.label in COLUMNS:
            return "malicious" if self.label in TAGS["malicious"] else "general"
        return "malicious" if self.attack.facts.tags == ("malicious",) else "general"

    @property
    def needs(self) -> Access:
        return {"rule": Access.BLIND, "score": Access.SCORE, "gradient": Access.GRADIENT}[self.setting]

    def ready(self, tokens: bool) -> Dimension:
        """With the attack in the form that suits its degree, or texts that are cut into tokens."""
        attack = self.attack.for_tokens() if tokens else self.attack
        return replace(self, attack=attack.for_characters() if self.measure == "edits" else attack)


def usual_measure(attack: Perturbation) -> Measure:
    return "meaning" if attack.facts.level == "sentence" else "units"
