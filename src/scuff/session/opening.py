"""A model and data by the names or objects that the user gives."""

from __future__ import annotations

from typing import Any

from ..files.dataset import Columns, read_dataset
from ..files.predictions import read_predictions
from ..text.dataset import Dataset, Task
from ..victims import Predictions, Victim, open_victim
from ..victims.base import OTHER
from .common import Settings


def open_data(source: Any, config: Settings) -> Dataset:
    """All examples, before a sample is taken."""
    columns = Columns(config.text, config.label, config.id, config.task, config.format, config.split)
    return _toy(source) or read_dataset(source, columns)


def open_model(model: Any, config: Settings, data: Dataset) -> Victim:
    labels = config.labels
    if config.predictions:
        answers, name = read_predictions(config.predictions, data.fields, data.task)
        known = labels or (*_named(data, config), *((OTHER,) if data.task != "text" else ()))
        return Predictions(answers, data.task, known, name=name, assumed=not labels)
    victim = open_victim(
        model, data.task, labels or _assumed(str(model), _named(data, config), data.task), dict(config.options)
    )
    if victim.task != data.task:
        raise ValueError(f"expected a model for {data.task} data, got {victim.name}, which is for {victim.task}")
    if not victim.labels and data.task != "text" and not victim.assume(_named(data, config)):
        raise ValueError(
            f"expected names for the labels of {victim.name}, got none: give them in its order with --labels"
        )
    return victim


def _named(data: Dataset, config: Settings) -> tuple[str, ...]:
    """The labels of the data as the model calls them."""
    return tuple(dict.fromkeys(config.map.get(label, label) for label in data.labels))


def _assumed(model: str, labels: tuple[str, ...], task: Task) -> tuple[str, ...]:
    """Endpoints do not tell their labels: those of the data are what they are read with, and any other is a wrong answer."""
    if model.startswith("chat:") and len(labels) < 2:
        raise ValueError(f"expected --labels to ask for, got one label in the data: {', '.join(labels)}")
    if model.startswith(("http:", "https:")) and task != "text":
        return (*labels, OTHER)
    return labels if model.startswith("chat:") else ()


def _toy(source: Any) -> Dataset | None:
    """The embedded data: toy:sentiment or toy:tone."""
    if not isinstance(source, str) or not source.startswith("toy:"):
        return None
    from ..victims.toy import toy_data

    texts, targets = toy_data(source.removeprefix("toy:"), "test")
    ids = tuple(map(str, range(len(texts))))
    return Dataset(source, "single" if isinstance(targets[0], str) else "multi", (tuple(texts),), tuple(targets), ids)
