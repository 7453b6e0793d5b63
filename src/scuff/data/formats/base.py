"""The base class of file formats, and the formats that need no file of their own: plain text and rows in memory.

A format reads records in chunks and writes them back; what does not change is written byte for byte as it was read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from .nested import find, replaced
from .streams import BadInput, Source

GUESSES = ("text", "sentence", "comment_text", "comment", "content", "review", "tweet", "body", "question")

Value = str | list[str] | None  # a text, a list of tokens, or an empty field

Record = dict[str, Any]  # a row by the column names of its source

Extra = Mapping[str, object]  # columns to add to a record, by name; may be empty

# a record, its texts, and the added columns; None where each record is written only once, so that its end stays as it was
OutputRow = tuple[Any, list[Value], Extra | None]


class Format(ABC):
    """A file format: reads a source in chunks of records, renders records with other texts, and decides what a record is."""

    unit = "record"  # what messages call a record where it has no line number

    def __init__(self, source: Source, columns: Sequence[str] = ()) -> None:
        self.source, self.columns = source, list(columns)
        self.carried: list[str] = []  # columns of spans, which are written with the texts, behind them
        self.maker = "perturbation"  # what makes the texts that are written, for messages
        self.begun = False  # whether the source is a block with records before it: it has no head, and gets none

    @abstractmethod
    def chunks(self) -> Iterator[list[Any]]:
        """Yields lists of records."""

    def usable(self, records: list[Any], fields: Sequence[str]) -> tuple[list[Any], dict[int, str]]:
        """Returns records to perturb, and why some of them stay as they are, by their number.

        fields: other columns that each record must have. Raises BadInput if no record of the file so far can be used.
        """
        return records, {}

    @abstractmethod
    def values(self, record: Any) -> list[Value]:
        """Returns the texts of a record, one per column."""

    @abstractmethod
    def render(self, record: Any, values: list[Value], extra: Extra | None) -> str:
        """Returns a record with other texts, as it is written.

        extra: columns to add, if a record may be written more than once; then a missing line end is added, too.
        """

    def is_blank(self, record: Any) -> bool:
        """Whether a record holds nothing but blank lines or comments."""
        return False

    def line(self, record: Any) -> int | None:
        """Returns the line number of a record, or None if the format has none."""
        return None

    def place(self, record: Any, row: int) -> str:
        """Returns where a record stands in its file, as messages name it. row: its number, from 0."""
        line = self.line(record)
        return f"{self.source.name}: {f'line {line}' if line else f'{self.unit} {row + 1}'}"

    def field(self, record: Any, column: str) -> object:
        """Returns any field of a record, None for a blank line. Raises BadInput if the format has no columns."""
        raise BadInput(
            f"{self.source.name}: expected a table with a column {column!r}, got {type(self).__name__.lower()}"
        )

    def head(self, extra: Iterable[str]) -> str:
        """Returns what is written before the first record."""
        return ""

    def sink(self, out: IO[bytes], extra: Mapping[str, type] | None = None) -> Sink:
        """Returns a writer of records in this format. extra: columns to add, with the type of their values."""
        return Sink(self, out, extra or {})


class Sink:
    """A writer of a file: first its head, then records, each with its copies one after the other."""

    def __init__(self, format: Format, out: IO[bytes], extra: Mapping[str, type]) -> None:
        self.format, self.out, self.extra, self.begun = format, out, extra, format.begun
        self.sizes: list[int] | None = None  # bytes of each row that was written, if they are wanted

    def write(self, records: list[Any], copies: list[list[list[Value]]]) -> None:
        """Writes all copies of each record. copies: the texts by [copy][record][column]."""
        several = "draw" in self.extra
        self.write_rows(
            [
                (record, copy[at], {"draw": number} if several else None)
                for at, record in enumerate(records)
                for number, copy in enumerate(copies)
            ]
        )

    def write_rows(self, rows: Sequence[OutputRow]) -> None:
        # before the head, which an error must not leave behind
        rendered = [self.format.render(*row) for row in rows]
        if self.sizes is not None:
            self.sizes += [len(text.encode(self.format.source.encoding)) for text in rendered]
        self._begin()
        self.put("".join(rendered))

    def close(self) -> None:
        """Must be called once, after the last record."""
        self._begin()

    def _begin(self) -> None:
        if not self.begun:
            self.put(self.format.source.bom + self.format.head(self.extra))
            self.begun = True

    def put(self, text: str) -> None:
        """Writes text in the encoding that was read. Raises BadInput if it lacks a character."""
        source = self.format.source
        try:
            self.out.write(text.encode(source.encoding))
        except UnicodeEncodeError as error:
            made = f"the {self.format.maker} made {text[error.start]!r}"
            raise BadInput(f"{source.name}: expected characters that {source.encoding} has, {made}") from None


class Lines(Format):
    """One text per line."""

    unit = "line"

    def chunks(self) -> Iterator[list[str]]:
        return self.source.chunks()

    def values(self, record: str) -> list[Value]:
        return [record[: len(record) - len(line_end(record))]]

    def render(self, record: str, values: list[Value], extra: Extra | None) -> str:
        if "\n" in str(values[0]):
            raise BadInput(
                f"{self.source.name}: expected a {self.maker} that puts no line ends into lines, got one that does"
            )
        return f"{values[0]}{line_end(record) or ('' if extra is None else chr(10))}"


class Whole(Format):
    """The whole file is one text; copies are separated by form feeds."""

    def chunks(self) -> Iterator[list[str]]:
        yield [self.source.whole()]

    def values(self, record: str) -> list[Value]:
        return [record]

    def render(self, record: str, values: list[Value], extra: Extra | None) -> str:
        return ("\f" if extra and extra["draw"] else "") + str(values[0])


def lone_surrogate(text: str) -> str | None:
    """Returns the first half of a surrogate pair without the other, which only a JSON escape can hold; None if there is none."""
    return None if text.isascii() else next((char for char in text if "\ud800" <= char <= "\udfff"), None)


def line_end(line: str) -> str:
    """Returns the line end, LF or CR LF; the last line of a file may have none."""
    return "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""


class TableFormat(Format):
    """The base of text formats with named columns, whose records have `text`, `fields` and the line number `at`."""

    def is_blank(self, record: Any) -> bool:
        return not record.fields

    def line(self, record: Any) -> int:
        return int(record.at)

    def use(self, names: list[str]) -> None:
        """Sets the columns that hold the texts: those given, else guessed from the names."""
        self.columns = list(dict.fromkeys(self.columns)) or [guess_column(names, self.source.name)]

    @abstractmethod
    def changed(self, record: Any, new: dict[str, Value], extra: Extra) -> str:
        """Returns a record without its line end, with new values for some columns and added columns."""

    def render(self, record: Any, values: list[Value], extra: Extra | None) -> str:
        if not record.fields:
            return str(record.text)
        written = [*self.columns, *self.carried]
        old = [*self.values(record), *(self.field(record, column) for column in self.carried)]
        new = {c: v for c, v, before in zip(written, values, old, strict=True) if v != before}
        end = line_end(record.text)
        if not new and not extra:
            return str(record.text) + ("" if end or extra is None else "\n")
        for taken in [name for name in extra or () if name in self.names(record)]:
            raise self.source.error(record.at, f"expected no column {taken!r}, which is to be added, got one")
        return self.changed(record, new, extra or {}) + (end or ("" if extra is None else "\n"))

    @abstractmethod
    def names(self, record: Any) -> list[str]:
        """Returns the columns of a record."""


def guess_column(names: list[str], where: str) -> str:
    """Returns the only column that can be the text. Raises BadInput, which lists all columns, if none or several can be."""
    found = [name for name in names if name.lower() in GUESSES]
    if len(names) == 1 or len(found) == 1:
        return (found or names)[0]
    raise BadInput(f"{where}: expected --column NAME, one or more of: {', '.join(names) or 'none'}")


class Rows(Format):
    """Dicts in memory. Its sink appends what is written to `written`, and the number of the record it is made of to `sources`."""

    def __init__(self, name: str, records: Sequence[Record], columns: Sequence[str]) -> None:
        super().__init__(Source(name, b""), columns)
        self.records, self.written = records, []  # type: Sequence[Record], list[Record]
        self.sources: list[int] = []
        self.number = {id(record): at for at, record in enumerate(records)}

    def chunks(self) -> Iterator[list[Record]]:
        yield list(self.records)

    def values(self, record: Record) -> list[Value]:
        found = [self._value(record, column) for column in self.columns]
        return [list(value) if isinstance(value, tuple) else value for value in found]

    def _value(self, record: Record, column: str) -> Any:
        """Returns a text, None if it is missing."""
        try:
            value = find(record, column)
        except KeyError:
            return None
        return None if isinstance(value, float) and value != value else value

    def field(self, record: Record, column: str) -> object:
        try:
            return find(record, column)
        except KeyError:
            found = ", ".join(map(str, record))
            raise BadInput(f"{self.source.name}: expected a column {column!r}, got {found}") from None

    def render(self, record: Record, values: list[Value], extra: Extra | None) -> str:
        raise AssertionError("rows are not written as text")

    def sink(self, out: IO[bytes], extra: Mapping[str, type] | None = None) -> Sink:
        return RowSink(self, out, extra or {})


class RowSink(Sink):
    format: Rows

    def write_rows(self, rows: Sequence[OutputRow]) -> None:
        columns = self.format.columns
        for record, values, extra in rows:
            new = dict(record)
            for column, value in zip(columns, values, strict=True) if values != self.format.values(record) else ():
                new = replaced(new, column, value)
            self.format.written.append({**new, **(extra or {})})
            self.format.sources.append(self.format.number[id(record)])

    def close(self) -> None: ...
