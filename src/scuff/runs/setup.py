"""A model, data and settings, opened and checked: what a run starts from."""

from __future__ import annotations

import os
import platform
import re
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..data.columns import Columns, read_dataset
from ..data.dataset import Dataset
from ..data.reading import read_predictions
from ..version import __version__
from ..victims.base import OTHER, Victim
from ..victims.cache import DiskCache
from ..victims.open import open_victim
from ..victims.plain import Predictions
from ..victims.query import Query, TooManyErrors
from .display import in_words, said
from .folder import SCHEMA, BadRun, Folder
from .settings import Settings
from .truth import Truth

PROBE = 32  # examples whose answers stand for the model when a run is resumed or a cache is read


def identity_of(query: Query, data: Dataset, truth: Truth) -> str:
    """The victim's own identity and, since a model can change under an unchanged name, its answers to a few examples."""
    victim = query.victim
    if victim.paid:
        return f"{victim.identity}#{','.join(truth.labels)}"
    spread_out = range(0, len(data), max(1, len(data) // PROBE))  # files are often sorted by label
    probe = query(*data.take(spread_out).columns)
    answers = [truth.task, truth.labels, *(in_words(said(answer, truth)) for answer in probe.answers)]
    return f"{victim.identity}#{sha256(repr(answers).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def open_data(source: Any, config: Settings) -> Dataset:
    """All examples, before a sample is taken."""
    columns = Columns(config.text, config.label, config.id, config.task, config.format, config.split)
    return _toy(source) or read_dataset(source, columns)


def open_model(model: Any, config: Settings, data: Dataset) -> Victim:
    labels = config.labels
    if config.predictions:
        answers, name = read_predictions(config.predictions, data.fields, data.task)
        known = labels or (*_named(data, config), *((OTHER,) if data.task != "text" else ()))
        return Predictions(answers, data.task, known, name=name, assumed=not labels)
    victim = open_victim(model, data.task, labels, dict(config.options), data_labels=_named(data, config))
    if victim.task != data.task:
        raise ValueError(f"expected a model for {data.task} data, got {victim.name}, which is for {victim.task}")
    if not victim.labels and data.task != "text" and not victim.assume(_named(data, config)):
        raise ValueError(
            f"expected names for the labels of {victim.name}, got none: give them in its order with --labels"
        )
    return victim


def _named(data: Dataset, config: Settings) -> tuple[str, ...]:
    """The labels of the data as the model calls them."""
    return tuple(dict.fromkeys(config.map.get(label, label) for label in data.labels))


def _toy(source: Any) -> Dataset | None:
    """The embedded data: toy:sentiment or toy:tone."""
    if not isinstance(source, str) or not source.startswith("toy:"):
        return None
    from ..data.toy import toy_data

    texts, targets = toy_data(source.removeprefix("toy:"), "test")
    ids = tuple(map(str, range(len(texts))))
    return Dataset(source, "single" if isinstance(targets[0], str) else "multi", (tuple(texts),), tuple(targets), ids)


@dataclass(eq=False)
class Setup(ABC):
    """What an evaluation and an attack have in common."""

    model: Any
    source: Any  # the data as the user named it
    config: Settings
    data: Dataset
    total: int  # examples before the sample was taken
    victim: Victim
    truth: Truth
    query: Query
    begun: float = field(default_factory=time.monotonic)
    elsewhere: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # queries, seconds and errors of workers

    @classmethod
    def opened(cls, model: Any, source: Any, config: Settings) -> dict[str, Any]:
        """Model and data, opened and sampled; whatever does not fit together is told here."""
        whole = open_data(source, config)
        data = replace(
            whole.sample(config.examples, config.seed), known=whole.labels
        )  # also those that only others have
        victim = open_model(model, config, whole)
        truth = Truth.of(data, victim.labels, config.map, config.none)
        about = {"model": model, "source": source, "config": config, "total": len(whole), "truth": truth}
        return {**about, "data": data, "victim": victim, "query": Query(victim)}

    def ready(self, queries: int) -> None:
        """Find out which model it is; from now on errors count, at most as many as `queries` allow."""
        query, config = self.query, self.config
        query.max_errors = config.error_limit(queries)
        query.identity = identity_of(query, self.data, self.truth)
        query.errors = 0
        query.cache = DiskCache(config.cache) if config.cache else None
        # not before: what the model says now must not be what it said then

    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """What is done, by name: all that decides the trials beside model and data."""

    @abstractmethod
    def shown_plan(self) -> dict[str, Any]:
        """The same for people, in the signature."""

    def about(self) -> dict[str, Any]:
        """What else run.json should tell."""
        return {}

    def close(self) -> None:
        if self.query.cache:
            self.query.cache.close()

    @property
    def reopens(self) -> bool:
        """Whether worker processes can open the victim for themselves."""
        return self.victim.sees_through_files and isinstance(self.model, str | Path)

    def key(self) -> dict[str, Any]:
        """Everything that decides the trials, by name: what a resumed run must have in common with its beginning."""
        return {
            "scuff": __version__,
            "model": self.query.identity,
            "labels": list(self.truth.labels),
            "data": self.data.digest,
            "map": self.config.map,
            "none": self.config.none,
            **self.plan(),
        }

    @property
    def digest(self) -> str:
        return sha256(repr(sorted(self.key().items())).encode()).hexdigest()

    @property
    def folder_name(self) -> str:
        """Tells what the run is, and is another for any other run."""
        parts = (Path(self.victim.name).name, self.data.name.split(".")[0])
        plain = "-".join(re.sub(r"[^\w.]+", "-", part).strip("-")[:40] for part in parts)
        return f"{plain}-{self.digest[:8]}"

    @property
    def signature(self) -> str:
        """Repeats the run."""
        parts = {
            "scuff": __version__, "model": self.victim.name, "data": f"{self.data.name}@{self.data.digest[:12]}",
            "examples": len(self.data), **self.shown_plan(), "sides": self.config.side,
            "protect": ",".join(self.config.protect) or "nothing", "run": self.digest[:12],
        }  # fmt: skip
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def start(self, folder: Folder) -> dict[str, Any]:
        """Begin a run folder, or go on with one of the same run; anything else is refused."""
        key = self.key()
        if folder.started:
            run: dict[str, Any] = folder.read_json("run.json")
            old = run.get("key", {})
            other = sorted(name for name in {*key, *old} if key.get(name) != old.get(name))
            if "data" in other and key["model"].split("#")[0] == str(old.get("model")).split("#")[0]:
                other = [name for name in other if name not in ("model", "block")]  # other examples, so other answers
            if other:
                other = ["command"] if "kind" in other else other  # which says it all
                raise BadRun(
                    f"{folder.path}: expected the run that began there, got another {', '.join(other)}: choose another folder"
                )
            self.tuned(run.get("batch_tokens"))
            return run
        run = {
            "schema": SCHEMA, "signature": self.signature, "key": key,
            "model": {
                "spec": None if self.config.secret else _spec(self.model), "name": self.victim.name,
                "access": self.victim.access.name.lower(),
            },
            "data": {
                "spec": _spec(self.source), "name": self.data.name, "task": self.data.task, "fields": self.data.fields,
                "digest": self.data.digest, "total": self.total, "skipped": self.data.skipped, "known": self.data.labels,
            },
            **self.about(), "config": self.config.asdict(),
            "versions": {"scuff": __version__, "python": platform.python_version(), "numpy": np.__version__},
            "batch_tokens": self.victim.batch_tokens,
            "reader": self.victim.state,
        }  # fmt: skip
        rows = range(len(self.data))
        folder.start(
            run,
            (
                {"id": self.data.ids[at], "texts": [c[at] for c in self.data.columns], "target": self.data.targets[at]}
                for at in rows
            ),
        )
        return run

    def tuned(self, batch_tokens: int | None) -> None:
        """Batches as they were when the run began, so that not even the last bit of a score changes."""
        if batch_tokens:
            self.victim.batch_tokens = batch_tokens

    def ask(self, *columns: Any, examples: Any = None) -> Any:
        """Each block for itself: an answer remembered from another batch could differ in its last bit after a resume. The clean
        texts, which come first, were asked in the pre-flight.
        """
        try:
            return self.query(*columns)
        finally:
            self.query.forget()

    def report(self) -> tuple[int, int, float, int]:
        """What this process has done so far, for `hear` in the first one."""
        return os.getpid(), self.query.queries, self.query.seconds, self.query.errors

    def hear(self, report: tuple[int, int, float, int]) -> None:
        """What a worker has done so far; the errors of all of them together must not be too many."""
        process, *done = report
        self.elsewhere[process] = (done[0], done[1], done[2])
        errors = self.query.errors + sum(errors for _, _, errors in self.elsewhere.values())
        if self.query.max_errors is not None and errors > self.query.max_errors:
            raise TooManyErrors(f"expected at most {self.query.max_errors} errors, got {errors} in all workers")

    def write_timings(self, folder: Folder) -> None:
        """What may differ from run to run is kept apart from what may not."""
        asked = self.query.queries + sum(asked for asked, _, _ in self.elsewhere.values())
        inside = self.query.seconds + sum(seconds for _, seconds, _ in self.elsewhere.values())
        seconds = time.monotonic() - self.begun
        now = {
            "seconds": round(seconds, 3), "victim_seconds": round(inside, 3), "queries": asked,
            "queries_per_second": round(asked / seconds, 1) if seconds else None, "workers": self.config.workers,
        }  # fmt: skip
        folder.write_json("timings.json", [*folder.timings(), now])


def _spec(named: Any) -> str | None:
    """A name to open it by again; none for objects, and for addresses whose query may hold a key."""
    return str(named) if isinstance(named, str | Path) and not ("://" in str(named) and "?" in str(named)) else None
