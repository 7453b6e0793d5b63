"""The evidence (docs/results/toxictrap.json) and the tables of docs/results/toxictrap.md, from the runs of toxictrap.py."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from toxictrap import COSTLY, SOURCES, TABLE_5, TABLE_10, TASKS, WHOLE
from toxictrap_findings import comparisons, findings

RESULTS = Path(__file__).parents[2] / "docs" / "results"
EVIDENCE, PAGE = RESULTS / "toxictrap.json", RESULTS / "toxictrap.md"
FIGURES = Path(__file__).parent / "figures" / "toxictrap.json"
BEGIN, END = "<!-- toxictrap: made by benchmarks/papers/toxictrap.py page -->", "<!-- end -->"
OTHERS = (
    "integrated gradient", "integrated gradient pos", "Scuff's recipe", "unk pos, any meaning", "unk pos, no limits",
    "as published", "as published, but for the meaning", "unk, glove 5, original lists",
)  # fmt: skip
SURE = (0.0, 0.7, 0.9, 0.97, 0.99, 1.01)  # edges of the groups by the model's first score
LONG = (0, 15, 40, 81)  # and by words


# ---- the evidence ----


def gathered(summaries: Path, before: dict[str, Any]) -> dict[str, Any]:
    """The numbers of all rows in a folder of summaries; tasks that are not there are kept as they were."""
    found: dict[str, Any] = {"rows": {**before.get("rows", {})}, "compared": {**before.get("compared", {})},
                             "groups": {**before.get("groups", {})}}  # fmt: skip
    for task in TASKS:
        kept = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((summaries / task).glob("*.json"))]
        if kept:
            each = {row["row"]: row for row in kept}
            found["rows"][task] = {name: numbers(row) for name, row in each.items()}
            found["compared"][task] = comparisons(task, {name: row["attacked"] for name, row in each.items()})
            found["groups"][task] = groups(each)
    return found


def numbers(row: dict[str, Any]) -> dict[str, Any]:
    """What the tables show of a row, in the paper's units."""
    success, count = row["success"], max(1, row["success"]["of"])
    share = success["value"]
    return {
        "success": None if share is None else [round(100 * value, 2) for value in (share, *success["interval"])],
        "of": success["of"], "examples": row["examples"], "queries": row["queries"]["mean"],
        "words": None if row["changed"]["mean"] is None else round(100 * row["changed"]["mean"], 2),
        "valid": row["valid"]["value"], "seconds": round(row["seconds"] / count, 4), "asked": row["asked"],
        "signature": re.sub(r"[\w./-]*/", "", row["signature"]),  # files by their names
    }  # fmt: skip


def groups(each: dict[str, Any]) -> dict[str, Any]:
    """Successes and attacked texts by how sure the model was of the original, and by length, for the rows about limits."""
    found: dict[str, Any] = {}
    for name in ("unk pos", f"unk pos{WHOLE}", "unk pos, any meaning", "unk pos, no limits"):
        if name not in each:
            continue
        attacked = each[name]["attacked"]
        won = np.array(attacked["won"])
        for what, edges in (("score", SURE), ("words", LONG)):
            values = np.array([-1 if value is None else value for value in attacked[what]], np.float64)
            inside = [(values >= low) & (values < high) for low, high in pairwise(edges)]
            found.setdefault(name, {})[what] = [[int(won[some].sum()), int(some.sum())] for some in inside]
    return found


# ---- the tables ----


def cell(value: Any, digits: int = 1) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def share(value: Any) -> str:
    return "" if not value else f"{value[0]:.1f} [{value[1]:.1f}, {value[2]:.1f}]"


def line(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def ratio(value: float | None, unit: float | None) -> str:
    return "" if not value or not unit else f"{value / unit:.2f}"


def comparable(name: str, row: dict[str, Any], unit: dict[str, Any] | None) -> bool:
    """Returns whether a row's time may be divided by that of the unit: rows on fewer texts were run on another machine, but for
    those of the searches that always run on fewer.
    """
    return unit is not None and (name.split()[0] in COSTLY or row["examples"] == unit["examples"])


def table(
    rows: dict[str, Any], names: dict[str, str], paper: dict[str, list[float]], unit: str, unit_name: str
) -> list[str]:
    """A table of ours beside the paper's. names: of the rows, and what is shown. unit: the row whose time is 1."""
    head = [
        "row", "success % [95 %]", "of", "queries", "words %", "time", "whole texts: success %", "queries", "words %",
        "paper: success %", "queries", "words %", "time",
    ]  # fmt: skip
    lines = [line(*head), "|---|" + "---:|" * (len(head) - 1)]
    our_unit, their_unit = rows.get(unit, {}).get("seconds"), [*paper.get(unit_name, [None] * 4), None][3]
    for name, shown in names.items():
        ours, whole, theirs = (
            rows.get(name),
            rows.get(name + WHOLE, {}),
            [*paper.get(shown, []), None, None, None, None],
        )
        if ours is None:
            continue
        lines.append(
            line(
                shown, share(ours["success"]), ours["of"], cell(ours["queries"]), cell(ours["words"]),
                ratio(ours["seconds"], our_unit) if comparable(name, ours, rows.get(unit)) else "",
                share(whole.get("success")) + (f" of {whole['of']}" if whole and whole["of"] != ours["of"] else ""),
                cell(whole.get("queries")), cell(whole.get("words")),
                *map(cell, theirs[:3]), ratio(theirs[3], their_unit),
            )
        )  # fmt: skip
    return lines


def sure_table(found: dict[str, Any]) -> list[str]:
    """Success in % by the model's first score and by length."""
    first = next(iter(found.values()))
    sure = [
        f"under {SURE[1]}",
        *(f"{a} to {b}" for a, b in pairwise(SURE[1:-1])),
        f"{SURE[-2]} and more",
    ]
    long = [f"under {LONG[1]} words", *(f"{a} to {b - 1}" for a, b in pairwise(LONG[1:]))]
    counts = [of for what in ("score", "words") for _, of in first[what]]
    names = [f"{name} ({of})" for name, of in zip([*sure, *long], counts, strict=True)]
    lines = [line("row", *names), "|---|" + "---:|" * len(names)]
    for name, each in found.items():
        cells = [f"{100 * won / of:.0f}" if of else "" for what in ("score", "words") for won, of in each[what]]
        lines.append(line(name, *cells))
    return lines


def wrapped(text: str) -> list[str]:
    return fill(text, 100, break_long_words=False, break_on_hyphens=False).split("\n")


def in_short(evidence: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """The two forms of the limit on meaning and the paper's number, task by task."""
    told = []
    for task, name in figures["tasks"].items():
        rows = evidence["rows"].get(task, {})
        paper = figures["Table 5"][task]["unk pos"][0]
        forms = {
            "windows": rows.get("unk pos"),
            "whole texts": rows.get(f"unk pos{WHOLE}"),
            "as published": rows.get("as published"),
        }
        said = [f"{form} {share(row['success'])}" for form, row in forms.items() if row and row["success"]]
        if said:
            told.append(f"{name} ({task}): {', '.join(said)}; the paper {paper:.1f}")
    text = f"Success in % of `unk` with the part-of-speech constraint, by the form of the limit: {'. '.join(told)}."
    return wrapped(text) if told else []


def task_part(task: str, name: str, evidence: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """All tables of a task."""
    rows = evidence["rows"][task]
    usual = rows.get("unk pos") or next(iter(rows.values()))
    few = rows.get("beam pos") or rows.get("genetic pos")
    paper = figures["attacked %, Table 11"][task]
    part = f"{100 * usual['of'] / usual['examples']:.0f} %; the paper's {paper} %"
    of = f"{usual['of']} of {usual['examples']} toxic texts are attacked ({part})"
    of += f", {few['of']} of {few['examples']} for beam and genetic." if few else "."
    times = {row: [*figures["Table 5"][task][row], None] for row in TABLE_5} | figures["Table 11"][task]
    parts = [f"## {name}: `{task}`", "", *wrapped(of), "", "Tables 5 and 11, searches (time: `unk pos` is 1):", ""]
    parts += table(rows, {row: row for row in TABLE_5}, times, "unk pos", "unk pos")
    sources = figures["Table 10"][task]
    parts += ["", "Tables 6 and 10, what words are replaced by (no letters; pos; time: `unk`, `glove 20` is 1):", ""]
    theirs = {f"{search}, {source}": sources[search][source] for search in sources for source in SOURCES}
    parts += table(rows, {row: row for row in TABLE_10}, theirs, "unk, glove 20", "unk, glove 20")
    if more := {row: row for row in OTHERS if row in rows}:
        parts += ["", "Not in the paper:", "", *table(rows, more, {}, "unk pos", "")]
    if found := evidence["groups"].get(task):
        text = "Success in % by the model's first score of the text (its highest toxic one), and by length (number attacked):"
        parts += ["", *wrapped(text), "", *sure_table(found)]
    return [*parts, ""]


def made(evidence: dict[str, Any], figures: dict[str, Any]) -> str:
    """Everything between the markers."""
    parts = [*in_short(evidence, figures), "", "## What the paper found", "", *findings(evidence, figures), ""]
    for task, name in figures["tasks"].items():
        if task in evidence["rows"]:
            parts += task_part(task, name, evidence, figures)
    return "\n".join(parts).strip()


def write(runs: Path | None) -> int:
    """Writes evidence and page. Returns an exit code."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    evidence = json.loads(EVIDENCE.read_text(encoding="utf-8")) if EVIDENCE.is_file() else {}
    if runs:
        before = {(task, row) for task, rows in evidence.get("rows", {}).items() for row in rows}
        evidence = gathered(runs / "summaries", evidence)
        gone = before - {(task, row) for task, rows in evidence["rows"].items() for row in rows}
        if gone:  # comparisons need all rows of a task: numbers of several folders are copied into one first
            print(f"{len(gone)} rows that the evidence had are not in {runs} and are gone, such as {min(gone)}")
        EVIDENCE.write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if not evidence.get("rows"):
        print(f"expected rows in {EVIDENCE} or --runs FOLDER, got none")
        return 2
    page = PAGE.read_text(encoding="utf-8")
    new = f"{BEGIN}\n\n{made(evidence, figures)}\n\n{END}"
    PAGE.write_text(
        re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: new, page, count=1, flags=re.S), encoding="utf-8"
    )
    print(f"{PAGE}: {sum(map(len, evidence['rows'].values()))} rows")
    return 0
