"""Compares two attacks by one recipe on the same examples: success with its paired interval."""

from __future__ import annotations

import numpy as np

from ..metrics.interval import resampled_sums, resamples
from ..runs.folder import BadRun, Folder
from ..runs.proof import AttackComparison, Estimated, change_of
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
    success = [_rate(resampled_sums(_success_rows(each), draws)) for each in lines]
    attacked = [summary["success"]["of"] for summary in summaries]
    return {
        "recipe": names[0],
        "examples": len(lines[0]),
        "attacked": attacked,
        "success": change_of(success[0], success[1], min(attacked)),
    }


def _success_rows(lines: list[AttackLine]) -> Floats:
    """(succeeded, attacked) of each example."""
    return np.array([[line["status"] == "succeeded", line["status"] != "skipped"] for line in lines], np.float64)


def _rate(sums: Estimated) -> Estimated:
    with np.errstate(invalid="ignore", divide="ignore"):
        rate, again = (each[..., 0] / each[..., 1] for each in sums)
    return rate, again
