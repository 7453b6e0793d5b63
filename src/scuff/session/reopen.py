"""A run opened again from its folder: by a worker process, or to compute its numbers anew."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..evaluate import BadRun, Evaluation, Folder, Protocol, Truth
from ..run import Work
from ..text.dataset import Dataset
from ..victims import DiskCache, Query
from .common import Settings
from .config import Config
from .measuring import Measuring
from .opening import open_model
from .session import Session

ATTACK, EVALUATE = "attack", "evaluate"


@dataclass(eq=False)
class Worker:
    """Work in a process of its own, which tells what it has done so far."""

    work: Work
    session: Session

    def make(self, job: Any) -> Any:
        return self.work.make(job)

    def do(self, job: Any, made: Any = None) -> None:
        self.work.do(job, made)

    def report(self) -> tuple[int, int, float, int]:
        return self.session.report()


def reopen(path: str) -> Evaluation:
    """A run from its folder, without its victim: what cases and numbers are made from."""
    folder = Folder(path)
    run = folder.read_json("run.json")
    key: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in run["key"].items()
    }
    protocol = Protocol(**{name: key[name] for name in Protocol.__dataclass_fields__ if name in key})
    data, truth = saved_data(folder, run, Config.of(**run["config"]))
    return Evaluation(folder, data, protocol, truth)


def open_worker(path: str, whole: bool, threads: int) -> Work:
    """A run from its folder, in a worker process; whole: with its victim."""
    bare = reopen(path)
    if not whole:
        return bare
    run = bare.folder.read_json("run.json")
    opened = open_again(
        run, Config.of(**run["config"]), bare.data, bare.truth, bare.protocol.queries(bare.data), threads
    )
    session = Measuring(**opened, protocol=bare.protocol)
    return Worker(session.evaluation(bare.folder), session)


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
    if victim.reader and run.get("reader"):
        victim.reader.state = run["reader"]
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
