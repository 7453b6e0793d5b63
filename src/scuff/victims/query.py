"""The one door to a victim: counts, removes duplicates, caches, sorts by length, batches, keeps budgets and time."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..text.dataset import Text
from ..text.ragged import Ints
from .base import Column, Outputs, StopRun, Victim, as_objects
from .cache import DiskCache

UNASKED = "budget: no query was left"


class BudgetSpent(StopRun):
    """The run has no queries left."""


class TooManyErrors(StopRun):
    """The victim failed more often than the user allows."""


class Query:
    """Ask a victim through this. The same rows give the same answers, however they are batched.

    identity: under which answers are kept in the cache. max_queries: for the run; asking beyond it raises BudgetSpent before
    anything is asked. per_example: rows of an example beyond it come back unasked. max_errors: more failures than that raise
    TooManyErrors. remember: how many answers the memory holds.
    """

    def __init__(
        self,
        victim: Victim,
        *,
        identity: str | None = None,
        cache: DiskCache | None = None,
        max_queries: int | None = None,
        per_example: int | None = None,
        max_errors: int | None = None,
        remember: int = 1 << 18,
    ) -> None:
        self.victim, self.cache = victim, cache
        self.identity = identity or victim.identity
        self.max_queries, self.per_example, self.max_errors, self.remember = (
            max_queries, per_example, max_errors, remember,
        )  # fmt: skip
        self.rows = 0  # rows that were wanted
        self.asked = 0  # rows that the victim was given
        self.errors = 0
        self.seconds = 0.0  # inside the victim
        self._memory: OrderedDict[tuple[Text, ...], tuple[Any, str]] = OrderedDict()
        self._spent: Counter[Hashable] = Counter()

    def __call__(self, *columns: Column, examples: Sequence[Hashable] | None = None) -> Outputs:
        """Answers row by row. `examples` names the example of each row, for the budget per example."""
        keys = list(zip(*columns, strict=True))
        self.rows += len(keys)
        wanted = dict.fromkeys(keys)  # each once, in their order
        known = self._known(wanted)
        fresh = [key for key in wanted if key not in known]
        if examples is not None and self.per_example is not None:
            fresh = self._affordable(fresh, keys, examples)
        if self.max_queries is not None and self.asked + len(fresh) > self.max_queries:
            raise BudgetSpent(f"expected at most {self.max_queries:,} queries, got {self.asked + len(fresh):,}")
        known |= self._ask(fresh)
        return self._gather(keys, known)

    def forget(self) -> None:
        """Empty the memory (not the cache on disk)."""
        self._memory.clear()

    def _known(self, wanted: dict[tuple[Text, ...], None]) -> dict[tuple[Text, ...], tuple[Any, str]]:
        known = {}
        for key in wanted:
            if key in self._memory:
                self._memory.move_to_end(key)
                known[key] = self._memory[key]
        if self.cache:
            known |= self.cache.get(self.identity, [key for key in wanted if key not in known])
        return known

    def _affordable(
        self, fresh: list[tuple[Text, ...]], keys: list[tuple[Text, ...]], examples: Sequence[Hashable]
    ) -> list[tuple[Text, ...]]:
        owner = dict(zip(reversed(keys), reversed(examples), strict=True))  # the first example that wants it pays
        out = []
        for key in fresh:
            if self._spent[owner[key]] < (self.per_example or 0):
                self._spent[owner[key]] += 1
                out.append(key)
        return out

    def _ask(self, fresh: list[tuple[Text, ...]]) -> dict[tuple[Text, ...], tuple[Any, str]]:
        """Sorted by length, so that what is batched together is about equally long."""
        length = np.array([sum(map(_length, key)) for key in fresh], np.int64)
        order = np.argsort(-length, kind="stable").tolist()  # the longest first: too little memory shows at once
        answers: dict[tuple[Text, ...], tuple[Any, str]] = {}
        for at in range(0, len(order), self.victim.rows_at_once):
            batch = [fresh[i] for i in order[at : at + self.victim.rows_at_once]]
            outputs = self._batch(batch)
            found = dict(zip(batch, zip(outputs.answers, outputs.problem.tolist(), strict=True), strict=True))
            self._store({key: answer for key, answer in found.items() if not answer[1].startswith("error")})
            answers |= found
        return answers

    def _store(self, found: dict[tuple[Text, ...], tuple[Any, str]]) -> None:
        self._memory |= found
        while len(self._memory) > self.remember:
            self._memory.popitem(last=False)
        if self.cache:
            self.cache.put(self.identity, found)

    def _batch(self, batch: list[tuple[Text, ...]]) -> Outputs:
        """Ask; where the victim raises, halve until the rows that it cannot take stand alone."""
        if self.max_queries is not None and self.asked + len(batch) > self.max_queries:
            raise BudgetSpent(
                f"expected at most {self.max_queries:,} queries, got more, since failed ones are asked again"
            )
        self.asked += len(batch)
        begin = time.perf_counter()
        try:
            outputs = self.victim(*zip(*batch, strict=True))
        except (Exception, SystemExit) as error:  # anything at all may go wrong inside a user's model
            self._failed(0, error)
            if len(batch) == 1:
                self._failed(1, error)
                return Outputs.failed(1, f"error: {type(error).__name__}: {error}".splitlines()[0][:300])
        else:
            if len(outputs) != len(batch):
                raise ValueError(f"expected {len(batch)} answers from {self.victim.name}, got {len(outputs)}")
            self._failed(sum(map(_is_error, outputs.problem.tolist())), outputs)
            return outputs
        finally:
            self.seconds += time.perf_counter() - begin
        half = len(batch) // 2
        return Outputs.join([self._batch(batch[:half]), self._batch(batch[half:])])

    def _failed(self, count: int, cause: object) -> None:
        self.errors += count
        if self.max_errors is not None and self.errors > self.max_errors:
            reason = next(filter(_is_error, cause.problem), "") if isinstance(cause, Outputs) else cause
            said = " ".join(str(reason).split())[:300]
            raise TooManyErrors(f"expected at most {self.max_errors} errors, got {self.errors}; the last: {said}")

    def _gather(self, keys: list[tuple[Text, ...]], known: dict[tuple[Text, ...], tuple[Any, str]]) -> Outputs:
        sample = next((value for value, problem in known.values() if value is not None and not problem), None)
        rows = [known.get(key, (None, UNASKED)) for key in keys]
        problem = np.full(len(rows), "", object)
        problem[:] = [reason for _, reason in rows]
        return Outputs(_stack([value for value, _ in rows], problem, sample), problem)


def _stack(values: list[Any], problem: Any, sample: Any) -> Any:
    """Answers of single rows as one array; rows without an answer are filled in."""
    if not isinstance(sample, np.ndarray | np.generic) or (isinstance(sample, np.ndarray) and sample.dtype.kind == "i"):
        return as_objects(values)
    none = Outputs.failed(1, "", Outputs.of(np.asarray(sample)[None])).answers[0]
    bad: Ints = np.flatnonzero(np.not_equal(problem, ""))
    for at in bad.tolist():
        values[at] = none
    return np.stack(values) if values else np.empty((0, *sample.shape), sample.dtype)


def _length(text: Text) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))


def _is_error(reason: str) -> bool:
    return reason.startswith("error")
