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
    cells = [content["degrees"] for content in dimensions.values()]
    width = max([24, *(len(name) + 2 for name in dimensions)])
    clean, overall = summary["clean"], summary["overall"]
    lines = [
        f"{summary['model']} on {summary['data']['name']}: {summary['metric']} in %, 95 % intervals, "
        f"{clean['examples']:,} examples",
        "",
        f"{'':{width}}{'final average':>20}{'final worst':>20}   average at degree "
        + "".join(f"{cell['degree']:>6g}" for cell in cells[0]),
    ]
    for name in (entry["dimension"] for entry in summary["harm"]):
        content = dimensions[name]
        lines.append(
            f"{name:{width}}{spread(content['average']):>20}{spread(content['worst']):>20}{'':21}"
            + "".join(f"{percent(cell['average']['value']):>6}" for cell in content["degrees"])
        )
    lines += [
        f"{'texts that stay as is, %':{width + 61}}" + "".join(f"{100 * share:>6.0f}" for share in unchanged(summary)),
        "",
        f"{'overall':{width}}{spread(overall['average']):>20}{spread(overall['worst']):>20}",
    ]
    lost = f" on the {clean['answered']:,} that were answered" if clean["answered"] < clean["examples"] else ""
    auc = f", macro AUC {spread(clean['auc'])}" if "auc" in clean else ""
    lines.append(
        f"{'clean':{width}}{spread(clean['score']):>20}{lost}{auc}; guessing {percent(clean['chance'])}, "
        f"always the most frequent {percent(clean['majority'])}"
    )
    return "\n".join([*lines, "", *_aucs(summary, width), *_harm(summary), *notes(summary)])


def unchanged(summary: Summary) -> list[float]:
    """By degree, the share of texts that could not change, over all dimensions."""
    columns = zip(*(content["degrees"] for content in summary["dimensions"].values()), strict=True)
    return [
        sum(c["unchanged_examples"] for c in cells) / max(1, sum(c["examples"] for c in cells)) for cells in columns
    ]


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


def notes(summary: Summary) -> list[str]:
    """What a reader must know before believing the numbers."""
    dimensions = summary["dimensions"]
    cells = [cell for content in dimensions.values() for cell in content["degrees"]]
    total = sum(cell["cases"] for cell in cells)
    counts = {
        "errors": "error", "refused": "refused", "unparsed": "unparsed", "unanswered": "unanswered", "not asked": "budget",
    }  # fmt: skip
    found = {name: sum(cell[key] for cell in cells) for name, key in counts.items()}
    parts = [f"{count:,} {name}" for name, count in found.items() if count]
    out = [f"{total:,} cases" + (f", of which without an answer: {', '.join(parts)}" if parts else ", all answered")]
    if parts:
        out.append(
            "scores are over the examples that have an answer, which differ from score to score where some have none"
        )
    out.append(
        "final: over degrees, small ones weigh most (RobTest, eq. 1); worst: no case up to the degree broke the example"
    )
    short = [
        f"{name} {percent(content['degrees'][-1]['reached'])}"
        for name, content in dimensions.items()
        if (content["degrees"][-1]["reached"] or 0) < 0.6 * content["degrees"][-1]["degree"]
    ]
    if short:
        top = percent(cells[-1]["degree"])
        out.append(
            f"reach much less than the highest degree asked for, {top} %, because there is no more to change: {', '.join(short)}"
        )
    if summary["data"]["skipped"]:
        skipped = ", ".join(f"{count} with {why}" for why, count in summary["data"]["skipped"].items())
        out.append(f"examples left out: {skipped}")
    wanted = summary["protocol"]["width"]
    if wanted:
        spans = [cell["average"]["interval"] for cell in cells if cell["average"]["value"] is not None]
        wide = sum(high - low > wanted for low, high in spans)
        saved = summary["queries"]["saved"]
        out += [
            f"adaptive: {saved:,} queries saved ({saved / max(saved + total, 1):.0%})",
            f"{wide} of {len(cells)} intervals are wider than {wanted:g}: more examples would narrow them",
            "the worst case is over the cases made, so it is higher than that of a full run",
        ]
    if summary["clean"]["examples"] < 100:
        out.append(f"few examples ({summary['clean']['examples']}): the intervals are wide and only roughly right")
    return out
