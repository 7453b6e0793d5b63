"""All trials of a run as one table, and per example and cell what the scores are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..runs.folder import Folder
from ..runs.pack import unpack_texts
from ..runs.schema import PROBLEMS
from ..text.ragged import Floats, Ints, Mask

COLUMNS = ("example", "dimension", "degree", "reached", "distance", "score", "problem", "scores", "edit_case")


@dataclass(frozen=True, eq=False)
class Table:
    """One row per case. `kind` is 0 for an answer, else the number of its problem in PROBLEMS, from 1."""

    examples: int
    dimensions: int
    degrees: int
    columns: dict[str, npt.NDArray[Any]]
    unfit: Ints  # [dimensions, degrees]
    reasons: dict[str, int]  # how often each problem was met, in words

    @classmethod
    def read(cls, folder: Folder, examples: int, dimensions: int, degrees: int, parts: list[str]) -> Table:
        """All parts, in the order of their names."""
        found: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in (*COLUMNS[:6], "kind", "unchanged", "scores")}
        unfit = np.zeros((dimensions, degrees), np.int64)
        reasons: dict[str, int] = {}
        for name in parts:
            part = folder.read_part(name, (*COLUMNS, "unfit", "reason_bytes", "reason_offsets"))
            words = unpack_texts("reason", part)
            counts = np.bincount(part["problem"], minlength=len(words) + 1).tolist()
            for number, reason in enumerate(words, 1):
                reasons[reason] = reasons.get(reason, 0) + counts[number]
            kinds = np.array([0, *(_kind(reason) for reason in words)], np.int8)
            size = part["example"].size
            part["kind"] = kinds[part["problem"]]
            part["unchanged"] = np.bincount(part["edit_case"], minlength=size) == 0
            part.setdefault("scores", np.empty((size, 0), np.float32))  # of a block without any answer, or of labels
            for column in found:
                if column in part:
                    found[column].append(part[column])
            for dimension, degree, count in part.get("unfit", np.empty((0, 3), np.int64)).tolist():
                unfit[dimension, degree] += count
        wide = max((array.shape[1] for array in found["scores"]), default=0)
        found["scores"] = [a if a.shape[1] else np.full((len(a), wide), np.nan, np.float32) for a in found["scores"]]
        columns = {name: np.concatenate(arrays) for name, arrays in found.items() if arrays}
        if not wide:
            columns.pop("scores", None)
        return cls(examples, dimensions, degrees, columns, unfit, reasons)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.columns[name]

    @property
    def clean(self) -> Mask:
        return self["dimension"] < 0

    @cached_property
    def cell(self) -> Ints:
        """The number of a case's (dimension, degree, example) among all."""
        at = self["dimension"].astype(np.int64) * self.degrees + self["degree"]
        return at * self.examples + self["example"]

    def per_example(self, values: Floats, rows: Mask) -> Floats:
        """Sums by dimension, degree and example."""
        size = self.dimensions * self.degrees * self.examples
        # as numbers, since of no rows it counts in whole ones
        flat = np.bincount(self.cell[rows], values[rows], size).astype(np.float64)
        return flat.reshape(self.dimensions, self.degrees, self.examples)

    @cached_property
    def answered(self) -> Mask:
        return ~self.clean & (self["kind"] == 0)

    @cached_property
    def clean_score(self) -> Floats:
        """By example; nan where the clean text had no answer."""
        out = np.full(self.examples, np.nan)
        rows = self.clean
        out[self["example"][rows]] = self["score"][rows]
        return out

    @cached_property
    def mean_score(self) -> Floats:
        """The mean over an example's cases, by dimension, degree and example; nan where there is none."""
        count = self.per_example(np.ones(len(self.cell)), self.answered)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.per_example(np.nan_to_num(self["score"]).astype(np.float64), self.answered) / count

    @cached_property
    def worst_score(self) -> Floats:
        """The lowest over an example's cases at this or a smaller degree, its clean text included."""
        size = self.dimensions * self.degrees * self.examples
        lowest = np.full(size, np.inf)
        np.minimum.at(lowest, self.cell[self.answered], self["score"][self.answered].astype(np.float64))
        shaped = lowest.reshape(self.dimensions, self.degrees, self.examples)
        lowest = np.minimum.accumulate(shaped, axis=1)
        return np.where(np.isinf(lowest), np.nan, np.minimum(lowest, self.clean_score))  # no case, no worst case


def _kind(reason: str) -> int:
    return next((at for at, name in enumerate(PROBLEMS, 1) if reason.startswith(name)), 1)
