"""What every victim shares: a batch in, row-aligned answers out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.dataset import Task, Text
from ..isolation import Blameless
from ..text.ragged import Floats, Ints, Mask

Column = Sequence[Text]

Spans = Sequence[tuple[int, int]]  # where words begin and end in a text

GRADIENT_STEPS = 20  # points on the way from the baseline to the text: forward passes that a gradient costs

OTHER = "(other)"  # stands for labels that the data does not have, where a model's labels are not known beforehand


class Access(IntEnum):
    """What a victim tells about itself; each level has all that the ones before it have."""

    BLIND = 0  # answers were collected before: nothing new can be asked
    DECISION = 1  # labels, tags or texts
    SCORE = 2  # a score for every label
    GRADIENT = 3


class StopRun(Blameless, RuntimeError):
    """The run cannot go on: no example is to blame."""


class NotEnoughAccess(Blameless, ValueError):
    """A protocol needs more than the victim gives."""


@dataclass(frozen=True, eq=False)
class Outputs:
    """Answers to n rows. Where there is none, `problem` says why ("refused", "unparsed: ...", "error: ...").

    `answers` is float[n, labels] of scores; int[n] of label numbers; bool[n, labels] of label sets; or, for tags (an int array
    per row) and texts, object[n]. Rows with a problem hold nan, -1, False or None.
    """

    answers: npt.NDArray[Any]
    problem: npt.NDArray[np.object_]

    @classmethod
    def of(cls, answers: npt.NDArray[Any], problem: Sequence[str] | None = None) -> Outputs:
        reasons = np.full(len(answers), "", object)
        if problem is not None:
            reasons[:] = problem
        return cls(answers, reasons)

    @classmethod
    def failed(cls, count: int, reason: str, like: Outputs | None = None) -> Outputs:
        """No answers, in the shape of others where some are known."""
        shape, kind = ((count,), object) if like is None else ((count, *like.answers.shape[1:]), like.answers.dtype)
        none: Any = {"f": np.nan, "i": -1, "b": False}.get(np.dtype(kind).kind)
        return cls(np.full(shape, none, kind), np.full(count, reason, object))

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def answered(self) -> Mask:
        return np.equal(self.problem, "").astype(np.bool_)

    def take(self, rows: Ints) -> Outputs:
        return Outputs(self.answers[rows], self.problem[rows])

    @staticmethod
    def join(parts: Sequence[Outputs]) -> Outputs:
        """One after the other. Parts of which nothing is known but that they failed take the shape of the rest."""
        known = next((part for part in parts if part.answers.dtype != object), None)
        if known is not None:
            parts = [
                Outputs(Outputs.failed(len(part), "", known).answers, part.problem)
                if part.answers.dtype == object
                else part
                for part in parts
            ]
        return Outputs(
            np.concatenate([part.answers for part in parts]), np.concatenate([part.problem for part in parts])
        )


class Victim(ABC):
    """A model under test. `labels` are the names of its classes, in the order of its scores; () for texts."""

    name: str  # how it was named, for people and signatures
    task: Task
    labels: tuple[str, ...] = ()
    access: Access = Access.DECISION
    cases_at_once: int = 4000  # of a block: many full batches, yet little lost when a run is killed
    rows_at_once: int = 256  # how many rows a call should bring: full batches, not more than memory holds
    _identity: str = ""  # where the name does not tell
    batch_tokens: int | None = 0  # of victims that batch by tokens; None: not settled yet
    state: Any = None  # what the first answers showed, for another process that asks the same model
    strange: str = ""  # the last label that it answered and nobody knows
    paid: bool = False  # whether answers cost, and may differ from time to time: nothing is asked only to compare
    mask: str = ""  # what hides a word from it; "" leaves the word out
    unknown: str = "[UNK]"  # what stands for a word that it does not know
    sees_through_files: bool = False  # whether a worker process can open it again by its name

    @abstractmethod
    def __call__(self, *columns: Column) -> Outputs:
        """Answer n rows; a sentence pair is two columns, a text in tokens a tuple of strings."""

    def saliency(
        self, *columns: Column, side: int, words: Sequence[Spans], weights: Floats, steps: int = GRADIENT_STEPS
    ) -> list[Floats]:
        """How much each word of column `side` adds to sum(weights * scores), for victims with gradient access.

        words: (start, stop) in each row's text; texts in tokens have none. weights: float[n, labels]. steps: how often each row
        is put through the model: more are more exact.
        """
        raise NotEnoughAccess(
            f"expected a victim with gradient access for saliency, got {self.name}, which gives "
            f"{self.access.name.lower()}"
        )

    def assume(self, labels: Sequence[str]) -> bool:
        """Take the data's labels where neither model nor user names any; whether that makes sense here."""
        return False

    def settle(self) -> None:  # noqa: B027 - most have nothing to settle
        """Take the usual batch size where none was found."""

    @property
    def identity(self) -> str:
        """Changes when the model changes: part of the cache's key, and of what a resumed run must match."""
        return self._identity or self.name


def require(victim: Victim, needed: Access, why: str) -> None:
    """Say before the start that a protocol needs more than this victim gives."""
    if victim.access < needed:
        raise NotEnoughAccess(
            f"expected a victim with {needed.name.lower()} access for {why}, got {victim.name}, which gives "
            f"{victim.access.name.lower()}"
        )


def softmax(logits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float32)


def sigmoid(logits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -60, 60))), np.float32)


def as_objects(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """An array of things that are arrays or texts themselves."""
    out = np.full(len(values), None, object)
    for at, value in enumerate(values):
        out[at] = value
    return out
