"""Isolates rows that raise: one bad example never spoils the others or ends a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Row = TypeVar("Row")
Found = TypeVar("Found")


class Blameless(Exception):
    """An error that no single row is to blame for, such as a missing package: it is never isolated."""


def reason_of(error: BaseException) -> str:
    """What went wrong, in one line: the problem of rows that something raised on."""
    return f"error: {type(error).__name__}: {error}".splitlines()[0][:300]


def isolated(
    rows: Sequence[Row], work: Callable[[Sequence[Row]], Found], failed: Callable[[Row, str], Found]
) -> list[Found]:
    """Calls `work` with all rows; where it raises, with halves of them, until the rows that raise stand alone.

    failed: called instead for such a row, with the reason. Returns what all calls returned, in the order of the rows.
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
