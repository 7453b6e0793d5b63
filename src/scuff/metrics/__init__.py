"""Metrics of answers, their confidence intervals, and distances between texts."""

from __future__ import annotations

from ..specs import Family
from .base import Mean, Metric, Task
from .bleu import Bleu
from .chrf import Chrf
from .classification import Accuracy, Auc, ExactMatch, MacroF1, TokenAccuracy
from .meteor import Meteor
from .own import PairFunction, scores_pairs

METRICS: dict[str, type[Metric]] = {
    kind.name: kind for kind in (Accuracy, ExactMatch, MacroF1, Auc, TokenAccuracy, Chrf, Bleu, Meteor)
}
FAMILY: Family[Metric] = Family("a metric", "scuff.metrics", Metric, METRICS)


def parse_metric(spec: str | Metric) -> Metric:
    """Returns the metric that a spec names, or a metric as it is.

    `module:function` or `file.py:function`, a function of a text and its reference that returns a number, is a metric, too.
    Raises ValueError for a wrong name or option, TypeError for an object of another kind.
    """
    if isinstance(spec, str) and ":" in spec and "(" not in spec and scores_pairs(found := FAMILY.find(spec.strip())):
        return PairFunction(found, spec.strip())
    return FAMILY.build(spec)


USUAL: dict[Task, Mean] = {"single": Accuracy(), "multi": ExactMatch(), "tokens": TokenAccuracy(), "text": Chrf()}


def usual_metric(task: Task) -> Mean:
    """The default metric of a task, which also scores single answers."""
    return USUAL[task]


__all__ = [
    "FAMILY", "METRICS", "Accuracy", "Auc", "Bleu", "Chrf", "ExactMatch", "MacroF1", "Mean", "Meteor", "Metric", "PairFunction",
    "TokenAccuracy", "parse_metric", "usual_metric",
]  # fmt: skip
