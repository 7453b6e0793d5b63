"""The page of a comparison of runs, comparison.html; also that of a hardening, whose runs are the model before and after."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..runs.folder import Folder
from ..runs.proof import Change, GroupChange, Proof
from ..runs.schema import EvaluationSummary
from ..stores import is_url
from .changes import LOST, WON, p_value, points, verdict
from .compared import Compared, Material, RunFacts, Turned, hardened_material, headline, model_name
from .comparison_charts import clean_beside_robust, curves_of_runs, key, over_runs, query_curves, radar_of_runs
from .comparison_tables import UNPAIRED, change_rows, degree_rows, row_verdict, shown_values, sides_of
from .comparison_words import comparison_verdict, comparison_words, pair_verdict
from .formatting import percent, spread
from .groups import ACCESSES
from .page import Example, answer_text, environment, render

MANY = 6  # runs from which on a page has no tiles of single ones
CELL_ROWS = 30  # of a table in a notebook
UNITS = {"meaning": "distance in meaning"}


@dataclass(frozen=True)
class Table:
    """A table as the template shows it."""

    caption: str
    columns: list[str]
    rows: list[list[Any]]


def comparison_page(material: Material) -> str:
    """Returns the page of a comparison: one file, which loads no other."""
    content = material.content
    names = [run["name"] for run in content["runs"]]
    shown = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= 3 else f"{len(names)} runs"
    given = _page(material)
    return render(
        "comparison.html", title=f"Scuff: {shown} compared", heading=f"{shown} on {content['runs'][0]['data']}",
        lead=comparison_verdict(content), words=comparison_words(content), links="",
        command=_command(material), **given,
    )  # fmt: skip


def _command(material: Material) -> str:
    """Returns what repeats the comparison; "" of many runs, and where folders are not named as seen from here: a page that is
    mailed names no folders of ours.
    """
    content = material.content
    named = [run["folder"] for run in content["runs"]]
    folders = list(map(Path, named))
    if len(folders) > MANY or any(folder.is_absolute() for folder in folders) or any(map(is_url, named)):
        return ""
    names = ["--names", *(run["name"] for run in content["runs"])] if material.named else []
    anyway = ["--anyway"] if content["differs"] else []
    return shlex.join(["scuff", "compare", *(folder.as_posix() for folder in folders), *names, *anyway])


def comparison_cell(material: Material) -> str:
    """Returns what a notebook shows of a comparison: the verdict and a table of at most CELL_ROWS rows."""
    content = material.content
    table = _tables(material)[0]
    short = Table(table.caption, table.columns, table.rows[:CELL_ROWS])
    return environment().get_template("comparison_cell.html").render(
        lead=comparison_verdict(content), differs=content["differs"], table=short, more=len(table.rows) - len(short.rows)
    )  # fmt: skip


def write_comparison(folder: Path, proof: Proof) -> None:
    """Writes the page into the folder of a hardening, from its proof and the results of its two runs."""
    material = hardened_material(folder, proof["comparison"])
    given, found, attack = _page(material), proof["comparison"], proof["attack"]
    first, *more = proof["words"]
    groups = [("seen in training", found["seen"]), ("never seen", found["unseen"])] if proof["trained"] else []
    given["tiles"] += [_tile(group["average"], words) for words, group in groups if group is not None]
    if attack is not None:
        given["tiles"].append(_tile(attack["success"], f"success of {attack['recipe']}", lower=True))
    given["tables"][0].rows.extend(_group_rows([*groups, ("all", found["all"])] if proof["trained"] else []))
    if proof["trained"]:
        given["tables"][0].columns.append("in training")
        for row in given["tables"][0].rows:
            seen = found["dimensions"].get(str(row[0]))
            row.append("" if seen is None else "seen" if seen["seen"] else "never seen")
        given["how"] += ["seen: it was trained on, or a perturbation that makes changes of the same sort."]
    parts = ", ".join(f"{name} {part['examples']:,} of {part['name']}" for name, part in proof["data"].items())
    trained = f" Trained on: {', '.join(proof['perturbations'])}." if proof["perturbations"] else ""
    given["made"] += [
        f"Examples: {parts}. {proof['split']}.{trained}",
        f"scuff {proof['scuff']}, seed {proof['seed']}; proof.json has every number.",
    ]
    given["about"] = (
        f"{' and '.join(proof['methods'])}. {found['examples']:,} examples of the test part, which was not trained on; "
        f"{found['cases']:,} cases, the same before and after; {found['metric']} in %."
    )
    links = Markup(
        '<p>The whole runs: <a href="before/report.html">before</a>, <a href="after/report.html">after</a>.</p>'
    )
    page = render(
        "comparison.html", title=f"Scuff: {proof['model']} hardened", heading=f"{proof['model']}, hardened", lead=first,
        words=more, links=links, command=proof["command"], **given,
    )  # fmt: skip
    Folder(folder).write("comparison.html", page)


# what both pages have


def _page(material: Material) -> dict[str, Any]:
    """Returns what the template shows, but for the words at the top."""
    content = material.content
    given: dict[str, Any] = {
        "about": _about(content), "differs": content["differs"], "tiles": _tiles(content), "keys": _keys(material),
        "tables": _tables(material), "table_title": "Differences" if len(content["runs"]) == 2 else "All runs",
        "how": _how(content), "examples": _examples(material), "made": [content["method"]],
        "run_columns": ["run", "model", "shield", "data", "examples", "scuff"], "run_rows": _run_rows(content["runs"]),
        "radars": [], "thin": len(material.detailed) == 2, "curves": [], "curves_title": "By degree", "degree_tables": [],
        **_overview(content),
    }  # fmt: skip
    if content["kind"] == "evaluate":
        given |= _evaluations(material)
    else:
        summaries = [summary for summary in material.summaries if "kind" in summary]
        picture = query_curves(
            "Share of attacked texts that hold, after so many queries", _detailed(material), summaries
        )
        given |= {"curves": [("texts that hold", picture)] if picture else [], "curves_title": "By queries"}
    sections = [("verdict", "Verdict"), ("glance", "At a glance"), ("overview", given["overview_title"])]
    sections += [("differences", given["table_title"]), ("curves", given["curves_title"].partition(":")[0])]
    there = {"glance": given["radars"], "overview": given["overview"], "curves": given["curves"]}
    given["contents"] = [section for section in sections if there.get(section[0], True)]
    given["contents"] += [("examples", "Changed sides"), ("made", "How this was made")]
    return given


def _about(content: Compared) -> str:
    change, first = content["changes"][0], content["runs"][0]
    if "recipe" in change:
        return f"{change['recipe']} on {first['examples']:,} examples of {first['data']}; shares in %."
    return f"{change['examples']:,} examples, {change['cases']:,} cases in the first run; {content['metric']} in %."


def _detailed(material: Material) -> list[str]:
    return [material.content["runs"][at]["name"] for at in material.detailed]


def _keys(material: Material) -> list[tuple[Markup, str]]:
    return [(key(at), name) for at, name in enumerate(_detailed(material))]


def _tile(change: Change, what: str, *, lower: bool = False) -> tuple[str, list[Any]]:
    value = f"{percent(change['before'])} → {percent(change['after'])}"
    return value, [what, _coloured(change, lower=lower), verdict(change, lower_is_better=lower)]


def _tiles(content: Compared) -> list[tuple[str, list[Any]]]:
    """Of two runs the overall numbers of both; of more, the best run and how many won."""
    if len(content["changes"]) > 1:
        words = [pair_verdict(change) for change in content["changes"]]
        against = f"against {content['runs'][0]['name']}"
        return [(str(words.count(word)), [word, against]) for word in (WON, LOST, "not decided")]
    (change,) = content["changes"]
    if "recipe" in change:
        return [
            _tile(change["success"], f"success of {change['recipe']}", lower=True),
            _tile(change["held"], "texts that hold, of all"),
        ]
    return [
        _tile(change["clean"], f"clean {content['metric']}"),
        _tile(change["all"]["average"], "on perturbed texts, average"),
        _tile(change["all"]["worst"], "worst case of each example"),
    ]


def _coloured(change: Change, text: str = "", *, lower: bool = False) -> Markup | str:
    """The difference, green if it is surely won, red if it is surely lost; a word says it, too."""
    word, shown = verdict(change, lower_is_better=lower), text or points(change)
    return Markup('<strong class="{}">{}</strong>').format(word, shown) if word in (WON, LOST) else shown


def _tables(material: Material) -> list[Table]:
    content = material.content
    if len(content["runs"]) == 2:
        return [_pair_table(content, 0, "Every score")]
    pairs = [
        _pair_table(content, at - 1, f"{content['runs'][at]['name']} against {content['runs'][0]['name']}, every score")
        for at in material.detailed
        if at
    ]
    return [_runs_table(content), *pairs]


def _pair_table(content: Compared, at: int, caption: str) -> Table:
    change = content["changes"][at]
    names = [content["runs"][0]["name"], content["runs"][at + 1]["name"]]
    rows: list[list[Any]] = []
    for name, entry, worst, kind in change_rows(content, at):
        before, after, gap = shown_values(entry, kind, change["paired"])
        shown = gap if kind == "number" else _coloured(entry, gap, lower=kind == "lower")
        row = [name, before, after, shown, p_value(entry["p"]), row_verdict(entry, kind)]
        if "recipe" not in change:
            row += [*_worst_cells(worst), sides_of(change, name)]
        rows.append(row)
    columns = ["number" if "recipe" in change else "dimension", *names, "difference", "p", "verdict"]
    if "recipe" not in change:
        columns += ["worst case", "difference", "mended / broken"]
    return Table(caption, columns, rows)


def _worst_cells(worst: Change | None) -> list[Any]:
    if worst is None:
        return ["", ""]
    return [f"{percent(worst['before'])} → {percent(worst['after'])}", _coloured(worst)]


def _group_rows(groups: Sequence[tuple[str, GroupChange | None]]) -> list[list[Any]]:
    """Rows over the perturbations that were seen in training, over the others, and of their macro AUC."""
    rows = []
    for words, group in groups:
        if group is None:
            continue
        lines: list[tuple[str, Change | None, Change | None]] = [(f"macro AUC, {words}", group["auc"], None)]
        if words != "all":
            lines = [(f"mean, {words}", group["average"], group["worst"]), *lines]
        for name, change, worst in lines:
            if change is not None:
                row: list[Any] = [name, percent(change["before"]), percent(change["after"]), _coloured(change)]
                row += [p_value(change["p"]), verdict(change)]
                rows.append([*row, *_worst_cells(worst), ""])
    return rows


def _runs_table(content: Compared) -> Table:
    titles = {"after": "accuracy after", "success": "success rate"}
    scores = list(content["runs"][0]["scores"])
    columns = ["run", "clean", *(titles.get(name, name) for name in scores), "difference", "p", "verdict"]
    rows: list[list[Any]] = []
    for at, run in enumerate(content["runs"]):
        row: list[Any] = [run["name"], spread(run["clean"]), *(spread(run["scores"][name]) for name in scores)]
        if not at:
            rows.append([*row, "first", "", ""])
            continue
        change = content["changes"][at - 1]
        main = next(iter(headline(change).values()))
        gap = points(main) + ("" if change["paired"] else UNPAIRED)
        row += [_coloured(main, gap, lower="recipe" in change), p_value(main["p"]), pair_verdict(change)]
        rows.append(row)
    return Table(f"All runs: {columns[2]} is what differences and words are about", columns, rows)


def _how(content: Compared) -> list[str]:
    lines = ["Won and lost: the interval of the difference is beside 0 and p below 0.05; else it is not decided."]
    if content["kind"] == "evaluate":
        lines += [
            "average: the mean score of an example's cases; worst: that of its worst case. Both weigh small degrees more, as the "
            "final scores of a run.",
            "mended / broken: examples that some case broke in the first run and none in the second, and the other way round; "
            "both answer the clean text right. In the row clean: answers that became right, and wrong.",
        ]
        if any(final["access"] != "rule" for final in content["runs"][0]["dimensions"].values()):
            lines.append(
                "@score, @gradient: each model has cases of its own there, of the same examples: an attacker adapts to the model."
            )
    if not all(change["paired"] for change in content["changes"]):
        lines.append(
            f"{UNPAIRED} not paired: no example is in both runs; each is resampled alone, and nothing was tested."
        )
    return lines


def _overview(content: Compared) -> dict[str, Any]:
    """Of more than two runs: clean score beside robustness, and from a few on the scores over the runs."""
    runs, names = content["runs"], [run["name"] for run in content["runs"]]
    score = "average" if content["kind"] == "evaluate" else "after"
    what = "average on perturbed texts, %" if score == "average" else "accuracy after the attack, %"
    found: dict[str, Any] = {"overview": [], "overview_title": "Clean score beside robustness", "overview_keys": []}
    if len(runs) < 3:
        return found
    pairs = [(run["clean"], run["scores"][score]) for run in runs]
    found["overview"] = [
        ("clean beside robust", clean_beside_robust("Clean score beside robustness", names, pairs, what))
    ]
    if content["trend"] is not None:
        kinds = {"average": "average", "worst": "worst", "after": "average", "success": "worst"}
        series = [("clean", "clean", [run["clean"] for run in runs])]
        series += [(name, kinds[name], [run["scores"][name] for run in runs]) for name in runs[0]["scores"]]
        trend = content["trend"]
        title = f"over the runs: {trend['score']}, {trend['words']}"
        found["overview"].append((title, over_runs("Scores over the runs", names, series)))
        found |= {"overview_title": "Trend", "overview_keys": [(kind, name) for name, kind, _ in series]}
    return found


def _evaluations(material: Material) -> dict[str, Any]:
    """Radars per access, curves and RobTest's tables of the runs that are shown in detail."""
    content, names = material.content, _detailed(material)
    summaries = [summary for summary in material.summaries if "kind" not in summary]
    first = summaries[0]
    dimensions = [name for name in first["dimensions"] if any(name in other["dimensions"] for other in summaries[1:])]
    radars = []
    for access in ACCESSES:
        own = [name for name in dimensions if first["dimensions"][name]["setting"] == access]
        spokes = [first["dimensions"][name]["base"] for name in own]
        scores = [[_final(summary, name) for name in own] for summary in summaries]
        if picture := radar_of_runs(f"Final scores by dimension, {access}", spokes, names, scores):
            radars.append((access, picture))
    curves = [
        (name, curves_of_runs(f"{name}: average score by degree", names, name, summaries, _degree(first, name)))
        for name in dimensions
    ]
    same = all(summary["protocol"]["degrees"] == first["protocol"]["degrees"] for summary in summaries)
    head = ["method", "0", *(f"{degree:g}" for degree in first["protocol"]["degrees"]), "final score"]
    tables = [Table(name, head, list(degree_rows(names, summaries, name))) for name in dimensions] if same else []
    few = len(material.detailed) < len(content["runs"])
    title = f"By degree: {', '.join(names)}" if few else "By degree"
    return {"radars": radars, "curves": curves, "curves_title": title, "degree_tables": tables}


def _final(summary: EvaluationSummary, name: str) -> tuple[float | None, float | None]:
    content = summary["dimensions"].get(name)
    return (content["average"]["value"], content["worst"]["value"]) if content else (None, None)


def _degree(summary: EvaluationSummary, name: str) -> str:
    unit = summary["dimensions"][name]["unit"]
    return f"degree: {UNITS.get(unit, f'share of {unit}')}"


def _examples(material: Material) -> list[tuple[str, list[Example]]]:
    runs, out = material.content["runs"], []
    first = runs[0]["name"]
    for at in material.mended:
        name = runs[at]["name"]
        out.append((f"Broken in {first}, held in {name}", [_example(one) for one in material.mended[at]]))
        out.append((f"Held in {first}, broken in {name}", [_example(one) for one in material.broken[at]]))
    return out


def _example(found: Turned) -> Example:
    if isinstance(found, dict):
        tried = found["adversarial"]
        answers = [answer_text(found["clean"]["answer"]), answer_text(tried["answer"] if tried else None)]
        head = Markup("{} queries: {} → {}").format(found["queries"], *answers)
        return Example(head, found["texts"], tried["edits"] if tried else [])
    line, name, case = found
    head = Markup("<b>{}</b>, degree {}: expected {}, answered {}").format(
        name, f"{case['degree']:g}", answer_text(line["target"]), answer_text(case["answer"])
    )
    return Example(head, line["texts"], case["edits"])


def _run_rows(runs: Sequence[RunFacts]) -> list[list[str]]:
    return [
        [run["name"], model_name(run), run["shield"] or "none", run["data"], f"{run['examples']:,}", run["scuff"]]
        for run in runs
    ]
