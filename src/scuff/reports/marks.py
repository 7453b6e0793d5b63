"""Changed text with its changes marked: for a page, and as one line of a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Any

from ..data.dataset import joined
from ..runs.display import in_words, visible


def escaped(text: str) -> str:
    """Escaped; characters without a picture are shown as their numbers, line ends as marks."""
    out = []
    for char in text:
        if char == "\n":
            out.append('<span class="unseen">↵</span>')
        elif unicodedata.category(char) in ("Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp") and char != "\t":
            out.append(f'<span class="unseen">{ord(char):04X}</span>')
        else:
            out.append(escape(char))
    return "".join(out)


def marked(text: str, edits: list[list[Any]], most: int = 600) -> str:
    """A text with what was deleted and inserted; `edits` are (start, stop, new) in order. A long text is cut."""
    out: list[str] = []
    at = shown = 0
    for start, stop, new in edits:
        kept = text[at:start]
        if len(kept) > 160:  # far between changes: keep what stands beside them
            kept = (kept[:60] if out else "") + " … " + kept[-80:]
        out += [escaped(kept), f"<del>{escaped(text[start:stop])}</del>" if stop > start else ""]
        out.append(f"<ins>{escaped(new)}</ins>" if new else "")
        at, shown = stop, shown + len(kept) + stop - start + len(new)
        if shown > most:
            return "".join(out) + " …"
    rest = text[at:]
    return "".join(out) + escaped(rest if len(rest) <= 200 else rest[:160] + " …")


LINE, ANSWER, CHANGE, WORD = 160, 30, 40, 24  # characters of a line, an answer, a change, and beside an edit in a word

MARKS = {"old": ("[-", "-]"), "new": ("{+", "+}"), "kept": ("", "")}

COLOURS = {"old": ("\033[31m", "\033[0m"), "new": ("\033[32m", "\033[0m"), "kept": ("", "")}

Piece = tuple[str, str]  # "kept", "old" or "new", and the text


def marked_line(texts: Sequence[Any], edits: Sequence[Any], before: Any, after: Any, colour: bool) -> str:
    """`offensive (0.98) -> neither (0.61)  you [-old-]{+new+} it`: whole words, cut around the changes.

    texts: the original ones; edits: [column, start, stop, new], in order; before, after: answers as `evaluate.results.said`
    gives them. Nothing in a text can steer the terminal: what has no picture is written as its number.
    """
    head = " -> ".join(_cut(visible(in_short(answer)), ANSWER) for answer in (before, after))
    columns = sorted({edit[0] for edit in edits}) or [0]
    shown: list[Piece] = []
    for column in columns:
        text = joined(texts[column])
        pieces = _pieces(text, [edit[1:] for edit in edits if edit[0] == column])
        shown += [("kept", " | ")] if shown else []
        shown += _fitted([(kind, visible(part)) for kind, part in pieces], (LINE - len(head)) // len(columns))
    marks = COLOURS if colour else MARKS
    return f"{head}  " + "".join(part.join(marks[kind]) for kind, part in shown if part)


def in_short(answer: Any) -> str:
    """An answer with its score; a set without labels and no answer at all have words, too."""
    words = in_words(answer, scores=True)
    return "nothing" if words is None else words or "no label"


def _pieces(text: str, edits: list[Any]) -> list[Piece]:
    out, at = [], 0
    for left, right, inside in _words(text, edits):
        new, done = "", left
        for start, stop, put in inside:
            new, done = new + text[done:start] + put, stop
        out += [("kept", text[at:left]), ("old", text[left:right]), ("new", new + text[done:right])]
        at = right
    return [*out, ("kept", text[at:])]


def _words(text: str, edits: list[Any]) -> list[tuple[int, int, list[Any]]]:
    """The stretches that edits change, widened to words where an edit begins or ends inside one."""
    out: list[tuple[int, int, list[Any]]] = []
    for start, stop, new in edits:
        left, right = start, stop
        if _letter(text[start : start + 1]) or _letter(new[:1]):
            while left > max(0, start - WORD) and _letter(text[left - 1]):
                left -= 1
        if _letter(text[max(0, stop - 1) : stop]) or _letter(new[-1:]):
            while right < min(len(text), stop + WORD) and _letter(text[right]):
                right += 1
        inside = [(start, stop, new)]
        if out and left < out[-1][1]:  # in the same word as the one before
            left, last, before = out.pop()
            right, inside = max(last, right), before + inside
        out.append((left, right, inside))
    return out


def _letter(char: str) -> bool:
    return bool(char) and (char.isalnum() or unicodedata.category(char)[0] == "M" or char in "'’")


def _fitted(pieces: list[Piece], room: int) -> list[Piece]:
    """Changes first, as far as there is room, and as much of what stands beside them as then fits."""
    if sum(map(_length, pieces)) <= room:
        return pieces
    pieces = [(kind, part if kind == "kept" else _cut(part, CHANGE)) for kind, part in pieces]
    changes = [piece for piece in pieces if piece[0] != "kept"]
    beside = max(8, (room - sum(map(_length, changes))) // max(1, len(changes)))
    out: list[Piece] = []
    used = 0
    for at, (kind, part) in enumerate(pieces):
        if kind == "kept":
            first, last = at == 0, at == len(pieces) - 1
            if len(part) > (beside if first or last else 2 * beside):
                part = ("" if first else part[:beside]) + "…" + ("" if last else part[-beside:])
        elif kind == "old" and at > 1 and used + _length((kind, part)) > room:  # a first change is shown in any case
            return [*out, ("kept", "…")]
        out.append((kind, part))
        used += _length(out[-1])
    return out


def _length(piece: Piece) -> int:
    """With its marks, if it has some and is there."""
    kind, part = piece
    return len(part) + 4 * (kind != "kept" and bool(part))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
