"""Writes the tables of docs/results/zeroe.md and its two figures from docs/results/zeroe.json and the paper's figures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from zeroe_findings import FINDINGS, Finding, Scores, Tables, spearman

from scuff.perturbations import LEVELS

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
PAGE, DATA = RESULTS / "zeroe.md", RESULTS / "zeroe.json"
FIGURES = Path(__file__).parent / "figures" / "zeroe.json"
BEGIN, END = "<!-- zeroe: made by benchmarks/papers/zeroe.py -->", "<!-- end -->"
KEPT = 100  # resamples that are kept, of our defaults and as published
TITLES = {"pos": "POS", "nli": "NLI", "tc": "TC"}
WAYS = {"ours": "our defaults", "published": "as published", "thesis": "as the thesis"}
Kept = dict[str, Any]
Resampled = dict[str, list[dict[str, Scores]]]  # tables of resampled scores, by way


def read() -> Kept:
    """The kept scores, by task."""
    kept: Kept = json.loads(DATA.read_text(encoding="utf-8")) if DATA.is_file() else {"tasks": {}}
    return kept


def keep(kept: Kept) -> None:
    """Writes the scores, one row in a line."""
    kept["tasks"] = {task: kept["tasks"][task] for task in TITLES if task in kept["tasks"]}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).replace('},"', '},\n"').replace('],"', '],\n"')
    DATA.write_text(text + "\n", encoding="utf-8")


@cache
def paper_tables() -> dict[str, Scores]:
    """Table 6 of the paper, scores as shares."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    out = {}
    for at, task in enumerate(TITLES):
        unit = 1 if task == "tc" else 100
        values = {
            name: {level: scores[at] / unit for level, scores in row.items()}
            for name, row in figures["table 6"].items()
            if row["low"][at] is not None
        }
        out[task] = Scores(figures["clean"][task] / unit, figures["worst"][task] / unit, values)
    return out


def our_tables(kept: Kept, way: str, resample: int | None = None) -> dict[str, Scores]:
    """Our scores in one of the two ways, or those of a resample."""
    out = {}
    for task, found in kept["tasks"].items():
        rows = {
            key.rpartition(", ")[0]: row["levels"] for key, row in found["rows"].items() if key.endswith(f", {way}")
        }
        again = found["resampled"]
        values = {
            name: {
                level: cell["score"] if resample is None else again[f"{name}, {way}.{level}"][resample]
                for level, cell in levels.items()
            }
            for name, levels in rows.items()
        }
        far = {name: {level: cell["distance"] for level, cell in levels.items()} for name, levels in rows.items()}
        clean = found["clean"] if resample is None else again["clean"][resample]
        out[task] = Scores(clean, found["worst"], {name: values[name] for name in paper_tables()[task].values}, far)
    return out


# ---- the tables ----


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table in Markdown; all but the first `left` columns are numbers."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def shown(task: str, value: float) -> str:
    """A score as the paper prints it."""
    return f"{value:.3f}" if task == "tc" else f"{100 * value:.1f}"


def with_interval(task: str, value: float, interval: Sequence[float]) -> str:
    return f"{shown(task, value)} [{shown(task, interval[0])}, {shown(task, interval[1])}]"


def sizes(kept: Kept) -> str:
    """Models, scores without perturbation, red lines."""
    rows = []
    for task, found in kept["tasks"].items():
        paper = paper_tables()[task]
        rows.append([
            TITLES[task], found["model"], f"{found['examples']:,}", found["metric"], shown(task, paper.clean),
            with_interval(task, found["clean"], found["clean interval"]), shown(task, paper.worst), shown(task, found["worst"]),
            f"{paper.worst / paper.clean:.2f}", f"{found['worst'] / found['clean']:.2f}", f"{100 * found['undone']:.0f} %",
        ])  # fmt: skip
    head = ["task", "model", "examples", "score", "clean, paper", "clean, here", "worst, paper", "worst, here", "s_worst, paper",
            "s_worst, here", "look-alikes that the tokenizer undoes"]  # fmt: skip
    return table(head, rows, 2)


def table_6(kept: Kept, task: str) -> str:
    """Every perturbation and level of a task."""
    paper, found = paper_tables()[task], kept["tasks"][task]["rows"]
    rows = []
    for name in paper.values:
        for level in LEVELS:
            cells = [found[f"{name}, {way}"]["levels"][level] for way in WAYS]
            rows.append([
                name, level, shown(task, paper.values[name][level]),
                *(with_interval(task, cell["score"], cell["interval"]) for cell in cells),
                f"{100 * paper.left(name, level):.0f}", *(f"{100 * cell['relative']:.0f}" for cell in cells),
                *(f"{100 * cell['reached']:.0f}" for cell in cells), *(f"{100 * cell['distance']:.1f}" for cell in cells),
            ])  # fmt: skip
    short = list(WAYS)
    head = ["perturbation", "level", "paper", *WAYS.values(), "s\\*, paper", *short, f"changed %, {short[0]}", *short[1:],
            f"edit distance %, {short[0]}", *short[1:]]  # fmt: skip
    return table(head, rows, 2)


def table_5(kept: Kept) -> str:
    """The perturbations by harm at high, ours beside the paper's, and people's ranks."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    human = figures["thesis table 5.1, human"]["ranks"]
    tasks = list(kept["tasks"])
    tables = [our_tables(kept, way) for way in WAYS]
    rows = []
    for name in sorted(human, key=lambda each: paper_tables()["nli"].rank(each)):
        row = [name]
        for task in tasks:
            paper = paper_tables()[task]
            row += [
                f"{one.rank(name):g}" if name in one.values else "-"
                for one in (paper, *(each[task] for each in tables))
            ]
        rows.append([*row, f"{human[name]:g}"])
    head = ["perturbation"]
    for task in tasks:
        head += [f"{TITLES[task]}: Table 6", *WAYS]
    return table([*head, "people (thesis 5.1)"], rows)


def correlations(kept: Kept, resampled: Resampled) -> str:
    """How alike the orders of harm are, with intervals over resampled examples."""
    human = json.loads(FIGURES.read_text(encoding="utf-8"))["thesis table 5.1, human"]["ranks"]
    rows = []
    for task in kept["tasks"]:
        paper = paper_tables()[task]
        names = list(paper.values)
        wanted = {
            "Table 6, high": ([(name, "high") for name in names], [paper.values[name]["high"] for name in names]),
            "Table 6, all levels": (
                [(name, level) for name in names for level in LEVELS],
                [paper.values[name][level] for name in names for level in LEVELS],
            ),
            "people's ranks (thesis 5.1), high": ([(name, "high") for name in names], [human[name] for name in names]),
        }
        for what, (cells, theirs) in wanted.items():
            row = [TITLES[task], what]
            for way in WAYS:
                value, *again = (
                    spearman([each[task].values[n][level] for n, level in cells], theirs)
                    for each in (our_tables(kept, way), *resampled[way])
                )
                low, high = np.quantile(again, [0.025, 0.975])
                row.append(f"{value:.2f} [{min(low, value):.2f}, {max(high, value):.2f}]")
            rows.append(row)
    return table(["task", "rank correlation with", *WAYS.values()], rows, 2)


def verdict(finding: Finding, tables: Tables, task: str, resampled: Sequence[Tables]) -> str:
    """Whether a finding holds, the share of resamples in which it does, and the numbers."""
    holds, numbers = finding.test(tables, task)
    support = f", {100 * np.mean([finding.test(each, task)[0] for each in resampled]):.0f} %" if resampled else ""
    return f"**{'yes' if holds else 'no'}**{support}: {numbers}"


def findings(kept: Kept, resampled: Resampled) -> str:
    """Every finding for every task: in the paper's own table, with our defaults, as published."""
    rows = []
    for finding in FINDINGS:
        for task in finding.tasks:
            if task not in kept["tasks"]:
                rows.append([finding.says, finding.section, TITLES[task], "", *["not run"] * len(WAYS)])
                continue
            own = (
                "the figure is not numbers"
                if "Figure" in finding.section
                else verdict(finding, paper_tables(), task, ())
            )
            ours = [verdict(finding, our_tables(kept, way), task, resampled[way]) for way in WAYS]
            rows.append([finding.says, finding.section, TITLES[task], own, *ours])
    return table(["the paper says", "section", "task", "its Table 6", *WAYS.values()], rows, 4 + len(WAYS))


def departures(kept: Kept) -> str:
    """One departure at a time: s* at low, mid and high, and how far these are from the paper's on average, in points."""
    tasks = list(kept["tasks"])
    names = {key: row for task in tasks for key, row in kept["tasks"][task]["rows"].items()}
    moved = {key.partition(", ")[0] for key in names if key.rpartition(", ")[2] not in WAYS}
    rows = []
    for name in [name for name in paper_tables()["nli"].values if name in moved]:
        mine = [key for key in names if key.startswith(f"{name}, ")]
        mine.sort(key=lambda key: (not key.endswith(", ours"), key.rpartition(", ")[2] in WAYS))
        theirs = [
            " / ".join(f"{100 * paper_tables()[task].left(name, level):.0f}" for level in LEVELS)
            if name in paper_tables()[task].values else "-"
            for task in tasks
        ]  # fmt: skip
        rows.append([name, "**the paper's figures**", "", *(text for each in theirs for text in (each, ""))])
        for key in mine:
            variant, how = key.removeprefix(f"{name}, "), names[key]
            spec = f"`{how['spec']}`" + (f", {how['selection']}" if how["selection"] else "")
            row = ["", WAYS.get(variant, variant), spec]
            for task in tasks:
                found = kept["tasks"][task]["rows"].get(key)
                if found is None:
                    row += ["-", "-"]
                    continue
                left = {level: cell["relative"] for level, cell in found["levels"].items()}
                gap = np.mean([abs(left[level] - paper_tables()[task].left(name, level)) for level in LEVELS])
                row += [" / ".join(f"{100 * left[level]:.0f}" for level in LEVELS), f"{100 * gap:.1f}"]
            rows.append(row)
    head = ["perturbation", "departure", "spec, selection"]
    for task in tasks:
        head += [f"{TITLES[task]}: s\\* low / mid / high", "from the paper"]
    return table(head, rows, 3)


def few_words(kept: Kept) -> str:
    """The share of words at which our phonetic would take as little as the paper's at high, between the levels that were run."""
    rows = []
    for task, found in kept["tasks"].items():
        theirs = paper_tables()[task].left("phonetic")
        row = [TITLES[task], f"{100 * theirs:.0f}"]
        for way in WAYS:
            cells = [found["rows"][f"phonetic, {way}"]["levels"][level] for level in LEVELS]
            lost = np.maximum.accumulate([0.0, *(1 - cell["relative"] for cell in cells)])
            share = float(np.interp(1 - theirs, lost, [0.0, *(cell["reached"] for cell in cells)]))
            enough = f"{100 * share:.0f} %" if lost[-1] >= 1 - theirs else "it harms less"
            row += [f"{100 * cells[-1]['relative']:.0f} at {100 * cells[-1]['reached']:.0f} %", enough]
        rows.append(row)
    head = ["task", "phonetic at high, paper's s\\*"]
    for title in WAYS.values():
        head += [f"{title}: s\\* at words changed", "words for the paper's s\\*"]
    return table(head, rows)


def tables_text(kept: Kept) -> str:
    """All that stands between the marks."""
    resampled = {way: [our_tables(kept, way, turn) for turn in range(KEPT)] for way in WAYS}
    parts = ["## The models", sizes(kept)]
    parts += ["## Table 5: who harms most, at high", table_5(kept), correlations(kept, resampled)]
    parts += [
        "## The findings of section 4",
        findings(kept, resampled),
        "## Which departure explains what",
        departures(kept),
        few_words(kept),
    ]
    for task in kept["tasks"]:
        parts += [f"## Table 6 and Figure 1: {TITLES[task]}", table_6(kept, task)]
    return "\n\n".join(parts)


def write(kept: Kept) -> None:
    """Writes the tables into the page, which keeps what stands around them, and the figures."""
    if not kept["tasks"]:
        return
    page = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else f"# Zéroe\n\n{BEGIN}\n{END}\n"
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables_text(kept)}\n\n{END}{after}", encoding="utf-8")
    (RESULTS / "zeroe-figure-1.svg").write_text(figure_1(kept), encoding="utf-8")
    (RESULTS / "zeroe-figure-5.svg").write_text(figure_5(kept), encoding="utf-8")


# ---- the figures ----

COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#000000")
WIDE, HIGH, GAP, TOP, LEGEND = 230, 150, 50, 34, 130


def figure_1(kept: Kept) -> str:
    """What is left of the clean score by level: the paper's above ours."""
    sources = {"paper": paper_tables(), **{title: our_tables(kept, way) for way, title in WAYS.items()}}
    parts = []
    for down, (title, tables) in enumerate(sources.items()):
        for right, task in enumerate(kept["tasks"]):
            one, left = tables[task], 40 + right * (WIDE + GAP)
            parts.append(_panel(f"{TITLES[task]}, {title}", left, TOP + down * (HIGH + GAP), one.worst / one.clean))
            for name, colour in zip(paper_tables()["nli"].values, COLOURS, strict=True):
                if name not in one.values:
                    continue
                spots = [
                    (at / 3, 1.0 if at == 0 else one.left(name, level)) for at, level in enumerate(("none", *LEVELS))
                ]
                line = " ".join(
                    f"{x:.1f},{y:.1f}" for x, y in (_spot(spot, left, TOP + down * (HIGH + GAP)) for spot in spots)
                )
                parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            for at, level in enumerate(("none", *LEVELS)):
                x, y = _spot((at / 3, 0), left, TOP + down * (HIGH + GAP))
                parts.append(f'<text x="{x:.0f}" y="{y + 13:.0f}" text-anchor="middle">{level}</text>')
    return _drawing(
        "Share of the clean score that is left, by level (Zéroe's Figure 1)", parts, len(kept["tasks"]), len(sources)
    )


def figure_5(kept: Kept) -> str:
    """What is left of the clean score by the edit distance of the texts."""
    parts = []
    for down, (way, title) in enumerate(WAYS.items()):
        for right, task in enumerate(kept["tasks"]):
            one, left, top = our_tables(kept, way)[task], 40 + right * (WIDE + GAP), TOP + down * (HIGH + GAP)
            parts.append(_panel(f"{TITLES[task]}, {title}", left, top, one.worst / one.clean))
            for name, colour in zip(paper_tables()["nli"].values, COLOURS, strict=True):
                for level in LEVELS if name in one.values else ():
                    x, y = _spot((min(one.distance[name][level], 1), one.left(name, level)), left, top)
                    parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
            for share in (0, 0.5, 1):
                x, y = _spot((share, 0), left, top)
                parts.append(f'<text x="{x:.0f}" y="{y + 13:.0f}" text-anchor="middle">{share:g}</text>')
    said = "Share of the clean score that is left, by edit distance per character (Zéroe's Figure 5)"
    return _drawing(said, parts, len(kept["tasks"]), len(WAYS))


def _spot(spot: tuple[float, float], left: float, top: float) -> tuple[float, float]:
    return left + spot[0] * WIDE, top + (1 - max(0.0, min(1.05, spot[1]))) * HIGH


def _panel(title: str, left: float, top: float, red: float) -> str:
    parts = [f'<text x="{left}" y="{top - 8}" font-weight="bold">{title}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _spot((0, share), left, top)[1]
        parts.append(f'<line x1="{left}" x2="{left + WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{100 * share:.0f}</text>')
    y = _spot((0, red), left, top)[1]
    parts.append(
        f'<line x1="{left}" x2="{left + WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d00" stroke-dasharray="5 3"/>'
    )
    return "".join(parts)


def _drawing(title: str, parts: list[str], across: int, down: int) -> str:
    width, height = 40 + across * (WIDE + GAP) + LEGEND, TOP + down * (HIGH + GAP)
    legend = []
    for at, (name, colour) in enumerate(zip(paper_tables()["nli"].values, COLOURS, strict=True)):
        x, y = width - LEGEND, TOP + 12 + 16 * at
        legend.append(
            f'<rect x="{x}" y="{y - 8}" width="12" height="8" fill="{colour}"/><text x="{x + 17}" y="{y}">{name}</text>'
        )
    legend.append(f'<text x="{width - LEGEND}" y="{TOP + 12 + 16 * len(COLOURS)}" fill="#d00">- - guessing</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'font-family="sans-serif" font-size="11"><title>{title}</title><rect width="100%" height="100%" fill="#fff"/>'
        f"{''.join(parts)}{''.join(legend)}</svg>\n"
    )
