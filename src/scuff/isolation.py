"""Isolates rows on which code raises, so that one bad example neither affects the others nor ends a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Row = TypeVar("Row")
Found = TypeVar("Found")


SHOWN = 10  # failures that are described


class Blameless(Exception):
    """An error that is not about a single row, such as a missing package. `isolated` lets it through."""


@dataclass
class Failures:
    """Rows that code raised on: how many, and a line about each of the first."""

    count: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, where: str, reason: str) -> None:
        """Counts a row. where: its place, such as the line of a file. reason: as `reason_of` returns it."""
        self.count += 1
        if len(self.lines) < SHOWN:
            self.lines.append(f"{where}: {reason.removeprefix('error: ')}")

    def extend(self, others: Failures) -> None:
        """Adds other failures to these."""
        self.count += others.count
        self.lines += others.lines[: SHOWN - len(self.lines)]


def reason_of(error: BaseException) -> str:
    """Returns an error as one line, which becomes the problem of the row it was raised on."""
    return f"error: {type(error).__name__}: {error}".splitlines()[0][:300]


def isolated(
    rows: Sequence[Row], work: Callable[[Sequence[Row]], Found], failed: Callable[[Row, str], Found]
) -> list[Found]:
    """Calls `work` with all rows; if it raises, with each half of them, and so on, until the rows that raise are alone.

    failed: called for such a row, with the reason. Returns the results of all calls, in the order of the rows.
    """
    try:
        return [work(rows)]
    except Blameless:
        raise
    except (Exception, SystemExit) as error:  # a user's code may raise anything
        if len(rows) == 1:
            return [failed(rows[0], reason_of(error))]
    half = len(rows) // 2
    return [found for part in (rows[:half], rows[half:]) for found in isolated(part, work, failed)]
