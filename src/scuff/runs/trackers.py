"""Logs a run to trackers of experiments (`--log`): MLflow, Weights & Biases, or a file of JSON lines.

A tracker is told what a run is, now and then how far it is, and what came of it. Whatever fails here is one warning, and the run
goes on. Nothing of this is written to the run folder.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from ..resources import MissingResource
from ..specs import known_name
from ..stores import StorePath, on_disk, on_this_disk
from .folder import append_line
from .progress import Progress

Status = Literal["finished", "failed", "interrupted"]
USUAL = "scuff"  # the name of an experiment or project
USUAL_FILE = "scuff-log.jsonl"
OFTEN = 10.0  # seconds between two messages about the progress
LONGEST_NAME, LONGEST_VALUE = 240, 6000  # letters that MLflow takes
PARAMS, METRICS = 100, 1000  # that MLflow takes at once
RETRIES = "3"  # where the user has set nothing: MLflow itself tries a server that does not answer for four minutes


@dataclass(frozen=True)
class Beginning:
    """What is known of a run when it begins. kind: the command. params: settings."""

    kind: str
    name: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What came of a run. facts: what identifies it, such as its signature. files: copied to the tracker, the report first."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[Path | StorePath] = ()


class Tracker(ABC):
    """One place that runs are logged to. where: an experiment, a project or a file; "" for the usual one."""

    package = ""  # that it needs; the extra has the same name

    def __init__(self, where: str) -> None:
        self.where = where

    @abstractmethod
    def begin(self, run: Beginning) -> None:
        """Logs that a run begins, with its settings."""

    def look(self, progress: Progress) -> None:  # noqa: B027 - not every tracker shows it
        """Logs how far the run is."""

    @abstractmethod
    def end(self, status: Status, outcome: Outcome, reason: str) -> None:
        """Logs what came of the run. outcome: empty if it did not finish. reason: why, in words."""


class Jsonl(Tracker):
    """Appends one line to a file when a run ends."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.path = on_this_disk(where or USUAL_FILE, "log jsonl").absolute()  # a resumed run works in another folder

    def begin(self, run: Beginning) -> None:
        self.run = run

    def end(self, status: Status, outcome: Outcome, reason: str) -> None:
        line = {
            "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "status": status,
            **({"reason": reason} if reason else {}), "kind": self.run.kind, "name": self.run.name, **outcome.facts,
            "params": dict(self.run.params), "metrics": dict(outcome.metrics), "files": [str(path) for path in outcome.files],
        }  # fmt: skip
        append_line(self.path, json.dumps(line, ensure_ascii=False))


class Mlflow(Tracker):
    """A run of MLflow, below the one that is active, if there is one. Leaves what is active as it is."""

    package = "mlflow"

    def begin(self, run: Beginning) -> None:
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", RETRIES)
        import mlflow

        self.client = mlflow.MlflowClient(tracking_uri=_absolute(mlflow.get_tracking_uri()))
        name = self.where or os.environ.get("MLFLOW_EXPERIMENT_NAME") or USUAL
        found = self.client.get_experiment_by_name(name)
        number = found.experiment_id if found else self.client.create_experiment(name)
        active = mlflow.active_run()
        above = {"mlflow.parentRunId": active.info.run_id} if active else {}
        self.id = self.client.create_run(number, run_name=run.name, tags={"kind": run.kind, **above}).info.run_id
        names = plain_names(run.params)
        params = [mlflow.entities.Param(names[key], _cut(_told(value))) for key, value in run.params.items()]
        for some in _parts(params, PARAMS):
            self.client.log_batch(self.id, params=some)

    def look(self, progress: Progress) -> None:
        for name, value in _progress(progress).items():
            self.client.log_metric(self.id, name, value, step=progress.queries)

    def end(self, status: Status, outcome: Outcome, reason: str) -> None:
        import mlflow

        now, names = int(1000 * time.time()), plain_names(outcome.metrics)
        metrics = [mlflow.entities.Metric(names[key], value, now, 0) for key, value in outcome.metrics.items()]
        for some in _parts(metrics, METRICS):
            self.client.log_batch(self.id, metrics=some)
        for path in outcome.files:
            with on_disk(path) as file:
                self.client.log_artifact(self.id, str(file))
        for key, value in {**outcome.facts, **({"reason": reason} if reason else {})}.items():
            self.client.set_tag(self.id, key, _cut(value))
        told = {"finished": "FINISHED", "failed": "FAILED", "interrupted": "KILLED"}
        self.client.set_terminated(self.id, told[status])


class Wandb(Tracker):
    """A run of Weights & Biases, beside the one that is active, if there is one. WANDB_MODE=offline keeps it on this machine."""

    package = "wandb"

    def begin(self, run: Beginning) -> None:
        import wandb

        project = self.where or os.environ.get("WANDB_PROJECT") or USUAL
        self.run = wandb.init(
            project=project, name=run.name, job_type=run.kind, reinit="create_new", config=dict(run.params),
            settings=wandb.Settings(silent=True),
        )  # fmt: skip

    def look(self, progress: Progress) -> None:
        self.run.log(_progress(progress))

    def end(self, status: Status, outcome: Outcome, reason: str) -> None:
        import wandb

        self.run.summary.update({**outcome.metrics, **outcome.facts, **({"reason": reason} if reason else {})})
        if outcome.files:
            held = wandb.Artifact(f"report-{self.run.id}", type="report")
            with ExitStack() as open_files:
                for path in outcome.files:
                    held.add_file(str(open_files.enter_context(on_disk(path))))
                self.run.log_artifact(held)
        self.run.finish(exit_code={"finished": 0, "failed": 3, "interrupted": 130}[status])


TRACKERS: dict[str, type[Tracker]] = {"mlflow": Mlflow, "wandb": Wandb, "jsonl": Jsonl}


def read_tracker(spec: str) -> Tracker:
    """Returns the tracker of NAME or NAME:WHERE. Raises ValueError for another name, MissingResource without its package."""
    name, colon, where = spec.partition(":")
    known_name(name, TRACKERS, "a tracker for log")
    if colon and not where:
        raise ValueError(f"expected {name} or {name}:WHERE for log, got {spec!r}")
    kind = TRACKERS[name]
    if kind.package and find_spec(kind.package) is None:
        raise MissingResource(
            f"expected the package {kind.package} for log {name}, got none: pip install 'scuff[{kind.package}]'"
        )
    return kind(where)


class Tracking:
    """Tells the trackers of a run when it begins, how far it is and how it ends: a context around the run.

    seconds: that the trackers took to begin, which are none of the run's.
    """

    def __init__(self, log: Sequence[str], run: Callable[[], Beginning]) -> None:
        self.trackers = {spec: read_tracker(spec) for spec in log}
        self.run, self.outcome, self.last, self.seconds = run, Outcome(), time.monotonic(), 0.0

    def __enter__(self) -> Tracking:
        begun = time.monotonic()
        self._each(lambda tracker: tracker.begin(self.run()))
        self.last = time.monotonic()
        self.seconds = self.last - begun
        return self

    def watching(self, show: Callable[[Progress], None] | None) -> Callable[[Progress], None] | None:
        """Returns what shows the progress of a run and tells it to the trackers now and then."""
        return _Watching(self, show) if self.trackers else show

    def look(self, progress: Progress) -> None:
        if time.monotonic() - self.last >= OFTEN:
            self._each(lambda tracker: tracker.look(progress))
            self.last = time.monotonic()

    def done(self, outcome: Callable[[], Outcome]) -> None:
        """Says what came of the run. An outcome that cannot be made is warned about."""
        if not self.trackers:
            return
        try:
            self.outcome = outcome()
        except Exception as error:
            _warn("log", error)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        status: Status = "finished" if error is None else "failed" if isinstance(error, Exception) else "interrupted"
        reason = "" if error is None else _line(error)
        self._each(lambda tracker: tracker.end(status, self.outcome, reason))

    def _each(self, tell: Callable[[Tracker], None]) -> None:
        """Tells all trackers. One that fails is warned about and told nothing more: a run must not be lost for it."""
        for spec, tracker in list(self.trackers.items()):
            try:
                tell(tracker)
            except Exception as error:  # of another package, and so of any type
                del self.trackers[spec]
                _warn(f"log {spec}", error)


def _warn(what: str, error: Exception) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # where warnings are errors, this one would end the run
        warnings.warn(f"{what} failed, the run goes on without it: {_line(error)}", RuntimeWarning, 3)


class _Watching:
    """Shows the progress of a run, and tells it to trackers."""

    def __init__(self, tracking: Tracking, show: Callable[[Progress], None] | None) -> None:
        self.tracking, self.show = tracking, show

    def __call__(self, progress: Progress) -> None:
        if self.show:
            self.show(progress)
        self.tracking.look(progress)

    def clear(self) -> None:
        """Deletes the bar, if what shows the progress is one."""
        clear = getattr(self.show, "clear", None)
        if clear:
            clear()


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """Returns names as MLflow takes them, each another one: letters, digits, and a few signs; / only between parts."""
    found: dict[str, str] = {}
    for name in names:
        parts = [re.sub(r"[^\w. -]|^\.+$", "_", part) or "_" for part in name.split("/")]
        short, taken, at = "/".join(parts)[:LONGEST_NAME], set(found.values()), 2
        plain = short
        while plain in taken:
            plain, at = f"{short}_{at}", at + 1
        found[name] = plain
    return found


def finite(metrics: Mapping[str, float | None]) -> dict[str, float]:
    """Returns the metrics that have a value."""
    return {name: float(value) for name, value in metrics.items() if value is not None and math.isfinite(value)}


def _progress(progress: Progress) -> dict[str, float]:
    return {"progress/queries": float(progress.queries), "progress/share": min(progress.share, 1.0)}


def _absolute(uri: str) -> str:
    """Returns the address of a store; of a file in the current folder with the path, as a resumed run works in another folder."""
    kind, sign, path = uri.partition(":///")
    relative = kind == "sqlite" and sign and path and not path.startswith("/") and path != ":memory:"
    return f"{kind}:///{Path(path).absolute()}" if relative else uri


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _line(error: BaseException) -> str:
    """Returns an error as one short line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _parts(items: Sequence[Any], most: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]
