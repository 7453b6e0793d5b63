"""Tables: CSV, TSV and JSON lines. Columns that are not perturbed, and rows that do not change, stay byte for byte."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from .formats import Format, Value, line_end
from .streams import BOM, BadInput

GUESSES = ("text", "sentence", "comment_text", "comment", "content", "review", "tweet", "body", "question")


class Object(NamedTuple):
    line: str
    fields: dict[str, Any] | None  # None: a blank line
    at: int


class Row(NamedTuple):
    line: str
    fields: list[str]  # empty: a blank line
    at: int


class Jsonl(Format):
    """An object per line."""

    def chunks(self) -> Iterator[list[Object]]:
        for lines in self.source.chunks():
            yield [Object(line, self._parse(line, at), at) for at, line in enumerate(lines, self.source.line + 1)]

    def _parse(self, line: str, at: int) -> dict[str, Any] | None:
        if not line.strip():
            return None
        try:
            found = json.loads(line.removeprefix(BOM))
        except json.JSONDecodeError as error:
            raise self.source.error(at, f"expected a JSON object, got {error.msg} at character {error.colno}") from None
        if not isinstance(found, dict):
            raise self.source.error(at, f"expected a JSON object, got {type(found).__name__}")
        if not self.columns:
            self.columns = [guess_column(list(found), self.source.name)]
        return found

    def values(self, record: Object) -> list[Value]:
        return [self._text(self.field(record, column), column, record.at) for column in self.columns]

    def field(self, record: Object, column: str) -> Any:
        if record.fields is None:
            return None
        if column not in record.fields:
            raise self.source.error(record.at, f"expected a column {column!r}, got {', '.join(record.fields)}")
        return record.fields[column]

    def _text(self, value: Any, column: str, at: int) -> Value:
        if (
            value is None
            or isinstance(value, str)
            or (isinstance(value, list) and all(isinstance(v, str) for v in value))
        ):
            return value
        raise self.source.error(
            at, f"expected text or a list of tokens in column {column!r}, got {type(value).__name__}"
        )

    def render(self, record: Object, values: list[Value], draw: int | None) -> str:
        new = dict(zip(self.columns, values, strict=True))
        if record.fields is None or (
            draw is None and all(record.fields[column] == value for column, value in new.items())
        ):
            return record.line
        more = {} if draw is None else {"draw": draw}
        end = line_end(record.line) or ("" if draw is None else "\n")
        return json.dumps({**record.fields, **new, **more}, ensure_ascii=False) + end


class Csv(Format):
    """Rows of comma-separated fields under a header."""

    def rows(self) -> Iterator[Row]:
        csv.field_size_limit(sys.maxsize)
        raw: list[str] = []

        def lines() -> Iterator[str]:
            for block in self.source.chunks():
                for line in block:
                    raw.append(line)
                    yield line

        reader = csv.reader(lines(), strict=True)
        try:
            for fields in reader:
                yield Row("".join(raw), fields, reader.line_num - len(raw) + 1)
                raw.clear()
        except csv.Error as error:
            raise self.source.error(reader.line_num, f"expected CSV, got: {error}") from None

    def join(self, fields: list[str]) -> str:
        out = io.StringIO()
        csv.writer(out, lineterminator="\r\n").writerow(fields)  # which tells it to quote line ends inside fields
        return out.getvalue()[:-2]

    def chunks(self) -> Iterator[list[Row]]:
        chunk, size = [], 0
        rows = self.rows()
        self._header(next(rows, None))
        for row in rows:
            chunk.append(row)
            size += len(row.line)
            if size > 1 << 21:
                yield chunk
                chunk, size = [], 0
        yield chunk

    def _header(self, header: Row | None) -> None:
        if header is None or not header.fields:
            raise self.source.error(1, "expected a header, got nothing")
        self.first, self.end = header.line, line_end(header.line) or "\n"
        self.names = [header.fields[0].removeprefix(BOM), *header.fields[1:]]
        self.columns = self.columns or [guess_column(self.names, self.source.name)]
        self.at = [self._index(column) for column in self.columns]

    def _index(self, column: str) -> int:
        if column not in self.names:
            raise self.source.error(1, f"expected a column {column!r}, got {', '.join(self.names)}")
        return self.names.index(column)

    def values(self, record: Row) -> list[Value]:
        if not record.fields:
            return [None] * len(self.at)
        if len(record.fields) != len(self.names):
            raise self.source.error(record.at, f"expected {len(self.names)} fields, got {len(record.fields)}")
        return [record.fields[at] for at in self.at]

    def field(self, record: Row, column: str) -> object:
        return record.fields[self._index(column)] if record.fields else None

    def head(self, draws: bool) -> str:
        return self.join([*self.names, "draw"]) + self.end if draws else self.first

    def render(self, record: Row, values: list[Value], draw: int | None) -> str:
        new = dict(zip(self.at, values, strict=True))
        if not record.fields or (draw is None and all(record.fields[at] == value for at, value in new.items())):
            return record.line
        fields = [str(new.get(at, field)) for at, field in enumerate(record.fields)]
        return self.join(fields if draw is None else [*fields, str(draw)]) + (
            line_end(record.line) or ("" if draw is None else self.end)
        )


class Tsv(Csv):
    """Rows of tab-separated fields under a header, without quoting: a quotation mark is a character like any other."""

    def rows(self) -> Iterator[Row]:
        for lines in self.source.chunks():
            for at, line in enumerate(lines, self.source.line + 1):
                bare = line[: len(line) - len(line_end(line))]
                yield Row(line, bare.split("\t") if bare else [], at)

    def join(self, fields: list[str]) -> str:
        if any("\t" in field or "\n" in field for field in fields):
            raise BadInput(f"{self.source.name}: expected an attack that puts no tabs into TSV, got one that does")
        return "\t".join(fields)


def guess_column(names: list[str], where: str) -> str:
    """The column that must be the text, or an error that lists what there is."""
    found = [name for name in names if name.lower() in GUESSES]
    if len(names) == 1 or len(found) == 1:
        return (found or names)[0]
    raise BadInput(f"{where}: expected --column NAME, one or more of: {', '.join(names)}")
