"""Cuts a file at record ends into blocks, which workers read, treat and write on their own.

Blocks in their order, joined, are the file. Only the place of each is kept, so that memory does not grow with the file.
"""

from __future__ import annotations

import csv
import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from ..text.ragged import Ints
from .formats.base import Format
from .formats.csv import Csv, Tsv
from .formats.files import Block, Input
from .formats.parquet import BATCH, Parquet, open_parquet, pyarrow
from .formats.streams import GZIP, is_stream

SIZE = 1 << 22  # bytes of a block: as many as are read at once where a file is not cut

ROWS = 8 * BATCH  # rows of a block of Parquet: whole batches, since each becomes a row group

AHEAD = 1 << 16  # bytes read behind the size of a block, in which its last record ends as a rule

BLANK = re.compile(r"^[^\S\n]*\n", re.MULTILINE)  # a line that ends a sentence of a token file

CUT = ("lines", "csv", "tsv", "jsonl", "conllu", "tokens", "parquet")  # formats whose records stand on their own


class Cut(NamedTuple):
    """Where a block may end, and how many records stand before that."""

    stop: int
    rows: int


def can_be_cut(source: Input, *outputs: str | None) -> bool:
    """Whether a file can be read, and its outputs written, in blocks: not a pipe, gzip, or another encoding than UTF-8."""
    plain = source.kind in CUT and source.encoding is None and source.content is None and source.rereadable
    if not plain or any(path.endswith(".gz") or is_stream(path) for path in outputs if path):
        return False
    with open(source.path, "rb") as file:
        return not source.path.endswith(".gz") and file.read(len(GZIP)) != GZIP


def is_small(source: Input) -> bool:
    """Whether a file that can be cut would be one block."""
    if source.kind != "parquet":
        return os.path.getsize(source.path) <= SIZE
    return len(list(_row_blocks(source, ROWS))) == 1


def first_chunk(source: Input) -> tuple[Format, list[Any]]:
    """Returns a reader that has read the first records, so that it knows its columns, and these records.

    Raises BadInput if they cannot be read.
    """
    reader = source.open()
    try:
        return reader, next(reader.chunks(), [])
    finally:
        reader.source.close()


def blocks_of(source: Input, reader: Format, size: int | None = None) -> Iterator[Input]:
    """Yields the blocks of a file that can be cut, each as an input. reader: as `first_chunk` returns it.

    size: bytes of a block (rows of Parquet); the first record end behind them ends it.
    """
    known = replace(
        source,
        format=source.kind,
        columns=tuple(reader.columns),
        header=tuple(reader.header) if isinstance(reader, Csv) else None,
    )
    found = _row_blocks(known, size or ROWS) if isinstance(reader, Parquet) else _byte_blocks(reader, size or SIZE)
    return (replace(known, block=block) for block in found)


def _row_blocks(source: Input, rows: int) -> Iterator[Block]:
    """Yields stretches of rows; one where values are numbers in a dictionary, which would be another one in each stretch."""
    with closing(source.source()) as opened:
        file = open_parquet(opened)
        total, schema = file.metadata.num_rows, file.schema_arrow
    types = pyarrow()[0].types
    if any(types.is_dictionary(field.type) for field in schema):
        rows = max(total, 1)
    for start in range(0, max(total, 1), rows):
        yield Block(start, min(start + rows, total), 0, start, total)


def _byte_blocks(reader: Format, size: int) -> Iterator[Block]:
    """Yields stretches of bytes that end where a record ends."""
    cutter, start, line, row = _cutter(reader), 0, 0, 0
    headed = isinstance(reader, Csv) and reader.headed
    with open(reader.source.name, "rb") as file:
        rest, wanted, whole = b"", size + AHEAD, os.fstat(file.fileno()).st_size
        while True:
            rest += (more := file.read(wanted - len(rest)))
            mark = len(BOM_UTF8) if start == 0 and rest.startswith(BOM_UTF8) else 0
            cut = cutter.cut(rest[mark:], max(size - mark, 0))
            if cut is None and more:
                wanted = 2 * len(rest)  # a record that is larger than a block
                continue
            stop, rows = (mark + cut.stop, cut.rows) if cut else (len(rest), 0)
            if stop:
                yield Block(start, start + stop, line, row, whole)
            if cut is None:
                return
            line += rest.count(b"\n", 0, stop)
            row += rows - (headed and start == 0)
            start, rest = start + stop, rest[stop:]
            wanted = max(size, len(rest)) + AHEAD  # behind a long record more may be held than is needed


def _cutter(reader: Format) -> _Lines:
    if isinstance(reader, Csv) and not isinstance(reader, Tsv):
        return _Rows(reader.mark)
    return _Sentences() if reader.unit == "sentence" else _Lines()


class _Lines:
    """Each line is a record."""

    def cut(self, content: bytes, size: int) -> Cut | None:
        """Returns the first record end behind the first `size` bytes; None if there is none."""
        stop = content.find(b"\n", size) + 1
        return Cut(stop, content.count(b"\n", 0, stop)) if stop else None


class _Sentences(_Lines):
    """A blank line ends a record."""

    def cut(self, content: bytes, size: int) -> Cut | None:
        begin = content.rfind(b"\n", 0, size) + 1  # of the line in which the size is reached
        rows, stop = len(BLANK.findall(_decoded(content[:begin]))), begin
        for line in BytesIO(content[begin : content.rfind(b"\n") + 1]):
            stop += len(line)
            if BLANK.match(_decoded(line)):
                rows += 1
                if stop > size:
                    return Cut(stop, rows)
        return None


class _Rows(_Lines):
    """A row of CSV may go over several lines, inside quotation marks."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def cut(self, content: bytes, size: int) -> Cut | None:
        ends = self.ends(content)
        at = int(np.searchsorted(ends, size, "right"))
        return Cut(int(ends[at]), at + 1) if at < ends.size else None

    def ends(self, content: bytes) -> Ints:
        """Returns where rows end, up to the last one that does."""
        byte = np.frombuffer(content, np.uint8)
        lines, quotes = np.flatnonzero(byte == ord("\n")), np.flatnonzero(byte == ord('"'))
        if not quotes.size:
            return lines + 1
        opening = quotes[::2]  # if each opens a field, or is the second of two that stand for one inside a field
        before = np.where(opening > 0, byte[opening - 1], ord("\n"))
        usual = (before == ord(self.mark)) | (before == ord("\n")) | (before == ord('"'))
        if not self.mark.isascii() or not usual.all():
            return self._ends_by_reading(content)
        outside = np.searchsorted(quotes, lines) % 2 == 0
        found: Ints = lines[outside] + 1
        return found

    def _ends_by_reading(self, content: bytes) -> Ints:
        """Returns the same as `ends`, also where a field has a quotation mark inside, as in 5" disk."""
        csv.field_size_limit(sys.maxsize)
        lines = BytesIO(content[: content.rfind(b"\n") + 1]).readlines()
        stops = np.cumsum([len(line) for line in lines]).tolist()
        rows, ends = csv.reader(map(_decoded, lines), delimiter=self.mark, strict=True), []  # type: Any, list[int]
        while rows.line_num < len(lines):
            try:
                next(rows, None)
            except csv.Error:
                if rows.line_num < len(lines):  # the worker that reads this row raises the error
                    ends.append(stops[rows.line_num - 1])
                    continue
                break  # or the row goes on behind the content
            ends.append(stops[rows.line_num - 1])
        return np.array(ends, np.int64)


def _decoded(content: bytes) -> str:
    """Returns bytes as text; where they are none, the worker that reads them raises the error."""
    return content.decode("utf-8", "surrogateescape")
