"""Reads the files that raters send back, as the page saves them or as a spreadsheet leaves them, and checks them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.sheets import read_sheet, sheet_rows
from ..text.ragged import Floats
from .items import Key, Part
from .studies import PASS, STUDIES

RATING = "rating"


@dataclass(frozen=True, eq=False)
class Ratings:
    """values: by rater and by item of the key, in its order; nan where there is none."""

    raters: tuple[str, ...]
    values: Floats

    def only(self, raters: Sequence[str]) -> Ratings:
        """Returns the ratings of some raters, in the order in which they were given."""
        rows = [at for at, name in enumerate(self.raters) if name in raters]
        return Ratings(tuple(self.raters[at] for at in rows), self.values[rows])


@dataclass(frozen=True)
class Check:
    """How a rater did: items rated, and the controls and qualification cases that were right, of those rated."""

    rater: str
    rated: int
    of: int
    controls: tuple[int, int]
    qualification: tuple[int, int]
    passed: bool


@dataclass(frozen=True)
class _Line:
    """A rating in a file."""

    where: str
    rater: str
    id: str
    rating: str


def read_ratings(paths: Sequence[str | Path], key: Key) -> Ratings:
    """Returns the ratings in all files. Raises ValueError, with file and line, for what does not fit the key."""
    if not paths:
        raise ValueError("expected files of ratings, got none")
    stems = Counter(Path(path).stem for path in paths)
    place = {item.id: at for at, item in enumerate(key.items)}
    found: dict[str, Floats] = {}
    for path in map(Path, paths):
        usual = path.stem if stems[path.stem] == 1 else f"{path.resolve().parent.name}/{path.stem}"
        lines = list(_lines(path, usual, key.kit))
        if not any(line.id in place for line in lines) and lines:
            raise ValueError(
                f"{path}: expected ratings of kit {key.kit}, got those of another: none of the ids is in the key"
            )
        before = {name: row.copy() for name, row in found.items()}
        rated = 0
        for line in lines:
            rated += _enter(line, key, place, found, before)
        if not rated:
            raise ValueError(f"{path}: expected ratings, got none: the column {RATING} is empty")
    return Ratings(tuple(found), np.stack(list(found.values())))


def _enter(line: _Line, key: Key, place: dict[str, int], found: dict[str, Floats], before: dict[str, Floats]) -> bool:
    """Adds a rating to those found. before: those of earlier files. Returns whether there is one."""
    if line.id not in place:
        raise ValueError(f"{line.where}: expected an id of the key, got {line.id!r}")
    if not line.rating.strip():
        return False
    at = place[line.id]
    value = _value(line, key, at)
    row = found.setdefault(line.rater, np.full(len(key.items), np.nan))
    if line.rater in before and np.isfinite(before[line.rater][at]):
        raise ValueError(
            f"{line.where}: expected each rater once, got {line.rater!r} in two files: give them a column rater"
        )
    if np.isfinite(row[at]) and row[at] != value:
        raise ValueError(f"{line.where}: expected one rating of {line.id}, got {row[at]:g} and {value:g}")
    row[at] = value
    return True


def _value(line: _Line, key: Key, at: int) -> float:
    """Returns a rating as a number: 4, "4", 4.0 and 4,0 are the same."""
    low, high = 0, len(STUDIES[key.study].scale) - 1
    if key.study == "readability":
        low, high = 1, sum(item.group == key.items[at].group for item in key.items)
    try:
        value = float(line.rating.strip().strip("'\"").replace(",", "."))
    except ValueError:
        value = math.nan
    if not (value.is_integer() and low <= value <= high):
        raise ValueError(
            f"{line.where}: expected a whole number from {low} to {high} for {line.id}, got {line.rating!r:.40}"
        )
    return value


def _lines(path: Path, usual: str, kit: str) -> Iterator[_Line]:
    """Yields the ratings in a file. Raises ValueError if it is of another kit or of no known form."""
    text = read_sheet(path)
    if text.lstrip().startswith("{"):
        yield from _json_lines(path, text, usual, kit)
        return
    for line, row in sheet_rows(text, str(path), ("id", RATING)):
        where = f"{path}: line {line}"
        if row.get("kit", "").strip() not in ("", kit):
            raise ValueError(f"{where}: expected ratings of kit {kit}, got those of kit {row['kit']}")
        if row["id"].strip():
            yield _Line(where, row.get("rater", "").strip() or usual, row["id"].strip().lower(), row[RATING])


def _json_lines(path: Path, text: str, usual: str, kit: str) -> Iterator[_Line]:
    try:
        content: Any = json.loads(text)
    except ValueError:
        raise ValueError(f"{path}: expected ratings as JSON or CSV, got broken JSON") from None
    ratings = content.get("ratings")
    if not isinstance(ratings, dict):
        raise ValueError(f"{path}: expected ratings as the page saves them, got other JSON")
    if content.get("kit") != kit:
        raise ValueError(f"{path}: expected ratings of kit {kit}, got those of kit {content.get('kit')}")
    rater = str(content.get("rater") or "").strip() or usual
    for name, value in ratings.items():
        yield _Line(str(path), rater, name, "" if value is None else str(value))


def check_raters(ratings: Ratings, key: Key, least: float = PASS) -> list[Check]:
    """Returns how each rater did with the controls and the qualification; passed: a share of `least` of each was right.

    What a rater has not rated does not count, but who skipped a whole qualification does not pass.
    """
    tested = any(item.part == "qualification" for item in key.items)
    out = []
    for name, row in zip(ratings.raters, ratings.values, strict=True):
        right = {part: _right(row, key, part) for part in ("control", "qualification")}
        shares = [good / of for good, of in right.values() if of]
        passed = all(share >= least - 1e-12 for share in shares) and (not tested or right["qualification"][1] > 0)
        out.append(
            Check(name, int(np.isfinite(row).sum()), len(key.items), right["control"], right["qualification"], passed)
        )
    return out


def _right(row: Floats, key: Key, part: str) -> tuple[int, int]:
    """Returns how many items of a part are rated right, and how many are rated."""
    good = of = 0
    for value, item in zip(row.tolist(), key.items, strict=True):
        if item.part == part and not math.isnan(value):
            of += 1
            good += value <= item.accept[0] if key.study == "readability" else int(value) in item.accept
    return good, of


def check_ranks(ratings: Ratings, key: Key) -> Ratings:
    """Returns the ratings with unfinished sets left out. Raises ValueError if a rater gave a rank twice in a set."""
    group = np.array([item.group for item in key.items])
    values = ratings.values.copy()
    for row, name in zip(values, ratings.raters, strict=True):
        for number in np.unique(group).tolist():
            here = group == number
            given = row[here][np.isfinite(row[here])]
            if np.unique(given).size < given.size:
                raise ValueError(f"{name}: expected each rank once in set {number + 1}, got one twice")
            if given.size < here.sum():
                row[here] = np.nan
    return Ratings(ratings.raters, values)


def rows_of(key: Key, part: Part) -> list[int]:
    """Returns the numbers of the items of a part."""
    return [at for at, item in enumerate(key.items) if item.part == part]
