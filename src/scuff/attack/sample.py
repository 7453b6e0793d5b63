"""Random cases, the rule-based setting: K versions of every text, distinct where possible, none above the degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..metrics.edit import edit_distance
from ..perturb import Protect
from ..text import Corpus, Edits
from ..text.dataset import Text
from ..text.hash import mix, text_bits
from ..text.ragged import Bits, Ints, Mask, Ragged
from .cases import Cases, Column
from .dimension import Dimension

MORE = 3  # this many times as many versions are tried as cases are wanted
PATIENCE = 10  # a text that none of its first so many versions changes counts as one that cannot change


def sample_cases(
    columns: Sequence[Column],
    sides: Sequence[int],
    dimension: Dimension,
    degree: float,
    cases: int,
    *,
    first: int = 0,
    seed: int = 0,
    protect: Protect | None = None,
) -> Cases:
    """Cases number `first` to `cases` of each example: the same whatever `cases` is, and whatever other examples there are.

    `sides`: which columns are perturbed. A text that cannot change within the degree is a case of its own, once. A level is not
    a limit: there the first draw decides whether a text can change, so that one case is the same as `scuff perturb`.
    """
    maker = _Maker(columns, sides, dimension, degree, seed, protect)
    size = len(columns[0].corpus)
    tries, patience = (cases if degree else 1), (1 if dimension.measure == "level" or not degree else PATIENCE)
    found = maker.draws(np.arange(size), np.arange(tries))
    chosen, number = found.distinct(maker.clean, patience)
    changed = found.changed(maker.clean)[chosen]
    able = np.bincount(found.example[chosen[changed]], minlength=size) > 0
    few = np.bincount(found.example[chosen[number < cases]], minlength=size) < cases
    few = np.where(able, few, tries < patience)
    if few.any():  # texts that can change, but came out alike, or may change yet
        found = found.with_more(maker.draws(np.flatnonzero(few), np.arange(tries, max(tries * MORE, patience))))
        chosen, number = found.distinct(maker.clean, patience)
    unfit = np.bincount(found.example[~found.fits & (found.draw >= first)], minlength=size)
    return maker.cases(found.take(chosen[(first <= number) & (number < cases)]), unfit)


def _number(example: Ints) -> Ints:
    """0, 1, 2, ... within each example, for examples that are in order."""
    return np.arange(example.size) - np.searchsorted(example, example)


@dataclass(frozen=True, eq=False)
class _Draws:
    """Versions of texts before the cases among them are chosen; rows of the edits are numbers of versions.

    A version that did not fit was put back to the unchanged text.
    """

    example: Ints
    draw: Ints
    text: Bits  # a hash of all columns
    reached: npt.NDArray[np.float64]
    fits: Mask
    edits: tuple[Edits | None, ...]

    def with_more(self, other: _Draws) -> _Draws:
        both = (self, other)
        edits = tuple(
            None
            if mine is None or more is None
            else Edits.join([mine, replace(more, row=more.row + self.example.size)])
            for mine, more in zip(self.edits, other.edits, strict=True)
        )
        join = np.concatenate
        return _Draws(
            join([d.example for d in both]), join([d.draw for d in both]), join([d.text for d in both]),
            join([d.reached for d in both]), join([d.fits for d in both]), edits,
        )  # fmt: skip

    def take(self, rows: Ints) -> _Draws:
        """Some versions, in this order."""
        place = np.full(self.example.size, -1, np.int64)
        place[rows] = np.arange(rows.size)
        edits = tuple(None if e is None else _renumbered(e, place) for e in self.edits)
        return _Draws(
            self.example[rows], self.draw[rows], self.text[rows], self.reached[rows], self.fits[rows], edits
        )  # fmt: skip

    def changed(self, clean: Bits) -> Mask:
        return self.text != clean[self.example]

    def distinct(self, clean: Bits, patience: int) -> tuple[Ints, Ints]:
        """The different texts of each example in the order of draws, and which case each is.

        The unchanged text is a case only where there is no other. Case number n is looked for in the first MORE * (n + 1) draws,
        at least `patience`, so how many cases are wanted in the end does not matter for it.
        """
        order = np.lexsort((self.draw, self.example))
        changed = self.changed(clean)[order]
        early = order[changed & (self.draw[order] < patience)]
        able = np.bincount(self.example[early], minlength=clean.size) > 0
        order = order[changed == able[self.example[order]]]
        by_text = order[
            np.lexsort((self.text[order], self.example[order]))
        ]  # stable: the first draw of a text comes first
        again = (np.diff(self.text[by_text]) == 0) & (np.diff(self.example[by_text]) == 0)
        repeated = np.zeros(self.example.size, np.bool_)
        repeated[by_text[1:][again]] = True
        order = order[~repeated[order]]
        example, draw = self.example[order], self.draw[order]
        place = _number(example)
        late = np.where(draw < patience, 0, draw // MORE) - place
        apart = example << 32  # so that the running maximum begins anew with each example
        return order, place + np.maximum.accumulate(late + apart) - apart


def _renumbered(edits: Edits, place: Ints) -> Edits:
    kept = edits.where(place[edits.row] >= 0)
    return replace(kept, row=place[kept.row]).in_order()


class _Maker:
    def __init__(
        self, columns: Sequence[Column], sides: Sequence[int], dimension: Dimension, degree: float, seed: int,
        protect: Protect | None,
    ) -> None:  # fmt: skip
        self.columns, self.sides, self.degree, self.seed, self.protect = columns, sides, degree, seed, protect
        self.dimension = dimension.for_tokens() if columns[0].tokens is not None else dimension
        self.clean = _hash([column.corpus for column in columns])

    def draws(self, rows: Ints, numbers: Ints) -> _Draws:
        """Every draw of these numbers for each of these examples."""
        example, draw = np.repeat(rows, numbers.size), np.tile(numbers, rows.size)
        hit, units = np.zeros(example.size, np.int64), np.zeros(example.size, np.int64)
        after: list[Corpus] = []
        all_edits: list[Edits | None] = []
        for at, column in enumerate(self.columns):
            corpus = column.corpus.take(example)
            edits = None
            if at in self.sides:
                edits = self._edits(corpus, draw)
                if self.dimension.measure == "edits":
                    hit += edit_distance(corpus.strings(), corpus.apply(edits).strings())
                    units += corpus.lengths
                else:
                    spans = self.dimension.attack.units(corpus)
                    units += spans.per_row(example.size)
                    hit += np.bincount(spans.row[edits.touched(spans, corpus.offsets)], minlength=example.size)
                corpus = corpus.apply(edits)
            after.append(corpus)
            all_edits.append(edits)
        reached = hit / np.maximum(units, 1)
        fits = reached <= (np.inf if self.dimension.measure == "level" else self.degree + 1e-9)
        text = np.where(fits, _hash(after), self.clean[example])
        edits_that_fit = tuple(None if edits is None else edits.where(fits[edits.row]) for edits in all_edits)
        return _Draws(example, draw, text, np.where(fits, reached, 0.0), fits, edits_that_fit)

    def _edits(self, corpus: Corpus, draw: Ints) -> Edits:
        attack, selection = self.dimension.attack, self.dimension.selection
        return attack.edits(
            corpus, self.degree, seed=self.seed, draw=draw, selection=selection, protect=self.protect
        ).in_order()

    def cases(self, chosen: _Draws, unfit: Ints) -> Cases:
        away, length = np.zeros(chosen.example.size, np.int64), np.zeros(chosen.example.size, np.int64)
        columns: list[list[Text]] = []
        for column, edits in zip(self.columns, chosen.edits, strict=True):
            part = column.take(chosen.example)
            columns.append(part.texts(edits))
            if edits is not None:
                away += edit_distance(part.corpus.strings(), part.corpus.apply(edits).strings())
                length += part.corpus.lengths
        distance = away / np.maximum(length, 1)
        return Cases(chosen.example, chosen.draw, chosen.edits, tuple(columns), chosen.reached, distance, unfit)


def _hash(texts: Sequence[Ragged]) -> Bits:
    """One hash over all columns."""
    out = np.zeros(len(texts[0]), np.uint64)
    for ragged in texts:
        out = mix(out + np.uint64(1)) ^ text_bits(ragged)
    return out
