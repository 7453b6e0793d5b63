"""Synthetic raters, to check arithmetic and nothing else: no number in the documents comes from them.

A rater gives controls and qualification the right rating. Of a case of degree d (files: 0.1 for each edit), meaning is
5 - 6 d plus a normal error of the rater's own, rounded and cut to 0..5; a case is valid with probability 1 - d; a version is
ranked by how many characters differ from the clean text, plus such an error.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path

from scuff.judging.items import Item, Key, read_key

Rate = Callable[[Item, random.Random], int]


def degree(item: Item) -> float:
    return item.degree if item.degree is not None else 0.1 * (item.edits or 0)


def by_meaning(error: float) -> Rate:
    return lambda item, chance: max(0, min(5, round(5 - 6 * degree(item) + chance.gauss(0, error))))


def by_validity(item: Item, chance: random.Random) -> int:
    return int(chance.random() > degree(item))


def carefully(key: Key, rate: Rate, seed: int) -> dict[str, int]:
    """The ratings of a rater who knows the controls."""
    chance = random.Random(seed)
    return {item.id: rate(item, chance) if item.part == "study" else item.accept[0] for item in key.items}


def ranked(key: Key, error: float, seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    sets: dict[int, list[Item]] = {}
    for item in key.items:
        sets.setdefault(item.group, []).append(item)
    out = {}
    for items in sets.values():
        far = {
            item.id: sum(a != b for a, b in zip(item.before, item.after, strict=False)) + chance.gauss(0, error)
            for item in items
        }
        clean = [item.id for item in items if item.part == "control"]
        out |= {name: at for at, name in enumerate([*clean, *sorted(set(far) - set(clean), key=lambda n: far[n])], 1)}
    return out


def write_csv(path: Path, ratings: dict[str, int], mark: str = ",") -> str:
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, delimiter=mark).writerows([["id", "rating"], *ratings.items()])
    return str(path)


def write_json(path: Path, key: Key, rater: str, ratings: dict[str, int]) -> str:
    path.write_text(json.dumps({"kit": key.kit, "rater": rater, "ratings": ratings}), encoding="utf-8")
    return str(path)


def three(folder: Path, kit: Path, rate: Rate) -> list[str]:
    """Three careful raters' files."""
    key = read_key(kit / "key.json")
    return [
        write_csv(folder / f"{name}.csv", carefully(key, rate, at)) for at, name in enumerate(("ann", "ben", "eve"))
    ]
