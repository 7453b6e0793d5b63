"""report.html of an attack: one page that holds everything and loads nothing."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import Any

from ..data.dataset import joined
from ..metrics.interval import wilson
from ..runs.folder import Folder
from .attack_tables import measure, notes, number, numbers, recipe, title
from .charts import budget_curve
from .evaluation import table
from .groups import Summary, percent, spread
from .marks import escaped, in_short, marked

SUCCESSES, FAILURES = 30, 5  # shown

NOTE = (
    "Quoted from the data as they are, which may be offensive. The texts are spread evenly over the data: <del>taken out</del> "
    "<ins>put in</ins>."
)


def quoted(folder: Folder, summary: Summary) -> str:
    """All that holds words of the data, closed until someone opens it."""
    status = summary["status"]
    wanted = {"succeeded": _evenly(status["succeeded"], SUCCESSES), "failed": _evenly(status["failed"], FAILURES)}
    seen = dict.fromkeys(wanted, 0)
    found: dict[str, list[str]] = {name: [] for name in wanted}
    for line in folder.read_lines("results.jsonl"):
        kind = line["status"]
        if kind in wanted:
            if seen[kind] in wanted[kind]:
                found[kind].append(_example(line))
            seen[kind] += 1
    words = [[escaped(row["old"]) or "-", escaped(row["new"]) or "-", f"{row['count']:,}"] for row in summary["words"]]
    folded = {
        "Most frequent replacements": table(["old", "new", "successes"], words, "scores") if words else "",
        f"Attacks that succeeded: {len(found['succeeded'])} of {status['succeeded']:,}": "".join(found["succeeded"]),
        f"Attacks that failed: {len(found['failed'])} of {status['failed']:,}": "".join(found["failed"]),
    }
    shown = [f"<details><summary>{name}</summary>{content}</details>" for name, content in folded.items() if content]
    if not shown:
        return ""
    return f'<h2>Texts and words</h2><p class="soft">{NOTE}</p>{"".join(shown)}'


def _evenly(count: int, most: int) -> set[int]:
    """Which of `count` to show."""
    return {at * count // most for at in range(most)} if count > most else set(range(count))


def _example(line: dict[str, Any]) -> str:
    tried = line["adversarial"]
    edits = tried["edits"] if tried else []
    texts = []
    for at, text in enumerate(line["texts"]):
        texts.append(f"<p>{marked(joined(text), [edit[1:] for edit in edits if edit[0] == at])}</p>")
    facts = [escaped(in_short(line["clean"]["answer"])[:300])]
    if tried:
        facts[0] += f" → {escaped(in_short(tried['answer'])[:300])}"
    facts.append(f"{line['queries']:,} queries")
    if tried and tried["similarity"] is not None:
        facts.append(f"similarity {tried['similarity']:.2f}")
    if tried and tried["valid"] is False:
        facts.append("moved too far in meaning")
    if line["reason"]:
        facts.append(escaped(line["reason"]))
    name = f"<b>example {escaped(str(line['id']))}</b>"
    return f'<div class="example"><p class="soft">{name}: {", ".join(facts)}</p>{"".join(texts)}</div>'


def write_attack_report(folder: Folder) -> None:
    """From summary.json and results.jsonl; without times, so that the same run gives the same bytes."""
    summary = folder.read_json("summary.json")
    parts = (
        _head(summary),
        _budget(summary),
        _labels(summary),
        quoted(folder, summary),
        _numbers(summary),
        _about(summary),
    )
    page = Template((Path(__file__).with_name("templates") / "page.html").read_text(encoding="utf-8"))
    folder.write("report.html", page.substitute(title=escape(f"Scuff: {title(summary)}"), body="\n".join(parts)))


def _head(summary: Summary) -> str:
    success, valid, queries = summary["success"], summary["valid"], summary["queries"]

    def tile(value: str, *lines: str) -> str:
        return f'<div class="tile"><b>{value}</b><span>{"<br>".join(lines)}</span></div>'

    def share(entry: dict[str, Any], *lines: str) -> str:
        low, high = map(percent, entry["interval"] or (None, None))
        return tile(percent(entry["value"]), *lines, f"95 %: {low} to {high}")

    tiles = [share(success, "attack success rate", f"{success['count']:,} of {success['of']:,} attacked")]
    if valid:
        tiles.append(share(valid, "success after validity filter", f"{valid['count']:,} of {valid['of']:,} attacked"))
    before, after = (percent(summary[name]["value"]) for name in ("clean", "after"))
    low, high = map(percent, summary["after"]["interval"] or (None, None))
    of_all = f"of the tags of {summary['examples']:,}" if summary["task"] == "tokens" else f"of {summary['examples']:,}"
    tiles.append(
        tile(f"{before} → {after}", "accuracy before and after", f"{of_all} examples", f"95 %: {low} to {high}")
    )
    tiles.append(tile(number(queries["mean"]), "queries per attacked text", f"median {number(queries['median'])}"))
    lines = "".join(f"<li>{escape(line)}</li>" for line in notes(summary))
    return (
        f'<h1>{escape(title(summary))}</h1><p class="soft">{summary["examples"]:,} examples, shares in %.</p>'
        f'<div class="tiles">{"".join(tiles)}</div><ul class="soft">{lines}</ul>'
    )


def _reduces(summary: Summary) -> bool:
    """Whether a success has fewer words and the same answer."""
    return str(summary["recipe"]["goal"]).startswith("reduction")


def _budget(summary: Summary) -> str:
    picture = budget_curve(summary["curve"]) if summary["curve"] else ""
    if not picture:
        return ""
    how = (
        "From left to right the attacker may ask more about each text: what --max-queries would leave. Where the line falls at "
        "once, limiting how often someone may ask does not help; where it falls late, it does."
    )
    hold = "cannot be shortened yet" if _reduces(summary) else "still hold"
    heading = f"<h4>Share of attacked texts that {hold} after so many queries, in %</h4>"
    card = f'<div class="cards wide"><div class="card">{heading}{picture}</div></div>'
    return f'<h2>How many queries it takes</h2>{card}<p class="soft">{how}</p>'


def _labels(summary: Summary) -> str:
    rows = []
    for label, entry in summary["labels"].items():
        count, of = entry["count"], entry["of"]
        shown = spread({"value": count / of, "interval": wilson(count / of, of)}) if of else "-"
        rows.append([escaped(str(label)), f"{of:,}", f"{count:,}", shown])
    if not rows:
        return ""
    return f"<h2>By label</h2>{table(['label', 'attacked', 'succeeded', 'success rate [95 %]'], rows)}"


def _numbers(summary: Summary) -> str:
    rows = [[escape(what.strip()), value, escape(of)] for what, value, of in numbers(summary)]
    return f"<h2>Every number</h2>{table(['', 'value [95 %]', ''], rows, 'facts')}"


def _about(summary: Summary) -> str:
    valid = summary["valid"]
    (_, name), *parts = recipe(summary)
    recipe_lines = []
    for what, said in parts:
        shown = [escape(spec) if what == "deviates" else f"<code>{escape(spec)}</code>" for spec in said]
        recipe_lines.append(f"<li><b>{what}</b>: {'; '.join(shown)}</li>")
    kept = ""
    if valid:
        kept = (
            f"<li><b>after validity filter</b>: successes whose meaning moved at most {valid['most']:g} by "
            f"{escape(measure(valid))}. The rest may have succeeded only because they say something else: read some.</li>"
        )
    same = ": here always with the same answer" if _reduces(summary) else ""
    return (
        "<h2>How to read this</h2><ul>"
        "<li><b>attack success rate</b>: of the texts that the goal applies to (of most goals those that the model got right), "
        "the share that the search turned into one with the answer it wanted. The others are skipped; an attack that ended in an "
        "error counts as failed.</li>"
        f"{kept}<li><b>accuracy after</b>: as before, but where an attack succeeded, of the text that it found{same}.</li>"
        "<li><b>queries</b>: texts that the model was asked about for one example, failed attacks included.</li>"
        "<li>Compare runs only with the same data, recipe and limits: a longer search finds more.</li></ul>"
        f"<h2>Recipe: {escape(name)}</h2><ul>{''.join(recipe_lines)}</ul>"
        f'<p class="soft">This run: <code>{escape(summary["signature"])}</code></p>'
    )
