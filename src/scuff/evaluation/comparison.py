"""Compares two runs on the same frozen cases: what each score was before and is after, and the paired interval of the change.

The cases of an evaluation by rules depend on the data, the settings and the seed, never on the model. So two models can be asked
about the same texts, and a change is measured on each example: its interval resamples examples, both runs at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ..metrics import Auc
from ..metrics.interval import resamples
from ..runs.folder import BadRun, Folder
from ..runs.proof import Change, Comparison, DimensionChange, Estimated, GroupChange, change_of
from ..runs.settings import differing
from ..text.ragged import Floats, Mask
from .score import degree_weights
from .setup import EvaluationSetup
from .table import Rows, Table


def compare_runs(before: str | Folder, after: str | Folder, seen: Collection[str] = ()) -> Comparison:
    """Returns the change of every score between two finished evaluations, with paired 95 % intervals.

    seen: names of dimensions that the second model was trained on; the others are summed up apart. Raises BadRun if the runs are
    not about the same cases, scored in the same way.
    """
    pair = tuple(_Side(each if isinstance(each, Folder) else Folder(each)) for each in (before, after))
    return _Comparison(pair[0], pair[1], frozenset(seen)).content()


class _Side:
    """One of the two runs: its trials, and the rows that its scores are made of."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.work = folder, EvaluationSetup.read(folder)
        self.table = self.work.table()
        self.metric = self.work.metric or self.work.truth.metric
        self.rows: Rows = self.table.rows(self.metric, self.work.truth)

    @property
    def names(self) -> list[str]:
        return [dimension.name for dimension in self.work.protocol.parsed]

    def auc_rows(self, rows: Mask) -> Floats | None:
        """The AUC's row of each example over some cases of label sets, whose exact match says little; None for other tasks, and
        if the model gave no scores.
        """
        if "scores" not in self.table.columns or self.work.truth.task != "multi":
            return None
        return self.table.example_rows(Auc(), self.work.truth, rows & (self.table["kind"] == 0))


class _Comparison:
    def __init__(self, before: _Side, after: _Side, seen: frozenset[str]) -> None:
        _check_same(before, after)
        self.sides, self.seen = (before, after), seen
        protocol = before.work.protocol
        self.draws = resamples(before.table.examples, protocol.seed)
        # as in the final scores of a run
        self.weight = degree_weights(protocol.degrees, beta=protocol.beta, published=protocol.final_from_zero)
        self.mean = [side.metric.estimate(side.rows.mean, self.draws) for side in self.sides]
        self.worst = [side.metric.estimate(side.rows.worst, self.draws) for side in self.sides]

    def content(self) -> Comparison:
        before, _ = self.sides
        names = before.names
        groups = {
            "seen": [at for at, name in enumerate(names) if name in self.seen],
            "unseen": [at for at, name in enumerate(names) if name not in self.seen],
        }
        clean = [side.metric.estimate(side.rows.clean, self.draws) for side in self.sides]
        return {
            "examples": before.table.examples,
            "cases": int((~before.table.clean).sum()),
            "metric": before.metric.title or before.metric.spec,
            "clean": self._change(clean),
            "clean_auc": self._auc([side.table.clean for side in self.sides]),
            "all": self._group(list(range(len(names)))),
            "seen": self._group(groups["seen"]) if groups["seen"] else None,
            "unseen": self._group(groups["unseen"]) if groups["unseen"] else None,
            "dimensions": {name: self._dimension(at, name) for at, name in enumerate(names)},
        }

    def _change(self, scores: Iterable[Estimated]) -> Change:
        before, after = scores
        return change_of(before, after, self.sides[0].table.examples)

    def _group(self, at: Sequence[int]) -> GroupChange:
        """The mean over some dimensions of their final scores."""
        cases = [np.isin(side.table["dimension"], at) for side in self.sides]
        return {
            "dimensions": len(at),
            "average": self._change(self._final(each, at) for each in self.mean),
            "worst": self._change(self._final(each, at) for each in self.worst),
            "auc": self._auc(cases),
        }

    def _dimension(self, at: int, name: str) -> DimensionChange:
        degrees = self.sides[0].work.protocol.degrees
        return {
            "seen": name in self.seen,
            "average": self._change(self._final(each, [at]) for each in self.mean),
            "worst": self._change(self._final(each, [at]) for each in self.worst),
            "degrees": [
                {"degree": degree, **self._change((score[at, g], again[at, g]) for score, again in self.mean)}
                for g, degree in enumerate(degrees)
            ],
        }

    def _final(self, scores: Estimated, at: Sequence[int]) -> Estimated:
        """The mean of the final scores of some dimensions, and the same in every resample."""
        value, again = scores
        return (value[at] @ self.weight).mean(0), np.tensordot(self.weight, again[at], (0, 1)).mean(0)

    def _auc(self, rows: Sequence[Mask]) -> Change | None:
        """The change of the macro AUC over some cases; None if it is not defined."""
        found = [side.auc_rows(mask) for side, mask in zip(self.sides, rows, strict=True)]
        if any(each is None for each in found):
            return None
        change = self._change(Auc().estimate(each, self.draws) for each in found if each is not None)
        return change if change["difference"] is not None else None


def _check_same(before: _Side, after: _Side) -> None:
    """Raises BadRun unless both runs tried the same cases of the same examples, by rules alone."""
    one, other = before.work, after.work
    path = after.folder.path
    if one.data.digest != other.data.digest:
        raise BadRun(f"{path}: expected a run on the examples of {before.folder.path}, got other examples")
    if before.metric != after.metric:
        raise BadRun(
            f"{path}: expected scores by {before.metric.spec}, as in {before.folder.path}, got {after.metric.spec}"
        )
    plans = [{**each.protocol.asdict(), "at_once": 0} for each in (one, other)]  # how many queries make a block
    if differs := differing(*plans):
        raise BadRun(f"{path}: expected the settings of {before.folder.path}, got another {', '.join(differs)}")
    if one.protocol.width is not None or any(dimension.access != "rule" for dimension in one.protocol.parsed):
        raise BadRun(
            f"{path}: expected cases that no model chooses, got an adaptive run or an access other than rule: they differ"
        )
    if not np.array_equal(_cases_of(before), _cases_of(after)):
        raise BadRun(f"{path}: expected the cases of {before.folder.path}, got others: was it made by another version?")


def _cases_of(side: _Side) -> Floats:
    """What identifies every case, in one order: example, dimension, degree, reached degree and edit distance."""
    table: Table = side.table
    columns = [table[name].astype(np.float64) for name in ("distance", "reached", "degree", "dimension", "example")]
    order = np.lexsort(columns)
    return np.stack([column[order] for column in columns])
