"""Checkpoints of a training, and its log: what a killed training needs to go on and end with the same weights.

`checkpoint/state.safetensors` is one file, renamed into its place when it is complete: weights, the best weights so far, state of
the optimizer, and, as JSON in its header, how far the training is and with which settings it began. `log.jsonl` has a line for
every few steps and for every epoch.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..runs.folder import CannotWrite, write_atomically

SHARE = 0.1  # of the time that writing checkpoints may take: at the end of short epochs none is written

Tensors = dict[str, Any]


class BadFolder(ValueError):
    """The folder of a training holds something else, or was begun with other settings."""


class Checkpoints:
    """The folder of one training. settings: all that decides the weights, as JSON has it. seconds: between checkpoints; None:
    there are none. keep: the last one stays.
    """

    def __init__(self, out: str | Path, settings: dict[str, Any], seconds: float | None, keep: bool = False) -> None:
        self.out, self.seconds, self.keep = Path(out), seconds, keep
        self.settings: dict[str, Any] = json.loads(json.dumps(settings))
        self.state = self.out / "checkpoint" / "state.safetensors"
        self.log = self.out / "log.jsonl"
        self.last, self.cost = time.perf_counter(), 0.0

    def finished(self) -> dict[str, Any] | None:
        """The metrics of a training that is finished; None if there is none. Raises BadFolder if it was another training."""
        path = self.out / "metrics.json"
        if not path.is_file():
            self._usable()
            return None
        try:
            metrics: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            settings = metrics["settings"]
        except (ValueError, KeyError, TypeError):
            raise BadFolder(f"{self.out}: expected a new folder or a training of Scuff, got something else") from None
        self._check(settings)
        return metrics

    def _usable(self) -> None:
        """Raises BadFolder if the folder holds anything that no unfinished training left there."""
        if self.out.is_dir() and any(self.out.iterdir()) and not self.log.is_file():
            raise BadFolder(f"{self.out}: expected a new folder or a training of Scuff, got something else")
        if self.out.exists() and not self.out.is_dir():
            raise BadFolder(f"{self.out}: expected a folder, got a file")

    def _check(self, settings: dict[str, Any]) -> None:
        for name in {**settings, **self.settings}:
            old, new = settings.get(name), self.settings.get(name)
            if old != new:
                raise BadFolder(
                    f"{self.out}: expected the settings that this training was begun with, got another {name}: "
                    f"{_short(new)} instead of {_short(old)}; give another folder, or delete this one"
                )

    def read(self) -> tuple[dict[str, Any], Tensors] | None:
        """What the last checkpoint says and holds, on the CPU; None if there is none. Log lines behind it are dropped."""
        from safetensors import SafetensorError, safe_open

        self.out.mkdir(parents=True, exist_ok=True)
        for unfinished in self.out.glob(".*.part"):
            unfinished.unlink(missing_ok=True)
        self.last = time.perf_counter()
        if not self.state.is_file():
            write_atomically(self.log, b"")
            return None
        try:
            with safe_open(self.state, "pt") as file:
                told: dict[str, Any] = json.loads(file.metadata()["scuff"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, KeyError, ValueError, OSError) as error:
            raise BadFolder(f"{self.state}: expected a checkpoint of Scuff, got a damaged file: {error}") from None
        self._check(told["settings"])
        lines = self.log.read_bytes().splitlines(keepends=True) if self.log.is_file() else []
        write_atomically(self.log, b"".join(lines[: told["lines"]]))
        return told, tensors

    def due(self, epoch_ends: bool) -> bool:
        """Whether to write a checkpoint now."""
        since = time.perf_counter() - self.last
        if self.seconds is None:
            return False
        return since * SHARE >= self.cost and (epoch_ends or since >= self.seconds)

    def write(self, told: dict[str, Any], tensors: Callable[[], Tensors]) -> None:
        """Writes a checkpoint. The one before stays until the new one is complete."""
        from safetensors.torch import save

        begin = time.perf_counter()
        self.state.parent.mkdir(parents=True, exist_ok=True)
        for unfinished in self.state.parent.glob(".*.part"):
            unfinished.unlink(missing_ok=True)
        about = json.dumps({**told, "settings": self.settings})
        held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors().items()}
        write_atomically(self.state, save(held, {"scuff": about}))
        self.last = time.perf_counter()
        self.cost = self.last - begin

    def append(self, line: dict[str, Any]) -> None:
        """Adds a line to the log. Raises CannotWrite if that fails."""
        try:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise CannotWrite(f"{self.log}: expected to write a line, got: {error.strerror or error}") from error

    def finish(self, metrics: dict[str, Any]) -> None:
        """Writes metrics.json, the last of the files, and deletes the checkpoint unless it is to be kept."""
        write_atomically(self.out / "metrics.json", (json.dumps(metrics, indent=1) + "\n").encode())
        if not self.keep and self.state.parent.is_dir():
            for file in self.state.parent.iterdir():
                file.unlink()
            self.state.parent.rmdir()


def _short(value: Any) -> str:
    said = json.dumps(value)
    return said if len(said) <= 80 else said[:79] + "…"
