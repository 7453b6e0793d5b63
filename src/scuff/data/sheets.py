"""Tables as spreadsheets leave them: any encoding, any mark between the columns, a line of their own in front."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from .formats.streams import BadInput, Source

MARKS = ",;\t|"  # between the columns, whatever the spreadsheet's language
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # with which spreadsheets begin a formula (OWASP)


def read_sheet(path: str | Path) -> str:
    """Returns the text of a file in UTF-8, or in UTF-16 or Windows-1252, as spreadsheets save it.

    For tables whose names and numbers are ASCII, so that a wrong guess spoils remarks at most. Raises BadInput if there is no
    such file.
    """
    source = Source(str(path))
    try:
        raw = source.stream.read()
    finally:
        source.close()
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def sheet_rows(text: str, name: str, needed: Iterable[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields line number and fields, by the names of the columns in small letters, of each row of a table.

    The columns may be between commas, semicolons, tabs or bars. name: of the file, for errors. Raises BadInput if a needed
    column is missing.
    """
    if text.lower().startswith("sep="):  # which some spreadsheets write first
        text = "\n" + text.partition("\n")[2]
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise BadInput(f"{name}: expected a table, got an empty file")
    mark = max(MARKS, key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        head = next(row for row in rows if any(map(str.strip, row)))
        names = [title.strip().lower() for title in head]
        missing = [title for title in needed if names.count(title) != 1]
        if missing:
            raise BadInput(f"{name}: expected one column {missing[0]}, got {', '.join(names)}")
        for row in rows:
            if any(map(str.strip, row)):
                yield rows.line_num, dict(zip(names, [*row, *[""] * (len(names) - len(row))], strict=False))
    except csv.Error as error:
        raise BadInput(f"{name}: line {rows.line_num}: expected CSV, got: {error}") from None


def harmless(text: str) -> str:
    """Returns a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
