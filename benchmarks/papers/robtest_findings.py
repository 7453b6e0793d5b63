"""RobTest's findings one by one: what its figures show, what our runs show, and whether the finding holds here.

A finding about columns holds if more than half of them show it with a 95 % interval that excludes 0, and at most a quarter shows
the opposite so; one about all columns, if besides no more show the opposite so than in the paper's own figures. It is not decided
if more than half show it, but too few with such an interval. Intervals are not corrected for the number of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from scuff.evaluation.dimensions import COLUMNS

TITLES = {"sst2": "SST-2", "agnews": "AG News", "jigsaw": "Jigsaw"}
# the runs of our larger model; a column is taken from the first one that has it
RUNS = {
    "sst2": ("sst2", "sst2-slow"), "agnews": ("agnews", "agnews-score"), "jigsaw": ("jigsaw-bl", "jigsaw-bl-score"),
}  # fmt: skip
NEAR_ZERO = 10.0  # %: what counts as "near zero"
FALLS = 0.9  # share of the steps from degree to degree that must not rise by more than RISE points
RISE = 0.5
PENDING, OPEN = "not run yet", "not decided"
EQUAL = 3.0  # points: what counts as no advantage


class Finding(NamedTuple):
    claim: str
    paper: str
    here: str
    verdict: str


def findings(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> list[Finding]:
    """Returns all findings, those without their runs as pending."""
    made = (
        tolerance, scores_against_rules, worst_against_scores, larger, gradients, falling, different, near_zero, weakest, order,
    )  # fmt: skip
    return [finding for make in made for finding in make(evidence, paper)]


def dimension(evidence: Mapping[str, Any], task: str, name: str) -> Mapping[str, Any] | None:
    """Returns our larger model's numbers of a column, by its name with the access."""
    for run in RUNS[task]:
        found = evidence["runs"].get(run, {}).get("dimensions", {}).get(name)
        if found:
            return found
    return None


def yes(holds: bool) -> str:
    return "yes" if holds else "**no**"


def decided(same: int, sure: int, opposite: int, columns: int, exceptions: float) -> str:
    """Returns the verdict about columns: how many show a finding, how many of them surely, and how many surely the opposite.

    exceptions: how many may show the opposite.
    """
    if opposite > exceptions:
        return yes(False)
    return yes(True) if sure > columns / 2 else OPEN if same > columns / 2 else yes(False)


def tolerance(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.2 on Figure 2."""
    claim = "SST-2: on average a model tolerates degree 0.05 (typo-m: 90 % of its accuracy left), in the worst case it does not"
    rows = paper["reports"]["sst2"]["base"]["typo-m"]
    full, average, worst = (rows["rule-average"][0], rows["rule-average"][1], rows["rule-worst"][1])
    theirs = f"{average} and {worst} of {full}: {average / full:.0%} and {worst / full:.0%}"
    found = dimension(evidence, "sst2", "typo-m")
    if not found:
        yield Finding(claim, theirs, PENDING, "")
        return
    full, average, worst = found["clean"], found["average"][0], found["alone"][0]
    here = f"{average:.1f} and {worst:.1f} of {full:.1f}: {average / full:.0%} and {worst / full:.0%}"
    yield Finding(claim, theirs, here, yes(average / full >= 0.9 and worst / full < 0.5))


def _counts(rows: Iterable[list[float]], sign: int) -> tuple[int, int, int]:
    """Returns how many differences have this sign, how many so that the interval excludes 0, and how many are opposite so."""
    rows = list(rows)
    low = [sign * (row[1] if sign > 0 else row[2]) for row in rows]
    high = [sign * (row[2] if sign > 0 else row[1]) for row in rows]
    return sum(sign * row[0] > 0 for row in rows), sum(each > 0 for each in low), sum(each < 0 for each in high)


def _accesses(
    evidence: Mapping[str, Any], paper: Mapping[str, Any], row: str, sign: int, claim: str
) -> Iterable[Finding]:
    """Compares access to scores with none, for each task. sign: of score less rule."""
    for task, title in TITLES.items():
        reports = paper["reports"][task]["base"]
        theirs = [
            reports[column][f"score-{row}"][-1] - reports[column][f"rule-{row}"][-1]
            for column in COLUMNS
            if column != "syntax"
        ]
        said = f"{sum(sign * each > 0 for each in theirs)} of {len(theirs)} columns"
        leads = evidence["pairs"].get(f"score-rule-{task}", {})
        rows = [ways["average" if row == "average" else "alone"] for ways in leads.values()]
        if not rows:
            yield Finding(f"{title}: {claim}", said, PENDING, "")
            continue
        same, sure, opposite = _counts(rows, sign)
        here = f"{same} of {len(rows)} columns, {sure} with an interval without 0, {opposite} the other way"
        yield Finding(f"{title}: {claim}", said, here, decided(same, sure, opposite, len(rows), len(rows) / 4))


def scores_against_rules(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.3, evaluation protocol."""
    return _accesses(evidence, paper, "average", -1, "score-based cases harm more than rule-based ones on average")


def worst_against_scores(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.3, evaluation protocol."""
    return _accesses(evidence, paper, "worst", 1, "in the worst case it is the opposite: rule-based ones harm more")


def larger(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.2, robustness comparison: RoBERTa-large against -base; here six layers against three."""
    for task, title in TITLES.items():
        for row in ("rule-average", "rule-worst"):
            claim = f"{title}: the larger model is more robust in all dimensions ({row})"
            reports = paper["reports"][task]
            theirs = [reports["large"][column][row][-1] - reports["base"][column][row][-1] for column in COLUMNS]
            less = [column for column, each in zip(COLUMNS, theirs, strict=True) if each <= 0]
            said = f"{sum(each > 0 for each in theirs)} of {len(theirs)} columns" + (
                f", not {', '.join(less)}" if less else ""
            )
            leads = evidence["pairs"].get(f"larger-{task}", {})
            rows = [
                ways[row.replace("worst", "alone")] for ways in leads.values() if row.replace("worst", "alone") in ways
            ]
            if not rows:
                yield Finding(claim, said, PENDING, "")
                continue
            same, sure, opposite = _counts(rows, 1)
            here = f"{same} of {len(rows)} columns, {sure} with an interval without 0, {opposite} the other way"
            yield Finding(claim, said, here, decided(same, sure, opposite, len(rows), len(less)))


def gradients(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.1: pilot experiments."""
    claim, said = "SST-2: gradients bring no advantage over scores", "no figures given"
    leads = evidence["pairs"].get("gradient-score", {})
    rows = [ways["average"] for ways in leads.values()]
    if not rows:
        yield Finding(claim, said, PENDING, "")
        return
    lower, sure, opposite = _counts(rows, -1)
    equal = sum(-row[1] < EQUAL for row in rows)  # a negative difference is more harm
    here = (
        f"gradients harm more in {lower} of {len(rows)} columns ({sure} with an interval without 0), less in {opposite} so; "
        f"by less than {EQUAL:g} points, with the interval, in {equal}"
    )
    yield Finding(
        claim, said, here, yes(False) if sure > len(rows) / 2 else yes(True) if equal > len(rows) / 2 else OPEN
    )


def _steps(rows: Iterable[list[float]]) -> tuple[int, int]:
    """Returns how many steps from degree to degree do not rise by more than RISE points, and how many there are."""
    steps = [after - before for row in rows for before, after in pairwise(row)]
    return sum(step <= RISE for step in steps), len(steps)


def falling(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.3, filtering: scores drop along with the degree."""
    for row in ("average", "worst"):
        claim = f"Scores drop as the degree grows (rule-{row}, all data)"
        theirs = _steps(
            paper["reports"][task]["base"][column][f"rule-{row}"][:-1] for task in TITLES for column in COLUMNS
        )
        said = f"{theirs[0]} of {theirs[1]} steps"
        way = "average" if row == "average" else "alone"
        ours = [
            [found["clean"], *found[way]]
            for task in TITLES for column in COLUMNS if (found := dimension(evidence, task, column))
        ]  # fmt: skip
        if not ours:
            yield Finding(claim, said, PENDING, "")
            continue
        falls, steps = _steps(ours)
        yield Finding(claim, said, f"{falls} of {steps} steps", yes(falls >= FALLS * steps))


def different(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.3, robustness dimensions."""
    for task, title in TITLES.items():
        claim = f"{title}: dimensions differ substantially (final score, rule-average: lowest and highest)"
        reports = paper["reports"][task]["base"]
        theirs = {column: reports[column]["rule-average"][-1] for column in COLUMNS}
        low, high = min(theirs, key=theirs.__getitem__), max(theirs, key=theirs.__getitem__)
        said = f"{low} {theirs[low]:.1f}, {high} {theirs[high]:.1f}"
        ours = {column: found["final"]["average"] for column in COLUMNS if (found := dimension(evidence, task, column))}
        if not ours:
            yield Finding(claim, said, PENDING, "")
            continue
        low, high = min(ours, key=ours.__getitem__), max(ours, key=ours.__getitem__)
        here = f"{low} {ours[low][0]:.1f}, {high} {ours[high][0]:.1f}"
        yield Finding(claim, said, here, yes(ours[low][2] < ours[high][1]))


def near_zero(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.3, evaluation protocol."""
    for task, title in TITLES.items():
        claim = f"{title}: most dimensions bring the worst case near zero at high degrees (rule, 0.6, below {NEAR_ZERO:g} %)"
        theirs = [paper["reports"][task]["base"][column]["rule-worst"][-2] < NEAR_ZERO for column in COLUMNS]
        said = f"{sum(theirs)} of {len(theirs)} columns"
        ours = [found["alone"][-1] < NEAR_ZERO for column in COLUMNS if (found := dimension(evidence, task, column))]
        if not ours:
            yield Finding(claim, said, PENDING, "")
            continue
        yield Finding(claim, said, f"{sum(ours)} of {len(ours)} columns", yes(sum(ours) > len(ours) / 2))


WEAK = frozenset(("typo-m", "glyph-m", "phonetic-m", "syntax"))


def weakest(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Section 4.2 on the radar map of Figure 2."""
    claim = (
        "SST-2: the model fails most at syntax and at malicious characters (the lowest four final scores, rule-average)"
    )
    theirs = {column: paper["reports"]["sst2"]["base"][column]["rule-average"][-1] for column in COLUMNS}
    said = ", ".join(sorted(theirs, key=theirs.__getitem__)[: len(WEAK)])
    ours = {
        column: found["final"]["average"][0] for column in COLUMNS if (found := dimension(evidence, "sst2", column))
    }
    if len(ours) < len(COLUMNS):
        yield Finding(claim, said, PENDING, "")
        return
    here = sorted(ours, key=ours.__getitem__)[: len(WEAK)]
    yield Finding(claim, said, ", ".join(here), yes(set(here) == WEAK))


def order(evidence: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterable[Finding]:
    """Not a finding of the paper: whether the columns that harm more there harm more here, by rank correlation."""
    for task, title in TITLES.items():
        for row in ("rule-average", "rule-worst", "score-average", "score-worst"):
            found = evidence.get("ranks", {}).get(task, {}).get(row)
            claim = f"{title}: (not in the paper) columns that harm more there harm more here, {row}"
            if not found:
                yield Finding(claim, "", PENDING, "")
                continue
            here = "rank correlation {:.2f} [{:.2f}, {:.2f}]; by chance {:.1%}".format(*found)
            yield Finding(claim, "", here, yes(True) if found[3] < 0.05 else OPEN)
