"""The inputs of a run: opens its data and its model, and reads the data of a run folder again."""

from __future__ import annotations

from typing import Any

from ..data.columns import Columns
from ..data.dataset import Dataset
from ..data.reading import read_dataset, read_predictions
from ..victims.answers import Read
from ..victims.base import OTHER, Victim
from ..victims.identity import PROBE
from ..victims.open import open_victim
from ..victims.plain import Predictions
from ..victims.query import Query
from ..victims.shielded import Shielded
from ..victims.truth import Truth
from .folder import BadRun, Folder
from .schema import DataFacts, RunFile
from .settings import Settings


def open_data(source: Any, settings: Settings, bare: bool = False) -> Dataset:
    """Returns all examples of the data, before a sample is taken. bare: also texts without a reference."""
    columns = Columns(
        settings.text, settings.label, settings.id, settings.task, settings.format, settings.split, settings.delimiter,
        settings.no_header, settings.encoding, bare,
    )  # fmt: skip
    return read_dataset(source, columns)


def open_model(model: Any, settings: Settings, data: Dataset) -> Victim:
    """Returns the model as a victim. Raises ValueError if it does not fit the task or its labels are not known."""
    labels = settings.labels
    if settings.predictions:
        answers, name = read_predictions(settings.predictions, data.fields, data.task)
        known = labels or (*_named(data, settings), *((OTHER,) if data.task != "text" else ()))
        return Predictions(answers, data.task, known, name=name, assumed=not labels)
    victim = open_victim(model, data.task, labels, dict(settings.options), data_labels=_named(data, settings))
    victim.check_task(data.task)
    if not victim.labels and data.task != "text" and not victim.assume(_named(data, settings)):
        raise ValueError(
            f"expected names for the labels of {victim.name}, got none: give them in its order with --labels"
        )
    object.__setattr__(victim, "steady", True)  # which a frozen dataclass allows
    return Shielded(victim, settings.shield) if settings.shield else victim


def admits_others(victim: Read, query: Query, data: Dataset) -> bool:
    """Asks about a few examples and, unless the model gives scores for all of its labels, adds (other) to them: what it answers
    beside the labels is then wrong, whether the user named them or not. Returns whether it was added.

    They are examples that identity or pre-flight ask about anyway: the query remembers the answers.
    """
    if not victim.may_answer_others:
        return False
    rows = range(min(2, len(data))) if victim.paid else range(0, len(data), max(1, len(data) // PROBE))
    first = query(*data.take(rows).columns)
    if victim.reader.whole:
        return False
    victim.admit_others()
    if first.answers.dtype.kind != "i" or not first.answered.all():
        query.forget()  # it would be read otherwise now
    return True


def _named(data: Dataset, settings: Settings) -> tuple[str, ...]:
    """Returns the labels of the data under the names that the model has for them."""
    return tuple(dict.fromkeys(settings.map.get(label, label) for label in data.labels))


def saved_data(folder: Folder, run: RunFile, settings: Settings) -> tuple[Dataset, Truth]:
    """Returns the examples of a run folder, and their targets as numbers of the victim's labels."""
    about, rows = run["data"], list(folder.examples())
    fields = tuple(about["fields"])

    def plain(value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    columns = tuple(tuple(plain(row["texts"][at]) for row in rows) for at in range(len(fields)))
    targets, ids = tuple(plain(row["target"]) for row in rows), tuple(row["id"] for row in rows)
    data = Dataset(about["name"], about["task"], columns, targets, ids, fields, about["skipped"], tuple(about["known"]))
    if data.digest != about["digest"]:
        raise BadRun(
            f"{folder.path / 'examples.jsonl'}: expected the examples that the run began with, got others: was it edited?"
        )
    return data, Truth.of(data, tuple(run["key"]["labels"]), settings.map, settings.none)


def data_facts(data: Dataset, run: RunFile) -> DataFacts:
    """Returns the entry of summary.json about the data."""
    facts: DataFacts = {"name": data.name, "digest": run["data"]["digest"], "skipped": run["data"]["skipped"]}
    return {**facts, "empty": data.empty} if data.empty else facts
