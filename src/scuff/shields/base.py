"""`Shield`, the base class of all shields, and `Repairs`: edits with what was found wrong at each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from ..specs import Part
from ..text.corpus import Corpus
from ..text.edits import Edit, Edits
from ..text.ragged import Bits, Ints, Mask, Ragged
from ..text.unicode import is_white
from ..text.words import Spans

MOST_KINDS = 64  # of one shield or chain: a kind is a bit


@dataclass(frozen=True, eq=False)
class Repairs:
    """Edits that do not overlap, in order, and the kinds of what each mends: bit i of `kind` stands for kinds[i].

    An edit has several kinds where shields of a chain changed the same place one after the other.
    """

    edits: Edits
    kind: Bits
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, edits: Edits, number: Ints, kinds: tuple[str, ...]) -> Repairs:
        """number: of the kind of each edit, in `kinds`."""
        order = np.lexsort((edits.site, edits.stop, edits.start, edits.row))
        return cls(edits.where(order), np.uint64(1) << number[order].astype(np.uint64), kinds)

    @classmethod
    def at(cls, places: Iterable[tuple[int, int, int, str, str]], kinds: tuple[str, ...]) -> Repairs:
        """places: (row, start, stop, new text, kind) of each repair; positions count in its text. For shields that look at texts
        one by one; whole arrays are faster.
        """
        found = list(places)
        row, start, stop = np.array([place[:3] for place in found], np.int64).reshape(-1, 3).T
        new = Ragged.of([place[3] for place in found])
        number = np.array([kinds.index(place[4]) for place in found], np.int64)
        return cls.of(Edits(row, start, stop, new, start, np.maximum(stop - start, new.lengths)), number, kinds)

    @classmethod
    def none(cls, kinds: tuple[str, ...] = ()) -> Repairs:
        return cls(Edits.join([]), np.empty(0, np.uint64), kinds)

    @classmethod
    def join(cls, parts: Sequence[Repairs]) -> Repairs:
        """Repairs of different texts together, in order; all have the same kinds."""
        edits, kind = Edits.join([part.edits for part in parts]), np.concatenate([part.kind for part in parts])
        if (edits.row[1:] < edits.row[:-1]).any():
            order = np.argsort(edits.row, kind="stable")
            edits, kind = edits.where(order), kind[order]
        return cls(edits, kind, parts[0].kinds)

    def __len__(self) -> int:
        return len(self.edits)

    def of_rows(self, rows: Ints) -> Repairs:
        """Repairs of some texts, whose numbers are `rows`, as repairs of all texts."""
        return replace(self, edits=replace(self.edits, row=rows[self.edits.row]))

    def where(self, chosen: Mask) -> Repairs:
        """Some of these repairs."""
        return Repairs(self.edits.where(chosen), self.kind[chosen], self.kinds)

    def joined(self) -> Repairs:
        """The same repairs with each run of deletions as one, as `then` leaves them in texts with repairs of both kinds."""
        edits, gone = self.edits, self.edits.text.lengths == 0
        same = gone[1:] & gone[:-1] & (edits.row[1:] == edits.row[:-1]) & (edits.start[1:] == edits.stop[:-1])
        if not same.any():
            return self
        first = np.flatnonzero(np.append(True, ~same))
        last = np.append(first[1:] - 1, len(edits) - 1)
        cost = np.add.reduceat(edits.cost, first)
        start = edits.start[first]
        runs = Edits(edits.row[first], start, edits.stop[last], edits.text.take(first), start, cost)
        return Repairs(runs, np.bitwise_or.reduceat(self.kind, first), self.kinds)

    def counts(self, rows: int) -> Ints:
        """How many edits of each kind each text has: [rows, kinds]."""
        bit = np.arange(len(self.kinds), dtype=np.uint64)
        has = (self.kind[:, None] >> bit & np.uint64(1)).astype(np.int64)
        out = np.zeros((rows, len(self.kinds)), np.int64)
        np.add.at(out, self.edits.row, has)
        return out

    def then(self, later: Repairs, texts: Ragged) -> Repairs:
        """One set of repairs that does what these and then `later`, which are of the mended texts, do. Without any
        of either, it is the other, with its kinds alone.
        """
        if not len(self) or not len(later):
            return later if len(later) else self
        kinds = tuple(dict.fromkeys((*self.kinds, *later.kinds)))
        first, second = (Repairs(each.edits, _translated(each, kinds), kinds) for each in (self, later))
        has = np.zeros((2, len(texts)), np.bool_)
        has[0, first.edits.row] = has[1, second.edits.row] = True
        both: Mask = has[0] & has[1]
        if not both.any():
            return Repairs.join([first, second])
        alone = [each.where(~both[each.edits.row]) for each in (first, second)]
        rows, place = np.flatnonzero(both), np.cumsum(both) - 1
        first, second = (each.where(both[each.edits.row]).of_rows(place) for each in (first, second))
        return Repairs.join([*alone, first._merged(second, Ragged.take(texts, rows)).of_rows(rows)])

    def _merged(self, later: Repairs, texts: Ragged) -> Repairs:
        """`then`, for repairs with the same kinds."""
        edits, mine, theirs = self.edits.merged(later.edits, texts)
        kind = np.zeros(len(edits), np.uint64)
        np.bitwise_or.at(kind, mine, self.kind)
        np.bitwise_or.at(kind, theirs, later.kind)
        real = edits.changing(texts)
        return Repairs(edits.where(real), kind[real], self.kinds)

    def listed(self, texts: Ragged) -> list[list[tuple[Edit, tuple[str, ...]]]]:
        """For people: the edits of each text, each with the names of its kinds."""
        names = [tuple(name for bit, name in enumerate(self.kinds) if kind >> bit & 1) for kind in self.kind.tolist()]
        out: list[list[tuple[Edit, tuple[str, ...]]]] = []
        number = 0
        for edits in self.edits.listed(texts):
            out.append([(edit, names[number + at]) for at, edit in enumerate(edits)])
            number += len(edits)
        return out


def _translated(repairs: Repairs, kinds: Sequence[str]) -> Bits:
    """The kinds of repairs as bits of other kinds, which include them."""
    if len(kinds) > MOST_KINDS:
        raise ValueError(f"expected at most {MOST_KINDS} kinds of repairs in a chain, got {len(kinds)}")
    out = np.zeros(len(repairs), np.uint64)
    for bit, name in enumerate(repairs.kinds):
        out |= (repairs.kind >> np.uint64(bit) & np.uint64(1)) << np.uint64(kinds.index(name))
    return out


class Shield(Part):
    """Mends texts before a model sees them. A subclass is a frozen dataclass with `mend`; its options are its fields.

    `kinds` names what it finds wrong. What it does depends on the text alone: not on other texts, batches or chance.
    """

    kinds: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def mend(self, corpus: Corpus) -> Repairs:
        """Proposes repairs, which do not overlap, for all texts of a corpus."""

    def leaves(self, text: str) -> bool:
        """Whether a glance is enough to see that a text stays as it is; then no arrays are made of it. False if in doubt."""
        return False

    def in_doubt(self, texts: Sequence[str]) -> list[int]:
        """The places of the texts that a glance does not tell to stay, in order."""
        return [at for at, text in enumerate(texts) if not self.leaves(text)]

    @final
    def repairs(self, corpus: Corpus, guard: Spans | None = None) -> Repairs:
        """Returns the repairs of a corpus that may be made: none that changes nothing, none in a guarded span, and none that
        reaches from one token of a list into another, parts one or leaves it empty.
        """
        found = self.mend(corpus)
        if not isinstance(found, Repairs):
            raise TypeError(f"expected Repairs from {self.spec}.mend, got {type(found).__name__}")
        found = found.joined()
        edits = found.edits
        if not len(edits):
            return found
        keep = edits.changing(corpus)
        if guard is not None and len(guard):
            keep &= ~edits.hitting(guard, corpus.offsets)
        if corpus.of_lists:
            white = np.append(0, np.cumsum(is_white(corpus.codes)))
            spans = edits.spans(corpus.offsets)
            keep &= ~edits.breaking_tokens(corpus) & (white[spans.stop] == white[spans.start])
        return found if keep.all() else found.where(keep)

    @final
    def __call__(self, corpus: Corpus) -> Corpus:
        """Returns the mended corpus."""
        return mended(corpus, self.repairs(corpus))


def mended(corpus: Corpus, repairs: Repairs) -> Corpus:
    """The corpus with repairs made. Its words are found anew, since a repair may join or part them; tokens stay tokens."""
    new = corpus.apply(repairs.edits)
    if new is corpus or corpus.of_lists:
        return new
    return Corpus(new.codes, new.offsets, corpus.keys)
