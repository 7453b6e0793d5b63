"""Several attack runs side by side, as ToxicTrap prints them."""

from __future__ import annotations

import re
from typing import Any

from .attacked import Timings, interval, number, rate
from .groups import Summary, percent


def comparison_table(rows: list[tuple[str, Summary, Timings]]) -> str:
    """Several runs in the layout of ToxicTrap's Table 5, as Markdown; rows: (task, summary, timings).

    A column of transformations, as in its Table 6, is there where the runs differ in them. n: attacked texts.
    """
    transforms = [", ".join(summary["recipe"]["transform"]) for _, summary, _ in rows]
    differ = len(set(transforms)) > 1
    numeric = ["Attack Success Rate", "Average Number of Queries", "Average Perturbed Word %", "n", "Queries/s"]
    named = ["Task", *(["Transformation"] if differ else []), "Search", "POS"]
    lines = [f"| {' | '.join([*named, *numeric])} |", "|" + "---|" * len(named) + "---:|" * len(numeric)]
    before = None
    for (task, summary, timings), transform in zip(rows, transforms, strict=True):
        per_second, changed = rate(timings), (summary["changed"] or {}).get("mean")
        cells = [
            "" if task == before else task, *([transform] if differ else []), *_search(summary["recipe"]),
            interval(summary["success"]), number(summary["queries"]["mean"]), percent(changed),
            f"{summary['success']['of']:,}", "-" if per_second is None else f"{per_second:,.0f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        before = task
    return "\n".join(lines) + "\n"


def _search(content: dict[str, Any]) -> tuple[str, str]:
    """As the paper names searches: a greedy one by how it ranks words; x where parts of speech must match."""
    ranked = re.search(r"importance=['\"]([\w-]+)", content["search"])
    matched = any(re.match(r"(pos|part.of.speech)\b", spec) for spec in content["constraints"])
    return ranked[1] if ranked else content["search"].partition("(")[0], "x" if matched else ""
