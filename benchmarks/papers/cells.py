"""Runs many cells side by side in processes, the most important first: each leaves a file, and what is there is not run again.

A cell is one training or one attack. It may need others, whose files must be there before it begins. Files are written at once,
so that a run that is killed leaves whole files alone; the next one goes on with what is missing.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

THREADS = {
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Cell:
    """A cell. turn: which cells come first; of a turn those of high cost do. kind: cells of a kind take about as long."""

    name: str
    kind: str
    given: dict[str, Any] = field(hash=False)
    turn: float = 0.0
    cost: float = 1.0
    needs: tuple[str, ...] = ()


Do = Callable[[Cell, Any], dict[str, Any]]  # cell, work -> what is kept


def path_of(out: Path, name: str) -> Path:
    return out / "cells" / f"{name}.json"


def read(out: Path, name: str) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(path_of(out, name).read_text(encoding="utf-8"))
    return kept


def write(path: Path, text: str) -> None:
    """Writes a file at once, also if another process writes the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def done(do: Do, cell: Cell, work: Any, out: Path) -> str:
    """Runs a cell in this process and writes its file. Returns a line that says what happened."""
    import warnings

    begin = time.time()
    warnings.simplefilter("ignore")
    try:
        found = do(cell, work)
    except Exception as error:  # the other cells go on
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else "?"
        return f"{cell.name}: FAILED: {type(error).__name__}: {error} ({where})"
    seconds = round(time.time() - begin, 1)
    said = found.pop("said", "done")
    write(path_of(out, cell.name), json.dumps({"cell": cell.given, **found, "seconds": seconds}))
    return f"{cell.name}: {said}, {seconds:.0f} s"


class Runner:
    """Runs cells until they are done or time is up."""

    def __init__(self, do: Do, work: Any, out: Path, jobs: int, limit: float) -> None:
        self.do, self.work, self.out, self.jobs = do, work, out, jobs
        self.begin, self.limit = time.time(), limit
        self.took: dict[str, list[float]] = {}  # seconds of the cells of each kind
        self.counts = {"done": 0, "failed": 0}

    @property
    def left(self) -> float:
        return self.limit - (time.time() - self.begin)

    def run(self, cells: Sequence[Cell]) -> int:
        """Returns how many cells failed."""
        (self.out / "cells").mkdir(parents=True, exist_ok=True)
        os.environ |= THREADS
        waiting = sorted(
            (cell for cell in cells if not path_of(self.out, cell.name).is_file()),
            key=lambda cell: (cell.turn, -cell.cost),
        )
        total = len(waiting)
        print(f"{len(cells)} cells, {total} to do, in {self.jobs} processes", flush=True)
        pool, running = self._pool(), dict[Future[str], tuple[Cell, float]]()
        while (waiting or running) and self.left > 0:
            for cell in self._ready(waiting)[: self.jobs - len(running)]:
                waiting.remove(cell)
                try:
                    running[pool.submit(done, self.do, cell, self.work, self.out)] = (cell, time.time())
                except BrokenProcessPool:  # its processes are gone; the cells that ran say so below
                    pool = self._pool()
                    running[pool.submit(done, self.do, cell, self.work, self.out)] = (cell, time.time())
            if not running:
                break  # what is left needs cells that failed, or more time than there is
            for future in wait(running, max(0.1, min(5.0, self.left)), "FIRST_COMPLETED").done:
                cell, began = running.pop(future)
                self._count(cell, outcome(future, cell), time.time() - began, total)
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=not running, cancel_futures=True)
        for process in processes if running else ():  # each file is written at once, so nothing is half done
            process.terminate()
        rest = total - self.counts["done"]
        print(
            f"{self.spent:5.0f} s  {self.counts['done']} done, {self.counts['failed']} failed, {rest} left", flush=True
        )
        return self.counts["failed"]

    @property
    def spent(self) -> float:
        return time.time() - self.begin

    def _pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.jobs, multiprocessing.get_context("spawn"))

    def _ready(self, waiting: Iterable[Cell]) -> list[Cell]:
        """Cells whose needs are there and which can be done in the time that is left, in their order."""
        return [
            cell
            for cell in waiting
            if all(path_of(self.out, name).is_file() for name in cell.needs)
            and median(self.took.get(cell.kind, [0.0])) <= self.left
        ]

    def _count(self, cell: Cell, line: str, seconds: float, total: int) -> None:
        if "FAILED" in line:
            self.counts["failed"] += 1
        else:
            self.took.setdefault(cell.kind, []).append(seconds)
        self.counts["done"] += 1
        print(f"{self.spent:5.0f} s  {self.counts['done']}/{total}  {line}", flush=True)


def outcome(future: Future[str], cell: Cell) -> str:
    """The line of a cell, also if its process died."""
    try:
        return future.result()
    except Exception as error:
        return f"{cell.name}: FAILED: {type(error).__name__}: {error}"


def versions() -> dict[str, str]:
    from importlib.metadata import version

    from scuff.version import __version__

    return {"scuff": __version__, **{name: version(name) for name in ("torch", "transformers", "numpy")}}
