"""Answers row by row from JSON of the usual shapes: one row that does not fit spoils no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..text.dataset import Task
from .answers import LONGEST
from .base import OTHER, Outputs
from .responses import begin
from .template import Unfit

Kind = Literal["scores", "labels", "sets", "tags", "texts"]
EMPTY: dict[Kind, tuple[Any, Any]] = {
    "scores": (np.nan, np.float32), "labels": (-1, np.int64), "sets": (False, np.bool_), "tags": (None, object),
    "texts": (None, object),
}  # fmt: skip


class Shapes:
    """Reads what one model says to a row. What kind of answer it gives settles with the first row that is read."""

    def __init__(self, task: Task, labels: Sequence[str], owner: str, scores: bool | None = None) -> None:
        self.task, self.labels = task, tuple(labels)
        self.named = tuple(label for label in labels if label != OTHER)
        self.strange = ""  # the last name that is none of the labels
        self.number = {label.strip().casefold(): at for at, label in enumerate(labels)}
        if (task == "text") == bool(labels):
            wanted = "no labels" if labels else "the names of the labels"
            raise ValueError(f"expected {wanted} for {owner}.labels and task {task}, got {list(labels)}")
        if len(self.number) < len(self.labels):
            raise ValueError(f"expected labels that differ in more than case for {owner}.labels, got {list(labels)}")
        self.kind: Kind | None = "texts" if task == "text" else "tags" if task == "tokens" else None
        if scores and self.kind:
            raise ValueError(f"expected single or multi as {owner}.task for scores, got {task}")
        if scores is not None and not self.kind:
            self.kind = "scores" if scores else "sets" if task == "multi" else "labels"

    def read(self, value: Any, tokens: int | None = None) -> Any:
        """The answer in a value, Unfit if there is none. `tokens`: how many the text has."""
        kind, answer = self._read(value)
        if answer is None or (kind == "tags" and tokens is not None and len(answer) != tokens):
            wanted = f"{tokens} tags, got " if kind == "tags" and answer is not None else ""
            raise Unfit(("expected " + wanted if wanted else "") + begin(value))
        if self.kind not in (None, kind):
            raise Unfit(f"expected {self.kind}, got {begin(value)}")
        self.kind = kind
        return answer

    def outputs(self, answers: Sequence[Any], problems: Sequence[str]) -> Outputs:
        """Answers (None where there is a problem) as one array, of objects as long as the kind is not known."""
        none, dtype = EMPTY[self.kind] if self.kind else (None, object)
        wide = self.kind in ("scores", "sets")
        out = np.full((len(answers), len(self.labels)) if wide else len(answers), none, dtype)
        for at, answer in enumerate(answers):
            if answer is not None:
                out[at] = answer
        return Outputs.of(out, list(problems))

    def _read(self, value: Any) -> tuple[Kind, Any]:
        if self.task == "text":
            return "texts", _mended(value) if isinstance(value, str) else None
        if self.task == "tokens":
            return "tags", self._numbers(value)
        scores = self._scores(value)
        if scores is not None:
            return "scores", scores
        if self.task == "multi":
            return "sets", self._set(value)
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            value = value[0]  # Hugging Face's list of the best one
        label = value.get("label") if isinstance(value, dict) else value
        return "labels", self._number(label)

    def _scores(self, value: Any) -> npt.NDArray[np.float32] | None:
        """Finite numbers, one for each label: in a list, by name, or as Hugging Face writes them."""
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            pairs = [(item.get("label"), item.get("score")) for item in value]
        elif (
            isinstance(value, dict) and isinstance(value.get("labels"), list) and isinstance(value.get("scores"), list)
        ):
            pairs = list(zip(value["labels"], value["scores"], strict=False))  # a zero-shot pipeline
        elif isinstance(value, dict):
            pairs = list(value.items())
        elif isinstance(value, list):
            pairs = list(zip(self.named, value, strict=False)) if len(value) == len(self.named) else []
        else:
            return None
        found: dict[int | None, Any] = {self._number(name): score for name, score in pairs}
        if self.named != self.labels:  # the model may have more labels than the data
            found.setdefault(len(self.named), 0.0)
            pairs = [pair for pair in pairs if self._number(pair[0]) != len(self.named)] + [(OTHER, 0.0)]
        if len(pairs) != len(self.labels) or set(found) != set(range(len(self.labels))):
            return None
        numbers = [found[at] for at in range(len(self.labels))]
        if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
            return None
        try:
            with np.errstate(over="ignore"):
                out = np.array(numbers, np.float64).astype(np.float32)
        except OverflowError:  # a whole number beyond all floats
            return None
        return out if np.isfinite(out).all() else None

    def _number(self, label: Any) -> int | None:
        """By name; a number that is no name is the place in the labels."""
        if not isinstance(label, str | int):
            return None
        name = str(label).strip()
        by_name = self.number.get(name.casefold())
        other = self.number.get(OTHER) if len(name) <= LONGEST and "\n" not in name else None
        if by_name is None:
            self.strange = name
        if by_name is not None or isinstance(label, str):
            return other if by_name is None else by_name
        return int(label) if 0 <= label < len(self.named) else other

    def _numbers(self, value: Any) -> npt.NDArray[np.int64] | None:
        numbers = [self._number(label) for label in value] if isinstance(value, list) else [None]
        return None if None in numbers else np.array(numbers, np.int64)

    def _set(self, value: Any) -> npt.NDArray[np.bool_] | None:
        if isinstance(value, list) and len(value) == len(self.labels) and all(isinstance(item, bool) for item in value):
            return np.array(value, np.bool_)
        numbers = self._numbers([value] if isinstance(value, str) else value)
        if numbers is None:
            return None
        out = np.zeros(len(self.labels), np.bool_)
        out[numbers] = True
        return out


def _mended(text: str) -> str:
    """Half a character, which JSON can hold, cannot be written to a file."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
