"""Reads Figures 10 to 15 of RobTest (Chen et al. 2023) from the text of the paper and writes them as data.

  python benchmarks/papers/robtest_figures.py PAPER.txt     writes figures/robtest.json

Each figure has eleven tables in the order of COLUMNS, whose names are in the figures' radar maps and not in their tables. The
order is known from the text: Figure 2 is the first one and says "Typo (Malicious)", the tenth has no score-based rows (syntax has
none in Figure 4), Figures 16 and 17 have the rows of Figures 10 and 11 again in the same order, which is checked here.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

COLUMNS = (
    "typo-m", "typo-g", "glyph-m", "glyph-g", "phonetic-m", "phonetic-g", "synonym", "contextual", "inflection", "syntax",
    "distraction",
)  # fmt: skip
DEGREES = (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
REPORTS = {10: ("sst2", "base"), 11: ("sst2", "large"), 12: ("agnews", "base"), 13: ("agnews", "large"),
           14: ("jigsaw", "base"), 15: ("jigsaw", "large")}  # fmt: skip
COMPARISONS = {16: "rule", 17: "score"}
FILE = Path(__file__).parent / "figures" / "robtest.json"
ROW = re.compile(r"^((?:Rule|Score|Base|Large)-(?:Average|Worst)) (.+)$", re.MULTILINE)
TITLE = re.compile(r"^Figure (\d+): Robustness (?:comparison )?report for .*$", re.MULTILINE)

Rows = dict[
    str, list[float] | None
]  # row: accuracy in % at the eight degrees, and the final score; None where it is a dash


def figures(text: str) -> dict[int, list[Rows]]:
    """Returns the eleven tables of each of Figures 10 to 17. Raises ValueError if a figure has more or fewer."""
    begin, found = text.index("H Robustness Comparison Report"), {}
    for title in TITLE.finditer(text, begin):
        rows = ROW.findall(text, begin, title.start())
        begin = title.end()
        if len(rows) != 4 * len(COLUMNS):
            raise ValueError(f"expected {4 * len(COLUMNS)} rows in Figure {title[1]}, got {len(rows)}")
        parsed = [
            (name.lower(), None if "-" in cells.split() else [float(cell) for cell in cells.split()])
            for name, cells in rows
        ]
        found[int(title[1])] = [dict(parsed[at : at + 4]) for at in range(0, len(parsed), 4)]
    return found


def check_order(found: dict[int, list[Rows]]) -> None:
    """Raises ValueError if the comparisons (Figures 16, 17) have other rows than the reports (10, 11) in the same places."""
    for number, access in COMPARISONS.items():
        for at, table in enumerate(found[number]):
            for report, size in ((10, "base"), (11, "large")):
                for way in ("average", "worst"):
                    here, there = table[f"{size}-{way}"], found[report][at][f"{access}-{way}"]
                    if here != there:
                        raise ValueError(f"Figures {number} and {report}, table {at + 1}: {here} and {there}")


def main() -> None:
    found = figures(Path(sys.argv[1]).read_text(encoding="utf-8"))
    check_order(found)
    reports: dict[str, dict[str, dict[str, Rows]]] = {}
    for number, (task, size) in REPORTS.items():
        reports.setdefault(task, {})[size] = dict(zip(COLUMNS, found[number], strict=True))
    about = {
        "paper": "Chen et al. 2023, From Adversarial Arms Race to Model-centric Evaluation",
        "figures": {str(number): f"RoBERTa-{size} on {task}" for number, (task, size) in REPORTS.items()},
        "cells": "accuracy in % at each degree, then the final score by eq. 1 begun at 0; null: not in the paper",
        "degrees": DEGREES,
    }
    rows = json.dumps({**about, "reports": reports}, indent=1)
    rows = re.sub(r"\[\s+([^\[\]]+?)\s+\]", lambda match: "[" + re.sub(r",\s+", ", ", match[1]) + "]", rows)
    FILE.write_text(rows + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
