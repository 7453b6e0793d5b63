"""JSON lines and JSON arrays. Values keep the text that they were read from, so that what does not change stays byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

from .base import Extra, OutputRow, Sink, TableFormat, Value
from .nested import find
from .streams import BadInput, BadRecord, Source

CHUNK = 1 << 21  # characters of a chunk of items

BLANK = re.compile(r"[ \t\n\r]*")

ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)")  # in the text of a JSON string

Spans = dict[str, tuple[int, int]]  # by key or number, where a value begins and ends


class JsonLine(NamedTuple):
    """A line, and the object on it."""

    text: str
    fields: dict[str, Any] | None  # None: a blank line
    at: int
    stays: bool = False  # whether it holds no text, and is written as it was read


class Jsonl(TableFormat):
    """One JSON object per line."""

    alone = False  # whether the file has only one line
    any_usable = False  # whether a record that holds a text was seen

    def chunks(self) -> Iterator[list[JsonLine]]:
        for lines in self.source.chunks():
            self.alone = self.source.line == 0 and not any(map(str.strip, lines[1:]))
            yield [JsonLine(line, self._parse(line, at), at) for at, line in enumerate(lines, self.source.line + 1)]

    def _parse(self, line: str, at: int) -> dict[str, Any] | None:
        if not line.strip():
            return None
        try:
            found = json.loads(line)
        except json.JSONDecodeError as error:
            found = f"{_reason(error)} at character {error.colno}{self._hint(line)}"
            raise self.source.error(at, f"expected a JSON object, got {found}") from None
        except (ValueError, RecursionError) as error:
            raise self.source.error(at, f"expected a JSON object, got: {error}") from None
        if not isinstance(found, dict):
            several = isinstance(found, list) and not self.alone
            hint = ': write an object per line, such as {"text": ...}' if several else self._hint(line)
            raise self.source.error(at, f"expected a JSON object, got {type(found).__name__}{hint}")
        self.use(list(found))
        return found

    def _hint(self, line: str) -> str:
        return " (an array: --format json)" if line.lstrip().startswith("[") else ""

    def names(self, record: Any) -> list[str]:
        return list(record.fields or {})

    def usable(self, records: list[Any], fields: Sequence[str]) -> tuple[list[Any], dict[int, str]]:
        out, wrong = list(records), {}  # type: list[Any], dict[int, BadRecord]
        for row, record in enumerate(records):
            try:
                self.values(record)
                for name in fields:
                    self.field(record, name)
            except BadRecord as error:
                wrong[row], out[row] = error, record._replace(stays=True)
            else:
                self.any_usable = self.any_usable or record.fields is not None
        if wrong and not self.any_usable and not self.begun:  # the name of a column is wrong, not a record
            raise next(iter(wrong.values()))
        places = {row: str(self.source.error(records[row].at, "")) for row in wrong}
        return out, {row: str(error).removeprefix(places[row]) for row, error in wrong.items()}

    def values(self, record: Any) -> list[Value]:
        return [self._text(self.field(record, column), column, record.at) for column in self.columns]

    def field(self, record: Any, column: str) -> Any:
        if record.fields is None or record.stays:
            return None
        if column in record.fields:
            return record.fields[column]
        try:
            return find(record.fields, column)
        except KeyError:
            found = ", ".join(record.fields)
            raise self._bad_record(record.at, f"expected a column {column!r}, got {found}") from None

    def _text(self, value: Any, column: str, at: int) -> Value:
        """Returns a text or a list of tokens; None for null and for NaN, which others write for a missing value."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(token, str) for token in value):
            return value
        if isinstance(value, float) and value != value:
            return None
        raise self._bad_record(
            at, f"expected text or a list of tokens in column {column!r}, got {type(value).__name__}"
        )

    def _bad_record(self, at: int, message: str) -> BadRecord:
        return BadRecord(str(self.source.error(at, message)))

    def changed(self, record: Any, new: dict[str, Value], extra: Extra) -> str:
        spans, end = value_spans(record.text)
        added = "".join(f', "{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in extra.items())
        out = record.text[: end - 1] + added + "}"
        places = [(spans[name] if name in spans else span_inside(record.text, name), name) for name in new]
        for (start, stop), name in sorted(places, reverse=True):
            out = out[:start] + rewritten(record.text[start:stop], new[name]) + out[stop:]
        return out


class JsonItem(NamedTuple):
    """An item of an array."""

    text: str
    fields: dict[str, Any] | None  # None: null
    at: int  # its line
    lead: str  # what stands between the item before it and this one
    stays: bool = False


class JsonArray(Jsonl):
    """One JSON array, of objects, or of strings or lists of tokens, which then are in a column without a name."""

    bare: bool | None = None  # whether the items are not objects; None: not known yet
    prefix, tail = "[", "]\n"

    def chunks(self) -> Iterator[list[Any]]:
        chunk: list[JsonItem] = []
        size = 0
        for item in self._items():
            chunk.append(item)
            size += len(item.text)
            if size > CHUNK:
                yield chunk
                chunk, size = [], 0
        yield chunk

    def _items(self) -> Iterator[JsonItem]:
        """Yields the items as soon as they are read, so that memory does not grow with the array."""
        scan, first = _Scanner(self.source), True
        if scan.mark() != "[":
            raise scan.error("expected a JSON array", scan.mark())
        scan.at += 1
        self.prefix = scan.taken()
        while (mark := scan.mark()) != "]":
            if not first and mark != ",":
                raise scan.error("expected , or ] after an item of a JSON array", mark)
            scan.at += not first
            scan.mark()
            lead, line = scan.taken(), scan.line
            value = scan.value()
            yield JsonItem(scan.taken(), self._fields(value, line), line, lead)
            first = False
        scan.at += 1
        if mark := scan.mark():
            raise scan.error("expected nothing after a JSON array", mark)
        self.tail = scan.taken()

    def _fields(self, value: Any, line: int) -> dict[str, Any] | None:
        """Returns an item as a record. Raises BadInput for numbers, and for items of two kinds."""
        if value is None:
            return None
        bare = not isinstance(value, dict)
        if bare and not isinstance(value, str | list):
            raise self.source.error(line, f"expected objects or texts in a JSON array, got {type(value).__name__}")
        if self.bare not in (None, bare):
            raise self.source.error(
                line, f"expected items of one kind in a JSON array, got {type(value).__name__}, too"
            )
        if bare and self.columns not in ([], [""]):
            raise self.source.error(
                line, f"expected objects with a column {self.columns[0]!r}, got {type(value).__name__}"
            )
        self.bare = bare
        self.use([""] if bare else list(value))
        return {"": value} if bare else value

    def render(self, record: JsonItem, values: list[Value], extra: Extra | None) -> str:
        if not self.bare:
            return super().render(record, values, extra).removesuffix("\n")  # which a line would need
        if record.fields is None or values[0] == record.fields[""]:
            return record.text
        return rewritten(record.text, values[0])

    def head(self, extra: Iterable[str]) -> str:
        return self.prefix

    def sink(self, out: IO[bytes], extra: Mapping[str, type] | None = None) -> Sink:
        return JsonSink(self, out, extra or {})


class JsonSink(Sink):
    """A writer of an array: what stood between the items stands there again."""

    format: JsonArray
    empty = True

    def write_rows(self, rows: Sequence[OutputRow]) -> None:
        parts = []
        for record, values, extra in rows:
            lead = record.lead if "," in record.lead else f",{record.lead}"  # that of the first item has none
            parts += [lead.replace(",", "") if self.empty else lead, self.format.render(record, values, extra)]
            self.empty = False
        self._begin()
        self.put("".join(parts))

    def close(self) -> None:
        self._begin()
        self.put(self.format.tail)


def _reason(error: json.JSONDecodeError) -> str:
    """Returns why a text is no JSON, without the preposition that some messages end in."""
    return error.msg.removesuffix(" at")


class _Scanner:
    """A place in a JSON text that is read piece by piece."""

    def __init__(self, source: Source) -> None:
        self.source, self.pieces = source, source.pieces()
        self.text, self.begin, self.at = "", 0, 0  # `begin`: up to where text was taken
        self.line, self.column = 1, 0  # of `begin`
        self.decode = json.JSONDecoder().raw_decode

    def mark(self) -> str:
        """Moves over blanks. Returns the next character, none at the end."""
        while True:
            self.at = BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text) or not self._more():
                return self.text[self.at : self.at + 1]

    def taken(self) -> str:
        """Returns what was moved over since the last call."""
        out = self.text[self.begin : self.at]
        self.column = self._column(self.at)
        self.line, self.begin = self.line + out.count("\n"), self.at
        return out

    def _column(self, at: int) -> int:
        """Returns how many characters stand before a place in its line."""
        end = self.text.rfind("\n", self.begin, at)
        return at - end - 1 if end >= 0 else self.column + at - self.begin

    def value(self) -> Any:
        """Moves over a value and returns it. Raises BadInput if there is none."""
        while True:
            try:
                value, stop = self.decode(self.text, self.at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos > len(self.text) - 10
                behind = error.pos - self.begin
                if not cut or not self._more():
                    at = self.begin + behind  # which reading more may have moved
                    line = self.line + self.text.count("\n", self.begin, at)
                    found = f"{_reason(error)} at character {self._column(at) + 1}"
                    raise self.source.error(line, f"expected JSON, got: {found}") from None
                continue
            except (ValueError, RecursionError) as error:
                raise self.source.error(self.line, f"expected JSON, got: {error}") from None
            if stop < len(self.text) or not self._more():  # a number that ends where the piece ends may go on
                self.at = stop
                return value

    def error(self, expected: str, found: str) -> BadInput:
        line = self.line + self.text.count("\n", self.begin, self.at)
        return self.source.error(line, f"{expected}, got {repr(found) if found else 'the end of the file'}")

    def _more(self) -> bool:
        """Reads another piece. Returns whether there was one."""
        piece = next(self.pieces, None)
        self.text, self.at, self.begin = self.text[self.begin :] + (piece or ""), self.at - self.begin, 0
        return piece is not None


def value_spans(text: str, at: int = 0) -> tuple[Spans, int]:
    """Returns the span of each value of the valid JSON object or array at a place of a text, and where that ends."""
    decode = json.JSONDecoder().raw_decode

    def skip(at: int, marks: str) -> int:
        at = BLANK.match(text, at).end()  # type: ignore[union-attr]
        return BLANK.match(text, at + 1).end() if text[at] in marks else at  # type: ignore[union-attr]

    spans: Spans = {}
    at = BLANK.match(text, at).end()  # type: ignore[union-attr]
    keyed = text[at] == "{"
    at = skip(at, "{[")
    while text[at] not in "}]":
        key = str(len(spans))
        if keyed:
            key, at = decode(text, at)
        start = skip(at, ":") if keyed else at
        _, stop = decode(text, start)
        spans[key] = start, stop
        at = skip(stop, ",")
    return spans, at + 1


def span_inside(text: str, column: str) -> tuple[int, int]:
    """Returns where the field at that path stands in a valid JSON object."""
    span = (0, len(text))
    for part in column.split("."):
        span = value_spans(text, span[0])[0][part]
    return span


def rewritten(old: str, new: Value) -> str:
    """Returns a new text or new tokens as JSON, spelt like the old: its escapes are used again, other tokens stay."""
    if isinstance(new, list) and len(spans := value_spans(old)[0]) == len(new):
        for (start, stop), token in reversed(list(zip(spans.values(), new, strict=True))):
            if json.loads(old[start:stop]) != token:
                old = old[:start] + rewritten(old[start:stop], token) + old[stop:]
        return old
    ascii_only = old.isascii() and "\\u" in old
    plain = json.dumps(new, ensure_ascii=ascii_only)
    if not isinstance(new, str) or "\\" not in old:
        return plain
    spelt = {json.loads(f'"{escape}"'): escape for escape in ESCAPE.findall(old)}
    usual = {char: json.dumps(char, ensure_ascii=ascii_only)[1:-1] for char in set(new)}
    if all(usual.get(char, escape) == escape for char, escape in spelt.items()):
        return plain
    return '"' + "".join([spelt.get(char, usual[char]) for char in new]) + '"'
