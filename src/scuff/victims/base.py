"""`Victim`, a model under test: a batch in, row-aligned `Outputs` out."""

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

Spans = Sequence[tuple[int, int]]  # start and stop of each word in a text

GRADIENT_STEPS = 20  # points between the baseline and the text: each costs a pass through the model

OTHER = "(other)"  # any label that the data does not have, for models whose labels are not known beforehand


class Access(IntEnum):
    """What a victim shows to whoever asks it; each level includes the ones before it."""

    BLIND = 0  # answers that were collected before: nothing new can be asked
    DECISION = 1  # labels, tags or texts
    SCORE = 2  # a score for every label
    GRADIENT = 3  # and how much each word adds to a score


class StopRun(Blameless, RuntimeError):
    """The run must stop, and no example is to blame."""


class NotEnoughAccess(Blameless, ValueError):
    """A protocol needs more than the victim gives."""


@dataclass(frozen=True, eq=False)
class Outputs:
    """Answers to n rows. `problem` is "" or says why a row has none ("refused", "unparsed: ...", "error: ...").

    `answers` is float[n, labels] of scores; int[n] of label numbers; bool[n, labels] of label sets; or, for tags (an int array
    per row) and texts, object[n]. Rows with a problem hold nan, -1, False or None.
    """

    answers: npt.NDArray[Any]
    problem: npt.NDArray[np.object_]

    @classmethod
    def of(cls, answers: npt.NDArray[Any], problem: Sequence[str] | None = None) -> Outputs:
        """Answers as an array, with a problem per row; None: without problems."""
        reasons = np.full(len(answers), "", object)
        if problem is not None:
            reasons[:] = problem
        return cls(answers, reasons)

    @classmethod
    def failed(cls, count: int, reason: str, like: Outputs | None = None) -> Outputs:
        """Rows without answers. like: Outputs whose shape and type they take."""
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
        """Joins parts in their order. Parts that only failed take the shape and type of the others."""
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
    """A model under test. A subclass has a task, labels, access, and `__call__`.

    `labels` are the names of its classes, in the order of its scores; () for task text. Counting, duplicates, caching, batches
    and rows that raise are the work of `Query`.
    """

    name: str  # for people and signatures; open_victim gives one to a victim without
    task: Task
    labels: tuple[str, ...] = ()
    access: Access = Access.DECISION
    cases_at_once: int = 4000  # in a block of a run: many full batches, yet little is lost when the run is killed
    rows_at_once: int = 256  # at most so many rows in a call: full batches that fit into memory
    in_flight: int = 1  # rows that are asked at the same time; fewer rows take as long
    batch_tokens: int | None = 0  # of victims that batch by tokens; None: not measured yet
    _identity: str = ""  # where the name does not identify the model
    holds: Any = None  # the Python object that answers, if there is one: what it holds identifies it, too
    state: Any = None  # what the first answers showed, for another process that asks the same model
    strange: str = ""  # the last answer that is none of the labels
    backend: str = ""  # what computes, such as "cuda float16"; "": PyTorch in float32 on a CPU, or nothing to say
    steady: bool = False  # runs set it: scores must depend on the text alone, not on batches and threads
    hint: str = ""  # how to get more access to it, for messages
    serves: bool = False  # whether workers ask the one that is open, instead of opening their own
    scores_are: str = ""  # what its scores are, if no probabilities: signatures say so
    paid: bool = False  # answers cost and may vary: few are asked only to find out whether it is the same model
    mask: str = ""  # replaces a word that is hidden from it; "": the word is left out
    unknown: str = "[UNK]"  # replaces a word that it shall not know
    reads: int | None = None  # words of a text that it reads at most, see text/reading.py; None: all
    sees_through_files: bool = False  # whether a worker process can open it by the same spec

    @abstractmethod
    def __call__(self, *columns: Column) -> Outputs:
        """Answers n rows. A sentence pair is two columns; a text in tokens is a tuple of strings."""

    def saliency(
        self,
        *columns: Column,
        side: int,
        words: Sequence[Spans],
        weights: Floats,
        steps: int = GRADIENT_STEPS,
        norm: str | None = None,
    ) -> list[Floats]:
        """How much each word of column `side` adds to sum(weights * scores), for victims with gradient access.

        words: of each row's text; texts in tokens have none. weights: float[n, labels]. steps: passes through the model per
        row; more are more exact. norm: "l1" returns the L1 norm of the gradient of the loss of the victim's own answer instead,
        up to a factor for each row, in one pass; `weights` and `steps` say nothing then. It is given only to victims that
        are asked for it.
        """
        raise NotEnoughAccess(
            f"expected a victim with gradient access for saliency, got {self.name}, which gives "
            f"{self.access.name.lower()}"
        )

    def check_task(self, task: Task) -> None:
        """Raises ValueError if the victim is for another task than the data."""
        if self.task != task:
            raise ValueError(f"expected a model for {task} data, got {self.name}, which is for {self.task}")

    def assume(self, labels: Sequence[str]) -> bool:
        """Takes the labels of the data, if neither model nor user names any. Returns whether that makes sense here."""
        return False

    def settle(self) -> None:  # noqa: B027 - most have nothing to settle
        """Takes the usual batch size if none was measured."""

    @property
    def identity(self) -> str:
        """Must change when the model changes: part of the cache's key, and of what a resumed run must match."""
        return self._identity or self.name


def require(victim: Victim, needed: Access, why: str) -> None:
    """Raises NotEnoughAccess if this victim gives less than a protocol needs."""
    if victim.access < needed:
        raise NotEnoughAccess(
            f"expected a victim with {needed.name.lower()} access for {why}, got {victim.name}, which gives "
            f"{victim.access.name.lower()}{victim.hint}"
        )


def softmax(logits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float32)


def sigmoid(logits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -60, 60))), np.float32)


def as_objects(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """An object array of values that may be arrays or texts themselves."""
    out = np.full(len(values), None, object)
    for at, value in enumerate(values):
        out[at] = value
    return out
