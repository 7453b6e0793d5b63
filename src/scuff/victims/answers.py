"""What a model says, in any of the usual shapes, as Outputs: one row that does not fit spoils no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text.dataset import Task
from .base import OTHER, Outputs, sigmoid, softmax
from .responses import begin
from .shapes import BadAnswer, Kind, Unfit, is_numbers, label_in, mended, plain, scored, stacked

LONGEST = 60  # letters of a label's name; what is longer is no label but talk
NO_NUMBERS = "error: scores that are no numbers"


class Reader:
    """Reads the answers of one model. What kind they are, and whether scores are logits, shows in the first; it stays so.

    assumed: the labels are those of the data, in no order that the model knows: mere numbers are refused, and a name that is
    none of them is (other), which is wrong for every example. scores: whether scores come; None waits for the first answer.
    """

    def __init__(
        self, task: Task, labels: Sequence[str], name: str, *, assumed: bool = False, scores: bool | None = None
    ) -> None:
        self.task, self.labels, self.name = task, tuple(labels), name
        self.named = tuple(label for label in labels if label != OTHER)
        self.number = {label.strip().casefold(): at for at, label in enumerate(labels)}
        if len(self.number) < len(self.labels):
            raise ValueError(f"expected labels that differ in more than case for {name}, got {', '.join(labels)}")
        self.ordered = not assumed or self.named == tuple(map(str, range(len(self.named))))
        self.kind: Kind | None = "texts" if task == "text" else "tags" if task == "tokens" else None
        if scores is not None:
            if scores and self.kind:
                raise ValueError(f"expected single or multi as the task of {name} for scores, got {task}")
            self.kind = self.kind or ("scores" if scores else "sets" if task == "multi" else "labels")
        self.probable: bool | None = None  # whether scores are in [0, 1]
        self.strange = ""  # the last name that is none of the labels

    def read(self, found: Any, count: int) -> Outputs:
        """Answers to `count` rows from a call: an array, a list, a tensor, a DataFrame."""
        found = plain(found)
        if isinstance(found, dict) and "labels" in found:  # one row of a zero-shot pipeline, not a list
            found = [found]
        if not isinstance(found, np.ndarray | list | tuple) or len(found) != count:
            size = f"{len(found)} answers" if isinstance(found, np.ndarray | list | tuple) else type(found).__name__
            raise BadAnswer(f"expected {count} answers from {self.name}, got {size}")
        rows = [plain(row) for row in found]
        first = next((row for row in rows if row is not None), None)
        if self.task in ("single", "multi") and self.kind in (None, "scores") and is_numbers(first, self.task):
            scores = self._matrix(rows)
            self.kind = "scores"
            return scores
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
        """One answer; Unfit if it is none. `tokens`: how many the text has."""
        kind, answer = self._row(value)
        if answer is None or (kind == "tags" and tokens is not None and len(answer) != tokens):
            wanted = f"expected {tokens} tags, got " if kind == "tags" and answer is not None else ""
            raise Unfit(wanted + begin(value))
        if self.kind not in (None, kind):
            raise Unfit(f"expected {self.kind}, as before, got {begin(value)}")
        self.kind = kind
        return answer

    def outputs(self, answers: Sequence[Any], problems: Sequence[str]) -> Outputs:
        """Answers (None where there is a problem) as one array, of objects as long as the kind is not known."""
        return Outputs.of(stacked(answers, self.kind, len(self.labels)), list(problems))

    def _row(self, value: Any) -> tuple[Kind, Any]:
        if self.task == "text":
            value = next(iter(value.values()), None) if isinstance(value, dict) else value
            return "texts", None if value is None or isinstance(value, list) else mended(str(value))
        if self.task == "tokens":
            tags = (
                [self._number(label_in(tag)) for tag in value] if isinstance(value, list | tuple | np.ndarray) else None
            )
            return "tags", None if tags is None else np.array([-1 if tag is None else tag for tag in tags], np.int64)
        pairs = scored(value)
        if pairs is not None:
            return "scores", self._by_name(pairs, begin(value))
        if is_numbers(value, self.task) and not isinstance(value, float | np.floating):
            only = self._matrix([value])
            return "scores", only.answers[0] if only.answered[0] else None
        if self.task == "multi":
            return "sets", self._set(value)
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            value = value[0]  # Hugging Face's list of the best one
        return "labels", self._number(label_in(value))

    def _matrix(self, rows: list[Any]) -> Outputs:
        """Scores of all rows at once, in the order of the labels."""
        try:
            scores = np.asarray(rows, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise BadAnswer(f"expected as many scores for every text from {self.name}, got {begin(rows[0])}") from None
        finite: Any = np.isfinite(scores).all(axis=tuple(range(1, scores.ndim)))
        self._settle(scores[finite])
        if self.task == "single" and scores.shape[1:] == (1,):
            scores = scores[:, 0]
        if scores.ndim == 1 and self.task == "single":  # one number: how much it is the second of two labels
            scores = np.stack([1 - scores if self.probable else np.zeros_like(scores), scores], 1)
        scores = scores[:, None] if scores.ndim == 1 else scores
        if not self.ordered:
            raise self._nameless()
        if scores.shape[1:] != (len(self.named),):
            raise BadAnswer(
                f"expected {len(self.named)} scores from {self.name} ({', '.join(self.named)}), got "
                f"{' x '.join(map(str, scores.shape[1:]))}: {begin(rows[0])}; name the model's labels in its order with --labels"
            )
        out = np.zeros((len(rows), len(self.labels)), np.float32)
        out[:, : len(self.named)] = self._normal(scores)  # nothing is said about other labels
        out[~finite] = np.nan
        return Outputs.of(out, ["" if good else NO_NUMBERS for good in finite.tolist()])

    def _by_name(self, pairs: list[tuple[Any, Any]], shown: str) -> npt.NDArray[np.float32] | None:
        """Scores that come with names. Of labels that the data does not have the highest counts."""
        try:
            values = np.array([value for _, value in pairs], np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
        if not np.isfinite(values).all() or not pairs or any(isinstance(value, bool | str) for _, value in pairs):
            return None
        self._settle(values)
        numbers = [self._number(name) for name, _ in pairs]
        lost = [label for at, label in enumerate(self.named) if at not in numbers]
        if lost:
            raise Unfit(f"expected a score for {', '.join(lost)}, got {shown}")
        if None in numbers or len(set(numbers) - {len(self.named)}) < len([n for n in numbers if n != len(self.named)]):
            return None
        out = np.zeros(len(self.labels), np.float32)
        for number, value in zip(numbers, self._normal(values[None])[0], strict=True):
            out[number] = max(out[number], value)
        return out

    def _settle(self, values: npt.NDArray[np.float64]) -> None:
        if self.probable is None and values.size:
            self.probable = bool((values >= -1e-6).all() and (values <= 1 + 1e-6).all())

    def _normal(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        if self.probable:
            return scores.astype(np.float32)
        with np.errstate(all="ignore"):
            return (sigmoid if self.task == "multi" else softmax)(scores)

    def _number(self, label: Any) -> int | None:
        """By name; a number that is no name is the place in the labels, where they have an order."""
        if isinstance(label, bool | np.bool_):
            label = int(label)
        if not isinstance(label, str | int | np.integer):
            return None
        name = str(label).strip()
        found = self.number.get(name.casefold())
        if found is not None:
            return found
        if not isinstance(label, str):
            if not self.ordered and not all(known.isdecimal() for known in self.named):
                raise self._nameless()
            if self.ordered and 0 <= label < len(self.named):
                return int(label)
        self.strange = name
        return self.number.get(OTHER) if len(name) <= LONGEST and "\n" not in name else None

    def _set(self, value: Any) -> npt.NDArray[np.bool_] | None:
        value = [] if value is None else [value] if isinstance(value, str | dict) else value
        if not isinstance(value, list | tuple | set | frozenset | np.ndarray):
            return None
        items, out = [label_in(item) for item in value], np.zeros(len(self.labels), np.bool_)
        if len(items) == len(self.named) and all(item in (0, 1) for item in items):  # a 0/1 for every label
            if not self.ordered:
                raise self._nameless()
            out[: len(items)] = np.array(items, np.float64) > 0.5
            return out
        numbers = [self._number(item) for item in items]
        if None in numbers:
            return None
        out[[number for number in numbers if number is not None]] = True
        return out

    def _nameless(self) -> BadAnswer:
        return BadAnswer(
            f"expected names for the labels that {self.name} only numbers, got none: give them in its order with --labels "
            f"(the data has {', '.join(self.named)})"
        )
