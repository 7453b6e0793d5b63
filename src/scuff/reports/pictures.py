"""The charts of a run as files of their own: SVG that needs no page, and PNG made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

from ..resources import MissingResource
from ..runs.display import cut
from ..runs.folder import Folder, write_atomically
from ..runs.schema import AttackSummary, EvaluationSummary
from .charts import budget_curve, curve, escape, left_curve, radar
from .evaluation_tables import harm_measure
from .figures import COLOURS, distance_figure, harm_bars, mark, panels
from .groups import accesses, groups
from .page import TEMPLATES
from .zeroe import is_zeroe, measure, red_line

FONTS = '"DejaVu Sans", "Liberation Sans", Arial, Helvetica, sans-serif'
SCALE = 2  # of a PNG: pixels for each unit of the chart, doubled for slides and print
TITLE, ROW = 22, 16  # height of the title, and of a row of the key
HEADING, LETTER = 7.5, 5.9  # width of a letter of the title, and of another
KEY, EDGE = (
    22,
    8,
)  # width of a line in the key, and of the edge, where numbers at the ends of an axis may stand out a little
DASHES, LONGEST = 3, 24  # kinds of dashes that lines of all dimensions have; letters of a name in the key
# what lines mean, by their class in a chart
KEYS = {
    "average": "average over cases", "worst": "worst case", "alone": "worst case of each degree alone", "clean": "clean",
    "chance": "guessing", "red-line": "red line: nothing understood", "beside": "rule", "before": "before",
}  # fmt: skip
LEVEL_KEYS = {"average": "s*: left of the clean score", "red-line": "red line: nothing understood"}
LINES = '[class^="line-"]'  # the lines of all dimensions, in style.css
Pictures = dict[str, str]  # charts by name
Line = tuple[str, str, int | None]  # how its drawing begins, what it means, the number of its mark


def evaluation_pictures(summary: EvaluationSummary) -> Pictures:
    """Returns every chart of an evaluation, standing alone."""
    found: Pictures = {}
    zeroe = is_zeroe(summary)
    clean, chance = summary["clean"]["score"]["value"], summary["clean"]["chance"]
    for access in accesses(summary):
        found[f"radar-{access}"] = radar(summary, access)
        found[f"harm-{access}"] = harm_bars(summary, access, harm_measure(summary))
    if zeroe:
        found["distances"] = distance_figure(summary, measure(summary))
    else:
        found |= {f"all-{name.lower()}": picture for name, picture in panels([("", summary)])}
    for base, names in groups(summary).items():
        for access, name in names.items():
            content = summary["dimensions"][name]
            beside = summary["dimensions"][names["rule"]] if access != "rule" and "rule" in names else None
            if zeroe:
                red = red_line(summary)["left"]
                found[f"levels-{base}"] = left_curve(f"{base}: s* by level", content, red, measure(summary))
            else:
                found[f"curve-{name}"] = curve(f"{base}, {access}: score by degree", content, clean, chance, beside)
    lines, keys = list(groups(summary)), LEVEL_KEYS if zeroe else KEYS
    return {
        name: standalone(picture, lines, KEYS if name.startswith("radar") else keys)
        for name, picture in found.items()
        if picture
    }


def attack_pictures(summary: AttackSummary) -> Pictures:
    """Returns every chart of an attack, standing alone."""
    reduces = summary["recipe"]["goal"].startswith("reduction")
    picture = budget_curve(summary["curve"], summary["success"]["of"], reduces)
    return {"queries": standalone(picture, keys={})} if picture else {}


def pictures_of(folder: Folder) -> Pictures:
    """Returns every chart of a run, standing alone."""
    summary = folder.summary()
    return attack_pictures(summary) if "kind" in summary else evaluation_pictures(summary)


def standalone(chart: str, lines: Sequence[str] = (), keys: Mapping[str, str] = KEYS) -> str:
    """Returns a chart as a file of its own: with its colours on white, its title, and what its lines mean.

    lines: names of the dimensions, by the numbers that lines of all dimensions have. keys: what other lines mean, by their class.
    """
    x, y, width, height = map(float, re.search(r'viewBox="([^"]*)"', chart)[1].split())  # type: ignore[index]
    title = unescape(re.search("<title>(.*?)</title>", chart)[1])  # type: ignore[index]
    x, width = x - EDGE, max(width, HEADING * len(title)) + 2 * EDGE
    inside = chart[chart.index(">") + 1 : chart.rindex("</svg>")]
    key, rows = _key(x + EDGE, y + height + 4, width - 2 * EDGE, _entries(chart, lines, keys))
    tall = height + TITLE + rows * ROW + 6
    box = f"{x:g} {y - TITLE:g} {width:g} {tall:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width:g}" height="{tall:g}" role="img">'
        f"<style>{_style()}</style>"
        f'<rect class="paper" x="{x:g}" y="{y - TITLE:g}" width="{width:g}" height="{tall:g}"/>'
        f'<text class="heading" x="{x + EDGE:g}" y="{y - TITLE + 15:g}">{escape(title)}</text>{inside}{key}</svg>\n'
    )


def _key(left: float, top: float, room: float, entries: Sequence[Line]) -> tuple[str, int]:
    """Returns what lines mean, in rows that fit, and the number of rows."""
    out, x, row = [], left, 0
    for begin, words, marked in entries:
        wide = KEY + 5 + LETTER * len(words) + 12
        if x > left and x + wide > left + room:
            x, row = left, row + 1
        y = top + row * ROW + 8
        shape = f"{mark(marked, (round(x + KEY / 2, 1), y))}</g>" if marked is not None else ""
        out.append(
            f'{begin} points="{x:g},{y:g} {x + KEY:g},{y:g}"/>{shape}'
            f'<text x="{x + KEY + 5:g}" y="{y + 4:g}">{escape(words)}</text>'
        )
        x += wide
    return "".join(out), row + 1 if entries else 0


def _entries(chart: str, lines: Sequence[str], keys: Mapping[str, str]) -> list[Line]:
    """Returns the kinds of lines in a chart."""
    classes = {tuple(names.split()) for names in re.findall(r'class="([^"]*)"', chart)}
    used = {name for names in classes for name in names}
    entries: list[Line] = [(f'<polyline class="{kind}"', words, None) for kind, words in keys.items() if kind in used]
    for at, name in enumerate(lines):
        kinds = (f"line-{at % COLOURS}", f"dash-{at // COLOURS % DASHES}")
        if kinds in classes or kinds[:1] in classes:
            entries.append((f'<g class="{" ".join(kinds)}"><polyline', cut(name, LONGEST), at))
    return entries


@cache
def _style() -> str:
    """Returns the rules of style.css that charts need, in words that every program for SVG knows: no variables, no :is()."""
    css = re.sub(r"/\*.*?\*/", "", (TEMPLATES / "style.css").read_text(encoding="utf-8"), flags=re.DOTALL)
    css = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", css)
    rules = [(match[1].strip(), match[2].strip()) for match in re.finditer(r"([^{}]+)\{([^{}]*)\}", css)]
    roots = "".join(body for selector, body in rules if selector == ":root")
    colours = dict(re.findall(r"(--[\w-]+):\s*([^;]+)", roots))
    out = [f"text{{font-family:{FONTS}}}"]
    for selector, body in rules:
        plain = [one.removeprefix("svg ") for part in _parts(selector) for one in _expanded(part) if _draws(one)]
        if not set(re.findall(r"var\((--[\w-]+)\)", body)) <= set(colours):
            continue  # of a page that sets colours for its own lines: comparisons
        text = re.sub(r"var\((--[\w-]+)\)", lambda found: colours[found[1]], body)
        if any(LINES in one for one in plain):
            for at in range(COLOURS):  # what is said of the lines of all dimensions is said of each
                own = ",".join(one.replace(LINES, f".line-{at}") for one in plain)
                out.append(f"{own}{{{text.replace('currentColor', colours[f'--c{at}'])}}}")
        elif plain:
            out.append(f"{','.join(plain)}{{{text}}}")
    return "".join([*out, f".paper{{fill:#fff}}text.heading{{font-size:12px;font-weight:600;fill:{colours['--ink']}}}"])


def _parts(selector: str) -> list[str]:
    """Returns the selectors of a list; commas in brackets separate none."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", selector)]


def _expanded(selector: str) -> list[str]:
    """Returns a selector without :is(): one for each of its alternatives."""
    found = re.search(r":is\(([^()]*)\)", selector)
    if not found:
        return [selector]
    return [
        each
        for one in found[1].split(",")
        for each in _expanded(selector[: found.start()] + one.strip() + selector[found.end() :])
    ]


SHAPES = ("line", "polyline", "polygon", "path", "circle", "rect", "text", "g")


def _draws(selector: str) -> bool:
    """Returns whether a selector is about what is in a chart."""
    if selector.startswith("svg "):
        return True
    return bool(re.match(rf"(?:{'|'.join(SHAPES)})?\.(?:{'|'.join(KEYS)}|dash-\d)\b", selector))


def write_svg(folder: Folder, path: str) -> list[Path]:
    """Writes every chart of a run into a folder, which is made if there is none. Returns the files."""
    return _write(
        path, {f"{name}.svg": text.encode("utf-8", "backslashreplace") for name, text in pictures_of(folder).items()}
    )


def write_png(folder: Folder, path: str) -> list[Path]:
    """Writes every chart of a run as PNG into a folder. Returns the files. Raises MissingResource without resvg-py or a font."""
    drawn = _drawer()
    return _write(path, {f"{name}.png": drawn(text) for name, text in pictures_of(folder).items()})


def _write(path: str, files: dict[str, bytes]) -> list[Path]:
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise ValueError(f"{path}: expected a folder for charts, got a file")
    target.mkdir(parents=True, exist_ok=True)
    written, taken = [], set[str]()
    for name, content in files.items():
        stem, _, suffix = name.rpartition(".")
        plain = re.sub(r"[^\w.@-]+", "-", stem).strip("-.")[:100] or "chart"
        numbered, at = plain, 2
        while numbered.lower() in taken:
            numbered, at = f"{plain}-{at}", at + 1
        taken.add(numbered.lower())
        write_atomically(target / f"{numbered}.{suffix}", content)
        written.append(target / f"{numbered}.{suffix}")
    return written


def _drawer() -> Any:
    """Returns the function that makes PNG of SVG."""
    try:
        import resvg_py
    except ImportError:
        raise MissingResource("expected the package resvg-py for png, got none: pip install 'scuff[png]'") from None

    def draw(svg: str) -> bytes:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=SCALE))

    words = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="15"{}>x</text></svg>'
    if draw(words.format(f" font-family='{FONTS}'")) == draw(words.format(' opacity="0"')):
        raise MissingResource("expected a font on this machine for png, got none: install one, such as DejaVu Sans")
    return draw
