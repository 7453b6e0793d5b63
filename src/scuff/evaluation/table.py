"""All trials of an evaluation as one table, with their scores by dimension, degree and example."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..metrics import Metric
from ..metrics.interval import weighted_rows
from ..runs.folder import Folder
from ..runs.pack import unpack_answers, unpack_texts
from ..runs.schema import PROBLEMS
from ..text.ragged import Floats, Ints, Mask, bounds
from ..victims.base import Outputs
from ..victims.truth import Truth

# columns of a part that are read: always, and to have the answers, too
COLUMNS = ("example", "dimension", "degree", "reached", "distance", "score", "draw", "problem", "scores", "edit_case")
ANSWERS = ("scores", "sets", "label", "tags", "tags_offsets", "answer_bytes", "answer_offsets")


class Rows(NamedTuple):
    """A metric's rows of statistics, by example; nan where an example has no answer."""

    clean: Floats  # [examples, k]
    mean: Floats  # [dimensions, degrees, examples, k]: the mean over an example's cases
    worst: Floats  # [dimensions, degrees, examples, k]: of an example's worst case up to the degree
    alone: Floats  # [dimensions, degrees, examples, k]: of an example's worst case at the degree alone


@dataclass(frozen=True, eq=False)
class Table:
    """One row per case, clean texts included. `kind` is 0 for an answer, else the number, from 1, of its problem in PROBLEMS.

    The column `answers` is there only if `read` was asked for it, since texts may fill the memory. parts: where the rows of each
    part are.
    """

    examples: int
    dimensions: int
    degrees: int
    columns: dict[str, npt.NDArray[Any]]
    unfit: Ints  # [dimensions, degrees]: draws above the degree, which were discarded
    reasons: dict[str, int]  # how often each reason for a missing answer occurs
    clean_reasons: dict[str, int]  # of these, how often for clean texts
    parts: dict[str, slice] = field(default_factory=dict)

    @classmethod
    def read(
        cls, folder: Folder, examples: int, dimensions: int, degrees: int, parts: list[str], answers: bool = False
    ) -> Table:
        """Reads these parts of a run folder. answers: also read the victim's answers, which metrics other than the usual one
        need.
        """
        found: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in (*COLUMNS[:7], "kind", "unchanged", "scores")}
        unfit = np.zeros((dimensions, degrees), np.int64)
        reasons: dict[str, int] = {}
        clean_reasons: dict[str, int] = {}
        outputs: list[Outputs] = []
        wanted = {*COLUMNS, *(ANSWERS if answers else ()), "unfit", "reason_bytes", "reason_offsets"}
        where: dict[str, slice] = {}
        total = 0
        for name, part in zip(parts, folder.read_parts(parts, wanted), strict=True):
            part_reasons = unpack_texts("reason", part)
            counts = np.bincount(part["problem"], minlength=len(part_reasons) + 1).tolist()
            for number, reason in enumerate(part_reasons, 1):
                for counted in (reasons, clean_reasons) if name.startswith("clean") else (reasons,):
                    counted[reason] = counted.get(reason, 0) + counts[number]
            kinds = np.array([0, *(_kind(reason) for reason in part_reasons)], np.int8)
            size = part["example"].size
            where[name] = slice(total, total + size)
            total += size
            if answers:
                outputs.append(Outputs.of(unpack_answers(part)))
            part["kind"] = kinds[part["problem"]]
            part["unchanged"] = np.ones(size, np.bool_)
            part["unchanged"][part["edit_case"]] = False
            part.setdefault("scores", np.empty((size, 0), np.float32))  # of a victim, or a part, without scores
            for column in found:
                if column in part:
                    found[column].append(part[column])
            for dimension, degree, count in part.get("unfit", np.empty((0, 3), np.int64)).tolist():
                unfit[dimension, degree] += count
        wide = max((array.shape[1] for array in found["scores"]), default=0)
        found["scores"] = [a if a.shape[1] else np.full((len(a), wide), np.nan, np.float32) for a in found["scores"]]
        columns = {name: np.concatenate(found.pop(name)) for name in list(found) if found[name]}
        if not wide:
            columns.pop("scores", None)
        if outputs:
            columns["answers"] = Outputs.join(outputs).answers
        return cls(examples, dimensions, degrees, columns, unfit, reasons, clean_reasons, where)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.columns[name]

    @property
    def clean(self) -> Mask:
        """Which rows are clean texts."""
        return self["dimension"] < 0

    @cached_property
    def cell(self) -> Ints:
        """The index of each row in a flattened array [dimensions, degrees, examples]; negative for clean texts."""
        at = self["dimension"].astype(np.int64) * self.degrees + self["degree"]
        return at * self.examples + self["example"]

    def per_example(self, values: Floats, rows: Mask) -> Floats:
        """Returns the sums of the values in some rows, by dimension, degree and example."""
        size = self.dimensions * self.degrees * self.examples
        flat = np.bincount(self.cell[rows], values[rows], size).astype(np.float64)  # integers if there are no rows
        return flat.reshape(self.dimensions, self.degrees, self.examples)

    @cached_property
    def answered(self) -> Mask:
        """Which rows are cases, not clean texts, with an answer."""
        return ~self.clean & (self["kind"] == 0)

    @cached_property
    def clean_score(self) -> Floats:
        """The score of each example's clean text; nan where it had no answer."""
        out = np.full(self.examples, np.nan)
        rows = self.clean
        out[self["example"][rows]] = self["score"][rows]
        return out

    @cached_property
    def mean_score(self) -> Floats:
        """The mean score over an example's cases, by dimension, degree and example; nan where none was answered."""
        count = self.per_example(np.ones(len(self.cell)), self.answered)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.per_example(np.nan_to_num(self["score"]).astype(np.float64), self.answered) / count

    @cached_property
    def _lowest(self) -> Floats:
        """The lowest score of an example's cases, by dimension, degree and example; inf where none was answered."""
        lowest = np.full(self.dimensions * self.degrees * self.examples, np.inf)
        np.minimum.at(lowest, self.cell[self.answered], self["score"][self.answered].astype(np.float64))
        return lowest.reshape(self.dimensions, self.degrees, self.examples)

    @cached_property
    def worst_score(self) -> Floats:
        """The lowest score of an example's cases up to each degree, its clean text included; nan where none was answered."""
        return self._with_clean(np.minimum.accumulate(self._lowest, axis=1))

    @cached_property
    def alone_score(self) -> Floats:
        """The lowest score of an example's cases at each degree alone, its clean text included; nan where none was answered."""
        return self._with_clean(self._lowest)

    def _with_clean(self, lowest: Floats) -> Floats:
        return np.where(np.isinf(lowest), np.nan, np.minimum(lowest, self.clean_score))

    def worst_case(self, score: Floats, *, alone: bool = False) -> Ints:
        """The row with the lowest score, by dimension, degree and example; -1 where worst_score or alone_score is not known.

        score: of every row. Of equal ones the clean text is taken, else the one of the smallest degree, of these the first.
        alone: of the cases at each degree alone, not of those at smaller degrees, too.
        """
        rows = np.flatnonzero(self.answered)
        rows = rows[np.lexsort((rows, score[rows], self.cell[rows]))]
        cells, first = np.unique(self.cell[rows], return_index=True)
        worst = np.full((self.dimensions, self.degrees, self.examples), -1)
        worst.flat[cells] = rows[first]
        for degree in range(1, 0 if alone else self.degrees):
            before, here = worst[:, degree - 1], worst[:, degree]
            stays = (before >= 0) & ((here < 0) | (score[before] <= score[here]))
            worst[:, degree] = np.where(stays, before, here)
        clean = np.zeros(self.examples, np.int64)
        clean[self["example"][self.clean]] = np.flatnonzero(self.clean)
        worst = np.where((worst >= 0) & (score[clean] <= score[worst]), clean, worst)
        return np.where(np.isnan(self.alone_score if alone else self.worst_score), -1, worst)

    def rows(self, metric: Metric, truth: Truth) -> Rows:
        """Returns a metric's rows of statistics: of the task's usual one from the scores in the trials, else from the answers."""
        if metric == truth.metric:
            scores = (self.clean_score, self.mean_score, self.worst_score, self.alone_score)
            return Rows(*(weighted_rows(each, truth.weight) for each in scores))
        cells = [(dimension, degree) for dimension in range(self.dimensions) for degree in range(self.degrees)]
        score = self._sureness(truth) if metric.needs_scores else self["score"]
        if truth.task == "text":
            score = self._values(metric, truth)
        worst_cases = [self.worst_case(score, alone=alone) for alone in (False, True)]
        chosen = [
            self.clean & (self["kind"] == 0),
            *(self._answered_of(self.within(*cell)) for cell in cells),
            *(worst[cell][worst[cell] >= 0] for worst in worst_cases for cell in cells),
        ]
        found = [self.example_rows(metric, truth, rows) for rows in chosen]
        wide = next((rows.shape[1] for rows in found if rows is not None), 1)
        none = np.full((self.examples, wide), np.nan)
        whole = np.stack([none if rows is None else rows for rows in found])
        return Rows(whole[0], *whole[1:].reshape(3, self.dimensions, self.degrees, *none.shape))

    def _values(self, metric: Metric, truth: Truth) -> Floats:
        """The value of every row by a metric, nan without an answer: which of several texts is worst depends on the metric."""
        out = np.full(len(self["example"]), np.nan)
        rows = np.flatnonzero(self["kind"] == 0)
        if rows.size:
            out[rows] = metric.values(self["answers"][rows], truth.targets[self["example"][rows]], truth.labels)
        return out

    def _sureness(self, truth: Truth) -> Floats:
        """A rank of every row by its score and, among equal ones, by how sure the model is of the right answer."""
        margin = truth.take(self["example"]).margin(Outputs.of(self["scores"]))
        pairs = np.stack([self["score"], margin], 1)
        return np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1).astype(np.float64)

    def within(self, dimension: int, degree: int) -> Ints:
        """Returns the rows of the cases of one dimension at one degree, in their order."""
        order, edges = self._by_cell
        at = dimension * self.degrees + degree
        return order[edges[at] : edges[at + 1]]

    def _answered_of(self, rows: Ints) -> Ints:
        return rows[self["kind"][rows] == 0]

    @cached_property
    def _by_cell(self) -> tuple[Ints, Ints]:
        """All rows, those of each cell (a dimension at a degree) together and in their order, and where each cell begins."""
        size = self.dimensions * self.degrees
        cell = self["dimension"].astype(np.int64) * self.degrees + self["degree"]
        cell[self.clean] = size  # behind all others
        if size < 1 << 16:  # numbers of 16 bits are sorted in linear time
            return np.argsort(cell.astype(np.uint16), kind="stable"), bounds(np.bincount(cell, minlength=size))
        return np.argsort(cell, kind="stable"), bounds(np.bincount(cell, minlength=size))

    def example_rows(self, metric: Metric, truth: Truth, rows: Ints | Mask) -> Floats | None:
        """Returns a metric's mean row over the answers of each example in some rows: [examples, k], nan where it has none there.

        Returns None if no rows are given.
        """
        example = self["example"][rows]
        if not example.size:
            return None
        answers = self["scores"][rows] if metric.needs_scores else truth.predicted(self["answers"][rows])
        return metric.example_rows(answers, truth.targets[example], truth.labels, example, self.examples)


def _kind(reason: str) -> int:
    """Returns the number, from 1, of the problem that a reason begins with; 1, an error, if it begins with none."""
    return next((at for at, name in enumerate(PROBLEMS, 1) if reason.startswith(name)), 1)
