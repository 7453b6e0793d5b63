"""Answers that were given last, so that nothing is asked twice in a row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..text.dataset import Text
from .base import Column, Outputs, as_objects

Key = str | tuple[Text, ...]  # a row: its string where that is all, else what stands in its columns
Answer = tuple[Any, str]  # and the problem with it


def keys_of(columns: Sequence[Column]) -> list[Any]:
    """The rows of some columns. A tuple for every row would cost more than all else, so single strings stand for themselves."""
    if len(columns) == 1 and len(columns[0]) and isinstance(columns[0][0], str):
        return list(columns[0])
    return list(zip(*columns, strict=True))


def columns_of(keys: Sequence[Any]) -> list[Sequence[Any]]:
    """The columns of some rows, of which there must be one."""
    return [keys] if isinstance(keys[0], str) else list(zip(*keys, strict=True))


def texts_of(key: Key) -> tuple[Text, ...]:
    """What stands in the columns of a row."""
    return (key,) if isinstance(key, str) else key


class Memory:
    """Up to `size` answers, those that were used last; errors are not kept, since they may pass."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._known: OrderedDict[Key, Answer] = OrderedDict()
        self._new: list[tuple[Sequence[Key], Outputs]] = []  # many are forgotten before anybody looks for them

    def __len__(self) -> int:
        self._settle()
        return len(self._known)

    def add(self, keys: Sequence[Key], outputs: Outputs) -> None:
        self._new.append((keys, outputs))

    def find(self, keys: Iterable[Key]) -> dict[Key, Answer]:
        """Those that are known."""
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
    """Answers row by row, without errors."""
    rows = zip(keys, outputs.answers, outputs.problem.tolist(), strict=True)
    return {key: (value, problem) for key, value, problem in rows if not problem.startswith("error")}


def outputs_of(answers: Sequence[Answer]) -> Outputs:
    """Answers of single rows as arrays; what stands for none has the shape of the others."""
    values, problem = [value for value, _ in answers], as_objects([reason for _, reason in answers])
    sample = next((value for value, reason in answers if value is not None and not reason), None)
    if not isinstance(sample, np.ndarray | np.generic) or (isinstance(sample, np.ndarray) and sample.dtype.kind == "i"):
        return Outputs(as_objects(values), problem)
    none = Outputs.failed(1, "", Outputs.of(np.asarray(sample)[None])).answers[0]
    return Outputs(np.stack([none if reason else value for value, reason in answers]), problem)
