"""Makes the lines of results.jsonl: the scores of each example, and the case that broke it at the smallest degree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..data.dataset import Dataset
from ..runs.display import Shown, rounded, said
from ..runs.folder import Folder
from ..runs.pack import unpack_answers
from ..runs.schema import Answer, EvaluationLine, Failure
from ..victims.truth import Truth
from .protocol import Protocol
from .table import Table


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
    for name in folder.parts():
        if name.startswith("clean"):
            continue
        part = folder.read_part(name)
        worse = np.flatnonzero(part["score"] < table.clean_score[part["example"]] - 1e-6)
        keys = [part[column][worse] for column in ("draw", "distance", "degree", "example", "dimension")]
        worse = worse[np.lexsort(keys)]
        groups = np.stack([part["dimension"][worse], part["example"][worse]])
        firsts = worse[np.flatnonzero(np.append(True, (np.diff(groups) != 0).any(0))[: worse.size])]
        cases = Shown(part, data, truth)
        for case in firsts.tolist():
            key = (int(part["dimension"][case]), int(part["example"][case]))
            rank = (int(part["degree"][case]), float(part["distance"][case]), int(part["draw"][case]))
            if key not in first or rank < first[key][0]:
                first[key] = (rank, {"degree": protocol.degrees[rank[0]], **cases.shown(case)})
    return {key: content for key, (_, content) in first.items()}


def _clean_answers(folder: Folder, truth: Truth) -> dict[int, Answer]:
    """Returns the answers to the clean texts as results.jsonl has them, by example."""
    out = {}
    for name in folder.parts():
        if name.startswith("clean"):
            part = folder.read_part(name)
            for example, answer in zip(part["example"].tolist(), unpack_answers(part), strict=True):
                out[example] = said(answer, truth)
    return out
