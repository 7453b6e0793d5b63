"""The jobs of a run, and the parts of the trials that all runs have: the clean texts, and answers with their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data.dataset import Dataset
from ..text.ragged import Floats
from ..victims.base import Outputs
from ..victims.truth import Truth
from .folder import Arrays, Folder
from .pack import pack_answers, pack_edits, pack_texts

Ask = Callable[..., Outputs]  # is given the texts of each column: the door to the victim

Saliency = Callable[..., list[Floats]]  # texts of each column, side=, words=, weights=

CLEAN = -1  # the dimension and degree of texts as they are

CLEAN_BLOCK = 100_000  # examples


@dataclass(frozen=True)
class Job:
    """What makes one part: of an evaluation, cases number `first` to `upto` of a block of examples in some cells."""

    name: str
    rows: range
    cells: tuple[tuple[int, int], ...] = ()
    first: int = 0
    upto: int = 0


@dataclass(eq=False)
class CleanTexts:
    """The first work of every run: asks about the texts as they are."""

    folder: Folder
    data: Dataset
    truth: Truth
    ask: Ask | None = None

    def jobs(self) -> list[Job]:
        total = len(self.data)
        starts = range(0, total, CLEAN_BLOCK)
        return [Job(f"clean-{at:05}", range(s, min(s + CLEAN_BLOCK, total))) for at, s in enumerate(starts)]

    def make(self, job: Job) -> None:
        """Makes nothing: the texts are there."""

    def do(self, job: Job, made: object = None) -> None:
        """Asks about a block and writes its part."""
        assert self.ask is not None, "clean texts need a victim"
        data, truth = self.data.take(job.rows), self.truth.take(np.arange(job.rows.start, job.rows.stop))
        whole, zero = np.full(len(data), CLEAN, np.int16), np.zeros(len(data))
        part: Arrays = {
            "example": np.arange(job.rows.start, job.rows.stop, dtype=np.int32), "dimension": whole, "degree": whole,
            "draw": np.zeros(len(data), np.int32), "reached": zero, "distance": zero,
            **judged(self.ask(*data.columns), truth), **pack_edits([]),
        }  # fmt: skip
        self.folder.write_part(job.name, part)


def left(folder: Folder, jobs: list[Job]) -> list[Job]:
    """Those of some jobs whose parts are not there yet."""
    return [job for job in jobs if not folder.has_part(job.name)]


def judged(outputs: Outputs, truth: Truth) -> Arrays:
    """The columns of answers, their scores, and the problems of those that are missing: a number, from 1, among the reasons."""
    score, problem = truth.score(outputs)
    reasons = sorted({str(reason) for reason in problem.tolist()} - {""})
    number = {reason: at for at, reason in enumerate(reasons, 1)} | {"": 0}
    return {
        "score": score.astype(np.float32),
        "problem": np.array([number[str(reason)] for reason in problem.tolist()], np.int32),
        **pack_texts("reason", reasons),
        **pack_answers(outputs.answers),
    }
