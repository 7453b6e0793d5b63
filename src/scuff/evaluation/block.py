"""Makes the cases of a block of examples, asks the victim about them, and returns the part of the trials to save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..data.dataset import Column, Dataset, Text
from ..isolation import isolated
from ..metrics.meaning import distance_in_meaning
from ..perturbations.protect import Protect
from ..runs.folder import Arrays
from ..runs.pack import pack_edits
from ..runs.trials import Ask, judged
from ..text.edits import Edits
from ..text.ragged import Ints
from ..victims.base import Outputs
from ..victims.truth import Truth
from .cases import Cases, sample_cases
from .guided import Oracle
from .protocol import Protocol

COPIES = 1 << 21  # characters of all copies that are perturbed at once, about: each takes up to half a kilobyte


@dataclass(frozen=True, eq=False)
class CellCases:
    """The cases of one cell (a dimension at a degree); or one example and, in `problem`, why it has no case there."""

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
) -> list[CellCases]:
    """Returns cases number `first` to `upto` (exclusive) of every example of a block in every cell.

    An example on which a perturbation raises an exception becomes one case without an answer; other examples keep their
    cases. oracle: needed by guided dimensions.
    """
    whole = [Column.of(column) for column in data.columns]
    out: dict[tuple[int, int], list[CellCases]] = {cell: [] for cell in cells}
    shares = _shares(whole, upto)
    for rows in shares:
        some = np.array(rows)
        columns = whole if len(shares) == 1 else [column.take(some) for column in whole]
        asked = oracle if oracle is None or len(shares) == 1 else oracle.take(some)
        for cell in cells:
            make = partial(_sample, columns, protocol, cell, first, upto, asked)
            made = isolated(range(len(rows)), make, partial(_failed, columns, cell))
            out[cell] += [
                replace(each, cases=replace(each.cases, example=each.cases.example + rows.start)) for each in made
            ]
    return [made for cell in cells for made in out[cell]]


def _shares(columns: list[Column], upto: int) -> list[range]:
    """Returns ranges of examples whose copies are made at once: all, but of long texts fewer, since copies take memory."""
    size = np.sum([column.corpus.lengths for column in columns], axis=0) * upto
    share = np.cumsum(size) // COPIES
    edges = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), size.size]
    return [range(a, b) for a, b in pairwise(edges)]


def _sample(
    columns: list[Column], protocol: Protocol, cell: tuple[int, int], first: int, upto: int, oracle: Oracle | None,
    rows: Sequence[int],
) -> CellCases:  # fmt: skip
    """Returns the cases of the examples with these numbers in one cell."""
    dimension, chosen = protocol.parsed[cell[0]], np.array(rows, np.int64)
    whole = len(rows) == len(columns[0].corpus)
    cases = sample_cases(
        columns if whole else [column.take(chosen) for column in columns], protocol.sides, dimension,
        protocol.degrees[cell[1]], upto, first=first, seed=protocol.seed,
        protect=Protect(protocol.protect) if protocol.protect else None,
        far=distance_in_meaning(protocol.meaning) if dimension.measure == "meaning" else None,
        oracle=oracle if whole or oracle is None else oracle.take(chosen),
        rounding=protocol.rounding, selection=protocol.selections[cell[0]] if protocol.selections else None,
    )  # fmt: skip
    return CellCases(*cell, cases if whole else replace(cases, example=chosen[cases.example]))


def _failed(columns: list[Column], cell: tuple[int, int], row: int, reason: str) -> CellCases:
    """Returns the one case of an example on which a perturbation raised: its unchanged text, which the victim is not asked."""
    one = [column.take(np.array([row])) for column in columns]
    zero, none = np.zeros(1), np.zeros(1, np.int64)
    texts, edits = tuple(column.texts() for column in one), tuple(Edits.join([]) for _ in one)
    return CellCases(*cell, Cases(np.array([row]), none, edits, texts, zero, zero, none), reason)


def try_block(made: Sequence[CellCases], truth: Truth, ask: Ask, first_example: int) -> Arrays:
    """Asks the victim about all cases of a block. Returns the part to save.

    first_example: the number that the first example of the block has in the run.
    """
    columns: list[list[Text]] = [[] for _ in made[0].cases.columns]
    for cell in made:
        for column, texts in zip(columns, cell.cases.columns, strict=True):
            column += texts
    example = np.concatenate([cell.cases.example for cell in made])
    failed = np.concatenate([np.full(len(cell.cases), cell.problem, object) for cell in made])
    fine = np.flatnonzero(np.equal(failed, ""))
    answered = ask(*([column[at] for at in fine.tolist()] for column in columns))
    outputs = _scattered(answered, fine, failed)
    edits, begin = [], 0
    for cell in made:
        edits += [(at, begin, e) for at, e in enumerate(cell.cases.edits) if e is not None]
        begin += len(cell.cases)
    return {
        **_described(made, example, first_example),
        **judged(outputs, truth.take(example)),
        **pack_edits(edits),
    }


def _scattered(answered: Outputs, fine: Ints, failed: Any) -> Outputs:
    """Returns one row per case: the answers at the rows `fine`, and at the others the reason why they were not asked."""
    if fine.size == failed.size:
        return answered
    out = Outputs.failed(failed.size, "", answered if len(answered) else None)
    answers, problem = out.answers, failed.copy()
    answers[fine], problem[fine] = answered.answers, answered.problem
    return Outputs(answers, problem)


def _described(made: Sequence[CellCases], example: Ints, first_example: int) -> Arrays:
    """Returns the columns of a part that say which case each row is and how far it is from its original."""
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
