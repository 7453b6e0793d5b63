"""The settings of an evaluation."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..data.dataset import Dataset
from ..metrics.meaning import distance_in_meaning, usual_meaning
from ..perturbations.base import LEVELS
from ..runs.settings import SIDES, Settings
from ..victims.base import Access
from .dimensions import SETTINGS, TAGS, Dimension, choose_dimensions
from .protocol import CASES, Protocol
from .score import DEGREES


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """What can be set; `scuff evaluate --help` explains each."""

    protocol: str = "robtest"
    dimensions: tuple[str, ...] = ()
    tag: str | None = None
    setting: tuple[str, ...] = ("rule",)
    degrees: tuple[float, ...] = ()
    cases: int | None = None
    width: float | None = None
    beta: float = 0.5

    def choices(self) -> list[tuple[str, str, tuple[str, ...]]]:
        return [
            *super().choices(),
            ("protocol", self.protocol, ("robtest", "zeroe")),
            *(("setting", setting, SETTINGS) for setting in self.setting),
            *([("tag", self.tag, tuple(TAGS))] if self.tag else []),
        ]

    @property
    def guided(self) -> bool:
        """Whether some dimension wants more than answers to its cases."""
        return any(s != "rule" for s in (*self.setting, *(Dimension.parse(name).setting for name in self.dimensions)))

    def protocol_for(
        self, data: Dataset, at_once: int, access: Access = Access.GRADIENT
    ) -> tuple[Protocol, dict[str, str]]:
        """The protocol, and why some dimensions or settings are left out. Zéroe's: one case at each of its levels."""
        zeroe = self.protocol == "zeroe"
        if zeroe and self.setting != ("rule",):
            raise ValueError("expected the setting rule for the protocol zeroe, got others: it has levels, not degrees")
        dimensions, left_out = choose_dimensions(self, data, access)
        degrees = self.degrees or (tuple(LEVELS.values()) if zeroe else DEGREES)
        cases = (1 if zeroe else CASES) if self.cases is None else self.cases
        protocol = Protocol(
            dimensions, degrees, max(1, cases), self.seed, SIDES[self.side], self.protect, self.width, self.beta,
            self.meaning_for(map(Dimension.parse, dimensions)) or "chrf", at_once,
        )  # fmt: skip
        protocol.usable(data)
        most = self._affordable(protocol, data)
        return replace(protocol, cases=min(cases, most)), left_out

    def meaning_for(self, dimensions: Iterable[Dimension]) -> str | None:
        """How the degree of sentence-level dimensions is measured, if there are any. An encoder that cannot be opened is told
        here.
        """
        if not any(dimension.measure == "meaning" for dimension in dimensions):
            return None
        found = self.encoder or usual_meaning()
        distance_in_meaning(found)(["one"], ["other"])
        return found

    def _affordable(self, protocol: Protocol, data: Dataset) -> int:
        """The cases per cell that the budget of queries allows: every example gets its share."""
        if self.max_queries is None:
            return sys.maxsize
        cells, beforehand = len(protocol.cells), protocol.probes(data)
        most = ((self.max_queries - beforehand) // len(data) - 1) // cells
        if most < 1:
            least = f"{len(data) * (1 + cells) + beforehand:,} for one case of {len(data):,} examples in each of {cells} cells"
            raise ValueError(f"expected a max_queries of at least {least}, got {self.max_queries:,}")
        return most
