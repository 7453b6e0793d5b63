"""What benchmarks/restoration.py measured, cell by cell, and the numbers that the page is made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from restoration_measures import COLUMNS, Ints, interval, shares
from restoration_texts import LEVELS, attacks
from scuff.perturbations import ZEROE

Key = tuple[str, str, str, float]  # tool, group, name, level
DIGITS = 5


@dataclass(frozen=True)
class Cell:
    """What a tool did to a batch: one row of counts per text."""

    kept: dict[str, Any]

    @property
    def key(self) -> Key:
        return self.kept["tool"], self.kept["group"], self.kept["name"], self.kept["level"]

    @cached_property
    def rows(self) -> Ints:
        return np.array(self.kept["rows"], np.int64)

    def of(self, domain: str) -> Ints:
        return self.rows[[name == domain for name in self.kept["domain"]]]

    @property
    def domains(self) -> list[str]:
        return list(dict.fromkeys(self.kept["domain"]))


Cells = dict[Key, Cell]


def read_cells(folder: Path) -> Cells:
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*/*.json"))]
    return {cell.key: cell for cell in (Cell(kept) for kept in found if "domain" in kept)}


def read_others(folder: Path, group: str) -> dict[str, dict[str, Any]]:
    """What was measured otherwise than by cells, by tool."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*/*.json"))]
    return {kept["tool"]: kept for kept in found if "domain" not in kept and kept["group"] == group}


# ---- numbers for the page ----


def summary(folder: Path, order: Sequence[str], about: dict[str, Any]) -> dict[str, Any]:
    """All numbers of the page. order: of the tools; those that were not measured are left out."""
    cells = read_cells(folder)
    tools = [tool for tool in order if any(key[0] == tool for key in cells)]
    kept: dict[str, Any] = {
        "about": {
            **about, "tools": tools, "sizes": _sizes(cells),
            "pair levels": {f"{level:g}": len({key[2] for key in cells if key[1] == "pairs" and key[3] == level})
                            for level in sorted({key[3] for key in cells if key[1] == "pairs"})},
        },
        "cells": {group: _group(cells, group, tools) for group in ("published", "ours", "more", "letters", "others", "pairs")},
        "means": {tool: _means(cells, tool) for tool in tools}, "domains": _domains(cells, tools),
    }  # fmt: skip
    plain = {tool: cells[tool, "clean", "clean", 0.0] for tool in tools if (tool, "clean", "clean", 0.0) in cells}
    kept["clean"] = {
        domain: {
            tool: {**_numbers([cell.of(domain)], "harmed"), "sure": _sure(cell, domain)} for tool, cell in plain.items()
        }
        for domain in _first(plain)
    }
    exact = COLUMNS.index("exact")
    kept["clean ascii"] = {
        tool: _round(float(cell.rows[np.array(cell.kept["ascii"]), exact].mean())) for tool, cell in plain.items()
    }
    kept["real"] = {
        name: {
            kind: {
                tool: _numbers([cells[tool, "real", name, 0.0].of(kind)])
                for tool in tools if (tool, "real", name, 0.0) in cells
            }
            for kind in cells["nothing", "real", name, 0.0].domains
        }
        for name in dict.fromkeys(key[2] for key in cells if key[1] == "real")
    }  # fmt: skip
    kept["twice"] = _twice(cells, tools)
    kept["any Unicode"] = {
        tool: {what: found[what] for what in ("texts", "crashed", "unstable")}
        for tool, found in read_others(folder, "any Unicode").items() if tool in tools
    }  # fmt: skip
    found = read_others(folder, "detect")
    if found:
        kept["detect"] = {
            what: value for what, value in found["detect"].items() if what not in ("tool", "group", "mark")
        }
    return kept


def _sure(cell: Cell, domain: str) -> float | None:
    """The share of words that were right for sure and are gone."""
    gone = [count for count, name in zip(cell.kept["sure"], cell.kept["domain"], strict=True) if name == domain]
    return _round(sum(gone) / int(cell.of(domain)[:, COLUMNS.index("words")].sum()))


def _first(cells: dict[str, Cell]) -> list[str]:
    return next(iter(cells.values())).domains if cells else []


def _round(value: float) -> float | None:
    return None if value != value else round(value, DIGITS)


def _numbers(cells: Sequence[Ints], part: str = "restored") -> dict[str, Any]:
    """Mean shares of some cells, each of which counts alike, with an interval of one of them."""
    found = [shares(rows) for rows in cells]
    means = {
        what: _round(float(np.nanmean([each[what] for each in found])) if _any(found, what) else float("nan"))
        for what in found[0]
    }
    whole = "words"
    low, high = interval(cells, part, whole)
    words = int(sum(rows[:, COLUMNS.index("words")].sum() for rows in cells))
    return {
        **means,
        "interval": [_round(low), _round(high)],
        "words": words,
        "texts": int(sum(len(rows) for rows in cells)),
    }


def _slim(numbers: dict[str, Any], group: str) -> dict[str, Any]:
    """What a table needs of a cell: the file stays small."""
    kept = (
        ("restored", "interval")
        if group in ("pairs", "others")
        else ("restored", "interval", "mended", "harmed", "exact")
    )
    return {name: numbers[name] for name in (*kept, *(("alike",) if group == "letters" else ()))}


def _any(found: Sequence[dict[str, float]], what: str) -> bool:
    return any(each[what] == each[what] for each in found)


def _group(cells: Cells, group: str, tools: Sequence[str]) -> dict[str, Any]:
    """name -> level -> tool -> numbers."""
    keys = [key for key in cells if key[1] == group]
    order = list(dict.fromkeys(name for of, name, _ in attacks() if of == group))
    names = sorted({key[2] for key in keys}, key=order.index)
    return {
        name: {
            f"{level:g}": {
                tool: _slim(_numbers([cells[tool, group, name, level].rows]), group)
                for tool in tools if (tool, group, name, level) in cells
            }
            for level in sorted({key[3] for key in keys if key[2] == name})
        }
        for name in names
    }  # fmt: skip


def _means(cells: Cells, tool: str) -> dict[str, Any]:
    """Of the perturbations of a group, by level and over the three levels; only where all were measured."""
    out: dict[str, Any] = {}
    for group in ("published", "ours", "more", "others", "pairs"):
        names = {key[2] for key in cells if key[1] == group}
        levels = sorted({key[3] for key in cells if key[1] == group and key[3] in LEVELS})
        by_level = {
            level: [
                cells[tool, group, name, level].rows for name in sorted(names) if (tool, group, name, level) in cells
            ]
            for level in levels
        }
        whole = {level: rows for level, rows in by_level.items() if len(rows) == len(names)}
        out[group] = {f"{level:g}": _numbers(rows) for level, rows in whole.items()}
        if len(whole) == len(levels) and levels:
            out[group]["all"] = _numbers([rows for level in levels for rows in whole[level]])
    return out


def _domains(cells: Cells, tools: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """Words restored of each domain, mean of the ten as published at three levels."""
    keys = [key for key in cells if key[1] == "published" and key[3] in LEVELS]
    many = {tool: [cells[key] for key in keys if key[0] == tool] for tool in tools}
    full = {tool: some for tool, some in many.items() if len(some) == len(ZEROE) * len(LEVELS)}
    names = next((some[0].domains for some in full.values()), [])
    return {
        name: {
            tool: _round(float(np.mean([shares(cell.of(name))["restored"] for cell in some])))
            for tool, some in full.items()
        }
        for name in names
    }


def _twice(cells: Cells, tools: Iterable[str]) -> dict[str, dict[str, tuple[int, int]]]:
    """Texts that a second pass changes, and texts, by group."""
    out: dict[str, dict[str, tuple[int, int]]] = {}
    for tool in tools:
        for key, cell in cells.items():
            if key[0] == tool and cell.kept["unstable"] is not None:
                before = out.setdefault(tool, {}).get(key[1], (0, 0))
                out[tool][key[1]] = (before[0] + cell.kept["unstable"], before[1] + len(cell.rows))
    return out


def _sizes(cells: Cells) -> dict[str, tuple[int, int, str]]:
    """Texts and words by group, and of the slowest peer."""
    said = {
        "clean": "clean texts", "published": "each perturbation and strength", "pairs": "each pair and strength",
        "letters": "30 % of the letters", "real": "people's own errors and disguises, all together",
    }  # fmt: skip
    out = {}
    for group, what in said.items():
        for tool, whose in (("nothing", ""), ("symspell", ", peers"), ("pyspellchecker", ", pyspellchecker")):
            found = [cell.rows for key, cell in cells.items() if key[0] == tool and key[1] == group]
            if not found or (tool == "symspell" and group != "clean"):
                continue
            some = found if group == "real" else found[:1]
            words = int(sum(rows[:, COLUMNS.index("words")].sum() for rows in some))
            out[group + whose] = (sum(map(len, some)), words, what)
    return out


# ---- a short table for people at work ----


def short(cells: Cells) -> str:
    """Restored by perturbation, harmed by domain, people's errors."""
    tools = list(dict.fromkeys(key[0] for key in cells))
    lines = ["% of words restored (groups but pairs: by perturbation and level; pairs: mean by level)"]
    keys = sorted({key[1:] for key in cells})
    lines.append(_line("", tools))
    for group in ("published", "ours", "more", "letters", "others", "pairs"):
        mine = [key for key in keys if key[0] == group]
        for level in sorted({key[2] for key in mine}):
            some = [key for key in mine if key[2] == level]
            for key in some if group != "pairs" else ():
                lines.append(_line(f"{group} {key[1]} {level:g}", [_percent(cells, (tool, *key)) for tool in tools]))
            means = [_mean(cells, [(tool, *key) for key in some]) for tool in tools]
            lines.append(_line(f"= {group} mean {level:g} ({len(some)})", means))
    clean = ("clean", "clean", 0.0)
    for what, said in (("harmed", "of clean words harmed"), ("exact", "of clean texts identical")):
        lines += ["", f"% {said}", _line("", tools)]
        for name in next((cell.domains for key, cell in cells.items() if key[1:] == clean), []):
            lines.append(_line(name, [_percent(cells, (tool, *clean), what, name) for tool in tools]))
    lines += ["", "people's own: % restored / % of the noisy words left as they are"]
    for key in [key for key in keys if key[0] == "real"]:
        for kind in next(cell.domains for one, cell in cells.items() if one[1:] == key):
            told = ("exact",) if key[1] == "legitimate" else ("mended", "left")
            both = ["/".join(_percent(cells, (tool, *key), each, kind) for each in told) for tool in tools]
            lines.append(_line(f"{key[1]}: {kind}", both))
    return "\n".join(lines)


def _line(head: str, values: Sequence[str]) -> str:
    return f"{head:44}" + "".join(f"{value[-14:]:>15}" for value in values)


def _percent(cells: Cells, key: Key, what: str = "restored", domain: str = "") -> str:
    if key not in cells:
        return "-"
    cell = cells[key]
    value = shares(cell.of(domain) if domain else cell.rows)[what]
    return f"{100 * value:.2f}" if what == "harmed" else f"{100 * value:.1f}"


def _mean(cells: Cells, keys: Sequence[Key]) -> str:
    found = [shares(cells[key].rows)["restored"] for key in keys if key in cells]
    return f"{100 * np.mean(found):.1f}" if len(found) == len(keys) else "-"
