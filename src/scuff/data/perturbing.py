"""Perturbs a file in chunks, so that memory does not grow with its size."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, ClassVar, Generic

from ..isolation import Blameless, isolated, reason_of
from ..perturbations.blocks import Note, Tally, Work
from ..perturbations.languages import warn_of_language
from ..perturbations.plan import Plan
from ..perturbations.protect import Protect
from ..text.edits import map_span
from .dataset import joined
from .formats.base import Format, Value, lone_surrogate
from .formats.files import Input
from .formats.streams import BadInput, replacing
from .spans import Span, move_spans, read_spans

ShowProgress = Callable[[float | None, int], None]  # is told the share that is done, if known, and the texts


PROBE = "A few plain words."  # a perturbation that raises on this, too, is wrong itself


@dataclass(frozen=True)
class Done(Generic[Note]):
    """Some rows of a column: their numbers, new texts, what is told about each (its edits) if wanted, and counts."""

    rows: Sequence[int]
    new: Sequence[Value]
    edits: Sequence[list[Note]]
    tally: Tally


def raise_hopeless(work: Work[Any], error: BaseException, *, tokens: bool) -> None:
    """Raises an error if a plain text gives the same one, since then it is not about a text but about what is done with it."""
    plain = work.protecting(Protect(work.protect.what))
    try:
        if tokens:
            plain.tokens([PROBE.split()])
        else:
            plain.texts([PROBE])
    except (Exception, SystemExit) as same:
        raise_same(error, same, work.spec)


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

    def treated(
        self, work: Work[Note], draw: int = 0, *, edits: bool = False, strict: bool = False
    ) -> Iterator[Done[Note]]:
        """Yields the new texts in parts: strings as texts, lists as tokens; what is missing stays.

        A text that the perturbation or shield raises on stays as it is and is counted; strict: its error is raised.
        """
        for kind in (str, list):
            rows = [row for row, value in enumerate(self.values) if isinstance(value, kind)]
            if rows:
                some = partial(self._some, work, draw, edits)
                try:
                    parts = [some(rows)]
                except Blameless:
                    raise
                except (Exception, SystemExit) as error:
                    if strict:
                        raise
                    parts = self._isolated(work, error, rows, some)
                yield from parts

    def _isolated(
        self, work: Work[Note], error: BaseException, rows: list[int], some: Callable[[Sequence[int]], Done[Note]]
    ) -> list[Done[Note]]:
        """Returns the results of rows on some of which the work raised an error."""
        halved = {row: found for row in rows if (found := self._half_character(row))}
        rest = [row for row in rows if row not in halved]
        if not halved:
            raise_hopeless(work, error, tokens=isinstance(self.values[rows[0]], list))
        parts = isolated(rest, some, partial(self._failed, work)) if rest else []
        return [*parts, *(_stays(row, self.values[row], self.place(row), why) for row, why in halved.items())]

    def _some(self, work: Work[Note], draw: int, edits: bool, rows: Sequence[int]) -> Done[Note]:
        """Does the work for some rows, all of which are texts, or all of which are lists of tokens."""
        values: list[Any] = [self.values[row] for row in rows]
        ids = [self.ids[row] for row in rows] if self.ids is not None else None
        if self.spans is not None:
            work = work.protecting(Protect(work.protect.what, tuple(self.spans[row] for row in rows)))
        run: Any = work.texts if isinstance(values[0], str) else work.tokens
        found: list[list[Note]] = []
        tally = work.new_tally()
        new = run(values, ids=ids, draw=draw, tally=tally, edits=found if edits else None)
        return Done(rows, new, found, tally)

    def _failed(self, work: Work[Note], row: int, reason: str) -> Done[Note]:
        """Returns the text that the work raised on, and counts it."""
        return _stays(row, self.values[row], f"{self.place(row)}: {work.spec}", reason)

    def _half_character(self, row: int) -> str | None:
        """Returns what is wrong with a text that holds a lone surrogate, None for others."""
        value = self.values[row]
        for text in [value] if isinstance(value, str) else value or []:
            if half := lone_surrogate(text):
                found = f"U+{ord(half):04X} at character {text.index(half)}"
                return f"expected Unicode text, got the lone surrogate {found}"
        return None


def _stays(row: int, value: Value, where: str, reason: str) -> Done[Any]:
    """Returns a text that stays as it is, and is counted as a failure."""
    tally = Tally(texts=1)
    tally.failures.add(where, reason)
    return Done([row], [value], [], tally)


class Chunk:
    """Some records of a file, ready to be perturbed by any number of plans, or mended."""

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
        self, work: Work[Note], draw: int, tally: Tally, edits: bool = False
    ) -> tuple[list[list[Value]], list[list[list[Note]]]]:
        """Returns the new texts of each record, and their edits if wanted: [record][column]. Adds to the tally.

        Behind the texts stand the columns of spans, which follow the edits.
        """
        if not self.columns:  # nothing but blank lines
            return [[] for _ in self.records], [[] for _ in self.records]
        for row, reason in self.bad.items() if draw == 0 else ():
            tally.add(_stays(row, None, self.reader.place(self.records[row], self.first_row + row), reason).tally)
        edits = edits or bool(self.reader.carried)
        results = [self._column(at, work, draw, tally, edits) for at in range(len(self.columns))]
        new: list[list[Any]] = [list(values) for values in zip(*(result[0] for result in results), strict=True)]
        changes = [list(found) for found in zip(*(result[1] for result in results), strict=True)]
        for row, carried in enumerate(self.carried):
            if carried:
                text, after = joined(self.columns[0][row] or ""), joined(new[row][0] or "")
                moved: Any = partial(map_span, changes[row][0])
                new[row] += [move_spans(value, moved, text, after) for value in carried]
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
        self, at: int, work: Work[Note], draw: int, tally: Tally, edits: bool
    ) -> tuple[list[Value], list[list[Note]]]:
        values = self.columns[at]
        out, changes = list(values), [[] for _ in values] if edits else []  # type: tuple[list[Value], list[list[Note]]]
        texts = Texts(values, partial(self._place, at), self.ids[at] if self.ids else None, self.spans)
        for part in texts.treated(work, draw, edits=edits):
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
    """Yields a file, or its block, in chunks, so small that `copies` copies of one take a few megabytes.

    blocks: the records, if the reader has begun to read them.
    """
    row = source.block.row if source.block else 0
    for block in reader.chunks() if blocks is None else blocks:
        records, bad = reader.usable(block, source.others)
        size = max(1, -(-len(records) // copies))
        for begin in range(0, max(len(records), 1), size):
            part = records[begin : begin + size]
            yield Chunk(source, reader, part, row, {n - begin: bad[n] for n in bad if begin <= n < begin + size})
            row += len(part)


class Treatment(ABC):
    """What is done with a file as a whole, or with each of its blocks."""

    work: Work[Any]
    same_format: ClassVar[bool] = True  # whether it writes the format that it reads, not JSON lines

    @abstractmethod
    def __call__(
        self, source: Input, out: IO[bytes], log: IO[bytes] | None = None, progress: ShowProgress | None = None
    ) -> Tally:
        """Reads a file or its block and writes what becomes of it. Returns the counts.

        log: a file for what is told about each text, as JSON lines.
        """

    def look(self, chunk: Chunk) -> bool:
        """Warns of what a chunk shows about a file. Returns whether there is no need to look at more chunks."""
        return True


@dataclass(frozen=True)
class Rewriting(Treatment):
    """Writes each record with its new texts.

    copies: how many versions of each record; None: one, and only texts that changed are logged.
    """

    work: Work[Any]
    copies: int | None = None

    def __post_init__(self) -> None:
        if self.copies is not None and self.copies < 1:
            raise BadInput(f"expected 1 or more for --copies, got {self.copies}")

    def __call__(
        self, source: Input, out: IO[bytes], log: IO[bytes] | None = None, progress: ShowProgress | None = None
    ) -> Tally:
        tally, reader, draws = self.work.new_tally(), source.open(), self.copies or 1
        reader.maker = self.work.noun
        with closing(reader.source):
            sink = reader.sink(out, {"draw": int} if draws > 1 else None)
            looked = source.block is not None  # then the first chunk of the file was looked at
            for chunk in chunks(source, reader, draws * (2 if log else 1)):
                looked = looked or self.look(chunk)
                made = [chunk.run(self.work, draw, tally, edits=log is not None) for draw in range(draws)]
                sink.write(chunk.records, [new for new, _ in made])
                if log:
                    write_notes(log, chunk, [edits for _, edits in made], numbered=self.copies is not None)
                if progress:
                    progress(reader.source.done(), tally.texts)
            sink.close()
        return tally

    def look(self, chunk: Chunk) -> bool:
        return not isinstance(self.work, Plan) or warn_of_language([self.work.perturbation], chunk.texts())


def open_perturbing(
    perturbation: str,
    level: str | float,
    seed: int,
    selection: str | None,
    protect: Sequence[str],
    as_published: bool,
    only_in: Sequence[str],
    copies: int,
) -> Rewriting:
    """Returns a treatment of plain values, from which a worker builds it again. only_in: text that alone may change."""
    return Rewriting(Plan.of(perturbation, level, seed, selection, protect, as_published, only_in), copies)


def treat_file(
    source: Input,
    target: str,
    treatment: Treatment,
    *,
    edits_to: str | None = None,
    progress: ShowProgress | None = None,
) -> Tally:
    """Reads a file from its beginning to its end, and writes what becomes of it. Returns the counts.

    edits_to: a file for what is told about each text, such as its edits.
    """
    check_targets(source, target, treatment, edits_to)
    with ExitStack() as stack:
        out = stack.enter_context(replacing(target, source.path))
        log = stack.enter_context(replacing(edits_to, source.path, target)) if edits_to else None
        return treatment(source, out, log, progress)


def check_targets(source: Input, target: str, treatment: Treatment, edits_to: str | None) -> None:
    """Raises BadInput if an output has the name of another format, or both outputs are the same file."""
    if treatment.same_format:
        source.check_output(target)
    if edits_to and (edits_to == target or Path(edits_to).resolve() == Path(target).resolve()):
        raise BadInput(f"{edits_to}: expected --edits to name another file than --output, got the same")


def write_notes(log: IO[bytes], chunk: Chunk, notes: list[list[list[list[Any]]]], *, numbered: bool) -> None:
    """Writes a line per text. notes: by [copy][record][column]. numbered: with the number of the copy, else only texts that
    something is told about.
    """
    names = chunk.reader.columns or [""]
    lines = (
        {
            "row": chunk.first_row + row,
            **({"draw": draw} if numbered else {}),
            **({"column": name} if name else {}),
            "edits": copy[row][at],
        }
        for row in range(len(chunk.records))
        for draw, copy in enumerate(notes)
        for at, name in enumerate(names[: len(copy[row])])  # a chunk of blank lines has no columns
        if numbered or copy[row][at]
    )
    log.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())
