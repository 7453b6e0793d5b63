"""Reads a model's answers, in any of the usual shapes, as Outputs; a row that cannot be read gets a problem."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..data.dataset import NONE_NAMES, Task
from ..specs import some
from .base import OTHER, Access, Outputs, Victim, sigmoid, softmax
from .shapes import ALMOST, LEAST, Pairs, best_of, finite, is_numbers, label_in, mended, plain, scored, unwrapped

Kind = Literal["scores", "labels", "sets", "tags", "texts"]

EMPTY: dict[Kind, tuple[Any, Any]] = {
    "scores": (np.nan, np.float32), "labels": (-1, np.int64), "sets": (False, np.bool_), "tags": (None, object),
    "texts": (None, object),
}  # fmt: skip

SHOWN = 100  # characters of an answer that go into a message

NUMBER = re.compile(r"-?\d+")

LONGEST = 60  # letters of a label's name; a longer answer is no label but talk

NO_NUMBERS = "error: scores that are no numbers"


class BadAnswer(ValueError):
    """A model's answers have no known shape; the message shows them."""


class Unfit(ValueError):
    """The answer to one row has no known shape."""


def begin(value: Any) -> str:
    """The beginning of a value on one line that is safe to print."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        text = "something nested too deep"
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * SHOWN]).split())
    return text[:SHOWN]


class Scale:
    """Whether a model's scores are probabilities or logits. The first scores decide."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.probable: bool | None = None

    def settle(self, values: npt.NDArray[np.float64]) -> None:
        """Decides by these scores, if nothing is decided yet."""
        if self.probable is None and values.size:
            self.probable = bool((values >= -1e-6).all() and (values <= 1 + 1e-6).all())

    def leaves(self, values: npt.NDArray[np.float64]) -> bool:
        """Whether scores are outside [0, 1] though the first were inside."""
        return bool(self.probable and ((values < -1e-3) | (values > 1 + 1e-3)).any())

    def normal(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        """The scores as probabilities."""
        if self.probable:
            return scores.astype(np.float32)
        with np.errstate(all="ignore"):
            return (sigmoid if self.task == "multi" else softmax)(scores)


class Names:
    """The labels of a model. assumed: they are those of the data, whose order means nothing to the model.

    If (other) is among them, a name or place that is none of them is (other).
    """

    def __init__(self, labels: Sequence[str], name: str, assumed: bool) -> None:
        self.name, self.labels, self.assumed = name, tuple(labels), assumed
        self.named = tuple(label for label in labels if label != OTHER)
        self.number = {label.strip().casefold(): at for at, label in enumerate(labels)}
        if len(self.number) < len(self.labels):
            raise ValueError(f"expected labels that differ in more than case for {name}, got {some(labels)}")
        self.ordered = not assumed or self.named == tuple(map(str, range(len(self.named))))
        self.strange = ""  # the last name that is none of the labels

    def number_of(self, label: Any) -> int | None:
        """The number of a label, by its name; a number that is no name is a place in the labels, if their order is known."""
        if isinstance(label, bool | np.bool_):
            label = str(bool(label)) if str(bool(label)).casefold() in self.number else int(label)
        if not isinstance(label, str | int | np.integer):
            return None
        name = str(label).strip()
        found = self.number.get(name.casefold())
        if found is not None:
            return found
        if not isinstance(label, str):
            if not all(map(NUMBER.fullmatch, self.named)):
                if not self.ordered:
                    raise self.nameless()
                return int(label) if 0 <= label < len(self.named) else self._other(name)
            # labels that are numbers are names, never places
            if label == 0 and self.named == tuple(map(str, range(1, len(self.named) + 1))):
                raise BadAnswer(f"expected one of {some(self.named)} from {self.name}, got 0: does it count from 0?")
        return self._other(name)

    def _other(self, name: str) -> int | None:
        """The number of (other); None if there is no such label, or the answer is no name but talk."""
        self.strange = name
        return self.number.get(OTHER) if len(name) <= LONGEST and "\n" not in name else None

    def nameless(self) -> BadAnswer:
        """The error for numbers from a model whose order of labels is not known."""
        return BadAnswer(
            f"expected names for the labels that {self.name} only numbers, got none: give them in its order with --labels "
            f"(the data has {some(self.named, 3)})"
        )


class Reader:
    """Reads the answers of one model. The first answer decides of which kind all are, and whether scores are logits.

    labels: if (other) is the last, an answer that is none of the others is (other), which is wrong for every example; otherwise
    such an answer is unparsed. assumed: the labels are those of the data, whose order means nothing to the model: mere numbers
    raise BadAnswer. scores: whether scores come; None: see the first answer.
    """

    def __init__(
        self, task: Task, labels: Sequence[str], name: str, *, assumed: bool = False, scores: bool | None = None
    ) -> None:
        self.task, self.labels, self.name = task, tuple(labels), name
        self.names = Names(labels, name, assumed)
        self.named = self.names.named
        self.kind: Kind | None = "texts" if task == "text" else "tags" if task == "tokens" else None
        if scores is not None:
            if scores and self.kind:
                raise ValueError(f"expected single or multi as the task of {name} for scores, got {task}")
            self.kind = self.kind or ("scores" if scores else "sets" if task == "multi" else "labels")
        self.scale = Scale(task)
        self.whole = False  # whether scores of all labels came, so that it has no others

    def with_labels(self, labels: Sequence[str]) -> Reader:
        """A reader for these labels, with what the answers have decided so far."""
        out = Reader(self.task, labels, self.name, assumed=self.names.assumed)
        out.state = self.state
        return out

    def read(self, found: Any, count: int) -> Outputs:
        """Reads the answers to `count` rows: an array, a list, a tensor, a DataFrame."""
        found = plain(found)
        if isinstance(found, dict) and "labels" in found:  # one row of a zero-shot pipeline, not a list
            found = [found]
        if not isinstance(found, np.ndarray | list | tuple):
            kind = type(found).__name__
            raise BadAnswer(f"expected a list with an answer to each text of a list from {self.name}, got {kind}")
        if len(found) != count:
            raise BadAnswer(f"expected {count} answers from {self.name}, got {len(found)} answers")
        rows = [plain(row) for row in found]
        first = next((row for row in rows if row is not None), None)
        if isinstance(first, float | np.floating) and len(self.named) != 2 and self.task == "single":  # 5.0 stars
            rows = [
                int(row) if isinstance(row, float | np.floating) and float(row).is_integer() else row for row in rows
            ]
            first = next((row for row in rows if row is not None), None)
        if self.task in ("single", "multi") and self.kind in (None, "scores") and is_numbers(first, self.task):
            scores = self._matrix(rows)
            self.kind = "scores"
            return scores
        if self.kind in (None, "scores"):
            named = [[value for _, value in found.pairs] for row in rows if (found := scored(row, self.task))]
            self.scale.settle(finite([value for values in named for value in values]))
        answers: list[Any] = []
        problems = []
        for row in rows:
            try:
                answers.append(self.row(row))
                problems.append("")
            except Unfit as unfit:
                answers.append(None)
                problems.append(f"unparsed: {unfit}")
        if first is not None and not any(answer is not None for answer in answers) and self.kind in (None, "scores"):
            raise BadAnswer(f"{self.name}: {problems[0].removeprefix('unparsed: ')}")
        return self.outputs(answers, problems)

    def row(self, value: Any, tokens: int | None = None) -> Any:
        """Reads one answer. Raises Unfit if it has no known shape. tokens: how many the text has."""
        kind, answer = self._row(value)
        if answer is None or (kind == "tags" and tokens is not None and len(answer) != tokens):
            wanted = f"expected {tokens} tags, got " if kind == "tags" and answer is not None else ""
            raise Unfit(wanted + begin(value))
        if self.kind not in (None, kind):
            raise Unfit(f"expected {self.kind}, as before, got {begin(value)}")
        self.kind = kind
        return answer

    @property
    def state(self) -> list[Any]:
        """What the answers have decided so far, for another process that reads the same model."""
        return [self.kind, self.scale.probable]

    @state.setter
    def state(self, state: list[Any]) -> None:
        self.kind, self.scale.probable = state

    def outputs(self, answers: Sequence[Any], problems: Sequence[str]) -> Outputs:
        """Answers (None where there is a problem) as one array, of objects as long as the kind is not known."""
        none, dtype = EMPTY[self.kind] if self.kind else (None, object)
        wide = self.kind in ("scores", "sets")
        out = np.full((len(answers), len(self.labels)) if wide else len(answers), none, dtype)
        for at, answer in enumerate(answers):
            if answer is not None:
                out[at] = answer
        return Outputs.of(out, problems)

    def _row(self, value: Any) -> tuple[Kind, Any]:
        if self.task == "text":
            value = next(iter(value.values()), None) if isinstance(value, dict) else value
            return "texts", None if value is None or isinstance(value, list) else mended(str(value))
        if self.task == "tokens":
            tags = (
                [self.names.number_of(label_in(tag)) for tag in value]
                if isinstance(value, list | tuple | np.ndarray)
                else None
            )
            return "tags", None if tags is None else np.array([-1 if tag is None else tag for tag in tags], np.int64)
        named = None if self.kind in ("labels", "sets") else scored(value, self.task)
        if named is not None:
            return "scores", self._by_name(named, begin(value))
        if is_numbers(value, self.task) and not isinstance(value, float | np.floating):
            only = self._matrix([value])
            return "scores", only.answers[0] if only.answered[0] else None
        if self.task == "multi":
            return "sets", self._set(unwrapped(value))
        return "labels", self.names.number_of(label_in(best_of(unwrapped(value))))

    def _matrix(self, rows: list[Any]) -> Outputs:
        """Reads the scores of all rows, in the order of the labels."""
        try:
            scores = np.asarray(rows, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise BadAnswer(f"expected as many scores for every text from {self.name}, got {begin(rows[0])}") from None
        good: Any = np.isfinite(scores).all(axis=tuple(range(1, scores.ndim)))
        self.scale.settle(scores[good])
        if self.scale.leaves(scores[good]):
            raise BadAnswer(
                f"expected scores in [0, 1] from {self.name}, as before, got others, such as {begin(rows[0])}"
            )
        if self.task == "single" and scores.shape[1:] == (1,):
            scores = scores[:, 0]
        if scores.ndim == 1 and self.task == "single":  # one number: how much it is the second of two labels
            scores = np.stack([1 - scores if self.scale.probable else np.zeros_like(scores), scores], 1)
        scores = scores[:, None] if scores.ndim == 1 else scores
        if not self.names.ordered:
            raise self.names.nameless()
        if scores.shape[1:] != (len(self.named),):
            raise BadAnswer(
                f"expected {len(self.named)} scores from {self.name} ({some(self.named)}), got "
                f"{' x '.join(map(str, scores.shape[1:]))}: {begin(rows[0])}; name the model's labels in its order with --labels"
            )
        out = np.zeros((len(rows), len(self.labels)), np.float32)
        out[:, : len(self.named)] = self.scale.normal(scores)  # (other) has 0
        self.whole = True
        out[~good] = np.nan
        return Outputs.of(out, ["" if fine else NO_NUMBERS for fine in good.tolist()])

    def _by_name(self, named: Pairs, shown: str) -> npt.NDArray[np.float32] | None:
        """Reads scores that come with names. (other) gets the highest score of the labels that the data does not have.

        Labels that are missing among the likeliest share what is left of 1, but have less than any that is named; in label sets
        they have 0.
        """
        pairs = named.pairs
        try:
            values = np.array([value for _, value in pairs], np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
        if not np.isfinite(values).all() or not pairs or any(isinstance(value, bool | str) for _, value in pairs):
            return None
        self.scale.settle(values)
        if self.scale.leaves(values):
            raise Unfit(f"expected scores in [0, 1], as before, got {shown}")
        numbers = [self.names.number_of(name) for name, _ in pairs]
        lost = [at for at in range(len(self.named)) if at not in numbers]
        if lost and named.whole:
            raise Unfit(f"expected a score for {some(self.named[at] for at in lost)}, got {shown}")
        known = [number for number in numbers if number is not None]
        mine = [number for number in known if number != len(self.named)]
        if len(known) < len(numbers) or len(set(mine)) < len(mine):
            return None
        self.whole = named.whole or not lost
        out = np.zeros(len(self.labels), np.float32)
        likely = self.scale.normal(values[None])[0]
        for number, value in zip(known, likely, strict=True):
            out[number] = max(out[number], value)
        if lost and self.task == "single":
            out[known[0]] = max(out[known[0]], LEAST)  # so that a label that comes alone wins even with a score of 0
            share = max(0.0, 1 - float(likely.sum())) / len(lost)
            out[lost] = min(share, ALMOST * float(likely.min()))
        return out

    def _set(self, value: Any) -> npt.NDArray[np.bool_] | None:
        """Reads a label set: names, numbers, or a 0/1 for every label. None if it holds something else."""
        value = [value] if isinstance(value, str | dict) else value
        if not isinstance(value, list | tuple | set | frozenset | np.ndarray):
            return None
        items, out = [label_in(item) for item in value], np.zeros(len(self.labels), np.bool_)
        if len(items) == len(self.named) and all(item in (0, 1) for item in items):  # a 0/1 for every label
            if not self.names.ordered:
                raise self.names.nameless()
            out[: len(items)] = np.array(items, np.float64) > 0.5
            return out
        if OTHER in self.labels:  # leave out names for no label at all
            items = [
                item
                for item in items
                if str(item).casefold() in self.names.number or str(item).casefold() not in NONE_NAMES
            ]
        numbers = [self.names.number_of(item) for item in items]
        if None in numbers:
            return None
        out[[number for number in numbers if number is not None]] = True
        return out


class Read(Victim):
    """A victim whose answers a Reader reads: the first answer shows whether it gives scores."""

    reader: Reader
    closed: bool = False  # whether it cannot answer anything but its labels

    @property
    def may_answer_others(self) -> bool:
        """Whether it may answer something else than its labels, and there is no (other) among them for that."""
        return bool(self.labels and self.task in ("single", "multi") and OTHER not in self.labels and not self.closed)

    def admit_others(self) -> None:
        """Adds (other) to the labels."""
        if self.may_answer_others:
            self.labels = (*self.labels, OTHER)
            self.reader = self.reader.with_labels(self.labels)

    @property
    def access(self) -> Access:  # type: ignore[override]
        return Access.SCORE if self.reader.kind == "scores" else Access.DECISION

    @property
    def state(self) -> Any:
        return self.reader.state

    @state.setter
    def state(self, state: Any) -> None:
        self.reader.state = state

    @property
    def strange(self) -> str:  # type: ignore[override]
        return self.reader.names.strange
