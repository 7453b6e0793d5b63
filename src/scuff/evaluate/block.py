"""The work on one block of examples: make cases, ask the victim about all of them at once, write down what it said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..attack import CANNOT_GO_ON, Cases, Column, Oracle, distance_in_meaning, sample_cases
from ..perturb import Protect
from ..text import Edits
from ..text.dataset import Dataset, Text
from ..text.ragged import Ints
from ..victims.base import Outputs, reason_of
from .pack import pack_answers, pack_edits, pack_texts
from .protocol import Protocol
from .trials import Arrays
from .truth import Truth

CLEAN = -1  # the dimension and degree of texts as they are


@dataclass(frozen=True, eq=False)
class Made:
    """The cases of one cell, or the reason why one example has none."""

    dimension: int
    degree: int
    cases: Cases
    problem: str = ""


def make_cases(
    data: Dataset,
    protocol: Protocol,
    cells: Sequence[tuple[int, int]],
    first: int,
    upto: int,
    oracle: Oracle | None = None,
) -> list[Made]:
    """Cases number `first` to `upto` of every example of a block in every cell. An example on which an attack fails is one
    case without an answer; the others are not touched by that. oracle: for guided dimensions.
    """
    columns = [Column.of(column) for column in data.columns]
    out = []
    for dimension, degree in cells:
        try:
            out.append(Made(dimension, degree, _sample(columns, protocol, dimension, degree, first, upto, oracle)))
        except CANNOT_GO_ON:
            raise
        except Exception:  # find the example that did it
            out += [_alone(columns, protocol, dimension, degree, first, upto, oracle, row) for row in range(len(data))]
    return out


def _sample(
    columns: list[Column], protocol: Protocol, dimension: int, degree: int, first: int, upto: int, oracle: Oracle | None
) -> Cases:
    wanted = protocol.parsed[dimension]
    return sample_cases(
        columns, protocol.sides, wanted, protocol.degrees[degree], upto, first=first, seed=protocol.seed,
        protect=Protect(protocol.protect) if protocol.protect else None,
        far=distance_in_meaning(protocol.meaning) if wanted.measure == "meaning" else None, oracle=oracle,
    )  # fmt: skip


def _alone(
    columns: list[Column], protocol: Protocol, dimension: int, degree: int, first: int, upto: int,
    oracle: Oracle | None, row: int,
) -> Made:  # fmt: skip
    one = [column.take(np.array([row])) for column in columns]
    try:
        cases = _sample(one, protocol, dimension, degree, first, upto, oracle and oracle.take(np.array([row])))
        return Made(dimension, degree, replace(cases, example=cases.example + row))
    except CANNOT_GO_ON:
        raise
    except Exception as error:
        zero, edits = np.zeros(1), tuple(Edits.join([]) for _ in one)
        texts = tuple(column.texts() for column in one)
        empty = Cases(np.array([row]), np.zeros(1, np.int64), edits, texts, zero, zero, np.zeros(1, np.int64))
        return Made(dimension, degree, empty, reason_of(error))


Ask = Callable[..., Outputs]


def try_block(made: Sequence[Made], truth: Truth, ask: Ask, first_example: int) -> Arrays:
    """Ask about all cases of a block and give the part to save. Examples count from `first_example` of the run."""
    columns: list[list[Text]] = [[] for _ in made[0].cases.columns]
    for cell in made:
        for column, texts in zip(columns, cell.cases.columns, strict=True):
            column += texts
    example = np.concatenate([cell.cases.example for cell in made])
    failed = np.concatenate([np.full(len(cell.cases), cell.problem, object) for cell in made])
    fine = np.flatnonzero(np.equal(failed, ""))
    answered = ask(*([column[at] for at in fine.tolist()] for column in columns), examples=(example[fine]).tolist())
    outputs = _scattered(answered, fine, failed)
    edits, begin = [], 0
    for cell in made:
        edits += [(at, begin, e) for at, e in enumerate(cell.cases.edits) if e is not None]
        begin += len(cell.cases)
    return {
        **_described(made, example, first_example),
        **_judged(outputs, truth.take(example)),
        **pack_edits(edits),
    }


def clean_block(data: Dataset, truth: Truth, ask: Ask, first_example: int) -> Arrays:
    """The texts as they are."""
    count = len(data)
    example = np.arange(count)
    outputs = ask(*data.columns, examples=example.tolist())
    whole = np.full(count, CLEAN, np.int16)
    zero = np.zeros(count)
    return {
        "example": (example + first_example).astype(np.int32), "dimension": whole, "degree": whole,
        "draw": np.zeros(count, np.int32), "reached": zero, "distance": zero,
        **_judged(outputs, truth), **pack_edits([]),
    }  # fmt: skip


def _scattered(answered: Outputs, fine: Ints, failed: Any) -> Outputs:
    """Answers put back to where their rows stand among those that were never asked about."""
    if fine.size == failed.size:
        return answered
    out = Outputs.failed(failed.size, "", answered if len(answered) else None)
    answers, problem = out.answers, failed.copy()
    answers[fine], problem[fine] = answered.answers, answered.problem
    return Outputs(answers, problem)


def _described(made: Sequence[Made], example: Ints, first_example: int) -> Arrays:
    sizes = [len(cell.cases) for cell in made]

    def join(name: str) -> Any:
        return np.concatenate([getattr(cell.cases, name) for cell in made])

    return {
        "example": (example + first_example).astype(np.int32),
        "dimension": np.repeat([cell.dimension for cell in made], sizes).astype(np.int16),
        "degree": np.repeat([cell.degree for cell in made], sizes).astype(np.int16),
        "draw": join("draw").astype(np.int32),
        "reached": join("reached"),
        "distance": join("distance"),
        "unfit": np.array([[cell.dimension, cell.degree, cell.cases.unfit.sum()] for cell in made], np.int32),
    }


def _judged(outputs: Outputs, truth: Truth) -> Arrays:
    score, problem = truth.score(outputs)
    reasons = sorted({str(reason) for reason in problem.tolist()} - {""})
    number = {reason: at for at, reason in enumerate(reasons, 1)} | {"": 0}
    return {
        "score": score.astype(np.float32),
        "problem": np.array([number[str(reason)] for reason in problem.tolist()], np.int32),
        **pack_texts("reason", reasons),
        **pack_answers(outputs.answers),
    }
