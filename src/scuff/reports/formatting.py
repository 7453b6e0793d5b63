"""Formats numbers, cells and paragraphs for tables and pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import fill

from ..runs.display import visible
from ..runs.schema import Estimate, WorstAlone

WIDE = 130  # letters of a line
UNKNOWN: Estimate = {"value": None, "interval": [None, None]}
VALUE = r"""\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[-+.\w]+)\s*"""
LONG_LIST = re.compile(rf"[(\[]({VALUE}(?:,{VALUE}){{3,}}),?\s*[)\]]")  # of four values or more


def percent(value: float | None, digits: int = 1) -> str:
    """Returns a share in percent, as the papers print it: 82.7; a dash for None."""
    return "-" if value is None else f"{100 * value:.{digits}f}"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def spread(entry: Estimate) -> str:
    """Returns a value with its interval: 82.7 [80.1, 85.0]."""
    low, high = entry["interval"]
    return f"{percent(entry['value'])} [{percent(low)}, {percent(high)}]"


def alone(entry: WorstAlone) -> Estimate:
    """Returns the worst score of a degree alone; nothing known for summaries of older versions, which do not have it."""
    return entry.get("worst_alone", UNKNOWN)


def many(count: int, one: str, more: str = "") -> str:
    """Returns a count with its noun: 1 query, 2 queries."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def wrapped(text: str, label: str = "", width: int | None = None) -> str:
    """Returns a paragraph with lines of at most WIDE letters, with a label in front or else its later lines indented.

    width: letters of a line if that is less than WIDE.
    """
    start, indent = (f"{label:14}", " " * 14) if label else ("", "  ")
    room = min(width or WIDE, WIDE)
    return fill(start + text, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def folded(rows: list[list[str]], width: int, names: int) -> list[str]:
    """Returns a table with lines of at most `width` letters: columns that do not fit follow below, with the names again.

    rows: the first one is the head. names: how many columns at the left are names, which are not moved.
    """
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = sum(wide[:names]) + 2 * names
    parts: list[list[int]] = [[]]
    for column in range(names, len(wide)):
        if parts[-1] and left + sum(wide[each] + 2 for each in (*parts[-1], column)) > width + 2:
            parts.append([])
        parts[-1].append(column)
    out: list[str] = []
    for part in parts:
        out += [""] if out else []
        for row in rows:
            if any(row[column] for column in part) or not any(row[names:]):  # a row of a name alone is a title
                start = "".join(f"{row[name]:{wide[name] + 2}}" for name in range(names))
                out.append((start + "  ".join(f"{row[column]:>{wide[column]}}" for column in part)).rstrip())
    return out


def short(spec: str) -> str:
    """Returns a spec with its long lists of values counted: `distraction(words=(24 values))`."""
    return LONG_LIST.sub(lambda found: f"({len(re.findall(rf'{VALUE}(?:,|$)', found[1]))} values)", spec)


def cell(text: str) -> str:
    """Returns a text for a cell of a Markdown table, or another line of Markdown: with bars and the beginnings of HTML escaped,
    line ends replaced by blanks, and characters that are not printable by their numbers.
    """
    return re.sub(r"\||<(?=[A-Za-z/!?])", r"\\\g<0>", visible(text.replace("\n", " ")))


def markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(cell, cells))} |"
