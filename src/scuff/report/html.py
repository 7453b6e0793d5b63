"""report.html: one page that holds everything and loads nothing."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import Any

from ..evaluate import Folder
from ..evaluate.results import in_words
from ..evaluate.table import PROBLEMS
from .curves import curve
from .marks import marked, visible
from .tables import notes, percent, spread, unchanged

SHOWN = 5  # failures per dimension


def write_report(folder: Folder) -> None:
    """From summary.json, run.json and results.jsonl."""
    summary, run = folder.read_json("summary.json"), folder.read_json("run.json")
    parts = (
        _head(summary),
        _scores(summary),
        _curves(summary),
        _cells(summary),
        _failures(folder, summary),
        _about(run),
    )
    page = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    title = escape(f"Scuff: {summary['model']} on {summary['data']['name']}")
    folder.write("report.html", page.substitute(title=title, body="\n".join(parts)))


def _head(summary: dict[str, Any]) -> str:
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


def _table(head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _scores(summary: dict[str, Any]) -> str:
    first = next(iter(summary["dimensions"].values()))["degrees"]
    degrees = [f"{cell['degree']:g}" for cell in first]
    rows = []
    for entry in summary["harm"]:
        name = entry["dimension"]
        content = summary["dimensions"][name]
        cells = [percent(cell["average"]["value"]) for cell in content["degrees"]]
        rows.append(
            [escape(name), spread(content["average"]), spread(content["worst"]), *cells, percent(entry["left"])]
        )
    still = [f"{100 * share:.0f} %" for share in unchanged(summary)]
    rows.append(['<span class="soft">texts that stay as they are</span>', "", "", *still, ""])
    return (
        "<h2>Scores by dimension</h2><p class='soft'>The most harmful first. The final scores weigh small degrees more "
        "(RobTest, eq. 1); the columns are the average at each degree; the last is what is left of the clean score at the "
        "highest.</p>" + _table(["dimension", "average (final)", "worst (final)", *degrees, "left"], rows)
    )


def _curves(summary: dict[str, Any]) -> str:
    clean, chance = summary["clean"]["score"]["value"], summary["clean"]["chance"]
    cards = [
        f'<div class="card"><h3>{escape(name)}</h3>{curve(content, clean, chance)}'
        f'<p class="soft" style="margin:4px 0 0">degree: share of {escape(content["unit"])}</p></div>'
        for name, content in summary["dimensions"].items()
    ]
    keys = (
        '<p class="soft"><span class="key" style="border-color:var(--average)"></span>average over cases'
        '<span class="key" style="border-color:var(--worst)"></span>worst: no case up to this degree broke it'
        '<span class="key" style="border-color:var(--clean);border-top-style:dashed"></span>clean. Bands are 95 % intervals.</p>'
    )
    return f'<h2>Score by degree</h2>{keys}<div class="cards">{"".join(cards)}</div>'


def _cells(summary: dict[str, Any]) -> str:
    out = ["<h2>Every number</h2>"]
    for name, content in summary["dimensions"].items():
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
        out.append(f"<details><summary>{escape(name)}</summary>{_table(head, rows)}</details>")
    return "".join(out)


def _failures(folder: Folder, summary: dict[str, Any]) -> str:
    """The smallest changes that broke something, per dimension."""
    found: dict[str, list[tuple[tuple[float, float], Any, Any]]] = {name: [] for name in summary["dimensions"]}
    for line in folder.read_lines("results.jsonl"):
        for name, content in line["dimensions"].items():
            case = content["broken_by"]
            if case:
                rank = (case["degree"], case["reached"])
                found[name] = sorted([*found[name], (rank, line, case)], key=lambda entry: entry[0])[:SHOWN]
    out = [
        "<h2>What broke it</h2><p class='soft'>Per dimension the smallest changes after which the answer was worse.</p>"
    ]
    for name, shown in found.items():
        cells = summary["dimensions"][name]["degrees"]
        none = (
            "Nothing broke." if any(cell["average"]["value"] is not None for cell in cells) else "No case was answered."
        )
        content = "".join(_example(line, case) for _, line, case in shown) or f"<p class='soft'>{none}</p>"
        out.append(
            f"<details{' open' if shown and len(out) == 1 else ''}><summary>{escape(name)}</summary>{content}</details>"
        )
    return "".join(out)


def _example(line: dict[str, Any], case: dict[str, Any]) -> str:
    texts = []
    for at, text in enumerate(line["texts"]):
        whole = text if isinstance(text, str) else " ".join(text)
        texts.append(f"<p>{marked(whole, [edit[1:] for edit in case['edits'] if edit[0] == at])}</p>")
    return (
        f'<div class="example"><p class="soft">{visible(str(line["id"]))}, degree {case["degree"]:g}: '
        f"expected {_answer(line['target'])}, "
        f"answered {_answer(case['answer'])}, before {_answer(line['clean']['answer'])}</p>{''.join(texts)}</div>"
    )


def _answer(answer: Any) -> str:
    words = in_words(answer, scores=True)
    return "nothing" if words is None else visible(words[:300]) or "no label"


def _about(run: dict[str, Any]) -> str:
    return (
        "<h2>How to read this</h2><ul>"
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
