"""A run opened again from its folder: by a worker process, or to compute its numbers anew."""

from __future__ import annotations

import os
from typing import Any

from ..evaluate import Evaluation, Folder, Protocol, Truth
from ..text.dataset import Dataset
from ..victims import DiskCache, Query
from .config import Config
from .opening import open_model
from .session import Session


class Worker(Evaluation):
    """An evaluation in a process of its own."""

    session: Session

    def report(self) -> tuple[int, int, float, int]:
        query = self.session.query
        return os.getpid(), query.asked, query.seconds, query.errors


def reopen(path: str, whole: bool, threads: int | None = None) -> Evaluation:
    """A run from its folder: with its victim, or only what cases and numbers are made from."""
    folder = Folder(path)
    run = folder.read_json("run.json")
    data = _saved_data(folder, run)
    config = Config.of(**run["config"])
    key = run["key"]
    settings: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in key.items()}
    protocol = Protocol(**{name: settings[name] for name in Protocol.__dataclass_fields__ if name in settings})
    truth = Truth.of(data, tuple(key["labels"]), config.map, config.none)
    if not whole:
        return Evaluation(folder, data, protocol, truth)
    if threads:
        # torch and tokenizers, which are not loaded yet, would take every core in every worker
        os.environ["OMP_NUM_THREADS"] = os.environ["RAYON_NUM_THREADS"] = str(threads)
    victim = open_model(run["model"]["spec"], config, data)
    cache = DiskCache(config.cache) if config.cache else None
    query = Query(victim, identity=key["model"], cache=cache, max_errors=config.error_limit(protocol.queries(data)))
    session = Session(run["model"]["spec"], None, config, data, len(data), victim, truth, protocol, {}, query)
    session._tuned(run.get("batch_tokens"))
    if victim.reader and run.get("reader"):
        victim.reader.state = run["reader"]
    worker = Worker(folder, data, protocol, truth, session._ask, victim.mask, query.saliency)
    worker.session = session
    return worker


def _saved_data(folder: Folder, run: dict[str, Any]) -> Dataset:
    about, rows = run["data"], list(folder.read_lines("examples.jsonl"))
    fields = tuple(about["fields"])

    def plain(value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    columns = tuple(tuple(plain(row["texts"][at]) for row in rows) for at in range(len(fields)))
    targets, ids = tuple(plain(row["target"]) for row in rows), tuple(row["id"] for row in rows)
    return Dataset(about["name"], about["task"], columns, targets, ids, fields, about["skipped"], tuple(about["known"]))
