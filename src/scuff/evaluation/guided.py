"""Chooses edits by the victim's scores or gradients: asks how important each word is and what each single edit does."""

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
from ..text.reading import Reading
from ..victims.base import Outputs
from .degrees import ranked
from .dimensions import AccessName

PART = 10_000_000  # characters in one call of `ask`
DIGITS = 3  # that scores are rounded to: later digits may differ from batch to batch, and must not change a choice


@dataclass(frozen=True, eq=False)
class Pool:
    """Proposed edits for one column, in order of row and site.

    gain: by how much each edit alone lowers the victim's margin. importance: of the most important word that it touches.
    """

    edits: Edits
    gain: Floats
    importance: Floats


@dataclass(eq=False)
class Oracle:
    """Asks the victim about words and edits of a block of examples. Answers are kept and shared by dimensions and degrees.

    margin(outputs, examples): returns how sure the victim is of the right answer. weights: of the labels, per example, for
    gradients. mask: stands for a hidden word; "" deletes the word. reads: how many words of a text the victim reads at most;
    None: all.
    """

    columns: Sequence[Column]
    sides: Sequence[int]
    ask: Ask
    margin: Callable[[Outputs, Ints], Floats]
    mask: str = ""
    saliency: Saliency | None = None
    weights: Floats | None = None
    reads: int | None = None
    _pools: dict[Any, tuple[Pool | None, ...]] = field(default_factory=dict)
    _importance: dict[tuple[AccessName, int], Floats] = field(default_factory=dict)

    def take(self, rows: Ints) -> Oracle:
        """Returns an oracle for the examples with these numbers; it asks anew."""
        weights = None if self.weights is None else self.weights[rows]
        columns = [column.take(rows) for column in self.columns]
        return Oracle(
            columns, self.sides, self.ask, lambda outputs, at: self.margin(outputs, rows[at]), self.mask, self.saliency, weights,
            self.reads,
        )  # fmt: skip

    @cached_property
    def clean(self) -> Floats:
        """The margin of each example's clean text."""
        rows = np.arange(len(self.columns[0].corpus))
        return self.margin(self.ask(*(column.texts() for column in self.columns)), rows)

    def importance(self, access: AccessName, side: int) -> Floats:
        """Returns how important each word of a column is: by how much hiding it lowers the margin, or its integrated gradient."""
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
        """Returns a pool per column with up to k proposals for each site; None for columns that are not perturbed.

        Degrees share the pools of a perturbation that does not depend on the strength.
        """
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
        # an edit of several words, or between two, is as important as the most important of them
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
        """Returns by how much each edit alone lowers the margin; 0 where the victim gives no answer."""
        read = self._read
        if read is None:
            return self._gain(self.columns, side, edits)
        # what is behind the last word that the victim reads cannot matter; of the rest it is given as much as it reads
        spare, hit = read.most, read.hit(edits)
        shown = np.flatnonzero(edits.start <= read.end(edits.row))
        short = (hit[shown] <= spare) & (edits.stop[shown] <= read.end(edits.row[shown], spare))
        short &= read.long[edits.row[shown]]
        out = np.zeros(len(edits))
        out[shown[~short]] = self._gain(self.columns, side, edits.where(shown[~short]))
        cut = read.cut(self.columns[side].corpus, spare)
        column = Column(Corpus(cut.codes, cut.offsets, self.columns[side].corpus.keys))
        out[shown[short]] = self._gain([column], side, edits.where(shown[short]))
        return out

    @cached_property
    def _read(self) -> Reading | None:
        """How far the victim reads, if there are single texts that it does not read to the end."""
        if self.reads is None or len(self.columns) > 1 or self.columns[0].tokens is not None:
            return None
        found = Reading.of(self.columns[0].corpus, self.reads)
        return found if found.long.any() else None

    def _gain(self, columns: Sequence[Column], side: int, edits: Edits) -> Floats:
        """The same by asking about every edit, so many at once that their texts fit into memory."""
        size = columns[side].corpus.lengths[edits.row] + edits.text.lengths
        parts = np.split(np.arange(len(edits)), np.flatnonzero(np.diff(np.cumsum(size) // PART)) + 1)
        out = [self._lost(columns, side, edits.where(part)) for part in parts if part.size]
        return np.round(np.concatenate([np.empty(0), *out]), DIGITS)

    def _lost(self, columns: Sequence[Column], side: int, edits: Edits) -> Floats:
        rows = edits.row
        alone = Edits(np.arange(len(edits)), edits.start, edits.stop, edits.text, edits.site, edits.cost)
        texts: list[list[Text]] = [
            column.take(rows).texts(alone if at == side else None) for at, column in enumerate(columns)
        ]
        lost = self.clean[rows] - self.margin(self.ask(*texts), rows)
        return np.nan_to_num(lost, nan=0.0)

    def _by_hiding(self, side: int) -> Floats:
        corpus = self.columns[side].corpus
        words = corpus.words
        row, start = corpus.place(words.row, words.start)
        mask = Ragged.of([self.mask]).take(np.zeros(len(words), np.int64))
        return self.gain(side, Edits(row, start, start + words.stop - words.start, mask, start, np.ones_like(row)))

    def _by_gradient(self, side: int) -> Floats:
        assert self.saliency is not None and self.weights is not None, (
            "the access gradient needs a victim with gradients"
        )
        corpus = self.columns[side].corpus
        _, start = corpus.place(corpus.words.row, corpus.words.start)
        spans = list(zip(start.tolist(), (start + corpus.words.stop - corpus.words.start).tolist(), strict=True))
        edges = bounds(corpus.words.per_row(len(corpus))).tolist()
        words = [spans[edges[at] : edges[at + 1]] for at in range(len(corpus))]
        texts = (column.texts() for column in self.columns)
        saliency = self.saliency(*texts, side=side, words=words, weights=self.weights)
        return np.concatenate([np.empty(0), *saliency])


WORD_POOL, LETTER_POOL = 8, 3  # proposals for each site that the victim is asked about: of a word, of a single letter
TRIES = 4  # random picks among the proposals of a site, of which a draw takes the best: random, so that draws differ


def guided_sites(pool: Pool, corpus: Corpus, example: Ints, rng: Rng, *, whole: bool) -> tuple[Edits, Ints]:
    """Returns one edit per site for every draw, the best of TRIES random picks, and the rank of each edit within its draw.

    corpus, rng: have a row per draw. example: the example of each draw. Sites where even the best edit raises the margin get
    none; edits with a gain of 0 rank last. whole: rank by gain, not by the importance of words, as for edits of whole sentences.
    """
    edits = pool.edits
    first = np.flatnonzero((np.diff(edits.row, prepend=-1) != 0) | (np.diff(edits.site, prepend=-1) != 0))
    count = np.diff(np.append(first, len(edits)))
    edges = np.searchsorted(edits.row[first], np.arange(int(example.max(initial=-1)) + 2))
    each = np.diff(edges)[example]  # sites of each draw
    site, draw = spread(edges[:-1][example], each), np.repeat(np.arange(example.size), each)
    if not site.size:
        return edits.where(np.empty(0, np.int64)), site
    place = edits.site[first[site]]
    best = np.zeros(0, np.int64)
    for turn in range(TRIES):
        pick = first[site] + rng.stream("look", turn).below(count[site], draw, place)
        best = pick if not turn else np.where(pool.gain[pick] > pool.gain[best], pick, best)
    helps = pool.gain[best] >= 0
    best, draw, place = best[helps], draw[helps], place[helps]
    gain = pool.gain[best]
    importance = gain if whole else pool.importance[best]
    chance = rng.stream("tie").bits(draw, place)
    rank = ranked(draw, chance, -importance, gain == 0)
    chosen = edits.where(best)
    by_draw = Edits(draw, chosen.start, chosen.stop, chosen.text, chosen.site, chosen.cost)
    order = np.lexsort((by_draw.stop, by_draw.start, by_draw.row))
    return _without_overlaps(by_draw.where(order), rank[order], rng)


def _without_overlaps(edits: Edits, rank: Ints, rng: Rng) -> tuple[Edits, Ints]:
    """Keeps, of edits that overlap, the one with the lowest rank. Returns the edits that are left, and their new ranks."""
    first = rank.astype(np.uint64) << np.uint64(40)  # as high as random bits are
    kept = choose(edits.candidates(first), None, rng, "sites", None)
    return edits.where(kept), ranked(edits.row[kept], rank[kept])
