"""The gate for CI: checks scores against bounds or against another run, and writes the outcome as JUnit XML or Markdown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..runs.schema import AttackSummary, EvaluationSummary, Summary
from .formatting import cell, markdown_row, percent
from .groups import in_meaning

ANSWERED = 0.9  # the share of cases that must be answered, by default


@dataclass(frozen=True)
class Line:
    """One score and its bound."""

    name: str
    value: float | None
    bound: float
    why: str = ""
    most: bool = False  # the bound is a maximum

    @property
    def passed(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.bound + 1e-9 if self.most else self.value >= self.bound - 1e-9

    def __str__(self) -> str:
        side = "at most" if self.most else "at least"
        return f"{'ok  ' if self.passed else 'FAIL'} {self.name}: {percent(self.value)}, {side} {percent(self.bound)}{self.why}"


def check_summary(
    summary: Summary,
    least: dict[str, float],
    max_drop: float | None = None,
    baseline: Summary | None = None,
    max_success: float | None = None,
) -> list[Line]:
    """Returns a line for each score that is compared: with its minimum, with the clean score, or with that of another run.

    least: minimums by name. A name is `clean`, `average`, `worst`, a dimension (its average) such as `typo-m` or `typo-m@score`,
    `dimension.worst`, `dimension@0.1`, `dimension@0.1.worst`, `each` or, with one access, `each@score`, or `answered`: the share
    of cases with an answer, at least ANSWERED by default. Of an attack it is `clean`, `after` (accuracy after it) or `answered`
    (the share of attacks that did not end in an error). max_drop: from the clean score, or from the scores of the baseline.
    max_success: of an attack. Values are compared, not the ends of their intervals, since a bound should not become stricter
    with fewer examples. Raises ValueError for unknown names, for runs that cannot be compared, and if nothing is to be checked.
    """
    for option, value in (("--max-drop", max_drop), ("--max-success", max_success)):
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"expected a number in [0, 1] for {option}, got {value:g}")
    attack = "kind" in summary
    if max_success is not None and not attack:
        raise ValueError("expected a run of `scuff attack` for --max-success, got one of `scuff evaluate`")
    scores = named_scores(summary)
    lines = []
    for name, bound in least.items():
        lines += [Line(found, scores[found], bound) for found in _matching(name, scores, summary)]
    if baseline:
        _comparable(summary, baseline)
    if max_drop is not None:
        before = named_scores(baseline) if baseline else dict.fromkeys(scores, scores["clean"])
        what = "baseline" if baseline else "clean"
        for name in _dropping(summary, baseline is not None):
            start = before[name]
            why = f" ({what} {percent(start)} - {percent(max_drop)})"
            lines.append(Line(name, scores[name], math.inf if start is None else start - max_drop, why))
    if max_success is not None and "kind" in summary:
        lines.append(Line("success", summary["success"]["value"], max_success, most=True))
    if not lines:
        options = f"--min NAME=VALUE or {'--max-success' if attack else '--max-drop'} VALUE"
        raise ValueError(f"expected something to check ({options}), got nothing")
    answered = Line("answered", scores["answered"], ANSWERED)
    # scores over few answers say little, so that alone fails the gate
    return lines if answered.passed or "answered" in least else [*lines, answered]


def _dropping(summary: Summary, baseline: bool) -> list[str]:
    """Returns the names of scores that --max-drop compares: all with a baseline, those of perturbed texts with the clean one."""
    if "kind" in summary:
        return ["clean", "after"] if baseline else ["after"]
    dimensions = summary["dimensions"]
    each = [name for dimension in dimensions for name in (dimension, f"{dimension}.worst")]
    return ["clean", "average", "worst", *each] if baseline else list(dimensions)


def _comparable(summary: Summary, baseline: Summary) -> None:
    """Raises ValueError unless the runs differ in nothing but the model."""
    ours, theirs = _settings(summary), _settings(baseline)
    other = [name for name, value in ours.items() if value != theirs.get(name)]
    if other:
        raise ValueError(f"expected a baseline of the same data and settings, got another {', '.join(other)}")


def _settings(summary: Summary) -> dict[str, Any]:
    """Returns what two runs must have in common to be compared."""
    if "kind" in summary:
        recipe, limit = summary["recipe"], summary["queries"]["limit"]
        return {"kind": summary["kind"], "data": summary["data"]["digest"], "recipe": recipe, "limit": limit}
    ignored = {"at_once"} if in_meaning(summary) else {"at_once", "meaning"}  # meaning: if no dimension uses it
    same = {"kind": None, "data": summary["data"]["digest"], "metric": summary["metric"]}
    return {**same, **{name: value for name, value in summary["protocol"].items() if name not in ignored}}


def named_scores(summary: Summary) -> dict[str, float | None]:
    """Returns all scores that can be checked, by name."""
    return _attack_scores(summary) if "kind" in summary else _evaluation_scores(summary)


def _attack_scores(summary: AttackSummary) -> dict[str, float | None]:
    unanswered = summary["unanswered"]  # examples without an answer to the original, which were not attacked
    lost = unanswered + summary["status"]["error"]
    answered = 1 - lost / max(unanswered + summary["success"]["of"], 1)
    return {"clean": summary["clean"]["value"], "after": summary["after"]["value"], "answered": answered}


def _evaluation_scores(summary: EvaluationSummary) -> dict[str, float | None]:
    out = {
        "clean": summary["clean"]["score"]["value"],
        "average": summary["overall"]["average"]["value"],
        "worst": summary["overall"]["worst"]["value"],
        "answered": summary["answered"] / max(summary["queries"]["cases"], 1),
    }
    if "auc" in summary["clean"]:
        out["clean.auc"] = summary["clean"]["auc"]["value"]
    for name, content in summary["dimensions"].items():
        out[name], out[f"{name}.worst"] = content["average"]["value"], content["worst"]["value"]
        for at_degree in content["degrees"]:
            at = f"{name}@{at_degree['degree']:g}"
            out[at], out[f"{at}.worst"] = at_degree["average"]["value"], at_degree["worst"]["value"]
            if "auc" in at_degree:
                out[f"{at}.auc"] = at_degree["auc"]["value"]
    return out


def _matching(name: str, scores: dict[str, float | None], summary: Summary) -> list[str]:
    """Returns the names of the scores that a name stands for. Raises ValueError, with near names, if there are none."""
    if name in scores:
        return [name]
    dimensions = {} if "kind" in summary else summary["dimensions"]
    if name == "each" and dimensions:
        return list(dimensions)
    each = [found for found, content in dimensions.items() if name == f"each@{content['setting']}"]
    if each:
        return each
    near = get_close_matches(name, scores, 3, 0.5) or list(scores)[:8]
    each_too = " (and `each` for all dimensions)" if dimensions else ""
    raise ValueError(f"expected the name of a score, got {name!r}; there are {', '.join(near)}{each_too}")


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


def markdown(lines: list[Line], summary: Summary) -> str:
    """Returns a Markdown table, as for a pull request."""
    head = [
        f"### Robustness of {cell(summary['model'])} on {cell(summary['data']['name'])}",
        "",
        "| score | is | at least | |",
        "|---|---|---|---|",
    ]
    rows = []
    for line in lines:
        bound = f"{'at most ' * line.most}{percent(line.bound)}{line.why}"
        rows.append(markdown_row([line.name, percent(line.value), bound, "pass" if line.passed else "**fail**"]))
    return "\n".join([*head, *rows]) + "\n"
