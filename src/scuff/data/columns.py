"""The columns of a table that hold the texts and the labels: as the user names them, else guessed by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..specs import some
from .dataset import TASKS, Task
from .formats.base import GUESSES, Record
from .formats.streams import BadInput

HEAD = 100  # records by which columns are guessed

# column names in lower case: sentence pairs, sources with their translations, lists of tokens, their tags, labels
PAIRS = (
    ("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("question", "sentence"),
    ("text_a", "text_b"), ("first", "second"),
)  # fmt: skip

TRANSLATIONS = (("source", "target"), ("src", "tgt"), ("src", "ref"), ("source", "reference"))

TOKENS = ("tokens", "words", "forms")

TAGS = ("tags", "upos", "pos_tags", "pos", "ner_tags")

LABELS = ("label", "labels", "class", "category", "sentiment", "gold_label", "target", "stars", "rating")

NO_LABEL = ("", "-", "nan")  # values that stand for a missing label


@dataclass(frozen=True)
class Columns:
    """What a user says about the data and its columns; the rest is guessed."""

    text: tuple[str, ...] = ()  # two for a sentence pair
    label: tuple[str, ...] = ()  # several for a multilabel table with a 0/1 column per label
    id: str | None = None
    task: Task | None = None
    format: str | None = None
    split: str | None = None
    delimiter: str | None = None
    no_header: bool = False
    encoding: str | None = None
    bare: bool = False  # of task text: whether rows without a reference are kept, with an empty one

    def __post_init__(self) -> None:
        if self.task and self.task not in TASKS:
            raise BadInput(f"expected {', '.join(TASKS)} for --task, got {self.task!r}")


def column_names(records: Sequence[Record]) -> list[str]:
    """Returns the columns of the first records, in their order."""
    return list(dict.fromkeys(key for record in records[:HEAD] for key in record))


def text_columns(
    name: str, seen: Sequence[str], given: Sequence[str] = (), others: Sequence[str | None] | None = None
) -> list[str]:
    """Returns the columns that hold the texts: those given, else guessed. Raises BadInput if the names do not tell.

    others: columns that hold something else, as the user says, if no label is needed: a sole other one holds the texts.
    """
    check_columns(name, seen, given)
    if len(given) > 2:
        raise BadInput(f"{name}: expected one text column, or two for sentence pairs, got {some(given)}")
    if given:
        return list(given)
    low = {column.lower(): column for column in seen}
    for group in (*PAIRS, *((token,) for token in TOKENS), *TRANSLATIONS):
        if all(part in low for part in group):
            return [low[part] for part in (group[:1] if group in TRANSLATIONS else group)]
    found = [low[guess] for guess in GUESSES if guess in low]
    if not found and others is not None:
        found = [column for column in seen if column not in others]
    if len(found) == 1:
        return found
    raise BadInput(f"{name}: expected --text NAME (twice for sentence pairs), one of: {some(seen)}")


def label_columns(
    name: str, seen: Sequence[str], texts: Sequence[str], *, tokens: bool, needed: bool = True
) -> list[str]:
    """Returns the column that holds the labels, tags or translations, guessed. If no name fits, raises BadInput, or returns [] if
    none is needed.
    """
    low = {column.lower(): column for column in seen if column not in texts}
    for first, second in TRANSLATIONS:
        if [column.lower() for column in texts] == [first] and second in low:
            return [low[second]]
    for label in (*(TAGS if tokens else ()), *LABELS):
        if label in low:
            return [low[label]]
    if not needed:
        return []
    if not low:
        what = "tags" if tokens else "labels"
        raise BadInput(f"{name}: expected a column of {what} beside {some(texts)}, got no other column")
    raise BadInput(f"{name}: expected --label NAME, one of: {some(low.values())}")


def holds_lists(records: Sequence[Record], column: str) -> bool:
    """Whether a column holds lists, such as tokens or label sets, by the first records."""
    return any(isinstance(record.get(column), list | tuple) for record in records[:HEAD])


def guess_task(records: Sequence[Record], texts: Sequence[str], labels: Sequence[str]) -> Task:
    """Returns the task that columns of texts and labels are for."""
    if holds_lists(records, texts[0]):
        return "tokens"
    if (texts[0].lower(), labels[0].lower()) in TRANSLATIONS:
        return "text"
    return "multi" if len(labels) > 1 or holds_lists(records, labels[0]) else "single"


def check_columns(name: str, seen: Sequence[str], wanted: Sequence[str]) -> None:
    """Raises BadInput if a wanted column does not exist."""
    for column in wanted:
        if column not in seen:
            raise BadInput(f"{name}: expected a column {column!r}, got {some(seen)}")
