"""Put a model, data and a recipe in, get adversarial texts and a run folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from ..evaluate import BadRun, Folder, NoAnswers
from ..evaluate.attacking import Attacking, Limits
from ..report import write_attack_report
from ..run import Progress, WriteBehind, run_jobs
from .attack_result import AttackResult
from .preflight import Say, look, silent
from .recipe import AttackConfig
from .reopen import ATTACK, named_run, open_again, saved_data
from .searching import USUAL, Searching

Show = Callable[[Progress], None]
Found = Callable[[dict[str, Any]], None]


def attack(
    model: Any,
    data: Any,
    recipe: str = "toxictrap",
    output: str | Path | None = None,
    *,
    named: bool = False,
    say: Say | None = None,
    show: Show | None = None,
    found: Found | None = None,
    **settings: Any,
) -> AttackResult:
    """Search for texts close to those of the data that a model gets wrong, or takes for benign.

    model, data, output, say, show, named: as for `scuff.evaluate`. recipe: toxictrap, tt-textfooler, pwws, ...; its parts can be
    chosen one by one. settings: as for `scuff attack`, e.g. search="beam", transform=["embedding(n=50)"], without=["pos"],
    vectors="FILE", max_queries=200. found: called with each success as it comes (not from worker processes).
    """
    session = Searching.of(model, data, AttackConfig.of(recipe=recipe, **settings))
    try:
        _begin(session, say or silent, found)
        if output is not None:
            return _run(session, Folder(Path(output) / session.folder_name if named else output), say, show)
        with tempfile.TemporaryDirectory(prefix="scuff-") as temporary:
            done = _run(session, Folder(Path(temporary) / "run"), say, show)
            return AttackResult(done.summary, done.timings, done.lines, None)
    finally:
        session.close()


def dry_attack(model: Any, data: Any, *, say: Say, **settings: Any) -> None:
    """Only the pre-flight of an attack. Nothing is written."""
    session = Searching.of(model, data, AttackConfig.of(**settings))
    try:
        _begin(session, say, None)
    finally:
        session.close()


def resume_attack(
    folder: str | Path, *, say: Say | None = None, show: Show | None = None, found: Found | None = None, **changes: Any
) -> AttackResult:
    """Go on with an attack that was interrupted, with the settings that are written in its folder.

    changes: those that do not decide the trials: workers, max_errors, cache.
    """
    run = named_run(folder, ATTACK)
    config = AttackConfig.of(**{**run["config"], **changes})
    session = Searching.of(run["model"]["spec"], run["data"]["spec"], config)
    try:
        _begin(session, silent, found)
        return _run(session, Folder(folder), say, show)
    finally:
        session.close()


def report_attack(folder: str | Path) -> AttackResult:
    """Compute everything of an attack again from its trials."""
    work = reopen_attack(str(folder), False)
    if left := [job for job in (*work.clean_jobs(), *work.jobs()) if not work.folder.has_part(job.name)]:
        raise BadRun(
            f"{folder}: expected a finished run, got {len(left)} blocks left: `scuff attack --resume {folder}` goes on"
        )
    return _finished(work, work.folder.read_json("run.json"))


def _begin(session: Searching, say: Say, found: Found | None) -> None:
    if found and session.config.workers > 1:
        raise ValueError(f"expected 1 worker where successes are shown as they come, got {session.config.workers}")
    session.costs(say, look(session, say, USUAL * len(session.data)))
    session.found = found


def _run(session: Searching, folder: Folder, say: Say | None, show: Show | None) -> AttackResult:
    config = session.config
    workers = config.workers if session.reopens else 1
    threads = max(1, (os.cpu_count() or 1) // workers)
    opened = partial(reopen_attack, str(folder.path), True, threads) if workers > 1 else None
    with folder.locked():
        run = session.start(folder)
        behind = WriteBehind(folder.path)
        try:
            work = session.attacking(behind)
            _do(session, work, workers, opened, say, show)
            done = _finished(work, run)
        finally:
            behind.settle()  # nothing is written after the lock is gone
    status, attacked = done.summary["status"], done.summary["success"]["of"]
    if attacked and status["error"] == attacked:
        raise NoAnswers(
            f"expected answers to some of {attacked:,} attacks, got none: {next(iter(done.summary['problems']))}"
        )
    return done


def _do(session: Searching, work: Attacking, workers: int, opened: Any, say: Say | None, show: Show | None) -> None:
    """All jobs that are left; how long that took is written even if it is interrupted."""
    session.query.errors = 0  # the pre-flight met those of the clean texts, which are asked again
    any_left = False
    try:
        for jobs in (work.clean_jobs(), work.jobs()):
            left = work.left(jobs)
            if len(left) < len(jobs) and say:
                say(f"resumed: {len(jobs) - len(left)} of {len(jobs)} blocks were done before")
            any_left = any_left or bool(left)
            many = workers if jobs[0].name.startswith("attack") else 1
            progress = Progress(len(left), show)
            run_jobs(work, left, workers=many, open_work=opened, whole=True, heard=session.hear, progress=progress)
    finally:
        if any_left:
            session.write_timings(work.folder)


def _finished(work: Attacking, run: dict[str, Any]) -> AttackResult:
    summary = work.finish(run)
    write_attack_report(work.folder)
    lines = list(work.folder.read_lines("results.jsonl"))
    return AttackResult(summary, work.folder.timings(), lines, str(work.folder.path))


class AttackWorker(Attacking):
    """An attack in a process of its own."""

    session: Searching

    def report(self) -> tuple[int, int, float, int]:
        return self.session.report()


def reopen_attack(path: str, whole: bool, threads: int | None = None) -> Attacking:
    """An attack from its folder: with its victim, or only what numbers are made from."""
    folder = Folder(path)
    run = folder.read_json("run.json")
    config = AttackConfig.of(**run["config"])
    data, truth = saved_data(folder, run, config)
    if not whole:
        return Attacking(folder, data, truth, None, Limits.of(run["key"]))
    opened = open_again(run, config, data, truth, len(data) * USUAL, threads)
    session = Searching(**opened, recipe=config.recipe_for())
    made = session.attacking(folder)
    worker = AttackWorker(**{field.name: getattr(made, field.name) for field in fields(Attacking)})
    worker.session = session
    return worker
