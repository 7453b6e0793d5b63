"""Metrics of answers, their confidence intervals, and distances between texts."""

from __future__ import annotations

from collections.abc import Callable

from ..specs import Family
from .base import Mean, Metric, Task
from .bleu import Bleu
from .chrf import Chrf
from .classification import Accuracy, Auc, AveragePrecision, ExactMatch, MacroF1, MacroRecall, TokenAccuracy
from .meteor import Meteor
from .own import FunctionFailed, PairFunction, name_of_function, pair_function

KINDS: tuple[type[Metric], ...] = (
    Accuracy, ExactMatch, MacroF1, MacroRecall, Auc, AveragePrecision, TokenAccuracy, Chrf, Bleu, Meteor,
)  # fmt: skip
METRICS: dict[str, type[Metric]] = {kind.name: kind for kind in KINDS}
ALIASES = {"zero-one": "exact-match"}  # of the tool of Michel et al. (2019)
FAMILY: Family[Metric] = Family("a metric", "scuff.metrics", Metric, METRICS, ALIASES)


def parse_metric(spec: str | Metric) -> Metric:
    """Returns the metric that a spec names, or a metric as it is. `_` may stand for `-` in the name of a shipped one.

    `module:function` or `file.py:function(option=value)`, a function of a text and its reference that returns a number, is a
    metric, too, and so is any other object that can be called so.
    Raises ValueError for a wrong name or option, TypeError for an object of another kind.
    """
    if not isinstance(spec, str) or FAMILY.given(spec) is not None:
        return FAMILY.build(spec)
    name, bracket, options = spec.strip().partition("(")
    if ":" in name:
        return pair_function(FAMILY.find(name.strip()), spec.strip()) or FAMILY.build(spec)
    plain = name.strip().replace("_", "-")
    return FAMILY.build(f"{plain}{bracket}{options}" if plain in (*METRICS, *ALIASES) else spec)


def text_metric(given: str | Metric | Callable[[str, str], float]) -> Metric:
    """Returns a metric of texts: by its spec, an object, or a function of a text and its reference. Raises ValueError if it is
    for other answers.
    """
    if isinstance(given, str | Metric | type) or not callable(given):
        metric = parse_metric(given)  # type: ignore[arg-type]
    else:
        named = name_of_function(given)
        metric = pair_function(given, named) or PairFunction(given, named)
    metric.check("text", (), False)
    return metric


USUAL: dict[Task, Mean] = {"single": Accuracy(), "multi": ExactMatch(), "tokens": TokenAccuracy(), "text": Chrf()}


def usual_metric(task: Task) -> Mean:
    """The default metric of a task, which also scores single answers."""
    return USUAL[task]


__all__ = [
    "FAMILY", "METRICS", "Accuracy", "Auc", "AveragePrecision", "Bleu", "Chrf", "ExactMatch", "FunctionFailed", "MacroF1",
    "MacroRecall", "Mean", "Meteor", "Metric", "PairFunction", "TokenAccuracy", "parse_metric", "text_metric", "usual_metric",
]  # fmt: skip
