"""The shapes in which models answer: arrays, names with scores, lists in lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..data.dataset import Task


def plain(found: Any) -> Any:
    """Arrays of torch, jax and pandas as NumPy arrays."""
    if hasattr(found, "detach"):
        found = found.detach().cpu().numpy()[()]
    return found.to_numpy() if hasattr(found, "to_numpy") else found


def is_numbers(row: Any, task: Task) -> bool:
    """Whether a row is scores without names: numbers, but neither a label's number nor the 0 and 1 of a label set."""
    if isinstance(row, float | np.floating):
        return True
    if not isinstance(row, np.ndarray | list | tuple) or not len(row):
        return False
    flat = np.asarray(row, object).ravel()[:1000].tolist()
    if not all(isinstance(v, int | float | np.number) and not isinstance(v, bool | np.bool_) for v in flat):
        return False
    return not (task == "multi" and all(isinstance(v, int | np.integer) for v in flat))


class Pairs(NamedTuple):
    """Names with scores. whole: all labels have one; otherwise they are those that a model finds likeliest."""

    pairs: list[tuple[Any, Any]]
    whole: bool


def scored(value: Any, task: Task) -> Pairs | None:
    """Names with scores: {name: score}, a zero-shot pipeline's answer, or {"label": name, "score": score} of one label, or in a
    list of some or all labels; else None. A single label of task multi is no score, since nothing is known of the others.
    """
    value = unwrapped(value)
    if isinstance(value, dict):
        if isinstance(value.get("labels"), list) and isinstance(value.get("scores"), list):
            return Pairs(list(zip(value["labels"], value["scores"], strict=False)), True)
        if "label" not in value:
            return Pairs(list(value.items()), True)
        value = [value]
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return None
    if len(value) == 1 and (task == "multi" or not _is_share(value[0].get("score"))):
        return None
    return Pairs([(item.get("label"), item.get("score")) for item in value], False)


def unwrapped(value: Any) -> Any:
    """The inner list of Hugging Face's list with a list of labels in it, as servers answer to a single text."""
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) and value[0]:
        if not isinstance(value[0][0], dict | list):
            break
        value = value[0]
    return value


def _is_share(score: Any) -> bool:
    return isinstance(score, int | float | np.number) and not isinstance(score, bool) and bool(0 <= score <= 1)


LEAST = 1e-6  # the score of a label that comes alone, so that it wins even with 0

ALMOST = 0.999  # of a label's score: what another label has at most, if the model did not choose it


def led_by(scores: npt.NDArray[np.float64], winner: Any) -> npt.NDArray[np.float64]:
    """Rows of scores in which the label that the model answered has the highest: higher ones are lowered below it."""
    top = np.take_along_axis(scores, np.asarray(winner)[:, None], 1)
    out = np.minimum(scores, ALMOST * top)
    np.put_along_axis(out, np.asarray(winner)[:, None], top, 1)
    return out


def best_of(value: Any) -> Any:
    """The likeliest of a Hugging Face list of labels; anything else as it is."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return value
    if not all(_is_share(item.get("score")) for item in value):
        return value[0] if len(value) == 1 else value
    return max(value, key=lambda item: item["score"])


def label_in(value: Any) -> Any:
    return value.get("label") if isinstance(value, dict) else value


def mended(text: str) -> str:
    """Replaces half characters, which JSON can hold but no file in UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def finite(values: Sequence[Any]) -> npt.NDArray[np.float64]:
    """The finite numbers among some values."""
    found = np.array(
        [v for v in values if isinstance(v, int | float | np.number) and not isinstance(v, bool)], np.float64
    )
    return found[np.isfinite(found)]
