"""Perturbs a file: reads and writes it in chunks, so that memory stays flat."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from ..perturbations.plan import Plan, Tally
from ..perturbations.protect import Protect
from ..text.edits import Edit
from .formats.base import Format, Lines, Value, Whole
from .formats.conll import Conllu, TokenColumns
from .formats.csv import Csv, Tsv
from .formats.jsonl import Jsonl
from .formats.parquet import Parquet
from .formats.streams import BadInput, Source, replacing

FORMATS: dict[str, type[Format]] = {
    "lines": Lines, "whole": Whole, "csv": Csv, "tsv": Tsv, "jsonl": Jsonl, "parquet": Parquet, "conllu": Conllu,
    "tokens": TokenColumns,
}  # fmt: skip

SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet",
    ".conllu": "conllu", ".conll": "tokens", ".bio": "tokens", ".iob": "tokens", ".pos": "tokens", ".txt": "lines",
}  # fmt: skip

Progress = Callable[[Source, Tally], None]


def format_of(path: str) -> str | None:
    """The format that a file's name tells of, with or without .gz."""
    return SUFFIXES.get(Path(path.removesuffix(".gz")).suffix.lower())


@dataclass
class Input:
    """A file to perturb: which format it is in, which columns hold the texts, and which names a record."""

    path: str
    format: str | None = None
    columns: Sequence[str] = ()
    key: str | None = None
    spans: str | None = None  # the column that holds protected spans
    content: bytes | None = None  # of what cannot be read twice, or is no file
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        self.kind = self.format or format_of(self.path) or "lines"
        if self.kind not in FORMATS:
            raise BadInput(f"expected {', '.join(FORMATS)} for --format, got {self.kind!r}")
        if self.columns and self.kind not in ("csv", "tsv", "jsonl", "parquet"):
            raise BadInput(
                f"expected a table (csv, tsv, jsonl, parquet) for --column, got {self.kind}: name it with --format"
            )

    def check_output(self, path: str) -> None:
        named = format_of(path)
        if path != "-" and named and named != self.kind and not (named == "lines" and self.kind == "whole"):
            raise BadInput(
                f"{path}: expected the format of the input, {self.kind}, got {named}: Scuff does not convert"
            )

    def open(self) -> Format:
        return FORMATS[self.kind](Source(self.path, self.content), self.columns)


class Chunk:
    """Some records of a file, ready to be perturbed by any number of plans."""

    def __init__(self, source: Input, reader: Format, records: list[Any], first_row: int) -> None:
        self.reader, self.records, self.first_row = reader, records, first_row
        rows = [reader.values(record) for record in records]
        self.columns: list[list[Value]] = [list(column) for column in zip(*rows, strict=True)]
        several = len(self.columns) > 1
        self.ids: list[list[object]] | None = None
        if source.key:
            named = [reader.field(record, source.key) for record in records]
            # with several columns the column's name is part of the id, so that the noise differs
            self.ids = [[f"{column}:{i}" for i in named] if several else named for column in reader.columns]
        self.spans = [read_spans(reader, record, source.spans) for record in records] if source.spans else None

    def run(
        self, plan: Plan, draw: int, tally: Tally, edits: bool = False
    ) -> tuple[list[list[Value]], list[list[list[Edit]]]]:
        """The texts of each record after a plan, and their edits: [record][column]."""
        results = [self._column(at, plan, draw, tally, edits) for at in range(len(self.columns))]
        new = [list(values) for values in zip(*(result[0] for result in results), strict=True)]
        return new, [list(found) for found in zip(*(result[1] for result in results), strict=True)]

    def _column(
        self, at: int, plan: Plan, draw: int, tally: Tally, edits: bool
    ) -> tuple[list[Value], list[list[Edit]]]:
        """Texts as texts, lists as tokens, nothing as nothing."""
        values = self.columns[at]
        out, changes = list(values), [[] for _ in values]  # type: tuple[list[Value], list[list[Edit]]]
        runs: list[tuple[type, Any]] = [(str, plan.texts), (list, plan.tokens)]
        for kind, run in runs:
            rows = [row for row, value in enumerate(values) if isinstance(value, kind)]
            if rows:
                found: list[list[Edit]] | None = [] if edits else None
                ids = [self.ids[at][row] for row in rows] if self.ids else None
                if self.spans:
                    guard = Protect(plan.protect.what, tuple(self.spans[row] for row in rows))
                    run = getattr(replace(plan, protect=guard), run.__name__)
                try:
                    new = run([values[row] for row in rows], ids=ids, draw=draw, tally=tally, edits=found)
                except ValueError:
                    self._check_unicode(at)
                    raise
                for row, value in zip(rows, new, strict=True):
                    out[row] = value
                for row, edit in zip(rows, found or [], strict=False):
                    changes[row] = edit
        return out, changes

    def _check_unicode(self, at: int) -> None:
        """Say in which line a text is that is none: only a JSON escape can hold half a surrogate pair."""
        for record, value in zip(self.records, self.columns[at], strict=True):
            for text in [value] if isinstance(value, str) else value or []:
                half = next((char for char in text if 0xD800 <= ord(char) < 0xE000), None)
                line = self.reader.line(record)
                if half and line:
                    place = f"U+{ord(half):04X} at character {text.index(half)} of column {self.reader.columns[at]!r}"
                    raise self.reader.source.error(line, f"expected Unicode text, got the lone surrogate {place}")


def chunks(source: Input, reader: Format, versions: int) -> Iterator[Chunk]:
    """A file in chunks of which `versions` versions take a few megabytes."""
    row = 0
    for records in reader.chunks():
        size = max(1, -(-len(records) // versions))
        for begin in range(0, max(len(records), 1), size):
            part = records[begin : begin + size]
            yield Chunk(source, reader, part, row)
            row += len(part)


def perturb_file(
    source: Input,
    target: str,
    plan: Plan,
    *,
    draws: int = 1,
    edits_to: str | None = None,
    progress: Progress | None = None,
) -> Tally:
    """Write the perturbed file, and where asked the edits as JSON lines: row, draw, column, [start, stop, old, new]."""
    if draws < 1:
        raise BadInput(f"expected 1 or more for --draws, got {draws}")
    source.check_output(target)
    if edits_to and (edits_to == target or Path(edits_to).resolve() == Path(target).resolve()):
        raise BadInput(f"{edits_to}: expected --edits to name another file than --output, got the same")
    tally, reader = Tally(), source.open()
    with ExitStack() as stack:
        stack.callback(reader.source.close)
        out = stack.enter_context(replacing(target, source.path))
        log = stack.enter_context(replacing(edits_to, source.path, target)) if edits_to else None
        sink = reader.sink(out, {"draw": int} if draws > 1 else None)
        for chunk in chunks(source, reader, draws * (2 if log else 1)):
            versions = [chunk.run(plan, draw, tally, edits=log is not None) for draw in range(draws)]
            sink.write(chunk.records, [new for new, _ in versions])
            if log:
                _log_edits(log, chunk, [edits for _, edits in versions])
            if progress:
                progress(reader.source, tally)
        sink.close()
    return tally


def _log_edits(log: IO[bytes], chunk: Chunk, versions: list[list[list[list[Edit]]]]) -> None:
    names = chunk.reader.columns or [""]
    lines = (
        {"row": chunk.first_row + row, "draw": draw, **({"column": name} if name else {}), "edits": version[row][at]}
        for row in range(len(chunk.records))
        for draw, version in enumerate(versions)
        for at, name in enumerate(names)
    )
    log.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())


def read_spans(reader: Format, record: Any, column: str) -> tuple[tuple[int, int], ...]:
    """Protected spans as [[start, stop], ...], or that as JSON in a field of text."""
    value = reader.field(record, column)
    try:
        pairs: Any = json.loads(value or "[]") if isinstance(value, str) else value or []
        spans = tuple((int(start), int(stop)) for start, stop in pairs)
        longest = max((len(text) for text in reader.values(record) if isinstance(text, str)), default=sys.maxsize)
        if all(0 <= start <= stop <= longest for start, stop in spans):
            return spans
        raise ValueError
    except (TypeError, ValueError):
        line = reader.line(record)
        where = f"{reader.source.name}{f': line {line}' if line else ''}"
        raise BadInput(
            f"{where}: expected [[start, stop], ...] inside the text in column {column!r}, got {value!r}"
        ) from None
