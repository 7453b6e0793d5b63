"""Records followed by their perturbed copies, without copies that are equal to a known text, and the counts of both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..data.dataset import Text
from ..data.formats.base import Extra, Format, OutputRow, Value, lone_surrogate
from ..data.formats.streams import BadInput
from ..data.perturbing import PROBE, raise_same
from ..isolation import Blameless, Failures, isolated
from ..perturbations.blocks import blocks
from ..text.ragged import Bits, Ints, Ragged
from ..text.random import text_bits
from .copies import Copies, Copy, DealtCopies, Ranks
from .mixtures import example_keys, ranked

ExampleCopies = tuple[int, list[Copy], int]  # the number of an example, its copies, and how many were wanted

# added columns that say where a row comes from, and the types of their values
TRACE: dict[str, type] = {"scuff_dimension": str, "scuff_degree": float, "scuff_source": str}


@dataclass
class Counts:
    """Counts of what was written. Wanted copies that could not be made within the degree are `unchanged`."""

    signature: str
    left_out: dict[str, str]  # default dimensions that were left out, and why
    examples: int = 0  # records that have a text
    wanted: int = 0
    copies: Counter[str] = field(default_factory=Counter)  # by dimension
    duplicates: int = 0  # copies that were equal to a known text
    still: int = 0  # copies in which nothing changed, which a mixture without clean examples keeps
    failures: Failures = field(default_factory=Failures)  # examples that a dimension raised on, which get no copies

    @property
    def unchanged(self) -> int:
        return self.wanted - self.copies.total() - self.duplicates

    def add(self, other: Counts) -> None:
        """Adds other counts to these."""
        self.examples += other.examples
        self.wanted += other.wanted
        self.copies += other.copies
        self.duplicates += other.duplicates
        self.still += other.still
        self.failures.extend(other.failures)

    def __str__(self) -> str:
        each = ", ".join(f"{name} {count:,}" for name, count in sorted(self.copies.items()))
        parts = [f"{self.examples:,} examples", f"{self.copies.total():,} copies" + (f" ({each})" if each else "")]
        parts += [f"{self.duplicates:,} dropped as duplicates", f"{self.unchanged + self.still:,} unchanged"]
        return ", ".join(parts)


class Seen:
    """Hashes of texts: those of the data as a sorted array, which processes share, and those that are added."""

    def __init__(self, known: Bits | None = None) -> None:
        self.known, self.added = np.zeros(0, np.uint64) if known is None else known, set[int]()

    def __contains__(self, bits: int) -> bool:
        if bits in self.added:
            return True
        at = int(np.searchsorted(self.known, np.uint64(bits))) if self.known.size else 0
        return at < self.known.size and int(self.known[at]) == bits

    def add(self, bits: int) -> None:
        self.added.add(bits)


@dataclass
class Mixer:
    """A stream of records, each followed by its copies. All records must be given to `remember` before `rows` is called."""

    copies: Copies | DealtCopies
    made: Counts
    tokens: bool = False  # whether the texts are lists of tokens
    key: str | None = None  # the column that names a record
    clean: bool = True  # whether the records themselves are kept
    trace: bool = False  # whether to add the columns of TRACE
    exact: bool = False  # whether shares and parts are exact: then `remember` ranks the examples
    number: int = 0  # of the next record; blank lines do not count
    row: int = 0  # of the next record; blank lines do
    # a 64-bit hash of each text; that any two of ten million texts collide has probability 10^-5
    seen: Seen = field(default_factory=Seen)
    keys: list[Bits] = field(default_factory=list)  # of the examples, in their order, if shares are exact
    before: int = 0  # examples in front of the first record
    ranks: Ints | None = None  # of all examples, if shares are exact; default: computed of the keys
    written: list[tuple[int, str] | None] | None = None  # if wanted, hash and dimension of each row that is a copy

    def remember(self, reader: Format, records: Sequence[Any]) -> int:
        """Adds the texts of records to those that no copy may be equal to, and, if shares are exact, their keys.

        Returns how many records have texts.
        """
        found = [(texts, record) for record in records if (texts := self._texts(reader, record))]
        self.seen.added.update(_bits([texts for texts, _ in found]))
        if self.exact and found:
            ids = [str(reader.field(record, self.key)) for _, record in found] if self.key else None
            self.keys.append(example_keys(list(zip(*(texts for texts, _ in found), strict=True)), ids))
        return len(found)

    @property
    def repeats(self) -> bool:
        """Whether copies are written even if they are equal to a known text."""
        return isinstance(self.copies, DealtCopies) and self.copies.keep

    @cached_property
    def _ranks(self) -> Ints:
        return ranked(np.concatenate(self.keys), self.copies.seed) if self.ranks is None else self.ranks

    def rows(self, reader: Format, records: Sequence[Any]) -> Iterator[list[OutputRow]]:
        """Yields the rows to write, in blocks. The size of the blocks does not change the rows."""
        sizes = [1 + sum(len(value) for value in reader.values(record) if value) for record in records]
        for part in blocks(np.array(sizes, np.int64)):
            yield self._block(reader, records[part])

    def _block(self, reader: Format, records: Sequence[Any]) -> list[OutputRow]:
        texts = {at: found for at, record in enumerate(records) if (found := self._texts(reader, record))}
        names = [self._name(reader, record) for record in records]
        first, self.row = self.row, self.row + len(records)

        def failed(at: int, reason: str) -> list[ExampleCopies]:
            self.made.failures.add(reader.place(records[at], first + at), reason)
            return [(at, [], 0)]

        copies = self._copies(texts, names, failed)
        self.made.examples += len(texts)
        self.made.still += sum(copy.texts == texts[at] for at, found in copies.items() for copy, _ in found)
        out: list[OutputRow] = []
        for at, record in enumerate(records):
            if self.clean:
                extra = None if reader.is_blank(record) else self._extra(names[at])
                out.append((record, reader.values(record), extra))
            if self.written is not None:
                self.written += [None] * self.clean + [(bits, copy.dimension) for copy, bits in copies.get(at, ())]
            for copy, _ in copies.get(at, ()):
                new: list[Value] = [list(text) if isinstance(text, tuple) else text for text in copy.texts]
                out.append((record, new, self._extra(names[at], copy)))
        return out

    def _name(self, reader: Format, record: Any) -> str:
        """Returns the id of a record, or its number if there is no column of ids."""
        if reader.is_blank(record):
            return ""
        self.number += 1
        name = reader.field(record, self.key) if self.key else self.number - 1
        if name is None:
            raise self._error(reader, record, f"expected an id in column {self.key!r}, got none")
        return str(name)

    def _copies(
        self, texts: dict[int, tuple[Text, ...]], names: list[str], failed: Callable[[int, str], list[ExampleCopies]]
    ) -> dict[int, list[tuple[Copy, int]]]:
        """Returns the new copies of each example, with their hashes, by its number in the block. failed: called for those that
        raise.
        """

        place = {at: self.before + self.made.examples + number for number, at in enumerate(texts)}  # among all examples

        def work(rows: Sequence[int]) -> list[ExampleCopies]:
            columns = list(zip(*(texts[at] for at in rows), strict=True))
            ranks = Ranks(self._ranks[[place[at] for at in rows]], self._ranks.size) if self.exact else None
            found, wanted = self.copies.of(columns, [names[at] for at in rows] if self.key else None, ranks)
            return list(zip(rows, found, wanted.tolist(), strict=True))

        if not texts:
            return {}
        try:
            made = work(list(texts))
        except Blameless:
            raise
        except (Exception, SystemExit) as error:
            self._raise_hopeless(error)
            made = [one for part in isolated(list(texts), work, failed) for one in part]
        self.made.wanted += sum(wanted for _, _, wanted in made)
        bits = iter(_bits([copy.texts for _, copies, _ in made for copy in copies]))
        return {
            at: [(copy, own) for copy, own in ((copy, next(bits)) for copy in copies) if self._is_new(copy, own)]
            for at, copies, _ in made
        }

    def _raise_hopeless(self, error: BaseException) -> None:
        """Raises an error if a plain example gives the same one, since then it is not about an example."""
        plain: Text = tuple(PROBE.split()) if self.tokens else PROBE
        try:
            self.copies.of([[plain] for _ in range(1 + max(self.copies.sides))])
        except (Exception, SystemExit) as same:
            raise_same(error, same, "a dimension")

    def _is_new(self, copy: Copy, bits: int) -> bool:
        if not self.repeats and bits in self.seen:
            self.made.duplicates += 1
            return False
        self.seen.add(bits)
        self.made.copies[copy.dimension] += 1
        return True

    def _extra(self, source: str, copy: Copy | None = None) -> Extra:
        values = (copy and copy.dimension, copy and round(copy.degree, 4), source)
        return dict(zip(TRACE, values, strict=True)) if self.trace else {}

    def _texts(self, reader: Format, record: Any) -> tuple[Text, ...] | None:
        """Returns the texts of a record, None if one is missing. Raises BadInput for values of other types."""
        values = reader.values(record)
        if reader.is_blank(record) or any(value is None for value in values):
            return None
        for value in values:
            parts = [value] if isinstance(value, str) else value or []
            expected = "a list of tokens" if self.tokens else "text"
            if not isinstance(value, list if self.tokens else str):
                raise self._error(reader, record, f"expected {expected}, as in other records, got {value!r:.60}")
            if any(map(lone_surrogate, parts)):
                raise self._error(reader, record, f"expected {expected} in Unicode, got {value!r:.60}")
        return tuple(tuple(value) if isinstance(value, list) else str(value) for value in values)

    def _error(self, reader: Format, record: Any, message: str) -> BadInput:
        return BadInput(f"{reader.place(record, self.row) if reader.line(record) else reader.source.name}: {message}")


def _bits(texts: Sequence[tuple[Text, ...]]) -> list[int]:
    return text_bits(Ragged.of([json.dumps(parts) for parts in texts])).tolist()
