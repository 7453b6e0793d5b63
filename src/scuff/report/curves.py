"""A score against the degree, as SVG."""

from __future__ import annotations

from html import escape
from typing import Any

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
