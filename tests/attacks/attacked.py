"""Helpers of the tests: attacks on a few texts without a run folder, and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from scuff.attacks.attack import Attack
from scuff.attacks.campaign import AttackedBlock, Campaign
from scuff.attacks.outcomes import Limits, result_lines
from scuff.data.dataset import Dataset, Task, joined
from scuff.data.toy import toy_data
from scuff.runs.folder import Folder
from scuff.victims.base import Column, Outputs, Victim
from scuff.victims.query import Query
from scuff.victims.truth import Truth

LETTERS = ("typo(operations='delete', layout='any')", "2*typo(operations='swap replace', layout='any')", "homoglyph")
NO_LIMITS = Limits()
Line = dict[str, Any]


def recipe(search: str, goal: str = "untargeted", perturbations: Sequence[str] = LETTERS, *constraints: str) -> Attack:
    return Attack.of("test", "", goal, tuple(perturbations), search, constraints)


def data_of(texts: Sequence[Any], targets: Sequence[Any], task: Task = "single", *more: Sequence[Any]) -> Dataset:
    columns = tuple(tuple(column) for column in (texts, *more))
    names = ("first", "second")[: len(columns)]
    return Dataset("data", task, columns, tuple(targets), tuple(map(str, range(len(targets)))), names)


def toy(name: str, count: int, first: int = 0) -> Dataset:
    """Examples of a toy's test data."""
    texts, targets = toy_data(name, "test")
    part = slice(first, first + count)
    return data_of(texts[part], targets[part], "single" if name == "sentiment" else "multi")


class Watched(Victim):
    """A victim that records its calls, and raises on some texts."""

    def __init__(self, victim: Victim, breaks: Callable[[Any], bool] = lambda text: False) -> None:
        self.victim, self.breaks, self.calls = victim, breaks, list[list[Any]]()
        self.name, self.task, self.labels, self.access = victim.name, victim.task, victim.labels, victim.access
        self.rows_at_once = victim.rows_at_once

    def __call__(self, *columns: Column) -> Outputs:
        if any(map(self.breaks, columns[0])):
            raise RuntimeError("the model broke")
        self.calls.append(list(zip(*columns, strict=True)))
        return self.victim(*columns)


def attacking(victim: Victim, data: Dataset, recipe: Attack, limits: Limits = NO_LIMITS, **doors: Any) -> Campaign:
    """An attack whose original texts are answered. As in a run, no answer is kept from one batch to the next."""
    query = Query(victim)

    def ask(*columns: Column, examples: Any = None) -> Outputs:
        query.forget()
        return query(*columns)

    truth = Truth.of(data, victim.labels, {})
    work = Campaign(Folder("nowhere"), data, truth, recipe, limits, **{"ask": ask, **doors})
    work.__dict__["clean"] = ask(*data.columns)
    return work


class Block(AttackedBlock):
    """A block that also gives `ask` the example of each text, so that tests see who asks."""

    def _ask(self, *columns: Any, examples: Any) -> Outputs:
        ask, self.ask = self.ask, partial(self.ask, examples=examples)
        try:
            return super()._ask(*columns, examples=examples)
        finally:
            self.ask = ask


def attacked(victim: Victim, data: Dataset, recipe: Attack, limits: Limits = NO_LIMITS, **doors: Any) -> list[Line]:
    """Runs an attack. Returns a line per example, as in results.jsonl."""
    work = attacking(victim, data, recipe, limits, **doors)
    parts = [Block(work, np.arange(job.rows.start, job.rows.stop)).part() for job in work.jobs()]
    return result_lines(data, work.truth, work.clean, parts, limits)


def outcome(line: Line, side: int = 0) -> tuple[str, str, int, float | None]:
    """Status, final text, queries, margin."""
    found = line["adversarial"]
    text = joined((found or line)["texts"][side])
    return line["status"], text, line["queries"], found["margin"] if found else None


def part(recipe: Attack, name: str) -> Any:
    """A constraint by its name."""
    return next(constraint for constraint in recipe.constraints if constraint.name == name)


def changes(recipe: Attack) -> list[str]:
    """The specs of its perturbations but for embedding."""
    return [part.spec for part in recipe.perturbations if part.perturbation.name != "embedding"]
