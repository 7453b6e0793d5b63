"""Charts as SVG: score against degree, all dimensions at a glance, survivors against queries."""

from __future__ import annotations

from html import escape
from math import ceil, cos, log10, pi, sin
from typing import Any

from .groups import Summary, groups, percent

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 320, 190, 34, 8, 8, 28


def curve(
    title: str, content: dict[str, Any], clean: float | None, chance: float, beside: dict[str, Any] | None = None
) -> str:
    """Average and worst score with their intervals, the clean score, what guessing gives, and thin, those of another setting."""
    cells = content["degrees"]
    top = max([cell["degree"] for cell in cells])

    def place(degree: float, score: float) -> tuple[float, float]:
        x = LEFT + degree / top * (WIDTH - LEFT - RIGHT)
        return round(x, 1), round(TOP + (1 - score) * (HEIGHT - TOP - BOTTOM), 1)

    def points(pairs: list[tuple[float, float | None]]) -> str:
        return " ".join("{},{}".format(*place(degree, score)) for degree, score in pairs if score is not None)

    def line(cells: list[dict[str, Any]], name: str, kind: str) -> str:
        pairs = [(0.0, clean), *((cell["degree"], cell[name]["value"]) for cell in cells)]
        return f'<polyline class="{kind}" fill="none" points="{points(pairs)}"/>'

    parts = [_grid(place, top)]
    for name in ("average", "worst") if beside else ():
        parts.append(line(beside["degrees"], name, "beside") if beside else "")
    for name, band in (("average", "band"), ("worst", "worst-band")):
        known = [(cell["degree"], cell[name]) for cell in cells if cell[name]["value"] is not None]
        edge = [(d, e["interval"][1]) for d, e in known] + [(d, e["interval"][0]) for d, e in reversed(known)]
        parts.append(f'<polygon class="{band}" points="{points(edge)}"/>')
        parts.append(line(cells, name, name))
    for level, kind in ((clean, "clean"), (chance, "chance")):
        if level is not None:
            (x1, y), (x2, _) = place(0, level), place(top, level)
            parts.append(f'<line class="{kind}" stroke-dasharray="4 3" x1="{x1}" x2="{x2}" y1="{y}" y2="{y}"/>')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'


def _grid(place: Any, top: float) -> str:
    out = []
    for score in (0, 0.25, 0.5, 0.75, 1):
        (x1, y), (x2, _) = place(0, score), place(top, score)
        out.append(f'<line class="axis" x1="{x1}" x2="{x2}" y1="{y}" y2="{y}" opacity="0.6"/>')
        out.append(f'<text x="{x1 - 5}" y="{y + 4}" text-anchor="end">{100 * score:.0f}</text>')
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = place(share * top, 0)
        anchor = "end" if share == 1 else "middle"
        out.append(f'<text x="{x}" y="{y + 15}" text-anchor="{anchor}">{share * top:.2g}</text>')
    return "".join(out)


RADAR_HEIGHT, RADIUS, NAMES = 270, 108, 1.08  # names stand a little outside the rim

LETTER = 6.5  # its width, about

LONGEST = 15  # letters of a name beside its spoke

LEAST = 3  # fewer spokes enclose nothing


def radar(summary: Summary, setting: str) -> str:
    """Average and worst in one setting, the clean score as a ring; nothing if fewer than three dimensions have scores."""
    dimensions = summary["dimensions"]
    names = [(base, names.get(setting)) for base, names in groups(summary).items()]
    scores = {
        kind: [dimensions[name][kind]["value"] if name else None for _, name in names] for kind in ("average", "worst")
    }
    if sum(value is not None for value in scores["average"]) < LEAST:
        return ""
    count, clean = len(names), summary["clean"]["score"]["value"]
    half = NAMES * RADIUS + LETTER * min(LONGEST, max(10, *(len(base) for base, _ in names)))
    rings = [_ring(count, share, "axis") for share in (0.25, 0.5, 0.75, 1)]
    spokes = [_spoke(at, count, base, name is not None) for at, (base, name) in enumerate(names)]
    scale = [f'<text x="3" y="{11 - share * RADIUS}">{100 * share:.0f}</text>' for share in (0.25, 0.5, 0.75)]
    parts = [*rings, *spokes, _ring(count, clean, "clean") if clean is not None else ""]
    parts += [*(_shape(scores[kind], kind) for kind in ("average", "worst")), *scale]
    said = "; ".join(
        f"{base}: average {percent(average)}, worst {percent(worst)}" if name else f"{base}: not measured"
        for (base, name), average, worst in zip(names, scores["average"], scores["worst"], strict=True)
    )
    return (
        f'<svg viewBox="{-half:g} {-RADAR_HEIGHT / 2:g} {2 * half:g} {RADAR_HEIGHT}" role="img" '
        f'aria-describedby="radar-{setting}">'
        f'<title>Final scores by dimension, {setting}</title><desc id="radar-{setting}">{escape(said)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _place(at: int, count: int, share: float) -> tuple[float, float]:
    """Clockwise from the top, around (0, 0)."""
    angle = 2 * pi * at / count
    return round(share * RADIUS * sin(angle), 1), round(-share * RADIUS * cos(angle), 1)


def _points(pairs: list[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in pairs)


def _ring(count: int, share: float, kind: str) -> str:
    dashes = ' stroke-dasharray="4 3"' if kind == "clean" else ""
    places = [_place(at, count, share) for at in range(count)]
    return f'<polygon class="{kind}" fill="none"{dashes} points="{_points(places)}"/>'


def _spoke(at: int, count: int, base: str, measured: bool) -> str:
    (x2, y2), (x, y) = (_place(at, count, share) for share in (1, NAMES))
    side = "middle" if abs(x) < 5 else "start" if x > 0 else "end"
    drop = 4 + 5 * y / RADIUS  # names below the middle hang, names above stand
    shown = base if len(base) <= LONGEST else base[: LONGEST - 1] + "…"
    return (
        f'<line class="axis" x1="0" y1="0" x2="{x2}" y2="{y2}"/><text x="{x}" y="{round(y + drop, 1)}" '
        f'text-anchor="{side}" opacity="{1 if measured else 0.5}">{escape(shown)}</text>'
    )


def _shape(values: list[float | None], kind: str) -> str:
    """Filled if all are known; else lines between neighbours that are, since a gap is no score of 0."""
    count = len(values)
    places = [None if value is None else _place(at, count, value) for at, value in enumerate(values)]
    known = [place for place in places if place is not None]
    if len(known) == count:
        lines = [f'<polygon class="{kind} inside" points="{_points(known)}"/>']
    else:
        pairs = [(place, places[(at + 1) % count]) for at, place in enumerate(places)]
        lines = [f'<polyline class="{kind}" points="{_points([a, b])}"/>' for a, b in pairs if a and b]
    return "".join([*lines, *(f'<circle class="{kind}" r="2" cx="{x}" cy="{y}"/>' for x, y in known)])


def budget_curve(curve: dict[str, list[Any]]) -> str:
    """The share of attacked texts that still hold after so many queries each, on a logarithmic scale; "" if none is known."""
    pairs = [
        (max(1.0, count), share)
        for count, share in zip(curve["queries"], curve["left"], strict=True)
        if share is not None
    ]
    if not pairs:
        return ""
    powers = max(1.0, log10(max(count for count, _ in pairs)))

    def place(count: float, share: float) -> tuple[float, float]:
        x = LEFT + log10(count) / powers * (WIDTH - LEFT - RIGHT)
        return round(x, 1), round(TOP + (1 - share) * (HEIGHT - TOP - BOTTOM), 1)

    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        (x1, y), (x2, _) = place(1, share), place(10**powers, share)
        parts.append(f'<line class="axis" x1="{x1}" x2="{x2}" y1="{y}" y2="{y}" opacity="0.6"/>')
        parts.append(f'<text x="{x1 - 5}" y="{y + 4}" text-anchor="end">{100 * share:.0f}</text>')
    steps = (1, 2, 5) if powers < 3 else (1,)
    counts = [step * 10**power for power in range(ceil(powers) + 1) for step in steps]
    for count in (count for count in counts if log10(count) <= powers):
        (x, y), (_, top) = place(count, 0), place(count, 1)
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{y}" y2="{top}" opacity="0.6"/>')
        parts.append(f'<text x="{x}" y="{y + 15}" text-anchor="middle">{count:,}</text>')
    points = " ".join("{},{}".format(*place(*pair)) for pair in pairs)
    parts.append(f'<polyline class="average" fill="none" points="{points}"/>')
    said = "; ".join(f"{percent(share)} after {count:,.0f}" for count, share in pairs)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>Share that still holds, in %, after so many queries</title>'
        f"<desc>{escape(said)}</desc>{''.join(parts)}</svg>"
    )
