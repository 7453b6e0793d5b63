"""Perturbed copies of examples: how many each example gets, of which dimensions, and their texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ..data.dataset import Column, Text
from ..evaluation.cases import sample_cases
from ..evaluation.dimensions import Dimension
from ..metrics.meaning import distance_in_meaning
from ..perturbations.protect import Protect
from ..text.corpus import Corpus
from ..text.ragged import Bits, Ints
from ..text.random import Rng


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
        for name, value in (("degree", self.degree), ("share", self.share)):
            if not 0 < value <= 1:
                raise ValueError(f"expected a number in (0, 1] for {name}, got {value:g}")
        if not 0 < self.count <= 1000:
            raise ValueError(f"expected more than 0 and at most 1000 copies of an example, got {self.count:g}")

    def of(self, columns: Sequence[Sequence[Text]], ids: Sequence[str] | None = None) -> tuple[list[list[Copy]], Ints]:
        """Returns the copies of each example, all different from it and from each other, and how many were wanted.

        ids: an example's randomness depends on its id instead of its texts.
        """
        names = ids if ids is not None else [json.dumps(texts) for texts in zip(*columns, strict=True)]
        keys = Corpus.of(names).keys
        parts = [_column(texts, ids, at if len(columns) > 1 else None) for at, texts in enumerate(columns)]
        original = list(zip(*columns, strict=True))
        order, wanted = self._order(keys), self._wanted(keys)
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

    def _wanted(self, keys: Bits) -> Ints:
        """Returns how many copies each example should get."""
        row = np.arange(keys.size)
        rng = Rng.of(keys, self.seed, "augment")
        whole = int(self.count)
        more = rng.stream("more").uniform(row, row * 0) < self.count - whole
        chosen = rng.stream("share").uniform(row, row * 0) < self.share
        return np.where(chosen, whole + more, 0) * (len(self.dimensions) if self.each else 1)

    def _order(self, keys: Bits) -> Ints:
        """Returns the numbers of the dimensions in the order in which each example tries them: [example, place]."""
        if self.each:
            return np.tile(np.arange(len(self.dimensions)), (keys.size, 1))
        row = np.arange(keys.size)
        names = [dimension.spec for dimension in self.dimensions]
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


def _column(texts: Sequence[Text], ids: Sequence[str] | None, side: int | None) -> Column:
    """Returns a column of texts. The side is part of the id, so that the two texts of a pair are perturbed differently."""
    names = ids if ids is None or side is None else [f"{side}:{name}" for name in ids]
    if texts and isinstance(texts[0], tuple):
        return Column(*Corpus.of_tokens([list(tokens) for tokens in texts], ids=names))
    return Column(Corpus.of([str(text) for text in texts], ids=names))
