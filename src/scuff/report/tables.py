"""A run's scores as a table of text."""

from __future__ import annotations

from typing import Any

Summary = dict[str, Any]


def percent(value: float | None) -> str:
    """As the papers print: 82.7."""
    return "-" if value is None else f"{100 * value:.1f}"


def spread(entry: dict[str, Any]) -> str:
    """A value with its interval: 82.7 [80.1, 85.0]."""
    low, high = entry["interval"]
    return f"{percent(entry['value'])} [{percent(low)}, {percent(high)}]"


def score_table(summary: Summary) -> str:
    """One line per dimension, the most harmful first, then over all; what went wrong below."""
    dimensions = summary["dimensions"]
    degrees = [f"{cell['degree']:g}" for cell in next(iter(dimensions.values()))["degrees"]]
    width = max([9, *map(len, dimensions)]) + 2
    clean = summary["clean"]
    lines = [
        f"{summary['model']} on {summary['data']['name']}: {summary['metric']} in %, 95 % intervals, "
        f"{clean['examples']} examples",
        "",
        f"{'':{width}}{'average':>20}{'worst':>20}   average at degree "
        + "".join(f"{degree:>6}" for degree in degrees),
    ]
    for name, content in sorted(dimensions.items(), key=lambda item: _rank(item[1])):
        cells = "".join(f"{percent(cell['average']['value']):>6}" for cell in content["degrees"])
        lines.append(f"{name:{width}}{spread(content['average']):>20}{spread(content['worst']):>20}{'':21}{cells}")
    overall = summary["overall"]
    lines += ["", f"{'overall':{width}}{spread(overall['average']):>20}{spread(overall['worst']):>20}"]
    auc = f", macro AUC {spread(clean['auc'])}" if "auc" in clean else ""
    lines.append(f"{'clean':{width}}{spread(clean['score']):>20}{auc}; guessing {percent(clean['chance'])}")
    return "\n".join([*lines, "", *_aucs(summary, width), *_harm(summary), *notes(summary)])


def _aucs(summary: Summary, width: int) -> list[str]:
    """For label sets, of which the exact match tells little, the macro AUC, too."""
    if summary["task"] != "multi" or "auc" not in summary["clean"]:
        return []
    rows = []
    for name, content in summary["dimensions"].items():
        cells = [percent(cell["auc"]["value"] if "auc" in cell else None) for cell in content["degrees"]]
        rows.append(f"{name:{width}}" + "".join(f"{cell:>7}" for cell in cells))
    return ["macro AUC at each degree", *rows, ""]


def _harm(summary: Summary) -> list[str]:
    """Zéroe's ranking: s* at the highest degree."""
    last = next(iter(summary["dimensions"].values()))["degrees"][-1]["degree"]
    ranked = ", ".join(f"{entry['dimension']} {percent(entry['left'])}" for entry in summary["harm"])
    measure = "macro AUC" if summary["task"] == "multi" and "auc" in summary["clean"] else summary["metric"]
    return [f"left of the clean {measure} at degree {last:g}, in %: {ranked}"]


def _rank(content: dict[str, Any]) -> float:
    value = content["average"]["value"]
    return 2.0 if value is None else float(value)


def notes(summary: Summary) -> list[str]:
    """What a reader must know before believing the numbers."""
    cells = [cell for content in summary["dimensions"].values() for cell in content["degrees"]]
    total = sum(cell["cases"] for cell in cells)
    counts = {
        "unchanged (the text is too short for the degree, or the attack finds nothing)": "unchanged", "errors": "error",
        "refused": "refused", "unparsed": "unparsed", "unanswered": "unanswered", "not asked (budget)": "budget",
    }  # fmt: skip
    found = {name: sum(cell[key] for cell in cells) for name, key in counts.items()}
    parts = [f"{count:,} {name}" for name, count in found.items() if count]
    out = [f"{total:,} cases" + (f", of which {', '.join(parts)}" if parts else "")]
    if summary["data"]["skipped"]:
        out.append(
            "left out: "
            + ", ".join(f"{count} examples with {why}" for why, count in summary["data"]["skipped"].items())
        )
    if summary.get("adaptive"):
        saved = summary["queries"]["saved"] / max(summary["queries"]["planned"], 1)
        out.append(
            f"adaptive: {summary['queries']['saved']:,} of {summary['queries']['planned']:,} queries saved ({saved:.0%})"
        )
    if summary["clean"]["examples"] < 100:
        out.append(f"only {summary['clean']['examples']} examples: the intervals are wide, take more with --examples")
    return out
