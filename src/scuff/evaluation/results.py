"""Makes the lines of results.jsonl: the scores of each example, and the case that broke it at the smallest degree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..data.dataset import Dataset
from ..runs.display import Shown, rounded, said
from ..runs.folder import Folder
from ..runs.pack import unpack_answers
from ..runs.schema import Answer, EvaluationLine, Failure
from ..text.ragged import Ints
from ..victims.truth import Truth
from .protocol import Protocol
from .table import ANSWERS, Table

# columns of a part that a failure is shown from
SHOWN = (
    *("example", "dimension", "degree", "draw", "reached", "distance", "score"),
    *("edit_case", "edit_column", "edit_start", "edit_stop", "edit_text_bytes", "edit_text_offsets"),
    *ANSWERS,
)


def example_lines(
    folder: Folder, data: Dataset, protocol: Protocol, truth: Truth, table: Table
) -> Iterator[EvaluationLine]:
    """Yields a line per example: id, texts, target, the clean answer, and for each dimension its scores and first failure."""
    broken = first_failures(folder, data, protocol, truth, table)
    clean = _clean_answers(folder, truth)
    names = [dimension.name for dimension in protocol.parsed]
    for at in range(len(data)):
        yield {
            "id": data.ids[at],
            "texts": [column[at] for column in data.columns],
            "target": data.targets[at],
            "clean": {"score": rounded(table.clean_score[at]), "answer": clean.get(at)},
            "dimensions": {
                name: {
                    "average": [rounded(score) for score in table.mean_score[number, :, at]],
                    "worst": [rounded(score) for score in table.worst_score[number, :, at]],
                    "worst_alone": [rounded(score) for score in table.alone_score[number, :, at]],
                    "broken_by": broken.get((number, at)),
                }
                for number, name in enumerate(names)
            },
        }


def first_failures(
    folder: Folder, data: Dataset, protocol: Protocol, truth: Truth, table: Table
) -> dict[tuple[int, int], Failure]:
    """Returns the first case, by degree and then distance, that scores lower than the clean text: by dimension and example."""
    first: dict[tuple[int, int], tuple[tuple[int, float, int], Failure]] = {}
    failed = {name: rows for name in table.parts if (rows := _firsts(table, table.parts[name])).size}
    parts = folder.read_parts(list(failed), SHOWN)
    for rows, part in zip(failed.values(), parts, strict=True):
        cases = Shown(part, data, truth)
        for case in rows.tolist():
            key = (int(part["dimension"][case]), int(part["example"][case]))
            rank = (int(part["degree"][case]), float(part["distance"][case]), int(part["draw"][case]))
            if key not in first or rank < first[key][0]:
                first[key] = (rank, {"degree": protocol.degrees[rank[0]], **cases.shown(case)})
    return {key: content for key, (_, content) in first.items()}


def _firsts(table: Table, where: slice) -> Ints:
    """Returns the rows of a part, counted from its beginning, that are the first failure of their example and dimension there."""
    part = {name: table[name][where] for name in ("draw", "distance", "degree", "example", "dimension", "score")}
    worse = np.flatnonzero((part["score"] < table.clean_score[part["example"]] - 1e-6) & (part["dimension"] >= 0))
    group = part["dimension"][worse].astype(np.int64) * table.examples + part["example"][worse]
    groups, member = np.unique(group, return_inverse=True)
    lowest = np.full(groups.size, table.degrees)
    np.minimum.at(lowest, member, part["degree"][worse])
    at_lowest = part["degree"][worse] == lowest[member]  # few are left to be sorted
    worse, member = worse[at_lowest], member[at_lowest]
    order = np.lexsort((part["draw"][worse], part["distance"][worse], member))
    firsts: Ints = worse[order][np.flatnonzero(np.diff(member[order], prepend=-1))]
    return firsts


def _clean_answers(folder: Folder, truth: Truth) -> dict[int, Answer]:
    """Returns the answers to the clean texts as results.jsonl has them, by example."""
    out = {}
    for name in folder.parts():
        if name.startswith("clean"):
            part = folder.read_part(name)
            for example, answer in zip(part["example"].tolist(), unpack_answers(part), strict=True):
                out[example] = said(answer, truth)
    return out
