"""A run folder of either command, gone on with or computed again."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from ..evaluate import BadRun, Folder
from ..report import write_report
from .api import Result, resume_evaluation
from .attack import report_attack, resume_attack
from .attack_result import AttackResult
from .reopen import is_attack, reopen


def resume(folder: str | Path, **options: Any) -> Result | AttackResult:
    """Go on with a run that was interrupted, with the settings that are written in its folder.

    options: say and show, as for `scuff.evaluate`, and settings that do not decide the trials: workers, max_errors, cache.
    """
    return resume_attack(folder, **options) if is_attack(folder) else resume_evaluation(folder, **options)


def report(folder: str | Path) -> Result | AttackResult:
    """Compute everything of a run again from its trials, without its model: summary.json, results.jsonl, report.html."""
    return report_attack(folder) if is_attack(folder) else _report_evaluation(folder)


def _report_evaluation(folder: str | Path) -> Result:
    opened = Folder(folder)
    run = opened.read_json("run.json")
    work = reopen(str(folder))
    for jobs in chain([work.clean_jobs()], work.rounds()):
        if left := work.left(jobs):
            raise BadRun(
                f"{folder}: expected a finished run, got {len(left)} of {len(jobs)} blocks left to do: "
                f"`scuff evaluate --resume {folder}` goes on"
            )
    summary = work.finish(run)
    write_report(opened)
    return Result(summary, str(folder))
