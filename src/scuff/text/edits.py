"""Edits: proposed replacements as data, and the choice of a set of them that does not overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index as whole
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from .ragged import Bits, Codes, Ints, Mask, Ragged, bounds, spread, sums
from .random import Rng, shuffled, text_bits
from .unicode import is_white
from .words import Spans

NEVER = np.iinfo(np.int64).max  # a position behind all others
Unit = Literal["sites", "letters"]  # what a budget counts


class Edit(NamedTuple):
    """One replacement in one text, for people: text[start:stop] was `old` and became `new`."""

    start: int
    stop: int
    old: str
    new: str


AnyEdit = tuple[int, int, str, str] | tuple[int, int, str, str, tuple[str, ...]]  # an Edit, or a Repair of a shield


def map_span(edits: Sequence[AnyEdit], start: int, stop: int, *, length: int | None = None) -> tuple[int, int]:
    """Returns where the span [start, stop) of a text is after its edits, which do not overlap.

    A span that no edit touches selects the same text as before. One that an edit changes grows or shrinks with it: if the edit
    reaches across its border, the whole replacement belongs to it. What is inserted at its border stays outside; a span that
    is deleted becomes empty. length: of the text before the edits; a span beyond it then raises ValueError.
    """
    return map_spans(edits, [(start, stop)], length=length)[0]


@overload
def map_spans(
    edits: Sequence[AnyEdit], spans: Iterable[tuple[int, int]], *, length: int | None = ...
) -> list[tuple[int, int]]: ...
@overload
def map_spans(
    edits: Sequence[AnyEdit], spans: Iterable[Sequence[Any]], *, length: int | None = ...
) -> list[tuple[Any, ...]]: ...
def map_spans(edits: Sequence[AnyEdit], spans: Iterable[Sequence[Any]], *, length: int | None = None) -> list[Any]:
    """Returns where each of some spans of a text is after its edits, as `map_span` does. What stands behind start and stop, such
    as a label, stays.
    """
    try:
        ordered = sorted((whole(begin), whole(end), len(new)) for begin, end, _, new, *_ in edits)
    except (TypeError, ValueError):
        raise TypeError(f"expected the edits of one text for map_spans.edits, got {edits!r:.60}") from None
    if not isinstance(spans, Iterable) or isinstance(spans, str):
        raise TypeError(f"expected (start, stop) pairs for map_spans.spans, got {spans!r:.60}")
    moved: list[Any] = []
    for span in spans:
        start, stop, *rest = _positions(span, length)
        first, last = start, stop
        for begin, end, size in ordered:
            growth = size - (end - begin)
            if end <= start:
                first += growth
            elif begin < start:
                first += begin - start
            if begin < stop:
                last += growth if end <= stop else begin + size - stop
        moved.append((first, max(first, last), *rest))
    return moved


def _positions(span: Any, length: int | None) -> list[Any]:
    """Returns [start, stop, ...] of a span. Raises TypeError or ValueError if it is none, or not inside the text."""
    try:
        start, stop, *rest = span
        start, stop = whole(start), whole(stop)
    except (TypeError, ValueError):
        raise TypeError(f"expected (start, stop) of whole numbers for a span, got {span!r:.60}") from None
    if not 0 <= start <= stop:
        raise ValueError(f"expected 0 <= start <= stop for a span, got ({start}, {stop})")
    if length is not None and stop > length:
        raise ValueError(f"expected a span inside the {length} characters of the text, got ({start}, {stop})")
    return [start, stop, *rest]


@dataclass(frozen=True, eq=False)
class Edits:
    """Replace [start, stop) of document `row` by `text`. Positions count from the beginning of the document.

    `site` names the place (the start of the word, gap or letter it stands for): of the edits of one site at most one
    is applied. `cost` counts the letters that are inserted, deleted or replaced.
    """

    row: Ints
    start: Ints
    stop: Ints
    text: Ragged
    site: Ints
    cost: Ints

    def __len__(self) -> int:
        return self.row.size

    @staticmethod
    def of(texts: Ragged, spans: Spans, new: Ragged, cost: Ints | None = None) -> Edits:
        """Replaces each span of the texts by a new text; the site is where the span begins.

        cost: by default the longer of both lengths, which the letters that change cannot exceed.
        """
        length, start = spans.stop - spans.start, spans.start - texts.offsets[spans.row]
        cost = np.maximum(length, new.lengths) if cost is None else cost
        return Edits(spans.row, start, start + length, new, start, cost)

    @staticmethod
    def join(parts: Sequence[Edits]) -> Edits:
        """All edits of several proposals, one proposal after the other; no edits of none."""
        text, none = Ragged.join([Ragged.blank(0), *(p.text for p in parts)]), np.empty(0, np.int64)
        fields = ("row", "start", "stop", "site", "cost")
        row, start, stop, site, cost = (np.concatenate([none, *(getattr(p, f) for p in parts)]) for f in fields)
        return Edits(row, start, stop, text, site, cost)

    def where(self, chosen: Mask | Ints) -> Edits:
        """Some of these edits, by mask or by index."""
        index: Ints = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64, copy=False)
        if index.size == len(self) and (np.diff(index) > 0).all():
            return self
        row, start, stop, site, cost = (f[index] for f in (self.row, self.start, self.stop, self.site, self.cost))
        return Edits(row, start, stop, self.text.take(index), site, cost)

    def distinct(self) -> Edits:
        """Each edit once: of the same replacement for the same site the first stays."""
        key = np.stack([self.row, self.site, self.start, self.stop, text_bits(self.text).view(np.int64)])
        return self.where(np.sort(np.unique(key, axis=1, return_index=True)[1]))

    def real(self, texts: Ragged) -> Edits:
        """Without edits that change nothing."""
        return self.where(self.changing(texts))

    def changing(self, texts: Ragged) -> Mask:
        """Which edits change something."""
        length = self.text.lengths
        changed: Mask = self.stop - self.start != length
        same = np.flatnonzero(~changed)
        length = length[same]
        old = texts.codes[spread((texts.offsets[self.row] + self.start)[same], length)]
        new = self.text.codes[spread(self.text.offsets[:-1][same], length)]
        changed[same] = sums(old != new, bounds(length)) > 0
        return changed

    def spans(self, offsets: Ints) -> Spans:
        """What they replace, counted from the beginning of all codes."""
        at = offsets[self.row]
        return Spans(self.row, at + self.start, at + self.stop)

    def in_order(self) -> Edits:
        """Sorted by document and position; several insertions at one place by their sites."""
        row, start, stop, site = (field[1:] - field[:-1] for field in (self.row, self.start, self.stop, self.site))
        later = (start > 0) | ((start == 0) & ((stop > 0) | ((stop == 0) & (site >= 0))))
        if ((row > 0) | ((row == 0) & later)).all():
            return self
        return self.where(np.lexsort((self.site, self.stop, self.start, self.row)))

    def within(self, budget: Ints | int | None, rng: Rng, *, unit: Unit = "sites", coin: float | None = None) -> Edits:
        """A random choice without overlaps, at most one edit per site, at most `budget` sites or letters per document.

        `coin`: each site is first dropped with probability 1 - coin. No budget: every site that is left.
        """
        edits = self.in_order()
        return edits.where(choose(edits.candidates(), budget, rng, unit, coin))

    def candidates(self, order: Bits | None = None) -> EditCandidates:
        """What a choice among these edits, which are in order, needs to know. order: which go first, if it is not by chance."""
        return EditCandidates(np.arange(len(self)), self.row, self.start, self.stop, self.site, self.cost, order)

    def hitting(self, spans: Spans, offsets: Ints) -> Mask:
        """Which edits overlap one of these spans (sorted, not overlapping each other), or insert or delete right beside it."""
        start, stop = self._reach(offsets)
        at = np.searchsorted(spans.stop + spans.row, start, "right")  # the first span that ends behind the start
        return np.append(spans.start + spans.row, NEVER)[at] < stop

    def cutting(self, offsets: Ints, tail: Ints) -> Mask:
        """Which edits begin or end inside a grapheme cluster; `tail`: the positions that continue a cluster."""
        spans = self.spans(offsets)
        return np.isin(spans.start, tail) | np.isin(spans.stop, tail)

    def breaking_tokens(self, texts: Ragged) -> Mask:
        """Which edits (in order) of texts that are tokens with blanks between them would leave other tokens than before.

        They put white space in or take it out, or leave nothing of a token: a run of deletions from blank to blank.
        """
        old = self.spans(texts.offsets)
        white = np.append(0, np.cumsum(is_white(texts.codes)))
        added = sums(is_white(self.text.codes), self.text.offsets)
        wrong: Mask = added != white[old.stop] - white[old.start]
        gone = np.flatnonzero(self.text.lengths == 0)
        if gone.size:
            start, stop, row = old.start[gone], old.stop[gone], self.row[gone]
            opens = np.append(True, (row[1:] != row[:-1]) | (start[1:] != stop[:-1]))
            run = np.cumsum(opens) - 1
            begin, end = start[opens], stop[np.append(opens[1:], True)]
            edges = np.append(is_white(texts.codes), True)
            edge = (begin == texts.offsets[row[opens]]) | edges[begin - 1]
            edge &= (end == texts.offsets[row[opens] + 1]) | edges[end]
            wrong[gone] |= edge[run]
        return wrong

    def touched(self, spans: Spans, offsets: Ints) -> Mask:
        """Which of these spans (sorted) some edit hits. A deletion also hits two that it glues together, not the neighbours of a
        word that goes with one blank. An empty span is room for an insertion: n of them hit the first n.
        """
        edits, place = self.in_order(), spans.start + spans.row
        start, stop = edits._hits(spans, offsets)
        at = np.searchsorted(stop, place, "right")
        hit: Mask = np.append(start, NEVER)[at] < spans.stop + spans.row
        room = np.flatnonzero(spans.start == spans.stop)
        if room.size:
            start, stop = edits._apart(offsets)
            inserted, place = start[start == stop], place[room]
            many = np.searchsorted(inserted, place, "right") - np.searchsorted(inserted, place)
            hit[room] = np.arange(room.size) - np.searchsorted(place, place) < many
        return hit

    def touching(self, spans: Spans, offsets: Ints) -> tuple[Ints, Ints]:
        """Which of these spans (sorted, none empty) each edit hits by itself: the number of the first, and of the one behind the
        last. Edits that do not overlap hit together, as `touched` says, what each of them hits.
        """
        start, stop = self._hits(spans, offsets)
        first, last = (
            np.searchsorted(spans.stop + spans.row, start, "right"),
            np.searchsorted(spans.start + spans.row, stop),
        )
        return first, np.maximum(first, last)

    def _hits(self, spans: Spans, offsets: Ints) -> tuple[Ints, Ints]:
        """What edits hit among these spans: `_apart`, wider by one on both sides for insertions and for deletions that glue."""
        start, stop = self._apart(offsets)
        glues = (
            (self.text.lengths == 0) & np.isin(start, spans.stop + spans.row) & np.isin(stop, spans.start + spans.row)
        )
        beside = ((start == stop) | glues).astype(np.int64)
        return start - beside, stop + beside

    def _reach(self, offsets: Ints) -> tuple[Ints, Ints]:
        """What edits act on: an insertion or a deletion also on what it comes between or glues together."""
        start, stop = self._apart(offsets)
        beside = ((start == stop) | (self.text.lengths == 0)).astype(np.int64)
        return start - beside, stop + beside

    def _apart(self, offsets: Ints) -> tuple[Ints, Ints]:
        """Positions over all documents, one apart at each border so that edits of two documents never touch."""
        at = offsets[self.row] + self.row
        return at + self.start, at + self.stop

    def growth(self) -> Ints:
        """By how many code points each edit makes its text longer."""
        return self.text.lengths - (self.stop - self.start)

    def _row_growth(self, rows: int) -> Ints:
        """By how many code points the beginning of each document moves, and, as the last entry, the end of all."""
        return bounds(np.bincount(self.row, self.growth(), rows).astype(np.int64))

    def splice(self, texts: Ragged) -> Ragged:
        """The texts with all of these edits made at once; text outside the edits is copied as it is."""
        edits = self.in_order()
        old = edits.spans(texts.offsets)
        start, stop = old.start, old.stop
        if (start[1:] < stop[:-1]).any() or (stop > texts.offsets[edits.row + 1]).any() or (stop < start).any():
            raise ValueError("expected edits that do not overlap and stay inside their texts, got others")
        length = edits.text.lengths
        if edits.growth().any():
            shift = bounds(edits.growth())
            stays = np.ones(texts.codes.size, np.bool_)
            stays[spread(start, stop - start)] = False
            old_text = np.ones(texts.codes.size + shift[-1], np.bool_)
            place = spread(start + shift[:-1], length)
            old_text[place] = False
            codes: Codes = np.empty(old_text.size, np.uint32)
            codes[old_text] = texts.codes[stays]
            codes[place] = edits.text.codes
        else:
            codes = texts.codes.copy()
            codes[spread(start, length)] = edits.text.codes
        return Ragged(codes, texts.offsets + edits._row_growth(len(texts)))

    def carry(self, spans: Spans, offsets: Ints) -> Spans:
        """Where some spans of the text before these edits (which are in order) are in the text after them.

        A span that an edit replaces exactly becomes the replacement; an insertion at its border stays outside.
        """
        mine, length = self.spans(offsets), self.text.lengths
        shift = bounds(self.growth())

        def move(position: Ints, side: Literal["left", "right"], offset_in_edit: Ints) -> Ints:
            passed = np.searchsorted(mine.stop, position, side)
            moved = position + shift[passed]
            inside = np.append(mine.start, NEVER)[passed] < position
            return np.where(inside, np.append(mine.start + shift[:-1] + offset_in_edit, 0)[passed], moved)

        return Spans(spans.row, move(spans.start, "right", np.zeros_like(length)), move(spans.stop, "left", length))

    def inverse(self, texts: Ragged) -> Edits:
        """The edits that turn the edited texts back into `texts`."""
        edits = self.in_order()
        old = edits.spans(texts.offsets).cut(texts)
        shift = bounds(edits.growth())[:-1]
        start = edits.start + shift - edits._row_growth(len(texts))[edits.row]
        return Edits(edits.row, start, start + edits.text.lengths, old, start, edits.cost)

    def then(self, later: Edits, texts: Ragged) -> Edits:
        """One set of edits that does what these and then `later`, which are made for the edited texts, do."""
        return self.merged(later, texts)[0]

    def merged(self, later: Edits, texts: Ragged) -> tuple[Edits, Ints, Ints]:
        """What `then` returns, and which of its edits each of these, and each of `later`, became a part of. All are in order."""
        middle = self.splice(texts)
        final = later.splice(middle)
        back, later = self.inverse(texts), later.in_order()
        parts = Edits.join([back, later])  # both as spans of the text in between
        order = np.lexsort((parts.site, parts.stop, parts.start, parts.row))
        parts = parts.where(order)
        if not len(parts):
            return parts, order, order
        start, stop = parts._apart(middle.offsets)
        reach = np.maximum.accumulate(stop)
        # edits that only touch stay apart, so that a span beside one keeps its text; what is put in at one place is one edit
        insert = start == stop
        opens = (start[1:] >= reach[:-1]) & ~(insert[1:] & insert[:-1] & (start[1:] == start[:-1]))
        first = np.flatnonzero(np.append(True, opens))
        merged = Spans(parts.row[first], start[first], np.append(reach[first[1:] - 1], reach[-1]))
        old, new = back._widen(merged, middle.offsets), later._widen(merged, middle.offsets)
        again = (old.stop[1:] == old.start[:-1]) & (old.row[1:] == old.row[:-1])  # both put something in at one place
        group = np.flatnonzero(np.append(True, ~again))
        old, first = old.where(group), first[group]
        new = Spans(old.row, new.start[group], np.append(new.stop[group[1:] - 1], new.stop[-1]))
        place = old.start - texts.offsets[old.row]
        text, cost = new.cut(final), np.add.reduceat(parts.cost, first)
        member = np.empty(len(parts), np.int64)
        member[order] = np.searchsorted(first, np.arange(len(parts)), "right") - 1
        return (
            Edits(old.row, place, old.stop - texts.offsets[old.row], text, place, cost),
            member[: len(back)],
            member[len(back) :],
        )

    def _widen(self, spans: Spans, offsets: Ints) -> Spans:
        """Like carry, for `_apart` spans that contain edits whole. What is put in at the border of a span stays outside; what is
        put in at an empty span belongs to it.
        """
        shift, (opens, closes) = bounds(self.growth()), self._apart(offsets)
        empty = spans.start == spans.stop
        insert = opens[opens == closes]
        behind = np.searchsorted(insert, spans.start, "right") - np.searchsorted(insert, spans.start, "left")
        begin = np.searchsorted(opens, spans.start, "left")
        end = np.where(empty, begin + behind, np.searchsorted(opens, spans.stop, "left"))
        begin = np.where(empty, begin, begin + behind)
        return Spans(spans.row, spans.start - spans.row + shift[begin], spans.stop - spans.row + shift[end])

    def listed(self, texts: Ragged) -> list[list[Edit]]:
        """For people: the edits of each text, as plain tuples."""
        edits = self.in_order()
        old = edits.spans(texts.offsets).cut(texts).strings()
        out: list[list[Edit]] = [[] for _ in range(len(texts))]
        start, stop, new = edits.start.tolist(), edits.stop.tolist(), edits.text.strings()
        for number, row in enumerate(edits.row.tolist()):
            out[row].append(Edit(start[number], stop[number], old[number], new[number]))
        return out


# ---- the choice among proposed edits ----


@dataclass(frozen=True, eq=False)
class EditCandidates:
    """What the choice needs to know of some edits, which are sorted by row and start. `index` says which they are."""

    index: Ints
    row: Ints
    start: Ints
    stop: Ints
    site: Ints
    cost: Ints
    order: Bits | None = None  # which goes first in its document, if chance does not decide

    def where(self, chosen: Mask | Ints) -> EditCandidates:
        index, row, start, stop, site, cost = (
            field[chosen] for field in (self.index, self.row, self.start, self.stop, self.site, self.cost)
        )
        return EditCandidates(index, row, start, stop, site, cost, None if self.order is None else self.order[chosen])

    def one_per_site(self, rng: Rng) -> EditCandidates:
        """Of the alternatives for one site keep one, each equally likely."""
        if (np.diff(self.site) > 0)[np.diff(self.row) == 0].all():  # one proposal per site: nothing to choose
            return self
        order = np.lexsort((self.site, self.row))
        row, site = self.row[order], self.site[order]
        first = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(site, prepend=-1) != 0))
        count = np.diff(np.append(first, order.size))
        pick = first + rng.stream("alternative").below(count, row[first], site[first])
        return self.where(np.sort(order[pick]))

    def without_overlaps(self, rng: Rng) -> EditCandidates:
        """Of edits that overlap the one that comes first in the random order stays; in rounds until none overlap."""
        left = self
        while True:
            clash = (left.row[1:] == left.row[:-1]) & (left.start[1:] < left.stop[:-1])
            if not clash.any():
                return left
            priority = left.priority(rng)
            forward = priority[:-1] <= priority[1:]
            behind = np.append(False, clash & forward)  # overlaps an edit to its left that goes first
            ahead = np.append(clash & ~forward, False)  # and to its right
            wins = ~(behind | ahead)
            loses = np.append(False, clash & wins[:-1]) | np.append(clash & wins[1:], False)
            left = left.where(~(loses & ~wins))

    def priority(self, rng: Rng) -> Bits:
        """The order of sites, at random unless it is given. A larger budget chooses what a smaller one does, and more."""
        return rng.stream("order").bits(self.row, self.site) if self.order is None else self.order

    def affordable(self, budget: Ints | int, rng: Rng, unit: Unit) -> EditCandidates:
        """Go through the sites of each document in random order and take what the budget still allows."""
        rows = int(self.row[-1]) + 1
        left = np.broadcast_to(np.asarray(budget, np.int64), (max(rows, np.size(budget)),))[:rows].copy()
        cost = np.maximum(self.cost, 1) if unit == "letters" else np.ones_like(self.cost)
        order = shuffled(np.bincount(self.row, minlength=rows), self.priority(rng))
        chosen = np.zeros(self.row.size, np.bool_)
        while order.size:
            row, spend = self.row[order], cost[order]
            spent = np.cumsum(spend)
            first = np.flatnonzero(np.diff(row, prepend=-1))
            spent -= np.repeat(spent[first] - spend[first], np.diff(np.append(first, row.size)))
            fits = spent <= left[row]
            chosen[order[fits]] = True
            np.subtract.at(left, row[fits], spend[fits])
            order = order[~fits]
            order = order[cost[order] <= left[self.row[order]]]  # smaller ones may still fit
        return self.where(chosen)


def choose(candidates: EditCandidates, budget: Ints | int | None, rng: Rng, unit: Unit, coin: float | None) -> Ints:
    """Indices of the edits chosen, in order of position."""
    chosen = candidates.one_per_site(rng)
    if coin is not None:
        chosen = chosen.where(rng.stream("coin").uniform(chosen.row, chosen.site) < coin)
    chosen = chosen.without_overlaps(rng)
    if budget is not None and chosen.row.size:
        chosen = chosen.affordable(budget, rng, unit)
    return chosen.index
