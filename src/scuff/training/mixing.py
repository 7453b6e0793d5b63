"""Records and their perturbed copies put together: no copy of a text that is there already, everything counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.dataset import Text
from ..data.formats.base import Extra, Format, Row, Value
from ..data.formats.streams import BadInput
from ..perturbations.plan import blocks
from ..text.ragged import Ragged
from ..text.random import text_bits
from .copies import Copies, Copy

TRACE: dict[str, type] = {"scuff_dimension": str, "scuff_degree": float, "scuff_source": str}


@dataclass
class Counts:
    """What was done. Wanted copies that are neither written nor duplicates are `unchanged`: within the degree there was nothing,
    or nothing else, to change.
    """

    signature: str
    left_out: dict[str, str]  # dimensions that would be there by default, and why they are not
    examples: int = 0  # that have a text
    wanted: int = 0
    copies: Counter[str] = field(default_factory=Counter)  # by dimension
    duplicates: int = 0

    @property
    def unchanged(self) -> int:
        return self.wanted - self.copies.total() - self.duplicates

    def __str__(self) -> str:
        each = ", ".join(f"{name} {count:,}" for name, count in sorted(self.copies.items()))
        parts = [f"{self.examples:,} examples", f"{self.copies.total():,} copies" + (f" ({each})" if each else "")]
        parts += [f"{self.duplicates:,} dropped as duplicates", f"{self.unchanged:,} unchanged"]
        return ", ".join(parts)


@dataclass
class Mixer:
    """Gives every record with its copies behind it. All records must be remembered before the first is mixed."""

    copies: Copies
    made: Counts
    tokens: bool = False  # whether the texts are cut into tokens
    key: str | None = None  # the column that names a record
    clean: bool = True  # whether the records themselves stay
    trace: bool = False  # whether to tell what each row comes from
    number: int = 0  # of the record that comes next; lines between records do not count
    seen: set[int] = field(
        default_factory=set
    )  # 64 bits of each text: among ten million two look alike by chance, 10^-5

    def remember(self, reader: Format, records: Sequence[Any]) -> None:
        self.seen.update(_bits([texts for record in records if (texts := self._texts(reader, record))]))

    def rows(self, reader: Format, records: Sequence[Any]) -> Iterator[list[Row]]:
        """What is to be written, in blocks: where they are cut changes nothing but time."""
        sizes = [1 + sum(len(value) for value in reader.values(record) if value) for record in records]
        for part in blocks(np.array(sizes, np.int64)):
            yield self._block(reader, records[part])

    def _block(self, reader: Format, records: Sequence[Any]) -> list[Row]:
        texts = {at: found for at, record in enumerate(records) if (found := self._texts(reader, record))}
        names = [self._name(reader, record) for record in records]
        copies = dict(zip(texts, self._copies(texts, [names[at] for at in texts]), strict=True))
        self.made.examples += len(texts)
        out: list[Row] = []
        for at, record in enumerate(records):
            if self.clean:
                extra = None if reader.is_blank(record) else self._extra(names[at])
                out.append((record, reader.values(record), extra))
            for copy in copies.get(at, ()):
                new: list[Value] = [list(text) if isinstance(text, tuple) else text for text in copy.texts]
                out.append((record, new, self._extra(names[at], copy)))
        return out

    def _name(self, reader: Format, record: Any) -> str:
        """What a record is called: by its id, or by its number."""
        if reader.is_blank(record):
            return ""
        self.number += 1
        name = reader.field(record, self.key) if self.key else self.number - 1
        if name is None:
            raise self._error(reader, record, f"expected an id in column {self.key!r}, got none")
        return str(name)

    def _copies(self, texts: dict[int, tuple[Text, ...]], names: list[str]) -> list[list[Copy]]:
        if not texts:
            return []
        columns = list(zip(*texts.values(), strict=True))
        found, wanted = self.copies.of(columns, names if self.key else None)
        self.made.wanted += int(wanted.sum())
        bits = iter(_bits([copy.texts for copies in found for copy in copies]))
        return [[copy for copy in copies if self._is_new(copy, next(bits))] for copies in found]

    def _is_new(self, copy: Copy, bits: int) -> bool:
        if bits in self.seen:
            self.made.duplicates += 1
            return False
        self.seen.add(bits)
        self.made.copies[copy.dimension] += 1
        return True

    def _extra(self, source: str, copy: Copy | None = None) -> Extra:
        values = (copy and copy.dimension, copy and round(copy.degree, 4), source)
        return dict(zip(TRACE, values, strict=True)) if self.trace else {}

    def _texts(self, reader: Format, record: Any) -> tuple[Text, ...] | None:
        """The texts of a record that has them."""
        values = reader.values(record)
        if reader.is_blank(record) or any(value is None for value in values):
            return None
        for value in values:
            if not isinstance(value, list if self.tokens else str) or not _is_unicode(value):
                expected = "a list of tokens" if self.tokens else "text"
                raise self._error(reader, record, f"expected {expected} in Unicode, got {value!r:.60}")
        return tuple(tuple(value) if isinstance(value, list) else str(value) for value in values)

    def _error(self, reader: Format, record: Any, message: str) -> BadInput:
        line = reader.line(record)
        return BadInput(f"{reader.source.name}: " + (f"line {line}: " if line else "") + message)


def _is_unicode(value: Value) -> bool:
    """Half a surrogate pair, which a JSON escape can hold, is no text."""
    return not any("\ud800" <= char <= "\udfff" for part in value or () if not part.isascii() for char in part)


def _bits(texts: Sequence[tuple[Text, ...]]) -> list[int]:
    return text_bits(Ragged.of([json.dumps(parts) for parts in texts])).tolist()
