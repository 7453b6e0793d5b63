"""Charts of several runs in one picture: a radar, curves by degree, clean score beside robustness, and scores over the runs.

A run has one colour, dash and mark everywhere, so that colour is not the only sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from markupsafe import Markup

from ..runs.schema import AttackSummary, Estimate, EvaluationSummary
from .charts import (
    LEAST,
    LETTER,
    LONGEST,
    NAMES,
    RADAR_HEIGHT,
    RADIUS,
    Point,
    axes,
    band,
    degree_ticks,
    dots,
    line,
    on_spoke,
    picture,
    query_axis,
    radar_frame,
    spot,
    stairs,
)
from .formatting import percent

KINDS = 6  # colours and marks
SIZE = 3.2  # half of the width of a mark
TWO = 2  # runs of which a radar shows worst cases, too: more lines cannot be told apart

# a mark's corners, in units of SIZE; the first run has a circle
CORNERS: tuple[tuple[Point, ...], ...] = (
    (),
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
    ((0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)),
    ((-1.15, -0.9), (1.15, -0.9), (0, 1.2)),
    ((-1, -0.4), (1, -0.4), (1, 0.4), (-1, 0.4)),
)


def mark(run: int, at: Point, name: str = "") -> str:
    """Returns the mark of a run at a point; a pointer shows its name."""
    kind, (x, y) = run % KINDS, at
    said = f"<title>{escape(name)}</title>" if name else ""
    if not CORNERS[kind]:
        return f'<circle class="m{kind} mark" r="{SIZE}" cx="{x}" cy="{y}">{said}</circle>'
    corners = " ".join(f"{x + SIZE * right:.1f},{y + SIZE * down:.1f}" for right, down in CORNERS[kind])
    return f'<polygon class="m{kind} mark" points="{corners}">{said}</polygon>'


def key(run: int) -> Markup:
    """Returns a run's line and mark, as the key of all pictures has it."""
    drawn = f'<line class="m{run % KINDS}" x1="0" y1="6" x2="26" y2="6"/>{mark(run, (13, 6))}'
    return Markup(f'<svg class="key" viewBox="0 0 26 12" aria-hidden="true">{drawn}</svg>')


def radar_of_runs(
    title: str,
    spokes: Sequence[str],
    names: Sequence[str],
    scores: Sequence[Sequence[tuple[float | None, float | None]]],
) -> Markup:
    """Returns a radar with a shape per run, RobTest's Figure 3. scores: of each run and spoke, average and worst; worst cases are
    drawn, as thin lines, of two runs. Returns "" if fewer than LEAST dimensions have scores.
    """
    known = [at for at in range(len(spokes)) if any(values[at][0] is not None for values in scores)]
    if len(known) < LEAST:
        return Markup()
    half = NAMES * RADIUS + LETTER * min(LONGEST, max(10, *map(len, spokes)))
    parts = [radar_frame(spokes)]
    for run, values in enumerate(scores):
        if len(scores) <= TWO:
            parts.append(_shape([worst for _, worst in values], f"m{run % KINDS} low"))
        parts.append(_shape([average for average, _ in values], f"m{run % KINDS}"))
        for at, (average, _) in enumerate(values):
            if average is not None:
                said = f"{names[run]}, {spokes[at]}: {percent(average)}"
                parts.append(mark(run, on_spoke(at, len(spokes), average), said))
    said = "; ".join(
        f"{spoke}: " + ", ".join(f"{name} {percent(values[at][0])}" for name, values in zip(names, scores, strict=True))
        for at, spoke in enumerate(spokes)
    )
    return picture(title, said, parts, f"{-half:g} {-RADAR_HEIGHT / 2:g} {2 * half:g} {RADAR_HEIGHT}")


def _shape(values: Sequence[float | None], kind: str) -> str:
    """Returns lines between known neighbours: a gap is no score of 0."""
    count = len(values)
    places = [None if value is None else on_spoke(at, count, value) for at, value in enumerate(values)]
    pairs = [(place, places[(at + 1) % count]) for at, place in enumerate(places)]
    if None not in places:
        return line([place for place in (*places, places[0]) if place is not None], kind)
    return "".join(line([one, other], kind) for one, other in pairs if one and other)


def curves_of_runs(
    title: str, names: Sequence[str], dimension: str, summaries: Sequence[EvaluationSummary], x_title: str
) -> Markup:
    """Returns the average score by degree of each run with its interval, from the clean score; "" if no run has the dimension."""
    has = [(run, summary) for run, summary in enumerate(summaries) if dimension in summary["dimensions"]]
    if not has:
        return Markup()
    top = max(cell["degree"] for _, summary in has for cell in summary["dimensions"][dimension]["degrees"])
    parts, said = [axes(degree_ticks(top), x_title, f"{summaries[0]['metric']} in %")], []
    bands, lines = [], []
    for run, summary in has:
        cells = summary["dimensions"][dimension]["degrees"]
        known = [(0.0, summary["clean"]["score"]), *((cell["degree"], cell["average"]) for cell in cells)]
        bands.append(band([(degree / top, entry["interval"]) for degree, entry in known], f"m{run % KINDS} band"))
        values = [(degree, entry["value"]) for degree, entry in known if entry["value"] is not None]
        places = [(degree, value, spot(degree / top, value)) for degree, value in values]
        lines.append(line([place for _, _, place in places], f"m{run % KINDS}"))
        lines += [mark(run, place, f"{names[run]}, {degree:g}: {percent(value)}") for degree, value, place in places]
        said.append(f"{names[run]}: " + ", ".join(f"{percent(value)} at {degree:g}" for degree, value, _ in places))
    return picture(title, "; ".join(said), [*parts, *bands, *lines])


def query_curves(title: str, names: Sequence[str], summaries: Sequence[AttackSummary]) -> Markup:
    """Returns the share of attacked texts that hold after so many queries, a line per run, on a logarithmic scale; "" if no share
    is known.
    """
    found = []
    for summary in summaries:
        known = zip(summary["curve"]["queries"], summary["curve"]["left"], strict=True)
        found.append([(max(1.0, count), share) for count, share in known if share is not None])
    if not any(found):
        return Markup()
    powers, ticks = query_axis(max(count for pairs in found for count, _ in pairs))
    parts, said = [axes(ticks, "queries for each text (logarithmic)", "texts that hold, %")], []
    for run, pairs in enumerate(found):
        places = [spot(log10(count) / powers, share) for count, share in stairs(pairs)] if pairs else []
        parts += [line(places, f"m{run % KINDS}"), mark(run, places[-1], names[run])] if places else []
        said.append(f"{names[run]}: " + ", ".join(f"{percent(share)} after {count:,.0f}" for count, share in pairs))
    return picture(title, "; ".join(said), parts)


def clean_beside_robust(
    title: str, names: Sequence[str], pairs: Sequence[tuple[Estimate, Estimate]], y_title: str
) -> Markup:
    """Returns a point per run: its clean score to the right, its score on perturbed texts up. Runs whose names do not fit, since
    they are many, have their names under the pointer alone.
    """
    known = [
        (run, clean["value"], robust["value"])
        for run, (clean, robust) in enumerate(pairs)
        if clean["value"] is not None and robust["value"] is not None
    ]
    if not known:
        return Markup()
    low, high = min(clean for _, clean, _ in known), max(clean for _, clean, _ in known)
    start, end = max(0.0, floor(20 * low - 1e-9) / 20 - 0.05), min(1.0, ceil(20 * high + 1e-9) / 20 + 0.05)
    steps = [start + (end - start) * step / 4 for step in range(5)]
    parts = [axes([(step / 4, f"{100 * at:.3g}") for step, at in enumerate(steps)], "clean score, %", y_title)]
    for run, clean, robust in known:
        place = spot((clean - start) / (end - start), robust)
        said = f"{names[run]}: clean {percent(clean)}, {percent(robust)}"
        many = len(known) > KINDS
        parts.append(mark(0 if many else run, place, said))
    said = "; ".join(f"{names[run]}: clean {percent(clean)}, {percent(robust)}" for run, clean, robust in known)
    return picture(title, said, parts)


def over_runs(title: str, names: Sequence[str], series: Sequence[tuple[str, str, Sequence[Estimate]]]) -> Markup:
    """Returns scores over the runs in their order, with intervals. series: what it is, the class of its line, and a score per
    run.
    """
    last = max(len(names) - 1, 1)
    step = max(1, ceil(len(names) / 8))
    ticks = [(at / last, str(at + 1)) for at in range(0, len(names), step)]
    parts, said = [axes(ticks, "run", "score, %")], []
    for what, kind, entries in series:
        parts.append(band([(at / last, entry["interval"]) for at, entry in enumerate(entries)], f"{kind}-area"))
        known = [(at, entry["value"]) for at, entry in enumerate(entries) if entry["value"] is not None]
        parts.append(line([spot(at / last, value) for at, value in known], kind))
        said_of = [f"{names[at]}: {what} {percent(value)}" for at, value in known]
        parts.append(dots([spot(at / last, value) for at, value in known], said_of, kind))
        ends = [known[0], known[-1]] if known else []
        said.append(f"{what}: " + ", ".join(f"{percent(value)} in run {at + 1}" for at, value in ends))
    return picture(title, "; ".join(said), parts)
