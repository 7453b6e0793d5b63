"""What a model says, in any of the usual shapes, as Outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..text.dataset import Task
from ..text.ragged import Mask
from .base import OTHER, Outputs, as_objects, sigmoid, softmax

Kind = Literal["scores", "labels", "sets", "tags", "texts"]
LONGEST = 60  # letters of a label's name; what is longer is no label but talk


class BadAnswer(ValueError):
    """A model's answers have no shape that we know; the message shows what came."""


class Reader:
    """Reads the answers of one model. What kind they are shows in the first; it may not change after that."""

    def __init__(self, task: Task, labels: Sequence[str], name: str, assumed: bool = False) -> None:
        self.task, self.labels, self.name = task, tuple(labels), name
        self.unordered = assumed and not all(
            label.isdecimal() for label in labels if label != OTHER
        )  # numbers would mean nothing
        self.number = {label.casefold(): at for at, label in enumerate(labels)}
        self.named = tuple(label for label in labels if label != OTHER)
        self.kind: Kind | None = None
        self.strange = ""  # the last name that is none of the labels
        self.normal: bool | None = None  # whether scores come as probabilities; the first batch shows it

    def read(self, found: Any, count: int) -> Outputs:
        """Answers to `count` rows: an array, a list, or Hugging Face's dicts."""
        found = _plain(found)
        if isinstance(found, list | tuple):
            found = list(map(_plain, found))
        if isinstance(found, dict) and "labels" in found:  # one row of a zero-shot pipeline, not a list
            found = [found]
        if not isinstance(found, np.ndarray | list | tuple) or len(found) != count:
            size = f"{len(found)} answers" if isinstance(found, np.ndarray | list | tuple) else type(found).__name__
            raise BadAnswer(f"expected {count} answers from {self.name}, got {size}")
        kind = self._kind(found)
        if self.kind not in (None, kind):
            raise BadAnswer(f"expected {self.kind} from {self.name}, as before, got {kind}")
        self.kind = kind
        return {
            "scores": self._scores, "labels": self._labels, "sets": self._sets, "tags": self._tags, "texts": self._texts,
        }[kind](found)  # fmt: skip

    def _kind(self, found: Any) -> Kind:
        if self.task == "text":
            return "texts"
        if self.task == "tokens":
            return "tags"
        first = next((row for row in found if row is not None), None)
        if isinstance(first, dict) and {"label", "score"} <= set(first):
            return "sets" if self.task == "multi" else "labels"
        if isinstance(first, dict) or _is_scored(first):
            return "scores"
        if isinstance(first, np.ndarray | list | tuple) and len(first) and not isinstance(first[0], str):
            whole = all(
                isinstance(v, bool | np.bool_) or (isinstance(v, int | np.integer) and v in (0, 1)) for v in first
            )
            return "sets" if self.task == "multi" and whole else "scores"
        if isinstance(first, float | np.floating):
            return "scores"
        return "sets" if self.task == "multi" else "labels"

    def _scores(self, found: Any) -> Outputs:
        rows = [self._score_row(row) for row in found]
        try:
            scores = np.asarray(rows, np.float64)
        except ValueError:
            raise BadAnswer(f"expected as many scores for every text from {self.name}, got {found[0]!r:.80}") from None
        if self.task == "single" and scores.shape[1:] == (1,):
            scores = scores[:, 0]
        if scores.ndim == 1:  # one number: how much it is the second of two labels
            scores = self._both(scores) if self.task == "single" else scores[:, None]
        if self.unordered and not isinstance(found[0], dict) and not _is_scored(found[0]):
            raise self._nameless()
        if scores.shape[1:] not in ((len(self.labels),), (len(self.named),)):
            raise BadAnswer(
                f"expected {len(self.named)} scores from {self.name} ({', '.join(self.named)}), got "
                f"{' x '.join(map(str, scores.shape[1:]))}: {found[0]!r:.80}; name the model's labels in its order with --labels"
            )
        finite: Mask = np.isfinite(scores.sum(axis=1))
        if self.normal is None and finite.any():
            self.normal = bool((scores[finite] >= -1e-6).all() and (scores[finite] <= 1 + 1e-6).all())
            self.normal &= self.task == "multi" or np.allclose(scores[finite].sum(1), 1, atol=1e-3)
        if not self.normal:
            scores = (sigmoid if self.task == "multi" else softmax)(scores).astype(np.float64)
        if scores.shape[1] < len(self.labels):  # nothing was said about other labels
            scores = np.insert(scores, len(self.named), 0.0, axis=1)
        problem = ["" if good else "error: scores that are no numbers" for good in finite.tolist()]
        return Outputs.of(np.where(finite[:, None], scores, np.nan).astype(np.float32), problem)

    def _both(self, second: Any) -> Any:
        """Probabilities of the second label, or its logits where they are none, as those of both."""
        known = second[np.isfinite(second)]
        given = bool((known >= -1e-6).all() and (known <= 1 + 1e-6).all()) if self.normal is None else self.normal
        return np.stack([1 - second if given else np.zeros_like(second), second], 1)

    def _score_row(self, row: Any) -> Any:
        """Numbers in the order of the labels; names with numbers are put into it."""
        if isinstance(row, dict) and "labels" in row:  # Hugging Face's zero-shot pipeline
            row = dict(zip(row["labels"], row["scores"], strict=True))
        if _is_scored(row):
            row = {item["label"]: item["score"] for item in row}
        if not isinstance(row, dict):
            return row
        by_name = {str(name).casefold(): value for name, value in row.items()}
        lost = [label for label in self.named if label.casefold() not in by_name]
        if lost:
            raise BadAnswer(
                f"expected a score for {', '.join(lost)} from {self.name}, got scores for {', '.join(map(str, row))}"
            )
        scores = [by_name[label.casefold()] for label in self.named]
        rest = [value for name, value in by_name.items() if name not in self.number]
        if rest and OTHER in self.labels:  # probabilities add up, logits do not
            scores.append(sum(rest) if all(0 <= value <= 1 for value in by_name.values()) else max(rest))
        return scores

    def _labels(self, found: Any) -> Outputs:
        numbers = [self._number(row["label"] if isinstance(row, dict) else row) for row in found]
        problem = ["" if n is not None else f"unparsed: {row!r:.80}" for n, row in zip(numbers, found, strict=True)]
        return Outputs.of(np.array([-1 if n is None else n for n in numbers], np.int64), problem)

    def _number(self, label: Any) -> int | None:
        if label is None:
            return None
        if isinstance(label, bool | np.bool_):
            label = int(label)
        if isinstance(label, int | np.integer) and str(label) not in self.number:
            if self.unordered:
                raise self._nameless()
            return int(label) if 0 <= label < len(self.named) else self.number.get(OTHER)
        name = str(label).strip()
        other = self.number.get(OTHER) if len(name) <= LONGEST and "\n" not in name else None
        found = self.number.get(name.casefold())
        if found is None:
            self.strange = name
        return other if found is None else found

    def _nameless(self) -> BadAnswer:
        return BadAnswer(
            f"expected names for the labels that {self.name} only numbers, got none: give them in its order with --labels "
            f"(the data has {', '.join(self.named)})"
        )

    def _sets(self, found: Any) -> Outputs:
        out = np.zeros((len(found), len(self.labels)), np.bool_)
        problem = [""] * len(found)
        for at, row in enumerate(found):
            row = row["label"] if isinstance(row, dict) else row
            row = [] if row is None else [row] if isinstance(row, str) else list(row)
            if len(row) == len(self.named) and not any(isinstance(value, str) for value in row):
                if self.unordered:
                    raise self._nameless()
                out[at, : len(row)] = np.array(row, np.float64) > 0.5  # (other) is the last
                continue
            numbers = [self._number(label) for label in row]
            if None in numbers:
                problem[at] = f"unparsed: {row!r:.80}"
            else:
                out[at, [number for number in numbers if number is not None]] = True
        return Outputs.of(out, problem)

    def _tags(self, found: Any) -> Outputs:
        rows = [[self._number(tag["label"] if isinstance(tag, dict) else tag) for tag in row] for row in found]
        return Outputs.of(as_objects([np.array([-1 if n is None else n for n in row], np.int64) for row in rows]))

    def _texts(self, found: Any) -> Outputs:
        rows = [next(iter(row.values()), None) if isinstance(row, dict) else row for row in found]
        problem = ["unparsed: None" if row is None else "" for row in rows]
        return Outputs.of(as_objects([None if row is None else str(row) for row in rows]), problem)


def _plain(found: Any) -> Any:
    """Arrays of torch, jax and pandas as NumPy's."""
    if hasattr(found, "detach"):
        found = found.detach().cpu().numpy()[()]
    return found.to_numpy() if hasattr(found, "to_numpy") else found


def _is_scored(row: Any) -> bool:
    """[{"label": ..., "score": ...}, ...]: what a Hugging Face pipeline gives with top_k=None."""
    return bool(isinstance(row, list) and row and isinstance(row[0], dict) and {"label", "score"} <= set(row[0]))
