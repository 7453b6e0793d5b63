"""Perturbed copies of examples: how many each example gets, of which dimensions or parts of a mixture, and their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ..data.dataset import Column, Text
from ..evaluation.cases import sample_cases
from ..evaluation.dimensions import Dimension
from ..metrics.meaning import distance_in_meaning
from ..perturbations.base import Perturbation
from ..perturbations.plan import Plan
from ..perturbations.protect import Protect
from ..text.corpus import Corpus
from ..text.ragged import Bits, Floats, Ints
from ..text.random import Rng
from .mixtures import Mixture, example_keys, noise_names, rewritten


class Ranks(NamedTuple):
    """The ranks of some examples among all examples, and how many these are."""

    rank: Ints
    total: int


class Copy(NamedTuple):
    """A perturbed copy of an example, the dimension that made it, and the degree that it reached."""

    example: int
    texts: tuple[Text, ...]
    dimension: str
    degree: float


@dataclass(frozen=True)
class Copies:
    """Which copies examples get: `count` of each of a `share`, none above the degree; a count may be a fraction, on average.

    A copy has one dimension. Each example tries the dimensions in its own random order, the next one if one cannot change it.
    each: `count` copies by every dimension. The copies of an example depend on it and these fields, not on other examples.
    """

    dimensions: tuple[Dimension, ...]
    degree: float = 0.1
    count: float = 1
    share: float = 1
    each: bool = False
    sides: tuple[int, ...] = (0,)
    seed: int = 0
    protect: Protect | None = None
    meaning: str | None = None  # the encoder, or chrf, that measures the degree of sentence-level dimensions

    def __post_init__(self) -> None:
        specs = [dimension.spec for dimension in self.dimensions]
        if not specs or len(set(specs)) < len(specs):
            raise ValueError(f"expected each dimension once, and at least one, got {', '.join(specs) or 'none'}")
        for dimension in self.dimensions:
            if dimension.access != "rule":
                raise ValueError(f"expected a dimension that asks no model, got {dimension.spec}")
            if dimension.measure == "level":
                raise ValueError(
                    f"expected a dimension whose degree is a limit, got {dimension.spec}: `scuff perturb -l` follows levels"
                )
        if not 0 < self.degree <= 1:
            raise ValueError(f"expected a number in (0, 1] for degree, got {self.degree:g}")
        check_amount(self.count, self.share)

    def of(
        self, columns: Sequence[Sequence[Text]], ids: Sequence[str] | None = None, ranks: Ranks | None = None
    ) -> tuple[list[list[Copy]], Ints]:
        """Returns the copies of each example, all different from it and from each other, and how many were wanted.

        ids: an example's randomness depends on its id instead of its texts. ranks: shares are exact, and so are the parts of the
        examples that each dimension is tried on first.
        """
        keys = example_keys(columns, ids)
        parts = [_column(texts, ids, at if len(columns) > 1 else None) for at, texts in enumerate(columns)]
        original = list(zip(*columns, strict=True))
        order, wanted = self._order(keys, ranks), self._wanted(keys, ranks)
        found: list[list[Copy]] = [[] for _ in original]
        begin = np.zeros_like(wanted)
        limit = np.where(wanted > 0, wanted + (0 if self.each else len(self.dimensions)), 0)
        while True:
            have = np.fromiter(map(len, found), np.int64, len(found))
            upto = np.minimum(begin + wanted - have, limit)
            if (upto <= begin).all():
                return found, wanted
            for _, copy in sorted(self._tried(parts, order, begin, upto), key=itemgetter(0)):
                known = [original[copy.example], *(other.texts for other in found[copy.example])]
                if copy.texts not in known:
                    found[copy.example].append(copy)
            begin = np.maximum(begin, upto)

    @property
    def perturbations(self) -> list[Perturbation]:
        return [dimension.perturbation for dimension in self.dimensions]

    def _wanted(self, keys: Bits, ranks: Ranks | None) -> Ints:
        """Returns how many copies each example should get."""
        return wanted_copies(self.count, self.share, self.seed, keys, ranks) * (
            len(self.dimensions) if self.each else 1
        )

    def _order(self, keys: Bits, ranks: Ranks | None) -> Ints:
        """Returns the numbers of the dimensions in the order in which each example tries them: [example, place]."""
        size = len(self.dimensions)
        if self.each:
            return np.tile(np.arange(size), (keys.size, 1))
        names = [dimension.spec for dimension in self.dimensions]
        if ranks is not None:  # whatever order they are named in
            return np.argsort(names)[(ranks.rank[:, None] + np.arange(size)) % size]
        row = np.arange(keys.size)
        bits = [Rng.of(keys, self.seed, "augment", "order", name).bits(row, row * 0) for name in names]
        return np.argsort(np.stack(bits, axis=1), axis=1, kind="stable")

    def _tried(self, columns: list[Column], order: Ints, begin: Ints, upto: Ints) -> Iterator[tuple[int, Copy]]:
        """Yields the results of tries `begin` to `upto` of each example, with the number of the try.

        A round of tries takes the first case of each dimension, in the example's order; the next round the second cases.
        """
        size = len(self.dimensions)
        for place in range(size):
            first, last = -((place - begin) // size), -((place - upto) // size)  # cases of the dimension at this place
            rows = np.flatnonzero(last > first)
            wanted = np.stack([order[rows, place], first[rows], last[rows]], axis=1)
            for group in np.unique(wanted, axis=0):
                some = rows[(wanted == group).all(axis=1)]
                number, start, stop = group.tolist()
                yield from (
                    (case * size + place, copy) for case, copy in self._cases(columns, some, number, start, stop)
                )

    def _cases(
        self, columns: list[Column], rows: Ints, number: int, first: int, upto: int
    ) -> Iterator[tuple[int, Copy]]:
        """Yields cases `first` to `upto` of some examples by one dimension, with their numbers."""
        dimension = self.dimensions[number]
        made = sample_cases(
            [column.take(rows) for column in columns], self.sides, dimension, self.degree, upto, first=first,
            seed=self.seed, protect=self.protect,
            far=distance_in_meaning(self.meaning) if self.meaning and dimension.measure == "meaning" else None,
        )  # fmt: skip
        rank = np.arange(len(made)) - np.searchsorted(made.example, made.example)
        texts = zip(*made.columns, strict=True)
        example = rows[made.example].tolist()
        for case, at, new, reached in zip(rank.tolist(), example, texts, made.reached.tolist(), strict=True):
            yield first + case, Copy(at, new, dimension.name, reached)


@dataclass(frozen=True)
class DealtCopies:
    """Copies by a mixture: `count` of each of a `share` of the examples, in parts of exactly equal size.

    The further copies of an example are in the next parts, and have noise of their own. keep: copies are returned even if nothing
    in them changed, so that every part has its examples; else only those that differ from the example and from each other.
    """

    mixture: Mixture
    count: float = 1
    share: float = 1
    sides: tuple[int, ...] = (0,)
    seed: int = 0
    protect: Protect | None = None
    keep: bool = False
    measure: bool = False  # whether to measure the degree that was reached, which takes as long again

    def __post_init__(self) -> None:
        check_amount(self.count, self.share)

    def of(
        self, columns: Sequence[Sequence[Text]], ids: Sequence[str] | None = None, ranks: Ranks | None = None
    ) -> tuple[list[list[Copy]], Ints]:
        """Returns the copies of each example, and how many were wanted. Without ranks, parts are equal in expectation only."""
        keys = example_keys(columns, ids)
        wanted = wanted_copies(self.count, self.share, self.seed, keys, ranks)
        plans, labels = self.mixture.plans(self.seed, self.protect or Protect()), self.mixture.labels
        found: list[list[Copy]] = [[] for _ in keys]
        for turn in range(int(wanted.max(initial=0))):
            rows = np.flatnonzero(wanted > turn)
            if ranks is None:
                portion = self.mixture.by_chance(keys[rows], self.seed, turn)
            else:
                portion = self.mixture.spread(ranks.rank[rows], turn)
            some = [[column[row] for row in rows.tolist()] for column in columns]
            names = None if ids is None else [ids[row] for row in rows.tolist()]
            new = rewritten(some, portion, plans, ids=names, sides=self.sides, draw=turn)
            reached = self._reached(some, portion, plans, names, turn)
            rewrites = zip(rows.tolist(), zip(*new, strict=True), portion.tolist(), reached.tolist(), strict=True)
            for example, texts, part, degree in rewrites:
                copy = Copy(example, texts, labels[part], degree)
                known = [tuple(column[example] for column in columns), *(other.texts for other in found[example])]
                if self.keep or texts not in known:
                    found[example].append(copy)
        return found, wanted

    @property
    def perturbations(self) -> list[Perturbation]:
        return self.mixture.perturbations

    def _reached(
        self, columns: list[list[Text]], portion: Ints, plans: Sequence[Plan | None], ids: list[str] | None, turn: int
    ) -> Floats:
        """Returns the share of units (words, as a rule) that changed in each example; zeros if it is not to be measured."""
        hit, units = np.zeros(portion.size), np.zeros(portion.size)
        for number in np.unique(portion).tolist() if self.measure else ():
            plan, rows = plans[number], np.flatnonzero(portion == number)
            for side in self.sides if plan is not None else ():
                texts = [columns[side][row] for row in rows.tolist()]
                corpus = _column(texts, noise_names(columns, rows.tolist(), side, ids), None).corpus
                edits = plan.edits(corpus, slice(0, None), turn, None)
                spans = plan.perturbation.units(corpus)
                touched = spans.row[edits.touched(spans, corpus.offsets)]
                hit[rows] += np.bincount(touched, minlength=rows.size)
                units[rows] += spans.per_row(rows.size)
        return hit / np.maximum(units, 1)


def check_amount(count: float, share: float) -> None:
    """Raises ValueError for a wrong number of copies, or a wrong share of examples that get some."""
    if not 0 < share <= 1:
        raise ValueError(f"expected a number in (0, 1] for share, got {share:g}")
    if not 0 < count <= 1000:
        raise ValueError(f"expected more than 0 and at most 1000 copies of an example, got {count:g}")


def wanted_copies(count: float, share: float, seed: int, keys: Bits, ranks: Ranks | None) -> Ints:
    """Returns how many copies each example should get: by chance, or exactly, those of the first ranks."""
    if ranks is not None:
        sizes = np.array(most_copies(count, share, ranks.total), np.int64)
        return (ranks.rank[:, None] < sizes).sum(1)
    row, whole = np.arange(keys.size), int(count)
    rng = Rng.of(keys, seed, "augment")
    more = rng.stream("more").uniform(row, row * 0) < count - whole
    chosen = rng.stream("share").uniform(row, row * 0) < share
    return np.where(chosen, whole + more, 0)


def most_copies(count: float, share: float, total: int) -> list[int]:
    """Returns how many of all examples get a first copy, a second, and so on, where shares are exact: rounded to the nearest."""
    whole, rest = int(count), count - int(count)
    return [round(share * total)] * whole + ([round(share * rest * total)] if rest else [])


def _column(texts: Sequence[Text], ids: Sequence[str] | None, side: int | None) -> Column:
    """Returns a column of texts. The side is part of the id, so that the two texts of a pair are perturbed differently."""
    names = ids if ids is None or side is None else [f"{side}:{name}" for name in ids]
    if texts and isinstance(texts[0], tuple):
        return Column(*Corpus.of_tokens([list(tokens) for tokens in texts], ids=names))
    return Column(Corpus.of([str(text) for text in texts], ids=names))
