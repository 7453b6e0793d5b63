"""Writes the tables and figures of docs/results/zeroe-training.md from zeroe-training.json beside it and the papers' figures."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path

from zeroe_findings import spearman
from zeroe_page import table
from zeroe_training import all_cells, perturbations_of
from zeroe_training_evidence import (
    ALL,
    EXTRA,
    SHORT,
    TITLES,
    WAYS,
    Kept,
    clean_gain,
    from_cells,
    lost,
    ours,
    paper,
    said,
)
from zeroe_training_figures import heat_map, lines
from zeroe_training_findings import FINDINGS, Finding, Trained

from scuff.metrics.gain import left_by_guessing
from scuff.perturbations import LEVELS

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
PAGE, DATA = RESULTS / "zeroe-training.md", RESULTS / "zeroe-training.json"
BEGIN, END = "<!-- zeroe-training: made by benchmarks/papers/zeroe_training.py page -->", "<!-- end -->"
MENDED = {**WAYS, **EXTRA}


# ---- the tables ----


def points(found: Sequence[float] | None) -> str:
    return "" if found is None else f"{100 * found[0]:+.1f} [{100 * found[1]:+.1f}, {100 * found[2]:+.1f}]"


def shown(task: str, value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if task == "tc" else f"{100 * value:.1f}"


def won(kept: Kept) -> str:
    """Table 3 and the thesis's 5.2."""
    rows = []
    for method, title in MENDED.items():
        row = [title]
        for task, found in kept["tasks"].items():
            told = said().get(method)
            computed = paper()[task].mean(method) if method in WAYS else float("nan")
            here = points(found["mean"].get(method)) + _part(ours(kept)[task], method)
            row += [
                "" if told is None else f"{told[list(TITLES).index(task)]:+d}",
                "" if math.isnan(computed) else f"{100 * computed:+.1f}",
                here,
            ]
        rows.append(row)
    head = ["training"]
    for task in kept["tasks"]:
        head += [f"{TITLES[task]}: the paper says", "its tables", "here"]
    return table(head, rows)


def _part(one: Trained, method: str) -> str:
    """Says so if time was over before all perturbations were run."""
    count, of = len(one.rows("1-1" if method == "1-1 others" else method)), len(one.before)
    return f" ({count} of {of} perturbations)" if 0 < count < of else ""


def shares(kept: Kept) -> str:
    """What the perturbations took, and the share of it that was won back."""
    rows = [["lost, no training (points)"]]
    for task in kept["tasks"]:
        rows[0] += [f"{100 * lost(paper()[task]):.1f}", _plain(kept["tasks"][task]["most"])]
    for method in (method for method in MENDED if method != "1-1 others"):
        row = [f"won back by {MENDED[method]} (%)"]
        for task in kept["tasks"]:
            value = paper()[task].share(method)
            row += [
                "" if math.isnan(value) else f"{100 * value:.0f}",
                _plain(kept["tasks"][task]["share"].get(method), 0),
            ]
        rows.append(row)
    for method in (method for method in MENDED if method != "1-1 others"):
        row = [f"clean text, {MENDED[method]} (points)"]
        for task in kept["tasks"]:
            theirs = f"{100 * clean_gain(paper()[task], method):+.1f}" if paper()[task].rows(method) else ""
            row += [theirs, points(kept["tasks"][task]["clean won"].get(method))]
        rows.append(row)
    head = ["", *(f"{TITLES[task]}: {who}" for task in kept["tasks"] for who in ("paper", "here"))]
    return table(head, [row for row in rows if any(row[2::2])])


def _plain(found: Sequence[float] | None, digits: int = 1) -> str:
    return (
        ""
        if found is None
        else f"{100 * found[0]:.{digits}f} [{100 * found[1]:.{digits}f}, {100 * found[2]:.{digits}f}]"
    )


def sizes(kept: Kept) -> str:
    about = kept["about"]["sizes"]
    rows = []
    for task, found in kept["tasks"].items():
        theirs = paper()[task]
        rows.append([
            TITLES[task], f"{about['train'][task]:,}", f"{about['epochs'][task]}", f"{found['tested']:,}",
            shown(task, theirs.clean),
            shown(task, found["clean"][0]), f"{float(left_by_guessing(theirs.worst, theirs.clean)):.2f}",
            f"{float(left_by_guessing(found['worst'], found['clean'][0])):.2f}",
        ])  # fmt: skip
    head = [
        "task",
        "training examples",
        "epochs",
        "test examples",
        "clean, paper",
        "clean, here",
        "s_worst, paper",
        "s_worst, here",
    ]
    return table(head, rows)


def by_perturbation(kept: Kept, method: str) -> str:
    """Scores and Delta of a method, by tested perturbation and level, ours beside the paper's: Tables 6, 7, A.7, A.8."""
    tables, tasks = ours(kept), [task for task in kept["tasks"] if method == "none" or ours(kept)[task].rows(method)]
    rows = []
    for name in SHORT:
        for level in LEVELS if method == "none" else ALL:
            row = [name, level]
            for task in tasks:
                for one, own in ((paper()[task], False), (tables[task], True)):
                    scores = one.before if method == "none" else one.rows(method)
                    score = scores.get(name, {}).get(level)
                    if method == "none":
                        row += [shown(task, score)] + (
                            [f"{100 * score / one.clean:.0f}"] if score is not None else ["-"]
                        )
                    elif score is None:
                        row += ["-", "-"]
                    else:
                        delta = one.gain(method, name, level)
                        gains = kept["tasks"][task]["gains"][method][name][level] if own else None
                        row += [shown(task, score), points(gains) if gains else f"{100 * delta:+.1f}"]
            if any(cell != "-" for cell in row[2:]):
                rows.append(row)
    what = "s\\*" if method == "none" else "Δ"
    head = ["perturbation", "level"]
    for task in tasks:
        head += [f"{TITLES[task]}: paper", f"{what}, paper", "here", f"{what}, here"]
    return table(head, rows, 2)


def one_one(kept: Kept, task: str) -> str:
    """Tables 8 to 10: our score, and the paper's in brackets."""
    theirs, mine = paper()[task], ours(kept)[task]
    names = [name for name in SHORT if name in theirs.before]
    columns = [name for name in names if name in mine.one_one]

    def both(alpha: str, tested: str, level: str) -> str:
        other = theirs.one_one.get(alpha, {}).get(tested, {}).get(level)
        text = f"{shown(task, mine.one_one[alpha][tested][level])} ({shown(task, other)})"
        return f"**{text}**" if alpha == tested and level != "none" else text

    rows = [["clean", "-", *(both(alpha, names[0], "none") for alpha in columns)]]
    rows += [
        [SHORT[tested], level, *(both(alpha, tested, level) for alpha in columns)]
        for tested in names
        for level in LEVELS
    ]
    return table(["tested", "level", *(SHORT[alpha] for alpha in columns)], rows, 2)


def findings(kept: Kept) -> str:
    rows = []
    for finding in FINDINGS:
        for task in finding.tasks:
            rows.append([finding.says, finding.section, TITLES[task], _own(finding, task), _ours(kept, finding, task)])
    return table(["the paper says", "where", "task", "its tables", "here"], rows, 5)


def _own(finding: Finding, task: str) -> str:
    found = finding.test(paper(), task)
    return "no such model" if found is None else f"**{'yes' if found[0] else 'no'}**: {found[1]}"


def _ours(kept: Kept, finding: Finding, task: str) -> str:
    found = kept["findings"].get(f"{task}: {finding.says}")
    return "not run" if found is None else f"**{'yes' if found[0] else 'no'}**, {100 * found[2]:.0f} %: {found[1]}"


def correlations(kept: Kept) -> str:
    """How alike the gains are: rank correlations over perturbations and levels, of 1-1 over all pairs."""
    rows = []
    for task, mine in ours(kept).items():
        theirs = paper()[task]
        for method in ("1-1", "loo", "plm", "pp"):
            cells = [(name, level) for name in mine.rows(method) if name in theirs.rows(method) for level in LEVELS]
            if len(cells) > 2:
                pair = [[one.gain(method, *cell) for cell in cells] for one in (mine, theirs)]
                rows.append([TITLES[task], f"Δ of {WAYS[method]}", f"{len(cells)}", f"{spearman(*pair):.2f}"])
        names = [name for name in mine.square()[0] if name in theirs.square()[0]]
        if len(names) > 2:
            squares = [_off_diagonal(one, names) for one in (mine, theirs)]
            rows.append(
                [
                    TITLES[task],
                    "Δ of 1-1, other perturbations (Figure 3)",
                    f"{len(squares[0])}",
                    f"{spearman(*squares):.2f}",
                ]
            )
        cells = [(name, level) for name in mine.before for level in LEVELS]
        pair = [[one.before[name][level] / one.clean for name, level in cells] for one in (mine, theirs)]
        rows.append([TITLES[task], "s\\* without training (Table 6)", f"{len(cells)}", f"{spearman(*pair):.2f}"])
    return table(["task", "ours and the paper's", "cells", "rank correlation"], rows, 2)


def _off_diagonal(one: Trained, names: Sequence[str]) -> list[float]:
    known, gains = one.square()
    at = [known.index(name) for name in names]
    return [float(gains[row, column]) for row in at for column in at if row != column]


def behind_shields(kept: Kept) -> str:
    rows = []
    for task, found in kept["tasks"].items():
        for shield, each in found["shields"].items():
            rows.append([
                TITLES[task], shield, f"{each['tested']}", f"{len(each['perturbations'])}",
                *(points(each[way]["mean"]) for way in ("none.shield", "loo.alone", "loo.shield")),
                *(points(each[way]["clean"]) for way in ("none.shield", "loo.alone", "loo.shield")),
            ])  # fmt: skip
    head = ["task", "shield", "examples", "perturbations", "shield alone", "leave-one-out alone", "both", "clean: shield alone",
            "leave-one-out alone", "both"]  # fmt: skip
    return table(head, rows, 2) if rows else "Not run."


def groups(kept: Kept) -> str:
    rows = []
    for task, found in kept["tasks"].items():
        theirs = paper()[task].groups()
        rows.append(
            [TITLES[task], *("; ".join(", ".join(group) for group in each) for each in (theirs, found["groups"]))]
        )
    return table(["task", "the paper's gains", "ours"], rows, 3)


def chance(kept: Kept) -> str:
    rows = [
        [TITLES[task], WAYS[method], f"{each['cells']}", f"{100 * each['first']:+.1f}", f"{100 * each['second']:+.1f}"]
        for task, found in kept["tasks"].items() for method, each in found["seeds"].items()
    ]  # fmt: skip
    return (
        table(["task", "training", "models", "first seed, points", "second seed, points"], rows, 2)
        if rows
        else "Not run."
    )


def cost(kept: Kept) -> str:
    rows = [
        [key, f"{each['cells']}", f"{each['seconds']:.0f}", f"{each['examples per second'] or ''}"]
        for key, each in kept["seconds"].items()
    ]
    return table(["cells", "count", "seconds each", "training examples per second"], rows)


def missing(kept: Kept) -> str:
    """What was not run, or was left out."""
    names: dict[tuple[str, str], list[str]] = {}
    for cell in all_cells(TITLES):
        about = cell.given
        if about["task"] and cell.name not in kept["cells"]:
            what = {**WAYS, **EXTRA, "none": "no training"}.get(about["method"], f"behind {about['shield']}")
            what += ", second seed" if about["seed"] else ""
            names.setdefault((about["task"], what), []).append(about["perturbation"])
    rows = []
    for (task, what), each in names.items():
        every = len(each) == len(perturbations_of(task)) or not each[0]
        rows.append([TITLES[task], what, "all" if every else ", ".join(each)])
    return table(["task", "not run", "perturbations"], rows, 3) if rows else "Nothing."


def aims(kept: Kept) -> str:
    """Whether leave-one-out wins what the paper says that 1-1 wins."""
    lines = []
    for task, found in kept["tasks"].items():
        want = said()["1-1"][list(TITLES).index(task)] / 100
        have = {method: found["mean"][method] for method in ("loo", *EXTRA) if method in found["mean"]}
        have |= {
            f"loo behind {name}": each["loo.shield"]["mean"]
            for name, each in found["shields"].items()
            if len(each["perturbations"]) == len(found["before"])
        }
        if not have:
            continue
        best = max(have, key=lambda method: have[method][0])
        reached = have.get("loo", [float("-inf")])[0] >= want
        mine, theirs = found["share"].get("loo"), paper()[task].share("1-1")
        text = (
            f"- **{TITLES[task]}: {'reached' if reached else 'missed'}.** Leave-one-out wins {points(have.get('loo'))} points; "
            f"the aim, what the paper says of 1-1, is {100 * want:+.0f}."
        )
        if not reached and len(have) > 1:
            name = MENDED.get(best, best.replace("loo", "leave-one-out"))
            text += f" The best of {len(have)} ways is {name}: {points(have[best])}."
        text += f" The perturbations take {_plain(found['most'])} points here and {100 * lost(paper()[task]):.1f} in the paper;"
        text += f" of that leave-one-out wins back {_plain(mine, 0)} % and the paper's 1-1 {100 * theirs:.0f} %."
        lines.append(text)
    return "\n".join(_wrapped(line) for line in lines)


def _wrapped(line: str) -> str:
    return textwrap.fill(line, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


# ---- the page ----


def text_of(kept: Kept) -> str:
    """The generated part of the page."""
    parts = ["## The aim", aims(kept), "## What training wins (Table 3, thesis Table 5.2)",
             "Mean Δ over perturbations and levels, in points.", won(kept), shares(kept), "## What the papers found",
             findings(kept),
             "## How alike", correlations(kept), "## The models", sizes(kept), "## Without training (Table 6)",
             by_perturbation(kept, "none")]  # fmt: skip
    for method, title in (
        ("loo", "Leave-one-out (Table 7, Figure 4)"), ("plm", "PLM (thesis Table A.8)"), ("pp", "PP (thesis Table A.7)"),
    ):  # fmt: skip
        if any(one.rows(method) for one in ours(kept).values()):
            parts += [f"## {title}", by_perturbation(kept, method)]
            parts += ["![Δ of leave-one-out](zeroe-training-figure-4.svg)"] if method == "loo" else []
    if any(one.one_one for one in ours(kept).values()):
        parts += ["## 1-1 (Tables 8 to 10, Figures 2 and 3)",
                  "Our score, the paper's in brackets; bold: trained and tested on the same perturbation.",
                  "![Δ of 1-1](zeroe-training-figure-2.svg)", "![heat map of Δ](zeroe-training-figure-3.svg)"]  # fmt: skip
        for task, one in ours(kept).items():
            if one.one_one:
                parts += [f"### {TITLES[task]}", one_one(kept, task)]
        parts += ["### Which help each other", groups(kept)]
    parts += ["## Behind shields", behind_shields(kept), "## Another seed", chance(kept), "## What it took", cost(kept),
              "## Not run", missing(kept)]  # fmt: skip
    return "\n\n".join(parts)


def write(runs: Path | None) -> int:
    """Writes evidence, page and figures. runs: a folder of cells; None: only the evidence is read."""
    kept: Kept = from_cells(runs) if runs else json.loads(DATA.read_text(encoding="utf-8"))
    if runs:
        text = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).replace('},"', '},\n"')
        DATA.write_text(text + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{text_of(kept)}\n\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")
    tables = ours(kept)
    for number, method in ((2, "1-1"), (4, "loo")):
        drawing = lines([(paper(), "the paper"), (tables, "here")], method, list(SHORT), TITLES)
        (RESULTS / f"zeroe-training-figure-{number}.svg").write_text(drawing, encoding="utf-8")
    (RESULTS / "zeroe-training-figure-3.svg").write_text(heat_map(paper(), tables, SHORT, TITLES), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0
