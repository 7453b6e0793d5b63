"""The statistics of each example of a saved evaluation, from which comparisons are made: one line of results.jsonl at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..metrics import Auc, Metric, parse_metric, usual_metric
from ..metrics.interval import weighted_rows
from ..runs.comparable import finished, key_of, numbered
from ..runs.folder import BadRun, Folder
from ..runs.schema import EvaluationLine, EvaluationSummary, Failure
from ..text.ragged import Floats, Ints, Mask
from ..victims.base import as_objects
from ..victims.truth import Truth
from .setup import EvaluationSetup
from .table import Table


@dataclass(frozen=True, eq=False)
class Side:
    """One of the runs of a comparison: what each example adds to its scores, and nothing of its texts.

    keys: what tells an example from others, the same in all runs. clean [examples, k], mean and worst [dimensions, degrees,
    examples, k]: rows of the metric, as in `Rows`. right: examples whose clean answer is right; broken [dimensions, examples]:
    those that some case broke.
    """

    folder: Folder
    summary: EvaluationSummary
    metric: Metric
    keys: list[bytes]
    clean: Floats
    mean: Floats
    worst: Floats
    right: Mask
    broken: Mask

    @property
    def names(self) -> list[str]:
        return list(self.summary["dimensions"])

    @property
    def degrees(self) -> list[float]:
        return self.summary["protocol"]["degrees"]

    def take(self, dimensions: Sequence[int], degrees: Sequence[int], examples: Ints) -> Side:
        """Returns the statistics of some dimensions, degrees and examples, in this order. The summary stays that of the run."""
        which = np.array(dimensions, np.int64)
        cells = np.ix_(which, np.array(degrees, np.int64), examples)
        return replace(
            self,
            keys=[self.keys[at] for at in examples.tolist()],
            clean=self.clean[examples],
            mean=self.mean[cells],
            worst=self.worst[cells],
            right=self.right[examples],
            broken=self.broken[np.ix_(which, examples)],
        )

    @cached_property
    def _trials(self) -> tuple[Table, Truth] | None:
        """The trials of a model that gives scores for label sets, whose exact match says little; None for others."""
        if self.summary["task"] != "multi" or "auc" not in self.summary["clean"]:
            return None
        work = EvaluationSetup.read(self.folder)
        return work.table(), work.truth

    def auc_rows(self, dimensions: Sequence[str] | None) -> Floats | None:
        """The AUC's row of each example of label sets over the cases of some dimensions, or (None) over the clean texts. None for
        other tasks, if the model gave no scores, and for a part of the examples: a row depends on all of them.
        """
        if self._trials is None:
            return None
        table, truth = self._trials
        if table.examples != len(self.keys):
            return None
        numbers = [self.names.index(name) for name in dimensions or ()]
        rows = table.clean if dimensions is None else np.isin(table["dimension"], numbers)
        return table.example_rows(Auc(), truth, rows & (table["kind"] == 0))


def read_side(folder: Folder) -> Side:
    """Reads the statistics of a finished evaluation. Raises BadRun if its files are missing, damaged or of another version."""
    finished(folder)
    summary = folder.evaluation_summary()
    usual, own = usual_metric(summary["task"]), folder.run()["key"].get("metric")
    names, degrees = list(summary["dimensions"]), len(summary["protocol"]["degrees"])
    keys, clean, targets = list[bytes](), list[float](), list[Any]()
    scores, broken = list[Floats](), list[list[bool]]()
    for line in result_lines(folder, names, degrees):
        keys.append(key_of(line))
        clean.append(_number(line["clean"]["score"]))
        each = [line["dimensions"][name] for name in names]
        scores.append(np.array([[entry["average"], entry["worst"]] for entry in each], np.float64))
        broken.append([entry["broken_by"] is not None for entry in each])
        targets.append(line["target"])
    if not keys:
        raise BadRun(f"{folder.path / 'results.jsonl'}: expected a line per example, got none")
    values, score = np.stack(scores, -1), np.array(clean)  # [dimensions, 2, degrees, examples]
    weight = usual.weight(as_objects(targets))
    rows = [weighted_rows(part, weight) for part in (score, values[:, 0], values[:, 1])]
    metric: Metric = usual
    if own:
        metric = parse_metric(str(own))
        work = EvaluationSetup.read(folder)
        found = work.table().rows(metric, work.truth)
        rows = [found.clean, found.mean, found.worst]
    marks = np.array(broken, np.bool_).T
    return Side(folder, summary, metric, numbered(keys), rows[0], rows[1], rows[2], score == 1, marks)


def result_lines(folder: Folder, names: Sequence[str], degrees: int) -> Iterator[EvaluationLine]:
    """Yields the lines of results.jsonl. Raises BadRun, with the number of the line, if one is not as the summary says."""
    for number, line in enumerate(folder.evaluation_results(), 1):
        try:
            entries = [line["dimensions"][name] for name in names]
            fits = all(
                len(entry["average"]) == len(entry["worst"]) == degrees and "broken_by" in entry for entry in entries
            )
            fits = fits and {"score", "answer"} <= line["clean"].keys() and {"texts", "target"} <= line.keys()
        except (KeyError, TypeError, AttributeError):
            fits = False
        if not fits:
            raise BadRun(
                f"{folder.path / 'results.jsonl'}, line {number}: expected an example as summary.json has them, got another: "
                f"`scuff report {folder.path}` writes both again"
            )
        yield line


def turned(side: Side, other: Side, most: int) -> Iterator[tuple[EvaluationLine, str, Failure]]:
    """Yields examples that a case broke in one run, but none in the other, with dimension and case: the first of each dimension,
    at most `most` in all. Both answer the clean text right.
    """
    place = {key: at for at, key in enumerate(other.keys)}
    number = {name: at for at, name in enumerate(other.names)}
    names = [name for name in side.names if name in number]
    shown: set[str] = set()
    keys = iter(side.keys)
    for line in result_lines(side.folder, side.names, len(side.degrees)):
        at = place.get(next(keys))
        if at is None or line["clean"]["score"] != 1 or not other.right[at]:
            continue
        for name in names:
            case = line["dimensions"][name]["broken_by"]
            if case is not None and name not in shown and not other.broken[number[name], at]:
                shown.add(name)
                yield line, name, case
                break
        if len(shown) >= most:
            return


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
