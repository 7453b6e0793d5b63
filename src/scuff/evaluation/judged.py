"""Shares of valid cases that a user's own raters found, with which the final score weighs degrees in place of the paper's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypedDict

from ..runs.checking import mismatch
from ..runs.schema import JudgedWeights

KIND, VERSION = "scuff validity", 1


class JudgedDimension(TypedDict):
    """The share of valid cases at each degree, and of how many."""

    degrees: list[float]
    valid: list[float]
    of: list[int]


class JudgedValidity(TypedDict):
    """What `scuff judge import --weights` writes. name: of the kit, with how many raters."""

    kind: str
    version: int
    name: str
    dimensions: dict[str, JudgedDimension]


def read_judged(path: str) -> JudgedWeights:
    """Returns the shares in a file. Raises ValueError if it is no such file."""
    try:
        found: Any = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ValueError(f"{path}: expected a file of validity, got nothing of that name") from None
    except (ValueError, IsADirectoryError):
        raise ValueError(f"{path}: expected a file of validity (scuff judge import --weights), got no JSON") from None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise ValueError(f"{path}: expected a file of validity (scuff judge import --weights), got another")
    wrong = mismatch(found, JudgedValidity, exact=False) or (found["version"] != VERSION and "version")
    if wrong:
        raise ValueError(
            f"{path}: expected a file of validity of this version of Scuff, got another: {wrong.lstrip('.')}"
        )
    out: dict[str, list[list[float]]] = {}
    for name, entry in found["dimensions"].items():
        pairs = sorted(zip(entry["degrees"], entry["valid"], strict=False))
        sizes = {len(entry["degrees"]), len(entry["valid"])}
        if len(sizes) > 1 or not pairs or not all(0 < degree <= 1 and 0 <= share <= 1 for degree, share in pairs):
            raise ValueError(f"{path}: expected degrees in (0, 1], each with a share in [0, 1], for {name}, got others")
        out[name] = [[float(degree), float(share)] for degree, share in pairs]
    return {"name": found["name"], "dimensions": out}


def judged_shares(weights: JudgedWeights, name: str, base: str) -> tuple[list[float], list[float]] | None:
    """Returns the degrees and shares for a dimension by its name, else by its name without the access; None if it has none."""
    found = weights["dimensions"].get(name) or weights["dimensions"].get(base)
    return None if found is None else ([pair[0] for pair in found], [pair[1] for pair in found])
