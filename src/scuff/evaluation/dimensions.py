"""Robustness dimensions: a perturbation, how its degree is measured and what the attacker sees."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ..perturbations.base import Perturbation
from ..perturbations.combine import Then
from ..perturbations.names import parse
from ..specs import as_spec
from ..victims.base import Access

Measure = Literal["units", "edits", "meaning", "level"]

AccessName = Literal["rule", "score", "gradient"]

MEASURES: tuple[Measure, ...] = get_args(Measure)

ACCESS: tuple[AccessName, ...] = get_args(AccessName)  # what the attacker sees: nothing, scores, gradients

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
    access: AccessName = "rule"
    label: str = ""  # what it is called, if that is not the spec

    def __post_init__(self) -> None:
        if self.access != "rule" and (isinstance(self.perturbation, Then) or self.measure == "level"):
            raise ValueError(
                f"expected an attack whose edits can be chosen one by one for @{self.access}, got {self.spec}"
            )

    @classmethod
    def parse(cls, spec: str) -> Dimension:
        """`attack`, `attack@measure`, `attack@access`, `attack@measure@access`; a quoted @ belongs to the attack."""
        access: AccessName = "rule"
        measure: Measure | None = None
        rest = spec.strip()
        for known in ACCESS:
            if rest.endswith(f"@{known}"):
                rest, access = rest.removesuffix(f"@{known}"), known
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
            ways = ", ".join(f"@{way}" for way in (*MEASURES, *ACCESS))
            raise ValueError(
                f"expected one of {ways} at the end of a dimension, each once, got {tail[0]!r} in {spec!r}"
            )
        perturbation = parse(rest)
        found = cls(perturbation, measure or usual_measure(perturbation), access, label)
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
        return self.perturbation.spec + measure + ("" if self.access == "rule" else f"@{self.access}")

    @property
    def full_spec(self) -> str:
        """As `spec`, with the name if it has one of its own."""
        as_spec(self.perturbation)  # which may be an object of a class that exists only here
        return f"{self.label}={self.spec}" if self.label and self.label not in COLUMNS else self.spec

    @property
    def base(self) -> str:
        """Its name in any access."""
        return self.label or replace(self, access="rule").spec

    @property
    def name(self) -> str:
        return self.base + ("" if self.access == "rule" else f"@{self.access}")

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
        return {"rule": Access.BLIND, "score": Access.SCORE, "gradient": Access.GRADIENT}[self.access]

    def ready(self, tokens: bool) -> Dimension:
        """With the attack in the form that suits its degree, or texts that are cut into tokens."""
        perturbation = self.perturbation.for_tokens() if tokens else self.perturbation
        return replace(self, perturbation=perturbation.for_characters() if self.measure == "edits" else perturbation)


def usual_measure(perturbation: Perturbation) -> Measure:
    return "meaning" if perturbation.facts.level == "sentence" else "units"
