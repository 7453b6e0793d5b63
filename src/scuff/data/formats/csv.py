"""CSV and TSV. Rows keep the text that they were read from, so that unchanged fields keep their quotes."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from .base import Extra, TableFormat, Value, line_end
from .streams import BadInput

CHUNK = 1 << 21  # characters of a chunk of rows

MARKS = {",": "commas", "\t": "tabs"}  # what separates fields, as errors call it


class CsvRow(NamedTuple):
    """A row as it is written, and what it means."""

    text: str
    fields: list[str]  # empty: a blank line
    at: int  # its first line


class Csv(TableFormat):
    """Rows of fields between commas or another mark, under a header or, without one, under their numbers from 1."""

    mark = ","
    others = r"[;\t|]"  # marks that a header of one column is not expected to hold
    named = False  # whether the user has named the mark
    headed = True  # whether the first row is a header
    first = ""  # the text of the header
    header: Sequence[str] = ()  # the names of the columns; of a block, known before it is read

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches a field as it is written. A quotation mark that does not begin the field is a character of it: 5" disk."""
        return re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(self.mark)}]*')

    def rows(self) -> Iterator[CsvRow]:
        """Yields all rows, the header first."""
        csv.field_size_limit(sys.maxsize)
        raw: list[str] = []
        before = self.source.line + 1  # the number of the first line

        def lines() -> Iterator[str]:
            for block in self.source.chunks():
                for line in block:
                    raw.append(line)
                    yield line

        reader = csv.reader(lines(), delimiter=self.mark, strict=True)
        try:
            for fields in reader:
                yield CsvRow("".join(raw), fields, before + reader.line_num - len(raw))
                raw.clear()
        except csv.Error as error:
            begun = before + reader.line_num - len(raw)
            what = "a carriage return outside quotes" if "new-line character" in str(error) else str(error)
            raise self.source.error(begun, f"expected CSV, got a row that begins here: {what}") from None

    def write(self, value: str, old: str) -> str:
        """Returns a field as it is written: in quotes if it needs them or had them before."""
        quoted = old.startswith('"') or any(mark in value for mark in f'{self.mark}"\r\n')
        quoted = quoted or (not value and len(self.header) == 1)  # a blank line is no row
        return '"' + value.replace('"', '""') + '"' if quoted else value

    def split(self, text: str) -> list[str]:
        """Returns the fields of a row as they are written, with their quotes."""
        found, at = [], -1
        while at < len(text):
            field = self.pattern.match(text, at + 1)
            assert field is not None, "the pattern matches the empty text"
            found.append(field.group())
            at = field.end()
        return found

    def chunks(self) -> Iterator[list[CsvRow]]:
        chunk: list[CsvRow] = []
        size = 0
        for row in self.body():
            chunk.append(row)
            size += len(row.text)
            if size > CHUNK:
                yield chunk
                chunk, size = [], 0
        yield chunk

    def body(self) -> Iterator[CsvRow]:
        """Yields the rows below the header; before the first, the columns are known."""
        rows = self.rows()
        if self.begun:
            self._use(self.header)
            yield from rows
            return
        if self.headed:
            self._header(next(rows, None))
            yield from rows
            return
        if self.header:  # the first block of a file
            self._use(self.header)
            yield from rows
            return
        blank: list[CsvRow] = []
        for row in rows:
            if row.fields:
                self._use([str(number) for number in range(1, len(row.fields) + 1)])
                yield from (*blank, row, *rows)
                return
            blank.append(row)
        self._use([])
        yield from blank

    def _header(self, header: CsvRow | None) -> None:
        if header is None or not header.fields:
            raise self.source.error(1, "expected a header, got nothing")
        self.first = header.text
        other = re.search(self.others, header.fields[0])
        if len(header.fields) == 1 and other and not self.named:
            flag = "--format csv" if other[0] == "," else f"--format csv --delimiter {other[0]!r}"
            found = f"{header.fields[0]!r}: is it separated by something else ({flag})?"
            raise self.source.error(1, f"expected columns between {MARKS[self.mark]}, got {found}")
        self._use(header.fields)

    def _use(self, header: Sequence[str]) -> None:
        self.header = header
        if header or self.columns:
            self.use(list(header))
        self.at = [self._index(column) for column in self.columns]

    def _index(self, column: str) -> int:
        if column not in self.header:
            raise self.source.error(1, f"expected a column {column!r}, got {', '.join(self.header) or 'none'}")
        if self.header.count(column) > 1:
            raise self.source.error(1, f"expected one column {column!r}, got {self.header.count(column)}")
        return self.header.index(column)

    def names(self, record: CsvRow) -> list[str]:
        return list(self.header)

    def values(self, record: CsvRow) -> list[Value]:
        if not record.fields:
            return [None] * len(self.at)
        if len(record.fields) != len(self.header):
            raise self.source.error(record.at, f"expected {len(self.header)} fields, got {len(record.fields)}")
        return [record.fields[at] for at in self.at]

    def field(self, record: CsvRow, column: str) -> object:
        return record.fields[self._index(column)] if record.fields else None

    def head(self, extra: Iterable[str]) -> str:
        if not self.headed:
            return ""
        end = line_end(self.first)
        names = [self.first[: len(self.first) - len(end)], *extra]
        return self.mark.join(names) + (end or "\n") if len(names) > 1 else self.first

    def changed(self, record: CsvRow, new: dict[str, Value], extra: Extra) -> str:
        fields = self.split(record.text[: len(record.text) - len(line_end(record.text))])
        for column, value in new.items():
            at = self._index(column)
            fields[at] = self.write(str(value), fields[at])
        added = ["" if value is None else self.write(str(value), "") for value in extra.values()]
        return self.mark.join([*fields, *added])


class Tsv(Csv):
    """Rows of tab-separated fields under a header, without quoting: a quotation mark is an ordinary character."""

    mark = "\t"
    others = r"[,;|]"

    def rows(self) -> Iterator[CsvRow]:
        for lines in self.source.chunks():
            for at, line in enumerate(lines, self.source.line + 1):
                bare = line[: len(line) - len(line_end(line))]
                yield CsvRow(line, self.split(bare) if bare else [], at)

    def split(self, text: str) -> list[str]:
        return text.split(self.mark)

    def write(self, value: str, old: str) -> str:
        if self.mark in value or "\n" in value:
            mark = MARKS.get(self.mark, repr(self.mark))
            raise BadInput(
                f"{self.source.name}: expected a {self.maker} that puts no {mark} into TSV, got one that does"
            )
        return value
