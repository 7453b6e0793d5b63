"""The protocol: dimensions, degrees, cases, and everything else that decides the cases of an example."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from ..data.dataset import Column, Dataset
from ..perturbations.protect import Protect
from ..victims.base import GRADIENT_STEPS, Access
from .dimensions import COLUMNS, Dimension
from .guided import LETTER_POOL, WORD_POOL
from .score import DEGREES, VALIDITY, degree_weights

CASES = 10

FIRST_ROUND = 4  # cases of each cell in the first round of an adaptive run

# the column of RobTest's Table 3 that fits a perturbation
VALIDITY_OF = {
    "typo": "typo", "keyboard": "typo", "natural": "typo", "glyph": "glyph", "visual": "glyph", "homoglyph": "glyph",
    "phonetic": "phonetic",
}  # fmt: skip

SENTENCE_SITES = 12  # about how many places of a text sentence-level edits are proposed for


@dataclass(frozen=True)
class Protocol:
    """`cases` cases of every example at every degree, none changed by more than the degree (RobTest).

    width: an adaptive run, which adds cases in rounds until a cell's interval is narrower than this, at most `cases`. meaning:
    how the degree of sentence-level dimensions is measured, `chrf` or an encoder.
    """

    dimensions: tuple[str, ...] = tuple(COLUMNS)
    degrees: tuple[float, ...] = DEGREES
    cases: int = CASES
    seed: int = 0
    sides: tuple[int, ...] = (0,)
    protect: tuple[str, ...] = ()
    width: float | None = None
    beta: float = 0.5
    meaning: str = "chrf"
    at_once: int = 30_000  # cases of a block

    def __post_init__(self) -> None:
        """Raises ValueError for wrong settings, before the victim is asked anything."""
        specs = [dimension.name for dimension in self.parsed]
        for what, found in (("dimension", specs), ("degree", list(self.degrees))):
            if not found or len(set(found)) < len(found):
                raise ValueError(
                    f"expected each {what} once, and at least one, got {', '.join(map(str, found)) or 'none'}"
                )
        if not all(0 < degree <= 1 for degree in self.degrees):
            raise ValueError(f"expected degrees in (0, 1], got {', '.join(map(str, self.degrees))}")
        if not 1 <= self.cases < 1 << 20:
            raise ValueError(f"expected 1 or more cases, got {self.cases}")
        if self.width is not None and not 0 < self.width < 1:
            raise ValueError(f"expected a number in (0, 1) for width, got {self.width}")
        degree_weights(self.degrees, beta=self.beta)
        object.__setattr__(self, "degrees", tuple(sorted(self.degrees)))
        Protect(self.protect)

    @cached_property
    def parsed(self) -> tuple[Dimension, ...]:
        return tuple(map(Dimension.parse, self.dimensions))

    @property
    def needs(self) -> Access:
        """The access to the victim that all dimensions need; where rules alone choose the cases, saved answers are enough."""
        return max(dimension.needs for dimension in self.parsed)

    @property
    def cells(self) -> list[tuple[int, int]]:
        """All pairs of a dimension and a degree, by number."""
        return [(d, g) for d in range(len(self.dimensions)) for g in range(len(self.degrees))]

    @property
    def rounds(self) -> list[int]:
        """How many cases a cell has after each round."""
        if self.width is None:
            return [self.cases]
        out = [min(FIRST_ROUND, self.cases)]
        while out[-1] < self.cases:
            out.append(min(out[-1] * 2, self.cases))
        return out

    def validity(self, dimension: int) -> str | None:
        """The column of RobTest's Table 3 for a dimension, if one fits: general if its unit is words, malicious if characters."""
        found = self.parsed[dimension]
        name = VALIDITY_OF.get(found.perturbation.name)
        if found.measure == "level" or (name is None and found.perturbation.name not in VALIDITY):
            return None
        return f"{name}-{'m' if found.unit == 'characters' else 'g'}" if name else found.perturbation.name

    def queries(self, data: Dataset) -> int:
        """About how many queries a run needs at most: clean texts, every case of every cell, and what guided dimensions ask."""
        return len(data) * (1 + len(self.cells) * self.cases) + self.probes(data)

    def probes(self, data: Dataset) -> int:
        """The queries of guided dimensions beside their cases: each word hidden, and proposals for each word or letter."""
        guided = [dimension for dimension in self.parsed if dimension.access != "rule"]
        if not guided:
            return 0
        corpora = [Column.of(data.columns[side]).corpus for side in self.sides]
        words, letters = sum(len(corpus.words) for corpus in corpora), sum(corpus.codes.size for corpus in corpora)
        total = 0
        for dimension in guided:
            perturbation = dimension.ready(data.task == "tokens").perturbation
            sites = letters if dimension.measure == "edits" or perturbation.facts.unit == "characters" else words
            pools = len({perturbation.at(degree) for degree in self.degrees})  # some perturbations depend on it
            pool = LETTER_POOL if dimension.measure == "edits" else WORD_POOL
            total += pools * pool * (SENTENCE_SITES * len(data) if dimension.measure == "meaning" else sites)
        used = {dimension.access for dimension in guided}
        total += ("score" in used) * words + ("gradient" in used) * GRADIENT_STEPS * len(data) + len(data)
        return total * len(self.rounds)  # each round asks anew

    def blocks(self, examples: int, cells: int, cases: int) -> list[range]:
        """Cuts the examples into blocks of about `at_once` cases."""
        size = max(1, min(256, self.at_once // max(1, cells * cases)))
        return [range(at, min(at + size, examples)) for at in range(0, examples, size)]

    def usable(self, data: Dataset) -> None:
        """Raises ValueError if the protocol does not fit this data."""
        if any(not 0 <= side < len(data.columns) for side in self.sides) or not self.sides:
            raise ValueError(f"expected sides among the {len(data.columns)} columns of the data, got {self.sides}")
        joins = [d.spec for d in self.parsed if not d.perturbation.facts.keeps_tokens]
        if data.task == "tokens" and joins:
            raise ValueError(f"expected perturbations that keep each token for tagging data, got {', '.join(joins)}")

    def asdict(self) -> dict[str, Any]:
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
