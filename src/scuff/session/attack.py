"""Put a model, data and a recipe in, get adversarial texts and a run folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from ..evaluate import BadRun, Folder
from ..evaluate.attacking import Attacking
from ..report import attack_table, write_attack_report
from ..run import Progress, WriteBehind, run_jobs
from .preflight import look
from .recipe import AttackConfig
from .reopen import named_run, open_again, saved_data
from .searching import Searching

Say = Callable[[str], None]
Show = Callable[[Progress], None]
Found = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class AttackResult:
    """What came of an attack. `print(result)` shows the table."""

    summary: dict[str, Any]
    timings: list[dict[str, Any]]
    lines: list[dict[str, Any]]  # one per example, as in results.jsonl
    folder: str | None

    def __str__(self) -> str:
        return attack_table(self.summary, self.timings)

    @property
    def success(self) -> float:
        """The share of attacked examples that were broken; nan if none was attacked."""
        value = self.summary["success"]["value"]
        return float("nan") if value is None else float(value)

    @property
    def adversarial(self) -> list[tuple[str, str]]:
        """The texts that were broken: before and after."""
        won = [line for line in self.lines if line["status"] == "succeeded"]
        side = next((line["adversarial"]["edits"][0][0] for line in won), 0)
        return [(_plain(line["texts"][side]), line["adversarial"]["texts"][side]) for line in won]


def _plain(text: Any) -> str:
    return text if isinstance(text, str) else " ".join(text)


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
        _begin(session, say or _silent, found)
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
    run = named_run(folder, "attack")
    config = AttackConfig.of(**{**run["config"], **changes})
    session = Searching.of(run["model"]["spec"], run["data"]["spec"], config)
    try:
        _begin(session, _silent, found)
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
    session.costs(say, look(session, say))
    session.found = found


def _run(session: Searching, folder: Folder, say: Say | None, show: Show | None) -> AttackResult:
    config = session.config
    workers = config.workers if session.reopens else 1
    threads = max(1, (os.cpu_count() or 1) // workers)
    opened = partial(reopen_attack, str(folder.path), True, threads) if workers > 1 else None
    with folder.locked():
        run = session.start(folder)
        behind = WriteBehind(folder.path)
        session.query.errors = 0  # the pre-flight met those of the clean texts, which are asked again
        try:
            work = session.attacking(behind)
            for jobs in (work.clean_jobs(), work.jobs()):
                left = work.left(jobs)
                if len(left) < len(jobs) and say:
                    say(f"resumed: {len(jobs) - len(left)} of {len(jobs)} blocks were done before")
                many = workers if jobs[0].name.startswith("attack") else 1
                progress = Progress(len(left), show)
                run_jobs(work, left, workers=many, open_work=opened, whole=True, heard=session.hear, progress=progress)
        finally:
            behind.settle()
        session.write_timings(folder)
        return _finished(work, run)


def _finished(work: Attacking, run: dict[str, Any]) -> AttackResult:
    summary = work.finish(run)
    write_attack_report(work.folder)
    lines = list(work.folder.read_lines("results.jsonl"))
    timings = work.folder.read_json("timings.json")
    return AttackResult(summary, timings, lines, str(work.folder.path))


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
    recipe = config.recipe_for()
    data, truth = saved_data(folder, run, config)
    if not whole:
        return Attacking(folder, data, truth, recipe, Searching.limits_of(config, run["key"]["block"]))
    opened = open_again(run, config, data, truth, len(data), threads)
    session = Searching(**opened, recipe=recipe)
    made = session.attacking(folder)
    worker = AttackWorker(**{field.name: getattr(made, field.name) for field in fields(Attacking)})
    worker.session = session
    return worker


def _silent(message: str) -> None: ...
