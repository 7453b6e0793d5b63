"""Put a model, data and a recipe in, get adversarial texts and a run folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..evaluate import BadRun, Folder, NoAnswers
from ..evaluate.attacking import Attacking, Limits
from ..report import write_attack_report
from ..run import Work
from .attack_result import AttackResult
from .preflight import Say, look, silent
from .recipe import AttackConfig
from .reopen import ATTACK, Worker, named_run, open_again, saved_data
from .rounds import Show, begun, do_rounds
from .searching import USUAL, Searching

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
    config = AttackConfig.of(recipe=recipe, **settings)
    if output is not None and not named:
        Folder(output).usable()  # before a model is opened or asked
    session = Searching.of(model, data, config)
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
    work = reopen_attack(str(folder))
    jobs = [*work.clean_jobs(), *work.jobs()]
    if left := work.left(jobs):
        raise BadRun(
            f"{folder}: expected a finished run, got {len(left)} of {len(jobs)} blocks left to do: "
            f"`scuff attack --resume {folder}` goes on"
        )
    return _finished(work, work.folder.read_json("run.json"))


def _begin(session: Searching, say: Say, found: Found | None) -> None:
    if found and session.config.workers > 1:
        raise ValueError(f"expected 1 worker where successes are shown as they come, got {session.config.workers}")
    session.costs(say, look(session, say, USUAL * len(session.data)))
    session.found = found


def _run(session: Searching, folder: Folder, say: Say | None, show: Show | None) -> AttackResult:
    with begun(session, folder) as (run, behind):
        work = session.attacking(behind)
        opened = open_attack_worker if session.reopens else None
        do_rounds(session, work, (work.clean_jobs(), work.jobs()), opened, say or silent, show)
        done = _finished(work, run)
    status, attacked = done.summary["status"], done.summary["success"]["of"]
    if attacked and status["error"] == attacked:
        raise NoAnswers(
            f"expected answers to some of {attacked:,} attacks, got none: {next(iter(done.summary['problems']))}"
        )
    return done


def _finished(work: Attacking, run: dict[str, Any]) -> AttackResult:
    summary = work.finish(run)
    write_attack_report(work.folder)
    lines = list(work.folder.read_lines("results.jsonl"))
    return AttackResult(summary, work.folder.timings(), lines, str(work.folder.path))


def reopen_attack(path: str) -> Attacking:
    """An attack from its folder, without its victim: what numbers are made from."""
    folder = Folder(path)
    run = folder.read_json("run.json")
    data, truth = saved_data(folder, run, AttackConfig.of(**run["config"]))
    return Attacking(folder, data, truth, None, Limits.of(run["key"]))


def open_attack_worker(path: str, whole: bool, threads: int) -> Work:
    """An attack from its folder, in a worker process; always whole: nothing of it can be done without its victim."""
    assert whole
    bare = reopen_attack(path)
    run = bare.folder.read_json("run.json")
    config = AttackConfig.of(**run["config"])
    opened = open_again(run, config, bare.data, bare.truth, len(bare.data) * USUAL, threads)
    session = Searching(**opened, recipe=config.recipe_for())
    return Worker(session.attacking(bare.folder), session)
