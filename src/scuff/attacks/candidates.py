"""Candidates: the texts of a batch as states of examples. What is asked of them is computed from numbers, if it can be.

Most constraints and goals need to know which edits a text has, not how it reads. And the texts themselves are written fastest
from the strings of the originals: three slices for a text with one edit. `tried` has the arrays that other constraints are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np

from ..data.dataset import Text
from ..text.corpus import Corpus
from ..text.ragged import Floats, Ints, Mask, bounds
from .seen import Seen
from .space import Space, State, Tried


class Frame(NamedTuple):
    """A text with all edits of a state but one, which most states that are tried together have in common.

    before, behind: the edits on either side of that one. head: the text up to the last of `before`, which ends at `low` of the
    original. tail: the text from the first of `behind` on, which begins at `high`.
    """

    row: int
    before: State
    behind: State
    head: str
    low: int
    tail: str
    high: int


@dataclass(frozen=True, eq=False)
class Candidates:
    """States of the examples of a space. rows: the example of each state."""

    space: Space
    rows: Ints
    states: Sequence[State]

    def __len__(self) -> int:
        return len(self.states)

    def take(self, chosen: Mask) -> Candidates:
        """Some of the candidates."""
        flags = chosen.tolist()
        part = Candidates(self.space, self.rows[chosen], list(compress(self.states, flags)))
        if "texts" in vars(self):
            vars(part)["texts"] = list(compress(self.texts, flags))
        if vars(self).get("simple"):
            vars(part)["simple"] = True
        return part

    @cached_property
    def tried(self) -> Tried:
        """The candidates as arrays of texts and edits."""
        return self.space.tried(self.rows.tolist(), self.states)

    @cached_property
    def after(self) -> Corpus:
        """The texts as a corpus."""
        return self.tried.after

    @property
    def pairs(self) -> tuple[list[str], list[str]]:
        """The originals, and the texts."""
        if self.simple:
            originals = self.space.originals[self.space.side]
            texts = self.texts if self.space.seen is None else self._written(None)
            return [originals[row] for row in self.rows.tolist()], texts  # type: ignore[return-value]
        return self.tried.before.corpus.strings(), self.after.strings()

    @property
    def columns(self) -> list[list[Text]]:
        """The columns that the victim is asked about: the texts in their column, the originals in the others."""
        space, rows = self.space, self.rows.tolist()
        return [
            self.texts if at == space.side else list(map(column.__getitem__, rows))
            for at, column in enumerate(space.originals)
        ]

    @cached_property
    def edges(self) -> Ints:
        """Where the edits of each state begin among all, and, as the last entry, where all end."""
        return bounds(np.fromiter(map(len, self.states), np.int64, len(self.states)))

    @cached_property
    def number(self) -> Ints:
        """The numbers of all edits, state after state."""
        return np.fromiter(chain.from_iterable(self.states), np.int64, int(self.edges[-1]))

    @cached_property
    def simple(self) -> bool:
        """Whether all texts are strings, and all edits proposed ones of the text, inside it, apart, in order of their places."""
        space = self.space
        if space.column.tokens is not None or space.later:
            return False
        number, edges, edits = self.number, self.edges, space.all_edits
        row = self.rows if number.size == len(self) else self.rows.repeat(edges[1:] - edges[:-1])
        start, stop = edits.start[number], edits.stop[number]
        if (edits.row[number] != row).any() or (stop > space.column.corpus.lengths[row]).any():
            return False
        if number.size == len(self):
            return True
        apart = (start[1:] >= stop[:-1]) & (start[1:] > start[:-1])
        apart[edges[1:-1] - 1] = True  # edits of two texts
        return bool(apart.all())

    @cached_property
    def touched(self) -> Ints:
        """How many words of each text its edits touch."""
        if not self.simple:
            words, corpus = self.tried.before.corpus.words, self.tried.before.corpus
            return np.bincount(words.row[self.tried.edits.touched(words, corpus.offsets)], minlength=len(self))
        first, last = (words[self.number] for words in self.space.touching)
        if self.number.size == len(self):
            return last - first
        before = np.append(0, last[:-1])  # two edits may touch one word
        before[self.edges[:-1]] = 0
        return np.add.reduceat(np.maximum(last - np.maximum(first, before), 0), self.edges[:-1])

    @property
    def lengths(self) -> Ints:
        """How many characters each original text has."""
        return self.space.column.corpus.lengths[self.rows]

    @property
    def words(self) -> Ints:
        """How many words each original text has."""
        return self.space.words_of[self.rows]

    @property
    def changed(self) -> Floats:
        """The share of the words of each text that its edits touch."""
        return self.touched / np.maximum(self.words, 1)

    @cached_property
    def farthest(self) -> Ints:
        """What the edit distance of no text from its original exceeds: the sum of the distances of its edits."""
        return np.add.reduceat(self.space.distances(self.number), self.edges[:-1])

    @cached_property
    def texts(self) -> list[Text]:
        """The texts as the victim is given them: of long ones, as much as it reads."""
        if not self.simple:
            whole = self.tried.before.texts(self.tried.edits)
            if (seen := self.space.seen) is None:
                return whole
            long = seen.reading.long[self.rows].tolist()
            return [seen.reading.first(str(text)) if cut else text for text, cut in zip(whole, long, strict=True)]
        return self._written(self.space.seen)

    def _written(self, seen: Seen | None) -> list[Text]:
        """The texts with their edits, which are `simple`."""
        texts: Any = self.space.originals[self.space.side]
        originals = map(texts.__getitem__, self.rows.tolist())
        start, stop, new = self.space.places
        if self.number.size == len(self) and seen is None:
            return [
                old[: start[one]] + new[one] + old[stop[one] :]
                for old, one in zip(originals, self.number.tolist(), strict=True)
            ]
        out: list[Text] = []
        rows, states, frame = self.rows.tolist(), self.states, Frame(-1, (), (), "", 0, "", 0)
        for at, (row, old, state) in enumerate(zip(rows, originals, states, strict=True)):
            if seen and seen.long[row]:
                out.append(seen(row, old, state))
                continue
            place = len(frame.before)
            if (
                row != frame.row
                or state[:place] != frame.before
                or state[place + 1 :] != frame.behind
                or len(state) == place
            ):
                other = states[at + 1] if at + 1 < len(states) and rows[at + 1] == row else ()
                place = next((here for here, (a, b) in enumerate(zip(state, other, strict=False)) if a != b), 0)
                frame = self._frame(row, old, state[:place], state[place + 1 :])
            one = state[place]
            out.append(
                "".join((frame.head, old[frame.low : start[one]], new[one], old[stop[one] : frame.high], frame.tail))
            )
        return out

    def _frame(self, row: int, old: str, before: State, behind: State) -> Frame:
        """The text around a place, with the edits before it and behind it."""
        start, stop, new = self.space.places
        head, low = list[str](), 0
        for one in before:
            head += (old[low : start[one]], new[one])
            low = stop[one]
        tail, high = list[str](), start[behind[0]] if behind else len(old)
        at = high
        for one in behind:
            tail += (old[at : start[one]], new[one])
            at = stop[one]
        tail.append(old[at:] if behind else "")
        return Frame(row, before, behind, "".join(head), low, "".join(tail), high)
