"""The one door to a victim: counts, removes duplicates, caches, sorts by length, batches, keeps budgets and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import chain

import numpy as np

from ..text.ragged import Floats
from .base import GRADIENT_STEPS, Access, Column, Outputs, Spans, Victim, as_objects, require
from .cache import DiskCache
from .memory import Answer, Key, Memory, answers_of, columns_of, keys_of, outputs_of, texts_of
from .meter import BudgetSpent, Meter, TooManyErrors

__all__ = ["UNASKED", "BudgetSpent", "Query", "TooManyErrors"]

UNASKED = "budget: no query was left"


class Query(Meter):
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
        super().__init__(victim.name, max_queries, max_errors)
        self.victim, self.cache, self.per_example = victim, cache, per_example
        self.identity = identity or victim.identity
        self.rows = 0  # rows that were wanted
        self.memory = Memory(remember)
        self._spent: Counter[Hashable] = Counter()

    def __call__(self, *columns: Column, examples: Sequence[Hashable] | None = None) -> Outputs:
        """Answers row by row. `examples` names the example of each row, for the budget per example."""
        keys = keys_of(columns)
        self.rows += len(keys)
        number: dict[Key, int] = {}  # each once, in their order
        place = np.fromiter((number.setdefault(key, len(number)) for key in keys), np.int64, len(keys))
        known = self._known(list(number))
        fresh = [key for key in number if key not in known] if known else list(number)
        if examples is not None and self.per_example is not None:
            fresh = self._affordable(fresh, keys, examples)
        self.afford(len(fresh))
        parts = self._ask(fresh)
        if known:
            parts.append((list(known), outputs_of(list(known.values()))))
        if left := len(number) - sum(len(part) for part, _ in parts):
            told = set(chain.from_iterable(part for part, _ in parts))
            parts.append(([key for key in number if key not in told], Outputs.failed(left, UNASKED)))
        if not parts:
            return Outputs.of(as_objects([]))
        order = np.empty(len(number), np.int64)
        order[[number[key] for part, _ in parts for key in part]] = np.arange(len(number))
        return Outputs.join([outputs for _, outputs in parts]).take(order[place])

    def saliency(
        self, *columns: Column, side: int, words: Sequence[Spans], weights: Floats, steps: int = GRADIENT_STEPS
    ) -> list[Floats]:
        """`Victim.saliency` of all rows. Each counts as many queries as it is put through the model. Words of a row that the
        victim cannot take have 0. Nothing is cached.
        """
        require(self.victim, Access.GRADIENT, "saliency")
        size = max(1, self.victim.rows_at_once // steps)
        self.rows += len(words)
        self.afford(steps * len(words))

        def ask(rows: Sequence[int]) -> list[Floats]:
            part, some = [[column[i] for i in rows] for column in columns], [words[i] for i in rows]
            return self.victim.saliency(*part, side=side, words=some, weights=weights[list(rows)], steps=steps)

        order = _longest_first(keys_of(columns))
        found: list[Floats] = []
        for at in range(0, len(order), size):
            rows = order[at : at + size]
            parts = self.halving(rows, ask, lambda row, _: [np.zeros(len(words[row]))], passes=steps)
            found += chain.from_iterable(parts)
        return [found[i] for i in np.argsort(order).tolist()]

    def forget(self) -> None:
        """Empty the memory (not the cache on disk)."""
        self.memory.clear()

    def _known(self, wanted: list[Key]) -> dict[Key, Answer]:
        known = self.memory.find(wanted)
        if self.cache:
            left = {texts_of(key): key for key in wanted if key not in known}
            known |= {left[texts]: answer for texts, answer in self.cache.get(self.identity, left).items()}
        return known

    def _affordable(self, fresh: list[Key], keys: list[Key], examples: Sequence[Hashable]) -> list[Key]:
        owner = dict(zip(reversed(keys), reversed(examples), strict=True))  # the first example that wants it pays
        out = []
        for key in fresh:
            if self._spent[owner[key]] < (self.per_example or 0):
                self._spent[owner[key]] += 1
                out.append(key)
        return out

    def _ask(self, fresh: list[Key]) -> list[tuple[list[Key], Outputs]]:
        order = _longest_first(fresh)
        done = []
        for at in range(0, len(order), self.victim.rows_at_once):
            batch = [fresh[i] for i in order[at : at + self.victim.rows_at_once]]
            found = self.halving(
                batch, lambda keys: self.victim(*columns_of(keys)), lambda _, why: Outputs.failed(1, why)
            )
            outputs = Outputs.join(found)
            self.memory.add(batch, outputs)
            if self.cache:
                kept = answers_of(batch, outputs)
                self.cache.put(self.identity, {texts_of(key): answer for key, answer in kept.items()})
            done.append((batch, outputs))
        return done


def _longest_first(keys: Sequence[Key]) -> list[int]:
    """So that what is batched together is about equally long, and too little memory shows at once."""
    length = np.fromiter(map(_length, keys), np.int64, len(keys))
    return np.argsort(-length, kind="stable").tolist()


def _length(part: Key) -> int:
    return len(part) if isinstance(part, str) else sum(map(_length, part))
