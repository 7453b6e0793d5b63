"""What all tables share: columns by name; new values are put into the line as it was read, the rest stays byte for byte."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from .formats import Extra, Format, Value, line_end
from .streams import BadInput

GUESSES = ("text", "sentence", "comment_text", "comment", "content", "review", "tweet", "body", "question")


class Table(Format):
    """What tables share: columns by name, more of them where a record has several versions."""

    def is_blank(self, record: Any) -> bool:
        return not record.fields

    def line(self, record: Any) -> int:
        return int(record.at)

    def use(self, names: list[str]) -> None:
        """Settle which columns hold the texts."""
        self.columns = list(dict.fromkeys(self.columns)) or [guess_column(names, self.source.name)]

    @abstractmethod
    def changed(self, record: Any, new: dict[str, Value], extra: Extra) -> str:
        """A record, without its line end, with some other values and some more."""

    def render(self, record: Any, values: list[Value], extra: Extra | None) -> str:
        if not record.fields:
            return str(record.text)
        new = {c: v for c, v in zip(self.columns, values, strict=True) if v != self.field(record, c)}
        end = line_end(record.text)
        if not new and not extra:
            return str(record.text) + ("" if end or extra is None else "\n")
        for taken in [name for name in extra or () if name in self.names(record)]:
            raise self.source.error(record.at, f"expected no column {taken!r}, which is to be added, got one")
        return self.changed(record, new, extra or {}) + (end or ("" if extra is None else "\n"))

    @abstractmethod
    def names(self, record: Any) -> list[str]: ...


def guess_column(names: list[str], where: str) -> str:
    """The column that must be the text, or an error that lists what there is."""
    found = [name for name in names if name.lower() in GUESSES]
    if len(names) == 1 or len(found) == 1:
        return (found or names)[0]
    raise BadInput(f"{where}: expected --column NAME, one or more of: {', '.join(names)}")
