"""Parquet, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from .formats import Format, Sink, Value
from .streams import BadInput
from .tables import guess_column


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

    def render(self, record: int, values: list[Value], draw: int | None) -> str:
        raise AssertionError("Parquet is written by column")

    def sink(self, out: IO[bytes], draws: int = 1) -> Sink:
        return ParquetSink(self, out, draws)


class ParquetSink(Sink):
    format: Parquet
    writer: Any = None

    def write(self, records: list[int], versions: list[list[list[Value]]]) -> None:
        pa, _ = pyarrow()
        source = self.format
        if self.draws > 1 and "draw" in source.schema.names:
            raise BadInput(f"{source.source.name}: expected no column 'draw' for --draws, which writes one, got one")
        table = pa.Table.from_batches([source.batch]).take([row for row in records for _ in versions])
        for at, column in enumerate(source.columns):
            field = source.schema.field(column)
            values = [version[number][at] for number in range(len(records)) for version in versions]
            table = table.set_column(source.index(column), field, pa.array(values, field.type))
        if self.draws > 1:
            table = table.append_column("draw", pa.array(list(range(self.draws)) * len(records), pa.int32()))
        self._open(table.schema).write_table(table)

    def close(self) -> None:
        schema = self.format.schema
        self._open(
            schema.append(pyarrow()[0].field("draw", pyarrow()[0].int32())) if self.draws > 1 else schema
        ).close()

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
