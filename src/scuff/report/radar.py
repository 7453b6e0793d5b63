"""The final scores of all dimensions around a circle, as SVG (RobTest, Figures 2 and 3)."""

from __future__ import annotations

from html import escape
from math import cos, pi, sin

from .groups import Summary, groups, percent

HEIGHT, RADIUS, NAMES = 270, 108, 1.08  # names stand a little outside the rim
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
        f'<svg viewBox="{-half:g} {-HEIGHT / 2:g} {2 * half:g} {HEIGHT}" role="img" aria-describedby="radar-{setting}">'
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
