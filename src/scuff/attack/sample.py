"""Random cases, the rule-based setting: K versions of every text, distinct where possible, none above the degree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..metrics.edit import edit_distance
from ..perturb import Protect
from ..text import Corpus, Edits
from ..text.dataset import Text
from ..text.hash import mix, text_bits
from ..text.ragged import Bits, Ints, Ragged
from .cases import Cases, Column
from .dimension import Dimension
from .draws import MORE, Draws

LONG = 5000  # characters; the time that a distance takes grows with the square
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
    counted = ~found.fits & (first <= found.draw) & (found.draw < cases)
    unfit = np.bincount(found.example[counted], minlength=size)
    return maker.cases(found.take(chosen[(first <= number) & (number < cases)]), unfit)


class _Maker:
    def __init__(
        self, columns: Sequence[Column], sides: Sequence[int], dimension: Dimension, degree: float, seed: int,
        protect: Protect | None,
    ) -> None:  # fmt: skip
        self.columns, self.sides, self.degree, self.seed, self.protect = columns, sides, degree, seed, protect
        self.dimension = dimension.for_tokens() if columns[0].tokens is not None else dimension
        self.clean = _hash([column.corpus for column in columns])

    def draws(self, rows: Ints, numbers: Ints) -> Draws:
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
                    hit += _distance(corpus, edits)
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
        return Draws(example, draw, text, np.where(fits, reached, 0.0), fits, edits_that_fit)

    def _edits(self, corpus: Corpus, draw: Ints) -> Edits:
        attack, selection = self.dimension.attack, self.dimension.selection
        return attack.edits(
            corpus, self.degree, seed=self.seed, draw=draw, selection=selection, protect=self.protect
        ).in_order()

    def cases(self, chosen: Draws, unfit: Ints) -> Cases:
        away, length = np.zeros(chosen.example.size, np.int64), np.zeros(chosen.example.size, np.int64)
        columns: list[list[Text]] = []
        for column, edits in zip(self.columns, chosen.edits, strict=True):
            part = column.take(chosen.example)
            columns.append(part.texts(edits))
            if edits is not None:
                away += _distance(part.corpus, edits)
                length += part.corpus.lengths
        distance = away / np.maximum(length, 1)
        return Cases(chosen.example, chosen.draw, chosen.edits, tuple(columns), chosen.reached, distance, unfit)


def _distance(corpus: Corpus, edits: Edits) -> Ints:
    """How far edits take each text. Of a very long one only the edits are measured: together they are never nearer."""
    before, after = corpus.strings(), corpus.apply(edits).strings()
    long = corpus.lengths > LONG
    if not long.any():
        return edit_distance(before, after)
    short = np.flatnonzero(~long).tolist()
    out = np.zeros(long.size, np.int64)
    out[short] = edit_distance([before[at] for at in short], [after[at] for at in short])
    some = edits.where(long[edits.row])
    old, new = corpus.cut(some.spans(corpus.offsets)).strings(), some.text.strings()
    return out + np.bincount(some.row, edit_distance(old, new), long.size).astype(np.int64)


def _hash(texts: Sequence[Ragged]) -> Bits:
    """One hash over all columns."""
    out = np.zeros(len(texts[0]), np.uint64)
    for ragged in texts:
        out = mix(out + np.uint64(1)) ^ text_bits(ragged)
    return out
