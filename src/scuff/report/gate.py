"""Pass or fail: scores against minimums, or against another run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches

from .groups import Summary, percent
from .notes import in_meaning

ANSWERED = 0.9


@dataclass(frozen=True)
class Line:
    """One thing that was checked."""

    name: str
    value: float | None
    least: float
    why: str = ""

    @property
    def passed(self) -> bool:
        return self.value is not None and self.value >= self.least - 1e-9

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'} {self.name}: {percent(self.value)}, at least {percent(self.least)}{self.why}"


def check_summary(
    summary: Summary, least: dict[str, float], max_drop: float | None = None, baseline: Summary | None = None
) -> list[Line]:
    """Scores against minimums, and drops: from the clean score, or from the same scores of another run.

    A name is `clean`, `average`, `worst`, a dimension (its average) such as `typo-m` or `typo-m@score`, `dimension.worst`,
    `dimension@0.1`, `dimension@0.1.worst`, `each` or, of one setting, `each@score`, or `answered`: the share of cases that were,
    at least 0.9 unless said otherwise.
    """
    if max_drop is not None and not 0 <= max_drop <= 1:
        raise ValueError(f"expected a number in [0, 1] for --max-drop, got {max_drop:g}")
    scores = named_scores(summary)
    lines = []
    for name, bound in least.items():
        lines += [Line(found, scores[found], bound) for found in _matching(name, scores, summary)]
    if baseline:
        _comparable(summary, baseline)
    if max_drop is not None:
        before = named_scores(baseline) if baseline else dict.fromkeys(scores, scores["clean"])
        names = ["clean", "average", "worst", *_dimension_names(summary)] if baseline else list(summary["dimensions"])
        what = "baseline" if baseline else "clean"
        for name in names:
            start = before[name]
            why = f" ({what} {percent(start)} - {percent(max_drop)})"
            lines.append(Line(name, scores[name], math.inf if start is None else start - max_drop, why))
    if not lines:
        raise ValueError("expected something to check (--min NAME=VALUE or --max-drop VALUE), got nothing")
    answered = Line("answered", scores["answered"], ANSWERED)
    return lines if answered.passed or "answered" in least else [*lines, answered]  # scores of few answers say little


def _comparable(summary: Summary, baseline: Summary) -> None:
    """Two runs tell of two models only if everything else is the same."""
    harmless = {"at_once"} if in_meaning(summary) else {"at_once", "meaning"}  # a measure that nothing is measured by
    parts = {
        "data": [s["data"]["digest"] for s in (summary, baseline)],
        **{
            name: [s["protocol"].get(name) for s in (summary, baseline)]
            for name in summary["protocol"]
            if name not in harmless
        },
    }
    other = [name for name, (one, two) in parts.items() if one != two]
    if other:
        raise ValueError(f"expected a baseline of the same data and settings, got another {', '.join(other)}")


def named_scores(summary: Summary) -> dict[str, float | None]:
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
        for cell in content["degrees"]:
            at = f"{name}@{cell['degree']:g}"
            out[at], out[f"{at}.worst"] = cell["average"]["value"], cell["worst"]["value"]
            if "auc" in cell:
                out[f"{at}.auc"] = cell["auc"]["value"]
    return out


def _dimension_names(summary: Summary) -> list[str]:
    return [name for each in summary["dimensions"] for name in (each, f"{each}.worst")]


def _matching(name: str, scores: dict[str, float | None], summary: Summary) -> list[str]:
    if name in scores:
        return [name]
    dimensions = summary["dimensions"]
    if name == "each":
        return list(dimensions)
    each = [found for found in dimensions if name == f"each@{dimensions[found].get('setting', 'rule')}"]
    if each:
        return each
    near = get_close_matches(name, scores, 3, 0.5) or list(scores)[:8]
    raise ValueError(
        f"expected the name of a score, got {name!r}; there are {', '.join(near)} (and `each` for all dimensions)"
    )


def junit(lines: list[Line], suite: str) -> str:
    """For CI systems: a test case per line."""
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
    """For a pull request."""

    def cell(text: str) -> str:
        return text.replace("|", "\\|")

    head = [
        f"### Robustness of {cell(summary['model'])} on {cell(summary['data']['name'])}",
        "",
        "| score | is | at least | |",
        "|---|---|---|---|",
    ]
    rows = [
        f"| {cell(line.name)} | {percent(line.value)} | {percent(line.least)}{line.why} | "
        f"{'pass' if line.passed else '**fail**'} |"
        for line in lines
    ]
    return "\n".join([*head, *rows]) + "\n"
