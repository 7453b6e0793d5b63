"""Writes report.html of an evaluation."""

from __future__ import annotations

from html import escape

from markupsafe import Markup

from ..runs.folder import Folder
from ..runs.schema import (
    PROBLEMS,
    AccessName,
    DimensionScores,
    EvaluationLine,
    EvaluationSummary,
    Failure,
    RunFile,
)
from .charts import curve, left_curve, radar
from .evaluation_tables import harm_measure, paper_head, paper_note, paper_rows
from .formatting import alone, percent, short, spread
from .groups import accesses, by_harm, degrees, groups, measure_of_meaning, overall_by_access, unchanged
from .notes import evaluation_notes
from .page import (
    answer_text,
    card,
    escaped,
    estimate_tile,
    example,
    folded,
    head,
    items,
    repeating_line,
    table,
    write_page,
)
from .zeroe import is_zeroe, level_head, level_rows, measure, red_line, red_line_words, zeroe_note

SHOWN = 5  # failures of a dimension that are shown at most
SPEC = 160  # letters of a spec that are shown
BrokenExample = tuple[EvaluationLine, Failure]  # an example, and the case that broke it


def write_report(folder: Folder) -> None:
    """Writes report.html from summary.json and results.jsonl. It holds no times, so that the same run gives the same bytes."""
    summary = folder.evaluation_summary()
    failures = smallest_failures(folder, summary)
    parts = (
        _head(summary),
        _radars(summary),
        _scores(summary),
        _how_to_read_sections(summary),
        *(_section(summary, at, *group, failures) for at, group in enumerate(groups(summary).items(), 1)),
        _published(summary),
        _about(summary, folder.run()),
    )
    title = f"Scuff: {summary['model']} on {summary['data']['name']}"
    write_page(folder, "parts.html", title=title, parts=list(map(Markup, parts)))


def _head(summary: EvaluationSummary) -> str:
    clean, overall, metric = summary["clean"], summary["overall"], escape(summary["metric"])
    tiles = [
        estimate_tile(clean["score"], f"clean {metric}"),
        estimate_tile(overall["average"], "average under attack, final"),
        estimate_tile(overall["worst"], "worst case, final"),
        estimate_tile(alone(overall), "worst case of each degree alone, final"),
    ]
    if "auc" in clean:
        tiles.append(estimate_tile(clean["auc"], "clean macro AUC"))
    about = _follows(summary) + (
        f"{clean['examples']:,} examples, {metric} in %. Guessing gives {percent(clean['chance'])}, always the most frequent "
        f"answer {percent(clean['majority'])}."
    )
    notes = [line for line in (red_line_words(summary), *evaluation_notes(summary, published=False)) if line]
    return head(f"{summary['model']} on {summary['data']['name']}", about, tiles, notes)


def _follows(summary: EvaluationSummary) -> str:
    """Returns a sentence that names the paper that the run follows; "" if it follows none."""
    if "published" not in summary:
        return ""
    found = summary["published"]
    where = f'<a href="#as-published">what differs even so</a> ({len(found["differs"])} points)'
    return f"As published, {escape(found['paper'])} {escape(found['section'])}; {where}. "


def _published(summary: EvaluationSummary) -> str:
    """Returns the paper that the run follows, what that set, and what differs even so; "" if it follows none."""
    if "published" not in summary:
        return ""
    found = summary["published"]
    sets, differs = (items([escape(line) for line in found[what]]) for what in ("sets", "differs"))
    paper = f"{escape(found['paper'])}, {escape(found['section'])}"
    return (
        f'<h2 id="as-published">As published</h2><p>This run follows {paper}:</p>{sets}'
        f"<p>What differs from the paper:</p>{differs}"
    )


def _how(*lines: str) -> str:
    return f'<div class="soft how"><b>How to read this</b>{items(lines)}</div>'


def _guide(topic: str) -> str:
    return f"<code>scuff guide {topic}</code>"


def _keys(average: str, worst: str, alone: str = "") -> str:
    keys = {average: "var(--average)", worst: "var(--worst)", "clean": "var(--clean);border-top-style:dashed"}
    if alone:
        keys[alone] = "var(--worst);border-top-style:dashed;border-top-width:1px"
    return _lines(keys)


def _lines(keys: dict[str, str]) -> str:
    """Returns the key of a picture: what lines mean, each with its colour and style."""
    shown = [f'<span><i class="key" style="border-color:{line}"></i>{what}</span>' for what, line in keys.items()]
    return f'<p class="soft keys">{" ".join(shown)}</p>'


def _radars(summary: EvaluationSummary) -> str:
    cards = [card(access, picture) for access in accesses(summary) if (picture := radar(summary, access))]
    if not cards:
        return ""
    how = _how(
        "Every spoke is a dimension, from 0 % in the middle to 100 % at the rim; the points are its final scores.",
        "A dent is a weakness: the nearer to the middle, the easier the model is misled that way. Look at the spokes, not at the "
        "area, which depends on their order.",
        f"Which dimensions matter where the model is used: {_guide('dimensions')}.",
    )
    keys = _keys("final average", "final worst")
    return f'<h2>All dimensions at a glance</h2>{keys}<div class="cards wide">{"".join(cards)}</div>{how}'


def _scores(summary: EvaluationSummary) -> str:
    columns = [f"{degree:g}" for degree in degrees(summary)]
    columns = ["dimension", "setting", "average (final)", "worst (final)", "worst alone (final)", *columns]
    of, scored = harm_measure(summary), summary["metric"]
    other = f" and sorts the rows; all other columns are {escape(scored)}" if of != scored else ""
    columns.append(f"left of {of}" if other else "left")
    how = _how(
        "The most harmful dimension first. The final scores weigh small degrees more (RobTest, eq. 1); the columns are the "
        f"average at each degree; the last is what is left of the clean {escape(of)} at the highest{other}.",
        "Where the average is high and the worst low, someone who tries often enough finds a way; where both are low, people "
        f"meet it by accident. More: {_guide('report')}.",
    )
    return f"<h2>Scores by dimension</h2>{table(columns, _score_rows(summary), 'scores')}{how}"


def _score_rows(summary: EvaluationSummary) -> list[list[str]]:
    """Returns a table with a row per dimension and access, the most harmful dimension first, and a row over all."""
    dimensions = summary["dimensions"]
    left = {entry["dimension"]: percent(entry["left"]) for entry in summary["harm"]}
    number = {base: at for at, base in enumerate(groups(summary), 1)}
    rows = []
    for base, names in by_harm(summary).items():
        tag = _tag(dimensions[next(iter(names.values()))])
        title = f'<a href="#dimension-{number[base]}">{escape(base)}</a>{tag}'
        for access, name in names.items():
            content = dimensions[name]
            cells = [percent(cell["average"]["value"]) for cell in content["degrees"]]
            finals = map(spread, (content["average"], content["worst"], alone(content)))
            rows.append([title, access, *finals, *cells, left[name]])
            title = ""
    still = [f"{100 * share:.0f} %" for share in unchanged(summary)]
    rows.append(['<span class="soft">texts that stay as they are</span>', "", "", "", "", *still, ""])
    blank, overall = [""] * (len(still) + 1), summary["overall"]
    rows.append(["overall", "", *map(spread, (overall["average"], overall["worst"], alone(overall))), *blank])
    for access, means, of in overall_by_access(summary):
        rows.append([f'<span class="soft">{of}</span>', access, *map(percent, means), *blank])
    return rows


def _how_to_read_sections(summary: EvaluationSummary) -> str:
    thin = " Dotted lines in the other settings repeat those of rule." if accesses(summary) != ["rule"] else ""
    if is_zeroe(summary):
        return _how_to_read_levels(summary)
    how = _how(
        "Pictures: from left to right more is changed, at most as the degree says; bands are 95 % intervals, the grey dashed "
        f"line is guessing.{thin} A line that falls early falls on texts that people still read with ease; far to the right they "
        f"may not: {_guide('degrees')}.",
        f"Tables: as in RobTest's reports; degree 0 is the clean text. {escape(paper_note(summary))}",
        "Examples: per setting, the smallest change after which the answer was worse, <del>taken out</del> <ins>put in</ins>. "
        f"What to do about it: {_guide('repair')}.",
        f"What each dimension stands for, and whom general and malicious mean: {_guide('dimensions')}; when rule, score or "
        f"gradient matters: {_guide('settings')}.",
    )
    keys = _keys("average over cases", "worst: no case up to this degree broke it", "worst alone: none at this degree")
    return f"<h2>Dimension by dimension</h2>{keys}{how}"


def _how_to_read_levels(summary: EvaluationSummary) -> str:
    how = _how(
        f"Pictures: as Zéroe's Figure 1, what is left of the clean {escape(measure(summary))} in % (s*) at each level; bands are "
        "95 % intervals.",
        f"Red line: {escape(red_line_words(summary).removeprefix('red line: ') or 'not defined for this task and metric')}. "
        "Below it a model is worse than one that has understood nothing.",
        f"Tables: as the paper's Table 6. {escape(zeroe_note(summary))}",
        "Examples: the smallest change after which the answer was worse, <del>taken out</del> <ins>put in</ins>. "
        f"What to do about it: {_guide('repair')}.",
    )
    keys = _lines({"s*": "var(--average)", "red line, s_worst": "var(--worst);border-top-style:dashed"})
    return f"<h2>Dimension by dimension</h2>{keys}{how}"


# a section per dimension


def smallest_failures(folder: Folder, summary: EvaluationSummary) -> dict[str, list[BrokenExample]]:
    """Returns for each dimension the examples that the smallest changes broke, with the cases that did."""
    found: dict[str, list[BrokenExample]] = {name: [] for name in summary["dimensions"]}
    for line in folder.evaluation_results():
        for name, content in line["dimensions"].items():
            if case := content["broken_by"]:
                found[name] = sorted([*found[name], (line, case)], key=_size)[:SHOWN]
    return found


def _size(broken: BrokenExample) -> tuple[float, float]:
    return broken[1]["degree"], broken[1]["reached"]


def _section(
    summary: EvaluationSummary,
    number: int,
    base: str,
    names: dict[AccessName, str],
    failures: dict[str, list[BrokenExample]],
) -> str:
    """Returns curves, the paper's table, examples and all numbers of a dimension. names: of the dimension with each access."""
    dimensions = summary["dimensions"]
    first = dimensions[next(iter(names.values()))]
    clean, chance = summary["clean"]["score"]["value"], summary["clean"]["chance"]
    cards, broken, numbers = [], [], []
    for access, name in names.items():
        content = dimensions[name]
        beside = dimensions[names["rule"]] if access != "rule" and "rule" in names else None
        picture = (
            left_curve(f"{base}: s* by level", content, red_line(summary)["left"])
            if is_zeroe(summary)
            else curve(f"{base}, {access}: score by degree", content, clean, chance, beside)
        )
        cards.append(card(access, picture))
        broken.append(_examples(access, content, failures[name]))
        numbers.append(folded(f"Every number, {access}", _numbers(content)))
    return (
        f'<section id="dimension-{number}"><h3>{escape(base)}{_tag(first)}</h3><p class="soft">{_degree(summary, first)}'
        f'{_spec(base, first)}</p><div class="cards">{"".join(cards)}'
        f"{_paper(summary, names)}</div>"
        f"{''.join(broken)}{''.join(numbers)}</section>"
    )


def _paper(summary: EvaluationSummary, names: dict[AccessName, str]) -> str:
    """Returns the table of a dimension in the layout of the protocol's paper."""
    if is_zeroe(summary):
        return table(level_head(summary), level_rows(summary, summary["dimensions"][next(iter(names.values()))]))
    return table(paper_head(summary), paper_rows(summary, names))


def _tag(content: DimensionScores) -> str:
    """Returns the tag of a dimension as markup: general (changes that anyone makes) or malicious (that evaders make)."""
    tag = escape(content["tag"])
    return f' <span class="tag {tag}">{tag}</span>'


def _degree(summary: EvaluationSummary, content: DimensionScores) -> str:
    if content["unit"] == "meaning":
        return f"Degree: distance in meaning, {escape(measure_of_meaning(summary))}."
    return f"Degree: share of {escape(content['unit'])}."


def _spec(base: str, content: DimensionScores) -> str:
    """Returns the spec of a dimension as markup, cut to SPEC letters; "" if that is its name."""
    spec = short(content["spec"].removesuffix(f"@{content['setting']}"))
    if spec == short(base):
        return ""
    return f" It is <code>{escape(spec if len(spec) <= SPEC else spec[:SPEC] + ' …')}</code>."


def _examples(access: AccessName, content: DimensionScores, failures: list[BrokenExample]) -> str:
    """Returns the smallest failure, and the others folded."""
    if not failures:
        answered = any(cell["average"]["value"] is not None for cell in content["degrees"])
        none = "Nothing broke." if answered else "No case was answered."
        return f'<p class="soft"><b>{access}</b>: {none}</p>'
    first, *more = [_example(access, *failure) for failure in failures]
    return first + (folded(f"{len(more)} more, {access}", "".join(more)) if more else "")


def _example(access: AccessName, line: EvaluationLine, case: Failure) -> str:
    about = (
        f"<b>{access}</b>, example {escaped(line['id'])}, degree {case['degree']:g}: "
        f"expected {answer_text(line['target'])}, answered {answer_text(case['answer'])}, "
        f"before {answer_text(line['clean']['answer'])}"
    )
    return example(about, line["texts"], case["edits"])


def _numbers(content: DimensionScores) -> str:
    auc = any("auc" in cell for cell in content["degrees"])
    columns = ["degree", "average", "worst", "worst alone", "left", *(["macro AUC"] if auc else []), "broken of right", "reached",
            "edit distance", "cases", "unchanged", "unfit", "no answer"]  # fmt: skip
    rows = []
    for cell in content["degrees"]:
        success = cell["success"]
        rows.append([
            f"{cell['degree']:g}", spread(cell["average"]), spread(cell["worst"]), spread(alone(cell)),
            percent(cell["relative"]),
            *([spread(cell["auc"]) if "auc" in cell else "-"] if auc else []),
            f"{percent(success['rate'])} of {success['of']}", _measured(cell["reached"]), _measured(cell["edit_distance"]),
            f"{cell['cases']:,}", f"{cell['unchanged_examples']:,} of {cell['examples']:,}", f"{cell['unfit']:,}",
            f"{sum(cell[name] for name in PROBLEMS):,}",
        ])  # fmt: skip
    return table(columns, rows)


def _measured(degree: float | None) -> str:
    """Returns a measured degree as degrees are written, from 0 to 1; a dash for None."""
    return "-" if degree is None else f"{degree:.3f}"


def _about(summary: EvaluationSummary, run: RunFile) -> str:
    up = summary["protocol"].get("rounding") == "up"
    limit = "at most the one asked for" + (", rounded up to a whole word or character" if up else "")
    return (
        "<h2>What the numbers mean</h2><ul>"
        "<li><b>average</b>: mean over examples of the mean score of their cases: the share of right answers, where an "
        "answer is right or wrong.</li>"
        "<li><b>worst</b>: share of examples that no case at this or a smaller degree broke. <b>worst alone</b>: that no case at "
        "this degree broke, as in RobTest's tables; it can rise with the degree.</li>"
        f"<li><b>left</b>: the score divided by the clean score. <b>reached</b>: the degree that was really reached, {limit}. "
        "<b>unfit</b>: draws that went above it and were thrown away.</li>"
        "<li><b>unchanged</b>: examples whose text has too few words for the degree, or in which the attack finds nothing to "
        "change: they count with their clean answer.</li>"
        "<li>Intervals resample examples, never cases; plain proportions have Wilson's interval.</li></ul>"
        f"{repeating_line(run)}"
    )
