"""Columns of spans: (start, stop) of stretches of the text, in the shapes that annotated data has, moved along with edits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Span = tuple[int, int]
Move = Callable[[int, int], Span]

KEYS = (("start", "stop"), ("start", "end"), ("begin", "end"), ("start_char", "end_char"))
START, ANSWER = "answer_start", "text"  # of SQuAD


def read_spans(value: Any, text: str) -> tuple[Span, ...]:
    """Returns the spans of a field. Raises ValueError if it holds something else, or spans that lie outside the text."""
    found: list[Span] = []

    def keep(start: int, stop: int) -> Span:
        if not 0 <= start <= stop <= len(text):
            raise ValueError(f"expected a span inside {len(text)} characters, got {start} to {stop}")
        found.append((start, stop))
        return start, stop

    move_spans(value, keep, text, text)
    return tuple(found)


def move_spans(value: Any, move: Move, old: str, new: str) -> Any:
    """Returns a field in its own shape, with each span moved and the text that it repeats taken from the new text.

    Shapes: [start, stop], a list of such pairs or longer lists ([start, stop, label]), an object with start and stop or end (or
    begin and end, start_char and end_char), a list of objects, an object of lists, SQuAD's answers (text and answer_start), and
    JSON text of any of them. None and "" have no spans.
    """
    if value is None or value == "":
        return value
    if isinstance(value, str):
        parsed = json.loads(value)
        moved = move_spans(parsed, move, old, new)
        return value if moved == parsed else json.dumps(moved, ensure_ascii=False)
    if isinstance(value, Mapping):
        return _object(value, move, old, new)
    if isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)):
        return list(move(*value))
    return [_item(item, move, old, new) for item in _list(value)]


def _item(item: Any, move: Move, old: str, new: str) -> Any:
    if isinstance(item, Mapping):
        return _object(item, move, old, new)
    start, stop, *rest = _list(item)
    return [*move(_number(start), _number(stop)), *rest]


def _object(value: Mapping[str, Any], move: Move, old: str, new: str) -> dict[str, Any]:
    if START in value and ANSWER in value:
        return _answers(value, move, old, new)
    names = next((pair for pair in KEYS if set(pair) <= set(value)), None)
    if names is None:
        raise ValueError(f"expected {' or '.join(f'{a}, {b}' for a, b in KEYS)} in an object, got {', '.join(value)}")
    first, last = (value[name] for name in names)
    if isinstance(first, list):
        pairs = [move(_number(start), _number(stop)) for start, stop in zip(first, _list(last), strict=True)]
        return {**value, names[0]: [start for start, _ in pairs], names[1]: [stop for _, stop in pairs]}
    start, stop = move(_number(first), _number(last))
    again = {"text": new[start:stop]} if value.get("text") == old[first:last] else {}
    return {**value, names[0]: start, names[1]: stop, **again}


def _answers(value: Mapping[str, Any], move: Move, old: str, new: str) -> dict[str, Any]:
    """Moves SQuAD's answers: one, or lists of them."""
    several = isinstance(value[START], list)
    starts, texts = (value[START], _list(value[ANSWER])) if several else ([value[START]], [value[ANSWER]])
    pairs = []
    for start, answer in zip(starts, texts, strict=True):
        if old[_number(start) : start + len(answer)] != answer:
            raise ValueError(f"expected the answer {answer!r} at character {start}, got other text there")
        pairs.append(move(start, start + len(answer)))
    answers = [new[start:stop] for start, stop in pairs]
    if several:
        return {**value, START: [start for start, _ in pairs], ANSWER: answers}
    return {**value, START: pairs[0][0], ANSWER: answers[0]}


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected a list, got {value!r}")
    return list(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> int:
    if not _is_number(value):
        raise ValueError(f"expected a whole number, got {value!r}")
    return int(value)
