"""Parquet, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from .base import Extra, Format, Row, Sink, Value, guess_column
from .streams import BadInput


class Parquet(Format):
    """A table in Parquet; schema and other columns stay."""

    def chunks(self) -> Iterator[list[Any]]:
        pa, pq = pyarrow()
        try:
            file = pq.ParquetFile(self.source.seekable())
        except pa.ArrowInvalid as error:
            raise BadInput(f"{self.source.name}: expected Parquet, got: {error}") from None
        self.schema = file.schema_arrow
        texts = [field.name for field in self.schema if self._is_text(field.type)]
        if not texts:
            kinds = ", ".join(f"{field.name} ({field.type})" for field in self.schema)
            raise BadInput(f"{self.source.name}: expected a column of text, got {kinds}")
        self.columns = list(dict.fromkeys(self.columns)) or [guess_column(texts, self.source.name)]
        for column in self.columns:
            self.index(column)
            if column not in texts:
                raise BadInput(
                    f"{self.source.name}: expected text in column {column!r}, got {self.schema.field(column).type}"
                )
        for batch in file.iter_batches(1 << 14):
            self.batch = batch
            self.texts = [batch.column(self.index(column)).to_pylist() for column in self.columns]
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
        value: object = self.batch.column(self.index(column))[record].as_py()
        return value

    def index(self, column: str) -> int:
        names: list[str] = self.schema.names
        if column not in names:
            raise BadInput(f"{self.source.name}: expected a column {column!r}, got {', '.join(names)}")
        return names.index(column)

    def render(self, record: int, values: list[Value], extra: Extra | None) -> str:
        raise AssertionError("Parquet is written by column")

    def sink(self, out: IO[bytes], extra: Mapping[str, type] | None = None) -> Sink:
        return ParquetSink(self, out, extra or {})


class ParquetSink(Sink):
    format: Parquet
    writer: Any = None

    def write_rows(self, rows: Sequence[Row]) -> None:
        pa, _ = pyarrow()
        source = self.format
        table = pa.Table.from_batches([source.batch]).take([record for record, _, _ in rows])
        for at, column in enumerate(source.columns):
            field = source.schema.field(column)
            values = [new[at] for _, new, _ in rows]
            table = table.set_column(source.index(column), field, pa.array(values, field.type))
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
            self.writer = pyarrow()[1].ParquetWriter(self.out, schema)
        return self.writer


def pyarrow() -> Any:
    """pyarrow and its Parquet part, or the command that installs them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise BadInput("expected pyarrow for Parquet, got none: pip install 'scuff[parquet]'") from None
    return pa, pq
