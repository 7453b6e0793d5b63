"""Formats a success of an attack as one line for a terminal, with its changes marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from ..data.dataset import joined
from ..runs.display import Span, cut, edits_of, in_short, visible
from ..runs.schema import Answer, Edit, Texts

LINE, ANSWER, CHANGE, WORD = 160, 30, 40, 24  # characters of a line, an answer, a change, and beside an edit in a word
MARKS = {"old": ("[-", "-]"), "new": ("{+", "+}"), "kept": ("", "")}
COLOURS = {"old": ("\033[31m", "\033[0m"), "new": ("\033[32m", "\033[0m"), "kept": ("", "")}  # beside the marks

Piece = tuple[str, str]  # "kept", "old" or "new", and the text


def marked_line(
    texts: Texts, edits: list[Edit], before: Answer, after: Answer, colour: bool, width: int | None = None
) -> str:
    """Returns `offensive (0.98) -> neither (0.61)  you [-old-]{+new+} it`: whole words, cut around the changes.

    texts: the original ones; edits: in order; before, after: answers as `display.said` returns them. colour: also colour the
    marked words, never instead of the marks, which everyone can see. Characters that are not printable, which could control the
    terminal, are written as their numbers. width: letters of the line if that is less than LINE; a short one may be a little
    wider, since the changes are always shown.
    """
    head = " -> ".join(cut(visible(in_short(answer)), ANSWER) for answer in (before, after))
    columns = sorted({edit[0] for edit in edits}) or [0]
    room = ((width - 2 if width and width < LINE else LINE) - len(head)) // len(columns)
    shown: list[Piece] = []
    for column in columns:
        pieces = _pieces(joined(texts[column]), edits_of(edits, column))
        shown += [("kept", " | ")] if shown else []
        shown += _fitted([(kind, visible(part)) for kind, part in pieces], room)
    marked = [(kind, part.join(MARKS[kind])) for kind, part in shown if part]
    return f"{head}  " + "".join(part.join(COLOURS[kind]) if colour else part for kind, part in marked)


def _pieces(text: str, edits: Sequence[Span]) -> list[Piece]:
    """Returns what is kept, deleted and inserted, in whole words."""
    out, at = [], 0
    for left, right, inside in _words(text, edits):
        new, done = "", left
        for start, stop, put in inside:
            new, done = new + text[done:start] + put, stop
        out += [("kept", text[at:left]), ("old", text[left:right]), ("new", new + text[done:right])]
        at = right
    return [*out, ("kept", text[at:])]


def _words(text: str, edits: Sequence[Span]) -> list[tuple[int, int, list[Span]]]:
    """Returns the spans that edits change, each with its edits, widened to words where an edit begins or ends inside one."""
    out: list[tuple[int, int, list[Span]]] = []
    for start, stop, new in edits:
        left, right = start, stop
        if _letter(text[start : start + 1]) or _letter(new[:1]):
            while left > max(0, start - WORD) and _letter(text[left - 1]):
                left -= 1
        if _letter(text[max(0, stop - 1) : stop]) or _letter(new[-1:]):
            while right < min(len(text), stop + WORD) and _letter(text[right]):
                right += 1
        inside = [(start, stop, new)]
        if out and left < out[-1][1]:  # in the same word as the edit before
            left, last, before = out.pop()
            right, inside = max(last, right), before + inside
        out.append((left, right, inside))
    return out


def _letter(char: str) -> bool:
    return bool(char) and (char.isalnum() or unicodedata.category(char)[0] == "M" or char in "'’")


def _fitted(pieces: list[Piece], room: int) -> list[Piece]:
    """Returns pieces cut to `room` characters: the changes, and as much of the text beside them as fits."""
    if sum(map(_length, pieces)) <= room:
        return pieces
    pieces = [(kind, part if kind == "kept" else cut(part, CHANGE)) for kind, part in pieces]
    changes = [piece for piece in pieces if piece[0] != "kept"]
    beside = max(8, (room - sum(map(_length, changes))) // max(1, len(changes)))
    out: list[Piece] = []
    used = 0
    for at, (kind, part) in enumerate(pieces):
        if kind == "kept":
            first, last = at == 0, at == len(pieces) - 1
            if len(part) > (beside if first or last else 2 * beside):
                part = ("" if first else part[:beside]) + "…" + ("" if last else part[-beside:])
        elif kind == "old" and at > 1 and used + _length((kind, part)) > room:  # the first change is always shown
            return [*out, ("kept", "…")]
        out.append((kind, part))
        used += _length(out[-1])
    return out


def _length(piece: Piece) -> int:
    """Returns the length of a piece with its marks."""
    kind, part = piece
    return len(part) + 4 * (kind != "kept" and bool(part))
