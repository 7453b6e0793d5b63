"""The shapes in which models give answers: what is in a value, before its labels are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..text.dataset import Task
from .base import sigmoid, softmax

Kind = Literal["scores", "labels", "sets", "tags", "texts"]
EMPTY: dict[Kind, tuple[Any, Any]] = {
    "scores": (np.nan, np.float32), "labels": (-1, np.int64), "sets": (False, np.bool_), "tags": (None, object),
    "texts": (None, object),
}  # fmt: skip


class BadAnswer(ValueError):
    """A model's answers have no shape that we know; the message shows what came."""


class Unfit(ValueError):
    """The same for one row."""


def plain(found: Any) -> Any:
    """Arrays of torch, jax and pandas as NumPy's."""
    if hasattr(found, "detach"):
        found = found.detach().cpu().numpy()[()]
    return found.to_numpy() if hasattr(found, "to_numpy") else found


def is_numbers(row: Any, task: Task) -> bool:
    """Scores without names: numbers, unless they are whole and mean labels or the 0 and 1 of a label set."""
    if isinstance(row, float | np.floating):
        return True
    if not isinstance(row, np.ndarray | list | tuple) or not len(row):
        return False
    flat = np.asarray(row, object).ravel()[:1000].tolist()
    if not all(isinstance(v, int | float | np.number) and not isinstance(v, bool | np.bool_) for v in flat):
        return False
    return not (task == "multi" and all(isinstance(v, int | np.integer) for v in flat))


def scored(value: Any) -> list[tuple[Any, Any]] | None:
    """Names with scores: {name: score}, a zero-shot pipeline's answer, or all labels of a Hugging Face pipeline."""
    if isinstance(value, dict):
        if isinstance(value.get("labels"), list) and isinstance(value.get("scores"), list):
            return list(zip(value["labels"], value["scores"], strict=False))
        return None if {"label", "score"} <= set(value) or "label" in value else list(value.items())
    if isinstance(value, list) and len(value) > 1 and all(isinstance(item, dict) for item in value):
        return [(item.get("label"), item.get("score")) for item in value]
    return None


def label_in(value: Any) -> Any:
    return value.get("label") if isinstance(value, dict) else value


def mended(text: str) -> str:
    """Half a character, which JSON can hold, cannot be written to a file."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def stacked(answers: Sequence[Any], kind: Kind | None, labels: int) -> npt.NDArray[Any]:
    """Answers (None where there is none) as one array, of objects as long as their kind is not known."""
    none, dtype = EMPTY[kind] if kind else (None, object)
    out = np.full((len(answers), labels) if kind in ("scores", "sets") else len(answers), none, dtype)
    for at, answer in enumerate(answers):
        if answer is not None:
            out[at] = answer
    return out


def finite(values: Sequence[Any]) -> npt.NDArray[np.float64]:
    """The numbers among some values."""
    found = np.array(
        [v for v in values if isinstance(v, int | float | np.number) and not isinstance(v, bool)], np.float64
    )
    return found[np.isfinite(found)]


class Scale:
    """Whether a model's scores are probabilities or logits: the first that are seen show it, and it stays so."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.probable: bool | None = None

    def settle(self, values: npt.NDArray[np.float64]) -> None:
        if self.probable is None and values.size:
            self.probable = bool((values >= -1e-6).all() and (values <= 1 + 1e-6).all())

    def leaves(self, values: npt.NDArray[np.float64]) -> bool:
        """Whether scores that were in [0, 1] before are not."""
        return bool(self.probable and ((values < -1e-3) | (values > 1 + 1e-3)).any())

    def normal(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        if self.probable:
            return scores.astype(np.float32)
        with np.errstate(all="ignore"):
            return (sigmoid if self.task == "multi" else softmax)(scores)
