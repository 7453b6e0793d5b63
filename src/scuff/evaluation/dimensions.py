"""Robustness dimensions: a perturbation, how its degree is measured, and what the attacker sees of the victim."""

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
AccessName = Literal["rule", "score", "gradient"]  # what the attacker sees: nothing, scores, gradients
MEASURES: tuple[Measure, ...] = get_args(Measure)
ACCESS: tuple[AccessName, ...] = get_args(AccessName)

# RobTest's columns (Table 3): -m for malicious, -g for general
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

DEFAULT = "default"  # stands for all dimensions that are measured if the user names none
# names that mean something else in `scuff check` or `--dimensions`
RESERVED = ("clean", "average", "worst", "worst_alone", "each", "overall", "answered", "tried", DEFAULT)
LABEL = re.compile(r"([\w.-]+)=")


@dataclass(frozen=True)
class Dimension:
    """A perturbation, the measure of its degree, and the access of the attacker.

    `typo`: degree d changes at most a share d of the words, or of another unit that the perturbation names. `typo@edits`: the
    edit distance is at most a share d of the characters. `syntax@meaning`, the default where whole sentences change: the
    distance in meaning is at most d. `keyboard@level`: d is the perturbation's strength, as in `scuff perturb -l` (Zéroe).
    `typo-m` and `typo-g` are RobTest's names; `mine=...` gives a dimension a name of your own. `...@score`, `...@gradient`: the
    attacker sees scores or gradients.
    """

    perturbation: Perturbation
    measure: Measure = "units"
    access: AccessName = "rule"
    label: str = ""  # its name, if that is not the spec

    def __post_init__(self) -> None:
        """Raises ValueError if the edits of the perturbation cannot be chosen by scores or gradients, as `access` asks."""
        if self.access != "rule" and (isinstance(self.perturbation, Then) or self.measure == "level"):
            raise ValueError(
                f"expected a perturbation whose edits can be chosen one by one for @{self.access}, got {self.spec}"
            )

    @classmethod
    def parse(cls, spec: str) -> Dimension:
        """Returns the dimension that a spec names. Raises ValueError if it cannot be read.

        A spec is a perturbation followed by `@measure`, `@access`, both in this order, or neither. An @ inside quotes belongs
        to the perturbation.
        """
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
        dimension = cls(perturbation, measure or usual_measure(perturbation), access, label)
        if named:
            dimension._check_label()
        return dimension

    def _check_label(self) -> None:
        """Raises ValueError if a name that the user gave already means something else."""
        if self.label in RESERVED:
            raise ValueError(f"expected another name for a dimension than {', '.join(RESERVED)}, got {self.label}")
        if self.label in COLUMNS:
            usual = Dimension.parse(COLUMNS[self.label])
            if (usual.perturbation.name, usual.measure) != (self.perturbation.name, self.measure):
                raise ValueError(
                    f"expected {usual.spec} for RobTest's {self.label}, got {self.spec}: choose another name"
                )

    @property
    def spec(self) -> str:
        """The spec that `parse` reads, without the label."""
        return self.perturbation.spec + self._suffixes

    @property
    def _suffixes(self) -> str:
        measure = "" if self.measure == usual_measure(self.perturbation) else f"@{self.measure}"
        return measure + ("" if self.access == "rule" else f"@{self.access}")

    @property
    def full_spec(self) -> str:
        """The spec with the label, if that is the user's own; an object given in Python can be found by it."""
        spec = as_spec(self.perturbation) + self._suffixes
        return f"{self.label}={spec}" if self.label and self.label not in COLUMNS else spec

    @property
    def base(self) -> str:
        """The name without the access: the label, or else the spec with the access `rule`."""
        return self.label or replace(self, access="rule").spec

    @property
    def name(self) -> str:
        """The name in reports and summary.json: `base`, with `@score` or `@gradient`."""
        return self.base + ("" if self.access == "rule" else f"@{self.access}")

    @property
    def unit(self) -> str:
        """What the degree is a share of: characters, meaning, or the unit of the perturbation."""
        return {"edits": "characters", "meaning": "meaning"}.get(self.measure, self.perturbation.facts.unit)

    @property
    def tag(self) -> str:
        """`malicious` if only someone who means harm makes such changes, else `general`."""
        if self.label in COLUMNS:
            return "malicious" if self.label in TAGS["malicious"] else "general"
        return "malicious" if self.perturbation.facts.tags == ("malicious",) else "general"

    @property
    def needs(self) -> Access:
        """The access that a victim must give."""
        return {"rule": Access.BLIND, "score": Access.SCORE, "gradient": Access.GRADIENT}[self.access]

    def ready(self, tokens: bool) -> Dimension:
        """Returns the dimension with the variant of its perturbation for the measure, and for tokens if `tokens` is True."""
        perturbation = self.perturbation.for_tokens() if tokens else self.perturbation
        return replace(self, perturbation=perturbation.for_characters() if self.measure == "edits" else perturbation)


def usual_measure(perturbation: Perturbation) -> Measure:
    """Returns the measure of a dimension whose spec names none."""
    return "meaning" if perturbation.facts.level == "sentence" else "units"
