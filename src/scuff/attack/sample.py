"""K versions of every text, distinct where possible, none above the degree: by rules alone, or guided by the victim."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..neural.library import BadModel
from ..perturb import Protect, Then
from ..resources import MissingResource
from ..text import Corpus, Edits, Rng
from ..text.dataset import Text
from ..text.hash import mix, text_bits
from ..text.ragged import Bits, Floats, Ints, Ragged
from ..victims.base import NotEnoughAccess, StopRun
from .cases import Cases, Column
from .dimension import Dimension
from .draws import MORE, Draws
from .fill import Meaning, by_characters, by_meaning, distance, ranked_by_chance
from .guided import LETTER_POOL, WORD_POOL, guided_sites
from .oracle import Oracle

CANNOT_GO_ON = (StopRun, NotEnoughAccess, MissingResource, BadModel)  # no example is to blame
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
    far: Meaning | None = None,
    oracle: Oracle | None = None,
) -> Cases:
    """Cases number `first` to `cases` of each example: the same whatever `cases` is, and whatever other examples there are.

    `sides`: which columns are perturbed. A text that cannot change within the degree is a case of its own, once. A level is not
    a limit: there the first draw decides whether a text can change, so that one case is the same as `scuff perturb`. far: how
    meaning is measured, for dimensions of whole sentences. oracle: what the victim says, for guided ones.
    """
    maker = _Maker(columns, sides, dimension, degree, seed, protect, far, oracle)
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
        protect: Protect | None, far: Meaning | None, oracle: Oracle | None,
    ) -> None:  # fmt: skip
        self.columns, self.sides, self.degree, self.seed, self.protect = columns, sides, degree, seed, protect
        self.dimension, self.far = dimension.ready(columns[0].tokens is not None), far
        self.clean = _hash([column.corpus for column in columns])
        attack, setting = self.dimension.attack, self.dimension.setting
        self.pools = None
        if setting != "rule":
            assert oracle is not None, "a guided dimension needs a victim to guide it"
            k = LETTER_POOL if dimension.measure == "edits" else WORD_POOL
            self.pools = oracle.pools(attack, setting, k, seed=seed, degree=degree, protect=protect)

    def draws(self, rows: Ints, numbers: Ints) -> Draws:
        """Every draw of these numbers for each of these examples."""
        example, draw = np.repeat(rows, numbers.size), np.tile(numbers, rows.size)
        measure = self.dimension.measure
        hit, units, reached = np.zeros(example.size, np.int64), np.zeros(example.size, np.int64), np.zeros(example.size)
        after: list[Corpus] = []
        all_edits: list[Edits | None] = []
        for at, column in enumerate(self.columns):
            corpus = column.corpus.take(example)
            edits = None
            if at in self.sides:
                edits, far = self._edits(at, corpus, example, draw)
                if measure == "meaning":
                    reached = np.maximum(reached, far)
                elif measure == "edits":
                    hit += distance(corpus, edits)
                    units += corpus.lengths
                else:
                    spans = self.dimension.attack.units(corpus)
                    units += spans.per_row(example.size)
                    hit += np.bincount(spans.row[edits.touched(spans, corpus.offsets)], minlength=example.size)
                corpus = corpus.apply(edits)
            after.append(corpus)
            all_edits.append(edits)
        reached = reached if measure == "meaning" else hit / np.maximum(units, 1)
        fits = reached <= (np.inf if measure == "level" else self.degree + 1e-9)
        text = np.where(fits, _hash(after), self.clean[example])
        edits_that_fit = tuple(None if edits is None else edits.where(fits[edits.row]) for edits in all_edits)
        return Draws(example, draw, text, np.where(fits, reached, 0.0), fits, edits_that_fit)

    def _edits(self, at: int, corpus: Corpus, example: Ints, draw: Ints) -> tuple[Edits, Floats]:
        """The edits of each version, and for degrees of meaning how far they go."""
        attack, measure, nowhere = self.dimension.attack, self.dimension.measure, np.zeros(len(corpus))
        rng = Rng.for_draws(corpus.keys, draw, self.seed, attack.name, self.dimension.setting)
        if self.pools is not None and (pool := self.pools[at]) is not None:
            sites, rank = guided_sites(pool, corpus, example, rng, whole=attack.facts.level == "sentence")
        elif measure in ("units", "level") or (measure == "edits" and isinstance(attack, Then)):
            selection = {"units": "below", "edits": "edits"}.get(measure)
            return self._rules(corpus, draw, selection), nowhere
        else:
            sites = self._rules(corpus, draw, "all")
            rank = ranked_by_chance(sites, rng.stream("order"))
        if measure == "units":
            most = np.floor(attack.units(corpus).per_row(len(corpus)) * self.degree + 1e-9).astype(np.int64)
            chosen = sites.where(rank < most[sites.row])
        elif measure == "edits":
            chosen = by_characters(corpus, sites, rank, self.degree)
        else:
            assert self.far is not None, "a dimension of whole sentences needs a measure of meaning"
            chosen, far = by_meaning(corpus, sites, rank, self.degree, self.far)
            return self._settled(corpus, chosen, far)
        return (self.protect.settle(corpus, chosen) if self.protect else chosen), nowhere

    def _settled(self, corpus: Corpus, chosen: Edits, far: Floats) -> tuple[Edits, Floats]:
        """Versions in which something protected did not survive are given up: how far the rest goes is not known."""
        if not self.protect:
            return chosen, far
        kept = self.protect.settle(corpus, chosen)
        whole = np.bincount(kept.row, minlength=len(corpus)) == np.bincount(chosen.row, minlength=len(corpus))
        return kept.where(whole[kept.row]), np.where(whole, far, 0.0)

    def _rules(self, corpus: Corpus, draw: Ints, selection: str | None) -> Edits:
        attack, protect = self.dimension.attack, self.protect
        found = attack.edits(corpus, self.degree, seed=self.seed, draw=draw, selection=selection, protect=protect)
        return found.in_order()

    def cases(self, chosen: Draws, unfit: Ints) -> Cases:
        away, length = np.zeros(chosen.example.size, np.int64), np.zeros(chosen.example.size, np.int64)
        columns: list[list[Text]] = []
        for column, edits in zip(self.columns, chosen.edits, strict=True):
            part = column.take(chosen.example)
            columns.append(part.texts(edits))
            if edits is not None:
                away += distance(part.corpus, edits)
                length += part.corpus.lengths
        share = away / np.maximum(length, 1)
        return Cases(chosen.example, chosen.draw, chosen.edits, tuple(columns), chosen.reached, share, unfit)


def _hash(texts: Sequence[Ragged]) -> Bits:
    """One hash over all columns."""
    out = np.zeros(len(texts[0]), np.uint64)
    for ragged in texts:
        out = mix(out + np.uint64(1)) ^ text_bits(ragged)
    return out
