"""TEAPOT's Figure 1 as a drawing: source chrF against RDchrF, the paper's attacks beside ours."""

from __future__ import annotations

from typing import Any

from teapot import CONSTRAINTS, LANGUAGES, title

COLOURS = {"Unconstrained": "#1f77b4", "CharSwap": "#ff7f0e", "kNN": "#2ca02c"}
WIDE, HIGH, LEFT, TOP, GAP, LEGEND = 320, 230, 48, 34, 58, 150
STEP = 10  # points between two lines
Point = tuple[float, float]


def figure_1(evidence: dict[str, Any], figures: dict[str, Any]) -> str:
    """Word models above, subword models below; the paper's on the left, ours on the right. All panels have the same axes."""
    panels = [
        (f"{title(pieces)}, {whose}", spots(pieces, whose, evidence, figures))
        for pieces in ("words", "bpe")
        for whose in ("paper", "ours")
    ]
    known = [spot for _, found in panels for spot, *_ in found]
    low, high = _span([x for x, _ in known])
    bottom, top = _span([y for _, y in known])
    parts = []
    for at, (name, found) in enumerate(panels):
        x0, y0 = LEFT + (at % 2) * (WIDE + GAP), TOP + (at // 2) * (HIGH + GAP)

        def place(spot: Point, x0: int = x0, y0: int = y0) -> Point:
            return x0 + (spot[0] - low) / (high - low) * WIDE, y0 + (top - spot[1]) / (top - bottom) * HIGH

        parts.append(f'<text x="{x0}" y="{y0 - 8}" font-weight="bold">{name}</text>')
        parts += _grid(place, (low, high), (bottom, top))
        parts += [_mark(place(spot), name, kind, language) for spot, name, kind, language in found]
    width, height = LEFT + 2 * (WIDE + GAP) + LEGEND, TOP + 2 * (HIGH + GAP)
    said = "; ".join(
        f"{name}: "
        + ", ".join(f"{language} {kind} {attack} {x:.1f} {y:.1f}" for (x, y), attack, kind, language in found)
        for name, found in panels
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'font-family="sans-serif" font-size="11"><title>Source chrF and RDchrF of all attacks (Figure 1)</title>'
        f'<desc>{said}</desc><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}{_legend(width)}</svg>\n'
    )


def spots(
    pieces: str, whose: str, evidence: dict[str, Any], figures: dict[str, Any]
) -> list[tuple[Point, str, str, str]]:
    """Source chrF and RDchrF of each attack, with its constraint, model and language."""
    found = []
    for kind in ("lstm", "transformer"):
        for language in LANGUAGES:
            for name in CONSTRAINTS:
                if whose == "paper":
                    harm, source = figures["Table 2"]["rows"][title(f"{kind}-{pieces}")][f"{language}-en"][name]
                else:
                    row = evidence["attacks"].get(f"{language}-{kind}-{pieces}", {}).get(name)
                    if row is None:
                        continue
                    harm, source = row["decrease"][0], row["source"][0]
                found.append(((source, harm), name, kind, language))
    return found


def _span(values: list[float]) -> tuple[float, float]:
    """Round limits around values."""
    return STEP * (min(values) // STEP), STEP * (max(values) // STEP + 1)


def _grid(place: Any, across: Point, up: Point) -> list[str]:
    (low, high), (bottom, top) = across, up
    parts = []
    for at in range(int(bottom), int(top) + 1, STEP):
        (x1, y), (x2, _) = place((low, at)), place((high, at))
        parts.append(f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x1 - 5:.1f}" y="{y + 4:.1f}" text-anchor="end">{at}</text>')
    for at in range(int(low), int(high) + 1, STEP):
        (x, y1), (_, y2) = place((at, bottom)), place((at, top))
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y1:.1f}" y2="{y2:.1f}" stroke="#eee"/>')
        parts.append(f'<text x="{x:.1f}" y="{y1 + 14:.1f}" text-anchor="middle">{at}</text>')
    first, last = max(low, 100 - top), min(high, 100 - bottom)  # where S is 1
    if first < last:
        (x1, y1), (x2, y2) = place((first, 100 - first)), place((last, 100 - last))
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#d00" stroke-dasharray="5 3"/>'
        )
    x, y = place(((low + high) / 2, bottom))
    parts.append(f'<text x="{x:.1f}" y="{y + 30:.1f}" text-anchor="middle">source chrF</text>')
    x, y = place((low, top))
    parts.append(f'<text x="{x - 5:.1f}" y="{y - 8:.1f}" text-anchor="end">RDchrF</text>')
    return parts


def _mark(spot: Point, name: str, kind: str, language: str) -> str:
    """A circle for an LSTM, a triangle for a Transformer, with the language beside it."""
    x, y = spot
    paint = f'fill="{COLOURS[name]}" fill-opacity="0.75" stroke="{COLOURS[name]}"'
    if kind == "lstm":
        shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {paint}/>'
    else:
        shape = f'<polygon points="{x:.1f},{y - 5:.1f} {x - 5:.1f},{y + 4:.1f} {x + 5:.1f},{y + 4:.1f}" {paint}/>'
    return f'{shape}<text x="{x + 6:.1f}" y="{y + 3:.1f}" font-size="9" fill="#555">{language}</text>'


def _legend(width: int) -> str:
    x, parts = width - LEGEND, []
    for at, (name, colour) in enumerate(COLOURS.items()):
        y = TOP + 12 + 18 * at
        parts.append(f'<rect x="{x}" y="{y - 8}" width="12" height="8" fill="{colour}"/>')
        parts.append(f'<text x="{x + 17}" y="{y}">{name}</text>')
    y = TOP + 12 + 18 * len(COLOURS)
    parts.append(f'<circle cx="{x + 6}" cy="{y - 4}" r="4" fill="#555"/><text x="{x + 17}" y="{y}">LSTM</text>')
    y += 18
    parts.append(f'<polygon points="{x + 6},{y - 9} {x + 1},{y} {x + 11},{y}" fill="#555"/>')
    parts.append(f'<text x="{x + 17}" y="{y}">Transformer</text>')
    y += 18
    parts.append(f'<line x1="{x}" x2="{x + 12}" y1="{y - 4}" y2="{y - 4}" stroke="#d00" stroke-dasharray="5 3"/>')
    parts.append(
        f'<text x="{x + 17}" y="{y}">S = 1: above, an</text><text x="{x + 17}" y="{y + 13}">attack succeeds</text>'
    )
    return "".join(parts)
