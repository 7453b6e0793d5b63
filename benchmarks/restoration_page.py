"""Numbers and tables of docs/results/shields.md, from what benchmarks/restoration.py measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from restoration_measures import Ints, interval, shares

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
PAGE, DATA = RESULTS / "shields.md", RESULTS / "shields.json"


@dataclass(frozen=True)
class Cell:
    """What a tool did to a batch: one row of counts per text."""

    kept: dict[str, Any]

    @property
    def key(self) -> tuple[str, str, str, float]:
        return self.kept["tool"], self.kept["group"], self.kept["name"], self.kept["level"]

    @cached_property
    def rows(self) -> Ints:
        return np.array(self.kept["rows"], np.int64)

    def of(self, domains: Iterable[str]) -> Ints:
        wanted = set(domains)
        return self.rows[[name in wanted for name in self.kept["domain"]]]

    @property
    def domains(self) -> list[str]:
        return list(dict.fromkeys(self.kept["domain"]))


Cells = dict[tuple[str, str, str, float], Cell]


def read_cells(folder: Path) -> Cells:
    """All that was measured."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*/*.json"))]
    return {cell.key: cell for cell in (Cell(kept) for kept in found if "rows" in kept)}


def short(cells: Cells) -> str:
    """Tables for people at work: restored by perturbation, harmed by domain, people's errors."""
    tools = list(dict.fromkeys(key[0] for key in cells))
    lines = ["% of words restored (groups but pairs: by perturbation and level; pairs: mean by level)"]
    keys = sorted({key[1:] for key in cells})
    lines.append(_line("", tools))
    for group in ("published", "ours", "more", "issue", "pairs"):
        mine = [key for key in keys if key[0] == group]
        for level in sorted({key[2] for key in mine}):
            some = [key for key in mine if key[2] == level]
            for key in some if group != "pairs" else ():
                lines.append(_line(f"{group} {key[1]} {level:g}", [_percent(cells, (tool, *key)) for tool in tools]))
            means = [_mean(cells, [(tool, *key) for key in some]) for tool in tools]
            lines.append(_line(f"= {group} mean {level:g} ({len(some)})", means))
    for what in ("harmed", "exact"):
        lines += ["", f"% {'of clean words harmed' if what == 'harmed' else 'of clean texts identical'}", _line("", tools)]
        clean = ("clean", "clean", 0.0)
        names = next((cell.domains for key, cell in cells.items() if key[1:] == clean), [])
        for name in names:
            lines.append(_line(name, [_percent(cells, (tool, *clean), what, name) for tool in tools]))
    lines += ["", "people's own: % restored / % of the noisy words left as they are"]
    for key in [key for key in keys if key[0] == "real"]:
        for kind in next(cell.domains for one, cell in cells.items() if one[1:] == key):
            both = [
                "/".join(_percent(cells, (tool, *key), what, kind) for what in ("mended", "left")) if key[1] != "legitimate"
                else _percent(cells, (tool, *key), "exact", kind)
                for tool in tools
            ]  # fmt: skip
            lines.append(_line(f"{key[1]}: {kind}", both))
    return "\n".join(lines)


def _line(head: str, values: Sequence[str]) -> str:
    return f"{head:38}" + "".join(f"{value[-14:]:>15}" for value in values)


def _percent(cells: Cells, key: tuple[str, str, str, float], what: str = "restored", domain: str = "") -> str:
    if key not in cells:
        return "-"
    cell = cells[key]
    value = shares(cell.of([domain]) if domain else cell.rows)[what]
    return f"{100 * value:.2f}" if what == "harmed" else f"{100 * value:.1f}"


def _mean(cells: Cells, keys: Sequence[tuple[str, str, str, float]]) -> str:
    found = [shares(cells[key].rows)["restored"] for key in keys if key in cells]
    return f"{100 * np.mean(found):.1f}" if len(found) == len(keys) else "-"
