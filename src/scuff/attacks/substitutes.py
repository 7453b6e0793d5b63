"""Finds substitutions by the victim's gradients: what a search that yields `Slope` is offered.

A text that is tried is the original with some edits. The victim cuts it into pieces anew, so that a model of subwords sees the
text as it would be written; pieces outside all edits are sites, and a substitution there becomes an edit of the original text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Floats, Ints, Mask, Ragged
from ..text.random import Rng
from ..text.unicode import is_white
from ..text.words import Spans
from ..victims.query import Query
from ..victims.substitution import (
    ENTRIES,
    KINDS,
    Located,
    Vocabulary,
    gains,
    highest,
    is_mark,
    make_oov,
    rounded,
    signs,
)
from .search.base import Offer, Search
from .space import Space, State

WIDER = 8  # times as many pieces of a site are looked at where the best ones are forbidden
WIDEST = 1024  # pieces of a site that are looked at: a constraint may forbid them all

LOOKED = 1 << 18  # substitutions that are looked at together: more might not fit into memory

Climb = tuple[State, int, int]  # a text, and `most` and `each` of the Slope that wants substitutions for it


class Sites(NamedTuple):
    """Pieces that may be replaced. asked: for which of the wanted texts. start, stop: the place in the original text.
    kind: of the pieces that may take the place. slopes: float[n, size].
    """

    asked: Ints
    ids: Ints
    start: Ints
    stop: Ints
    kind: Ints
    slopes: npt.NDArray[Any]


class Found(NamedTuple):
    """Substitutions: the number of the site of each, its gain, what it writes, and what breaks ties."""

    site: Ints
    gain: Floats
    text: npt.NDArray[np.object_]
    order: Ints

    def where(self, which: Ints | Mask) -> Found:
        return Found(self.site[which], self.gain[which], self.text[which], self.order[which])

    def with_(self, other: Found) -> Found:
        site, gain, text, order = (np.concatenate(both) for both in zip(self, other, strict=True))
        return Found(site, gain, text, order)


NOTHING_FOUND = Found(np.empty(0, np.int64), np.empty(0), np.empty(0, object), np.empty(0, np.int64))


@dataclass(eq=False)
class Substitutes:
    """Offers the substitutions with the highest gain.

    targets: of all examples of the space, as the victim's `slopes` takes them. allowed: which edits of the original texts may be
    used at all. query: the door to a victim that is Substitutable.
    """

    space: Space
    search: Search
    query: Query
    targets: npt.NDArray[Any]
    allowed: Callable[[Corpus, Edits], Mask] | None = None
    seed: int = 0

    @cached_property
    def vocabulary(self) -> Vocabulary:
        vocabulary: Vocabulary = self.query.substitutable.vocabulary()
        return vocabulary

    def __call__(self, wanted: Sequence[tuple[int, Climb]]) -> list[Offer]:
        """An offer for each wanted text, given with its example: one backward pass for all of them."""
        rows = np.array([row for row, _ in wanted], np.int64)
        most, each = (np.array([climb[at] for _, climb in wanted], np.int64) for at in (1, 2))
        sites = self._sites(rows, [state for _, (state, _, _) in wanted])
        found = self._best(rows, sites, most, each)
        asked = sites.asked[found.site]
        numbers = np.array(self.space.add(self._edits(rows, sites, found)), np.int64)
        cuts = np.searchsorted(asked, np.arange(1, len(wanted)))
        return [
            Offer(some.tolist(), gain)
            for some, gain in zip(np.split(numbers, cuts), np.split(found.gain, cuts), strict=True)
        ]

    def _best(self, rows: Ints, sites: Sites, most: Ints, each: Ints) -> Found:
        """The best substitutions that may be used, by text and gain: `each` of a site and `most` of a text, at most.

        Looks at the `each` best of every site first. Where they are forbidden it looks at more, up to WIDEST, until the site has
        enough or the rest promises less than what the text has already.
        """
        width, left, wanted = int(each.max(initial=1)), np.arange(sites.ids.size), each[sites.asked]
        kept = NOTHING_FOUND
        while True:
            kept = kept.where(~np.isin(kept.site, left))
            count, lowest, usable = np.zeros(left.size), np.full(left.size, np.inf), np.zeros(left.size)
            for at in range(0, left.size, step := max(1, LOOKED // width)):
                found = self._found(rows, sites, left[at : at + step], width)
                found = found.where(np.isfinite(found.gain))
                place = np.searchsorted(left, found.site)
                fine = self._usable(self._edits(rows, sites, found))
                np.add.at(count, place, 1)
                np.minimum.at(lowest, place, found.gain)
                np.add.at(usable, place[fine], 1)
                kept = self._cut(sites, kept.with_(found.where(fine)), most, each)
            if width >= WIDEST or self.search.candidates.within == "swaps":
                return kept
            rest = (usable < wanted[left]) & (count >= width)
            left = left[rest & (lowest >= self._last(sites, kept, most)[sites.asked[left]])]
            if not left.size:
                return kept
            width = min(WIDEST, WIDER * width)

    @staticmethod
    def _cut(sites: Sites, found: Found, most: Ints, each: Ints) -> Found:
        """The best of these, by text and gain: `each` of a site, `most` of a text."""
        found = found.where(np.lexsort((found.order, found.site, -found.gain, sites.asked[found.site])))
        found = found.where(_rank(found.site) < each[sites.asked[found.site]])
        return found.where(_rank(sites.asked[found.site]) < most[sites.asked[found.site]])

    @staticmethod
    def _last(sites: Sites, kept: Found, most: Ints) -> Floats:
        """The gain of the last of the `most` substitutions of each text; -inf if it has fewer."""
        asked = sites.asked[kept.site]
        out = np.full(most.size, np.inf)
        np.minimum.at(out, asked, kept.gain)
        return np.where(np.bincount(asked, minlength=most.size) < most, -np.inf, out)

    def _sites(self, rows: Ints, states: Sequence[State]) -> Sites:
        """The pieces of the texts that no edit has touched and that stand for whole letters of their own."""
        tried = self.space.tried(rows.tolist(), states)
        before, after = tried.before.corpus, tried.after
        texts = after.strings()
        found = self.query.substitutable.located(texts)
        slopes = self.query.slopes(texts, [self.targets[row] for row in rows.tolist()])
        pieces = Located(*(np.concatenate([part[at] for part in found]).astype(np.int64) for at in range(3)))
        asked = np.repeat(np.arange(rows.size), [part.ids.size for part in found])
        slope = np.concatenate(slopes)
        if slope.shape != (asked.size, self.vocabulary.vectors.shape[1]):
            size = f"{asked.size} x {self.vocabulary.vectors.shape[1]}"
            raise ValueError(f"expected {size} numbers for the slopes of {asked.size} pieces, got {slope.shape}")
        at = after.offsets[asked]
        spans = Spans(asked, at + pieces.start, at + pieces.stop)
        back = tried.edits.inverse(before)
        alone = ~back.touched(spans, after.offsets) & _apart(spans)
        kind = self._kinds(pieces.ids, spans, after)
        old = back.carry(spans, after.offsets)
        first = before.offsets[asked]
        start, stop = old.start - first, old.stop - first
        return Sites(asked[alone], pieces.ids[alone], start[alone], stop[alone], kind[alone], slope[alone])

    def _kinds(self, ids: Ints, spans: Spans, corpus: Corpus) -> Ints:
        """The kind of each piece. What the victim does not know is of the kind that its text and its place say."""
        kinds = self.vocabulary.kinds[ids]
        unknown = np.flatnonzero(ids == self.vocabulary.unknown)
        if unknown.size:
            here, white = spans.where(unknown), np.append(is_white(corpus.codes), True)
            behind = (here.start == corpus.offsets[here.row]) | white[here.start - 1]
            marks = np.array([is_mark(text) for text in corpus.cut(here).strings()])
            kind = behind + 2 * marks
            there = np.array([self.vocabulary.pieces(kind).size > 0 for kind in range(KINDS)])
            kinds[unknown] = np.where(there[kind], kind, kind ^ 1)  # in a vocabulary of words none continues another
        return kinds

    def _found(self, rows: Ints, sites: Sites, some: Ints, each: int) -> Found:
        """The `each` best substitutions at some of the sites, forbidden ones too."""
        pool = self.search.candidates
        slopes = signs(sites.slopes, np.float32(1)) if pool.sign else sites.slopes.astype(np.float32)
        if pool.within == "swaps":
            return self._swaps(rows, sites, some, slopes[some])
        within = self._any if pool.within == "vocabulary" else self._near
        parts = [(np.empty((0, 0), np.float32), np.empty((0, 0), np.int64), np.empty(0, np.int64))]
        for kind in range(KINDS):
            places = some[sites.kind[some] == kind]
            pieces = self.vocabulary.pieces(kind)
            step = max(1, ENTRIES // max(1, pieces.size)) if pieces.size else 1
            for at in range(0, places.size if pieces.size else 0, step):
                here = places[at : at + step]
                parts.append((*within(sites.ids[here], slopes[here], kind, each), here))
        site = np.concatenate([np.repeat(places, gain.shape[1]) for gain, _, places in parts])
        piece = np.concatenate([piece.ravel() for _, piece, _ in parts])
        gain = np.concatenate([gain.ravel() for gain, _, _ in parts]).astype(np.float64)
        return Found(site, gain, self._surfaces[piece], piece)

    @cached_property
    def _surfaces(self) -> npt.NDArray[np.object_]:
        return np.array(self.vocabulary.surfaces, object)

    def _any(self, ids: Ints, slopes: Any, kind: int, each: int) -> tuple[Any, Ints]:
        """Gains and pieces: the best of all pieces of a kind at each site."""
        pieces = self.vocabulary.pieces(kind)
        gain = rounded(gains(self.vocabulary.vectors, ids, slopes, among=pieces))
        gain[ids[:, None] == pieces] = -np.inf
        top, column = highest(gain, each)
        return top, pieces[column]

    def _near(self, ids: Ints, slopes: Any, kind: int, each: int) -> tuple[Any, Ints]:
        """Gains and pieces: the best of the nearest neighbours at each site."""
        vectors, near = self.vocabulary.vectors, self.vocabulary.nearest(ids, kind, self.search.candidates.nearest)
        gain = rounded(np.einsum("nd,nkd->nk", slopes, vectors[near] - vectors[ids][:, None]))
        gain[near < 0] = -np.inf
        top, column = highest(gain, each)
        return top, np.take_along_axis(near, column, 1)

    def _swaps(self, rows: Ints, sites: Sites, some: Ints, slopes: Any) -> Found:
        """The one spelling of each site that is out of vocabulary. Its gain is that of the unknown piece, or, without one, of a
        vector of zeros.
        """
        vocabulary, corpus = self.vocabulary, self.space.column.corpus
        vectors, unknown = vocabulary.vectors, vocabulary.unknown
        new = vectors[unknown] if unknown >= 0 else np.zeros(vectors.shape[1], np.float32)
        gain = rounded(((new - vectors[sites.ids[some]]) * slopes).sum(-1)).astype(np.float64)
        gain[sites.ids[some] == unknown] = -np.inf  # the model does not know it as it is
        row, begin = rows[sites.asked[some]], sites.start[some]
        start = corpus.offsets[row]
        words = corpus.cut(Spans(row, start + begin, start + sites.stop[some])).strings()
        # marks are no words: a repeated one would be cut into marks that the model knows
        gain[np.fromiter(map(is_mark, words), np.bool_, len(words))] = -np.inf
        swaps = self.search.candidates.max_scrambling
        rng = Rng.of(corpus.keys, self.seed, "swaps")
        random = rng.uniform(np.repeat(row, swaps), (begin[:, None] * swaps + np.arange(swaps)).ravel())
        made = [
            make_oov(word, vocabulary, numbers)
            for word, numbers in zip(words, random.reshape(-1, swaps).tolist(), strict=True)
        ]
        text = np.full(len(made), None, object)
        text[:] = made
        return Found(some, gain, text, np.zeros(len(made), np.int64))

    def _edits(self, rows: Ints, sites: Sites, found: Found) -> Edits:
        """The substitutions as edits of the original texts."""
        row = rows[sites.asked[found.site]]
        start, stop = sites.start[found.site], sites.stop[found.site]
        text = Ragged.of(found.text.tolist())
        return Edits(row, start, stop, text, start, np.maximum(stop - start, text.lengths))

    def _usable(self, edits: Edits) -> Mask:
        """Which edits change something, glue no two words together, cut no grapheme cluster, and are allowed."""
        corpus = self.space.column.corpus
        old = edits.spans(corpus.offsets).cut(corpus).strings()
        new, texts = edits.text.strings(), corpus.strings()
        fine = np.fromiter((a != b for a, b in zip(old, new, strict=True)), np.bool_, len(new))
        fine &= ~edits.cutting(corpus.offsets, corpus.tail)
        # a mark stands between words without blanks: a word in its place would become one with them
        for at in np.flatnonzero(fine & np.fromiter((not word.isalnum() for word in old), np.bool_, len(old))).tolist():
            text, word = texts[edits.row[at]], new[at]
            before, after = text[: edits.start[at]][-1:], text[edits.stop[at] :][:1]
            left = _in_word(before) and not _in_word(old[at][0]) and _in_word(word[:1])
            fine[at] = not (left or (_in_word(after) and not _in_word(old[at][-1]) and _in_word(word[-1:])))
        if self.allowed is not None:
            some = np.flatnonzero(fine)
            order = some[np.lexsort((edits.start[some], edits.row[some]))]
            fine[order] = self.allowed(corpus, edits.where(order))
        return fine


def _in_word(letter: str) -> bool:
    """Whether it is a letter, a digit, or a sign that belongs to one."""
    return bool(letter) and (letter.isalnum() or unicodedata.category(letter).startswith("M"))


def _rank(groups: Ints) -> Ints:
    """How many before it are of the same group, for each entry."""
    order = np.argsort(groups, kind="stable")
    sorted_ = groups[order]
    first = np.searchsorted(sorted_, sorted_)
    out = np.empty(groups.size, np.int64)
    out[order] = np.arange(groups.size) - first
    return out


def _apart(spans: Spans) -> Mask:
    """Which spans have some letters, and share none with others: bytes of one letter are pieces that cannot be replaced alone."""
    if not spans.start.size:
        return np.zeros(0, np.bool_)
    shared = spans.start[1:] < np.maximum.accumulate(spans.stop)[:-1]
    return (spans.stop > spans.start) & ~np.append(False, shared) & ~np.append(shared, False)
