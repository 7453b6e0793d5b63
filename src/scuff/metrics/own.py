"""A metric that is no more than a function: of a text and its reference, of one pair after the other."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..text.ragged import Floats
from .base import Answers, Mean, Task


@dataclass(frozen=True)
class PairFunction(Mean):
    """The mean of a user's function(text, reference), which returns a number. named: its spec, such as my_file.py:likeness."""

    function: Callable[[str, str], float]
    named: str

    name: ClassVar[str] = "function"
    tasks: ClassVar[tuple[Task, ...]] = ("text",)

    @property
    def spec(self) -> str:
        return self.named

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        out = np.empty(len(answers))
        for at, (said, wanted) in enumerate(zip(answers.tolist(), targets.tolist(), strict=True)):
            found = self.function(said, wanted)
            if not isinstance(found, Real | np.generic) or not math.isfinite(found):
                raise ValueError(f"expected a number from {self.named}(text, reference), got {found!r:.60}")
            out[at] = float(found)
        return out


def scores_pairs(kind: Any) -> bool:
    """Whether an object is a function that needs two arguments, as one that scores pairs of texts."""
    if not inspect.isroutine(kind):
        return False
    given = inspect.signature(kind).parameters.values()
    return (
        sum(
            each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
            for each in given
        )
        == 2
    )
