"""How attacked texts hold against the queries spent on them, as SVG."""

from __future__ import annotations

from html import escape
from math import ceil, log10
from typing import Any

from .curves import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from .groups import percent


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
