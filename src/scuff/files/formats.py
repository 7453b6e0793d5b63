"""File formats as chunks of records: each knows its texts and how to write itself with other texts.

A record that is not changed is written as it was read, byte for byte.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import IO, Any

from .streams import BadInput, Source

Value = str | list[str] | None  # a text, a text in tokens, or nothing


class Format(ABC):
    """Reads a source in chunks and writes chunks back."""

    def __init__(self, source: Source, columns: Sequence[str] = ()) -> None:
        self.source, self.columns = source, list(columns)

    @abstractmethod
    def chunks(self) -> Iterator[list[Any]]:
        """Lists of records."""

    @abstractmethod
    def values(self, record: Any) -> list[Value]:
        """The texts of a record, one per column."""

    @abstractmethod
    def render(self, record: Any, values: list[Value], draw: int | None) -> str:
        """A record with other texts. `draw` numbers the versions where there are several."""

    def line(self, record: Any) -> int | None:
        """Where a record stands, for formats that know."""
        return None

    def field(self, record: Any, column: str) -> object:
        """Any field of a record, for formats that have columns; None for a blank line."""
        raise BadInput(
            f"{self.source.name}: expected a table with a column {column!r}, got {type(self).__name__.lower()}"
        )

    def head(self, draws: bool) -> str:
        """What stands before all records."""
        return ""

    def sink(self, out: IO[bytes], draws: int = 1) -> Sink:
        """Where records of this source are written, each in `draws` versions."""
        return Sink(self, out, draws)


class Sink:
    """Writes records in their order, each in all its versions, behind the head of the file."""

    def __init__(self, format: Format, out: IO[bytes], draws: int) -> None:
        self.format, self.out, self.draws, self.begun = format, out, draws, False

    def write(self, records: list[Any], versions: list[list[list[Value]]]) -> None:
        """versions[draw][record][column]"""
        self._begin()
        several = self.draws > 1
        parts = [
            self.format.render(record, version[at], draw if several else None)
            for at, record in enumerate(records)
            for draw, version in enumerate(versions)
        ]
        self.out.write("".join(parts).encode())

    def close(self) -> None:
        """Once, after the last record."""
        self._begin()

    def _begin(self) -> None:
        if not self.begun:
            self.out.write((self.format.source.bom + self.format.head(self.draws > 1)).encode())
            self.begun = True


class Lines(Format):
    """A text per line."""

    def chunks(self) -> Iterator[list[str]]:
        return self.source.chunks()

    def values(self, record: str) -> list[Value]:
        return [record[: len(record) - len(line_end(record))]]

    def render(self, record: str, values: list[Value], draw: int | None) -> str:
        if "\n" in str(values[0]):
            raise BadInput(
                f"{self.source.name}: expected an attack that puts no line ends into lines, got one that does"
            )
        return f"{values[0]}{line_end(record) or ('' if draw is None else chr(10))}"


class Whole(Format):
    """The whole file is one text; several versions of it follow each other, a form feed between them."""

    def chunks(self) -> Iterator[list[str]]:
        yield [self.source.whole()]

    def values(self, record: str) -> list[Value]:
        return [record]

    def render(self, record: str, values: list[Value], draw: int | None) -> str:
        return ("\f" if draw else "") + str(values[0])


def line_end(line: str) -> str:
    """The line feed, with the carriage return before it, that ends a line; the last line may have none."""
    return "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""
