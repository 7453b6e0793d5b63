"""The texts that a search may try, as numbers: each is the original with some of the proposed edits, at most one per site.

`Space` holds the proposed edits of all examples of a block and writes texts; `View` shows one example of it to a search. Edits
and sites are numbered through the block, so an example's first site is seldom number 0. `search/base.py` has the protocol.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..data.dataset import Column, Text
from ..metrics.edit import word_distance
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Floats, Ints, Mask, Ragged
from ..text.reading import Reading
from .seen import Seen

State = tuple[int, ...]  # the numbers of the edits of one text, ascending; () is the original


class Tried(NamedTuple):
    """Candidate texts, as constraints and victims get them: row i of `after` is row i of `before` with the edits of row i."""

    before: Column
    edits: Edits

    @property
    def after(self) -> Corpus:
        return self.before.corpus.apply(self.edits)

    def take(self, rows: Ints) -> Tried:
        """The candidates in some rows, which are ascending."""
        if rows.size == len(self.before.corpus):
            return self
        number = np.full(len(self.before.corpus), -1)
        number[rows] = np.arange(rows.size)
        mine = self.edits.where(number[self.edits.row] >= 0)
        edits = Edits(number[mine.row], mine.start, mine.stop, mine.text, mine.site, mine.cost)
        return Tried(self.before.take(rows), edits)

    def changed(self) -> Floats:
        """The share of the words of each text that its edits touch."""
        corpus = self.before.corpus
        words = corpus.words
        touched = words.row[self.edits.touched(words, corpus.offsets)]
        return np.bincount(touched, minlength=len(corpus)) / np.maximum(words.per_row(len(corpus)), 1)


@dataclass(frozen=True, eq=False)
class Space:
    """The examples of a block and the edits proposed for column `side` of each, in order of rows and sites.

    Edit number len(edits) + i hides site i, for searches that ask how much a site matters: it writes `hidden` there, or, if that
    is empty, deletes the site and a blank beside it. With `cuts`, four more for each site delete all that is behind or before it.
    Edits that a search finds on its way (`add`) have the numbers behind those. reads: how many words of a text the victim reads
    at most; None: all.
    """

    columns: Sequence[Column]
    side: int
    edits: Edits
    hidden: str = ""
    cuts: bool = False
    reads: int | None = None
    added: dict[tuple[int, int, int, str], int] = field(default_factory=dict)  # numbers, by row, start, stop and text
    later: list[Edits] = field(default_factory=list)  # those edits, in one piece
    remembered: dict[str, object] = field(default_factory=dict)  # what constraints know of its edits, by their specs

    @classmethod
    def of(
        cls, columns: Sequence[Column], side: int, edits: Edits, hidden: str = "", cuts: bool = False, reads: int | None = None
    ) -> Space:  # fmt: skip
        column = columns[side]
        corpus = column.corpus
        known = Corpus(corpus.codes, corpus.offsets, corpus.keys, corpus.words)  # with its words, which are found once
        alone = len(columns) == 1 and column.tokens is None  # else a tokenizer shares the pieces out among columns
        columns = [*columns[:side], Column(known, column.tokens), *columns[side + 1 :]]
        return cls(columns, side, edits, hidden, cuts, reads if alone else None)

    @property
    def column(self) -> Column:
        return self.columns[self.side]

    @cached_property
    def first(self) -> Ints:
        """The number of the first edit of each site; behind them the number of all edits."""
        new = (np.diff(self.edits.row, prepend=-1) != 0) | (np.diff(self.edits.site, prepend=-1) != 0)
        return np.append(np.flatnonzero(new), len(self.edits))

    @cached_property
    def sites_of(self) -> Ints:
        """The number of the first site of each row; behind them the number of all sites."""
        return np.searchsorted(self.edits.row[self.first[:-1]], np.arange(len(self.column.corpus) + 1))

    @cached_property
    def spans(self) -> tuple[Ints, Ints]:
        """Start and stop of each site in its text: all words that its edits touch; if there are none, what the edits replace."""
        begin, words, edits = self.first[:-1], self.column.corpus.words, self.edits
        if not begin.size:
            return begin, begin
        at = self.column.corpus.offsets[edits.row[begin]]
        start, stop = at + np.minimum.reduceat(edits.start, begin), at + np.maximum.reduceat(edits.stop, begin)
        one, last = np.searchsorted(words.stop, start, "right"), np.searchsorted(words.start, stop) - 1
        some = one <= last
        start[some], stop[some] = words.start[one[some]], words.stop[last[some]]
        return start - at, stop - at

    @cached_property
    def all_edits(self) -> Edits:
        """The proposed edits, followed by one for each site that hides it, and by those that cut the text there."""
        begin, (start, stop) = self.first[:-1], self.spans
        row = self.edits.row[begin]
        before, after = self._blanks(row, start, stop)
        cuts = []
        if self.cuts:  # what is left: up to the site, up to before it, from the site on, from behind it on
            nothing, end = np.zeros_like(start), self.column.corpus.lengths[row]
            cuts = [(stop, end), (start - before, end), (nothing, start), (nothing, stop + after)]
        if not self.hidden and self.column.tokens is None:
            start, stop = start - (before & ~after), stop + after
        found = [self.edits, self._instead(start, stop, self.hidden)]
        return Edits.join([*found, *(self._instead(first, last) for first, last in cuts)])

    @cached_property
    def touching(self) -> tuple[Ints, Ints]:
        """Which words each of `all_edits` touches: the number of the first, and of the one behind the last."""
        corpus = self.column.corpus
        return self.all_edits.touching(corpus.words, corpus.offsets)

    @cached_property
    def words_of(self) -> Ints:
        """The number of words of each text."""
        return self.column.corpus.words.per_row(len(self.column.corpus))

    @cached_property
    def seen(self) -> Seen | None:
        """What the victim sees of texts that are longer than it reads; None if there are none."""
        if self.reads is None or not (reading := Reading.of(self.column.corpus, self.reads)).long.any():
            return None
        return Seen(reading, reading.hit(self.all_edits).tolist(), *self.places)

    @cached_property
    def places(self) -> tuple[list[int], list[int], list[str]]:
        """Start, stop and text of each of `all_edits`, as lists: single ones are read faster from them."""
        edits = self.all_edits
        return edits.start.tolist(), edits.stop.tolist(), edits.text.strings()

    def distances(self, numbers: Ints) -> Ints:
        """The edit distances between what some of `all_edits` replace and what they write. Each is computed once."""
        new = numbers[self._distances[numbers] < 0]
        if new.size:
            edits, corpus = self.all_edits.where(np.unique(new)), self.column.corpus
            self._distances[np.unique(new)] = word_distance(edits.spans(corpus.offsets).cut(corpus), edits.text)
        return self._distances[numbers]

    @cached_property
    def _distances(self) -> Ints:
        return np.full(len(self.all_edits), -1)

    @cached_property
    def originals(self) -> list[list[Text]]:
        """The texts of all columns."""
        return [column.texts() for column in self.columns]

    @cached_property
    def begins(self) -> list[int]:
        """`first`, as a list."""
        return self.first.tolist()

    def add(self, edits: Edits) -> list[int]:
        """Adds edits of the original texts and returns their numbers. One that was added before keeps its number."""
        fields = zip(edits.row.tolist(), edits.start.tolist(), edits.stop.tolist(), edits.text.strings(), strict=True)
        first, before = len(self.all_edits), len(self.added)
        numbers = [self.added.setdefault(one, first + len(self.added)) for one in fields]
        new = np.unique(numbers, return_index=True)[1] if numbers else np.zeros(0, np.int64)
        self.later[:] = [Edits.join([*self.later, edits.where(new[np.array(numbers)[new] >= first + before])])]
        return numbers

    def numbered(self, numbers: Ints) -> Edits:
        """The edits with these numbers."""
        return (Edits.join([self.all_edits, *self.later]) if self.later else self.all_edits).where(numbers)

    def _blanks(self, row: Ints, start: Ints, stop: Ints) -> tuple[Mask, Mask]:
        """Whether a blank stands before, and behind, a place of each of these rows."""
        corpus = self.column.corpus
        at, blank = corpus.offsets[row], np.append(corpus.codes == ord(" "), False)
        return blank[at + start - 1] & (start > 0), blank[at + stop] & (at + stop < corpus.offsets[row + 1])

    def _instead(self, start: Ints, stop: Ints, new: str = "") -> Edits:
        """An edit for each site that puts `new` in place of a part of its text."""
        begin = self.first[:-1]
        text = Ragged.of([new]).take(np.zeros(begin.size, np.int64))
        return Edits(self.edits.row[begin], start, stop, text, self.edits.site[begin], np.ones_like(begin))

    def tried(self, rows: Sequence[int], states: Sequence[State]) -> Tried:
        """The candidates that states stand for. rows: the example of each state."""
        count = np.fromiter(map(len, states), np.int64, len(states))
        number = np.fromiter((edit for state in states for edit in state), np.int64, int(count.sum()))
        picked = self.numbered(number)
        row = np.repeat(np.arange(len(states)), count)
        edits = Edits(row, picked.start, picked.stop, picked.text, picked.site, picked.cost)
        return Tried(self.column.take(np.asarray(rows, np.int64)), edits.in_order())


@dataclass(frozen=True, eq=False)
class View:
    """What a search sees of one example: its sites, the edits at each, and the margin of the original text.

    open_ended: the goal has no end, so a search should go on after a success. importance: of each site, by the victim's
    gradients; None unless the search has `needs = Access.GRADIENT`.
    """

    space: Space
    row: int
    clean: float
    open_ended: bool = False
    importance: Floats | None = None

    @cached_property
    def sites(self) -> range:
        """The numbers of the sites of this example."""
        return range(int(self.space.sites_of[self.row]), int(self.space.sites_of[self.row + 1]))

    def options(self, site: int) -> range:
        """The numbers of the edits of a site, of which a state has at most one."""
        begins = self.space.begins
        return range(begins[site], begins[site + 1])

    def hides(self, site: int) -> State:
        """The original with one site hidden: deleted, or replaced by [UNK] if the search has `hidden = True`. Only for `free`."""
        return (len(self.space.edits) + site,)

    def cut(self, site: int) -> list[State]:
        """The original cut at a site: up to it, up to before it, from it on, from behind it on. Only for `free`, and only if the
        search has `cuts = True`.
        """
        sites = len(self.space.first) - 1
        return [(len(self.space.edits) + sites * part + site,) for part in range(1, 5)]

    def taken(self, state: State) -> dict[int, int]:
        """The edits of a state, by site."""
        return {bisect(self.space.begins, edit) - 1: edit for edit in state}

    def with_each(self, state: State, site: int) -> list[State]:
        """The state with each edit of a site at which it has none yet."""
        options = self.options(site)
        if not state:
            return [(edit,) for edit in options]
        at = bisect(state, options.start)
        before, behind = state[:at], state[at:]
        return [(*before, edit, *behind) for edit in options]

    def further(self, state: State) -> list[State]:
        """All states with one edit more than this one, at a site that has none yet."""
        taken = self.taken(state)
        return [new for site in self.sites if site not in taken for new in self.with_each(state, site)]


def with_edit(state: State, edit: int) -> State:
    """The state with one more edit, whose site must not have one yet."""
    return tuple(sorted((*state, edit)))
