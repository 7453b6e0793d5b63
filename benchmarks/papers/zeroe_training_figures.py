"""Draws Figures 2 to 4 of Zéroe as SVG: Delta by level, and a heat map of training on one and testing on another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from zeroe_page import COLOURS
from zeroe_training_findings import Trained

from scuff.perturbations import LEVELS

WIDE, HIGH, GAP, TOP, LEGEND = 190, 150, 46, 34, 120
LOW, MOST = -0.4, 0.8  # of the axis of Delta
CELL, LABEL = 27, 46  # of the heat map
Sources = Sequence[tuple[Mapping[str, Trained], str]]


def lines(sources: Sources, method: str, names: Sequence[str], titles: Mapping[str, str]) -> str:
    """Delta of a method at none, low, mid and high: a panel for each task and source, a line for each perturbation."""
    tasks = list(sources[-1][0])
    parts = []
    for down, (tables, source) in enumerate(sources):
        for right, task in enumerate(tasks):
            left, top = 40 + right * (WIDE + GAP), TOP + down * (HIGH + GAP)
            parts.append(_axes(f"{titles[task]}, {source}", left, top))
            for name, colour in zip(names, COLOURS, strict=True):
                if name in tables[task].rows(method):
                    values = [tables[task].gain(method, name, level) for level in ("none", *LEVELS)]
                    spots = " ".join(
                        f"{left + at * WIDE / 3:.1f},{_height(value, top):.1f}" for at, value in enumerate(values)
                    )
                    parts.append(f'<polyline points="{spots}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    width, height = 40 + len(tasks) * (WIDE + GAP) + LEGEND, TOP + len(sources) * (HIGH + GAP)
    for at, (name, colour) in enumerate(zip(names, COLOURS, strict=True)):
        x, y = width - LEGEND, TOP + 12 + 16 * at
        parts.append(
            f'<rect x="{x}" y="{y - 8}" width="12" height="8" fill="{colour}"/><text x="{x + 17}" y="{y}">{name}</text>'
        )
    return _svg(f"What training ({method}) wins, by level, in points of the clean score", width, height, parts)


def _height(value: float, top: float) -> float:
    return top + (MOST - max(LOW, min(MOST, value))) / (MOST - LOW) * HIGH


def _axes(title: str, left: float, top: float) -> str:
    parts = [f'<text x="{left}" y="{top - 8}" font-weight="bold">{title}</text>']
    for share in np.arange(LOW, MOST + 0.01, 0.2):
        y, colour = _height(float(share), top), "#888" if abs(share) < 1e-9 else "#ddd"
        parts.append(f'<line x1="{left}" x2="{left + WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}"/>')
        parts.append(f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{100 * share:.0f}</text>')
    for at, level in enumerate(("none", *LEVELS)):
        parts.append(f'<text x="{left + at * WIDE / 3:.0f}" y="{top + HIGH + 14}" text-anchor="middle">{level}</text>')
    return "".join(parts)


def heat_map(
    paper: Mapping[str, Trained], ours: Mapping[str, Trained], short: Mapping[str, str], titles: Mapping[str, str]
) -> str:
    """Mean Delta of every pair: a column for what was trained on, a row for what was tested; blue wins, red loses."""
    parts = []
    side = LABEL + CELL * len(short)
    for right, task in enumerate(ours):
        for down, (source, one) in enumerate((("the paper", paper[task]), ("here", ours[task]))):
            left, top = 10 + right * (side + 16), TOP + down * (side + 24)
            parts.append(f'<text x="{left}" y="{top - 6}" font-weight="bold">{titles[task]}, {source}</text>')
            names, table = one.square()
            shown = [name for name in short if name in names]
            for column, trained in enumerate(shown):
                x = left + LABEL + CELL * column
                parts.append(
                    f'<text x="{x + CELL / 2}" y="{top + 14}" font-size="9" text-anchor="middle">{short[trained]}</text>'
                )
            for row, tested in enumerate(shown):
                y = top + 20 + CELL * row
                parts.append(f'<text x="{left + LABEL - 4}" y="{y + 17}" text-anchor="end">{short[tested]}</text>')
                for column, trained in enumerate(shown):
                    value = float(table[names.index(tested), names.index(trained)])
                    x = left + LABEL + CELL * column
                    parts.append(
                        f'<rect x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" fill="{_colour(value)}"/>'
                    )
                    parts.append(
                        f'<text x="{x + CELL / 2}" y="{y + 17}" text-anchor="middle">{round(100 * value)}</text>'
                    )
    width, height = 10 + len(ours) * (side + 16), TOP + 2 * (side + 24)
    return _svg("Mean points won against one perturbation (row) by training on another (column)", width, height, parts)


def _colour(value: float) -> str:
    """White at 0, blue above, red below; full at 30 points."""
    strong = min(1.0, abs(value) / 0.3)
    other = round(255 - 150 * strong)
    return f"rgb({other},{other},255)" if value > 0 else f"rgb(255,{other},{other})"


def _svg(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'font-family="sans-serif" font-size="11"><title>{title}</title><rect width="100%" height="100%" fill="#fff"/>'
        f"{''.join(parts)}</svg>\n"
    )
