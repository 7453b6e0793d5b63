"""Tables of an evaluation: as text, and in Markdown in the layout of its paper, RobTest (here) or Zéroe (`zeroe.py`)."""

from __future__ import annotations

from ..runs.display import cut
from ..runs.schema import AccessName, EvaluationSummary
from .formatting import UNKNOWN, alone, folded, percent, spread, wrapped
from .groups import accesses, by_harm, degrees, groups, overall_by_access, title, unchanged
from .notes import evaluation_notes
from .tables import Entry, PaperTable, Value, in_percent, texts
from .zeroe import is_zeroe, red_line_words, zeroe_paper

NAMES, LONGEST = 20, 30  # least width of the column of names; length from which a name has a line of its own
KEPT = "\u00a0"  # keeps a name and its number on one line


def score_table(summary: EvaluationSummary, window: int | None = None) -> str:
    """Returns a line per dimension and access, the most harmful dimension first, then those over all, then notes.

    window: letters of a line of the terminal; a table that is wider goes on below. None: it is as wide as it is.
    """
    bases = [base for base in groups(summary) if len(base) < LONGEST]
    width = max([NAMES, *(len(base) + 2 for base in bases)])
    table = _table(summary, width)
    if window is not None and max(map(len, table)) > window:
        table = _narrow(summary, window)
    said = (*_harm(summary), red_line_words(summary), *evaluation_notes(summary))
    below = [wrapped(line, width=window).replace(KEPT, " ") for line in said if line]
    aucs = _aucs(summary, width)
    if window is not None and max(map(len, aucs), default=0) > window:
        aucs = [aucs[0], *folded(_auc_rows(summary), window, 2), ""]
    title = (
        f"{summary['model']} on {summary['data']['name']}: {summary['metric']} in %, 95 % intervals, "
        f"{summary['clean']['examples']:,} examples"
    )
    return "\n".join([title if window is None else wrapped(title, width=window), "", *table, "", *aucs, *below])


def _table(summary: EvaluationSummary, width: int) -> list[str]:
    """Returns the table in its full width. width: of the column of names."""
    start = width + 70  # where the columns of degrees are
    lines = [
        f"{'':{start}}  average at degree",
        f"{'':{width}}{'setting':10}{'final average':>20}{'final worst':>20}{'worst alone':>20}"
        + "".join(f"{degree:>6g}" for degree in degrees(summary)),
    ]
    for base, names in by_harm(summary).items():
        shown = base
        if len(base) >= LONGEST:
            lines.append(base)
            shown = ""
        for access, name in names.items():
            content = summary["dimensions"][name]
            lines.append(
                f"{shown:{width}}{access:10}{spread(content['average']):>20}{spread(content['worst']):>20}"
                f"{spread(alone(content)):>20}"
                + "".join(f"{percent(cell['average']['value']):>6}" for cell in content["degrees"])
            )
            shown = ""
    still = "".join(f"{100 * share:>6.0f}" for share in unchanged(summary))
    return [*lines, f"{'texts that stay as is, %':{start}}{still}", "", *_overall(summary, width)]


def _narrow(summary: EvaluationSummary, window: int) -> list[str]:
    """Returns the same table for a narrow window: the final scores, and below them those at each degree."""
    finals = [["", "setting", "final average", "final worst", "worst alone"]]
    at_degrees = [["", "", *(f"{degree:g}" for degree in degrees(summary))]]
    for base, names in by_harm(summary).items():
        shown = cut(base, LONGEST)
        for access, name in names.items():
            content = summary["dimensions"][name]
            scores = (content["average"], content["worst"], alone(content))
            finals.append([shown, access, *map(spread, scores)])
            at_degrees.append([shown, access, *(percent(each["average"]["value"]) for each in content["degrees"])])
            shown = ""
    at_degrees.append(["as is, %", "", *(f"{100 * share:.0f}" for share in unchanged(summary))])
    overall, clean = summary["overall"], summary["clean"]
    finals.append(["overall", "", *map(spread, (overall["average"], overall["worst"], alone(overall)))])
    finals += [["", access, *map(percent, means)] for access, means, _ in overall_by_access(summary)]
    finals.append(["clean", "", spread(clean["score"]), "", ""])
    below = wrapped(f"clean: {_clean(summary).lstrip(',; ')}", width=window)
    title = wrapped("average at each degree; as is: texts that stay as they are", width=window)
    return [*folded(finals, window, 2), below, "", title, *folded(at_degrees, window, 2)]


def _overall(summary: EvaluationSummary, width: int) -> list[str]:
    overall = summary["overall"]
    finals = (overall["average"], overall["worst"], alone(overall))
    lines = [f"{'overall':{width + 10}}" + "".join(f"{spread(final):>20}" for final in finals)]
    for access, means, of in overall_by_access(summary):
        shown = "".join(f"{percent(mean):>7}{'':13}" for mean in means)
        lines.append(f"{'':{width}}{access:10}{shown} {of}".rstrip())
    return [*lines, f"{'clean':{width + 10}}{spread(summary['clean']['score']):>20}{_clean(summary)}"]


def _clean(summary: EvaluationSummary) -> str:
    """Returns what is said behind the clean score: of how many texts it is, and what guessing would get."""
    clean = summary["clean"]
    lost = f" on the {clean['answered']:,} that were answered" if clean["answered"] < clean["examples"] else ""
    auc = f", macro AUC {spread(clean['auc'])}" if "auc" in clean else ""
    return f"{lost}{auc}; guessing {percent(clean['chance'])}, always the most frequent {percent(clean['majority'])}"


def _aucs(summary: EvaluationSummary, width: int) -> list[str]:
    """Returns the macro AUC by degree for label sets, whose exact match says little; [] for other tasks."""
    rows = [f"{row[0]:{width}}{row[1]:10}" + "".join(f"{value:>7}" for value in row[2:]) for row in _auc_rows(summary)]
    return ["macro AUC at each degree", *rows, ""] if rows else []


def _auc_rows(summary: EvaluationSummary) -> list[list[str]]:
    """Returns the cells of the table of macro AUC: a dimension, an access, and a value per degree."""
    if summary["task"] != "multi" or "auc" not in summary["clean"]:
        return []
    rows = []
    for base, names in groups(summary).items():
        for access, name in names.items():
            cells = summary["dimensions"][name]["degrees"]
            values = [percent(cell["auc"]["value"] if "auc" in cell else None) for cell in cells]
            rows.append([base, access, *values])
    return rows


def harm_measure(summary: EvaluationSummary) -> str:
    """Returns the name of the score of which `left` is the rest, and by which dimensions are sorted."""
    return "macro AUC" if summary["task"] == "multi" and "auc" in summary["clean"] else summary["metric"]


def _harm(summary: EvaluationSummary) -> list[str]:
    """Returns Zéroe's ranking, by s* at the highest degree: one line per access."""
    last, measure = degrees(summary)[-1], harm_measure(summary)
    sorts = f"; sorts the table, whose scores are {summary['metric']}" if measure != summary["metric"] else ""
    used, out = accesses(summary), []
    for access in used:
        ranked = [
            f"{title(summary, content['base'])}{KEPT}{percent(entry['left'])}"
            for entry in summary["harm"]
            if (content := summary["dimensions"][entry["dimension"]])["setting"] == access
        ]
        by = f" ({access})" if len(used) > 1 else ""
        out.append(f"left of the clean {measure} at degree {last:g}, in %{by}{sorts}: {', '.join(ranked)}")
    return out


def paper_head(summary: EvaluationSummary) -> list[str]:
    """Returns the names of the columns. Degree 0 is the clean text."""
    return ["Method | Degree", "0", *(f"{degree:g}" for degree in degrees(summary)), "Final Score"]


def paper_rows(summary: EvaluationSummary, names: dict[AccessName, str]) -> list[list[str]]:
    """Returns rows Rule-Average, Rule-Worst (alone), Rule-Worst (up to), Score-Average, ... of one dimension; dashes for an
    access that it was not measured with. The paper's Worst is the one of each degree alone.
    """
    return [[name, *texts(values)] for name, values in _paper_values(summary, names)]


def _paper_values(summary: EvaluationSummary, names: dict[AccessName, str]) -> list[tuple[str, list[Value]]]:
    clean, rows = summary["clean"]["score"], []
    for access in accesses(summary):
        found = [[UNKNOWN] * (len(paper_head(summary)) - 1)] * 3
        if access in names:
            content = summary["dimensions"][names[access]]
            whole = [(each["average"], alone(each), each["worst"]) for each in (*content["degrees"], content)]
            found = [[clean, *(each[at] for each in whole)] for at in range(3)]
        for kind, values in zip(("Average", "Worst (alone)", "Worst (up to)"), found, strict=True):
            rows.append((f"{access.title()}-{kind}", [in_percent(value) for value in values]))
    return rows


def evaluation_paper(summary: EvaluationSummary) -> PaperTable:
    """Returns all dimensions as one table, in the layout of the protocol's paper."""
    if is_zeroe(summary):
        return zeroe_paper(summary)
    caption = (
        f"{summary['model']} on {summary['data']['name']}: {summary['metric']} in %, "
        f"{summary['clean']['examples']:,} examples, up to {summary['protocol']['cases']:,} cases of each at every degree"
    )
    rows: list[list[Entry]] = [
        [f"{base} ({summary['dimensions'][next(iter(names.values()))]['tag']})", name, *values]
        for base, names in groups(summary).items()
        for name, values in _paper_values(summary, names)
    ]
    return PaperTable(["Dimension", *paper_head(summary)], 2, rows, caption, paper_note(summary))


def paper_table(summary: EvaluationSummary) -> str:
    """Returns all dimensions as one Markdown table, in the layout of the protocol's paper."""
    return evaluation_paper(summary).markdown()


def paper_note(summary: EvaluationSummary) -> str:
    """Returns sentences on the two worst cases, and on how our final score differs from the one in the paper's tables."""
    beta, protocol = summary["protocol"]["beta"], summary["protocol"]
    worst = "Worst (alone): no case at this degree broke the example, as in the paper; (up to): none at this or a smaller one. "
    if protocol.get("final_from_zero"):
        return f"{worst}Final Score: RobTest, eq. 1, with β = {beta:g}, begun at 0, as in the paper's tables."
    return (
        f"{worst}Final Score: RobTest, eq. 1, with β = {beta:g}, begun at the score of the highest degree; the paper's tables "
        f"begin at 0, so theirs would be up to {percent(beta ** len(degrees(summary)))} lower."
    )
