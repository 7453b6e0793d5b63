"""Figures of the papers, with many dimensions in one chart: RobTest's panels, the ranking of harm, Zéroe's edit distances."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ..runs.display import cut
from ..runs.schema import AccessName, EvaluationSummary
from .charts import QUARTERS, Point, across, axes, degree_ticks, escape, picture, spot
from .formatting import percent
from .groups import accesses, degrees, groups, title
from .zeroe import red_line

SHAPES = 8  # of marks, in style.css: with COLOURS and dashes, so that colour is never the only sign
COLOURS = 6
HOWS = ("average", "worst")
Panel = tuple[str, Markup]  # title and chart


def panels(models: Sequence[tuple[str, EvaluationSummary]]) -> list[Panel]:
    """Returns RobTest's Figure 4: of each model, access and way to estimate (average, worst) a chart with all dimensions.

    models: names and summaries; of two models with two accesses these are its eight panels. A name of "" is left out.
    """
    out = []
    for name, summary in models:
        for access in accesses(summary):
            for how in HOWS:
                words = [name, access.title(), how.title()]
                out.append(("-".join(filter(None, words)), _panel(summary, access, how)))
    return out


def _panel(summary: EvaluationSummary, access: AccessName, how: str) -> Markup:
    clean, top = summary["clean"]["score"]["value"], degrees(summary)[-1]
    parts, said = [axes(degree_ticks(top), "degree", f"{summary['metric']} in %")], []
    for at, (base, names) in enumerate(groups(summary).items()):
        if access not in names:
            continue
        cells = summary["dimensions"][names[access]]["degrees"]
        values = [(cell["degree"], (cell["average"] if how == "average" else cell["worst"])["value"]) for cell in cells]
        known = [(degree, value) for degree, value in values if value is not None]
        start = [] if clean is None else [spot(0, clean)]
        places = [*start, *(spot(degree / top, value) for degree, value in known)]
        points = " ".join(f"{x},{y}" for x, y in places)
        marks = "".join(mark(at, place) for place in places[len(start) :])
        parts.append(
            f'<g class="line-{at % COLOURS} dash-{at // COLOURS % 3}"><polyline points="{points}"/>{marks}</g>'
        )
        said.append(f"{base}: " + ", ".join(percent(value) for _, value in known))
    return picture(f"{access}, {how}: score by degree of all dimensions", "; ".join(said), parts)


def mark(at: int, place: Point) -> str:
    """Returns a small mark, whose shape depends on the number of the line."""
    x, y = place
    r = 3
    shape = at % SHAPES
    if shape == 0:
        return f'<circle cx="{x}" cy="{y}" r="{r}"/>'
    if shape == 1:
        return f'<rect x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}"/>'
    corners = {
        2: [(0, -r - 1), (r + 1, r), (-r - 1, r)],
        3: [(0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)],
        4: [(0, r + 1), (r + 1, -r), (-r - 1, -r)],
    }.get(shape)
    if corners:
        return f'<polygon points="{" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)}"/>'
    strokes = {
        5: [(-r, 0, r, 0), (0, -r, 0, r)],
        6: [(-r, -r, r, r), (-r, r, r, -r)],
        7: [(-r, 0, r, 0), (-r, -r, r, r), (-r, r, r, -r)],
    }[shape]
    path = "".join(f"M{x + a:.1f},{y + b:.1f}L{x + c:.1f},{y + d:.1f}" for a, b, c, d in strokes)
    return f'<path d="{path}"/>'


def line_keys(names: Sequence[str]) -> list[tuple[Markup, str]]:
    """Returns what the lines of panels mean: a picture of each, and its name."""
    out = []
    for at, name in enumerate(names):
        kind = f"line-{at % COLOURS} dash-{at // COLOURS % 3}"
        inside = f'<g class="{kind}"><polyline points="0,6 26,6"/>{mark(at, (13, 6))}</g>'
        out.append((Markup(f'<svg class="key" viewBox="0 0 26 12" aria-hidden="true">{inside}</svg>'), name))
    return out


# the ranking of harm

ROW, NAMES, BAR, NUMBER = 22, 118, 190, 40  # height of a row; width of its name, of the scale, of the number


def harm_bars(summary: EvaluationSummary, access: AccessName, metric: str) -> Markup:
    """Returns a bar per dimension: what is left of the clean score at the highest degree, the most harmful first."""
    entries = [
        (title(summary, content["base"]), entry["left"])
        for entry in summary["harm"]
        if (content := summary["dimensions"][entry["dimension"]])["setting"] == access
    ]
    height = ROW * len(entries) + 40
    parts = []
    for share in QUARTERS:
        x = NAMES + share * BAR
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="2" y2="{height - 36}"/>')
        parts.append(f'<text x="{x}" y="{height - 23}" text-anchor="middle">{100 * share:.0f}</text>')
    for at, (name, left) in enumerate(entries):
        y = at * ROW + 4
        parts.append(
            f'<text x="{NAMES - 7}" y="{y + 11}" text-anchor="end">{escape(cut(name.removesuffix("@level"), 18))}</text>'
        )
        if left is not None:
            wide = round(max(0.0, min(left, 1.0)) * BAR, 1)
            parts.append(f'<rect class="bar" x="{NAMES}" y="{y}" width="{wide}" height="14"/>')
        parts.append(f'<text class="number" x="{NAMES + BAR + 8}" y="{y + 11}">{percent(left)}</text>')
    words = f"left of the clean {metric} at degree {degrees(summary)[-1]:g}, %"
    parts.append(
        f'<text class="title" x="{NAMES + BAR / 2}" y="{height - 5}" text-anchor="middle">{escape(words)}</text>'
    )
    said = "; ".join(f"{name} {percent(left)}" for name, left in entries)
    return picture(f"{words}, {access}", said, parts, f"0 0 {NAMES + BAR + NUMBER} {height}")


# Zéroe's Figure 5


def distance_figure(summary: EvaluationSummary, metric: str) -> Markup:
    """Returns Zéroe's Figure 5: each point is a perturbation at a level, by the edit distance to the clean texts and by what is
    left of the clean score; the red line is s_worst.
    """
    found = []
    for at, (base, names) in enumerate(groups(summary).items()):
        for cell in summary["dimensions"][next(iter(names.values()))]["degrees"]:
            left = cell.get("left", {"value": None})["value"]
            if left is not None and cell["edit_distance"] is not None:
                found.append((at, base, cell["degree"], cell["edit_distance"], left))
    if not found:
        return Markup()
    top = max(0.05, max(far for *_, far, _ in found))
    parts = [axes(degree_ticks(top), "edit distance, share of characters", f"s*: left of clean {metric}, %")]
    parts.append(across(red_line(summary)["left"], "red-line"))
    for at, base, degree, far, left in found:
        shown = mark(at, spot(far / top, min(left, 1)))
        name = f"<title>{escape(base)} at {degree:g}: distance {far:.2f}, left {percent(left)} %</title>"
        parts.append(f'<g class="line-{at % COLOURS}">{name}{shown}</g>')
    said = "; ".join(f"{base} at {degree:g}: {far:.2f}, {percent(left)}" for _, base, degree, far, left in found)
    return picture("What is left of the clean score by edit distance", said, parts)
