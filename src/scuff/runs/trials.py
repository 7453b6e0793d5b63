"""Jobs, each of which writes one part of the trials, and what all runs do: ask about the clean texts, and score answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..data.dataset import Dataset
from ..text.ragged import Floats
from ..victims.base import Outputs
from ..victims.truth import Truth
from .folder import Arrays, Folder
from .pack import pack_answers, pack_edits, pack_texts
from .schema import RunFile

Ask = Callable[..., Outputs]  # given the texts of each column, asks the victim
Saliency = Callable[..., list[Floats]]  # given the texts of each column, side=, words= and weights=, as Victim.saliency

CLEAN = -1  # the dimension and degree of clean texts
CLEAN_BLOCK = 100_000  # clean texts in one part


@dataclass(frozen=True)
class Job:
    """What writes one part of the trials: a block of examples and, in an evaluation, cases `first` to `upto` in some cells.

    queries: that it needs at most, about.
    """

    name: str
    rows: range
    cells: tuple[tuple[int, int], ...] = ()
    first: int = 0
    upto: int = 0
    queries: float = 0.0


class Work(Protocol):
    """What a run does, as jobs, each of which writes one part of the trials.

    A job has two steps: `make` needs no victim; `do` takes what `make` returned, asks the victim and writes a part.
    """

    @property
    def folder(self) -> Folder: ...
    @property
    def data(self) -> Dataset: ...
    @property
    def truth(self) -> Truth: ...
    def rounds(self) -> Iterable[list[Any]]:
        """Yields lists of jobs, to be done after the clean texts. A list may depend on the trials of the lists before it."""
        ...

    def make(self, job: Any) -> Any: ...
    def do(self, job: Any, made: Any = None) -> None: ...
    def finish(self, run: RunFile) -> Any:
        """Computes summary.json and results.jsonl from the trials and writes them. Returns the summary."""
        ...


@dataclass(eq=False)
class CleanTexts:
    """Asks about the clean texts: the first jobs of every run. name: that the names of its parts begin with."""

    folder: Folder
    data: Dataset
    truth: Truth
    ask: Ask | None = None
    name: str = "clean"

    def jobs(self) -> list[Job]:
        total = len(self.data)
        starts = range(0, total, CLEAN_BLOCK)
        blocks = [range(start, min(start + CLEAN_BLOCK, total)) for start in starts]
        return [Job(f"{self.name}-{at:05}", block, queries=len(block)) for at, block in enumerate(blocks)]

    def make(self, job: Job) -> None:
        """Does nothing: clean texts need not be made."""

    def do(self, job: Job, made: object = None) -> None:
        """Asks the victim about a block and writes its part."""
        assert self.ask is not None, "clean texts need a victim"
        data, truth = self.data.take(job.rows), self.truth.take(np.arange(job.rows.start, job.rows.stop))
        whole, zero = np.full(len(data), CLEAN, np.int16), np.zeros(len(data))
        part: Arrays = {
            "example": np.arange(job.rows.start, job.rows.stop, dtype=np.int32), "dimension": whole, "degree": whole,
            "draw": np.zeros(len(data), np.int32), "reached": zero, "distance": zero,
            **judged(self.ask(*data.columns), truth), **pack_edits([]),
        }  # fmt: skip
        self.folder.write_part(job.name, part)


def left(folder: Folder, jobs: list[Job], say: Callable[[str], None] | None = None) -> list[Job]:
    """Returns the jobs whose parts are not written yet.

    say: parts that are damaged or belong elsewhere are told and are to be made again, too; without it they raise BadRun later.
    """
    written = set(folder.parts())
    missing = [job for job in jobs if job.name not in written]
    if say is None or len(missing) == len(jobs):
        return missing
    absent = {job.name for job in missing}
    there = [job.name for job in jobs if job.name not in absent]
    for name, fault in zip(there, folder.faults(there), strict=True):
        if fault:
            say(f"WARNING {fault}: its block is done again")
            absent.add(name)
    return [job for job in jobs if job.name in absent]


def judged(outputs: Outputs, truth: Truth) -> Arrays:
    """Returns the columns of answers, scores and problems: 0 for an answer, else the number, from 1, of the reason."""
    score, problem = truth.score(outputs)
    reasons = sorted({str(reason) for reason in problem.tolist()} - {""})
    number = {reason: at for at, reason in enumerate(reasons, 1)} | {"": 0}
    return {
        "score": score.astype(np.float32),
        "problem": np.array([number[str(reason)] for reason in problem.tolist()], np.int32),
        **pack_texts("reason", reasons),
        **pack_answers(outputs.answers),
    }
