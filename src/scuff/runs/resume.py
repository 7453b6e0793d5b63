"""A run folder opened again: to go on with it, in worker processes, or to compute its numbers anew."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..attacks.campaign import Campaign
from ..data.dataset import Dataset
from ..evaluation.evaluation import Evaluation
from ..victims.cache import DiskCache
from ..victims.query import Query
from .folder import BadRun, Folder, WriteBehind
from .jobs import Progress, Work, run_jobs
from .preflight import Say
from .settings import Settings
from .setup import Setup, open_model
from .trials import Job
from .truth import Truth

ATTACK, EVALUATE = "attack", "evaluate"


@dataclass(eq=False)
class Worker:
    """Work in a process of its own, which tells what it has done so far."""

    work: Work
    session: Setup

    def make(self, job: Any) -> Any:
        return self.work.make(job)

    def do(self, job: Any, made: Any = None) -> None:
        self.work.do(job, made)

    def report(self) -> tuple[int, int, float, int]:
        return self.session.report()


def is_attack(folder: str | Path) -> bool:
    """Whether `scuff attack` wrote this run, and not `scuff evaluate`."""
    key = Folder(folder).read_json("run.json").get("key", {})
    return bool(key.get("kind") == ATTACK)


def named_run(folder: str | Path, command: str) -> dict[str, Any]:
    """run.json of a run of this command that can be opened again by the names in it."""
    found = ATTACK if is_attack(folder) else EVALUATE
    if found != command:
        raise BadRun(
            f"{folder}: expected a run of `scuff {command}`, got one of `scuff {found}`: "
            f"`scuff {found} --resume {folder}` goes on with it"
        )
    run: dict[str, Any] = Folder(folder).read_json("run.json")
    for what in ("model", "data"):
        if run[what]["spec"] is None and not (what == "model" and run["config"].get("predictions")):
            raise BadRun(
                f"{folder}: expected a run whose {what} is known by name, got one given as a Python object or by an address that "
                "may hold a key: call it as before"
            )
    return run


def open_again(
    run: dict[str, Any], config: Settings, data: Dataset, truth: Truth, queries: int, threads: int
) -> dict[str, Any]:
    """Model and data as `Session.opened` gives them, in a worker process."""
    # torch and tokenizers, which are not loaded yet, would take every core in every worker
    os.environ["OMP_NUM_THREADS"] = os.environ["RAYON_NUM_THREADS"] = str(threads)
    spec = run["model"]["spec"]
    victim = open_model(spec, config, data)
    cache = DiskCache(config.cache) if config.cache else None
    query = Query(victim, identity=run["key"]["model"], cache=cache, max_errors=config.error_limit(queries))
    if run.get("batch_tokens"):
        victim.batch_tokens = run["batch_tokens"]
    if run.get("reader"):
        victim.state = run["reader"]
    about = {"model": spec, "source": None, "config": config, "total": len(data), "truth": truth}
    return {**about, "data": data, "victim": victim, "query": query}


def saved_data(folder: Folder, run: dict[str, Any], config: Settings) -> tuple[Dataset, Truth]:
    """The examples as they stand in the folder."""
    data = _saved_data(folder, run)
    return data, Truth.of(data, tuple(run["key"]["labels"]), config.map, config.none)


def _saved_data(folder: Folder, run: dict[str, Any]) -> Dataset:
    about, rows = run["data"], list(folder.read_lines("examples.jsonl"))
    fields = tuple(about["fields"])

    def plain(value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    columns = tuple(tuple(plain(row["texts"][at]) for row in rows) for at in range(len(fields)))
    targets, ids = tuple(plain(row["target"]) for row in rows), tuple(row["id"] for row in rows)
    return Dataset(about["name"], about["task"], columns, targets, ids, fields, about["skipped"], tuple(about["known"]))


Show = Callable[[Progress], None]


@contextmanager
def begun(session: Setup, folder: Folder) -> Iterator[tuple[dict[str, Any], Folder]]:
    """What run.json says, and the folder to work on, which is ours alone and writes behind our back."""
    with folder.locked():
        run, behind = session.start(folder), WriteBehind(folder.path)
        try:
            yield run, behind
        finally:
            behind.settle()  # nothing is written after the lock is gone


def do_rounds(
    session: Setup,
    work: Evaluation | Campaign,
    rounds: Iterable[list[Job]],
    open_worker: Callable[[str, bool, int], Work] | None,
    say: Say,
    show: Show | None,
) -> None:
    """The clean texts, which come first, in this process. How long all took is written even if it is interrupted.

    open_worker: by folder, whether with a victim, and number of threads; None: this process does everything.
    """
    workers, whole, any_left = session.config.workers, session.reopens, False
    threads = max(1, (os.cpu_count() or 1) // workers)
    opened = partial(open_worker, str(work.folder.path), whole, threads) if open_worker else None
    session.query.errors = 0  # the pre-flight met those of the clean texts, which are asked again
    try:
        for at, jobs in enumerate(rounds):
            left = work.left(jobs)
            if len(left) < len(jobs):
                say(f"resumed: {len(jobs) - len(left)} of {len(jobs)} blocks were done before")
            any_left = any_left or bool(left)
            many = workers if at else 1
            options: dict[str, Any] = {"whole": whole, "heard": session.hear, "progress": Progress(len(left), show)}
            run_jobs(work, left, workers=many, open_work=opened, **options)
    finally:
        if any_left:
            session.write_timings(work.folder)
