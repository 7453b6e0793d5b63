"""All numbers of a run, from its trials alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..metrics.auc import log_odds, resampled_auc
from ..metrics.interval import mean_interval, percentile_interval, resamples, weighted_means, wilson
from ..runs.schema import (
    PROBLEMS,
    Auc,
    Broken,
    Cell,
    CleanScores,
    DimensionScores,
    Estimate,
    Harm,
    ProblemCounts,
    Scores,
)
from ..runs.truth import Truth
from ..text.ragged import Floats, Ints
from .protocol import Protocol
from .score import degree_weights
from .table import Table


def summarise(table: Table, protocol: Protocol, truth: Truth) -> Scores:
    """Clean, average and worst score with intervals, per degree, per dimension, and over all."""
    return _Summary(table, protocol, truth).content()


class _Summary:
    def __init__(self, table: Table, protocol: Protocol, truth: Truth) -> None:
        self.table, self.protocol, self.truth = table, protocol, truth
        self.draws = resamples(table.examples, protocol.seed)
        self.mean, self.mean_again = weighted_means(table.mean_score, truth.weight, self.draws)
        self.worst, self.worst_again = weighted_means(table.worst_score, truth.weight, self.draws)
        self.plain = truth.task in ("single", "multi")  # a score is right or wrong

    def content(self) -> Scores:
        clean = self._clean()
        dimensions = {d.name: self._dimension(at) for at, d in enumerate(self.protocol.parsed)}
        return {
            "clean": clean,
            "overall": {
                "average": self._overall(self.mean, self.mean_again),
                "worst": self._overall(self.worst, self.worst_again),
            },
            "dimensions": dimensions,
            "harm": self._harm(clean, dimensions),
            "answered": int(self.table.answered.sum()),
            "problems": dict(sorted(self.table.reasons.items(), key=lambda item: (-item[1], item[0]))[:20]),
        }

    def _clean(self) -> CleanScores:
        table, truth = self.table, self.truth
        score, again = weighted_means(table.clean_score, truth.weight, self.draws)
        answered = int(np.isfinite(table.clean_score).sum())
        kinds = table["kind"][table.clean]
        return {
            "score": self._with_interval(float(score), again, answered, plain=self.plain),
            **self._auc(table.clean),
            "examples": table.examples,
            "answered": answered,
            **_problem_counts(kinds),
            "chance": _round(truth.chance),
            "majority": _round(truth.majority),
        }

    def _dimension(self, at: int) -> DimensionScores:
        dimension = self.protocol.parsed[at]
        out: dict[str, Any] = {
            "spec": dimension.spec,
            "base": dimension.base,
            "setting": dimension.setting,
            "tag": dimension.tag,
            "unit": dimension.unit,
            "level": dimension.perturbation.facts.level,
            "average": self._final(self.mean[at], self.mean_again[at]),
            "worst": self._final(self.worst[at], self.worst_again[at]),
        }
        column = self.protocol.validity(at)
        if column:
            out["by_validity"] = {
                "column": column,
                "average": self._final(self.mean[at], self.mean_again[at], validity=column),
                "worst": self._final(self.worst[at], self.worst_again[at], validity=column),
            }
        out["degrees"] = [self._cell(at, degree) for degree in range(len(self.protocol.degrees))]
        return cast(DimensionScores, out)

    def _cell(self, at: int, degree: int) -> Cell:
        table = self.table
        here = ~table.clean & (table["dimension"] == at) & (table["degree"] == degree)
        mean, worst = float(self.mean[at, degree]), float(self.worst[at, degree])
        known, known_worst = (int(np.isfinite(s[at, degree]).sum()) for s in (table.mean_score, table.worst_score))
        kinds, cases = table["kind"][here], int(here.sum())
        each = np.bincount(table["example"][here], minlength=table.examples)
        examples = int((each > 0).sum())
        still = np.bincount(table["example"][here], table["unchanged"][here], table.examples)
        return {
            "degree": self.protocol.degrees[degree],
            "average": self._with_interval(mean, self.mean_again[at, degree], known),
            "worst": self._with_interval(worst, self.worst_again[at, degree], known_worst, plain=self.plain),
            "relative": self._relative(at, degree),
            **self._auc(here),
            "success": self._success(at, degree),
            "reached": self._mean_over_examples(table["reached"][here], table["example"][here], each),
            "edit_distance": self._mean_over_examples(table["distance"][here], table["example"][here], each),
            "examples": examples,
            "unchanged_examples": int(((each > 0) & (still == each)).sum()),
            "cases": cases,
            "cases_each": _round(cases / examples) if examples else 0,
            "unchanged": int((table["unchanged"][here] & (kinds == 0)).sum()),
            "unfit": int(table.unfit[at, degree]),
            **_problem_counts(kinds),
        }

    def _mean_over_examples(self, values: Floats, example: Ints, each: Ints) -> float | None:
        """As the scores are: the mean of an example's cases, then of the examples."""
        total = np.bincount(example, values, self.table.examples)
        return _round((total[each > 0] / each[each > 0]).mean()) if each.any() else None

    def _relative(self, at: int, degree: int) -> float | None:
        """What is left of the clean score (s*), on the examples that have both."""
        table, weight = self.table, self.truth.weight
        both = np.isfinite(table.clean_score) & np.isfinite(table.mean_score[at, degree])
        clean = float((table.clean_score[both] * weight[both]).sum())
        return _round((table.mean_score[at, degree][both] * weight[both]).sum() / clean) if clean else None

    def _success(self, at: int, degree: int) -> Broken:
        """Of the examples that were right when clean, how many some case up to this degree broke."""
        right = (self.table.clean_score == 1) & np.isfinite(self.table.worst_score[at, degree])
        broken = right & (self.table.worst_score[at, degree] < 1)
        count = int(right.sum())
        share = broken.sum() / count if count else math.nan
        return {"rate": _round(share), "interval": _rounded(wilson(float(share), count)), "of": count}

    def _final(self, scores: Floats, again: Floats, validity: str | None = None) -> Estimate:
        weight = degree_weights(self.protocol.degrees, beta=self.protocol.beta, validity=validity)
        return self._with_interval(float(weight @ scores), weight @ again, self.table.examples)

    def _overall(self, scores: Floats, again: Floats) -> Estimate:
        weight = degree_weights(self.protocol.degrees, beta=self.protocol.beta)
        return self._with_interval(
            float((scores @ weight).mean()), np.tensordot(weight, again, (0, 1)).mean(0), self.table.examples
        )

    def _with_interval(self, value: float, again: Floats, examples: int, plain: bool = False) -> Estimate:
        interval = wilson(value, examples) if plain else mean_interval(value, again, examples)
        return {"value": _round(value), "interval": _rounded(interval)}

    def _auc(self, rows: npt.NDArray[np.bool_]) -> Auc:
        """Macro AUC over all cases, each example counting once, where the victim gives scores."""
        if "scores" not in self.table.columns or self.truth.task not in ("single", "multi"):
            return {}
        rows = rows & (self.table["kind"] == 0)
        targets = self.truth.targets
        if self.truth.task == "single":
            targets = targets[:, None] == np.arange(len(self.truth.labels))
        columns = slice(1, 2) if self.truth.task == "single" and len(self.truth.labels) == 2 else slice(None)
        scores, example = self.table["scores"][rows], self.table["example"][rows]
        scores = (log_odds(scores) if self.truth.task == "single" else scores)[:, columns]
        value, again = resampled_auc(scores, example, targets[:, columns], self.draws)
        if math.isnan(value):
            return {}
        low, high = percentile_interval(np.clip(again, 0, 1))
        return {"auc": {"value": _round(value), "interval": _rounded((min(low, value), max(high, value)))}}

    def _harm(self, clean: CleanScores, dimensions: dict[str, DimensionScores]) -> list[Harm]:
        """Attacks from the most harmful at the highest degree, by what is left of the clean score (Zéroe, Table 5)."""
        metric = "auc" if self.truth.task == "multi" and "scores" in self.table.columns else "average"
        base = clean["auc"]["value"] if metric == "auc" and "auc" in clean else clean["score"]["value"]
        left: list[Harm] = []
        for name, content in dimensions.items():
            last = content["degrees"][-1]
            value = (last["auc"] if metric == "auc" and "auc" in last else last["average"])["value"]
            left.append({"dimension": name, "left": _round(value / base) if base and value is not None else None})
        return sorted(left, key=lambda entry: (entry["left"] is None, entry["left"], entry["dimension"]))


def _problem_counts(kinds: npt.NDArray[Any]) -> ProblemCounts:
    return cast(ProblemCounts, {name: int((kinds == at).sum()) for at, name in enumerate(PROBLEMS, 1)})


def _round(value: Any) -> float | None:
    """Six digits: more are noise, and could differ between machines. nan is no JSON."""
    number = float(value)
    return None if math.isnan(number) else round(number, 6)


def _rounded(interval: Sequence[float]) -> list[float | None]:
    return [_round(end) for end in interval]
