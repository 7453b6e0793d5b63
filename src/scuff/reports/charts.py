"""Charts as SVG, in one style: scores by degree, a radar of all dimensions, the texts that hold by number of queries, and a model
before and after. `figures.py` has those that show many dimensions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as _escape
from itertools import pairwise
from math import ceil, cos, floor, log10, pi, sin

from markupsafe import Markup

from ..evaluation.published import LEVEL_NAMES
from ..metrics.interval import wilson
from ..runs.display import cut
from ..runs.proof import Change, DegreeChange
from ..runs.schema import AccessName, Cell, Curve, DimensionScores, EvaluationSummary
from .characters import shown
from .formatting import alone, percent, spread
from .groups import groups


def escape(text: str) -> str:
    """Returns text as markup, control characters as their numbers."""
    return _escape(shown(text))


Point = tuple[float, float]
Tick = tuple[float, str]  # a place on an axis, as a share of its length, and what stands there

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 310, 212, 44, 10, 8, 42  # of a chart, and its margins
QUARTERS = (0, 0.25, 0.5, 0.75, 1)


def spot(right: float, up: float) -> Point:
    """Returns a point of the area inside the axes, by shares of its width and height."""
    return round(LEFT + float(right) * (WIDTH - LEFT - RIGHT), 1), round(TOP + (1 - up) * (HEIGHT - TOP - BOTTOM), 1)


def _points(places: Sequence[Point]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


def picture(title: str, said: str, parts: Sequence[str], box: str = f"0 0 {WIDTH} {HEIGHT}") -> Markup:
    """Returns a chart as SVG. title, said: its name and numbers for those who cannot see it; parts: markup; box: the view box."""
    about = f"<title>{escape(title)}</title><desc>{escape(said)}</desc>"
    return Markup(f'<svg viewBox="{box}" role="img">{about}{"".join(parts)}</svg>')


def axes(across: Sequence[Tick], x_title: str, y_title: str) -> str:
    """Returns the frame of every chart: lines at the quarters of the height with their percentages, ticks below, both titles."""
    out = []
    for share in QUARTERS:
        (x1, y), (x2, _) = spot(0, share), spot(1, share)
        out.append(f'<line class="axis" x1="{x1}" x2="{x2}" y1="{y}" y2="{y}"/>')
        out.append(f'<text x="{x1 - 5}" y="{y + 4}" text-anchor="end">{100 * share:.0f}</text>')
    for place, name in across:
        x, y = spot(place, 0)
        out.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{y}" y2="{y + 4}"/>')
        anchor = "end" if place > 0.97 and len(name) > 4 else "middle"
        out.append(f'<text x="{x}" y="{y + 15}" text-anchor="{anchor}">{escape(name)}</text>')
    middle, low = spot(0.5, 0)
    out.append(f'<text class="title" x="{middle}" y="{low + 33}" text-anchor="middle">{escape(x_title)}</text>')
    up = spot(0, 0.5)[1]
    out.append(
        f'<text class="title" transform="translate(11 {up}) rotate(-90)" text-anchor="middle">{escape(y_title)}</text>'
    )
    return "".join(out)


def degree_ticks(top: float) -> list[Tick]:
    return [(share, f"{share * top:.2g}") for share in QUARTERS]


def line(places: Sequence[Point], kind: str) -> str:
    """Returns a line through points; kind: its class."""
    return f'<polyline class="{kind}" points="{_points(places)}"/>' if places else ""


def dots(places: Sequence[Point], names: Sequence[str], kind: str) -> str:
    """Returns points, whose names a pointer shows."""
    return "".join(
        f'<circle class="{kind}" r="2.5" cx="{x}" cy="{y}"><title>{escape(name)}</title></circle>'
        for (x, y), name in zip(places, names, strict=True)
    )


def band(ends: Sequence[tuple[float, Sequence[float | None]]], kind: str) -> str:
    """Returns intervals as one area: their upper ends from left to right, their lower ends back. ends: place, both ends."""
    known = [(place, low, high) for place, (low, high) in ends if low is not None and high is not None]
    edge = [(place, high) for place, _, high in known] + [(place, low) for place, low, _ in reversed(known)]
    return f'<polygon class="{kind}" points="{_points([spot(x, min(y, 1)) for x, y in edge])}"/>' if known else ""


def across(level: float | None, kind: str) -> str:
    """Returns a horizontal line; "" if nobody knows where."""
    if level is None:
        return ""
    (x1, y), (x2, _) = spot(0, min(level, 1)), spot(1, min(level, 1))
    return f'<line class="{kind}" x1="{x1}" x2="{x2}" y1="{y}" y2="{y}"/>'


def curve(
    title: str,
    content: DimensionScores,
    clean: float | None,
    chance: float | None,
    beside: DimensionScores | None = None,
    metric: str = "score",
) -> Markup:
    """Returns a chart of average and worst score by degree with their intervals, the worst of each degree alone as a thin line,
    the clean score, and the score of guessing.

    beside: the dimension with another access, whose scores are drawn as thin lines.
    """
    cells = content["degrees"]
    top = max(cell["degree"] for cell in cells)
    parts = [axes(degree_ticks(top), f"degree: {_share_of(content)}", f"{metric} in %")]
    if beside:
        parts += [_from_clean(scores, top, clean, "beside") for scores in _scores(beside["degrees"])]
    average, worst = _scores(cells)
    for entries, scores, kind, area in (
        ([cell["average"] for cell in cells], average, "average", "band"),
        ([cell["worst"] for cell in cells], worst, "worst", "worst-band"),
    ):
        ends = [(cell["degree"] / top, entry["interval"]) for cell, entry in zip(cells, entries, strict=True)]
        parts += [band(ends, area), _from_clean(scores, top, clean, kind)]
    parts.append(_from_clean([(cell["degree"], alone(cell)["value"]) for cell in cells], top, clean, "alone"))
    parts += [across(clean, "clean"), across(chance, "chance"), _dots_of(cells, top)]
    said = "; ".join(
        f"degree {cell['degree']:g}: average {percent(cell['average']['value'])}, worst {percent(cell['worst']['value'])}"
        for cell in cells
    )
    return picture(title, f"Clean {percent(clean)}. {said}", parts)


def _share_of(content: DimensionScores) -> str:
    return "distance in meaning" if content["unit"] == "meaning" else f"share of {content['unit']}"


def _dots_of(cells: list[Cell], top: float) -> str:
    """Returns a point per degree on the line of the average, with its numbers."""
    known = [cell for cell in cells if cell["average"]["value"] is not None]
    places = [spot(cell["degree"] / top, cell["average"]["value"] or 0) for cell in known]
    return dots(places, [f"degree {cell['degree']:g}: average {spread(cell['average'])}" for cell in known], "average")


def left_curve(title: str, content: DimensionScores, red_line: float | None, metric: str = "score") -> Markup:
    """Returns a chart of s* by level with its intervals, as Zéroe's Figure 1: 100 is the clean score, the red line s_worst.

    What is above the clean score is drawn at its height.
    """
    known = [(cell["degree"], cell["left"]) for cell in content["degrees"] if "left" in cell]
    found = [(degree, entry["interval"], entry["value"]) for degree, entry in known if entry["value"] is not None]
    places = [spot(0, 1), *(spot(degree, min(value, 1)) for degree, _, value in found)]
    said = "; ".join(f"{percent(value)} at {degree:g}" for degree, _, value in found)
    parts = [
        axes([(0.0, "none"), *LEVEL_NAMES.items()], "level", f"s*: left of clean {metric}, %"),
        band([(degree, ends) for degree, ends, _ in found], "band"),
        line(places, "average"),
        dots(places[1:], [f"{degree:g}: {percent(value)}" for degree, _, value in found], "average"),
        across(red_line, "red-line"),
    ]
    return picture(title, said, parts)


def _scores(cells: list[Cell]) -> tuple[list[tuple[float, float | None]], list[tuple[float, float | None]]]:
    """Returns pairs of degree and score: of the average, and of the worst."""
    average = [(cell["degree"], cell["average"]["value"]) for cell in cells]
    return average, [(cell["degree"], cell["worst"]["value"]) for cell in cells]


def _from_clean(scores: Sequence[tuple[float, float | None]], top: float, clean: float | None, kind: str) -> str:
    """Returns a line from the clean score, at degree 0, through all scores that are known."""
    return line([spot(degree / top, score) for degree, score in [(0.0, clean), *scores] if score is not None], kind)


# the radar

RADAR_HEIGHT, RADIUS, NAMES = 270, 108, 1.08  # NAMES: where names stand, as a multiple of the radius
LETTER = 6.5  # the approximate width of a letter
LONGEST = 15  # letters of a name that are shown
NOT_MEASURED = ' font-style="italic"'
LEAST = 3  # dimensions: fewer spokes enclose no area


def radar(summary: EvaluationSummary, access: AccessName) -> Markup:
    """Returns a radar of average and worst with one access, the clean score as a ring; "" if fewer than LEAST have scores."""
    dimensions = summary["dimensions"]
    names = [(base, names.get(access)) for base, names in groups(summary).items()]
    average = [dimensions[name]["average"]["value"] if name else None for _, name in names]
    worst = [dimensions[name]["worst"]["value"] if name else None for _, name in names]
    if sum(value is not None for value in average) < LEAST:
        return Markup()
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
    box = f"{-half:g} {-RADAR_HEIGHT / 2:g} {2 * half:g} {RADAR_HEIGHT}"
    return picture(f"Final scores by dimension, in %, {access}", said, parts, box)


def _place(at: int, count: int, share: float) -> Point:
    """Returns a point on a spoke, by the share of the radius; spokes go clockwise from the top, around (0, 0)."""
    angle = 2 * pi * at / count
    return round(share * RADIUS * sin(angle), 1), round(-share * RADIUS * cos(angle), 1)


def _ring(count: int, share: float, kind: str) -> str:
    places = [_place(at, count, share) for at in range(count)]
    return f'<polygon class="{kind}" points="{_points(places)}"/>'


def _spoke(at: int, count: int, base: str, measured: bool) -> str:
    (x2, y2), (x, y) = (_place(at, count, share) for share in (1, NAMES))
    side = "middle" if abs(x) < 5 else "start" if x > 0 else "end"
    drop = 4 + 5 * y / RADIUS  # moves names away from the rim: down below the middle, up above it
    return (
        f'<line class="axis" x1="0" y1="0" x2="{x2}" y2="{y2}"/><text x="{x}" y="{round(y + drop, 1)}" '
        f'text-anchor="{side}"{"" if measured else NOT_MEASURED}>{escape(cut(base.removesuffix("@level"), LONGEST))}</text>'
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


def budget_curve(curve: Curve, attacked: int = 0, reduces: bool = False) -> Markup:
    """Returns a chart of the share of attacked texts that still hold after so many queries each, on a logarithmic scale, with
    Wilson's intervals of so many attacked texts. Returns "" if no share is known.
    """
    known = zip(curve["queries"], curve["left"], strict=True)
    pairs = [(max(1.0, count), share) for count, share in known if share is not None]
    if not pairs:
        return Markup()
    powers = max(1.0, log10(max(count for count, _ in pairs)))
    steps = (1, 2, 5) if powers < 3 else (1,)
    counts = [step * 10**power for power in range(ceil(powers) + 1) for step in steps]
    ticks = [(log10(count) / powers, f"{count:,}") for count in counts if log10(count) <= powers]
    held = "cannot be shortened" if reduces else "hold"
    stairs = _stairs(pairs)
    places = [spot(log10(count) / powers, share) for count, share in stairs]
    ends = [(log10(count) / powers, wilson(share, attacked)) for count, share in stairs] if attacked else []
    parts = [axes(ticks, "queries for each text (logarithmic)", f"texts that {held}, %"), band(ends, "band")]
    parts.append(line(places, "average"))
    said = "; ".join(f"{percent(share)} after {count:,.0f}" for count, share in pairs)
    return picture("Share that still holds, in %, after so many queries", said, parts)


def _stairs(pairs: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Returns the corners of a line in steps: nothing is known between two counts, so the share of the first one holds up to the
    second.
    """
    corners = [(count, before[1]) for before, (count, _) in pairwise(pairs)]
    return [pairs[0], *(place for both in zip(corners, pairs[1:], strict=True) for place in both)]


# before and after

ROW, NAME_WIDTH, BAR = 20, 112, 200  # height of a row, width of its name, width of the scale


def dumbbells(pairs: list[tuple[str, Change]], x_title: str = "average score, %") -> Markup:
    """Returns a chart with a row per dimension: its score before and after, with a line between them.

    The scale begins at the last quarter below all scores.
    """
    height = ROW * len(pairs) + 40
    values = [value for _, change in pairs for value in (change["before"], change["after"]) if value is not None]
    least = min(0.75, floor(4 * min(values, default=0)) / 4)

    def place(share: float) -> float:
        return round(NAME_WIDTH + (min(max(share, least), 1.0) - least) / (1 - least) * BAR, 1)

    parts = []
    for share in (least + (1 - least) * step for step in QUARTERS):
        x = place(share)
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="2" y2="{height - 34}"/>')
        parts.append(f'<text x="{x}" y="{height - 22}" text-anchor="middle">{100 * share:.3g}</text>')
    for at, (name, change) in enumerate(pairs):
        y = at * ROW + 12
        parts.append(
            f'<text x="{NAME_WIDTH - 8}" y="{y + 4}" text-anchor="end">{escape(cut(name, LONGEST + 2))}</text>'
        )
        if change["before"] is None or change["after"] is None:
            continue
        old, new = place(change["before"]), place(change["after"])
        kind = "average" if new >= old else "worst"
        parts.append(f'<line class="{kind}" x1="{old}" x2="{new}" y1="{y}" y2="{y}"/>')
        parts.append(f'<rect class="before" x="{old - 3:.1f}" y="{y - 3}" width="6" height="6"/>')
        parts.append(f'<circle class="average" r="3.5" cx="{new}" cy="{y}"/>')
    middle = NAME_WIDTH + BAR / 2
    parts.append(f'<text class="title" x="{middle}" y="{height - 5}" text-anchor="middle">{escape(x_title)}</text>')
    said = "; ".join(f"{name} {percent(change['before'])} to {percent(change['after'])}" for name, change in pairs)
    return picture("Scores before and after, in %", said, parts, f"0 0 {NAME_WIDTH + BAR + 12} {height}")


def two_curves(title: str, degrees: Sequence[DegreeChange], clean: Change, metric: str = "score") -> Markup:
    """Returns a chart of the average score by degree before and after, each from its clean score."""
    top = max(entry["degree"] for entry in degrees)
    old = [(entry["degree"], entry["before"]) for entry in degrees]
    new = [(entry["degree"], entry["after"]) for entry in degrees]
    parts = [
        axes(degree_ticks(top), "degree", f"{metric} in %"),
        _from_clean(old, top, clean["before"], "before"),
        _from_clean(new, top, clean["after"], "average"),
    ]
    said = "; ".join(
        f"degree {entry['degree']:g}: {percent(entry['before'])} to {percent(entry['after'])}" for entry in degrees
    )
    return picture(title, said, parts)
