"""Computes the numbers of summary.json from the trials of an evaluation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from ..metrics import Auc, Metric
from ..metrics.interval import resamples, wilson
from ..runs.display import estimate, rounded
from ..runs.reasons import in_brief
from ..runs.schema import (
    PROBLEMS,
    AucScore,
    Broken,
    Cell,
    CleanScores,
    DimensionScores,
    Estimate,
    Harm,
    HasRedLine,
    LeftShare,
    ProblemCounts,
    Reasons,
    Scores,
)
from ..text.ragged import Floats, Ints
from ..victims.truth import Truth
from .judged import judged_shares
from .protocol import Protocol
from .relative import RelativeScores, column_sums
from .score import Validity, degree_weights
from .table import Table


def summarise(
    table: Table, protocol: Protocol, truth: Truth, metric: Metric | None = None, *, zeroe: bool = False
) -> Scores:
    """Returns clean, average and worst scores with intervals, by degree, by dimension, and over all dimensions.

    metric: computes the scores from the answers in the table; None stands for the task's usual one. The usual one decides which
    examples are broken and, but for texts, which case of an example is the worst, since it scores single answers. zeroe: also
    returns what Zéroe's protocol has, the red line and s*. Raises ValueError if the metric does not fit the task, the labels or
    the answers.
    """
    return _Summary(table, protocol, truth, metric or truth.metric, zeroe).content()


class _Summary:
    """Computes all entries from a metric's estimates: on the examples, and on resamples of them (`..._again`)."""

    def __init__(self, table: Table, protocol: Protocol, truth: Truth, metric: Metric, zeroe: bool) -> None:
        metric.check(truth.task, truth.labels, "scores" in table.columns)
        self.table, self.protocol, self.truth, self.metric = table, protocol, truth, metric
        self.draws = resamples(table.examples, protocol.seed)
        self.rows = table.rows(metric, truth)
        self.mean, self.mean_again = metric.estimate(self.rows.mean, self.draws)
        self.worst, self.worst_again = metric.estimate(self.rows.worst, self.draws)
        self.alone, self.alone_again = metric.estimate(self.rows.alone, self.draws)
        self.left = RelativeScores(table, truth, metric, self.rows, self.draws) if zeroe else None

    def content(self) -> Scores:
        clean = self._clean()
        dimensions = {d.name: self._dimension(at) for at, d in enumerate(self.protocol.parsed)}
        return {
            "clean": clean,
            "overall": {
                "average": self._overall(self.mean, self.mean_again),
                "worst": self._overall(self.worst, self.worst_again),
                "worst_alone": self._overall(self.alone, self.alone_again),
            },
            **self._red_line(),
            "dimensions": dimensions,
            "harm": self._harm(clean, dimensions),
            "answered": int(self.table.answered.sum()),
            **_reasons(Counter(self.table.reasons) - Counter(self.table.clean_reasons)),
            "problems": dict(sorted(self.table.reasons.items(), key=lambda item: (-item[1], item[0]))[:20]),
        }

    def _clean(self) -> CleanScores:
        table, truth = self.table, self.truth
        score, again = self.metric.estimate(self.rows.clean, self.draws)
        usual = self.metric == truth.metric  # others have no simple formula for what guessing gives
        answered = int(np.isfinite(table.clean_score).sum())
        kinds = table["kind"][table.clean]
        return {
            "score": self._with_interval(float(score), again, answered, one_each=True),
            **self._auc(np.flatnonzero(table.clean)),
            "examples": table.examples,
            "answered": answered,
            **_problem_counts(kinds),
            **_reasons(table.clean_reasons),
            "chance": rounded(truth.chance) if usual else None,
            "majority": rounded(truth.majority) if usual else None,
        }

    def _dimension(self, at: int) -> DimensionScores:
        dimension = self.protocol.parsed[at]
        out: dict[str, Any] = {
            "spec": dimension.spec,
            "base": dimension.base,
            "setting": dimension.access,
            "tag": dimension.tag,
            "unit": dimension.unit,
            "level": dimension.perturbation.facts.level,
            "average": self._final(self.mean[at], self.mean_again[at]),
            "worst": self._final(self.worst[at], self.worst_again[at]),
            "worst_alone": self._final(self.alone[at], self.alone_again[at]),
        }
        source, validity = self._validity(at)
        if validity:
            out["by_validity"] = {
                **source,
                "average": self._final(self.mean[at], self.mean_again[at], validity),
                "worst": self._final(self.worst[at], self.worst_again[at], validity),
                "worst_alone": self._final(self.alone[at], self.alone_again[at], validity),
            }
        out["degrees"] = [self._cell(at, degree) for degree in range(len(self.protocol.degrees))]
        return cast(DimensionScores, out)

    def _validity(self, at: int) -> tuple[dict[str, str], Validity | None]:
        """Returns whose shares of valid cases weigh the degrees of a dimension, and these; None if it has none."""
        judged, dimension = self.protocol.judged, self.protocol.parsed[at]
        if judged is None:
            column = self.protocol.validity(at)
            return {"column": str(column)}, column
        return {"column": dimension.base, "judged": judged["name"]}, judged_shares(
            judged, dimension.name, dimension.base
        )

    def _cell(self, at: int, degree: int) -> Cell:
        table = self.table
        here = table.within(at, degree)
        mean, worst, alone = (float(scores[at, degree]) for scores in (self.mean, self.worst, self.alone))
        known, known_worst, known_alone = (
            int(np.isfinite(scores[at, degree]).sum())
            for scores in (table.mean_score, table.worst_score, table.alone_score)
        )
        kinds, cases, example, unchanged = (
            table["kind"][here],
            here.size,
            table["example"][here],
            table["unchanged"][here],
        )
        each = np.bincount(example, minlength=table.examples)
        examples = int((each > 0).sum())
        still = np.bincount(example, unchanged, table.examples)
        return {
            "degree": self.protocol.degrees[degree],
            "average": self._with_interval(mean, self.mean_again[at, degree], known),
            "worst": self._with_interval(worst, self.worst_again[at, degree], known_worst, one_each=True),
            "worst_alone": self._with_interval(alone, self.alone_again[at, degree], known_alone, one_each=True),
            "relative": self._relative(at, degree),
            **self._left(at, degree),
            **self._auc(here),
            "success": self._success(at, degree),
            "reached": self._mean_over_examples(table["reached"][here], example, each),
            "edit_distance": self._mean_over_examples(table["distance"][here], example, each),
            "examples": examples,
            "unchanged_examples": int(((each > 0) & (still == each)).sum()),
            "cases": cases,
            "cases_each": rounded(cases / examples) if examples else 0,
            "unchanged": int((unchanged & (kinds == 0)).sum()),
            "unfit": int(table.unfit[at, degree]),
            **_problem_counts(kinds),
        }

    def _mean_over_examples(self, values: Floats, example: Ints, each: Ints) -> float | None:
        """Returns the mean over examples of the mean over an example's cases, as for scores; None if there are none."""
        total = np.bincount(example, values, self.table.examples)
        return rounded((total[each > 0] / each[each > 0]).mean()) if each.any() else None

    def _red_line(self) -> HasRedLine:
        return {"red_line": self.left.red_line()} if self.left else {}

    def _left(self, at: int, degree: int) -> LeftShare:
        return {"left": self.left.cell(at, degree)} if self.left else {}

    def _relative(self, at: int, degree: int) -> float | None:
        """Returns the score divided by the clean score (Zéroe's s*), on the examples that have both; None if it has no value."""
        both = np.isfinite(self.table.clean_score) & np.isfinite(self.table.mean_score[at, degree])
        if not both.any():
            return None
        left = self.metric.relative(
            *(column_sums(rows[both]) for rows in (self.rows.mean[at, degree], self.rows.clean))
        )
        return rounded(left) if math.isfinite(left) else None

    def _success(self, at: int, degree: int) -> Broken:
        """Returns the share of the examples answered right when clean that some case up to this degree breaks."""
        right = (self.table.clean_score == 1) & np.isfinite(self.table.worst_score[at, degree])
        broken = right & (self.table.worst_score[at, degree] < 1)
        count = int(right.sum())
        share = broken.sum() / count if count else math.nan
        return {"rate": rounded(share), "interval": [rounded(end) for end in wilson(float(share), count)], "of": count}

    def _final(self, scores: Floats, again: Floats, validity: Validity | None = None) -> Estimate:
        """Returns the final score of a dimension. scores: by degree. again: by degree and resample."""
        weight = self._weights(validity)
        return self._with_interval(float(weight @ scores), weight @ again, self.table.examples)

    def _weights(self, validity: Validity | None = None) -> Floats:
        """Returns the weights of the degrees in a final score."""
        protocol = self.protocol
        return degree_weights(
            protocol.degrees, beta=protocol.beta, published=protocol.final_from_zero, validity=validity
        )

    def _overall(self, scores: Floats, again: Floats) -> Estimate:
        """Returns the mean of the final scores of all dimensions."""
        weight = self._weights()
        return self._with_interval(
            float((scores @ weight).mean()), np.tensordot(weight, again, (0, 1)).mean(0), self.table.examples
        )

    def _with_interval(self, value: float, again: Floats, examples: int, one_each: bool = False) -> Estimate:
        interval = self.metric.interval(value, again, examples, one_each)
        return estimate(value, interval)

    def _auc(self, rows: Ints) -> AucScore:
        """Returns the macro AUC over some cases, all examples weighing the same; {} if it is not defined.

        It is defined for tasks with labels, if the victim gives scores and some label has texts with it and without it.
        """
        auc, table = Auc(), self.table
        if "scores" not in table.columns or self.truth.task not in auc.tasks:
            return {}
        per_example = table.example_rows(auc, self.truth, rows[table["kind"][rows] == 0])
        if per_example is None:
            return {}
        value, again = auc.estimate(per_example, self.draws)
        if np.isnan(value):
            return {}
        interval = auc.interval(float(value), again, table.examples)
        return {"auc": estimate(value, interval)}

    def _harm(self, clean: CleanScores, dimensions: dict[str, DimensionScores]) -> list[Harm]:
        """Returns the dimensions, the most harmful first: by the share of the clean score left at the highest degree (Zéroe,
        Table 5).

        Label sets are ranked by AUC if the victim gives scores, since few of them match exactly.
        """
        metric = "auc" if self.truth.task == "multi" and "scores" in self.table.columns else "average"
        base = clean["auc"]["value"] if metric == "auc" and "auc" in clean else clean["score"]["value"]
        left: list[Harm] = []
        for name, content in dimensions.items():
            last = content["degrees"][-1]
            value = (last["auc"] if metric == "auc" and "auc" in last else last["average"])["value"]
            left.append({"dimension": name, "left": rounded(value / base) if base and value is not None else None})
        return sorted(left, key=lambda entry: (entry["left"] is None, entry["left"], entry["dimension"]))


def _problem_counts(kinds: Ints) -> ProblemCounts:
    """Returns how many cases have each problem. kinds: as in `Table`."""
    return cast(ProblemCounts, {name: int((kinds == at).sum()) for at, name in enumerate(PROBLEMS, 1)})


def _reasons(found: Mapping[str, int]) -> Reasons:
    """Returns the entry that says why cases have no answer; {} if all have one."""
    return {"reasons": in_brief(found)} if found else {}
