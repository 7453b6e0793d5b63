"""report.html of an evaluation: one page that holds everything and loads nothing."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import Any

from ..data.dataset import joined
from ..evaluation.table import PROBLEMS
from ..runs.display import in_words
from ..runs.folder import Folder
from .charts import curve, radar
from .groups import (
    Summary,
    by_harm,
    groups,
    measure_of_meaning,
    notes,
    overall_by_setting,
    percent,
    settings,
    spread,
    unchanged,
)
from .marks import escaped, marked
from .tables import paper_head, paper_note, paper_rows

SHOWN = 5  # failures of a dimension

Failure = tuple[dict[str, Any], dict[str, Any]]  # a line of results.jsonl, and the case that broke it


def smallest_failures(folder: Folder, summary: Summary) -> dict[str, list[Failure]]:
    """For each dimension the smallest changes that broke something."""
    found: dict[str, list[tuple[tuple[float, float], Failure]]] = {name: [] for name in summary["dimensions"]}
    for line in folder.read_lines("results.jsonl"):
        for name, content in line["dimensions"].items():
            case = content["broken_by"]
            if case:
                entry = (case["degree"], case["reached"]), (line, case)
                found[name] = sorted([*found[name], entry], key=lambda entry: entry[0])[:SHOWN]
    return {name: [failure for _, failure in entries] for name, entries in found.items()}


def shown_failures(setting: str, content: dict[str, Any], failures: list[Failure]) -> str:
    """One in full, the others folded away."""
    if not failures:
        answered = any(cell["average"]["value"] is not None for cell in content["degrees"])
        none = "Nothing broke." if answered else "No case was answered."
        return f'<p class="soft"><b>{setting}</b>: {none}</p>'
    first, *more = [_example(setting, *failure) for failure in failures]
    return first + (f"<details><summary>{len(more)} more, {setting}</summary>{''.join(more)}</details>" if more else "")


def _example(setting: str, line: dict[str, Any], case: dict[str, Any]) -> str:
    texts = []
    for at, text in enumerate(line["texts"]):
        texts.append(f"<p>{marked(joined(text), [edit[1:] for edit in case['edits'] if edit[0] == at])}</p>")
    return (
        f'<div class="example"><p class="soft"><b>{setting}</b>, example {escaped(str(line["id"]))}, degree {case["degree"]:g}: '
        f"expected {_answer(line['target'])}, answered {_answer(case['answer'])}, "
        f"before {_answer(line['clean']['answer'])}</p>{''.join(texts)}</div>"
    )


def _answer(answer: Any) -> str:
    words = in_words(answer, scores=True)
    return "nothing" if words is None else escaped(words[:300]) or "no label"


SPEC = 160  # letters of a spec that are shown


def section(summary: Summary, number: int, base: str, names: dict[str, str], failures: dict[str, list[Failure]]) -> str:
    """names: of the dimension in each of its settings."""
    dimensions = summary["dimensions"]
    first = dimensions[next(iter(names.values()))]
    clean, chance = summary["clean"]["score"]["value"], summary["clean"]["chance"]
    cards = []
    for setting, name in names.items():
        beside = dimensions[names["rule"]] if setting != "rule" and "rule" in names else None
        picture = curve(f"{base}, {setting}: score by degree", dimensions[name], clean, chance, beside)
        cards.append(f'<div class="card"><h4>{setting}</h4>{picture}</div>')
    numbers = [
        f"<details><summary>Every number, {setting}</summary>{_numbers(dimensions[name])}</details>"
        for setting, name in names.items()
    ]
    broken = [shown_failures(setting, dimensions[name], failures[name]) for setting, name in names.items()]
    return (
        f'<section id="dimension-{number}"><h3>{escape(base)}{tag_of(first)}</h3><p class="soft">{_degree(summary, first)}'
        f'{_spec(base, first)}</p><div class="cards">{"".join(cards)}'
        f"{table(paper_head(summary), paper_rows(summary, names))}</div>"
        f"{''.join(broken)}{''.join(numbers)}</section>"
    )


def tag_of(content: dict[str, Any]) -> str:
    """Whom it stands for: everyone (general), or someone who means harm (malicious)."""
    tag = content.get("tag")
    return f' <span class="tag {escape(tag)}">{escape(tag)}</span>' if tag else ""


def table(head: list[str], rows: list[list[str]], kind: str = "") -> str:
    """Cells are markup, names of columns are not."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _degree(summary: Summary, content: dict[str, Any]) -> str:
    if content["unit"] == "meaning":
        return f"Degree: distance in meaning, {escape(measure_of_meaning(summary))}."
    return f"Degree: share of {escape(content['unit'])}."


def _spec(base: str, content: dict[str, Any]) -> str:
    """What the name stands for, where it is not the spec itself."""
    setting = content.get("setting", "rule")
    spec = content["spec"].removesuffix(f"@{setting}")
    if spec == base:
        return ""
    return f" It is <code>{escape(spec if len(spec) <= SPEC else spec[:SPEC] + ' …')}</code>."


def _numbers(content: dict[str, Any]) -> str:
    auc = any("auc" in cell for cell in content["degrees"])
    head = ["degree", "average", "worst", "left", *(["macro AUC"] if auc else []), "broken of right", "reached",
            "edit distance", "cases", "unchanged", "unfit", "no answer"]  # fmt: skip
    rows = []
    for cell in content["degrees"]:
        success = cell["success"]
        rows.append([
            f"{cell['degree']:g}", spread(cell["average"]), spread(cell["worst"]), percent(cell["relative"]),
            *([spread(cell["auc"]) if "auc" in cell else "-"] if auc else []),
            f"{percent(success['rate'])} of {success['of']}", percent(cell["reached"]), percent(cell["edit_distance"]),
            f"{cell['cases']:,}", f"{cell['unchanged_examples']:,} of {cell['examples']:,}", f"{cell['unfit']:,}",
            f"{sum(cell[name] for name in PROBLEMS):,}",
        ])  # fmt: skip
    return table(head, rows)


def write_report(folder: Folder) -> None:
    """From summary.json, run.json and results.jsonl."""
    summary, run = folder.read_json("summary.json"), folder.read_json("run.json")
    failures = smallest_failures(folder, summary)
    sections = [section(summary, at, *group, failures) for at, group in enumerate(groups(summary).items(), 1)]
    parts = (
        _head(summary),
        _radars(summary),
        _scores(summary),
        _how_to_read_sections(summary),
        *sections,
        _about(run),
    )
    page = Template((Path(__file__).with_name("templates") / "page.html").read_text(encoding="utf-8"))
    title = escape(f"Scuff: {summary['model']} on {summary['data']['name']}")
    folder.write("report.html", page.substitute(title=title, body="\n".join(parts)))


def _head(summary: Summary) -> str:
    clean, overall = summary["clean"], summary["overall"]

    def tile(entry: dict[str, Any], what: str) -> str:
        low, high = map(percent, entry["interval"])
        return f'<div class="tile"><b>{percent(entry["value"])}</b><span>{what}<br>95 %: {low} to {high}</span></div>'

    tiles = [
        tile(clean["score"], f"clean {escape(summary['metric'])}"),
        tile(overall["average"], "average under attack, final"),
        tile(overall["worst"], "worst case, final"),
    ]
    if "auc" in clean:
        tiles.append(tile(clean["auc"], "clean macro AUC"))
    lines = "".join(f"<li>{escape(line)}</li>" for line in notes(summary))
    return (
        f"<h1>{escape(summary['model'])} on {escape(summary['data']['name'])}</h1>"
        f'<p class="soft">{clean["examples"]:,} examples, {escape(summary["metric"])} in %. '
        f"Guessing gives {percent(clean['chance'])}, always the most frequent answer {percent(clean['majority'])}.</p>"
        f'<div class="tiles">{"".join(tiles)}</div><ul class="soft">{lines}</ul>'
    )


def _how(*lines: str) -> str:
    return (
        f'<div class="soft how"><b>How to read this</b><ul>{"".join(f"<li>{line}</li>" for line in lines)}</ul></div>'
    )


def _guide(topic: str) -> str:
    return f"<code>scuff guide {topic}</code>"


def _keys(average: str, worst: str) -> str:
    keys = {average: "var(--average)", worst: "var(--worst)", "clean": "var(--clean);border-top-style:dashed"}
    shown = [f'<span><i class="key" style="border-color:{line}"></i>{what}</span>' for what, line in keys.items()]
    return f'<p class="soft keys">{" ".join(shown)}</p>'


def _radars(summary: Summary) -> str:
    pictures = {setting: radar(summary, setting) for setting in settings(summary)}
    cards = [f'<div class="card"><h4>{name}</h4>{picture}</div>' for name, picture in pictures.items() if picture]
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


def _scores(summary: Summary) -> str:
    dimensions = summary["dimensions"]
    degrees = [f"{cell['degree']:g}" for cell in next(iter(dimensions.values()))["degrees"]]
    left = {entry["dimension"]: percent(entry["left"]) for entry in summary["harm"]}
    number = {base: at for at, base in enumerate(groups(summary), 1)}
    rows = []
    for base, names in by_harm(summary).items():
        title = (
            f'<a href="#dimension-{number[base]}">{escape(base)}</a>{tag_of(dimensions[next(iter(names.values()))])}'
        )
        for setting, name in names.items():
            content = dimensions[name]
            cells = [percent(cell["average"]["value"]) for cell in content["degrees"]]
            rows.append([title, setting, spread(content["average"]), spread(content["worst"]), *cells, left[name]])
            title = ""
    still = [f"{100 * share:.0f} %" for share in unchanged(summary)]
    rows.append(['<span class="soft">texts that stay as they are</span>', "", "", "", *still, ""])
    blank, overall = [""] * (len(degrees) + 1), summary["overall"]
    rows.append(["overall", "", spread(overall["average"]), spread(overall["worst"]), *blank])
    for setting, average, worst, of in overall_by_setting(summary):
        rows.append([f'<span class="soft">{of}</span>', setting, average, worst, *blank])
    how = _how(
        "The most harmful dimension first. The final scores weigh small degrees more (RobTest, eq. 1); the columns are the "
        "average at each degree; the last is what is left of the clean score at the highest.",
        "Where the average is high and the worst low, someone who tries often enough finds a way; where both are low, people "
        f"meet it by accident. More: {_guide('report')}.",
    )
    head = ["dimension", "setting", "average (final)", "worst (final)", *degrees, "left"]
    return f"<h2>Scores by dimension</h2>{table(head, rows, 'scores')}{how}"


def _how_to_read_sections(summary: Summary) -> str:
    thin = " Dotted lines in the other settings repeat those of rule." if settings(summary) != ["rule"] else ""
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
    keys = _keys("average over cases", "worst: no case up to this degree broke it")
    return f"<h2>Dimension by dimension</h2>{keys}{how}"


def _about(run: dict[str, Any]) -> str:
    return (
        "<h2>What the numbers mean</h2><ul>"
        "<li><b>average</b>: mean over examples of the mean score of their cases: the share of right answers, where an "
        "answer is right or wrong.</li>"
        "<li><b>worst</b>: share of examples that no case at this or a smaller degree broke.</li>"
        "<li><b>left</b>: the score divided by the clean score. <b>reached</b>: the degree that was really reached, in %, never "
        "above the one asked for. <b>unfit</b>: draws that went above it and were thrown away.</li>"
        "<li><b>unchanged</b>: examples whose text has too few words for the degree, or in which the attack finds nothing to "
        "change: they count with their clean answer.</li>"
        "<li>Intervals resample examples, never cases; plain proportions have Wilson's interval.</li></ul>"
        f'<p class="soft">This run: <code>{escape(run["signature"])}</code></p>'
    )
