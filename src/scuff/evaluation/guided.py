"""Cases guided by the victim: what hiding each word and each single edit does to its score, and the best edits first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..data.dataset import Column, Text
from ..perturbations.base import Perturbation
from ..perturbations.protect import Protect
from ..runs.trials import Ask, Saliency
from ..text.corpus import Corpus
from ..text.edits import Edits, choose
from ..text.ragged import Floats, Ints, Ragged, bounds, spread
from ..text.random import Rng
from ..victims.base import Outputs
from .degrees import ranked
from .dimensions import AccessName

PART = 10_000_000  # characters that are asked about at once

DIGITS = 3  # of a score: what a victim says in another batch may differ in the last ones, and must not change a choice


@dataclass(frozen=True, eq=False)
class Pool:
    """Proposals for one column, in order of row and site: what each takes off the victim's score when it stands alone, and
    how much the words that it touches matter.
    """

    edits: Edits
    gain: Floats
    importance: Floats


@dataclass(eq=False)
class Oracle:
    """Answers about a block of examples. Each thing is asked once, whatever dimensions and degrees want to know it.

    margin(outputs, examples): how sure the victim is of the right answer. weights: of the labels, per example, for gradients.
    mask: what stands for a hidden word; "" leaves it out.
    """

    columns: Sequence[Column]
    sides: Sequence[int]
    ask: Ask
    margin: Callable[[Outputs, Ints], Floats]
    mask: str = ""
    saliency: Saliency | None = None
    weights: Floats | None = None
    _pools: dict[Any, tuple[Pool | None, ...]] = field(default_factory=dict)
    _importance: dict[tuple[AccessName, int], Floats] = field(default_factory=dict)

    def take(self, rows: Ints) -> Oracle:
        """The same about some of the examples."""
        weights = None if self.weights is None else self.weights[rows]
        columns = [column.take(rows) for column in self.columns]
        return Oracle(
            columns, self.sides, self.ask, lambda outputs, at: self.margin(outputs, rows[at]), self.mask, self.saliency, weights
        )  # fmt: skip

    @cached_property
    def clean(self) -> Floats:
        rows = np.arange(len(self.columns[0].corpus))
        return self.margin(self.ask(*(column.texts() for column in self.columns)), rows)

    def importance(self, access: AccessName, side: int) -> Floats:
        """How much each word of a column matters: what hiding it takes off the score, or its integrated gradient."""
        if (access, side) not in self._importance:
            find = self._by_gradient if access == "gradient" else self._by_hiding
            self._importance[access, side] = np.round(find(side), DIGITS)
        return self._importance[access, side]

    def pools(
        self,
        perturbation: Perturbation,
        access: AccessName,
        k: int,
        *,
        seed: int,
        degree: float,
        protect: Protect | None,
    ) -> tuple[Pool | None, ...]:
        """Up to k proposals for each site of each column. An attack that does not depend on the degree is asked about once."""
        key = (perturbation.at(degree), access, k, seed)
        if key not in self._pools:
            self._pools[key] = tuple(
                self._pool(perturbation, access, at, k, seed, degree, protect) if at in self.sides else None
                for at in range(len(self.columns))
            )
        return self._pools[key]

    def _pool(
        self, perturbation: Perturbation, access: AccessName, side: int, k: int, seed: int, degree: float, protect: Protect | None
    ) -> Pool:  # fmt: skip
        corpus = self.columns[side].corpus
        edits = perturbation.proposals(corpus, degree, seed=seed, k=k, protect=protect)
        edits = edits.where(np.lexsort((edits.site, edits.row)))
        words, importance = corpus.words, self.importance(access, side)
        # an edit of several words, or between two, matters as much as the most important of them
        spans, edges = edits.spans(corpus.offsets), np.searchsorted(words.row, np.arange(len(corpus) + 1))
        beside = ((edits.start == edits.stop) | (edits.text.lengths == 0)).astype(np.int64)
        first = np.maximum(np.searchsorted(words.stop, spans.start - beside, "right"), edges[edits.row])
        last = np.minimum(np.searchsorted(words.start, spans.stop + beside, "left"), edges[edits.row + 1])
        inside = last > first
        most = np.zeros(len(edits))
        if inside.any():
            edges = np.stack((first[inside], last[inside]), 1).ravel()
            most[inside] = np.maximum.reduceat(np.append(importance, -np.inf), edges)[::2]
        return Pool(edits, self.gain(side, edits), most)

    def gain(self, side: int, edits: Edits) -> Floats:
        """What each edit by itself takes off the score; 0 where the victim gives no answer."""
        corpus = self.columns[side].corpus
        size = corpus.lengths[edits.row] + edits.text.lengths
        parts = np.split(np.arange(len(edits)), np.flatnonzero(np.diff(np.cumsum(size) // PART)) + 1)
        out = [self._gain(side, edits.where(part)) for part in parts if part.size]
        return np.round(np.concatenate([np.empty(0), *out]), DIGITS)

    def _gain(self, side: int, edits: Edits) -> Floats:
        rows = edits.row
        alone = Edits(np.arange(len(edits)), edits.start, edits.stop, edits.text, edits.site, edits.cost)
        texts: list[list[Text]] = [
            column.take(rows).texts(alone if at == side else None) for at, column in enumerate(self.columns)
        ]
        found = self.clean[rows] - self.margin(self.ask(*texts), rows)
        return np.nan_to_num(found, nan=0.0)

    def _by_hiding(self, side: int) -> Floats:
        corpus = self.columns[side].corpus
        words = corpus.words
        row, start = corpus.place(words.row, words.start)
        mask = Ragged.of([self.mask]).take(np.zeros(len(words), np.int64))
        return self.gain(side, Edits(row, start, start + words.stop - words.start, mask, start, np.ones_like(row)))

    def _by_gradient(self, side: int) -> Floats:
        assert self.saliency is not None and self.weights is not None, (
            "a victim without gradients is not asked for them"
        )
        corpus = self.columns[side].corpus
        _, start = corpus.place(corpus.words.row, corpus.words.start)
        spans = list(zip(start.tolist(), (start + corpus.words.stop - corpus.words.start).tolist(), strict=True))
        edges = bounds(corpus.words.per_row(len(corpus))).tolist()
        words = [spans[edges[at] : edges[at + 1]] for at in range(len(corpus))]
        texts = (column.texts() for column in self.columns)
        found = self.saliency(*texts, side=side, words=words, weights=self.weights)
        return np.concatenate([np.empty(0), *found])


TRIES = 4  # proposals that a version looks at for each site; which ones is drawn, so that versions differ

WORD_POOL, LETTER_POOL = 8, 3  # proposals for each site that are asked about: of a word, of a single letter


def guided_sites(pool: Pool, corpus: Corpus, example: Ints, rng: Rng, *, whole: bool) -> tuple[Edits, Ints]:
    """For every version one edit per site, the best of those it looks at, and the order in which they should be applied.

    corpus and rng are of the versions, `example` says of which example each is. Sites where even the best raises the score are
    left alone, those where nothing is known come last. whole: edits of whole sentences, where words do not say what matters.
    """
    edits = pool.edits
    first = np.flatnonzero((np.diff(edits.row, prepend=-1) != 0) | (np.diff(edits.site, prepend=-1) != 0))
    count = np.diff(np.append(first, len(edits)))
    edges = np.searchsorted(edits.row[first], np.arange(int(example.max(initial=-1)) + 2))
    each = np.diff(edges)[example]  # sites of each version
    site, version = spread(edges[:-1][example], each), np.repeat(np.arange(example.size), each)
    if not site.size:
        return edits.where(np.empty(0, np.int64)), site
    place = edits.site[first[site]]
    best = np.zeros(0, np.int64)
    for turn in range(TRIES):
        seen = first[site] + rng.stream("look", turn).below(count[site], version, place)
        best = seen if not turn else np.where(pool.gain[seen] > pool.gain[best], seen, best)
    helps = pool.gain[best] >= 0
    best, version, place = best[helps], version[helps], place[helps]
    gain = pool.gain[best]
    matters = gain if whole else pool.importance[best]
    chance = rng.stream("tie").bits(version, place)
    rank = ranked(version, chance, -matters, gain == 0)
    chosen = edits.where(best)
    mine = Edits(version, chosen.start, chosen.stop, chosen.text, chosen.site, chosen.cost)
    order = np.lexsort((mine.stop, mine.start, mine.row))
    return _without_overlaps(mine.where(order), rank[order], rng)


def _without_overlaps(edits: Edits, rank: Ints, rng: Rng) -> tuple[Edits, Ints]:
    """Of edits that overlap the one that goes first stays."""
    first = rank.astype(np.uint64) << np.uint64(40)  # as high as random bits are
    kept = choose(edits.candidates(first), None, rng, "sites", None)
    return edits.where(kept), ranked(edits.row[kept], rank[kept])
