"""Metrics of answers, their confidence intervals, and distances between texts."""

from __future__ import annotations

from ..specs import Family
from .base import Mean, Metric, Task
from .bleu import Bleu
from .chrf import Chrf
from .classification import Accuracy, Auc, ExactMatch, MacroF1, TokenAccuracy
from .meteor import Meteor

METRICS: dict[str, type[Metric]] = {
    kind.name: kind for kind in (Accuracy, ExactMatch, MacroF1, Auc, TokenAccuracy, Chrf, Bleu, Meteor)
}
FAMILY: Family[Metric] = Family("a metric", "scuff.metrics", Metric, METRICS)
parse_metric = FAMILY.build

USUAL: dict[Task, Mean] = {"single": Accuracy(), "multi": ExactMatch(), "tokens": TokenAccuracy(), "text": Chrf()}


def usual_metric(task: Task) -> Mean:
    """The default metric of a task, which also scores single answers."""
    return USUAL[task]


__all__ = [
    "FAMILY", "METRICS", "Accuracy", "Auc", "Bleu", "Chrf", "ExactMatch", "MacroF1", "Mean", "Meteor", "Metric", "TokenAccuracy",
    "parse_metric", "usual_metric",
]  # fmt: skip
