"""Compares two attacks by one recipe on the same examples: success with its paired interval."""

from __future__ import annotations

import math

import numpy as np

from ..metrics.interval import percentile_interval, resampled_sums, resamples
from ..runs.folder import BadRun, Folder
from ..runs.proof import AttackComparison, Change
from ..runs.schema import AttackLine
from ..text.ragged import Floats


def compare_attacks(before: str | Folder, after: str | Folder) -> AttackComparison:
    """Returns how the success rate changed between two finished attacks.

    Success is a share of the examples that are attacked, which are those that a model gets right: so it is a ratio of two sums
    over examples, and both are resampled. Raises BadRun if the runs are not of one recipe on the same examples.
    """
    folders = [each if isinstance(each, Folder) else Folder(each) for each in (before, after)]
    summaries = [folder.attack_summary() for folder in folders]
    lines = [list(folder.attack_results()) for folder in folders]
    if [line["id"] for line in lines[0]] != [line["id"] for line in lines[1]]:
        raise BadRun(f"{folders[1].path}: expected an attack on the examples of {folders[0].path}, got other examples")
    names = [summary["recipe"]["name"] for summary in summaries]
    if names[0] != names[1]:
        raise BadRun(f"{folders[1].path}: expected the recipe {names[0]}, got {names[1]}")
    draws = resamples(len(lines[0]), 0)
    success = [resampled_sums(_success_rows(each), draws) for each in lines]
    return {
        "recipe": names[0],
        "examples": len(lines[0]),
        "attacked": [summary["success"]["of"] for summary in summaries],
        "success": _change(*success),
    }


def _success_rows(lines: list[AttackLine]) -> Floats:
    """(succeeded, attacked) of each example."""
    return np.array([[line["status"] == "succeeded", line["status"] != "skipped"] for line in lines], np.float64)


def _change(before: tuple[Floats, Floats], after: tuple[Floats, Floats]) -> Change:
    with np.errstate(invalid="ignore", divide="ignore"):
        (old, old_again), (new, new_again) = (
            (v[..., 0] / v[..., 1], a[..., 0] / a[..., 1]) for v, a in (before, after)
        )
    gap = float(new - old)
    if not math.isfinite(gap):
        return {"before": _rounded(old), "after": _rounded(new), "difference": None, "interval": [None, None]}
    low, high = percentile_interval(new_again - old_again)
    return {
        "before": _rounded(old),
        "after": _rounded(new),
        "difference": _rounded(gap),
        "interval": [_rounded(min(low, gap)), _rounded(max(high, gap))],
    }


def _rounded(value: float | Floats) -> float | None:
    return round(float(value), 6) if math.isfinite(float(value)) else None
