"""The jobs of a run, and the parts of the trials that all runs have: the clean texts, and answers with their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data.dataset import Dataset
from ..text.ragged import Floats
from ..victims.base import Outputs
from ..victims.truth import Truth
from .folder import Arrays
from .pack import pack_answers, pack_edits, pack_texts

Ask = Callable[..., Outputs]  # is given the texts of each column: the door to the victim

Saliency = Callable[..., list[Floats]]  # texts of each column, side=, words=, weights=

CLEAN = -1  # the dimension and degree of texts as they are

CLEAN_BLOCK = 100_000  # examples


@dataclass(frozen=True)
class Job:
    """What makes one part: cases number `first` to `upto` of a block of examples in some cells; without cells the clean texts."""

    name: str
    rows: range
    cells: tuple[tuple[int, int], ...] = ()
    first: int = 0
    upto: int = 0


def clean_jobs(examples: int) -> list[Job]:
    """The jobs that ask about the texts as they are, which come first."""
    starts = range(0, examples, CLEAN_BLOCK)
    return [Job(f"clean-{at:05}", range(s, min(s + CLEAN_BLOCK, examples))) for at, s in enumerate(starts)]


def clean_block(data: Dataset, truth: Truth, ask: Ask, first_example: int) -> Arrays:
    """Asks about the texts as they are and returns the part. Examples count from `first_example` of the run."""
    count = len(data)
    example = np.arange(count)
    outputs = ask(*data.columns)
    whole = np.full(count, CLEAN, np.int16)
    zero = np.zeros(count)
    return {
        "example": (example + first_example).astype(np.int32), "dimension": whole, "degree": whole,
        "draw": np.zeros(count, np.int32), "reached": zero, "distance": zero,
        **judged(outputs, truth), **pack_edits([]),
    }  # fmt: skip


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
