"""Requests from a template, and the way to the answers in a response."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..text.dataset import Text, joined
from .responses import begin
from .shapes import Unfit

MARK = re.compile(r"\{(texts?|pairs|firsts?|seconds?)\}")
KINDS = ({"text"}, {"texts"}, {"pairs"}, {"first", "second"}, {"firsts", "seconds"})
MANY = {"texts", "pairs", "firsts", "seconds"}
Row = tuple[Text, ...]


class Template:
    """JSON in which strings such as "{texts}" stand for the texts. `batched`: whether a request holds several rows."""

    def __init__(self, request: str, owner: str) -> None:
        try:
            self.value = json.loads(request) if isinstance(request, str) else request
        except ValueError as error:
            raise ValueError(f"expected JSON for {owner}, got {request[:60]!r}: {error}") from None
        strings = list(_strings(self.value))
        found = {mark for string in strings for mark in MARK.findall(string)}
        if found not in KINDS:
            known = ", ".join(" with ".join(f"{{{mark}}}" for mark in sorted(kind)) for kind in KINDS)
            raise ValueError(f"expected one of {known} in {owner}, got {', '.join(sorted(found)) or request[:60]!r}")
        self.batched, self.columns = bool(found & MANY), 1 if found <= {"text", "texts"} else 2
        inside = [string for string in strings if self.batched and MARK.search(string) and not MARK.fullmatch(string)]
        if inside:
            raise ValueError(
                f"expected a list such as {{texts}} as a string of its own for {owner}, got {inside[0][:60]!r}"
            )

    def fill(self, rows: Sequence[Row]) -> Any:
        """The body of a request for these rows: one row where the template is not batched."""
        known: dict[str, Any] = {"texts": [row[0] for row in rows], "text": rows[0][0], "pairs": rows}
        known |= {"firsts": known["texts"], "first": known["text"]}
        known |= {"seconds": [row[-1] for row in rows], "second": rows[0][-1]}
        return _filled(self.value, known)


def in_text(template: str, known: dict[str, Text]) -> str:
    """A text with marks replaced in one go: a mark inside of a replacement is left alone."""
    return re.sub(r"\{(\w+)\}", lambda mark: joined(known[mark[1]]) if mark[1] in known else mark[0], template)


def _filled(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, str):
        whole = MARK.fullmatch(value)
        return known[whole[1]] if whole else in_text(value, known)
    if isinstance(value, list):
        return [_filled(item, known) for item in value]
    return {key: _filled(item, known) for key, item in value.items()} if isinstance(value, dict) else value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


class Way:
    """A path such as predictions.*.label: keys and places in lists, and * for each row.

    Without *, a request of several rows takes what is found as the list of rows, a request of one row as its answer.
    """

    def __init__(self, path: str, owner: str, *, batched: bool) -> None:
        steps = path.split(".") if path else []
        if "" in steps or steps.count("*") > 1:
            raise ValueError(
                f"expected keys and places with dots between, and at most one *, for {owner}, got {path!r}"
            )
        at = steps.index("*") if "*" in steps else len(steps)
        self.to_rows, self.in_row, self.listed = steps[:at], steps[at + 1 :], batched or "*" in steps

    def rows(self, response: Any, count: int) -> list[Any]:
        """What was found for each row; an Unfit for a row, or raised for all of them, where nothing was."""
        found = _follow(response, self.to_rows)
        if not self.listed:
            return [found]
        if not isinstance(found, list) or len(found) != count:
            size = f"{len(found)} in {begin(found)}" if isinstance(found, list) else begin(found)
            raise Unfit(f"expected a list of {count} answers, got {size}")
        out: list[Any] = []
        for row in found:
            try:
                out.append(_follow(row, self.in_row))
            except Unfit as unfit:
                out.append(unfit)
        return out


def _follow(value: Any, steps: Sequence[str]) -> Any:
    at = value
    for step in steps:
        try:
            at = at[int(step)] if isinstance(at, list) else at[step] if isinstance(at, dict) else None
        except (LookupError, ValueError):
            at = None
        if at is None:
            raise Unfit(f"expected something at {'.'.join(steps)}, got {begin(value)}")
    return at
