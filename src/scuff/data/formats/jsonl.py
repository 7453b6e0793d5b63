"""JSON lines. Objects keep the text that they were read from, so that unchanged values stay byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .base import Extra, TableFormat, Value

BLANK = re.compile(r"[ \t\n\r]*")


class JsonLine(NamedTuple):
    """A line, and the object on it."""

    text: str
    fields: dict[str, Any] | None  # None: a blank line
    at: int


class Jsonl(TableFormat):
    """One JSON object per line."""

    def chunks(self) -> Iterator[list[JsonLine]]:
        for lines in self.source.chunks():
            yield [JsonLine(line, self._parse(line, at), at) for at, line in enumerate(lines, self.source.line + 1)]

    def _parse(self, line: str, at: int) -> dict[str, Any] | None:
        if not line.strip():
            return None
        try:
            found = json.loads(line)
        except json.JSONDecodeError as error:
            raise self.source.error(at, f"expected a JSON object, got {error.msg} at character {error.colno}") from None
        except (ValueError, RecursionError) as error:
            raise self.source.error(at, f"expected a JSON object, got: {error}") from None
        if not isinstance(found, dict):
            raise self.source.error(at, f"expected a JSON object, got {type(found).__name__}")
        self.use(list(found))
        return found

    def names(self, record: JsonLine) -> list[str]:
        return list(record.fields or {})

    def values(self, record: JsonLine) -> list[Value]:
        return [self._text(self.field(record, column), column, record.at) for column in self.columns]

    def field(self, record: JsonLine, column: str) -> Any:
        if record.fields is None:
            return None
        if column not in record.fields:
            raise self.source.error(record.at, f"expected a column {column!r}, got {', '.join(record.fields)}")
        return record.fields[column]

    def _text(self, value: Any, column: str, at: int) -> Value:
        if (
            value is None
            or isinstance(value, str)
            or (isinstance(value, list) and all(isinstance(v, str) for v in value))
        ):
            return value
        raise self.source.error(
            at, f"expected text or a list of tokens in column {column!r}, got {type(value).__name__}"
        )

    def changed(self, record: JsonLine, new: dict[str, Value], extra: Extra) -> str:
        spans, end = value_spans(record.text)
        added = "".join(f', "{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in extra.items())
        out = record.text[: end - 1] + added + "}"
        for column in sorted(new, key=lambda column: -spans[column][0]):
            start, stop = spans[column]
            value = json.dumps(
                new[column], ensure_ascii=record.text[start:stop].isascii() and "\\u" in record.text[start:stop]
            )
            out = out[:start] + value + out[stop:]
        return out


def value_spans(line: str) -> tuple[dict[str, tuple[int, int]], int]:
    """Returns the span of each key's value in a line with a valid JSON object, and where the object ends."""
    decode = json.JSONDecoder().raw_decode

    def skip(at: int, marks: str) -> int:
        at = BLANK.match(line, at).end()  # type: ignore[union-attr]
        return BLANK.match(line, at + 1).end() if line[at] in marks else at  # type: ignore[union-attr]

    spans: dict[str, tuple[int, int]] = {}
    at = skip(0, "{")
    while line[at] != "}":
        key, at = decode(line, at)
        start = skip(at, ":")
        _, stop = decode(line, start)
        spans[key] = start, stop
        at = skip(stop, ",")
    return spans, at + 1
