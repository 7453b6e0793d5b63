"""Tables of what raters found, in the layout of the papers and with their figures beside ours: as text, and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..reports.formatting import markdown_row, wrapped
from .correlation import RARE
from .published import SHARE_ABOVE
from .sampling import MANY
from .studies import CHRF_ABOVE

FEW_CASES = 10  # of a dimension and degree: a share of fewer says little
TABLE = {"all": "Table 3", "edits": "Table 8", "attack": "Table 9", "degree": ""}  # of TEAPOT, by what it breaks down


@dataclass(frozen=True)
class Section:
    """A table with its title and notes."""

    title: str
    head: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)


def as_text(content: dict[str, Any]) -> str:
    """Returns all tables as text."""
    out = [heading(content)]
    for section in sections(content):
        out += ["", section.title]
        if section.rows:
            table = [section.head, *section.rows]
            widths = [max(len(row[at]) for row in table) for at in range(len(section.head))]
            for first, *rest in table:
                cells = [f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)]
                out.append("  ".join([f"  {first:{widths[0]}}", *cells]).rstrip())
        out += [wrapped(note) for note in section.notes]
    return "\n".join(out)


def as_markdown(content: dict[str, Any]) -> str:
    """Returns all tables in Markdown."""
    out = [heading(content)]
    for section in sections(content):
        out += ["", f"### {section.title}", ""]
        if section.rows:
            out += [markdown_row(section.head), "|---|" + "---:|" * (len(section.head) - 1)]
            out += [markdown_row(row) for row in section.rows]
        for note in section.notes:
            out += ["", note]
    return "\n".join(out) + "\n"


def heading(content: dict[str, Any]) -> str:
    raters = sum(rater["kept"] for rater in content["raters"])
    if content["study"] == "readability":
        counted = f"{content['texts']} texts ranked"
    else:
        how = f"decided by {content['decide']}" if raters > 1 else "rated"
        counted = f"{content['decided']:,} of {content['items']:,} items {how}"
    return (
        f"{content['study']}, kit {content['kit']}: {raters} rater{'s' * (raters != 1)}, {counted} ({content['paper']})"
    )


def sections(content: dict[str, Any]) -> list[Section]:
    """Returns the tables of a study."""
    out = [_raters(content), _agreement(content)]
    if content["study"] == "readability":
        return [*out, _ranks(content)]
    if content["study"] == "validity":
        out += [_validity(content), *_predicted(content)]
    else:
        out += _alike(content)
        out.append(_means(content))
    return [*out, *_correlations(content), *_left_out(content)]


# numbers


def _of(pair: list[int]) -> str:
    return f"{pair[0]} of {pair[1]}" if pair[1] else "-"


def _shown(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _spread(entry: dict[str, Any], digits: int = 2, times: float = 1) -> str:
    low, high = entry["interval"]
    if entry["value"] is None:
        return "-"
    around = "" if low is None else f" [{times * low:.{digits}f}, {times * high:.{digits}f}]"
    return f"{times * entry['value']:.{digits}f}{around}"


# all studies


def _raters(content: dict[str, Any]) -> Section:
    rows = [
        [
            rater["name"], f"{rater['rated']:,} of {rater['of']:,}", _of(rater["controls"]), _of(rater["qualification"]),
            "counts" if rater["kept"] and rater["passed"] else "kept, though failed" if rater["kept"] else "left out",
        ]
        for rater in content["raters"]
    ]  # fmt: skip
    notes = [f"left out: fewer than {content['pass']:.0%} of the controls or of the qualification are right"]
    several = sum(rater["kept"] for rater in content["raters"]) > 1
    undecided = content["items"] - content["decided"] - content["unrated"] if content["study"] != "readability" else 0
    missing = [
        f"{count:,} {what}"
        for count, what in (
            (content["unrated"], "without a rating"),
            (content["one_rating"] if several else 0, "with one rating alone"),
            (undecided, "that the raters left undecided (a third rater: --disputed FOLDER)"),
        )
        if count
    ]
    left_out = any(not rater["kept"] for rater in content["raters"])
    head, rows = _without_empty(["rater", "rated", "controls", "qualification", ""], rows)
    return Section(
        "Raters",
        head,
        rows,
        [*(notes if left_out else []), *([f"of the items: {', '.join(missing)}"] if missing else [])],
    )


def _without_empty(head: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Returns a table without the columns that have nothing in any row."""
    kept = [at for at in range(len(head)) if any(row[at] != "-" for row in rows)]
    return [head[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _agreement(content: dict[str, Any]) -> Section:
    found = content["agreement"]
    if "kendall_w" in found:
        rows = [
            ["Kendall's W, mean over sets", _shown(found["kendall_w"]["value"]), f"{found['kendall_w']['sets']} sets"]
        ]
        return Section("Agreement", ["", "value", "of"], rows)
    rows = []
    for name, title in (
        ("alpha_ordinal", "Krippendorff's alpha, ordinal"),
        ("alpha_nominal", "Krippendorff's alpha, nominal"),
    ):
        if name in found:
            rows.append([title, _spread(found[name]), f"{found[name]['items']:,} items"])
    rows.append(["Fleiss' kappa", _shown(found["fleiss"]["value"]), f"{found['fleiss']['items']:,} rated by all"])
    names = [rater["name"] for rater in content["raters"] if rater["kept"]]
    for pair in found["pairs"]:
        one, other = (names[at] for at in pair["raters"])
        squared = f"; squared weights {_shown(pair['cohen_squared'])}" if "cohen_squared" in pair else ""
        same = "-" if pair["same"] is None else f"{pair['same']:.0%} the same"
        rows.append(
            [f"Cohen's kappa, {one} and {other}", f"{_shown(pair['cohen'])}{squared}", f"{pair['items']:,}, {same}"]
        )
    return Section("Agreement", ["", "value", "of"], rows)


def _left_out(content: dict[str, Any]) -> list[Section]:
    lines = [f"{name}: {why}" for name, why in content["left_out"].items()]
    return [Section("Metrics left out", [], [], lines)] if lines else []


# meaning


def _alike(content: dict[str, Any]) -> list[Section]:
    """Returns the chrF of pairs that people found alike."""
    rows = []
    for entry in content["alike"]:
        paper = f"{100 * CHRF_ABOVE:.0f}" if entry["side"] == "source" else "-"
        share, by = (_spread(entry[what], 1, 100) for what in ("share", "by"))
        rows.append([entry["side"], f"{entry['pairs']:,}", share, by, paper])
    if not rows:
        return []
    above = content["alike"][0]["above"]
    head = [
        "pairs rated 4 or 5",
        "pairs",
        f"chrF above {100 * above:g}, %",
        f"{SHARE_ABOVE:.0%} have a chrF above",
        "paper (section 4.3)",
    ]
    return [Section("chrF of pairs that people find alike", head, rows)]


def _means(content: dict[str, Any]) -> Section:
    rows = [[entry["side"], _part(entry), f"{entry['pairs']:,}", _spread(entry["mean"])] for entry in content["means"]]
    return Section("Mean rating, 0 to 5", ["side", "of", "pairs", "mean"], rows)


def _part(entry: dict[str, Any]) -> str:
    value = entry["value"]
    if entry["by"] == "edits":
        return f"{value} edit{'s' * (value != 1)}" + (" or more" if value == MANY else "")
    return {"all": "all", "degree": f"degree {value}"}.get(entry["by"], str(value))


def _correlations(content: dict[str, Any]) -> list[Section]:
    """Returns a table for each of the paper's: metrics across, and for each part Pearson, Spearman and the paper's figure."""
    out = []
    for by, where in TABLE.items():
        entries = [entry for entry in content["correlation"] if entry["by"] == by]
        if not entries:
            continue
        known = [
            name
            for entry in entries
            for name, found in entry["metrics"].items()
            if found["pearson"]["value"] is not None  # the same for all pairs, as an exact match of what differs
        ]
        names = list(dict.fromkeys(known))
        rows = []
        for entry in entries:
            found = [entry["metrics"][name] for name in names]
            rows.append([f"{entry['side']} {_part(entry)}", f"{entry['pairs']:,}", "Pearson", *map(_starred, found)])
            rows.append(["", "", "Spearman", *(_spread(one["spearman"]) for one in found)])
            if any(one["paper"] for one in found):
                rows.append(["", "", f"TEAPOT, {where}", *(one["paper"] or "-" for one in found)])
        title = "Correlation of metrics with people's ratings" + (f", by {by}" if by != "all" else "")
        notes = ["95 % intervals; *: significantly better than the next best (paired bootstrap, p < 0.01)"]
        if any(entry["metrics"][name]["pearson"]["interval"][0] is None for entry in entries for name in names):
            notes.append(
                f"no interval: fewer than {RARE} examples have a rating, or a score, other than the most frequent"
            )
        out.append(Section(title, ["", "pairs", "", *names], rows, notes))
    return out


def _starred(entry: dict[str, Any]) -> str:
    return _spread(entry["pearson"]) + ("*" if entry.get("better") else "")


# validity


def _validity(content: dict[str, Any]) -> Section:
    """Returns the shares of valid cases in the layout of RobTest's Table 3: degrees down, dimensions across."""
    found = content["validity"]
    degrees = sorted({cell["degree"] for cells in found.values() for cell in cells})
    by_place = {(name, cell["degree"]): cell for name, cells in found.items() for cell in cells}
    rows = []
    for degree in degrees:
        row = [f"{degree:g}" if degree else "all"]
        for name in found:
            cell = by_place.get((name, degree))
            row += _valid(cell) if cell else ["-", "-"]
        rows.append(row)
    head = ["degree", *(part for name in found for part in (name, "paper"))]
    total = sum(cell["of"] for cells in found.values() for cell in cells)
    notes = [f"share of cases found valid [95 %, Wilson] of how many; {total:,} cases; paper: RobTest, Table 3"]
    few = [
        f"{name} at {cell['degree']:g} ({cell['of']})"
        for name, cells in found.items()
        for cell in cells
        if cell["degree"] and cell["of"] < FEW_CASES
    ]
    if few:
        notes.append(f"fewer than {FEW_CASES} cases, so that a weight from them says little: {', '.join(few)}")
    return Section("Valid cases", head, rows, notes)


def _valid(cell: dict[str, Any]) -> list[str]:
    return [f"{_spread(cell['share'])} of {cell['of']}", _shown(cell["paper"])]


def _predicted(content: dict[str, Any]) -> list[Section]:
    """Returns the share of valid cases by level of each measure that predicts it, least valid first (RobTest, Figure 5)."""
    if "predicted" not in content:
        return []
    found = content["predicted"]
    rows = [
        [name, *(_shown(level["share"]) for level in entry["levels"]), _spread(entry["spearman"])]
        for name, entry in found.items()
    ]
    levels = len(next(iter(found.values()))["levels"])
    head = ["predicted by", *(f"level {at}" for at in range(1, levels + 1)), "Spearman"]
    note = (
        "a measure predicts validity if the share that people found valid rises from level to level (RobTest, Figure 5)"
    )
    return [Section("Validity by predicted level", head, rows, [note])]


# readability


def _ranks(content: dict[str, Any]) -> Section:
    rows = [
        [row["attack"], _spread(row["mean"], 1), _shown(row["thesis"], 1), _shown(row["effort"])]
        for row in content["ranks"]
    ]
    notes = [
        f"Spearman with {what}: {_shown(entry['spearman'])}, of {entry['of']} perturbations"
        for what, entry in content["beside"].items()
    ]
    head, rows = _without_empty(["1 reads best", "mean rank", "thesis (Table A.9)", "effort at high"], rows)
    return Section(
        "Readability",
        head,
        rows,
        ["ranks among the perturbed versions, without the clean one; 95 % over texts", *notes],
    )


def as_rows(rows: Sequence[Sequence[str]]) -> str:
    """Returns rows as CSV."""
    import csv
    import io

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
