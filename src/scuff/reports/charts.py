"""Charts as SVG: scores by degree, a radar of all dimensions, and the texts that hold by number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from math import ceil, cos, floor, log10, pi, sin

from ..evaluation.published import LEVEL_NAMES
from ..runs.display import cut
from ..runs.proof import Change, DegreeChange
from ..runs.schema import AccessName, Cell, Curve, DimensionScores, EvaluationSummary
from .formatting import alone, percent
from .groups import groups

Point = tuple[float, float]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 320, 190, 34, 8, 8, 28  # of a chart, and its margins
QUARTERS = (0, 0.25, 0.5, 0.75, 1)


def _spot(right: float, up: float) -> Point:
    """Returns a point of the area inside the axes, by shares of its width and height."""
    return round(LEFT + float(right) * (WIDTH - LEFT - RIGHT), 1), round(TOP + (1 - up) * (HEIGHT - TOP - BOTTOM), 1)


def _points(places: list[Point]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


def _levels() -> str:
    """Returns horizontal lines with the percentages that they stand for."""
    out = []
    for share in QUARTERS:
        (x1, y), (x2, _) = _spot(0, share), _spot(1, share)
        out.append(f'<line class="axis" x1="{x1}" x2="{x2}" y1="{y}" y2="{y}" opacity="0.6"/>')
        out.append(f'<text x="{x1 - 5}" y="{y + 4}" text-anchor="end">{100 * share:.0f}</text>')
    return "".join(out)


def curve(
    title: str,
    content: DimensionScores,
    clean: float | None,
    chance: float | None,
    beside: DimensionScores | None = None,
) -> str:
    """Returns a chart of average and worst score by degree with their intervals, the worst of each degree alone as a thin line,
    the clean score, and the score of guessing.

    beside: the dimension with another access, whose scores are drawn as thin lines.
    """
    cells = content["degrees"]
    top = max(cell["degree"] for cell in cells)
    parts = [_levels()]
    for share in QUARTERS:
        x, y = _spot(share, 0)
        anchor = "end" if share == 1 else "middle"
        parts.append(f'<text x="{x}" y="{y + 15}" text-anchor="{anchor}">{share * top:.2g}</text>')
    if beside:
        parts += [_line(average, top, clean, "beside") for average in _scores(beside["degrees"])]
    for scores, kind, band in zip(_scores(cells), ("average", "worst"), ("band", "worst-band"), strict=True):
        parts += [_band(cells, kind, top, band), _line(scores, top, clean, kind)]
    parts.append(_line(_alone(cells), top, clean, "alone"))
    parts += [_across(level, kind) for level, kind in ((clean, "clean"), (chance, "chance"))]
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'


def _across(level: float | None, kind: str) -> str:
    """Returns a dashed horizontal line; "" if nobody knows where."""
    if level is None:
        return ""
    (x1, y), (x2, _) = _spot(0, min(level, 1)), _spot(1, min(level, 1))
    return f'<line class="{kind}" stroke-dasharray="4 3" x1="{x1}" x2="{x2}" y1="{y}" y2="{y}"/>'


def left_curve(title: str, content: DimensionScores, red_line: float | None) -> str:
    """Returns a chart of s* by level with its intervals, as Zéroe's Figure 1: 100 is the clean score, the red line s_worst.

    What is above the clean score is drawn at its height.
    """
    known = [(cell["degree"], cell["left"]) for cell in content["degrees"] if "left" in cell]
    found = [(degree, entry["interval"], entry["value"]) for degree, entry in known if entry["value"] is not None]
    parts = [_levels()]
    for degree, name in ((0.0, "none"), *LEVEL_NAMES.items()):
        x, y = _spot(degree, 0)
        parts.append(f'<text x="{x}" y="{y + 15}" text-anchor="middle">{name}</text>')
    edge = [(degree, ends[1]) for degree, ends, _ in found] + [(degree, ends[0]) for degree, ends, _ in reversed(found)]
    band = [_spot(degree, min(end, 1)) for degree, end in edge if end is not None]
    line = [_spot(0, 1), *(_spot(degree, min(value, 1)) for degree, _, value in found)]
    said = "; ".join(f"{percent(value)} at {degree:g}" for degree, _, value in found)
    parts += [
        f'<polygon class="band" points="{_points(band)}"/>',
        f'<polyline class="average" fill="none" points="{_points(line)}"/>',
        *(f'<circle class="average" r="2.5" cx="{x}" cy="{y}"/>' for x, y in line[1:]),
        _across(red_line, "red-line"),
    ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{escape(title)}</title><desc>{escape(said)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _scores(cells: list[Cell]) -> tuple[list[tuple[float, float | None]], list[tuple[float, float | None]]]:
    """Returns pairs of degree and score: of the average, and of the worst."""
    average = [(cell["degree"], cell["average"]["value"]) for cell in cells]
    return average, [(cell["degree"], cell["worst"]["value"]) for cell in cells]


def _alone(cells: list[Cell]) -> list[tuple[float, float | None]]:
    """Returns pairs of degree and worst score of that degree alone."""
    return [(cell["degree"], alone(cell)["value"]) for cell in cells]


def _line(scores: list[tuple[float, float | None]], top: float, clean: float | None, kind: str) -> str:
    """Returns a line from the clean score, at degree 0, through all scores that are known."""
    places = [_spot(degree / top, score) for degree, score in [(0.0, clean), *scores] if score is not None]
    return f'<polyline class="{kind}" fill="none" points="{_points(places)}"/>'


def _band(cells: list[Cell], kind: str, top: float, name: str) -> str:
    """Returns the intervals as one area: their upper ends from left to right, their lower ends back."""
    entries = [(cell["degree"], cell["average"] if kind == "average" else cell["worst"]) for cell in cells]
    known = [(degree, entry["interval"]) for degree, entry in entries if entry["value"] is not None]
    edge = [(degree, high) for degree, (_, high) in known] + [(degree, low) for degree, (low, _) in reversed(known)]
    places = [_spot(degree / top, end) for degree, end in edge if end is not None]
    return f'<polygon class="{name}" points="{_points(places)}"/>'


# the radar

RADAR_HEIGHT, RADIUS, NAMES = 270, 108, 1.08  # NAMES: where names stand, as a multiple of the radius
LETTER = 6.5  # the approximate width of a letter
LONGEST = 15  # letters of a name that are shown
LEAST = 3  # dimensions: fewer spokes enclose no area


def radar(summary: EvaluationSummary, access: AccessName) -> str:
    """Returns a radar of average and worst with one access, the clean score as a ring; "" if fewer than LEAST have scores."""
    dimensions = summary["dimensions"]
    names = [(base, names.get(access)) for base, names in groups(summary).items()]
    average = [dimensions[name]["average"]["value"] if name else None for _, name in names]
    worst = [dimensions[name]["worst"]["value"] if name else None for _, name in names]
    if sum(value is not None for value in average) < LEAST:
        return ""
    count, clean = len(names), summary["clean"]["score"]["value"]
    half = NAMES * RADIUS + LETTER * min(LONGEST, max(10, *(len(base) for base, _ in names)))
    rings = [_ring(count, share, "axis") for share in (0.25, 0.5, 0.75, 1)]
    spokes = [_spoke(at, count, base, name is not None) for at, (base, name) in enumerate(names)]
    scale = [f'<text x="3" y="{11 - share * RADIUS}">{100 * share:.0f}</text>' for share in (0.25, 0.5, 0.75)]
    parts = [*rings, *spokes, _ring(count, clean, "clean") if clean is not None else ""]
    parts += [_shape(average, "average"), _shape(worst, "worst"), *scale]
    said = "; ".join(
        f"{base}: average {percent(mean)}, worst {percent(least)}" if name else f"{base}: not measured"
        for (base, name), mean, least in zip(names, average, worst, strict=True)
    )
    return (
        f'<svg viewBox="{-half:g} {-RADAR_HEIGHT / 2:g} {2 * half:g} {RADAR_HEIGHT}" role="img" '
        f'aria-describedby="radar-{access}">'
        f'<title>Final scores by dimension, {access}</title><desc id="radar-{access}">{escape(said)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _place(at: int, count: int, share: float) -> Point:
    """Returns a point on a spoke, by the share of the radius; spokes go clockwise from the top, around (0, 0)."""
    angle = 2 * pi * at / count
    return round(share * RADIUS * sin(angle), 1), round(-share * RADIUS * cos(angle), 1)


def _ring(count: int, share: float, kind: str) -> str:
    dashes = ' stroke-dasharray="4 3"' if kind == "clean" else ""
    places = [_place(at, count, share) for at in range(count)]
    return f'<polygon class="{kind}" fill="none"{dashes} points="{_points(places)}"/>'


def _spoke(at: int, count: int, base: str, measured: bool) -> str:
    (x2, y2), (x, y) = (_place(at, count, share) for share in (1, NAMES))
    side = "middle" if abs(x) < 5 else "start" if x > 0 else "end"
    drop = 4 + 5 * y / RADIUS  # moves names away from the rim: down below the middle, up above it
    return (
        f'<line class="axis" x1="0" y1="0" x2="{x2}" y2="{y2}"/><text x="{x}" y="{round(y + drop, 1)}" '
        f'text-anchor="{side}" opacity="{1 if measured else 0.5}">{escape(cut(base, LONGEST))}</text>'
    )


def _shape(values: list[float | None], kind: str) -> str:
    """Returns a filled polygon if all values are known; else lines between known neighbours, since a gap is no score of 0."""
    count = len(values)
    places = [None if value is None else _place(at, count, value) for at, value in enumerate(values)]
    known = [place for place in places if place is not None]
    if len(known) == count:
        lines = [f'<polygon class="{kind} inside" points="{_points(known)}"/>']
    else:
        pairs = [(place, places[(at + 1) % count]) for at, place in enumerate(places)]
        lines = [f'<polyline class="{kind}" points="{_points([a, b])}"/>' for a, b in pairs if a and b]
    return "".join([*lines, *(f'<circle class="{kind}" r="2" cx="{x}" cy="{y}"/>' for x, y in known)])


def budget_curve(curve: Curve) -> str:
    """Returns a chart of the share of attacked texts that still hold after so many queries each, on a logarithmic scale.

    Returns "" if no share is known.
    """
    known = zip(curve["queries"], curve["left"], strict=True)
    pairs = [(max(1.0, count), share) for count, share in known if share is not None]
    if not pairs:
        return ""
    powers = max(1.0, log10(max(count for count, _ in pairs)))
    parts = [_levels()]
    steps = (1, 2, 5) if powers < 3 else (1,)
    counts = [step * 10**power for power in range(ceil(powers) + 1) for step in steps]
    for count in (count for count in counts if log10(count) <= powers):
        (x, y), (_, top) = (_spot(log10(count) / powers, up) for up in (0, 1))
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{y}" y2="{top}" opacity="0.6"/>')
        parts.append(f'<text x="{x}" y="{y + 15}" text-anchor="middle">{count:,}</text>')
    # in steps: nothing is known between two counts, so the share of the first one holds up to the second
    corners = [(count, before[1]) for before, (count, _) in pairwise(pairs)]
    steps_of = [pairs[0], *(place for both in zip(corners, pairs[1:], strict=True) for place in both)]
    places = [_spot(log10(count) / powers, share) for count, share in steps_of]
    parts.append(f'<polyline class="average" fill="none" points="{_points(places)}"/>')
    said = "; ".join(f"{percent(share)} after {count:,.0f}" for count, share in pairs)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>Share that still holds, in %, after so many queries</title>'
        f"<desc>{escape(said)}</desc>{''.join(parts)}</svg>"
    )


# before and after

ROW, NAME_WIDTH, BAR = 20, 112, 200  # height of a row, width of its name, width of the scale


def dumbbells(pairs: list[tuple[str, Change]]) -> str:
    """Returns a chart with a row per dimension: its score before and after, with a line between them.

    The scale begins at the last quarter below all scores.
    """
    height = ROW * len(pairs) + 22
    values = [value for _, change in pairs for value in (change["before"], change["after"]) if value is not None]
    least = min(0.75, floor(4 * min(values, default=0)) / 4)

    def place(share: float) -> float:
        return round(NAME_WIDTH + (min(max(share, least), 1.0) - least) / (1 - least) * BAR, 1)

    parts = []
    for share in (least + (1 - least) * step for step in QUARTERS):
        x = place(share)
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="2" y2="{height - 18}" opacity="0.6"/>')
        parts.append(f'<text x="{x}" y="{height - 5}" text-anchor="middle">{100 * share:.3g}</text>')
    for at, (name, change) in enumerate(pairs):
        y = at * ROW + 12
        parts.append(
            f'<text x="{NAME_WIDTH - 8}" y="{y + 4}" text-anchor="end">{escape(cut(name, LONGEST + 2))}</text>'
        )
        if change["before"] is None or change["after"] is None:
            continue
        old, new = place(change["before"]), place(change["after"])
        kind = "average" if new >= old else "worst"
        parts.append(f'<line class="{kind}" stroke-width="2" x1="{old}" x2="{new}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle r="3.5" fill="var(--soft)" cx="{old}" cy="{y}"/>')
        parts.append(f'<circle class="average" r="3.5" cx="{new}" cy="{y}"/>')
    said = "; ".join(f"{name} {percent(change['before'])} to {percent(change['after'])}" for name, change in pairs)
    return (
        f'<svg viewBox="0 0 {NAME_WIDTH + BAR + 12} {height}" role="img"><title>Scores before and after, in %</title>'
        f"<desc>{escape(said)}</desc>{''.join(parts)}</svg>"
    )


def two_curves(title: str, degrees: Sequence[DegreeChange], clean: Change) -> str:
    """Returns a chart of the average score by degree before and after, each from its clean score."""
    top = max(entry["degree"] for entry in degrees)
    parts = [_levels()]
    for share in QUARTERS:
        x, y = _spot(share, 0)
        anchor = "end" if share == 1 else "middle"
        parts.append(f'<text x="{x}" y="{y + 15}" text-anchor="{anchor}">{share * top:.2g}</text>')
    old = [(entry["degree"], entry["before"]) for entry in degrees]
    new = [(entry["degree"], entry["after"]) for entry in degrees]
    parts.append(_line(old, top, clean["before"], "chance"))
    parts.append(_line(new, top, clean["after"], "average"))
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'
