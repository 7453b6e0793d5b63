"""A metric that is no more than a function: of a text and its reference, of one pair after the other."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..specs import parse_call
from ..text.ragged import Floats
from .base import Answers, Mean, Metric, Task


class FunctionFailed(ValueError):
    """A user's metric raised an error, or returned no number. at: the pair, from 0, where one is to blame."""

    def __init__(self, message: str, at: int = 0, raised: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.exit_code = 3 if raised else 2


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
        wanted = f"expected a number from {self.named}(text, reference)"
        for at, (said, right) in enumerate(zip(answers.tolist(), targets.tolist(), strict=True)):
            try:
                found = self.function(said, right)
            except Exception as error:  # the code of a user may raise anything
                raise FunctionFailed(f"{wanted}, got {described(error)}", at, raised=True) from error
            if not isinstance(found, Real | np.generic) or not math.isfinite(found):
                raise FunctionFailed(f"{wanted}, got {found!r:.60}", at)
            out[at] = float(found)
        return out


def described(error: Exception) -> str:
    """Returns an error of a user's code for a message: its type, what it says, and how to see where it came from."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}{f': {said}' if said else ''} (SCUFF_DEBUG=1 shows where)"


def name_of_function(given: Any) -> str:
    """Returns the name of a function, or of an object that is called like one, for reports."""
    named = given if hasattr(given, "__qualname__") and hasattr(given, "__module__") else type(given)
    return f"{named.__module__}:{named.__qualname__}"


def pair_function(given: Any, spec: str) -> PairFunction | None:
    """Returns the metric of a function, or of an object that is called like one, with the options in its spec.

    None for what is no function of texts: a class, a metric, or a function all of whose arguments are options, which may return
    a metric. Raises ValueError if it is a function of one text or of more than two.
    """
    if isinstance(given, type | Metric) or not callable(given):
        return None
    options = parse_call(spec)[1] if spec.endswith(")") else {}
    try:
        arguments = inspect.signature(given).parameters.values()
    except (ValueError, TypeError):  # written in C, without a signature
        return PairFunction(partial(given, **options) if options else given, spec)
    plain = [each for each in arguments if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    texts = [each.name for each in plain if each.default is each.empty and each.name not in options]
    if not texts:
        return None
    if len(texts) != 2 or texts != [each.name for each in plain[:2]]:
        shown = f"{spec.partition('(')[0]}{inspect.signature(given)}"
        raise ValueError(f"expected a function of two texts, a text and its reference, or a metric, got {shown}")
    known = [each.name for each in arguments if each.name not in texts and each.kind is not each.VAR_POSITIONAL]
    if not any(each.kind is each.VAR_KEYWORD for each in arguments):
        for option in options:
            if option not in known:
                raise ValueError(f"expected {' or '.join(known) or 'no option'} for {spec}, got {option!r}")
    return PairFunction(partial(given, **options) if options else given, spec)
