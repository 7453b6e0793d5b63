"""Victims without a library of ours: any Python callable, scikit-learn pipelines, answers collected in a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.dataset import Task
from ..text.ragged import Floats
from .answers import Read, Reader
from .base import OTHER, Access, Column, Outputs
from .shapes import led_by


class Plain(Read):
    """A callable that takes a list of texts (two lists for pairs); returns scores, logits, labels, label sets, tags or texts."""

    def __init__(
        self,
        ask: Callable[..., Any],
        task: Task,
        labels: Sequence[str],
        *,
        name: str = "",
        identity: str = "",
        holds: Any = None,
    ) -> None:
        """`labels` may be () if the answers name them: see `assume`. holds: the object that answers, by default `ask`."""
        self.ask, self.task, self.labels = ask, task, tuple(labels)
        self.name = name or f"{getattr(ask, '__module__', '')}:{getattr(ask, '__qualname__', type(ask).__name__)}"
        self._identity, self.holds = identity, ask if holds is None else holds
        self.reader = Reader(task, self.labels, self.name)

    def assume(self, labels: Sequence[str]) -> bool:
        """Takes these names if the user gave none. Answers that are names are fine then; mere numbers raise BadAnswer."""
        self.labels = (*labels, OTHER)
        self.reader = Reader(self.task, self.labels, self.name, assumed=True)
        return True

    def __call__(self, *columns: Column) -> Outputs:
        lists = [[list(text) if isinstance(text, tuple) else text for text in column] for column in columns]
        return self.reader.read(self.ask(*lists), len(columns[0]))


def of_sklearn(model: Any, task: Task, labels: Sequence[str], name: str = "", identity: str = "") -> Plain:
    """A fitted scikit-learn pipeline that takes texts: asked for probabilities if it has them, else for margins (an SVM), else
    for labels.

    labels: the user's names for its classes, in its order; () takes its own.
    """
    classes = [str(label) for label in getattr(model, "classes_", [])]
    names = list(labels) or classes
    called = dict(zip(classes, names, strict=False))
    scores = getattr(model, "predict_proba", None)
    margins = None if scores else _margins_of(model, task, len(classes))

    def ask(texts: list[str]) -> Any:
        if margins is not None:
            return margins(texts)
        if scores is None:
            found = model.predict(texts)
            return found if task == "multi" else [called.get(str(label), str(label)) for label in found]
        found = scores(texts)
        return np.stack([part[:, 1] for part in found], 1) if isinstance(found, list) else found

    plan = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(model))  # the address of a function differs in the next process
    victim = Plain(
        ask,
        task,
        names,
        name=name or f"sklearn:{type(model).__name__}",
        identity=f"{identity or name}:{plan}",
        holds=model,
    )
    victim.closed = bool(classes)
    victim.scores_are = "margins" if margins else ""
    return victim


def squashed(margins: npt.NDArray[Any]) -> Floats:
    """Margins as scores: 0.5 + 0.5 m / (1 + |m|), which rises with m, is 0.5 at 0 and never saturates as a sigmoid does.

    They are no probabilities. Each label's texts keep their order, and so does each text's labels.
    """
    m = np.asarray(margins, np.float64)
    return np.asarray(0.5 + 0.5 * m / (1 + np.abs(m)))


def _margins_of(model: Any, task: Task, classes: int) -> Callable[[list[str]], Any] | None:
    """What turns texts into scores by a model's decision_function; None if it has none, or one that is not by class."""
    decide = getattr(model, "decision_function", None)
    options = model.get_params(deep=True) if hasattr(model, "get_params") else {}
    names = {key.rpartition("__")[2]: value for key, value in options.items()}
    if decide is None or not classes or names.get("decision_function_shape") == "ovo":
        return None

    def ask(texts: list[str]) -> Any:
        scores = squashed(decide(texts))
        if task == "single" and scores.ndim == 1:  # above 0 for the second of two classes
            return np.stack([1 - scores, scores], 1)
        scores = scores[:, None] if scores.ndim == 1 else scores
        if task == "single" and "break_ties" in names and not names["break_ties"]:
            # an SVC answers by votes, which its margins need not follow
            number = {label: at for at, label in enumerate(model.classes_.tolist())}
            scores = led_by(scores, [number[label] for label in np.asarray(model.predict(texts)).tolist()])
        return scores

    return ask


class Predictions(Read):
    """A table from texts to answers that were collected before. Texts that it does not hold get the problem "unanswered"."""

    access = Access.BLIND

    def __init__(
        self,
        answers: dict[tuple[Any, ...], Any],
        task: Task,
        labels: Sequence[str],
        *,
        name: str,
        assumed: bool = False,
    ) -> None:
        """assumed: the order of the labels is not known, so answers that are mere numbers raise BadAnswer."""
        self.answers, self.task, self.labels, self.name = answers, task, tuple(labels), f"predictions:{name}"
        self.reader = Reader(task, self.labels, self.name, assumed=assumed)

    @cached_property
    def identity(self) -> str:
        each = sorted(sha256(repr(item).encode("utf-8", "surrogatepass")).digest() for item in self.answers.items())
        return f"{self.name}:{sha256(b''.join(each)).hexdigest()}"

    def __call__(self, *columns: Column) -> Outputs:
        keys = list(zip(*columns, strict=True))
        known = [key for key in keys if key in self.answers]
        if not known:
            return Outputs.failed(len(keys), "unanswered")
        found = self.reader.read([self.answers[key] for key in known], len(known))
        place = np.full(len(keys), -1, np.int64)
        place[[at for at, key in enumerate(keys) if key in self.answers]] = np.arange(len(known))
        none = Outputs.failed(1, "unanswered", found)
        return Outputs.join([found, none]).take(place)
