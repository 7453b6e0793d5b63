"""What ToxicTrap's paper found, and whether it is so in our runs: differences of rows on the same texts, with 95 % intervals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from toxictrap import TABLE_10, TASKS, WHOLE

from scuff.metrics.interval import percentile_interval, resamples

Estimate = tuple[float, float, float]  # value, and the ends of its interval
Verdict = Callable[[Estimate], str]
ALL = tuple(TASKS)
YES, NO, OPEN = "yes", "**no**", "not decided"


def above(limit: float) -> Verdict:
    return lambda found: YES if found[1] > limit else NO if found[2] < limit else OPEN


def below(limit: float) -> Verdict:
    return lambda found: YES if found[2] < limit else NO if found[1] > limit else OPEN


def between(low: float, high: float) -> Verdict:
    return lambda found: (
        YES if low < found[1] and found[2] < high else NO if found[1] > high or found[2] < low else OPEN
    )


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper about two rows. kind: points of success, or times as many queries. where: its section or table."""

    says: str
    where: str
    kind: str
    one: str
    other: str
    holds: Verdict
    tasks: tuple[str, ...] = ALL

    @property
    def key(self) -> str:
        return f"{self.kind}: {self.one} - {self.other}"


POINTS, TIMES = "points", "times"
SLIGHTLY = 5.0  # points that count as slightly
FINDINGS = (
    *(
        Finding(f"the part-of-speech constraint lowers queries: {search}", "3.2", TIMES, f"{search} pos", search, below(1))
        for search in ("gradient", "delete", "unk")
    ),
    *(
        Finding(f"and success slightly (under {SLIGHTLY:.0f} points): {search}", "3.2", POINTS, f"{search} pos", search,
                between(-SLIGHTLY, 0))
        for search in ("gradient", "delete", "unk")
    ),
    Finding("unk about equals delete (within 3 points)", "Table 5", POINTS, "unk pos", "delete pos", between(-3, 3)),
    Finding("unk succeeds more than gradient", "3.3", POINTS, "unk pos", "gradient pos", above(0)),
    Finding("unk succeeds more than weighted saliency", "3.3", POINTS, "unk pos", "weighted-saliency pos", above(0),
            ("jigsaw", "jigsaw-bl")),
    Finding("but less on HTweet-MC", "3.3", POINTS, "unk pos", "weighted-saliency pos", below(0), ("davidson",)),
    Finding("weighted saliency asks over 3 times as much as unk", "3.3", TIMES, "weighted-saliency pos", "unk pos", above(3)),
    Finding("beam asks about 10 times as much as unk (8 and more)", "3.3", TIMES, "beam pos", "unk pos", above(8)),
    Finding("genetic, too", "3.3", TIMES, "genetic pos", "unk pos", above(8)),
    Finding("beam succeeds more than unk", "3.3", POINTS, "beam pos", "unk pos", above(0)),
    Finding("genetic succeeds more than unk on HTweet-MC", "3.3", POINTS, "genetic pos", "unk pos", above(0), ("davidson",)),
    Finding("but less elsewhere", "3.3", POINTS, "genetic pos", "unk pos", below(0), ("jigsaw", "jigsaw-bl")),
    Finding("wordnet succeeds less than glove 20", "3.4", POINTS, "unk, wordnet", "unk, glove 20", below(0)),
    Finding("mlm, too", "3.4", POINTS, "unk, mlm 20", "unk, glove 20", below(0)),
    Finding("glove 5, too", "Table 6", POINTS, "unk, glove 5", "unk, glove 20", below(0)),
    *(
        Finding(f"glove 50 succeeds slightly more than glove 20 (under {SLIGHTLY:.0f} points): {search}", "3.4", POINTS,
                f"{search}, glove 50", f"{search}, glove 20", between(0, SLIGHTLY))
        for search in ("unk", "delete", "weighted-saliency")
    ),
    *(
        Finding(f"and asks over 50 % more: {search}", "3.4", TIMES, f"{search}, glove 50", f"{search}, glove 20", above(1.5))
        for search in ("unk", "delete", "weighted-saliency")
    ),
)  # fmt: skip
ORDERS = {  # of the 15 rows of Table 10: rank correlations with the paper's, which hold if they are above one half
    "success": "the order of Table 10's rows by success (rank correlation above 0.5)",
    "queries": "and by queries",
}
LEVELS = {  # of `unk pos` in Table 5: whether the paper's number is inside our interval
    "unk pos": "success as often as in the paper: windows of 15 words",
    f"unk pos{WHOLE}": "the same: whole texts",
    "as published": "the same: whole texts, and 10 % of the words without a floor",
}


# ---- comparing rows, text by text ----


def comparisons(task: str, attacked: dict[str, Any]) -> dict[str, list[float]]:
    """Value and interval of each finding of a task whose rows are there. attacked: the texts of each row."""
    out: dict[str, list[float]] = {}
    for finding in FINDINGS:
        if task in finding.tasks and finding.one in attacked and finding.other in attacked:
            out[finding.key] = _rounded(_paired(finding.kind, attacked[finding.one], attacked[finding.other]))
    if all(row in attacked for row in TABLE_10):
        for what in ORDERS:
            out[f"order: {what}"] = _rounded(_order(task, what, [attacked[row] for row in TABLE_10]))
    return out


def _rounded(found: Estimate) -> list[float]:
    return [round(float(value), 4) for value in found]


def _paired(kind: str, one: dict[str, Any], other: dict[str, Any]) -> Estimate:
    """The difference of two rows in points of success, or how many times as many queries, on the texts that both attacked."""
    what = "won" if kind == POINTS else "queries"
    first, second = dict(zip(one["id"], one[what], strict=True)), dict(zip(other["id"], other[what], strict=True))
    both = [name for name in first if name in second]
    a, b = np.array([first[name] for name in both], float), np.array([second[name] for name in both], float)
    draws = resamples(len(both), 0).astype(np.float64)
    if kind == POINTS:
        value, again = 100 * (a - b).mean(), 100 * (draws @ (a - b)) / max(1, len(both))
    else:
        value, again = a.sum() / b.sum(), (draws @ a) / (draws @ b)
    low, high = percentile_interval(again)
    return float(value), min(low, float(value)), max(high, float(value))


def _order(task: str, what: str, rows: list[dict[str, Any]]) -> Estimate:
    """The rank correlation of our rows and the paper's, over texts that all rows attacked."""
    theirs = ranks(np.array(_paper_of_table_10(task, what))[None])[0]
    common = set.intersection(*(set(row["id"]) for row in rows))
    key = "won" if what == "success" else "queries"
    ids = sorted(common)
    values = np.array([[dict(zip(row["id"], row[key], strict=True))[name] for name in ids] for row in rows], float)
    again = np.concatenate([values.mean(1)[None], (resamples(len(ids), 0).astype(np.float64) @ values.T) / len(ids)])
    found = ranks(again)
    found, middle = found - found.mean(1, keepdims=True), theirs - theirs.mean()
    rho = (found @ middle) / np.sqrt((found**2).sum(1) * (middle**2).sum())
    low, high = percentile_interval(rho[1:])
    return float(rho[0]), low, high


def _paper_of_table_10(task: str, what: str) -> list[float]:
    figures = json.loads((Path(__file__).parent / "figures" / "toxictrap.json").read_text(encoding="utf-8"))
    place = 0 if what == "success" else 1
    pairs = (row.split(", ") for row in TABLE_10)
    return [figures["Table 10"][task][search][source][place] for search, source in pairs]


def ranks(values: Any) -> Any:
    """The rank of each value in its row, the mean rank of equal ones."""
    less = (values[:, None, :] < values[:, :, None]).sum(2)
    same = (values[:, None, :] == values[:, :, None]).sum(2)
    return less + (same - 1) / 2


# ---- the table ----


def findings(evidence: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """The lines of the table of findings: a column for each task, with our value, its interval and the paper's."""
    tasks = [task for task in figures["tasks"] if task in evidence["rows"]]
    lines = [
        f"| the paper | in | {' | '.join(figures['tasks'][task] for task in tasks)} |",
        "|---|---|" + "---|" * len(tasks),
    ]
    for finding in FINDINGS:
        cells = [_cell(finding, evidence["compared"][task], figures, task) for task in tasks]
        lines += [f"| {finding.says} | {finding.where} | {' | '.join(cells)} |"] if any(cells) else []
    for what, says in ORDERS.items():
        found = [evidence["compared"][task].get(f"order: {what}") for task in tasks]
        cells = [
            "" if not each else f"{above(0.5)(each)}: {each[0]:.2f} [{each[1]:.2f}, {each[2]:.2f}]" for each in found
        ]
        lines += [f"| {says} | Table 10 | {' | '.join(cells)} |"] if any(cells) else []
    for row, says in LEVELS.items():
        cells = [_level(evidence["rows"][task].get(row), figures["Table 5"][task]["unk pos"][0]) for task in tasks]
        lines += [f"| {says} | Table 5 | {' | '.join(cells)} |"] if any(cells) else []
    return lines


def _level(row: dict[str, Any] | None, paper: float) -> str:
    if not row or not row["success"]:
        return ""
    value, low, high = row["success"]
    return f"{YES if low <= paper <= high else NO}: {value:.1f} [{low:.1f}, {high:.1f}] ({paper:.1f})"


def _cell(finding: Finding, compared: dict[str, list[float]], figures: dict[str, Any], task: str) -> str:
    found = compared.get(finding.key)
    if found is None or task not in finding.tasks:
        return ""
    one, other = (_paper(figures, task, row, finding.kind) for row in (finding.one, finding.other))
    value, low, high = found
    if finding.kind == POINTS:
        return f"{finding.holds((value, low, high))}: {value:+.1f} [{low:+.1f}, {high:+.1f}] ({one - other:+.1f})"
    return f"{finding.holds((value, low, high))}: × {value:.2f} [{low:.2f}, {high:.2f}] (× {one / other:.2f})"


def _paper(figures: dict[str, Any], task: str, row: str, kind: str) -> float:
    """The paper's success, or its queries, in a row."""
    search, _, source = row.partition(", ")
    found = figures["Table 10"][task][search][source] if source else figures["Table 5"][task][row]
    return float(found[0 if kind == POINTS else 1])
