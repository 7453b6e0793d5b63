"""Fields inside other fields: `a.b.text` is the field text of b of a, `turns.0.text` that of the first of some turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def find(fields: Mapping[str, Any], column: str) -> Any:
    """Returns the field of that name or, if there is none, the one at that path; None below a null. Raises KeyError."""
    if column in fields:
        return fields[column]
    value: Any = fields
    for part in column.split("."):
        if value is None:
            return None
        value = _inner(value, part)
    return value


def _inner(value: Any, part: str) -> Any:
    if isinstance(value, Mapping) and part in value:
        return value[part]
    if isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    raise KeyError(part)


def replaced(fields: Mapping[str, Any], column: str, value: Any) -> dict[str, Any]:
    """Returns a copy of a record with another value in the field of that name or path; the rest is shared."""
    if column in fields or "." not in column:
        return {**fields, column: value}
    out: dict[str, Any] = _replaced(fields, column.split("."), value)
    return out


def _replaced(inside: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    new = _replaced(_inner(inside, path[0]), path[1:], value)
    if isinstance(inside, Mapping):
        return {**inside, path[0]: new}
    return [new if at == int(path[0]) else item for at, item in enumerate(inside)]


def lifted(record: dict[str, Any], columns: Iterable[str]) -> dict[str, Any]:
    """Returns a record that has the fields at these paths under the path as their name, too."""
    new = {}
    for column in columns:
        if column not in record and "." in column:
            try:
                new[column] = find(record, column)
            except KeyError:
                continue
    return {**record, **new} if new else record
