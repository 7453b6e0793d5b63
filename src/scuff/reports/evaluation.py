"""Writes report.html of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from ..runs.folder import Folder
from ..runs.schema import PROBLEMS, AccessName, DimensionScores, EvaluationSummary
from .charts import curve, left_curve, radar
from .evaluation_tables import harm_measure, paper_head, paper_note, paper_rows
from .figures import Panel, distance_figure, harm_bars, line_keys, panels
from .formatting import alone, percent, short, spread
from .groups import accesses, by_harm, degrees, groups, measure_of_meaning, overall_by_access, shown_name, unchanged
from .notes import evaluation_notes
from .page import Repeat, escaped, estimate_tile, write_page
from .samples import Sample, evaluation_samples
from .verdict import Verdict, verdict_of
from .zeroe import is_zeroe, level_head, level_rows, measure, red_line, red_line_words, zeroe_note

SPEC = 160  # letters of a spec that are shown
Table = tuple[list[str], list[list[str]]]  # names of columns, rows


@dataclass(frozen=True)
class Section:
    """A dimension on the page. spec: what its name stands for, or "". examples: with each access the smallest change that broke
    a text; None if nothing did. numbers: with each access all of them.
    """

    anchor: str
    base: str
    tag: str
    degree: str
    spec: str
    cards: list[Panel]
    paper: Table
    examples: list[tuple[AccessName, str, Sample | None, str]]
    numbers: list[tuple[AccessName, Table]]


def write_report(folder: Folder) -> Verdict:
    """Writes report.html from summary.json and results.jsonl. It holds no times, so that the same run gives the same bytes.

    Returns the verdict with which the page begins.
    """
    verdict, summary = verdict_of(folder), folder.evaluation_summary()
    samples, smallest = evaluation_samples(folder, summary)
    used, metric = accesses(summary), summary["metric"]
    radars = [(access, picture) for access in used if (picture := radar(summary, access))]
    zeroe = is_zeroe(summary)
    contents = {
        "verdict": "Verdict", "glance": "At a glance", "scores": "Scores by dimension",
        "curves": "Edit distances" if zeroe else "All curves", "examples": "Examples", "dimensions": "Dimension by dimension",
        "as-published": "As published", "definitions": "What the numbers mean", "repeat": "Repeat this run",
    }  # fmt: skip
    absent = {"as-published": "published" not in summary, "examples": not samples.shown}
    title = f"{summary['model']} on {summary['data']['name']}"
    write_page(
        folder,
        "evaluation.html",
        title=f"Scuff: {title}",
        heading=title,
        contents=[(anchor, name) for anchor, name in contents.items() if not absent.get(anchor)],
        summary=summary,
        verdict=verdict,
        clean=summary["clean"],
        metric=metric,
        chance=percent(summary["clean"]["chance"]),
        majority=percent(summary["clean"]["majority"]),
        published=summary.get("published"),
        tiles=_tiles(summary),
        radars=radars,
        harm=[(access, harm_bars(summary, access, harm_measure(summary))) for access in used],
        harm_of=harm_measure(summary),
        scores=_scores(summary),
        zeroe=zeroe,
        red=red_line_words(summary),
        levels_of=measure(summary),
        panels=[("Edit distance", distance_figure(summary, measure(summary)))] if zeroe else panels([("", summary)]),
        line_keys=line_keys([base.removesuffix("@level") for base in groups(summary)]),
        samples=samples,
        sections=[_section(summary, at, *group, smallest) for at, group in enumerate(groups(summary).items(), 1)],
        several=used != ["rule"],
        paper_note=zeroe_note(summary) if zeroe else paper_note(summary),
        notes=evaluation_notes(summary, published=False),
        rounded_up=summary["protocol"].get("rounding") == "up",
        repeat=Repeat.of(folder.run()),
    )
    return verdict


def _tiles(summary: EvaluationSummary) -> list[tuple[str, list[str]]]:
    clean, overall = summary["clean"], summary["overall"]
    tiles = [
        estimate_tile(clean["score"], f"clean {summary['metric']}"),
        estimate_tile(overall["average"], "average over cases, final"),
        estimate_tile(overall["worst"], "worst case, final"),
        estimate_tile(alone(overall), "worst case of each degree alone, final"),
    ]
    return [*tiles, *([estimate_tile(clean["auc"], "clean macro AUC")] if "auc" in clean else [])]


def _anchor(number: int) -> str:
    return f"dimension-{number}"


def _scores(summary: EvaluationSummary) -> Table:
    """Returns a table with a row per dimension and access, the most harmful dimension first, and rows over all."""
    dimensions, scored = summary["dimensions"], harm_measure(summary)
    columns = [f"{degree:g}" for degree in degrees(summary)]
    columns = ["dimension", "access", "average (final)", "worst (final)", "worst alone (final)", *columns]
    columns.append("left" if scored == summary["metric"] else f"left of {scored}")
    left = {entry["dimension"]: percent(entry["left"]) for entry in summary["harm"]}
    number = {base: at for at, base in enumerate(groups(summary), 1)}
    rows: list[list[str]] = []
    for base, names in by_harm(summary).items():
        first = dimensions[next(iter(names.values()))]
        link = Markup('<a href="#{}">{}</a> <span class="tag {}">{}</span>')
        title = link.format(_anchor(number[base]), escaped(base), first["tag"], first["tag"])
        for access, name in names.items():
            content = dimensions[name]
            cells = [percent(cell["average"]["value"]) for cell in content["degrees"]]
            rows.append([title, access, *_finals(content), *cells, left[name]])
    still = [f"{100 * share:.0f} %" for share in unchanged(summary)]
    rows.append(["texts that stay as they are", "", "", "", "", *still, ""])
    blank, overall = [""] * (len(still) + 1), summary["overall"]
    rows.append(["overall", "", *map(spread, (overall["average"], overall["worst"], alone(overall))), *blank])
    for access, means, of in overall_by_access(summary):
        rows.append([f"overall, {of}" if of else "overall", access, *map(percent, means), *blank])
    return columns, rows


def _finals(content: DimensionScores) -> list[str]:
    return [spread(final) for final in (content["average"], content["worst"], alone(content))]


# a section per dimension


def _section(
    summary: EvaluationSummary, number: int, base: str, names: dict[AccessName, str], smallest: dict[str, Sample]
) -> Section:
    """Returns curves, the paper's table, examples and all numbers of a dimension. names: of the dimension with each access."""
    dimensions = summary["dimensions"]
    first = dimensions[next(iter(names.values()))]
    cards: list[Panel] = []
    examples, numbers = [], []
    for access, name in names.items():
        content = dimensions[name]
        cards.append((access, _curve(summary, base, access, names)))
        answered = any(cell["average"]["value"] is not None for cell in content["degrees"])
        nothing = "Nothing broke." if answered else "No case was answered."
        examples.append((access, shown_name(summary, name), smallest.get(name), nothing))
        numbers.append((access, _numbers(content)))
    paper = (
        (level_head(summary), level_rows(summary, first))
        if is_zeroe(summary)
        else (paper_head(summary), paper_rows(summary, names))
    )
    return Section(
        _anchor(number),
        base,
        first["tag"],
        _degree(summary, first),
        _spec(base, first),
        cards,
        paper,
        examples,
        numbers,
    )


def _curve(summary: EvaluationSummary, base: str, access: AccessName, names: dict[AccessName, str]) -> Markup:
    dimensions = summary["dimensions"]
    content = dimensions[names[access]]
    if is_zeroe(summary):
        return left_curve(f"{base}: s* by level", content, red_line(summary)["left"], measure(summary))
    clean, chance = summary["clean"]["score"]["value"], summary["clean"]["chance"]
    beside = dimensions[names["rule"]] if access != "rule" and "rule" in names else None
    return curve(f"{base}, {access}: score by degree", content, clean, chance, beside, summary["metric"])


def _degree(summary: EvaluationSummary, content: DimensionScores) -> str:
    if content["unit"] == "meaning":
        return f"distance in meaning, {measure_of_meaning(summary)}"
    return f"share of {content['unit']}"


def _spec(base: str, content: DimensionScores) -> str:
    """Returns the spec of a dimension, cut to SPEC letters; "" if that is its name."""
    spec = short(content["spec"].removesuffix(f"@{content['setting']}"))
    if spec == short(base):
        return ""
    return spec if len(spec) <= SPEC else spec[:SPEC] + " …"


def _numbers(content: DimensionScores) -> Table:
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
    return columns, rows


def _measured(degree: float | None) -> str:
    """Returns a measured degree as degrees are written, from 0 to 1; a dash for None."""
    return "-" if degree is None else f"{degree:.3f}"
