"""Perturbs a file in chunks, so that memory does not grow with its size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from ..perturbations.languages import warn_of_language
from ..perturbations.plan import Plan, Tally
from ..perturbations.protect import Protect
from ..text.edits import Edit, map_span
from .dataset import joined
from .formats.base import Format, Value, lone_surrogate
from .formats.files import Input
from .formats.streams import BadInput, Source, replacing
from .spans import Span, move_spans, read_spans

ShowProgress = Callable[[Source, Tally], None]


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
            # with several columns the column's name is part of the id, so that they are perturbed differently
            self.ids = [[f"{column}:{i}" for i in named] if several else named for column in reader.columns]
        if reader.carried and several:
            raise BadInput(
                f"{reader.source.name}: expected one column of texts beside spans, got {', '.join(reader.columns)}"
            )
        self.carried = [[reader.field(record, column) for column in reader.carried] for record in records]
        spans = [[self._spans(row, column) for row in range(len(records))] for column in range(len(reader.carried))]
        self.spans = spans[0] if source.spans else None  # those that are protected

    def run(
        self, plan: Plan, draw: int, tally: Tally, edits: bool = False
    ) -> tuple[list[list[Value]], list[list[list[Edit]]]]:
        """Returns the perturbed texts of each record, and their edits if wanted: [record][column]. Adds to the tally.

        Behind the texts stand the columns of spans, which follow the edits.
        """
        edits = edits or bool(self.reader.carried)
        results = [self._column(at, plan, draw, tally, edits) for at in range(len(self.columns))]
        new: list[list[Any]] = [list(values) for values in zip(*(result[0] for result in results), strict=True)]
        changes = [list(found) for found in zip(*(result[1] for result in results), strict=True)]
        for row, carried in enumerate(self.carried):
            if carried:
                text, after = joined(self.columns[0][row] or ""), joined(new[row][0] or "")
                new[row] += [move_spans(value, partial(map_span, changes[row][0]), text, after) for value in carried]
        return new, changes

    def _spans(self, row: int, column: int) -> tuple[Span, ...]:
        """Returns the spans in a column of a record. Raises BadInput, which names the line, if it holds something else."""
        value, text = self.carried[row][column], joined(self.columns[0][row] or "")
        try:
            return read_spans(value, text)
        except (TypeError, ValueError) as error:
            line, name = self.reader.line(self.records[row]), self.reader.carried[column]
            where = f"{self.reader.source.name}{f': line {line}' if line else ''}"
            why = f": {error}" if str(error).startswith("expected") else ""
            raise BadInput(
                f"{where}: expected [[start, stop], ...] inside the text in column {name!r}, got {value!r:.60}{why}"
            ) from None

    def _column(
        self, at: int, plan: Plan, draw: int, tally: Tally, edits: bool
    ) -> tuple[list[Value], list[list[Edit]]]:
        """Perturbs one column: strings as texts, lists as tokens; empty fields stay."""
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

    def texts(self) -> Iterator[str]:
        """Yields all texts, tokens joined by blanks."""
        return (joined(value) for column in self.columns for value in column if value)

    def _check_unicode(self, at: int) -> None:
        """Raises BadInput that names the line of a lone surrogate, if there is one."""
        for record, value in zip(self.records, self.columns[at], strict=True):
            for text in [value] if isinstance(value, str) else value or []:
                half = lone_surrogate(text)
                line = self.reader.line(record)
                if half and line:
                    place = f"U+{ord(half):04X} at character {text.index(half)} of column {self.reader.columns[at]!r}"
                    raise self.reader.source.error(line, f"expected Unicode text, got the lone surrogate {place}")


def chunks(source: Input, reader: Format, copies: int) -> Iterator[Chunk]:
    """Yields a file in chunks, so small that `copies` copies of one take a few megabytes."""
    row = 0
    for records in reader.chunks():
        size = max(1, -(-len(records) // copies))
        for begin in range(0, max(len(records), 1), size):
            part = records[begin : begin + size]
            yield Chunk(source, reader, part, row)
            row += len(part)


def perturb_file(
    source: Input,
    target: str,
    plan: Plan,
    *,
    copies: int = 1,
    edits_to: str | None = None,
    progress: ShowProgress | None = None,
) -> Tally:
    """Writes `copies` perturbed copies of each record, and returns the counts of what changed.

    edits_to: a file for the edits as JSON lines with row, draw (the number of the copy), column, [start, stop, old, new].
    """
    if copies < 1:
        raise BadInput(f"expected 1 or more for --copies, got {copies}")
    source.check_output(target)
    if edits_to and (edits_to == target or Path(edits_to).resolve() == Path(target).resolve()):
        raise BadInput(f"{edits_to}: expected --edits to name another file than --output, got the same")
    tally, reader = Tally(), source.open()
    with ExitStack() as stack:
        stack.callback(reader.source.close)
        out = stack.enter_context(replacing(target, source.path))
        log = stack.enter_context(replacing(edits_to, source.path, target)) if edits_to else None
        sink = reader.sink(out, {"draw": int} if copies > 1 else None)
        told = False
        for chunk in chunks(source, reader, copies * (2 if log else 1)):
            told = told or warn_of_language([plan.perturbation], chunk.texts())
            made = [chunk.run(plan, draw, tally, edits=log is not None) for draw in range(copies)]
            sink.write(chunk.records, [new for new, _ in made])
            if log:
                _log_edits(log, chunk, [edits for _, edits in made])
            if progress:
                progress(reader.source, tally)
        sink.close()
    return tally


def _log_edits(log: IO[bytes], chunk: Chunk, edits: list[list[list[list[Edit]]]]) -> None:
    """Writes a line per text. edits: by [copy][record][column]."""
    names = chunk.reader.columns or [""]
    lines = (
        {"row": chunk.first_row + row, "draw": draw, **({"column": name} if name else {}), "edits": copy[row][at]}
        for row in range(len(chunk.records))
        for draw, copy in enumerate(edits)
        for at, name in enumerate(names)
    )
    log.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())
