"""What a victim is given, counted: budgets, time, failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..text.ragged import Floats
from .base import NotEnoughAccess, Outputs, StopRun, reason_of

Row = TypeVar("Row")
Found = TypeVar("Found", Outputs, list[Floats])


class BudgetSpent(StopRun):
    """The run has no queries left."""


class TooManyErrors(StopRun):
    """The victim failed more often than the user allows."""


class Meter:
    """max_queries: rows that the victim may be given. max_errors: more failures than that raise TooManyErrors."""

    def __init__(self, name: str, max_queries: int | None, max_errors: int | None) -> None:
        self.name, self.max_queries, self.max_errors = name, max_queries, max_errors
        self.asked = 0  # rows that the victim was given
        self.again = 0  # of these, in batches that failed, so that their rows were given once more
        self.errors = 0
        self.seconds = 0.0  # inside the victim

    @property
    def queries(self) -> int:
        """Queries as a user counts them: rows of a batch that failed and was halved count once."""
        return self.asked - self.again

    def afford(self, count: int, why: str = "") -> None:
        """Raise BudgetSpent before anything is asked that cannot be paid."""
        if self.max_queries is not None and self.asked + count > self.max_queries:
            raise BudgetSpent(f"expected at most {self.max_queries:,} queries, got {why or f'{self.asked + count:,}'}")

    def halving(
        self,
        rows: Sequence[Row],
        ask: Callable[[Sequence[Row]], Found],
        failed: Callable[[Row, str], Found],
        *,
        passes: int = 1,
    ) -> list[Found]:
        """Ask; where the victim raises, halve until the rows that it cannot take stand alone, for which `failed` answers.

        passes: how many queries a row counts.
        """
        self.afford(passes * len(rows), "more, since failed ones are asked again")
        self.asked += passes * len(rows)
        begin = time.perf_counter()
        try:
            found = ask(rows)
        except NotEnoughAccess:
            raise
        except (Exception, SystemExit) as error:  # anything at all may go wrong inside a user's model
            self._note(0, error)
            if len(rows) == 1:
                self._note(1, error)
                return [failed(rows[0], reason_of(error))]
        else:
            if len(found) != len(rows):
                raise ValueError(f"expected {len(rows)} answers from {self.name}, got {len(found)}")
            self._note_problems(found)
            return [found]
        finally:
            self.seconds += time.perf_counter() - begin
        self.again += passes * len(rows)
        half = len(rows) // 2
        parts = (rows[:half], rows[half:])
        return [found for part in parts for found in self.halving(part, ask, failed, passes=passes)]

    def _note_problems(self, found: object) -> None:
        if isinstance(found, Outputs) and not found.answered.all():
            errors = [reason for reason in found.problem.tolist() if reason.startswith("error")]
            self._note(len(errors), next(iter(errors), ""))

    def _note(self, count: int, reason: object) -> None:
        self.errors += count
        if self.max_errors is not None and self.errors > self.max_errors:
            said = " ".join(str(reason).split())[:300]
            raise TooManyErrors(f"expected at most {self.max_errors} errors, got {self.errors}; the last: {said}")
