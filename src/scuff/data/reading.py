"""Reads labelled data, and answers to it that were made elsewhere: files, Hugging Face data sets, DataFrames, lists."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..specs import some
from ..stores import without_query
from .columns import (
    NO_LABEL,
    Columns,
    check_columns,
    column_names,
    guess_task,
    holds_lists,
    label_columns,
    text_columns,
)
from .dataset import Dataset, Target, Task, Text
from .formats.base import Record, lone_surrogate
from .formats.files import Input
from .formats.nested import lifted
from .formats.streams import BadInput
from .records import HUB, Names, input_file, records_of_file, records_of_hub, records_of_object
from .toy import is_toy, toy_dataset

ANSWERS = ("prediction", "predictions", "predicted", "pred", "answer", "output", "scores", "probabilities")


def read_dataset(data: Any, columns: Columns | None = None) -> Dataset:
    """Returns labelled examples from a file, a Hugging Face data set (id or folder), a DataFrame, a list or toy:...

    Of the embedded data (toy:sentiment, toy:tone, toy:translate) it is the test split, whatever `columns` say.
    """
    if isinstance(data, Dataset):
        return data
    if is_toy(data):
        return toy_dataset(str(data), "test")
    columns = columns or Columns()
    name, names = type(data).__name__, {}  # type: str, Names
    if isinstance(data, str | Path):
        path = str(data)
        if not path:
            raise BadInput("expected the name of a file or a data set, got none")
        # with the folder, since many data sets are called test.csv
        name = "/".join(Path(without_query(path)).parts[-2:]).lstrip("/")
        if path.startswith(HUB) or Path(path).is_dir():
            records, names = records_of_hub(path.removeprefix(HUB), columns.split)
        else:
            records = records_of_file(input_file(path, columns), texts=columns.task == "text")
    else:
        records, names = records_of_object(data, texts=columns.task == "text")
    if not records:
        raise BadInput(f"{name}: expected examples, got none")
    return _Reader(name, records, columns, names).dataset()


class _Reader:
    """The conversion of records into a data set: the columns are found, then every value is checked and converted."""

    def __init__(self, name: str, records: list[Record], columns: Columns, names: Names) -> None:
        named = (*columns.text, *columns.label, *([columns.id] if columns.id else ()))
        records = [lifted(record, named) for record in records]
        self.name, self.records, self.given, self.names = name, records, columns, names
        self.seen = column_names(records)
        others = (*columns.label, columns.id) if columns.task == "text" else None
        self.texts = text_columns(name, self.seen, columns.text, others)
        tokens = holds_lists(records, self.texts[0])
        self.labels = list(columns.label) or label_columns(
            name, self.seen, self.texts, tokens=tokens, needed=columns.task != "text"
        )
        check_columns(name, self.seen, (*self.labels, *([columns.id] if columns.id else ())))
        self.task: Task = columns.task or guess_task(records, self.texts, self.labels)

    def dataset(self) -> Dataset:
        """Converts all records; those without a text or a label are counted in `skipped`."""
        columns: list[list[Text]] = [[] for _ in self.texts]
        targets: list[Target] = []
        ids: list[str] = []
        skipped: Counter[str] = Counter()
        for row, record in enumerate(self.records):
            texts = [self._text(record.get(column), row) for column in self.texts]
            target = self._target(record, row)
            if any(text is None for text in texts) or target is None:
                skipped["no label" if target is None else "no text"] += 1
                continue
            if self.task == "tokens" and len(texts[0] or ()) != len(target):
                raise self._error(row, f"expected a tag per token, got {len(target)} for {len(texts[0] or ())} tokens")
            for column, text in zip(columns, texts, strict=True):
                column.append(text or "" if not isinstance(text, tuple) else text)
            targets.append(target)
            if self.given.id and record.get(self.given.id) is None:
                raise self._error(row, f"expected an id in column {self.given.id!r}, got none")
            ids.append(str(record[self.given.id]) if self.given.id else str(row))
        if not targets:
            raise BadInput(f"{self.name}: expected labelled examples, got {dict(skipped)}")
        if len(set(ids)) < len(ids):
            twice = next(name for name, count in Counter(ids).items() if count > 1)
            raise BadInput(f"{self.name}: expected an id of its own for each example, got {twice!r} more than once")
        known = tuple(self.labels) if len(self.labels) != 1 else self.names.get(self.labels[0], ())
        kept = tuple(map(tuple, columns))
        return Dataset(self.name, self.task, kept, tuple(targets), tuple(ids), tuple(self.texts), dict(skipped), known)

    def _text(self, value: Any, row: int) -> Text | None:
        """Returns a text or its tokens, None if it is missing. Raises BadInput for values of other types."""
        if self._missing(value):
            return None
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str) and lone_surrogate(text):
                raise self._error(row, f"expected Unicode text, got a lone surrogate in {text!r:.60}")
        if self.task == "tokens" and isinstance(value, list | tuple) and all(isinstance(t, str) for t in value):
            return tuple(value)
        if self.task != "tokens" and isinstance(value, str):
            return value
        wanted = "a list of tokens" if self.task == "tokens" else "text"
        raise self._error(row, f"expected {wanted} in column {self.texts[0]!r}, got {value!r:.60}")

    def _missing(self, value: Any) -> bool:
        return value is None or (isinstance(value, float) and math.isnan(value))

    def _target(self, record: Record, row: int) -> Target | None:
        """Returns what the task wants to know of a record, None if it is missing."""
        if not self.labels:
            return ""  # texts without references
        value = record.get(self.labels[0])
        if self.task == "text":
            return value if isinstance(value, str) else "" if self.given.bare and self._missing(value) else None
        if self.task == "single":
            return self._label(value)
        if self.task == "multi" and len(self.labels) > 1:
            marks = {label: self._label(record.get(label)) for label in self.labels}
            on = tuple(label for label, mark in marks.items() if mark and mark.lower() in ("1", "true", "yes"))
            return on if any(mark is not None for mark in marks.values()) else None
        if value != "" and not isinstance(value, list | tuple) and self._label(value) is None:
            return None  # no label; but an empty text is an empty set of labels
        if isinstance(value, str):
            value = self._parts(value)
        if not isinstance(value, list | tuple):
            raise self._error(row, f"expected a list of labels in column {self.labels[0]!r}, got {value!r:.60}")
        if self.task == "multi":
            return tuple(label for label in map(self._label, value) if label is not None)
        tags = [tag if isinstance(tag, str) and tag else self._label(tag) for tag in value]  # "-" is a tag, too
        return None if None in tags else tuple(tag for tag in tags if tag is not None)

    def _parts(self, value: str) -> Sequence[object]:
        """Returns the labels in a text: a JSON list, or separated by commas or bars."""
        if value.lstrip().startswith("["):
            try:
                return list(json.loads(value))
            except ValueError:
                pass
        return [part.strip() for part in value.replace("|", ",").split(",") if part.strip()]

    def _label(self, value: Any) -> str | None:
        """Returns the name of a label, None if it is missing. Numbers become the names that the source has for them."""
        names = self.names.get(self.labels[0])
        if names and isinstance(value, int) and 0 <= value < len(names):
            return names[value]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if str(value) == "-1" and (names or self.task == "multi"):
            return None  # so Hugging Face and Jigsaw mark a missing label; elsewhere it is a class
        label = str(value).strip() if not isinstance(value, bool) else str(value).lower()
        return None if value is None or label.lower() in NO_LABEL else label

    def _error(self, row: int, message: str) -> BadInput:
        return BadInput(f"{self.name}: example {row + 1}: {message}")


def read_predictions(paths: Sequence[str], fields: Sequence[str], task: Task) -> tuple[dict[tuple[Any, ...], Any], str]:
    """Returns the answers in some files by text (or pair of texts), and a name for them.

    fields: the names of the text columns, as in the data. Raises BadInput if two rows have different answers for one text.
    """
    answers: dict[tuple[Any, ...], Any] = {}
    place: dict[tuple[Any, ...], str] = {}
    for path in paths:
        if without_query(path) != path:
            raise BadInput(
                f"{without_query(path)}: expected a URL without a question mark, behind which a key may be, got one with"
            )
        records = [lifted(record, fields) for record in records_of_file(Input(path, labelled=True))]
        seen = list(records[0])
        found = [name for name in ANSWERS if name in seen]
        if len(found) != 1:
            raise BadInput(f"{path}: expected one column of answers ({', '.join(ANSWERS)}), got {some(seen)}")
        lost = [name for name in fields if name not in seen]
        if lost:
            raise BadInput(f"{path}: expected the text column {lost[0]!r}, as in the data, got {some(seen)}")
        for row, record in enumerate(records, 1):
            texts = tuple(tuple(v) if isinstance(v := record.get(name), list) else v for name in fields)
            value = _answer(record.get(found[0]), task)
            if value is None:
                continue
            here = f"row {row} of {path}"
            if answers.setdefault(texts, value) != value:
                raise BadInput(
                    f"{path}: expected one answer for a text, got {answers[texts]!r:.60} in {place[texts]} and {value!r:.60} in "
                    f"{here}: {' / '.join(map(str, texts)):.80}"
                )
            place.setdefault(texts, here)
    if not answers:
        raise BadInput(f"{', '.join(paths)}: expected answers, got none")
    return answers, ",".join(path.rsplit("/", 1)[-1] for path in paths)


def _answer(value: Any, task: Task) -> Any:
    """Returns an answer, None if there is none. A text may hold JSON; an empty one is an empty set of labels, or no answer."""
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
