"""Tables of text and Markdown: of an evaluation, as RobTest prints them."""

from __future__ import annotations

from textwrap import fill

from .groups import Summary, by_harm, groups, notes, overall_by_setting, percent, settings, spread, unchanged

NAMES, LONGEST = 20, 30  # columns; a longer name has a line of its own

WIDE = 130


def score_table(summary: Summary) -> str:
    """A line per dimension and setting, the most harmful dimension first, then over all; what went wrong below."""
    bases = [base for base in groups(summary) if len(base) < LONGEST]
    width = max([NAMES, *(len(base) + 2 for base in bases)])
    degrees = next(iter(summary["dimensions"].values()))["degrees"]
    start = width + 50  # where the columns of degrees are
    lines = [
        f"{summary['model']} on {summary['data']['name']}: {summary['metric']} in %, 95 % intervals, "
        f"{summary['clean']['examples']:,} examples",
        "",
        f"{'':{start}}  average at degree",
        f"{'':{width}}{'setting':10}{'final average':>20}{'final worst':>20}"
        + "".join(f"{cell['degree']:>6g}" for cell in degrees),
    ]
    for base, names in by_harm(summary).items():
        shown = base
        if len(base) >= LONGEST:
            lines.append(base)
            shown = ""
        for setting, name in names.items():
            content = summary["dimensions"][name]
            lines.append(
                f"{shown:{width}}{setting:10}{spread(content['average']):>20}{spread(content['worst']):>20}"
                + "".join(f"{percent(cell['average']['value']):>6}" for cell in content["degrees"])
            )
            shown = ""
    still = "".join(f"{100 * share:>6.0f}" for share in unchanged(summary))
    lines += [f"{'texts that stay as is, %':{start}}{still}", "", *_overall(summary, width)]
    said = "\n".join(map(_wrapped, [*_harm(summary), *notes(summary)]))
    return "\n".join([*lines, "", *_aucs(summary, width), said])


def _wrapped(note: str) -> str:
    wrapped = fill(note, WIDE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return wrapped.replace("\u00a0", " ")  # it kept a name and its number on one line


def _overall(summary: Summary, width: int) -> list[str]:
    clean, overall = summary["clean"], summary["overall"]
    lines = [f"{'overall':{width + 10}}{spread(overall['average']):>20}{spread(overall['worst']):>20}"]
    for setting, average, worst, of in overall_by_setting(summary):
        lines.append(f"{'':{width}}{setting:10}{average:>7}{'':13}{worst:>7}{'':14}{of}".rstrip())
    lost = f" on the {clean['answered']:,} that were answered" if clean["answered"] < clean["examples"] else ""
    auc = f", macro AUC {spread(clean['auc'])}" if "auc" in clean else ""
    return [
        *lines,
        f"{'clean':{width + 10}}{spread(clean['score']):>20}{lost}{auc}; guessing {percent(clean['chance'])}, "
        f"always the most frequent {percent(clean['majority'])}",
    ]


def _aucs(summary: Summary, width: int) -> list[str]:
    """For label sets, of which the exact match tells little, the macro AUC, too."""
    if summary["task"] != "multi" or "auc" not in summary["clean"]:
        return []
    rows = []
    for base, names in groups(summary).items():
        for setting, name in names.items():
            cells = summary["dimensions"][name]["degrees"]
            values = [percent(cell["auc"]["value"] if "auc" in cell else None) for cell in cells]
            rows.append(f"{base:{width}}{setting:10}" + "".join(f"{value:>7}" for value in values))
    return ["macro AUC at each degree", *rows, ""]


def _harm(summary: Summary) -> list[str]:
    """Zéroe's ranking: s* at the highest degree, setting by setting."""
    last = next(iter(summary["dimensions"].values()))["degrees"][-1]["degree"]
    measure = "macro AUC" if summary["task"] == "multi" and "auc" in summary["clean"] else summary["metric"]
    known = {name: (base, setting) for base, names in groups(summary).items() for setting, name in names.items()}
    used, out = settings(summary), []
    for setting in used:
        ranked = [
            f"{known[entry['dimension']][0]}\u00a0{percent(entry['left'])}"
            for entry in summary["harm"]
            if known[entry["dimension"]][1] == setting
        ]
        by = f" ({setting})" if len(used) > 1 else ""
        out.append(f"left of the clean {measure} at degree {last:g}, in %{by}: {', '.join(ranked)}")
    return out


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
