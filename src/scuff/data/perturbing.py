"""Perturbs a file in chunks, so that memory does not grow with its size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..isolation import Blameless, isolated, reason_of
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


PROBE = "A few plain words."  # a perturbation that raises on this, too, is wrong itself


class Perturbed(NamedTuple):
    """Some rows of a column: their numbers, new texts, edits if wanted, and counts."""

    rows: Sequence[int]
    new: Sequence[Value]
    edits: Sequence[list[Edit]]
    tally: Tally


def raise_hopeless(plan: Plan, error: BaseException, *, tokens: bool) -> None:
    """Raises an error if a plain text gives the same one, since then it is not about a text but about the plan."""
    plain = replace(plan, protect=Protect(plan.protect.what))
    try:
        if tokens:
            plain.tokens([PROBE.split()])
        else:
            plain.texts([PROBE])
    except (Exception, SystemExit) as same:
        raise_same(error, same, plan.perturbation.spec)


def raise_same(error: BaseException, same: BaseException, who: str) -> None:
    """Raises an error if another one is the same. who: whose error it is."""
    if reason_of(same) == reason_of(error):
        if isinstance(error, ValueError | OSError):
            raise error from None
        reason = reason_of(error).removeprefix("error: ")
        raise RuntimeError(f"{who} fails on every text: {reason}") from error


@dataclass(frozen=True)
class Texts:
    """A column of texts or lists of tokens, some of which may be missing, with the place of each for messages."""

    values: Sequence[Value]
    place: Callable[[int], str]
    ids: Sequence[object] | None = None
    spans: Sequence[tuple[tuple[int, int], ...]] | None = None  # protected, of each text

    def perturbed(self, plan: Plan, draw: int = 0, *, edits: bool = False, strict: bool = False) -> Iterator[Perturbed]:
        """Yields the new texts in parts: strings as texts, lists as tokens; what is missing stays.

        A text that the perturbation raises on stays as it is and is counted; strict: its error is raised.
        """
        for kind in (str, list):
            rows = [row for row, value in enumerate(self.values) if isinstance(value, kind)]
            if rows:
                work = partial(self._some, plan, draw, edits)
                try:
                    parts = [work(rows)]
                except Blameless:
                    raise
                except (Exception, SystemExit) as error:
                    if strict:
                        raise
                    parts = self._isolated(plan, error, rows, work)
                yield from parts

    def _isolated(
        self, plan: Plan, error: BaseException, rows: list[int], work: Callable[[Sequence[int]], Perturbed]
    ) -> list[Perturbed]:
        """Returns the results of rows on some of which the perturbation raised an error."""
        halved = {row: found for row in rows if (found := self._half_character(row))}
        rest = [row for row in rows if row not in halved]
        if not halved:
            raise_hopeless(plan, error, tokens=isinstance(self.values[rows[0]], list))
        parts = isolated(rest, work, partial(self._failed, plan)) if rest else []
        return [*parts, *(_stays(row, self.values[row], self.place(row), why) for row, why in halved.items())]

    def _some(self, plan: Plan, draw: int, edits: bool, rows: Sequence[int]) -> Perturbed:
        """Perturbs some rows, all of which are texts, or all of which are lists of tokens."""
        values: list[Any] = [self.values[row] for row in rows]
        ids = [self.ids[row] for row in rows] if self.ids is not None else None
        if self.spans is not None:
            plan = replace(plan, protect=Protect(plan.protect.what, tuple(self.spans[row] for row in rows)))
        run = plan.texts if isinstance(values[0], str) else plan.tokens
        found: list[list[Edit]] = []
        tally = Tally()
        new = run(values, ids=ids, draw=draw, tally=tally, edits=found if edits else None)
        return Perturbed(rows, new, found, tally)

    def _failed(self, plan: Plan, row: int, reason: str) -> Perturbed:
        """Returns the text that the perturbation raised on, and counts it."""
        return _stays(row, self.values[row], f"{self.place(row)}: {plan.perturbation.spec}", reason)

    def _half_character(self, row: int) -> str | None:
        """Returns what is wrong with a text that holds a lone surrogate, None for others."""
        value = self.values[row]
        for text in [value] if isinstance(value, str) else value or []:
            if half := lone_surrogate(text):
                found = f"U+{ord(half):04X} at character {text.index(half)}"
                return f"expected Unicode text, got the lone surrogate {found}"
        return None


def _stays(row: int, value: Value, where: str, reason: str) -> Perturbed:
    """Returns a text that stays as it is, and is counted as a failure."""
    tally = Tally(texts=1)
    tally.failures.add(where, reason)
    return Perturbed([row], [value], [], tally)


class Chunk:
    """Some records of a file, ready to be perturbed by any number of plans."""

    def __init__(
        self, source: Input, reader: Format, records: list[Any], first_row: int, bad: dict[int, str] | None = None
    ) -> None:
        """bad: why some records stay as they are, by their number in this chunk."""
        self.reader, self.records, self.first_row, self.bad = reader, records, first_row, bad or {}
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
        kept = spans[: len(set(source.spans))]  # the columns that are protected stand first
        self.spans = [tuple(chain.from_iterable(row)) for row in zip(*kept, strict=True)] if kept else None

    def run(
        self, plan: Plan, draw: int, tally: Tally, edits: bool = False
    ) -> tuple[list[list[Value]], list[list[list[Edit]]]]:
        """Returns the perturbed texts of each record, and their edits if wanted: [record][column]. Adds to the tally.

        Behind the texts stand the columns of spans, which follow the edits.
        """
        if not self.columns:  # nothing but blank lines
            return [[] for _ in self.records], [[] for _ in self.records]
        for row, reason in self.bad.items() if draw == 0 else ():
            tally.add(_stays(row, None, self.reader.place(self.records[row], self.first_row + row), reason).tally)
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
        values = self.columns[at]
        out, changes = list(values), [[] for _ in values] if edits else []  # type: tuple[list[Value], list[list[Edit]]]
        texts = Texts(values, partial(self._place, at), self.ids[at] if self.ids else None, self.spans)
        for part in texts.perturbed(plan, draw, edits=edits):
            tally.add(part.tally)
            for row, value in zip(part.rows, part.new, strict=True):
                out[row] = value
            for row, edit in zip(part.rows, part.edits, strict=False):
                changes[row] = edit
        return out, changes

    def _place(self, at: int, row: int) -> str:
        """Returns where a text stands in the file."""
        column = f", column {self.reader.columns[at]!r}" if len(self.columns) > 1 else ""
        return self.reader.place(self.records[row], self.first_row + row) + column

    def texts(self) -> Iterator[str]:
        """Yields all texts, tokens joined by blanks."""
        return (joined(value) for column in self.columns for value in column if value)


def chunks(source: Input, reader: Format, copies: int, blocks: Iterable[list[Any]] | None = None) -> Iterator[Chunk]:
    """Yields a file in chunks, so small that `copies` copies of one take a few megabytes.

    blocks: the records, if the reader has begun to read them.
    """
    row = 0
    for block in reader.chunks() if blocks is None else blocks:
        records, bad = reader.usable(block, source.others)
        size = max(1, -(-len(records) // copies))
        for begin in range(0, max(len(records), 1), size):
            part = records[begin : begin + size]
            yield Chunk(source, reader, part, row, {n - begin: bad[n] for n in bad if begin <= n < begin + size})
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
