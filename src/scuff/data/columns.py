"""Which columns of a table hold the texts and the labels, and the data set that they make."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .dataset import TASKS, Dataset, Target, Task, Text
from .formats.base import GUESSES, Record
from .formats.streams import BadInput
from .reading import records_of_file, records_of_hub, records_of_object

PAIRS = (
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("question", "sentence"),
    ("text_a", "text_b"), ("first", "second"),
)  # fmt: skip

TRANSLATIONS = (("source", "target"), ("src", "tgt"), ("src", "ref"), ("source", "reference"))

TOKENS = ("tokens", "words", "forms")


def column_names(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(key for record in records[:100] for key in record))


def text_columns(name: str, seen: Sequence[str], given: Sequence[str] = ()) -> list[str]:
    """Which columns hold the texts: those that the user says, else by their names."""
    check_columns(name, seen, given)
    if len(given) > 2:
        raise BadInput(f"{name}: expected one text column, or two for sentence pairs, got {', '.join(given)}")
    if given:
        return list(given)
    low = {column.lower(): column for column in seen}
    for group in (*PAIRS, *((token,) for token in TOKENS), *TRANSLATIONS):
        if all(part in low for part in group):
            return [low[part] for part in (group[:1] if group in TRANSLATIONS else group)]
    found = [low[guess] for guess in GUESSES if guess in low]
    if len(found) == 1:
        return found
    raise BadInput(f"{name}: expected --text NAME (twice for sentence pairs), one of: {', '.join(seen)}")


def check_columns(name: str, seen: Sequence[str], wanted: Sequence[str]) -> None:
    for column in wanted:
        if column not in seen:
            raise BadInput(f"{name}: expected a column {column!r}, got {', '.join(seen)}")


TAGS = ("tags", "upos", "pos_tags", "pos", "ner_tags")

LABELS = ("label", "labels", "class", "category", "sentiment", "gold_label", "target", "stars", "rating")

NO_LABEL = ("", "-", "nan")


@dataclass(frozen=True)
class Columns:
    """What the user says about the columns; what is left out is guessed."""

    text: tuple[str, ...] = ()  # two for a sentence pair
    label: tuple[str, ...] = ()  # several: a multilabel table with a 0/1 column per label
    id: str | None = None
    task: Task | None = None
    format: str | None = None
    split: str | None = None


def read_dataset(data: Any, columns: Columns | None = None) -> Dataset:
    """Labelled examples from a file, a Hugging Face data set (id or folder), a DataFrame or a list."""
    if isinstance(data, Dataset):
        return data
    columns = columns or Columns()
    if columns.task and columns.task not in TASKS:
        raise BadInput(f"expected {', '.join(TASKS)} for --task, got {columns.task!r}")
    name, names = type(data).__name__, {}  # type: str, dict[str, tuple[str, ...]]
    if isinstance(data, str | Path):
        path = str(data)
        name = "/".join(Path(path).parts[-2:]).lstrip("/")  # data sets are often called test.csv
        if path.startswith("hf:") or Path(path).is_dir():
            records, names = records_of_hub(path.removeprefix("hf:"), columns.split)
        else:
            records = records_of_file(path, columns.format)
    else:
        records, names = records_of_object(data)
    if not records:
        raise BadInput(f"{name}: expected examples, got none")
    return _Reader(name, records, columns, names).dataset()


class _Reader:
    def __init__(self, name: str, records: list[Record], columns: Columns, names: dict[str, tuple[str, ...]]) -> None:
        self.name, self.records, self.given, self.names = name, records, columns, names
        self.seen = column_names(records)
        self.texts = text_columns(name, self.seen, columns.text)
        self.labels = list(columns.label) or self._guess_labels()
        check_columns(name, self.seen, (*self.labels, *([columns.id] if columns.id else ())))
        self.task: Task = columns.task or self._guess_task()

    def _guess_labels(self) -> list[str]:
        low = {column.lower(): column for column in self.seen if column not in self.texts}
        for first, second in TRANSLATIONS:
            if [column.lower() for column in self.texts] == [first] and second in low:
                return [low[second]]
        for name in (*(TAGS if self._in_tokens() else ()), *LABELS):
            if name in low:
                return [low[name]]
        raise BadInput(f"{self.name}: expected --label NAME, one of: {', '.join(low.values()) or 'no other column'}")

    def _in_tokens(self) -> bool:
        return any(isinstance(record.get(self.texts[0]), list | tuple) for record in self.records[:100])

    def _guess_task(self) -> Task:
        if self._in_tokens():
            return "tokens"
        if (self.texts[0].lower(), self.labels[0].lower()) in TRANSLATIONS:
            return "text"
        lists = any(isinstance(record.get(self.labels[0]), list | tuple) for record in self.records[:100])
        return "multi" if len(self.labels) > 1 or lists else "single"

    def dataset(self) -> Dataset:
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
            again = next(name for name, count in Counter(ids).items() if count > 1)
            raise BadInput(f"{self.name}: expected an id of its own for each example, got {again!r} more than once")
        known = tuple(self.labels) if len(self.labels) > 1 else self.names.get(self.labels[0], ())
        kept = tuple(map(tuple, columns))
        return Dataset(self.name, self.task, kept, tuple(targets), tuple(ids), tuple(self.texts), dict(skipped), known)

    def _text(self, value: Any, row: int) -> Text | None:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str) and not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
                raise self._error(row, f"expected Unicode text, got a lone surrogate in {text!r:.60}")
        if self.task == "tokens" and isinstance(value, list | tuple) and all(isinstance(t, str) for t in value):
            return tuple(value)
        if self.task != "tokens" and isinstance(value, str):
            return value
        wanted = "a list of tokens" if self.task == "tokens" else "text"
        raise self._error(row, f"expected {wanted} in column {self.texts[0]!r}, got {value!r:.60}")

    def _target(self, record: Record, row: int) -> Target | None:
        value = record.get(self.labels[0])
        if self.task == "text":
            return value if isinstance(value, str) else None
        if self.task == "single":
            return self._label(value)
        if self.task == "multi" and len(self.labels) > 1:
            marks = {label: self._label(record.get(label)) for label in self.labels}
            on = tuple(label for label, mark in marks.items() if mark and mark.lower() in ("1", "true", "yes"))
            return on if any(mark is not None for mark in marks.values()) else None
        if value != "" and not isinstance(value, list | tuple) and self._label(value) is None:
            return None  # an empty field of text, though, is an empty set of labels
        if isinstance(value, str):
            value = self._parts(value)
        if not isinstance(value, list | tuple):
            raise self._error(row, f"expected a list of labels in column {self.labels[0]!r}, got {value!r:.60}")
        if self.task == "multi":
            return tuple(label for label in map(self._label, value) if label is not None)
        tags = [tag if isinstance(tag, str) and tag else self._label(tag) for tag in value]  # of tokens, "-" is a tag
        return None if None in tags else tuple(tag for tag in tags if tag is not None)

    def _parts(self, value: str) -> Sequence[object]:
        """A list of labels in a field of text: JSON, or parted by commas or bars."""
        if value.lstrip().startswith("["):
            try:
                return list(json.loads(value))
            except ValueError:
                pass
        return [part.strip() for part in value.replace("|", ",").split(",") if part.strip()]

    def _label(self, value: Any) -> str | None:
        names = self.names.get(self.labels[0])
        if names and isinstance(value, int) and 0 <= value < len(names):
            return names[value]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if str(value) == "-1" and (
            names or self.task == "multi"
        ):  # so written by Hugging Face and Jigsaw; else it is a class
            return None
        label = str(value).strip() if not isinstance(value, bool) else str(value).lower()
        return None if value is None or label.lower() in NO_LABEL else label

    def _error(self, row: int, message: str) -> BadInput:
        return BadInput(f"{self.name}: example {row + 1}: {message}")
