"""The scores as RobTest prints them (Figure 2 and appendix G)."""

from __future__ import annotations

from .groups import Summary, groups, percent, settings


def paper_head(summary: Summary) -> list[str]:
    """Names of the columns: degree 0 is the clean text."""
    degrees = next(iter(summary["dimensions"].values()))["degrees"]
    return ["Method | Degree", "0", *(f"{cell['degree']:g}" for cell in degrees), "Final Score"]


def paper_rows(summary: Summary, names: dict[str, str]) -> list[list[str]]:
    """Rule-Average, Rule-Worst, Score-Average, ... of one dimension; dashes for a setting that only others were measured in."""
    clean, rows = summary["clean"]["score"]["value"], []
    for setting in settings(summary):
        content = summary["dimensions"].get(names.get(setting))
        for kind in ("average", "worst"):
            values = [clean, *(cell[kind]["value"] for cell in content["degrees"])] if content else []
            scores = [*values, content[kind]["value"]] if content else [None] * (len(paper_head(summary)) - 1)
            rows.append([f"{setting.title()}-{kind.title()}", *map(percent, scores)])
    return rows


def paper_table(summary: Summary) -> str:
    """All dimensions as one Markdown table."""
    head = ["Dimension", *paper_head(summary)]
    lines = [
        f"{_cell(summary['model'])} on {_cell(summary['data']['name'])}: {summary['metric']} in %, "
        f"{summary['clean']['examples']:,} examples, up to {summary['protocol']['cases']:,} cases of each at every degree",
        "",
        f"| {' | '.join(map(_cell, head))} |",
        "|---|---|" + "---:|" * (len(head) - 2),
    ]
    for base, names in groups(summary).items():
        tag = summary["dimensions"][next(iter(names.values()))].get("tag")
        title = f"{_cell(base)} ({tag})" if tag else _cell(base)
        for row in paper_rows(summary, names):
            lines.append(f"| {' | '.join([title, *row])} |")
            title = ""
    return "\n".join([*lines, "", paper_note(summary)]) + "\n"


def paper_note(summary: Summary) -> str:
    """How our final score differs from the one that the paper prints."""
    beta, degrees = summary["protocol"].get("beta", 0.5), len(paper_head(summary)) - 3
    return (
        f"Final Score: RobTest, eq. 1, with β = {beta:g}, begun at the score of the highest degree; the paper's tables begin at "
        f"0, so theirs would be up to {percent(beta**degrees)} lower."
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
