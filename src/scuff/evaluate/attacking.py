"""A search attack as a list of jobs, each of which leaves one part of the trials; and the files that all of them give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ..attack.recipes import Recipe
from ..text import Edits
from ..text.dataset import Dataset
from ..text.ragged import Floats
from ..victims.base import Outputs, as_objects
from .attacked import AttackedBlock
from .block import Ask, clean_block
from .evaluation import Job, clean_jobs
from .outcomes import SUCCEEDED, attack_summary, result_lines
from .pack import unpack_answers, unpack_texts
from .trials import Folder
from .truth import Truth

Live = Callable[[int, Edits, Any, Any], None]  # example, its edits, the answer before, the answer after


@dataclass(frozen=True)
class Limits:
    """What holds a search: queries for each example, which column it changes, what it leaves alone; and how successes are judged:
    valid are those at most `most` from the original in meaning, measured by `meaning`.
    """

    seed: int = 0
    side: int = 0
    protect: tuple[str, ...] = ()
    max_queries: int | None = None
    meaning: str = "chrf"
    most: float = 0.2
    block: int = 64  # examples

    @classmethod
    def of(cls, key: dict[str, Any]) -> Limits:
        """From what decided a run that is done."""
        given = {field.name: key[field.name] for field in fields(cls)}
        return cls(**{**given, "protect": tuple(given["protect"])})


@dataclass(eq=False)
class Attacking:
    """Everything that decides the trials. `ask` and `saliency` are the doors to the victim."""

    folder: Folder
    data: Dataset
    truth: Truth
    recipe: Recipe | None  # none: nothing is attacked, only told about
    limits: Limits
    ask: Ask | None = None
    saliency: Callable[..., list[Floats]] | None = None
    unknown: str = "[UNK]"
    at_once: int = 2048
    late: Callable[[], bool] | None = None
    live: Live | None = None

    def clean_jobs(self) -> list[Job]:
        return clean_jobs(len(self.data))

    def jobs(self) -> list[Job]:
        size, total = self.limits.block, len(self.data)
        return [Job(f"attack-{at:05}", range(s, min(s + size, total))) for at, s in enumerate(range(0, total, size))]

    def left(self, jobs: list[Job]) -> list[Job]:
        return [job for job in jobs if not self.folder.has_part(job.name)]

    def make(self, job: Job) -> None:
        """There is nothing that could be made without a victim."""

    def do(self, job: Job, made: Any = None) -> None:
        """Do a job and write its part."""
        assert self.ask is not None, "an attack needs a victim"
        rows = np.arange(job.rows.start, job.rows.stop)
        if job.name.startswith("clean"):
            part = clean_block(self.data.take(job.rows), self.truth.take(rows), self.ask, job.rows.start)
        else:
            part = AttackedBlock(self, rows).part()
        self.folder.write_part(job.name, part)

    @cached_property
    def clean(self) -> Outputs:
        """What the victim says to the texts as they are."""
        parts = []
        for name in self.folder.parts():
            if name.startswith("clean"):
                arrays = self.folder.read_part(name)
                reasons = as_objects(["", *unpack_texts("reason", arrays)])
                parts.append(Outputs(unpack_answers(arrays), reasons[arrays["problem"]]))
        return Outputs.join(parts)

    def finish(self, run: dict[str, Any]) -> dict[str, Any]:
        """Compute everything from the trials: summary.json and results.jsonl."""
        parts = [self.folder.read_part(job.name) for job in self.jobs()]
        lines = result_lines(self.data, self.truth, self.clean, parts, self.limits)
        kept = [np.where(part["status"] == SUCCEEDED, "", "not broken").astype(object) for part in parts]
        settled = Outputs.join([Outputs(unpack_answers(part), why) for part, why in zip(parts, kept, strict=True)])
        summary = attack_summary(run, self.data, self.truth, self.clean, settled, self.limits, lines)
        self.folder.write_lines("results.jsonl", lines)
        self.folder.write_json("summary.json", summary)
        return summary
