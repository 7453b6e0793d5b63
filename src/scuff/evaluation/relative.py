"""What Zéroe's protocol computes beside the scores: s*, the share of the clean score that is left, and the red line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..metrics import Auc, Metric
from ..metrics.interval import percentile_interval
from ..runs.display import estimate, rounded
from ..runs.schema import Estimate, RedLine
from ..text.ragged import Floats, Ints
from ..victims.base import as_objects
from ..victims.truth import Truth
from .table import Rows, Table

CHANCE_AUC = 0.5  # of a model that cannot tell texts with a label from texts without


class RelativeScores:
    """Divides scores by the clean score: macro AUC for label sets if the victim gives scores, as Zéroe does for toxic comments,
    since few sets match exactly; else, and if the user chose a metric, the metric of the run.
    """

    def __init__(self, table: Table, truth: Truth, metric: Metric, rows: Rows, draws: npt.NDArray[np.float32]) -> None:
        self.table, self.truth, self.rows, self.draws, self.metric = table, truth, rows, draws, metric
        usual = truth.task == "multi" and metric == truth.metric and "scores" in table.columns
        self.by_auc = usual and math.isfinite(self._auc_of(self._auc_rows(np.flatnonzero(table.clean))))
        if self.by_auc:
            self.metric = Auc()

    def cell(self, dimension: int, degree: int) -> Estimate:
        """Returns s* of a dimension at a degree, on the examples that have both answers, with its interval."""
        table = self.table
        both = np.isfinite(table.clean_score) & np.isfinite(table.mean_score[dimension, degree])
        if not both.any():
            return {"value": None, "interval": [None, None]}
        if self.by_auc:
            where = (table.within(dimension, degree), np.flatnonzero(table.clean))
            here, clean = (self._auc_rows(rows[both[table["example"][rows]]]) for rows in where)
        else:
            pair = (self.rows.mean[dimension, degree], self.rows.clean)
            here, clean = (np.where(both[:, None], rows, np.nan) for rows in pair)
        value = self.metric.relative(*(column_sums(rows[both]) for rows in (here, clean)))
        if not math.isfinite(value):
            return {"value": None, "interval": [None, None]}
        again = [self.metric.estimate(rows, self.draws)[1] for rows in (here, clean)]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = again[0] / again[1]
        low, high = percentile_interval(ratios)  # even without a width: a ratio is no share of examples
        return estimate(value, (min(low, value), max(high, value)))

    def red_line(self) -> RedLine:
        """Returns the score of always giving the most frequent answer, 0.5 for AUC, and what it leaves of the clean score."""
        lowest, clean = self._lowest(), self._clean()
        known = math.isfinite(lowest) and math.isfinite(clean) and clean > 0
        return {
            "metric": "auc" if self.by_auc else "score",
            "score": rounded(lowest),
            "left": rounded(lowest / clean) if known else None,
        }

    def _lowest(self) -> float:
        """Returns w_t of the thesis, eq. 4.2; nan for tasks and metrics that have none."""
        truth = self.truth
        if self.metric.needs_scores:
            return CHANCE_AUC if isinstance(self.metric, Auc) else math.nan
        if truth.task == "text" or not len(truth.targets):
            return math.nan
        flat = np.concatenate(list(truth.targets)) if truth.task == "tokens" else truth.targets
        found, counts = np.unique(flat, axis=0, return_counts=True)
        if not counts.size:
            return math.nan
        most: Any = found[counts.argmax()]
        answers = (
            as_objects([np.full(len(tags), most) for tags in truth.targets])
            if truth.task == "tokens"
            else np.repeat(most[None], len(truth.targets), axis=0)
        )
        return self.metric(answers, truth.targets, truth.labels)

    def _clean(self) -> float:
        if self.by_auc:
            return self._auc_of(self._auc_rows(np.flatnonzero(self.table.clean)))
        return float(self.metric.estimate(self.rows.clean, self.draws)[0])

    def _auc_rows(self, rows: Ints) -> Floats:
        """Returns the AUC's row of each example over some cases that were answered; nan if there is none."""
        found = self.table.example_rows(Auc(), self.truth, rows[self.table["kind"][rows] == 0])
        return np.full((self.table.examples, 4), np.nan) if found is None else found

    def _auc_of(self, rows: Floats) -> float:
        return float(Auc().estimate(rows, self.draws)[0])


def column_sums(rows: Floats) -> Floats:
    """Returns the sum of rows, summed column by column, so that rounding does not depend on the number of columns."""
    return np.array([column.sum() for column in np.ascontiguousarray(rows.T)])
