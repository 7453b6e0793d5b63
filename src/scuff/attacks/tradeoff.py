"""Both halves of an attack on a text-to-text model (Michel et al. 2019, section 2.1): how much of the source is left, and how
much of the score of the model's text is lost. Neither is reported without the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metrics.chrf import chrf_likeness
from ..metrics.paired import mean_with_interval
from ..metrics.tradeoff import relative_decrease, succeeded, success
from ..runs.display import estimate, rounded
from ..runs.folder import Arrays
from ..runs.schema import AttackLine, Estimate, Tradeoff, TradeoffLine, Unscored
from ..specs import parse_call
from .goals import Decrease, Goal
from .goals.texts import OUTPUT, REFERENCE


def measure_of(goal: Goal, references: bool) -> Decrease:
    """What scores the texts of an attack: the goal itself if it is a decrease, else chrF against the references; against the
    model's answers to the original texts if the data has no `references`.
    """
    return goal if isinstance(goal, Decrease) else Decrease(against=REFERENCE if references else OUTPUT)


def halves(
    measure: Decrease,
    targets: Any,
    clean: Sequence[Any],
    answers: Sequence[Any],
    before: Sequence[str],
    after: Sequence[str],
) -> Arrays:
    """The columns of a part that only attacks on texts have; nan where the model gave no answer, scores also where the reference
    that they compare with is missing: a score of 0 there would say that the model is bad.

    targets: the references. clean, answers: to the original texts and to the outcomes. before, after: these texts.
    """
    known = np.array([answer is not None for answer in clean], np.bool_)
    rows = np.flatnonzero(known)
    out = {name: np.full(len(clean), np.nan) for name in ("source_likeness", "score_before", "score_after")}
    if rows.size:
        aims = measure.aims(targets[rows], np.array([clean[at] for at in rows.tolist()], object))
        out["score_before"][rows] = [aim.base for aim in aims]
        out["score_after"][rows] = measure.score(
            [str(answers[at]) for at in rows.tolist()], [aim.reference for aim in aims]
        )
        bare = np.array([not aim.reference.strip() for aim in aims], np.bool_) & (measure.against == REFERENCE)
        for name in ("score_before", "score_after"):
            out[name][rows[bare]] = np.nan
        places = rows.tolist()
        out["source_likeness"][rows] = chrf_likeness([before[at] for at in places], [after[at] for at in places])
    return out


def tradeoff_line(part: Arrays, at: int, attacked: bool) -> TradeoffLine:
    """The entry of results.jsonl about one attacked text; {} if the text was not attacked, or the task has no texts."""
    if "source_likeness" not in part or not attacked:
        return {}
    source, before, after = (float(part[name][at]) for name in ("source_likeness", "score_before", "score_after"))
    decrease = float(relative_decrease(before, after))
    return {
        "tradeoff": {
            "source": rounded(source), "before": rounded(before), "after": rounded(after), "decrease": rounded(decrease),
            "success": rounded(float(success(source, decrease))),
        }
    }  # fmt: skip


def tradeoff_summary(lines: Sequence[AttackLine], goal: str, references: bool) -> Tradeoff:
    """The entry of summary.json: means over all attacked texts with both halves, failed attacks included.

    Texts without a reference in data that has some are counted as `unscored` and left out, of the source's mean too: both halves
    are about the same texts.

    goal: its spec in full. references: whether the data has some.
    """
    every = [line["tradeoff"] for line in lines if "tradeoff" in line]
    found = [entry for entry in every if entry["success"] is not None]
    left: Unscored = {"unscored": len(every) - len(found)} if len(found) < len(every) else {}
    name, options = parse_call(goal)
    mine = options if name == Decrease.name else {}
    threshold = float(mine["threshold"] if "threshold" in mine else Decrease(**mine).least)

    def mean(values: Sequence[float | None], most: float = 1.0) -> Estimate:
        kept = np.array([value for value in values if value is not None], np.float64)
        return estimate(*mean_with_interval(kept, 0, most)) if kept.size else estimate(np.nan)

    source, decrease = (np.array([entry[half] for entry in found], np.float64) for half in ("source", "decrease"))
    won = succeeded(source, decrease, threshold)
    return {
        "metric": str(mine.get("metric", "chrf")), "source_metric": "chrf",
        "against": str(mine.get("against", REFERENCE if references else OUTPUT)), "threshold": threshold,
        "of": len(found), **left,
        "source": mean([entry["source"] for entry in found]), "before": mean([entry["before"] for entry in found]),
        "after": mean([entry["after"] for entry in found]), "decrease": mean([entry["decrease"] for entry in found]),
        "success": mean([entry["success"] for entry in found], 2.0),
        "succeeded": {**mean(won.astype(np.float64).tolist()), "count": int(won.sum()), "of": len(found)},
    }  # fmt: skip
