"""Records in memory as a format of their own: read as a file is, written as a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from .formats import Extra, Format, Row, Sink, Value
from .records import Record
from .streams import BadInput, Source


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
