"""Answers collected anywhere: a table that has the texts and what the model said to each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..text.dataset import Task
from .records import records_of_file
from .streams import BadInput

NAMES = ("prediction", "predictions", "predicted", "pred", "answer", "output", "scores", "probabilities")


def read_predictions(paths: Sequence[str], fields: Sequence[str], task: Task) -> tuple[dict[tuple[Any, ...], Any], str]:
    """By text (or pair of texts) the answer; `fields` are the names of the text columns. Also a name for all of it."""
    answers: dict[tuple[Any, ...], Any] = {}
    for path in paths:
        records = records_of_file(path)
        seen = list(records[0])
        found = [name for name in NAMES if name in seen]
        if len(found) != 1:
            raise BadInput(f"{path}: expected one column of answers ({', '.join(NAMES)}), got {', '.join(seen)}")
        lost = [name for name in fields if name not in seen]
        if lost:
            raise BadInput(f"{path}: expected the text column {lost[0]!r}, as in the data, got {', '.join(seen)}")
        for record in records:
            texts = tuple(tuple(v) if isinstance(v := record.get(name), list) else v for name in fields)
            value = _value(record.get(found[0]), task)
            if value is not None:
                answers[texts] = value
    if not answers:
        raise BadInput(f"{', '.join(paths)}: expected answers, got none")
    return answers, ",".join(path.rsplit("/", 1)[-1] for path in paths)


def _value(value: Any, task: Task) -> Any:
    """Lists and dicts may be JSON in a field of text; an empty field is no answer, except where it is an empty set of labels."""
    if isinstance(value, str) and task != "text":
        if value.lstrip()[:1] in ("[", "{"):
            try:
                return json.loads(value)
            except ValueError:
                return value
        if not value.strip():
            return [] if task == "multi" else None
        if task == "multi":
            return [part.strip() for part in value.replace("|", ",").split(",")]
    return value
