"""`Query`, the one door to a victim: removes duplicates, caches, batches, counts, honours budgets, isolates rows that raise.

Budgets: `Query.max_queries` limits all queries of a run together. `Meter.afford` enforces it: it raises BudgetSpent before the
victim is asked. Evaluations set it. The budget of an attack is per example instead, and is enforced in `attacks/engine.py`.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from ..data.dataset import Text
from ..isolation import Blameless, isolated
from ..specs import some
from ..text.ragged import Floats
from .answers import NO_NUMBERS
from .base import (
    GRADIENT_STEPS,
    Access,
    Column,
    Outputs,
    Spans,
    StopRun,
    Victim,
    as_objects,
    require,
)
from .cache import DiskCache
from .substitution import Substitutable, require_slopes

Key = str | tuple[Text, ...]  # a row: a single string stands for itself, other rows are what is in their columns

Answer = tuple[Any, str]  # and its problem

Row = TypeVar("Row")

Found = TypeVar("Found", Outputs, list[Floats])


class BudgetSpent(StopRun):
    """The queries that the user allows are spent."""


class TooManyErrors(StopRun):
    """The victim failed more often than the user allows."""


class WrongAnswers(Blameless, ValueError):
    """A victim's answers are no Outputs, or of another size than was asked for."""


def checked(found: Any, victim: Victim) -> Outputs:
    """The answers of a victim, rows of scores that are no numbers as errors. Raises WrongAnswers if they cannot be used."""
    if not isinstance(found, Outputs):
        raise WrongAnswers(
            f"expected Outputs from {victim.name}, got {type(found).__name__}: return Outputs.of(answers)"
        )
    answers = found.answers
    if answers.ndim == 2 and victim.labels and answers.shape[1] != len(victim.labels):
        names = some(victim.labels)
        raise WrongAnswers(
            f"expected a column for each label of {victim.name} ({names}), got {answers.shape[1]} columns"
        )
    if answers.dtype.kind == "f":
        nan = np.isnan(answers)
        lost = found.answered & nan.any(axis=tuple(range(1, answers.ndim))) if nan.any() else nan
        if lost.any():
            return Outputs(answers, np.where(lost, NO_NUMBERS, found.problem))
    return found


class Meter:
    """Counts queries, errors and seconds.

    max_queries: rows that the victim may be given. max_errors: more failures than that raise TooManyErrors.
    """

    def __init__(self, name: str, max_queries: int | None, max_errors: int | None) -> None:
        self.name, self.max_queries, self.max_errors = name, max_queries, max_errors
        self.asked = 0  # rows that the victim was given
        self.again = 0  # of these, rows of batches that raised and were asked again in halves
        self.errors = 0
        self.said = ""  # by the last error
        self.seconds = 0.0  # inside the victim

    @property
    def queries(self) -> int:
        """Queries as a user counts them: a row that was asked again in a smaller batch counts once."""
        return self.asked - self.again

    def afford(self, count: int, why: str = "") -> None:
        """Raises BudgetSpent if so many more queries are not allowed."""
        if self.max_queries is not None and self.asked + count > self.max_queries:
            raise BudgetSpent(f"expected at most {self.max_queries:,} queries, got {why or f'{self.asked + count:,}'}")

    def metered(
        self,
        rows: Sequence[Row],
        ask: Callable[[Sequence[Row]], Found],
        failed: Callable[[Row, str], Found],
        *,
        passes: int = 1,
    ) -> list[Found]:
        """Asks about some rows and counts. Rows on which the victim raises are isolated; `failed` answers for them.

        passes: how many queries a row counts.
        """

        def work(part: Sequence[Row]) -> Found:
            cost = passes * len(part)
            self.afford(cost, "more, since failed ones are asked again")
            self.asked += cost
            begin = time.perf_counter()
            try:
                found = ask(part)
            except Blameless:
                raise
            except (Exception, SystemExit) as error:
                self._note(int(len(part) == 1), error)
                self.again += cost if len(part) > 1 else 0
                raise
            finally:
                self.seconds += time.perf_counter() - begin
            if len(found) != len(part):
                raise WrongAnswers(f"expected {len(part)} answers from {self.name}, got {len(found)}")
            self._note_problems(found)
            return found

        return isolated(rows, work, failed)

    def _note_problems(self, found: object) -> None:
        if isinstance(found, Outputs) and not found.answered.all():
            errors = [reason for reason in found.problem.tolist() if reason.startswith("error")]
            self._note(len(errors), next(iter(errors), ""))

    def _note(self, count: int, reason: object) -> None:
        if count:
            # the message of an exception alone may say little ("0" of sys.exit(0)), or nothing
            told = f"{type(reason).__name__}: {reason}" if isinstance(reason, BaseException) else str(reason)
            self.said = " ".join(told.split())[:300].removesuffix(":")
        self.errors += count
        if self.max_errors is not None and self.errors > self.max_errors:
            raise TooManyErrors(f"expected at most {self.max_errors} errors, got {self.errors}; the last: {self.said}")


def keys_of(columns: Sequence[Column]) -> list[Any]:
    """The rows of some columns. Single strings stand for themselves: a tuple for every row would cost more than all else."""
    if len(columns) == 1 and len(columns[0]) and isinstance(columns[0][0], str):
        return list(columns[0])
    return list(zip(*columns, strict=True))


def columns_of(keys: Sequence[Any]) -> list[Sequence[Any]]:
    """The columns of some rows, at least one."""
    return [keys] if isinstance(keys[0], str) else list(zip(*keys, strict=True))


def texts_of(key: Key) -> tuple[Text, ...]:
    """What is in the columns of a row."""
    return (key,) if isinstance(key, str) else key


class Memory:
    """Keeps up to `size` answers, those that were used last. Errors are not kept: asked again, the row may be answered."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._known: OrderedDict[Key, Answer] = OrderedDict()
        self._new: list[tuple[Sequence[Key], Outputs]] = []  # entered by the next `find`: most are cleared before it

    def __len__(self) -> int:
        self._settle()
        return len(self._known)

    def add(self, keys: Sequence[Key], outputs: Outputs) -> None:
        self._new.append((keys, outputs))

    def find(self, keys: Iterable[Key]) -> dict[Key, Answer]:
        """The answers that are known, by row."""
        self._settle()
        found = {key: self._known[key] for key in keys if key in self._known} if self._known else {}
        for key in found:
            self._known.move_to_end(key)
        return found

    def clear(self) -> None:
        self._known.clear()
        self._new.clear()

    def _settle(self) -> None:
        for keys, outputs in self._new:
            self._known |= answers_of(keys, outputs)
        self._new.clear()
        while len(self._known) > self.size:
            self._known.popitem(last=False)


def answers_of(keys: Sequence[Key], outputs: Outputs) -> dict[Key, Answer]:
    """Answers by row, without errors."""
    rows = zip(keys, outputs.answers, outputs.problem.tolist(), strict=True)
    return {key: (value, problem) for key, value, problem in rows if not problem.startswith("error")}


def outputs_of(answers: Sequence[Answer]) -> Outputs:
    """Answers of single rows as arrays. Rows without an answer take the shape of the others."""
    values, problem = [value for value, _ in answers], as_objects([reason for _, reason in answers])
    sample = next((value for value, reason in answers if value is not None and not reason), None)
    if not isinstance(sample, np.ndarray | np.generic) or (isinstance(sample, np.ndarray) and sample.dtype.kind == "i"):
        return Outputs(as_objects(values), problem)
    none = Outputs.failed(1, "", Outputs.of(np.asarray(sample)[None])).answers[0]
    return Outputs(np.stack([none if reason else value for value, reason in answers]), problem)


class Query(Meter):
    """The door to a victim. Rows are answered in their order; how they are batched changes nothing.

    identity: under which answers are kept in the cache. max_queries: asking beyond it raises BudgetSpent before anything is
    asked. max_errors: more failures than that raise TooManyErrors. remember: how many answers the memory holds.
    """

    def __init__(
        self,
        victim: Victim,
        *,
        identity: str | None = None,
        cache: DiskCache | None = None,
        max_queries: int | None = None,
        max_errors: int | None = None,
        remember: int = 1 << 18,
    ) -> None:
        super().__init__(victim.name, max_queries, max_errors)
        self.victim, self.cache = victim, cache
        self.identity = identity or victim.identity
        self.rows = 0  # rows that were wanted
        self.tell: Callable[[int], None] | None = None  # called with the number of answers after every batch
        self.memory = Memory(remember)

    def __call__(self, *columns: Column) -> Outputs:
        """Returns the answers, row by row."""
        keys = keys_of(columns)
        self.rows += len(keys)
        wanted = keys if len(distinct := dict.fromkeys(keys)) == len(keys) else list(distinct)  # each row once
        known = self._known(wanted)
        fresh = [key for key in wanted if key not in known] if known else wanted
        self.afford(len(fresh))
        if self.tell and known:
            self.tell(len(known))
        parts, order = self._ask(fresh)
        if known:
            parts.append(outputs_of(list(known.values())))
        if not parts:
            return Outputs.of(as_objects([]))
        found = Outputs.join(parts)
        if wanted is keys and not known:
            place = np.empty(len(keys), np.int64)  # of the answer to each row
            place[order] = np.arange(len(order))
            return found.take(place)
        answered = [*(fresh[at] for at in order), *known]
        number = dict(zip(answered, range(len(answered)), strict=True))
        return found.take(np.fromiter(map(number.__getitem__, keys), np.int64, len(keys)))

    def saliency(
        self,
        *columns: Column,
        side: int,
        words: Sequence[Spans],
        weights: Floats,
        steps: int = GRADIENT_STEPS,
        norm: str | None = None,
    ) -> list[Floats]:
        """`Victim.saliency` of all rows. A row counts `steps` queries. If the victim raises on a row, its words have 0. Nothing
        is cached.
        """
        more = {"norm": norm} if norm else {}  # a victim of a user's own may not know it
        require(self.victim, Access.GRADIENT, "saliency")
        size = max(1, self.victim.rows_at_once // steps)
        self.rows += len(words)
        self.afford(steps * len(words))

        def ask(rows: Sequence[int]) -> list[Floats]:
            part, some = [[column[i] for i in rows] for column in columns], [words[i] for i in rows]
            return self.victim.saliency(*part, side=side, words=some, weights=weights[list(rows)], steps=steps, **more)

        order = _longest_first(keys_of(columns))
        found: list[Floats] = []
        for at in range(0, len(order), size):
            rows = order[at : at + size]
            parts = self.metered(rows, ask, lambda row, _: [np.zeros(len(words[row]))], passes=steps)
            found += chain.from_iterable(parts)
            if self.tell:
                self.tell(steps * len(rows))
        return [found[i] for i in np.argsort(order).tolist()]

    @property
    def substitutable(self) -> Substitutable:
        """The victim, which gives gradients for substitutions. Raises NotEnoughAccess if it does not."""
        require_slopes(self.victim, "substitutions")
        assert isinstance(self.victim, Substitutable)
        return self.victim

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        """`Substitutable.slopes` of all texts, in batches. A text counts one query. Raises if the victim raises on a text, since
        without gradients there is nothing to go by. Nothing is cached.
        """
        victim = self.substitutable
        self.rows += len(texts)
        self.afford(len(texts))

        def ask(rows: Sequence[int]) -> list[Floats]:
            found = victim.slopes([texts[i] for i in rows], [targets[i] for i in rows])
            if not all(np.isfinite(part).all() for part in found):
                raise ValueError(f"expected finite gradients from {self.victim.name}, got nan or infinite ones")
            return found

        def failed(row: int, reason: str) -> list[Floats]:
            raise RuntimeError(reason.removeprefix("error: "))

        order, size = _longest_first(keys_of([texts])), self.victim.rows_at_once
        found: list[Floats] = []
        for at in range(0, len(order), size):
            rows = order[at : at + size]
            found += chain.from_iterable(self.metered(rows, ask, failed))
            if self.tell:
                self.tell(len(rows))
        return [found[i] for i in np.argsort(order).tolist()]

    def forget(self) -> None:
        """Empties the memory, not the cache on disk."""
        self.memory.clear()

    def _known(self, wanted: list[Key]) -> dict[Key, Answer]:
        known = self.memory.find(wanted)
        if self.cache:
            left = {texts_of(key): key for key in wanted if key not in known}
            known |= {left[texts]: answer for texts, answer in self.cache.get(self.identity, left).items()}
        return known

    def _ask(self, fresh: list[Key]) -> tuple[list[Outputs], list[int]]:
        """The answers to some rows, batch after batch, and the place among the rows of each answer."""
        order = _longest_first(fresh)
        done = []
        for at in range(0, len(order), self.victim.rows_at_once):
            batch = [fresh[i] for i in order[at : at + self.victim.rows_at_once]]
            found = self.metered(
                batch,
                lambda keys: checked(self.victim(*columns_of(keys)), self.victim),
                lambda _, why: Outputs.failed(1, why),
            )
            outputs = Outputs.join(found)
            self.memory.add(batch, outputs)
            if self.cache:
                kept = answers_of(batch, outputs)
                self.cache.put(self.identity, {texts_of(key): answer for key, answer in kept.items()})
            done.append(outputs)
            if self.tell:
                self.tell(len(batch))
        return done, order


def _longest_first(keys: Sequence[Key]) -> list[int]:
    """Places by length: rows of a batch are about equally long, and too little memory shows in the first one."""
    single = bool(keys) and isinstance(keys[0], str)  # then all are
    length = np.fromiter(map(len if single else _length, keys), np.int64, len(keys))
    return np.argsort(-length, kind="stable").tolist()


def _length(part: Key) -> int:
    return len(part) if isinstance(part, str) else sum(map(_length, part))
