"""The outcome of a gate: as JUnit XML, and as Markdown for a pull request, with the change against another run."""

from __future__ import annotations

from ..runs.schema import Estimate, Summary
from .changes import signed
from .formatting import UNKNOWN, alone, cell, markdown_row, percent, spread
from .gate import Line, check_comparable, compared_scores

STAY = 0.0005  # a change that is shown as 0.0
PASS, FAIL = "✅ pass", "❌ **fail**"  # a sign and a word, for those who see only one of them


def junit(lines: list[Line], suite: str) -> str:
    """Returns JUnit XML for CI systems: a test case per line."""
    from xml.etree import ElementTree

    failures = str(sum(not line.passed for line in lines))
    root = ElementTree.Element("testsuite", name=suite, tests=str(len(lines)), failures=failures, errors="0")
    for line in lines:
        case = ElementTree.SubElement(root, "testcase", classname="scuff.check", name=line.name)
        if not line.passed:
            ElementTree.SubElement(case, "failure", message=str(line)).text = str(line)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def markdown(lines: list[Line], summary: Summary, verdict: str = "", baseline: Summary | None = None) -> str:
    """Returns the outcome for a pull request: passed or failed, the verdict, the bounds, and the change against a baseline.

    verdict: Markdown that is put above the table.
    """
    failed = sum(not line.passed for line in lines)
    word = f"failed {failed} of {len(lines)} bounds" if failed else "passed"
    head = [f"### Robustness of {cell(summary['model'])} on {cell(summary['data']['name'])}: {word}", ""]
    said = [verdict.strip(), ""] if verdict.strip() else []
    table = ["| score | is | at least | |", "|---|---|---|---|"]
    for line in lines:
        value, bound = line.shown
        bound = f"{'at most ' * line.most}{bound}{line.why}"
        table.append(markdown_row([line.name, value, bound, PASS if line.passed else FAIL]))
    change = ["", *change_table(summary, baseline)] if baseline else []
    return "\n".join([*head, *said, *table, *change]) + "\n"


def change_table(summary: Summary, baseline: Summary) -> list[str]:
    """Returns the scores of both runs and their differences as Markdown, or a sentence if the runs cannot be compared."""
    head = "#### Change against the last run"
    try:
        check_comparable(summary, baseline)
    except ValueError as error:
        return [head, "", f"Not compared: {error}."]
    now, before = estimates(summary), estimates(baseline)
    names = [*compared_scores(summary, True), "success"]
    rows = [_row(name, before[name], now[name]) for name in names if name in now and name in before]
    note = "**Bold**: the score has left the 95 % interval that it had in the last run. Points of percent."
    return [head, "", "| score | was | is | change |", "|---|---|---|---|", *rows, "", note]


def _row(name: str, before: Estimate, now: Estimate) -> str:
    old, new, (low, high) = before["value"], now["value"], before["interval"]
    if old is None or new is None:
        return markdown_row([name, spread(before), spread(now), "-"])
    change = new - old
    sign = "same" if abs(change) < STAY else f"{'▲' if change > 0 else '▼'} {signed(change)}"
    left = low is not None and high is not None and not low <= new <= high
    return markdown_row([name, spread(before), percent(new), f"**{sign}**" if left else sign])


def estimates(summary: Summary) -> dict[str, Estimate]:
    """Returns the scores that runs are compared by, with their intervals, by the names that bounds have."""
    if "kind" in summary:
        return {"clean": summary["clean"], "after": summary["after"], "success": summary["success"]}
    overall = summary["overall"]
    out = {"clean": summary["clean"]["score"], "average": overall["average"], "worst": overall["worst"]}
    for name, scores in (("", overall), *((f"{name}.", each) for name, each in summary["dimensions"].items())):
        if name:
            out |= {name.removesuffix("."): scores["average"], f"{name}worst": scores["worst"]}
        if alone(scores) is not UNKNOWN:
            out[f"{name}worst_alone"] = alone(scores)
    return out
