"""The protocol of an evaluation: dimensions, degrees, number of cases, and all else that decides the cases of an example."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from ..data.dataset import Column, Dataset
from ..perturbations.protect import Protect
from ..runs.schema import JudgedWeights
from ..text.ragged import Floats
from ..victims.base import GRADIENT_STEPS, Access
from .dimensions import COLUMNS, Dimension
from .guided import LETTER_POOL, WORD_POOL
from .score import DEGREES, VALIDITY, degree_weights

CASES = 10  # of each example in each cell, by default
FIRST_ROUND = 4  # cases of each example in each cell in the first round of an adaptive run

# perturbation: the column of RobTest's Table 3 that it belongs to, without -m or -g
VALIDITY_OF = {
    "typo": "typo", "keyboard": "typo", "natural": "typo", "glyph": "glyph", "visual": "glyph", "homoglyph": "glyph",
    "phonetic": "phonetic",
}  # fmt: skip

Rounding = Literal["down", "up"]
ROUNDING: tuple[Rounding, ...] = get_args(Rounding)
# options that came later
SINCE: dict[str, Any] = {"rounding": "down", "selections": (), "final_from_zero": False, "judged": None}

MOST_EXAMPLES = 256  # of a block
SENTENCE_SITES = 12  # sites of a text with sentence-level proposals, estimated


@dataclass(frozen=True)
class Protocol:
    """What an evaluation tries: `cases` cases of every example at every degree, none farther away than the degree (RobTest).

    width: makes the run adaptive: it adds cases in rounds until a cell's interval is narrower than this, or until `cases`.
    meaning: what measures the degree of sentence-level dimensions, `chrf` or an encoder. at_once: queries of a block, about, if
    `all_queries`; else (runs of older versions) its cases, whatever queries guide them. rounding: of the number of words or
    characters that a degree stands for: down, or up as RobTest's code. selections: for each dimension how a degree that is a
    strength (`@level`) chooses words, None for the usual way; () if all do. final_from_zero: the final score begins at 0, as in
    RobTest's tables. judged: shares of valid cases that raters found, which take the place of RobTest's Table 3.
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
    at_once: int = 30_000
    all_queries: bool = False
    rounding: Rounding = "down"
    selections: tuple[str | None, ...] = ()
    final_from_zero: bool = False
    judged: JudgedWeights | None = None

    def __post_init__(self) -> None:
        """Sorts the degrees. Raises ValueError for values that no protocol can have, before the victim is asked anything."""
        names = [dimension.name for dimension in self.parsed]
        for what, values in (("dimension", names), ("degree", list(self.degrees))):
            if not values or len(set(values)) < len(values):
                raise ValueError(
                    f"expected each {what} once, and at least one, got {', '.join(map(str, values)) or 'none'}"
                )
        if not all(0 < degree <= 1 for degree in self.degrees):
            raise ValueError(f"expected degrees in (0, 1], got {', '.join(map(str, self.degrees))}")
        if not 1 <= self.cases < 1 << 20:
            raise ValueError(f"expected 1 or more cases, got {self.cases}")
        if self.width is not None and not 0 < self.width < 1:
            raise ValueError(f"expected a number in (0, 1) for width, got {self.width}")
        if self.rounding not in ROUNDING:
            raise ValueError(f"expected {' or '.join(ROUNDING)} for rounding, got {self.rounding!r}")
        if self.selections and len(self.selections) != len(self.dimensions):
            raise ValueError(
                f"expected a selection per dimension, got {len(self.selections)} for {len(self.dimensions)}"
            )
        degree_weights(self.degrees, beta=self.beta)
        object.__setattr__(self, "degrees", tuple(sorted(self.degrees)))
        Protect(self.protect)

    @cached_property
    def parsed(self) -> tuple[Dimension, ...]:
        return tuple(map(Dimension.parse, self.dimensions))

    @property
    def needs(self) -> Access:
        """The access that the victim must give for all dimensions; BLIND, saved answers, is enough for the access `rule`."""
        return max(dimension.needs for dimension in self.parsed)

    @property
    def cells(self) -> list[tuple[int, int]]:
        """All pairs of the number of a dimension and the number of a degree."""
        return [(d, g) for d in range(len(self.dimensions)) for g in range(len(self.degrees))]

    @property
    def rounds(self) -> list[int]:
        """How many cases each example has in a cell after each round."""
        if self.width is None:
            return [self.cases]
        out = [min(FIRST_ROUND, self.cases)]
        while out[-1] < self.cases:
            out.append(min(out[-1] * 2, self.cases))
        return out

    def validity(self, dimension: int) -> str | None:
        """Returns the column of RobTest's Table 3 for a dimension, by number; None if none fits.

        The column is the malicious one if the degree is a share of the characters, else the general one.
        """
        parsed = self.parsed[dimension]
        name = VALIDITY_OF.get(parsed.perturbation.name)
        if parsed.measure == "level" or (name is None and parsed.perturbation.name not in VALIDITY):
            return None
        return f"{name}-{'m' if parsed.unit == 'characters' else 'g'}" if name else parsed.perturbation.name

    def queries(self, data: Dataset) -> int:
        """Returns an estimate of the most queries that a run needs: clean texts, all cases of all cells, and `probes`."""
        return len(data) * (1 + len(self.cells) * self.cases) + round(self.probes(data).sum()) * len(self.rounds)

    def probes(self, data: Dataset) -> Floats:
        """Estimates, for each example, the queries of guided dimensions beside their cases in one round: each word hidden, and
        all proposals for each site. Answers are not kept from round to round.
        """
        guided = [dimension for dimension in self.parsed if dimension.access != "rule"]
        total = np.zeros(len(data))
        if not guided:
            return total
        corpora = [Column.of(data.columns[side]).corpus for side in self.sides]
        words = sum(corpus.words.per_row(len(corpus)) for corpus in corpora)
        letters = sum(corpus.lengths for corpus in corpora)
        for dimension in guided:
            perturbation = dimension.ready(data.task == "tokens").perturbation
            sites = letters if dimension.measure == "edits" or perturbation.facts.unit == "characters" else words
            pools = len({perturbation.at(degree) for degree in self.degrees})  # some depend on the strength
            pool = LETTER_POOL if dimension.measure == "edits" else WORD_POOL
            total += pools * pool * (SENTENCE_SITES if dimension.measure == "meaning" else sites)
        used = {dimension.access for dimension in guided}
        return total + ("score" in used) * words + ("gradient" in used) * GRADIENT_STEPS + 1

    def blocks(self, data: Dataset, cells: int, cases: int) -> list[tuple[range, float]]:
        """Returns the ranges of examples that make blocks of about `at_once` queries, at most 256 examples each, and the queries
        that each block needs at most.
        """
        each = cells * cases + self.probes(data)
        size = each if self.all_queries else np.full(len(data), cells * cases)
        out, at = [], 0
        total = np.append(0.0, np.cumsum(size))
        while at < len(data):
            fits = int(np.searchsorted(total, total[at] + self.at_once, "right")) - 1
            end = min(max(fits, at + 1), at + MOST_EXAMPLES, len(data))
            out.append((range(at, end), float(each[at:end].sum())))
            at = end
        return out

    def usable(self, data: Dataset) -> None:
        """Raises ValueError if the protocol does not fit this data."""
        if any(not 0 <= side < len(data.columns) for side in self.sides) or not self.sides:
            raise ValueError(f"expected sides among the {len(data.columns)} columns of the data, got {self.sides}")
        joins = [d.spec for d in self.parsed if not d.perturbation.facts.keeps_tokens]
        if data.task == "tokens" and joins:
            raise ValueError(f"expected perturbations that keep each token for tagging data, got {', '.join(joins)}")

    def asdict(self) -> dict[str, Any]:
        """Returns the fields by name, tuples as lists: what run.json and summary.json hold.

        Options that older versions do not have are left out where they are at their default, so that such runs keep their key.
        """
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
            if not (key in SINCE and value == SINCE[key])
        }
