"""Tables of a comparison of runs: as text that fits the terminal, as Markdown in RobTest's layout, as rows for CSV and pandas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from ..runs.display import cut, visible
from ..runs.proof import Change, EvaluationComparison
from ..runs.schema import EvaluationSummary
from .changes import LOST, p_value, points, verdict
from .compared import Compared, Material, headline
from .comparison_words import comparison_verdict, comparison_words, pair_verdict
from .formatting import alone, cell, markdown_row, percent, spread

WIDTH = 130  # letters of a line, where nobody knows the terminal
LEAST = 12  # letters of the first column that stay
LONGEST = 40  # letters of a run's name
NUMBERED = "run 1"  # what the first run is called where names, cut short, are equal
FEW = 6  # runs that have a column each
UNPAIRED = "*"  # marks differences between runs without common examples

ATTACK_NAMES = {"success": "attack success rate", "held": "texts that hold, of all", "queries": "queries per text"}


@dataclass(frozen=True)
class Column:
    """A column of a text table. keep: the columns with the lowest are left out first where a line is too long."""

    head: str
    cells: list[str]
    left: bool = False
    keep: int = 9

    @property
    def width(self) -> int:
        return max(len(self.head), *map(len, self.cells)) if self.cells else len(self.head)


def fitted(columns: Sequence[Column], width: int) -> list[str]:
    """Returns the lines of a table of at most `width` letters: columns are left out, then the first one is cut."""
    shown = list(columns)

    def wide() -> int:
        return sum(column.width + 2 for column in shown) - 2

    while wide() > width and len(shown) > 2 and min(column.keep for column in shown[1:]) < 9:
        least = min(column.keep for column in shown[1:])
        shown = [shown[0], *(column for column in shown[1:] if column.keep > least)]
    first = shown[0]
    if wide() > width:
        most = max(LEAST, first.width - (wide() - width))
        shown[0] = Column(cut(first.head, most), [cut(each, most) for each in first.cells], True)
    lines = []
    for at in range(-1, len(first.cells)):
        texts = [column.head if at < 0 else column.cells[at] for column in shown]
        cells = [
            f"{text:{column.width}}" if column.left else f"{text:>{column.width}}"
            for text, column in zip(texts, shown, strict=True)
        ]
        lines.append("  ".join(cells).rstrip()[: max(width, 1)])
    return lines


def comparison_table(content: Compared, width: int = WIDTH) -> str:
    """Returns the verdict, what differs, and the table: of two runs a line per dimension, of more a line per run."""
    runs = content["runs"]
    short = 16 if width >= 110 else 9
    heads, names = _heads(content, short), [visible(run["name"]) for run in runs]
    called = [f"{head}: {name}" for head, name in zip(heads, names, strict=True)] if heads[0] == NUMBERED else names
    title = f"{len(runs)} runs" if len(runs) > FEW else ", ".join(called)
    unit = content["metric"] if content["kind"] == "evaluate" else "shares"
    about = f"{title}; on {visible(runs[0]['data'])}: {unit} in %, differences with 95 % intervals"
    lines = [_wrapped(visible(comparison_verdict(content)), width), ""]
    lines += [_wrapped(f"differs: {visible(line)}", width) for line in content["differs"]]
    lines += [""] if content["differs"] else []
    lines += [_wrapped(about, width), ""]
    two = len(runs) == 2
    lines += fitted(_pair_columns(content, short) if two else _run_columns(content, max(LEAST, width // 4)), width)
    if not two and content["kind"] == "evaluate":
        lines += _by_run(content, width, short)
    lines += ["", *(_wrapped(visible(line), width) for line in comparison_words(content))]
    if not all(change["paired"] for change in content["changes"]):
        lines.append(_wrapped(f"{UNPAIRED} not paired: no example is in both runs, so nothing was tested", width))
    return "\n".join(lines).rstrip()


def _wrapped(text: str, width: int) -> str:
    return fill(text, max(width, 20), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _heads(content: Compared, most: int) -> list[str]:
    """The names of runs as columns have them, cut to so many letters; their numbers, if that makes two of them equal."""
    names = [cut(visible(run["name"]), most) for run in content["runs"]]
    return names if len(set(names)) == len(names) else [f"run {at}" for at in range(1, len(names) + 1)]


def _mark(change: Change, paired: bool) -> str:
    return points(change) + ("" if paired else UNPAIRED)


def change_rows(content: Compared, at: int = 0) -> list[tuple[str, Change, Change | None, str]]:
    """Returns the rows of a pair: name, change, change of the worst case, and which verdict fits ("lower" if less is better)."""
    change = content["changes"][at]
    if "recipe" in change:
        return [
            (ATTACK_NAMES[name], entry, None, "lower" if name == "success" else "number" if name == "queries" else "")
            for name, entry in headline(change).items()
        ]
    ranked = sorted(
        change["dimensions"].items(), key=lambda entry: (-(entry[1]["average"]["difference"] or 0), entry[0])
    )
    rows: list[tuple[str, Change, Change | None, str]] = [
        (name, entry["average"], entry["worst"], "") for name, entry in ranked
    ]
    rows.append(("all dimensions", change["all"]["average"], change["all"]["worst"], ""))
    rows.append(("clean", change["clean"], None, ""))
    if change["clean_auc"] is not None:
        rows.append(("clean macro AUC", change["clean_auc"], None, ""))
    return rows


def row_verdict(change: Change, kind: str) -> str:
    """The word for a row; of queries none, since more may be better or worse."""
    return "" if kind == "number" else verdict(change, lower_is_better=kind == "lower")


def shown_values(change: Change, kind: str, paired: bool = True) -> tuple[str, str, str]:
    """Before, after and difference of a row, in percent and points, or of queries as numbers."""
    if kind != "number":
        return percent(change["before"]), percent(change["after"]), _mark(change, paired)
    low, high = change["interval"]
    values = [("-" if value is None else f"{value:,.1f}") for value in (change["before"], change["after"])]
    gaps = [("-" if value is None else f"{value:+,.1f}") for value in (change["difference"], low, high)]
    return values[0], values[1], f"{gaps[0]} [{gaps[1]}, {gaps[2]}]{'' if paired else UNPAIRED}"


def _pair_columns(content: Compared, head: int = LONGEST) -> list[Column]:
    """A line per dimension, or per number of an attack. head: letters of the runs' names."""
    (change,) = content["changes"]
    rows, names = change_rows(content), _heads(content, head)
    values = [shown_values(entry, kind, change["paired"]) for _, entry, _, kind in rows]
    columns = [
        Column("", [visible(row[0]) for row in rows], True),
        Column(names[0], [value[0] for value in values]),
        Column(names[1], [value[1] for value in values]),
        Column("difference", [value[2] for value in values], True, 8),
        Column("p", [p_value(row[1]["p"]) for row in rows], keep=5),
        Column("", [row_verdict(row[1], row[3]) for row in rows], True, 7),
    ]
    if "recipe" not in change:
        sides = [sides_of(change, row[0]) for row in rows]
        columns += [
            Column("worst", [percent(row[2]["before"]) if row[2] else "" for row in rows], keep=4),
            Column("worst", [percent(row[2]["after"]) if row[2] else "" for row in rows], keep=4),
            Column("worst, difference", [points(row[2]) if row[2] else "" for row in rows], True, 2),
            Column("mended / broken", sides, keep=3),
        ]
    return columns


def sides_of(change: EvaluationComparison, name: str) -> str:
    """How many examples changed sides in a row's dimension; of the clean texts, how many became right and wrong."""
    entry = change["dimensions"].get(name)
    found = change["sides"] if name == "clean" else entry["sides"] if entry else None
    return f"{found['mended']} / {found['broken']}" if found and change["paired"] else ""


def _run_columns(content: Compared, name: int = LONGEST) -> list[Column]:
    """A line per run, differences from the first. name: letters of its name."""
    runs, changes = content["runs"], content["changes"]
    scores = list(runs[0]["scores"])
    main = [next(iter(headline(change).values())) for change in changes]
    columns = [
        Column("", [cut(visible(run["name"]), name) for run in runs], True),
        Column("clean", [spread(run["clean"]) for run in runs], True, 6),
    ]
    titles = {"after": "accuracy after", "success": "success"}
    columns += [
        Column(titles.get(score, score), [spread(run["scores"][score]) for run in runs], True, 8 if not at else 4)
        for at, score in enumerate(scores)
    ]
    if content["kind"] == "attack":
        columns.append(
            Column("queries", ["-" if r["queries"] is None else f"{r['queries']:,.1f}" for r in runs], keep=3)
        )
    pairs = list(zip(main, changes, strict=True))
    return [
        *columns,
        Column("difference", ["first", *(_mark(entry, change["paired"]) for entry, change in pairs)], True, 7),
        Column("p", ["", *(p_value(entry["p"]) for entry in main)], keep=5),
        Column("", ["", *map(pair_verdict, changes)], True),
    ]


def _by_run(content: Compared, width: int, short: int) -> list[str]:
    """The final averages of each dimension, a column per run, as far as they fit; [] of many runs."""
    runs = content["runs"]
    if len(runs) > FEW:
        return []
    names = [name for name in runs[0]["dimensions"] if all(name in run["dimensions"] for run in runs)]
    columns = [Column("final average", [visible(name) for name in names], True)]
    columns += [
        Column(head, [percent(run["dimensions"][name]["average"]["value"]) for name in names])
        for head, run in zip(_heads(content, short), runs, strict=True)
    ]
    return ["", *fitted(columns, width)]


# Markdown


def comparison_markdown(material: Material) -> str:
    """Returns the verdict, a table, and of evaluations the tables of RobTest's comparison report: rows per model, by degree."""
    content = material.content
    lines = [f"### {cell(comparison_verdict(content))}", ""]
    lines += [f"- differs: {cell(line)}" for line in content["differs"]]
    lines += [f"- {cell(line)}" for line in comparison_words(content)]
    columns = _pair_columns(content) if len(content["runs"]) == 2 else _run_columns(content)
    lines += ["", markdown_row([column.head for column in columns]), "|" + "---|" * len(columns)]
    for at in range(len(columns[0].cells)):
        lines.append(markdown_row([column.cells[at] for column in columns]))
    if content["kind"] == "evaluate":
        summaries = [summary for summary in material.summaries if "kind" not in summary]
        lines += _degree_tables([content["runs"][at]["name"] for at in material.detailed], summaries)
    return "\n".join([*lines, "", content["method"]]) + "\n"


def degree_rows(names: Sequence[str], summaries: Sequence[EvaluationSummary], dimension: str) -> list[list[str]]:
    """Returns rows of a dimension as in RobTest's Figures 16 and 17: average and worst of each model, by degree, degree 0 first.

    Worst is that of each degree alone, as in the paper, and, as ours, that of all cases up to the degree.
    """
    rows = []
    for name, summary in zip(names, summaries, strict=True):
        if dimension not in summary["dimensions"]:
            continue
        content = summary["dimensions"][dimension]
        whole = [(each["average"], alone(each), each["worst"]) for each in (*content["degrees"], content)]
        for at, kind in enumerate(("Average", "Worst (alone)", "Worst (up to)")):
            values = [summary["clean"]["score"]["value"], *(each[at]["value"] for each in whole)]
            rows.append([f"{name}-{kind}", *map(percent, values)])
    return rows


def _degree_tables(names: Sequence[str], summaries: Sequence[EvaluationSummary]) -> list[str]:
    lines: list[str] = []
    degrees = summaries[0]["protocol"]["degrees"]
    if any(summary["protocol"]["degrees"] != degrees for summary in summaries):
        return lines
    for dimension in summaries[0]["dimensions"]:
        head = ["Method \\| Degree", "0", *(f"{degree:g}" for degree in degrees), "Final Score"]
        lines += ["", f"#### {cell(dimension)}", "", f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
        lines += map(markdown_row, degree_rows(names, summaries, dimension))
    return lines


# rows for CSV and pandas

FIELDS = (
    "run", "model", "shield", "folder", "dimension", "access", "score", "value", "low", "high", "difference", "difference_low",
    "difference_high", "p", "verdict", "paired",
)  # fmt: skip


def comparison_rows(content: Compared) -> Iterator[dict[str, Any]]:
    """Yields a row for each score of each run: its value with its own interval, and the difference from the first run."""
    for at, run in enumerate(content["runs"]):
        change = content["changes"][at - 1] if at else None
        about = {"model": run["model"], "shield": run["shield"], "folder": run["folder"]}
        for dimension, access, score, entry in _scores(content, at):
            row: dict[str, Any] = {
                "run": run["name"],
                **about,
                "dimension": dimension,
                "access": access,
                "score": score,
            }
            row |= {"value": entry["value"], "low": entry["interval"][0], "high": entry["interval"][1]}
            found = _change_of(content, at, dimension, score)
            if change is not None and found is not None:
                lower = score == "success"
                row |= {
                    "difference": found["difference"], "difference_low": found["interval"][0],
                    "difference_high": found["interval"][1], "p": found["p"],
                    "verdict": verdict(found, lower_is_better=lower), "paired": change["paired"],
                }  # fmt: skip
            yield {name: row.get(name) for name in FIELDS}


def _scores(content: Compared, at: int) -> Iterator[tuple[str, str, str, Any]]:
    run = content["runs"][at]
    yield "", "", "clean", run["clean"]
    for name, entry in run["scores"].items():
        yield "all", "", name, entry
    for dimension, final in run["dimensions"].items():
        yield dimension, final["access"], "average", final["average"]
        yield dimension, final["access"], "worst", final["worst"]


def _change_of(content: Compared, at: int, dimension: str, score: str) -> Change | None:
    if not at:
        return None
    change = content["changes"][at - 1]
    if "recipe" in change:
        return change["success"] if score == "success" else None
    if not dimension:
        return change["clean"]
    group = change["all"] if dimension == "all" else change["dimensions"].get(dimension)
    if group is None:
        return None
    return group["worst"] if score == "worst" else group["average"]


def worse(content: Compared) -> list[str]:
    """Returns what is surely worse than in the first run, a line each: for a gate."""
    lines = []
    for at, run in enumerate(content["runs"][1:]):
        for what, entry, worst, kind in change_rows(content, at):
            for score, found in (("", entry), (", worst case", worst)):
                if found is not None and row_verdict(found, kind) == LOST:
                    lines.append(f"{run['name']}: {what}{score} {points(found)}")
    return lines
