"""Which columns hold the texts, by their names."""

from __future__ import annotations

from collections.abc import Sequence

from .records import Record
from .streams import BadInput
from .tables import GUESSES

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
