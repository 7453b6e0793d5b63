"""An evaluation as jobs, each of which writes one part of the trials; summary.json and results.jsonl are computed from all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from ..data.dataset import Column, Dataset
from ..metrics import Metric
from ..metrics.interval import mean_interval, resamples, weighted_means
from ..runs.folder import Folder
from ..runs.inputs import data_facts
from ..runs.schema import SCHEMA, AsPublished, EvaluationSummary, HasShield, ProtocolFacts, RunFile
from ..runs.trials import Ask, Job, Saliency
from ..victims.truth import Truth
from .block import CellCases, make_cases, try_block
from .guided import Oracle
from .protocol import Protocol
from .results import example_lines
from .summary import summarise
from .table import Table

NEGLIGIBLE = (
    0.1  # of the variance between examples: a smaller variance within them widens an interval by at most a twentieth
)


def open_cells(table: Table, protocol: Protocol, truth: Truth, cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns those of the cells of the last round that need more cases.

    The mean over examples varies because examples differ (`between`) and because each has few cases (`within`). Only the second
    shrinks with more cases. So a cell is closed if its interval is narrow enough, or if `within` is negligible.
    """
    assert protocol.width is not None, "only an adaptive protocol has rounds"
    draws = resamples(table.examples, protocol.seed)
    means, resampled = weighted_means(table.mean_score, truth.weight, draws)
    ones = np.ones(len(table.cell))
    count = table.per_example(ones, table.answered)
    square = table.per_example(np.nan_to_num(table["score"]).astype(np.float64) ** 2, table.answered)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (square / count - table.mean_score**2) / np.maximum(count - 1, 1)  # variance of an example's mean
    left = []
    for dimension, degree in cells:
        here = table.mean_score[dimension, degree]
        known = np.isfinite(here)
        low, high = mean_interval(float(means[dimension, degree]), resampled[dimension, degree], int(known.sum()))
        between = np.var(here[known]) if known.any() else 0.0
        within = np.nanmean(spread[dimension, degree][known]) if known.any() else 0.0
        if high - low > protocol.width and within > NEGLIGIBLE * between:
            left.append((dimension, degree))
    return left


@dataclass(eq=False)
class Evaluation:
    """Everything that decides the trials of an evaluation.

    ask: asks the victim; without it cases can be made, but not tried. mask, saliency: what stands for a hidden word, and the
    victim's gradients, which guided dimensions need. metric: computes the scores; None stands for the task's usual one. reads:
    how many words of a text the victim reads at most; None: all.
    """

    folder: Folder
    data: Dataset
    protocol: Protocol
    truth: Truth
    ask: Ask | None = None
    mask: str = ""
    saliency: Saliency | None = None
    metric: Metric | None = None
    reads: int | None = None

    def rounds(self) -> Iterator[list[Job]]:
        """Yields the jobs of each round. The cells of a later round depend on the trials of the rounds before."""
        cells, first = self.protocol.cells, 0
        for turn, upto in enumerate(self.protocol.rounds):
            if turn:
                cells = open_cells(self.table(turn), self.protocol, self.truth, cells)
            if not cells:
                return
            blocks = self.protocol.blocks(self.data, len(cells), upto - first)
            yield [
                Job(f"round{turn}-{at:05}", rows, tuple(cells), first, upto, queries)
                for at, (rows, queries) in enumerate(blocks)
            ]
            first = upto

    def make(self, job: Job) -> list[CellCases]:
        """Returns the cases of a job that need no victim: those of dimensions with the access `rule`."""
        cells = [cell for cell in job.cells if not self._guided(cell)]
        return make_cases(self.data.take(job.rows), self.protocol, cells, job.first, job.upto) if cells else []

    def _guided(self, cell: tuple[int, int]) -> bool:
        return self.protocol.parsed[cell[0]].access != "rule"

    def _make_guided(self, job: Job, truth: Truth) -> list[CellCases]:
        """Returns the cases of a job that the victim's scores or gradients choose."""
        cells = [cell for cell in job.cells if self._guided(cell)]
        if not cells:
            return []
        assert self.ask is not None, "cases that a victim guides need one"
        data = self.data.take(job.rows)
        oracle = Oracle(
            [Column.of(column) for column in data.columns], self.protocol.sides, self.ask,
            lambda outputs, rows: truth.take(rows).margin(outputs), self.mask, self.saliency, truth.direction, self.reads,
        )  # fmt: skip
        return make_cases(data, self.protocol, cells, job.first, job.upto, oracle)

    def do(self, job: Job, made: list[CellCases] | None = None) -> None:
        """Asks the victim about the cases of a job and writes its part. made: what `make` returned for it."""
        assert self.ask is not None, "cases can be made without a victim, not tried"
        truth = self.truth.take(np.arange(job.rows.start, job.rows.stop))
        made = [*(self.make(job) if made is None else made), *self._make_guided(job, truth)]
        self.folder.write_part(job.name, try_block(made, truth, self.ask, job.rows.start))

    def table(self, rounds: int | None = None) -> Table:
        """Returns the trials on disk; of the first `rounds` rounds only, if given."""
        wanted = (
            "clean",
            *(f"round{turn}-" for turn in range(rounds if rounds is not None else len(self.protocol.rounds))),
        )
        parts = [name for name in self.folder.parts() if name.startswith(wanted)]
        sizes = (len(self.data), len(self.protocol.dimensions), len(self.protocol.degrees))
        return Table.read(self.folder, *sizes, parts, answers=self.metric not in (None, self.truth.metric))

    @cached_property
    def planned(self) -> int:
        """How many cases the run has if every cell gets all of its cases."""
        return len(self.protocol.cells) * self.protocol.cases * len(self.data)

    def _saved(self, table: Table) -> int:
        """Returns how many cases an adaptive run did not make because their cell was closed.

        Examples with fewer cases than others in their cell do not count: they have no more distinct ones.
        """
        if self.protocol.width is None:
            return 0
        made = table.per_example(np.ones(len(table.cell)), ~table.clean)
        most = made.max(axis=2, keepdims=True)
        return int(((self.protocol.cases - most) * (made == most) * (most > 0)).sum())

    def finish(self, run: RunFile) -> EvaluationSummary:
        """Computes summary.json and results.jsonl from the trials and writes them. Returns the summary."""
        table, metric = self.table(), self.metric or self.truth.metric
        cases = int((~table.clean).sum())
        published: AsPublished = {"published": run["published"]} if "published" in run else {}
        shield: HasShield = {"shield": run["shield"]} if "shield" in run else {}
        summary: EvaluationSummary = {
            "schema": SCHEMA,
            "signature": run["signature"],
            "model": run["model"]["name"],
            "data": data_facts(self.data, run),
            "task": self.data.task,
            "metric": metric.title or metric.spec,
            "protocol": cast(ProtocolFacts, self.protocol.asdict()),
            "left_out": run.get("left_out", {}),
            **published,
            **shield,
            "queries": {"cases": cases, "planned": self.planned, "saved": self._saved(table)},
            **summarise(
                table, self.protocol, self.truth, metric, zeroe=run.get("config", {}).get("protocol") == "zeroe"
            ),
        }
        self.folder.write_lines(
            "results.jsonl", example_lines(self.folder, self.data, self.protocol, self.truth, table)
        )
        self.folder.write_json("summary.json", summary)
        return summary
