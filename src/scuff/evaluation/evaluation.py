"""An evaluation as jobs, each of which leaves one part of the trials; and the files computed from all parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import cast

import numpy as np

from ..data.dataset import Column, Dataset
from ..metrics import Metric
from ..metrics.interval import mean_interval, resamples, weighted_means
from ..runs.folder import Folder
from ..runs.schema import SCHEMA, EvaluationSummary, ProtocolFacts, RunFile
from ..runs.trials import Ask, Job, Saliency, clean_block, clean_jobs
from ..victims.truth import Truth
from .block import CellCases, make_cases, try_block
from .guided import Oracle
from .protocol import Protocol
from .results import example_lines
from .summary import summarise
from .table import Table

NEGLIGIBLE = 0.1  # of the variance: below that more cases would not narrow the interval by more than a twentieth


def open_cells(table: Table, protocol: Protocol, truth: Truth, cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of the cells that were open in the last round, those that stay open.

    A mean over examples varies because examples differ and because each has few cases. Only the second part shrinks with
    more cases; a cell in which it is a small part of the whole is closed, however wide its interval.
    """
    assert protocol.width is not None, "only an adaptive protocol has rounds"
    draws = resamples(table.examples, protocol.seed)
    means, again = weighted_means(table.mean_score, truth.weight, draws)
    ones = np.ones(len(table.cell))
    count = table.per_example(ones, table.answered)
    square = table.per_example(np.nan_to_num(table["score"]).astype(np.float64) ** 2, table.answered)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (square / count - table.mean_score**2) / np.maximum(count - 1, 1)  # variance of an example's mean
    left = []
    for dimension, degree in cells:
        here = table.mean_score[dimension, degree]
        known = np.isfinite(here)
        low, high = mean_interval(float(means[dimension, degree]), again[dimension, degree], int(known.sum()))
        between = np.var(here[known]) if known.any() else 0.0
        within = np.nanmean(spread[dimension, degree][known]) if known.any() else 0.0
        if high - low > protocol.width and within > NEGLIGIBLE * between:
            left.append((dimension, degree))
    return left


@dataclass(eq=False)
class Evaluation:
    """Everything that decides the trials. `ask` is the door to the victim; without it cases can be made but not tried.

    mask, saliency: what guided dimensions need to know of the victim: what hides a word, and its gradients.
    """

    folder: Folder
    data: Dataset
    protocol: Protocol
    truth: Truth
    ask: Ask | None = None
    mask: str = ""
    saliency: Saliency | None = None
    metric: Metric | None = None  # that scores are computed by; None: the task's usual one

    def clean_jobs(self) -> list[Job]:
        return clean_jobs(len(self.data))

    def stages(self) -> Iterator[list[Job]]:
        """The clean texts, then the jobs round by round."""
        return chain([self.clean_jobs()], self.rounds())

    def rounds(self) -> Iterator[list[Job]]:
        """The jobs round by round. Which cells a later round has depends on the trials of the ones before."""
        cells, first = self.protocol.cells, 0
        for turn, upto in enumerate(self.protocol.rounds):
            if turn:
                cells = open_cells(self.table(turn), self.protocol, self.truth, cells)
            if not cells:
                return
            blocks = self.protocol.blocks(len(self.data), len(cells), upto - first)
            yield [Job(f"round{turn}-{at:05}", rows, tuple(cells), first, upto) for at, rows in enumerate(blocks)]
            first = upto

    def make(self, job: Job) -> list[CellCases]:
        """The cases of a job that rules alone choose; nothing for the clean texts."""
        cells = [cell for cell in job.cells if not self._guided(cell)]
        return make_cases(self.data.take(job.rows), self.protocol, cells, job.first, job.upto) if cells else []

    def _guided(self, cell: tuple[int, int]) -> bool:
        return self.protocol.parsed[cell[0]].access != "rule"

    def _make_guided(self, job: Job, truth: Truth) -> list[CellCases]:
        cells = [cell for cell in job.cells if self._guided(cell)]
        if not cells:
            return []
        assert self.ask is not None, "cases that a victim guides need one"
        data = self.data.take(job.rows)
        oracle = Oracle(
            [Column.of(column) for column in data.columns], self.protocol.sides, self.ask,
            lambda outputs, rows: truth.take(rows).margin(outputs), self.mask, self.saliency, truth.direction,
        )  # fmt: skip
        return make_cases(data, self.protocol, cells, job.first, job.upto, oracle)

    def do(self, job: Job, made: list[CellCases] | None = None) -> None:
        """Do a job and write its part."""
        assert self.ask is not None, "cases can be made without a victim, not tried"
        truth = self.truth.take(np.arange(job.rows.start, job.rows.stop))
        if not job.cells:
            arrays = clean_block(self.data.take(job.rows), truth, self.ask, job.rows.start)
        else:
            made = [*(self.make(job) if made is None else made), *self._make_guided(job, truth)]
            arrays = try_block(made, truth, self.ask, job.rows.start)
        self.folder.write_part(job.name, arrays)

    def left(self, jobs: list[Job]) -> list[Job]:
        return [job for job in jobs if not self.folder.has_part(job.name)]

    def table(self, rounds: int | None = None) -> Table:
        """The trials so far, of the first rounds only where asked."""
        wanted = (
            "clean",
            *(f"round{turn}-" for turn in range(rounds if rounds is not None else len(self.protocol.rounds))),
        )
        parts = [name for name in self.folder.parts() if name.startswith(wanted)]
        sizes = (len(self.data), len(self.protocol.dimensions), len(self.protocol.degrees))
        return Table.read(self.folder, *sizes, parts, answers=self.metric not in (None, self.truth.metric))

    @cached_property
    def planned(self) -> int:
        """Cases if every cell had all of its cases."""
        return len(self.protocol.cells) * self.protocol.cases * len(self.data)

    def _saved(self, table: Table) -> int:
        """Cases that an adaptive run did not need: of examples that had as many as the rounds of their cell asked for."""
        if self.protocol.width is None:
            return 0
        made = table.per_example(np.ones(len(table.cell)), ~table.clean)
        most = made.max(axis=2, keepdims=True)
        return int(((self.protocol.cases - most) * (made == most) * (most > 0)).sum())

    def finish(self, run: RunFile) -> EvaluationSummary:
        """Compute everything from the trials: summary.json and results.jsonl."""
        table, metric = self.table(), self.metric or self.truth.metric
        cases = int((~table.clean).sum())
        summary: EvaluationSummary = {
            "schema": SCHEMA,
            "signature": run["signature"],
            "model": run["model"]["name"],
            "data": {"name": self.data.name, "digest": run["data"]["digest"], "skipped": run["data"]["skipped"]},
            "task": self.data.task,
            "metric": metric.title or metric.spec,
            "protocol": cast(ProtocolFacts, self.protocol.asdict()),
            "left_out": run.get("left_out", {}),
            "queries": {"cases": cases, "planned": self.planned, "saved": self._saved(table)},
            **summarise(table, self.protocol, self.truth, metric),
        }
        self.folder.write_lines(
            "results.jsonl", example_lines(self.folder, self.data, self.protocol, self.truth, table)
        )
        self.folder.write_json("summary.json", summary)
        return summary
