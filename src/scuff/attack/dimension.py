"""A robustness dimension: an attack and how its degree is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..perturb import Perturbation, parse

Measure = Literal["units", "edits", "level"]


@dataclass(frozen=True)
class Dimension:
    """`keyboard`: degree d changes at most a share d of the words (or whatever unit the attack names). `keyboard@edits`: edits
    of at most a share d of all characters. `keyboard@level`: the attack's own level, as in `scuff perturb -l` (Zéroe).
    """

    attack: Perturbation
    measure: Measure = "units"

    @classmethod
    def parse(cls, spec: str) -> Dimension:
        """`attack`, `attack@edits` or `attack@level`; a quoted @ belongs to the attack."""
        for measure in ("edits", "level"):
            if spec.endswith(f"@{measure}"):
                return cls(parse(spec.removesuffix(f"@{measure}")), measure)
        return cls(parse(spec))

    @property
    def spec(self) -> str:
        return self.attack.spec + ("" if self.measure == "units" else f"@{self.measure}")

    @property
    def name(self) -> str:
        """The spec itself: two dimensions of one attack with other options have other names."""
        return self.spec

    @property
    def unit(self) -> str:
        """What the degree is a share of."""
        return "characters" if self.measure == "edits" else self.attack.facts.unit

    @property
    def selection(self) -> str | None:
        return {"units": "below", "edits": "edits", "level": None}[self.measure]

    def for_tokens(self) -> Dimension:
        return Dimension(self.attack.for_tokens(), self.measure)
