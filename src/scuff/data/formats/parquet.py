"""Parquet, through pyarrow. Records are row numbers of the current batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from ...stores import StoreError
from .base import Extra, Format, OutputRow, Sink, Value, guess_column
from .nested import find, replaced
from .streams import BadInput, Source

BATCH = 1 << 14  # rows read at once


class Parquet(Format):
    """A Parquet table, whose schema and other columns stay.

    Of a part of the rows, the sink writes an Arrow stream: `join_parts` makes one file of such streams.
    """

    part: tuple[int, int] | None = None  # the only rows that are read

    def chunks(self) -> Iterator[list[Any]]:
        file = open_parquet(self.source)
        self.schema = file.schema_arrow
        texts = [field.name for field in self.schema if self._is_text(field.type)]
        if not texts and not self.columns:
            kinds = ", ".join(f"{field.name} ({field.type})" for field in self.schema)
            raise BadInput(f"{self.source.name}: expected a column of text, got {kinds}")
        self.columns = list(dict.fromkeys(self.columns)) or [guess_column(texts, self.source.name)]
        for column in self.columns:
            if not self._is_text(kind := self._kind(column)):
                raise BadInput(f"{self.source.name}: expected text in column {column!r}, got {kind}")
        batches = file.iter_batches(BATCH) if self.part is None else _batches(file, *self.part)
        for batch in _readable(self.source, batches):
            self.batch = batch
            self.texts = [self.inner(batch.column(self.index(column)).to_pylist(), column) for column in self.columns]
            yield list(range(batch.num_rows))

    def _is_text(self, kind: Any) -> bool:
        pa, _ = pyarrow()
        types = pa.types
        if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
            kind = kind.value_type
        return bool(types.is_string(kind) or types.is_large_string(kind))

    def values(self, record: int) -> list[Value]:
        found: list[Value] = [column[record] for column in self.texts]
        if any(isinstance(value, list) and None in value for value in found):
            raise BadInput(f"{self.source.name}: expected lists of tokens without nulls, got one with")
        return found

    def field(self, record: int, column: str) -> object:
        self._kind(column)
        value: object = self.inner([self.batch.column(self.index(column))[record].as_py()], column)[0]
        return value

    def index(self, column: str) -> int:
        """Returns the number of a column, or of that around a nested one. Raises BadInput if there is none of that name."""
        names: list[str] = self.schema.names
        outer = self.outer(column)
        if outer not in names:
            raise BadInput(f"{self.source.name}: expected a column {column!r}, got {', '.join(names)}")
        return names.index(outer)

    def outer(self, column: str) -> str:
        """Returns the column of the table in which a field is: a for a.b.text, unless a column has that name."""
        return column if column in self.schema.names else column.split(".")[0]

    def inner(self, values: list[Any], column: str) -> list[Any]:
        """Returns the field of a nested column of each value of the column around it."""
        outer = self.outer(column)
        return values if outer == column else [find({outer: value}, column) for value in values]

    def _kind(self, column: str) -> Any:
        """Returns the type of a column, or of a field inside. Raises BadInput if there is none."""
        kind = self.schema.field(self.index(column)).type
        for part in column.split(".")[1:] if self.outer(column) != column else ():
            at = kind.get_field_index(part) if pyarrow()[0].types.is_struct(kind) else -1
            if at < 0:
                raise BadInput(f"{self.source.name}: expected a column {column!r}, got {self.outer(column)} ({kind})")
            kind = kind.field(at).type
        return kind

    def render(self, record: int, values: list[Value], extra: Extra | None) -> str:
        raise AssertionError("Parquet is written by column")

    def sink(self, out: IO[bytes], extra: Mapping[str, type] | None = None) -> Sink:
        return (ParquetSink if self.part is None else ArrowSink)(self, out, extra or {})


class ParquetSink(Sink):
    """A writer by column. The file begins with the first rows, or when it is closed without any."""

    format: Parquet
    writer: Any = None

    def write_rows(self, rows: Sequence[OutputRow]) -> None:
        pa, _ = pyarrow()
        source = self.format
        table = pa.Table.from_batches([source.batch]).take([record for record, _, _ in rows])
        for at, column in enumerate([*source.columns, *source.carried]):
            number, outer = source.index(column), source.outer(column)
            field = source.schema.field(number)
            values: list[Any] = [new[at] for _, new, _ in rows]
            if outer != column:
                old = table.column(number).to_pylist()
                pairs = zip(old, source.inner(old, column), values, strict=True)
                values = [o if before == v else replaced({outer: o}, column, v)[outer] for o, before, v in pairs]
            table = table.set_column(number, field, pa.array(values, field.type))
        for field in self._added():
            table = table.append_column(
                field, pa.array([(extra or {}).get(field.name) for _, _, extra in rows], field.type)
            )
        self._open(table.schema).write_table(table)

    def close(self) -> None:
        schema = self.format.schema
        for field in self._added():
            schema = schema.append(field)
        self._open(schema).close()

    def _added(self) -> list[Any]:
        pa, _ = pyarrow()
        for taken in [name for name in self.extra if name in self.format.schema.names]:
            raise BadInput(f"{self.format.source.name}: expected no column {taken!r}, which is to be added, got one")
        kinds = {int: pa.int32(), float: pa.float64(), str: pa.string()}
        return [pa.field(name, kinds[kind]) for name, kind in self.extra.items()]

    def _open(self, schema: Any) -> Any:
        if self.writer is None:
            self.writer = _writer(self.out, schema)
        return self.writer


class ArrowSink(ParquetSink):
    """A writer of an Arrow stream, each batch of which is to become a row group."""

    def _open(self, schema: Any) -> Any:
        if self.writer is None:
            self.writer = _OneBatch(pyarrow()[0].ipc.new_stream(self.out, schema))
        return self.writer


class _OneBatch:
    """An Arrow stream to which each table is written as one batch."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write_table(self, table: Any) -> None:
        for batch in table.combine_chunks().to_batches():
            self.stream.write_batch(batch)

    def close(self) -> None:
        self.stream.close()


def join_parts(parts: Iterable[IO[bytes]], out: IO[bytes], kept: Sequence[Any] | None = None) -> None:
    """Writes the Arrow streams of all parts of a table as Parquet: the same bytes as if it had been written at once.

    kept: of each part, a mask of the rows that stay; default: all.
    """
    pa, _ = pyarrow()
    writer = None
    for number, part in enumerate(parts):
        with pa.ipc.open_stream(part) as stream:
            writer, row = writer or _writer(out, stream.schema), 0
            for batch in stream:
                mask = None if kept is None else kept[number][row : row + batch.num_rows]
                row += batch.num_rows
                if mask is not None and not mask.all():
                    batch = batch.filter(pa.array(mask))
                if batch.num_rows:
                    writer.write_table(pa.Table.from_batches([batch]))
    if writer:
        writer.close()


def _writer(out: IO[bytes], schema: Any) -> Any:
    """Returns a ParquetWriter that is silent if an error ends the work before it is closed: what it wrote is thrown away."""

    class Writer(pyarrow()[1].ParquetWriter):  # type: ignore[misc]
        def __del__(self) -> None:
            """Does not try to close a file that is closed already, which Python would tell with a traceback."""

    return Writer(out, schema)


def _readable(source: Source, batches: Iterable[Any]) -> Iterator[Any]:
    """Yields batches. Raises BadInput for those that are damaged, or of a type that pyarrow does not read."""
    pa, _ = pyarrow()
    try:
        yield from batches
    except StoreError:
        raise
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise BadInput(f"{source.name}: expected Parquet that can be read, got: {error}") from None


def _batches(file: Any, start: int, stop: int) -> Iterator[Any]:
    """Yields the rows from `start` to `stop` in batches of the usual size."""
    pa, _ = pyarrow()
    groups: list[int] = []
    begin = at = 0
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if at < stop and at + rows > start:
            begin = begin if groups else at
            groups.append(group)
        at += rows
    held: list[Any] = []
    at, wanted = begin, BATCH
    for batch in file.iter_batches(BATCH, row_groups=groups):
        first, at = at, at + batch.num_rows
        batch = batch.slice(max(start - first, 0), max(min(stop, at) - max(start, first), 0))
        while batch.num_rows:
            held.append(batch.slice(0, wanted))
            wanted -= held[-1].num_rows
            batch = batch.slice(held[-1].num_rows)
            if not wanted:
                yield _one(pa, held)
                held, wanted = [], BATCH
        if at >= stop:
            break
    if held:
        yield _one(pa, held)


def _one(pa: Any, batches: list[Any]) -> Any:
    """Returns batches as one."""
    return batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def open_parquet(source: Source) -> Any:
    """Returns the opened ParquetFile. Raises BadInput if the source is not Parquet."""
    pa, pq = pyarrow()
    try:
        return pq.ParquetFile(source.seekable())
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise BadInput(f"{source.name}: expected Parquet, got: {error}") from None


def pyarrow() -> Any:
    """Returns the modules pyarrow and pyarrow.parquet. Raises BadInput with the install command if they are missing."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise BadInput("expected pyarrow for Parquet, got none: pip install 'scuff[parquet]'") from None
    return pa, pq
