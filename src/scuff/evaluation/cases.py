"""Samples cases: K perturbed versions of every example, distinct where possible, none farther away than the degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..data.dataset import Column, Text
from ..metrics.edit import edits_distance
from ..metrics.meaning import Distance
from ..perturbations.combine import Then
from ..perturbations.protect import Protect
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Bits, Floats, Ints, Mask, Ragged
from ..text.random import Rng, mix, text_bits
from .degrees import by_characters, by_meaning, most_units, ranked_by_chance, renumbered
from .dimensions import Dimension
from .guided import LETTER_POOL, WORD_POOL, Oracle, Pool, guided_sites


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases, one per row: the example, the random draw, the edits and texts of each column, and the measured degree.

    `reached` is the measured degree: the share of units (words, characters) changed, or the distance in meaning. `distance` is
    the edit distance divided by the length. `unfit` has one entry per example: its draws above the degree, which were discarded.
    """

    example: Ints
    draw: Ints
    edits: tuple[Edits | None, ...]
    columns: tuple[list[Text], ...]
    reached: npt.NDArray[np.float64]
    distance: npt.NDArray[np.float64]
    unfit: Ints

    def __len__(self) -> int:
        return self.example.size


MORE = 3  # at most so many draws are tried for each case that is wanted
PATIENCE = 10  # an example that none of its first so many draws changes counts as one that cannot change


def _number(example: Ints) -> Ints:
    """Returns 0, 1, 2, ... within each example. Rows of one example must be adjacent and examples in ascending order."""
    return np.arange(example.size) - np.searchsorted(example, example)


@dataclass(frozen=True, eq=False)
class Draws:
    """Random draws, one per row, among which cases are chosen. The rows of the edits are the rows of this table.

    A draw above the degree has `fits` False, no edits, and the hash of the unchanged text.
    """

    example: Ints
    draw: Ints
    text: Bits  # a hash of all columns
    reached: npt.NDArray[np.float64]
    fits: Mask
    edits: tuple[Edits | None, ...]
    after: tuple[Ragged, ...]  # the texts of each column

    def with_more(self, other: Draws) -> Draws:
        """Returns these draws followed by others."""
        both = (self, other)
        edits = tuple(
            None
            if first is None or second is None
            else Edits.join([first, replace(second, row=second.row + self.example.size)])
            for first, second in zip(self.edits, other.edits, strict=True)
        )
        join = np.concatenate
        return Draws(
            join([d.example for d in both]), join([d.draw for d in both]), join([d.text for d in both]),
            join([d.reached for d in both]), join([d.fits for d in both]), edits,
            tuple(Ragged.join(texts) for texts in zip(self.after, other.after, strict=True)),
        )  # fmt: skip

    def take(self, rows: Ints) -> Draws:
        """Returns the draws in these rows, in this order."""
        place = np.full(self.example.size, -1, np.int64)
        place[rows] = np.arange(rows.size)
        edits = tuple(None if e is None else renumbered(e, place) for e in self.edits)
        return Draws(
            self.example[rows], self.draw[rows], self.text[rows], self.reached[rows], self.fits[rows], edits,
            tuple(texts.take(rows) for texts in self.after),
        )  # fmt: skip

    def changed(self, clean: Bits) -> Mask:
        """Returns which draws differ from the clean text. clean: the hash of each example."""
        return self.text != clean[self.example]

    def distinct(self, clean: Bits, patience: int) -> tuple[Ints, Ints]:
        """Returns the rows of the distinct texts of each example, in the order of draws, and the case number of each.

        The unchanged text is a case only if the example has no other. Case number n may come from the first MORE * (n + 1)
        draws only, or the first `patience` if these are more. So it is the same however many cases are wanted in total.
        """
        order = np.lexsort((self.draw, self.example))
        changed = self.changed(clean)[order]
        early = order[changed & (self.draw[order] < patience)]
        able = np.bincount(self.example[early], minlength=clean.size) > 0
        order = order[changed == able[self.example[order]]]
        by_text = order[
            np.lexsort((self.text[order], self.example[order]))
        ]  # stable: the first draw of a text comes first
        same = (np.diff(self.text[by_text]) == 0) & (np.diff(self.example[by_text]) == 0)
        repeated = np.zeros(self.example.size, np.bool_)
        repeated[by_text[1:][same]] = True
        order = order[~repeated[order]]
        example, draw = self.example[order], self.draw[order]
        place = _number(example)
        late = np.where(draw < patience, 0, draw // MORE) - place
        apart = example << 32  # makes the running maximum start again at each example
        return order, place + np.maximum.accumulate(late + apart) - apart


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
    far: Distance | None = None,
    oracle: Oracle | None = None,
    rounding: str = "down",
    selection: str | None = None,
) -> Cases:
    """Returns cases number `first` to `cases` (exclusive) of each example.

    A case depends neither on `cases` nor on the other examples. sides: the columns that are perturbed. An example that cannot
    change within the degree has one case, its unchanged text. The measure `level` has no limit: there the first draw decides
    whether an example can change, so that its first case is what `scuff perturb` writes. far: measures distance in meaning,
    needed by dimensions with that measure. oracle: asks the victim, needed by guided dimensions. rounding: of the number of words
    or characters that the degree stands for, in each column. selection: how the measure `level` chooses words, if not as usual.
    """
    maker = _Maker(columns, sides, dimension, degree, seed, protect, far, oracle, rounding, selection)
    size = len(columns[0].corpus)
    tries, patience = (cases if degree else 1), (1 if dimension.measure == "level" or not degree else PATIENCE)
    draws = maker.draws(np.arange(size), np.arange(tries))
    chosen, number = draws.distinct(maker.clean, patience)
    changed = draws.changed(maker.clean)[chosen]
    able = np.bincount(draws.example[chosen[changed]], minlength=size) > 0
    few = np.bincount(draws.example[chosen[number < cases]], minlength=size) < cases
    few = np.where(able, few, tries < patience)
    if few.any():  # examples with too few distinct cases, or without a change in fewer draws than `patience`
        draws = draws.with_more(maker.draws(np.flatnonzero(few), np.arange(tries, max(tries * MORE, patience))))
        chosen, number = draws.distinct(maker.clean, patience)
    counted = ~draws.fits & (first <= draws.draw) & (draws.draw < cases)
    unfit = np.bincount(draws.example[counted], minlength=size)
    return maker.cases(draws.take(chosen[(first <= number) & (number < cases)]), unfit)


@dataclass(eq=False)
class Copies:
    """The texts of a column, a copy for each draw, with what the dimensions and degrees share: words, letters, proposals."""

    example: Ints
    draw: Ints
    corpus: Corpus
    strings: list[str]
    sites: tuple[Any, Edits, Ints] | None = None  # of the last dimension: what they depend on, edits, ranks

    @classmethod
    def of(cls, corpus: Corpus, example: Ints, draw: Ints) -> Copies:
        """Returns a copy of an example's text for each draw. Those of the first draws are kept: all cells have the same ones."""
        known = _copies.get(corpus)
        if known is not None and np.array_equal(known.example, example) and np.array_equal(known.draw, draw):
            return known
        new = cls(example, draw, corpus.take(example), copied(corpus, example))
        return new if known is not None else _copies.setdefault(corpus, new)


_copies: WeakKeyDictionary[Corpus, Copies] = WeakKeyDictionary()


def copied(corpus: Corpus, example: Ints) -> list[str]:
    """Returns the text of each of some examples, which may come several times."""
    texts = corpus.strings()
    return [texts[at] for at in example.tolist()]


class _Maker:
    """Draws versions of the examples of a block in one cell, and makes cases of those that were chosen."""

    def __init__(
        self, columns: Sequence[Column], sides: Sequence[int], dimension: Dimension, degree: float, seed: int,
        protect: Protect | None, far: Distance | None, oracle: Oracle | None, rounding: str, selection: str | None,
    ) -> None:  # fmt: skip
        self.columns = [
            _apart(columns[0], column) if at and len(sides) > 1 else column for at, column in enumerate(columns)
        ]
        self.sides, self.degree, self.seed, self.protect = sides, degree, seed, protect
        self.rounding, self.selection = rounding, selection
        self.dimension, self.far = dimension.ready(columns[0].tokens is not None), far
        self.clean = _hash([column.corpus for column in columns])
        perturbation, access = self.dimension.perturbation, self.dimension.access
        self.pools = None
        if access != "rule":
            assert oracle is not None, "a guided dimension needs a victim to guide it"
            k = LETTER_POOL if dimension.measure == "edits" else WORD_POOL
            self.pools = oracle.pools(perturbation, access, k, seed=seed, degree=degree, protect=protect)

    def draws(self, rows: Ints, numbers: Ints) -> Draws:
        """Returns the draws with these numbers of each of these examples."""
        example, draw = np.repeat(rows, numbers.size), np.tile(numbers, rows.size)
        measure = self.dimension.measure
        hit, units, most = (np.zeros(example.size, np.int64) for _ in range(3))
        reached = np.zeros(example.size)
        after: list[Corpus] = []
        all_edits: list[Edits | None] = []
        for at, column in enumerate(self.columns):
            copies = Copies.of(column.corpus, example, draw)
            corpus, edits = copies.corpus, None
            if at in self.sides:
                edits, far = self._edits(at, copies)
                if measure == "meaning":
                    reached = np.maximum(reached, 0.0 if far is None else far)
                elif measure == "edits":
                    hit += edits_distance(corpus, edits, copies.strings) if far is None else far.astype(np.int64)
                    units += corpus.lengths
                    most += most_units(corpus.lengths, self.degree, self.rounding)
                else:
                    spans = self.dimension.perturbation.units(corpus)
                    count = spans.per_row(example.size)
                    units += count
                    most += most_units(count, self.degree, self.rounding)
                    hit += np.bincount(spans.row[edits.touched(spans, corpus.offsets)], minlength=example.size)
                corpus = corpus.apply(edits)
            after.append(corpus)
            all_edits.append(edits)
        reached = reached if measure == "meaning" else hit / np.maximum(units, 1)
        fits = reached <= (np.inf if measure == "level" else self.degree + 1e-9)
        if self.rounding == "up" and measure in ("units", "edits"):
            fits = hit <= most
        text = np.where(fits, _hash(after), self.clean[example])
        edits_that_fit = tuple(None if edits is None else edits.where(fits[edits.row]) for edits in all_edits)
        if not fits.all():
            both = zip(self.columns, edits_that_fit, after, strict=True)
            after = [
                new if edits is None else Copies.of(column.corpus, example, draw).corpus.apply(edits)
                for column, edits, new in both
            ]
        return Draws(
            example, draw, text, np.where(fits, reached, 0.0), fits, edits_that_fit,
            tuple(Ragged(new.codes, new.offsets) for new in after),
        )  # fmt: skip

    def _edits(self, at: int, copies: Copies) -> tuple[Edits, Floats | Ints | None]:
        """Returns the edits of each draw in column `at`, and its distance in meaning or edit distance if that was measured."""
        perturbation, measure = self.dimension.perturbation, self.dimension.measure
        corpus, draw = copies.corpus, copies.draw
        if self.pools is not None:
            sites, rank = self._sites(copies, self.pools[at])
        elif measure == "level":
            return self._rules(corpus, draw, self.selection), None
        elif measure == "edits" and isinstance(perturbation, Then):
            return self._rules(corpus, draw, "edits"), None
        elif measure == "units" and self.rounding == "down":
            return self._rules(corpus, draw, "below"), None
        elif measure == "units" and perturbation.selection == "quota" and not isinstance(perturbation, Then):
            return self._rules(corpus, draw, "quota"), None  # which rounds up
        else:
            sites, rank = self._sites(copies)
        if measure == "meaning":
            assert self.far is not None, "the measure meaning needs a distance in meaning"
            chosen, far = by_meaning(corpus, sites, rank, self.degree, self.far)
            return self._settled(corpus, chosen, far)
        if measure == "edits":
            chosen, away = by_characters(corpus, sites, rank, self.degree, self.rounding, copies.strings)
            return (self.protect.settle(corpus, chosen), None) if self.protect else (chosen, away)
        most = most_units(perturbation.units(corpus).per_row(len(corpus)), self.degree, self.rounding)
        chosen = sites.where(rank < most[sites.row])
        return (self.protect.settle(corpus, chosen) if self.protect else chosen), None

    def _sites(self, copies: Copies, pool: Pool | None = None) -> tuple[Edits, Ints]:
        """Returns an edit for every site that can change, and the rank of each: chosen by what the victim answered, which is in
        the pool, or by chance. Degrees share them if the perturbation does not depend on the strength.
        """
        perturbation, corpus = self.dimension.perturbation, copies.corpus
        key = (perturbation.at(self.degree), self.dimension.access, self.seed, self.protect, pool)
        if copies.sites is None or copies.sites[0] != key or isinstance(perturbation, Then):
            rng = Rng.for_draws(corpus.keys, copies.draw, self.seed, perturbation.name, self.dimension.access)
            if pool is not None:
                whole = perturbation.facts.level == "sentence"
                copies.sites = key, *guided_sites(pool, corpus, copies.example, rng, whole=whole)
            else:
                sites = self._rules(corpus, copies.draw, "all")
                copies.sites = key, sites, ranked_by_chance(sites, rng.stream("order"))
        return copies.sites[1:]

    def _settled(self, corpus: Corpus, chosen: Edits, far: Floats) -> tuple[Edits, Floats | Ints | None]:
        """Drops the edits that harm protected text, and all other edits of such a draw, whose distance was not measured."""
        if not self.protect:
            return chosen, far
        kept = self.protect.settle(corpus, chosen)
        whole = np.bincount(kept.row, minlength=len(corpus)) == np.bincount(chosen.row, minlength=len(corpus))
        return kept.where(whole[kept.row]), np.where(whole, far, 0.0)

    def _rules(self, corpus: Corpus, draw: Ints, selection: str | None) -> Edits:
        """Returns edits that the perturbation chooses by itself, without asking the victim."""
        perturbation, protect = self.dimension.perturbation, self.protect
        edits = perturbation.edits(corpus, self.degree, seed=self.seed, draw=draw, selection=selection, protect=protect)
        return edits.in_order()

    def cases(self, chosen: Draws, unfit: Ints) -> Cases:
        """Returns the chosen draws as cases, with their texts and edit distances."""
        away, length = np.zeros(chosen.example.size, np.int64), np.zeros(chosen.example.size, np.int64)
        measured = self.dimension.measure == "edits"  # the degree that was reached is the distance
        columns: list[list[Text]] = []
        for column, edits, after in zip(self.columns, chosen.edits, chosen.after, strict=True):
            texts = after.strings()
            columns.append(list(texts) if column.tokens is None else column.take(chosen.example).texts(edits))
            if edits is not None and not measured:
                before = copied(column.corpus, chosen.example)
                away += edits_distance(column.corpus, edits, before, texts, chosen.example)
                length += column.corpus.lengths[chosen.example]
        share = chosen.reached if measured else away / np.maximum(length, 1)
        return Cases(chosen.example, chosen.draw, chosen.edits, tuple(columns), chosen.reached, share, unfit)


def _apart(first: Column, other: Column) -> Column:
    """Returns a second column in which a text that equals the first of its pair has a key, and so random draws, of its own."""
    corpus = other.corpus
    same = corpus.keys == first.corpus.keys
    if not same.any():
        return other
    keys = np.where(same, mix(corpus.keys + np.uint64(1)), corpus.keys)
    return replace(other, corpus=replace(corpus, keys=keys))


def _hash(texts: Sequence[Ragged]) -> Bits:
    """Returns one hash per row over all columns."""
    out = np.zeros(len(texts[0]), np.uint64)
    for ragged in texts:
        out = mix(out + np.uint64(1)) ^ text_bits(ragged)
    return out
