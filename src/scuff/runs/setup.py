"""The setup of a run: a model, data and settings, opened and checked; decides what identifies a run and writes run.json."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from ..data.dataset import Dataset
from ..resources.checksums import named_files
from ..specs import can_be_rebuilt, digests
from ..version import __version__
from ..victims.answers import Read
from ..victims.base import OTHER, Victim
from ..victims.cache import DiskCache
from ..victims.contents import Contents
from ..victims.identity import Identity, check_cache, held_by, identify
from ..victims.open import hub_commit
from ..victims.query import Query, TooManyErrors
from ..victims.shielded import Shielded, unshielded
from ..victims.truth import Truth
from .checking import mismatch
from .engines.base import Engine
from .engines.here import Here
from .engines.open import LOCAL, RAY
from .folder import Folder
from .inputs import admits_others, open_data, open_model
from .progress import Forecast
from .resume import Resumed, way_back
from .schema import SCHEMA, HasShield, RunFile, RunPlan, ShieldFacts
from .serving import inside_worker, kept_by
from .settings import EXAMPLES, SIDES, Settings
from .trials import Work

if TYPE_CHECKING:
    from ..victims.service import Door

Say = Callable[[str], None]  # called with each message for the user
Output = str | Path | None  # the run folder; None: a temporary one
Opened = TypeVar("Opened", bound="Setup")


@dataclass(eq=False)
class Setup(Resumed, ABC):
    """An opened model, data and settings. Subclasses, for evaluations and for attacks, say what a run does; `run.py` does it."""

    model: Any
    source: Any  # the data as the user named it
    settings: Settings
    data: Dataset
    total: int  # examples before the sample was taken
    victim: Victim
    truth: Truth
    query: Query
    begun: float = field(default_factory=time.monotonic)
    held: Contents = field(default_factory=dict)  # by the victim, before it was asked anything
    identity: Identity | None = None  # None in worker processes
    probed: int = 0  # queries that only identified the model
    cluster: Engine | None = None  # opened before the model, which its GPUs may hold
    service_figures: Callable[[], dict[str, float]] | None = None  # of the service that workers ask, if there is one
    worker_reports: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # worker: queries, seconds and errors

    kind: ClassVar[str]  # the command that starts such a run
    settings_class: ClassVar[type[Settings]]
    bare: ClassVar[bool] = False  # whether texts without a reference are kept; they are not scored then
    makes_alone: ClassVar[bool] = False  # whether worker processes without a victim can `make` something of a job

    @classmethod
    @abstractmethod
    def open(cls: type[Opened], model: Any, source: Any, given: Mapping[str, Any], output: Output = None) -> Opened:
        """Opens model and data and checks that everything fits together.

        given: settings by name. output: a run folder that must be usable before a model is opened.
        """

    @classmethod
    @abstractmethod
    def read(cls, folder: Folder) -> Work:
        """Returns the work of a run folder without its victim: enough to compute numbers, and to make cases without asking."""

    @classmethod
    @abstractmethod
    def reopen(cls: type[Opened], bare: Any, threads: int, door: Door | None = None) -> Opened:
        """Returns the setup of a run folder in a worker process. bare: what `read` returned. threads: that the model may use.
        door: to the model, if another process holds it.
        """

    @abstractmethod
    def work(self, folder: Folder) -> Work:
        """Returns the work of this run, with its victim."""

    @abstractmethod
    def preflight(self, say: Say) -> float:
        """Says two examples and the clean score. Writes nothing. Returns the seconds that the model takes for a clean text.

        Raises BadRun if the model cannot be used.
        """

    @abstractmethod
    def forecast(self, say: Say, each: float) -> Forecast:
        """Says the plan and what it will cost, and returns the costs. each: what `preflight` returned. Writes nothing."""

    @abstractmethod
    def check_answers(self, summary: Any) -> None:
        """Raises NoAnswers if the victim answered none of the cases."""

    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """Returns everything beside model and data that decides the trials, by name."""

    @abstractmethod
    def shown_plan(self) -> dict[str, Any]:
        """Returns the entries of the plan that the signature shows."""

    def about(self) -> RunPlan:
        """Returns further entries of run.json."""
        return {}

    @classmethod
    def sampled(cls, whole: Dataset, settings: Settings) -> Dataset:
        """Returns the examples that a run is about, or is to choose from."""
        return whole.sample(settings.examples or EXAMPLES, settings.seed)

    @property
    def sides(self) -> tuple[int, ...]:
        """The numbers of the columns that are perturbed."""
        return self.settings.sides

    @property
    def doors(self) -> list[Query]:
        """All doors through which models are asked in this process."""
        return [self.query]

    @property
    def sampling(self) -> str:
        """How the sample was taken, in words."""
        return "in the shares of their labels"

    @classmethod
    def opened(cls, model: Any, source: Any, settings: Settings, output: Output) -> dict[str, Any]:
        """Opens model and data and takes the sample. Returns keywords of the constructor."""
        if output is not None:
            Folder(output).usable()
            if not settings.alone:
                Folder(output).check_shared()
        cluster = settings.open_engine() if settings.engine == RAY else None
        whole = open_data(source, settings, cls.bare)
        # `known`: all labels, also those that no example of the sample has
        data = replace(cls.sampled(whole, settings), known=whole.labels)
        elsewhere = kept_by(cluster, model, settings, whole) if cluster else None
        victim = open_model(model if elsewhere is None else elsewhere, settings, whole)
        query, truth = Query(victim), Truth.of(data, victim.labels, settings.map, settings.none)
        bare = unshielded(victim)
        if isinstance(bare, Read) and admits_others(bare, query, data):
            truth = Truth.of(data, victim.labels, settings.map, settings.none)
        about = {"model": model, "source": source, "settings": settings, "total": len(whole), "truth": truth}
        return {**about, "data": data, "victim": victim, "query": query, "held": held_by(victim), "cluster": cluster}

    @classmethod
    def opened_again(
        cls, run: RunFile, data: Dataset, truth: Truth, queries: int, threads: int, door: Door | None = None
    ) -> dict[str, Any]:
        """Opens the model in a worker process, as run.json says, or reaches it through a door. Returns keywords of the
        constructor.
        """
        # must be set before torch and tokenizers are loaded, which would use every core in every worker
        os.environ["OMP_NUM_THREADS"] = os.environ["RAYON_NUM_THREADS"] = str(threads)
        settings, spec = cls.settings_class.of(**run["config"]), run["model"]["spec"]
        victim = open_model(inside_worker(door) if door else spec, settings, data)
        bare = unshielded(victim)
        if isinstance(bare, Read) and OTHER in truth.labels:
            bare.admit_others()
        cache = DiskCache(settings.cache) if settings.cache else None
        query = Query(victim, identity=run["key"]["model"], cache=cache, max_errors=settings.error_limit(queries))
        if run.get("batch_tokens") and not door:
            victim.batch_tokens = run["batch_tokens"]
        if run.get("reader"):
            victim.state = run["reader"]
        about = {"model": spec, "source": None, "settings": settings, "total": len(data), "truth": truth}
        return {**about, "data": data, "victim": victim, "query": query}

    def ready(self, queries: int) -> None:
        """Identifies the model, opens the cache, and starts to count errors against the limit for `queries` queries."""
        query, settings = self.query, self.settings
        query.max_errors = settings.error_limit(queries)
        spare = math.inf if query.max_queries is None else query.max_queries - queries
        self.identity = identify(query, self.data, self.truth, sides=self.sides, before=self.held, spare=spare)
        query.identity = self.identity.name
        query.errors = 0
        # only now: the answers that identify the model must not come from the cache
        if settings.cache:
            cache = DiskCache(settings.cache, since=time.time() if settings.fresh else 0)
            try:
                check_cache(self.identity, query, cache, self.data)
            except BaseException:
                cache.close()
                raise
            query.cache = cache
        self.probed = query.queries

    def close(self) -> None:
        for engine in (vars(self).get("engine"), self.cluster):
            if engine:
                engine.close()
        if self.query.cache:
            self.query.cache.close()

    @cached_property
    def shield(self) -> ShieldFacts | None:
        """The shield in front of the victim, and how many examples have a text that it changes; None: there is no shield."""
        victim = self.victim
        if not isinstance(victim, Shielded):
            return None
        both = ((column, victim.mended(column)) for column in self.data.columns)
        other = [[one != two for one, two in zip(*pair, strict=True)] for pair in both]
        return {"spec": victim.shield.spec, "mended": sum(map(any, zip(*other, strict=True)))}

    @property
    def reopens(self) -> bool:
        """Whether workers can open the victim themselves, or ask one that is open elsewhere."""
        return self.serves or (self.victim.sees_through_files and isinstance(self.model, str | Path))

    @property
    def serves(self) -> bool:
        """Whether workers ask a victim that is open elsewhere: in this process, or in actors, which open it by its name."""
        near = self.settings.engine == LOCAL or isinstance(self.model, str | Path)
        return self.victim.serves and not self.settings.alone and near

    @property
    def held_elsewhere(self) -> bool:
        """Whether actors hold the victim, and the encoders: then this process, which may have no GPU, does no job."""
        return getattr(unshielded(self.victim), "door", None) is not None

    @cached_property
    def engine(self) -> Engine:
        """What does the jobs; this process does them all if workers can do nothing without the victim."""
        return (self.cluster or self.settings.open_engine()) if self.reopens or self.makes_alone else Here()

    def check_workers(self) -> None:
        """Opens the engine. Raises ValueError if workers could not build a part that was given as an object."""
        lost = [spec for spec in self.settings.parts if not can_be_rebuilt(spec)]
        if lost and self.engine.apart:
            raise ValueError(
                f"expected parts that worker processes can import, got {lost[0]}: put the class into a module (a recipe: name it "
                "as module:function), or use 1 worker"
            )

    @cached_property
    def files(self) -> dict[str, str]:
        """Digests of the files and models that the plan names, such as word vectors, a masked language model, an encoder."""
        plan = self.plan()
        named = [*plan.values(), self.settings.shield]
        specs = [spec for value in named for spec in (value if isinstance(value, list) else [value])]
        return named_files([spec for spec in specs if isinstance(spec, str)], [plan["meaning"]], hub_commit)

    def key(self) -> dict[str, Any]:
        """Returns everything that decides the trials, by name. A run is resumed only if its key is the same."""
        return {
            "scuff": __version__,
            "model": self.query.identity,
            "labels": list(self.truth.labels),
            "data": self.data.digest,
            "map": self.settings.map,
            "none": self.settings.none,
            **({"shield": self.shield["spec"]} if self.shield else {}),
            **({"parts": parts} if (parts := digests(self.settings.parts)) else {}),
            **({"files": self.files} if self.files else {}),
            **self.plan(),
        }

    @property
    def digest(self) -> str:
        """A hash of the key."""
        return sha256(repr(sorted(self.key().items())).encode()).hexdigest()

    @property
    def folder_name(self) -> str:
        """A name for the run folder: model, data, and the beginning of the digest."""
        parts = (Path(unshielded(self.victim).name).name, self.data.name.split(".")[0])
        plain = "-".join(re.sub(r"[^\w.]+", "-", part).strip("-")[:40] for part in parts)
        return f"{plain}-{'shielded-' if self.shield else ''}{self.digest[:8]}"

    @property
    def signature(self) -> str:
        """One line that says what was run, with which version and settings."""
        parts = {
            "scuff": __version__, "model": self.victim.name, "data": f"{self.data.name}@{self.data.digest[:12]}",
            **({"backend": self.victim.backend} if self.victim.backend else {}),
            **({"scores": f"{kind}, no probabilities"} if (kind := self.victim.scores_are) else {}),
            "examples": len(self.data), **self.shown_plan(), "sides": self._side,
            "protect": ",".join(self.settings.protect) or "nothing", "run": self.digest[:12],
        }  # fmt: skip
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    @property
    def _side(self) -> str:
        return next(name for name, sides in SIDES.items() if sides == self.sides)

    def start(self, folder: Folder) -> RunFile:
        """Writes run.json and examples.jsonl, or checks that the folder holds this run already. Returns what run.json says."""
        if folder.started:
            return self.go_on(folder)
        assert self.identity is not None, "only the process that starts a run writes run.json"
        shield: HasShield = {"shield": self.shield} if self.shield else {}
        run: RunFile = {
            "schema": SCHEMA, "signature": self.signature, "key": cast(Any, self.key()),
            "model": {
                "spec": None if self.settings.secret else _spec(self.model), "name": self.victim.name,
                "access": self.victim.access.name.lower(),
            },
            "data": {
                "spec": _spec(self.source), "name": self.data.name, "task": self.data.task, "fields": self.data.fields,
                "digest": self.data.digest, "total": self.total, "skipped": self.data.skipped, "known": self.data.labels,
            },
            **shield, **self.about(), "config": self.settings.asdict(),
            "versions": {"scuff": __version__, "python": platform.python_version(), "numpy": np.__version__},
            "batch_tokens": self.victim.batch_tokens,
            "reader": self.victim.state,
            "probe": self.identity.probe,
            **way_back(folder.path),
        }  # fmt: skip
        assert not (wrong := mismatch(json.loads(json.dumps(run)), RunFile)), f"run.json: {wrong}"
        rows = range(len(self.data))
        folder.start(
            run,
            (
                {"id": self.data.ids[at], "texts": [c[at] for c in self.data.columns], "target": self.data.targets[at]}
                for at in rows
            ),
        )
        return run

    def ask(self, *columns: Any) -> Any:
        """Asks the victim about one block, and then drops the remembered answers.

        An answer from another batch may differ in its last bit, and a resumed run, which does not have it, must write the same
        bytes.
        """
        try:
            return self.query(*columns)
        finally:
            self.query.forget()

    def report(self) -> tuple[str, int, float, int, str]:
        """Returns the name of this worker, its queries, seconds and errors so far, and what an error said, for `hear` in the
        parent process.
        """
        doors = self.doors
        asked, errors = sum(door.queries for door in doors), sum(door.errors for door in doors)
        said = next((door.said for door in doors if door.said), "")
        return f"{platform.node()}:{os.getpid()}", asked, sum(door.seconds for door in doors), errors, said

    def hear(self, report: tuple[str, int, float, int, str]) -> None:
        """Records what a worker reports. Raises TooManyErrors if all processes together have more errors than are allowed."""
        worker, queries, seconds, failed, said = report
        self.worker_reports[worker] = (queries, seconds, failed)
        errors = self.query.errors + sum(errors for _, _, errors in self.worker_reports.values())
        if self.query.max_errors is not None and errors > self.query.max_errors:
            last = f"; one of the last: {said}" if said else ""
            raise TooManyErrors(f"expected at most {self.query.max_errors} errors, got {errors} in all workers{last}")

    def tell(self, say: Say) -> None:
        """Says what is to be known of the model's identity: that it is random, or that some answers differ from earlier ones."""
        while self.identity and self.identity.warnings:
            say(self.identity.warnings.pop(0))

    def old_answers(self, folder: Folder, worked: bool) -> str:
        """Returns where all answers of a run come from, with the date, if none was asked for; "" if some were.

        worked: whether there were blocks to do.
        """
        if not worked:
            return f"{folder.path}, of {_date(folder.changed())}"
        cache = self.query.cache
        if cache is None or self.asked > self.probed or cache.oldest is None:
            return ""
        return f"{cache.path}, the oldest of {_date(cache.oldest)}"

    @property
    def asked(self) -> int:
        """Queries of all processes."""
        return sum(door.queries for door in self.doors) + sum(asked for asked, _, _ in self.worker_reports.values())

    def write_timings(self, folder: Folder) -> None:
        """Adds an entry to timings.json, a file of its own, since all others have the same bytes if a run is repeated."""
        asked = self.asked
        in_workers = sum(seconds for _, seconds, _ in self.worker_reports.values())
        inside = sum(door.seconds for door in self.doors) + in_workers
        seconds = time.monotonic() - self.begun
        now = {
            "seconds": round(seconds, 3), "victim_seconds": round(inside, 3), "queries": asked,
            "queries_per_second": round(asked / seconds, 1) if seconds else None, "workers": self.engine.workers,
            **({"service": self.service_figures()} if self.service_figures else {}),
        }  # fmt: skip
        folder.write_json("timings.json", [*folder.timings(), now])


def _date(seconds: float) -> str:
    """A time in words of a person, such as 2026-01-31 12:30; an answer of an earlier version of the cache has none."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else "an unknown date"


def _spec(named: Any) -> str | None:
    """Returns the name by which model or data can be opened again; None for objects, and for URLs whose query may hold a key."""
    return str(named) if isinstance(named, str | Path) and not ("://" in str(named) and "?" in str(named)) else None
