"""What file formats share: chunks of records, each of which is written back byte for byte where it does not change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from .streams import BadInput, Source

Value = str | list[str] | None  # a text, a text in tokens, or nothing

Record = dict[str, Any]  # a row as a dict of what its source calls its columns
Extra = Mapping[str, object]  # columns that are added to a record, which may be none

Row = tuple[Any, list[Value], Extra | None]  # a record, its texts, and what is added where it is written several times


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
    def render(self, record: Any, values: list[Value], extra: Extra | None) -> str:
        """A record with other texts, and other columns where it has several versions: then each ends as a record must."""

    def is_blank(self, record: Any) -> bool:
        """Whether a record is but a line between records."""
        return False

    def line(self, record: Any) -> int | None:
        """Where a record stands, for formats that know."""
        return None

    def field(self, record: Any, column: str) -> object:
        """Any field of a record, for formats that have columns; None for a blank line."""
        raise BadInput(
            f"{self.source.name}: expected a table with a column {column!r}, got {type(self).__name__.lower()}"
        )

    def head(self, extra: Iterable[str]) -> str:
        """What stands before all records."""
        return ""

    def sink(self, out: IO[bytes], extra: Mapping[str, type] | None = None) -> Sink:
        """Where records of this source are written; `extra` are columns that are added, with the type of their values."""
        return Sink(self, out, extra or {})


class Sink:
    """Writes records in their order, each in all its versions, behind the head of the file."""

    def __init__(self, format: Format, out: IO[bytes], extra: Mapping[str, type]) -> None:
        self.format, self.out, self.extra, self.begun = format, out, extra, False

    def write(self, records: list[Any], versions: list[list[list[Value]]]) -> None:
        """versions[draw][record][column]"""
        several = "draw" in self.extra
        self.write_rows(
            [
                (record, version[at], {"draw": draw} if several else None)
                for at, record in enumerate(records)
                for draw, version in enumerate(versions)
            ]
        )

    def write_rows(self, rows: Sequence[Row]) -> None:
        self._begin()
        self.out.write("".join([self.format.render(*row) for row in rows]).encode())

    def close(self) -> None:
        """Once, after the last record."""
        self._begin()

    def _begin(self) -> None:
        if not self.begun:
            self.out.write((self.format.source.bom + self.format.head(self.extra)).encode())
            self.begun = True


class Lines(Format):
    """A text per line."""

    def chunks(self) -> Iterator[list[str]]:
        return self.source.chunks()

    def values(self, record: str) -> list[Value]:
        return [record[: len(record) - len(line_end(record))]]

    def render(self, record: str, values: list[Value], extra: Extra | None) -> str:
        if "\n" in str(values[0]):
            raise BadInput(
                f"{self.source.name}: expected an attack that puts no line ends into lines, got one that does"
            )
        return f"{values[0]}{line_end(record) or ('' if extra is None else chr(10))}"


class Whole(Format):
    """The whole file is one text; several versions of it follow each other, a form feed between them."""

    def chunks(self) -> Iterator[list[str]]:
        yield [self.source.whole()]

    def values(self, record: str) -> list[Value]:
        return [record]

    def render(self, record: str, values: list[Value], extra: Extra | None) -> str:
        return ("\f" if extra and extra["draw"] else "") + str(values[0])


def line_end(line: str) -> str:
    """The line feed, with the carriage return before it, that ends a line; the last line may have none."""
    return "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""


GUESSES = ("text", "sentence", "comment_text", "comment", "content", "review", "tweet", "body", "question")


class TableFormat(Format):
    """What tables share: columns by name, more of them where a record has several versions."""

    def is_blank(self, record: Any) -> bool:
        return not record.fields

    def line(self, record: Any) -> int:
        return int(record.at)

    def use(self, names: list[str]) -> None:
        """Settle which columns hold the texts."""
        self.columns = list(dict.fromkeys(self.columns)) or [guess_column(names, self.source.name)]

    @abstractmethod
    def changed(self, record: Any, new: dict[str, Value], extra: Extra) -> str:
        """A record, without its line end, with some other values and some more."""

    def render(self, record: Any, values: list[Value], extra: Extra | None) -> str:
        if not record.fields:
            return str(record.text)
        new = {c: v for c, v in zip(self.columns, values, strict=True) if v != self.field(record, c)}
        end = line_end(record.text)
        if not new and not extra:
            return str(record.text) + ("" if end or extra is None else "\n")
        for taken in [name for name in extra or () if name in self.names(record)]:
            raise self.source.error(record.at, f"expected no column {taken!r}, which is to be added, got one")
        return self.changed(record, new, extra or {}) + (end or ("" if extra is None else "\n"))

    @abstractmethod
    def names(self, record: Any) -> list[str]: ...


def guess_column(names: list[str], where: str) -> str:
    """The column that must be the text, or an error that lists what there is."""
    found = [name for name in names if name.lower() in GUESSES]
    if len(names) == 1 or len(found) == 1:
        return (found or names)[0]
    raise BadInput(f"{where}: expected --column NAME, one or more of: {', '.join(names)}")


class Rows(Format):
    """A list of dicts; what is written is in `written`."""

    def __init__(self, name: str, records: Sequence[Record], columns: Sequence[str]) -> None:
        super().__init__(Source(name, b""), columns)
        self.records, self.written = records, []  # type: Sequence[Record], list[Record]

    def chunks(self) -> Iterator[list[Record]]:
        yield list(self.records)

    def values(self, record: Record) -> list[Value]:
        found = [record.get(column) for column in self.columns]
        return [list(value) if isinstance(value, tuple) else value for value in found]

    def field(self, record: Record, column: str) -> object:
        if column not in record:
            raise BadInput(f"{self.source.name}: expected a column {column!r}, got {', '.join(map(str, record))}")
        return record[column]

    def render(self, record: Record, values: list[Value], extra: Extra | None) -> str:
        raise AssertionError("rows are not written as text")

    def sink(self, out: IO[bytes], extra: Mapping[str, type] | None = None) -> Sink:
        return RowSink(self, out, extra or {})


class RowSink(Sink):
    format: Rows

    def write_rows(self, rows: Sequence[Row]) -> None:
        columns = self.format.columns
        for record, values, extra in rows:
            same: Any = values == self.format.values(record)
            new = {} if same else dict(zip(columns, values, strict=True))
            self.format.written.append({**record, **new, **(extra or {})})

    def close(self) -> None: ...
