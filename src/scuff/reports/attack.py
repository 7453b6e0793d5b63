"""Writes report.html of an attack."""

from __future__ import annotations

from html import escape

from markupsafe import Markup

from ..attacks.published import AS_PUBLISHED
from ..data.dataset import joined
from ..metrics.interval import wilson
from ..runs.folder import Folder
from ..runs.schema import AttackLine, AttackSummary, RunFile, Status, Tradeoff
from .attack_tables import against, measure, number_rows, recipe_rows, share_of, title
from .charts import budget_curve
from .formatting import number, percent, spread
from .notes import attack_notes
from .page import (
    answer_text,
    card,
    escaped,
    estimate_tile,
    example,
    folded,
    head,
    interval_line,
    repeating_line,
    table,
    tile,
    write_page,
)

SHOWN: dict[Status, int] = {"succeeded": 30, "failed": 5}  # how many examples are shown at most

NOTE = (
    "Quoted from the data as they are, which may be offensive. The texts are spread evenly over the data: <del>taken out</del> "
    "<ins>put in</ins>."
)


def write_attack_report(folder: Folder) -> None:
    """Writes report.html from summary.json and results.jsonl. It holds no times, so that the same run gives the same bytes."""
    summary = folder.attack_summary()
    parts = (
        _head(summary),
        _budget(summary),
        _labels(summary),
        _quoted(folder, summary),
        _numbers(summary),
        _about(summary, folder.run()),
    )
    write_page(folder, "parts.html", title=f"Scuff: {title(summary)}", parts=list(map(Markup, parts)))


def _head(summary: AttackSummary) -> str:
    success, valid, queries, after = summary["success"], summary["valid"], summary["queries"], summary["after"]
    of_all = f"of the tags of {summary['examples']:,}" if summary["task"] == "tokens" else f"of {summary['examples']:,}"
    if "tradeoff" in summary:
        middle = _tradeoff_tiles(summary["tradeoff"])
    else:
        middle = [
            tile(
                f"{percent(summary['clean']['value'])} → {percent(after['value'])}",
                "accuracy before and after",
                f"{of_all} examples",
                interval_line(after),
            )
        ]
    tiles = [
        estimate_tile(success, "attack success rate", f"{success['count']:,} of {success['of']:,} attacked"),
        estimate_tile(valid, "success after validity filter", f"{valid['count']:,} of {valid['of']:,} attacked"),
        *middle,
        *_shield_tiles(summary),
        tile(number(queries["mean"]), "queries per attacked text", f"median {number(queries['median'])}"),
    ]
    about = f"{_published(summary)}{summary['examples']:,} examples, shares in %."
    return head(title(summary), about, tiles, attack_notes(summary))


def _shield_tiles(summary: AttackSummary) -> list[str]:
    """Returns how many attacks of an unaware attacker get past the shield; [] of other attackers and without a shield."""
    survived = summary.get("shield", {}).get("survived")
    if survived is None:
        return []
    return [
        estimate_tile(
            survived, "past the shield", f"{survived['count']:,} of {survived['of']:,} that fool the model alone"
        )
    ]


def _tradeoff_tiles(tradeoff: Tradeoff) -> list[str]:
    """Returns both halves, and how many attacks have a sum above the threshold."""
    score, likeness, won = measure(tradeoff["metric"]), measure(tradeoff["source_metric"]), tradeoff["succeeded"]
    change = f"{percent(tradeoff['before']['value'])} → {percent(tradeoff['after']['value'])}"
    return [
        estimate_tile(tradeoff["source"], f"{escape(likeness)} of the source", "100 is the original"),
        estimate_tile(tradeoff["decrease"], f"relative decrease of {escape(score)}", f"of the output: {change}"),
        estimate_tile(won, f"S above {100 * tradeoff['threshold']:g}", share_of(tradeoff)),
    ]


def _published(summary: AttackSummary) -> str:
    """Returns that the recipe is as published, and where the page says what differs even so; "" if it is ours."""
    paper, mark, where = summary["recipe"]["paper"].partition(AS_PUBLISHED)
    if not mark:
        return ""
    differs = f'<a href="#recipe">what differs even so</a> ({len(summary["recipe"]["deviations"])} points)'
    return f"As published{escape(where)} ({escape(paper)}); {differs}. "


def _budget(summary: AttackSummary) -> str:
    picture = budget_curve(summary["curve"])
    if not picture:
        return ""
    how = (
        "From left to right the attacker may ask more about each text: what --max-queries would leave, computed for 1, 2, 3, 5, "
        "7, 10, 20, ... queries. Where the line falls at once, limiting how often someone may ask does not help; where it "
        "falls late, it does."
    )
    hold = "cannot be shortened yet" if _reduces(summary) else "still hold"
    picture = card(f"Share of attacked texts that {hold} after so many queries, in %", picture)
    return f'<h2>How many queries it takes</h2><div class="cards wide">{picture}</div><p class="soft">{how}</p>'


def _reduces(summary: AttackSummary) -> bool:
    """Returns whether the goal is an input reduction, where a success has fewer words and the same answer."""
    return summary["recipe"]["goal"].startswith("reduction")


def _labels(summary: AttackSummary) -> str:
    rows = []
    for label, entry in summary["labels"].items():
        count, of = entry["count"], entry["of"]
        shown = spread({"value": count / of, "interval": [*wilson(count / of, of)]})
        rows.append([escaped(label), f"{of:,}", f"{count:,}", shown])
    if not rows:
        return ""
    return f"<h2>By label</h2>{table(['label', 'attacked', 'succeeded', 'success rate [95 %]'], rows)}"


def _quoted(folder: Folder, summary: AttackSummary) -> str:
    """Returns the sections that quote the data, folded."""
    status, found = summary["status"], _examples(folder, summary)
    words = [[escaped(row["old"]) or "-", escaped(row["new"]) or "-", f"{row['count']:,}"] for row in summary["words"]]
    contents = {
        "Most frequent replacements": table(["old", "new", "successes"], words, "scores") if words else "",
        f"Attacks that succeeded: {len(found['succeeded'])} of {status['succeeded']:,}": "".join(found["succeeded"]),
        f"Attacks that failed: {len(found['failed'])} of {status['failed']:,}": "".join(found["failed"]),
    }
    shown = [folded(name, content) for name, content in contents.items() if content]
    return f'<h2>Texts and words</h2><p class="soft">{NOTE}</p>{"".join(shown)}' if shown else ""


def _examples(folder: Folder, summary: AttackSummary) -> dict[Status, list[str]]:
    """Returns the markup of up to SHOWN examples of each status, spread evenly over the data."""
    wanted = {status: _evenly(summary["status"][status], most) for status, most in SHOWN.items()}
    seen, found = dict.fromkeys(SHOWN, 0), {status: list[str]() for status in SHOWN}
    for line in folder.attack_results():
        status = line["status"]
        if status in wanted:
            if seen[status] in wanted[status]:
                found[status].append(_example(line))
            seen[status] += 1
    return found


def _evenly(count: int, most: int) -> set[int]:
    """Returns at most `most` of the numbers below `count`, spread evenly."""
    return {at * count // most for at in range(most)} if count > most else set(range(count))


def _example(line: AttackLine) -> str:
    tried, halves = line["adversarial"], line.get("tradeoff")
    facts = []
    if halves is None:
        facts.append(" → ".join(answer_text(one["answer"]) for one in (line["clean"], tried) if one))
    else:
        facts.append(f"source {percent(halves['source'])}, decrease {percent(halves['decrease'])}")
    facts.append(f"{line['queries']:,} queries")
    if tried:
        facts.append(f"similarity {tried['similarity']:.2f}")
        if not tried["valid"]:
            facts.append("moved too far in meaning")
    if line["reason"]:
        facts.append(escaped(line["reason"]))
    about = f"<b>example {escaped(line['id'])}</b>: {', '.join(facts)}"
    more = _outputs(line) if halves else {}
    if tried and "mended" in tried:
        more = {"mended by the shield": escaped(tried["mended"]), **more}
    return example(about, line["texts"], tried["edits"] if tried else [], more)


def _outputs(line: AttackLine) -> dict[str, str]:
    """Returns the texts that the model wrote before and after an attack, and the reference, by what they are."""
    halves, tried = line.get("tradeoff"), line["adversarial"]
    scores = (halves["before"], halves["after"]) if halves else (None, None)
    out = {f"output before, {percent(scores[0])}": line["clean"]["answer"]}
    if tried:
        out[f"output after, {percent(scores[1])}"] = tried["answer"]
    if line["target"]:
        out["reference"] = joined(line["target"])
    return {what: answer_text(text) if text else "(empty)" for what, text in out.items()}


def _halves_explained(tradeoff: Tradeoff) -> str:
    """Returns what both halves of an attack on texts mean (Michel et al. 2019, section 2.1)."""
    score, likeness = escape(measure(tradeoff["metric"])), escape(measure(tradeoff["source_metric"]))
    blame = "the output lost more than the source did, so the model is to blame rather than the change."
    least = f"{100 * tradeoff['threshold']:g}"
    above = f"Above 100 {blame}" if least == "100" else f"Above 100 {blame} Here an attack succeeds above {least}."
    return (
        f"<li><b>{likeness} of the source</b>: how much of the source is left, of all attacked texts, also where the attack "
        f"failed. <b>Relative decrease</b>: the share of the {score} of the model's text, compared with {against(tradeoff)}, "
        "that is lost; 0 where it did not fall (Michel et al. 2019, eq. 1).</li>"
        f"<li><b>S</b>: their sum. {above} Never read it without its halves.</li>"
    )


def _attacker(summary: AttackSummary) -> str:
    """Returns what an attacker that is unaware of a shield means for the numbers; "" otherwise."""
    if summary.get("shield", {}).get("attacker") != "unaware":
        return ""
    return (
        "<li><b>unaware attacker</b>: asks the model without its shield, and sends what it finds to the shielded one. A success "
        "fools the shielded model; texts that either of them gets wrong unchanged are skipped. An attacker who knows the shield "
        "does better: run again with --attacker aware.</li>"
    )


def _numbers(summary: AttackSummary) -> str:
    rows = [[escape(what.strip()), value, escape(of)] for what, value, of in number_rows(summary)]
    return f"<h2>Every number</h2>{table(['', 'value [95 %]', ''], rows, 'facts')}"


def _about(summary: AttackSummary, run: RunFile) -> str:
    valid = summary["valid"]
    (_, [name]), *parts = recipe_rows(summary)
    recipe_lines = []
    for what, specs in parts:
        shown = [escape(spec) if what == "deviates" else f"<code>{escape(spec)}</code>" for spec in specs]
        recipe_lines.append(f"<li><b>{what}</b>: {'; '.join(shown)}</li>")
    anchor = ' id="recipe"' if _published(summary) else ""
    same = ": here always with the same answer" if _reduces(summary) else ""
    scores = (
        f"<li><b>accuracy after</b>: as before, but where an attack succeeded, of the text that it found{same}.</li>"
    )
    if "tradeoff" in summary:
        scores = _halves_explained(summary["tradeoff"])
    return (
        "<h2>How to read this</h2><ul>"
        "<li><b>attack success rate</b>: of the texts that the goal applies to (of most goals those that the model got right), "
        "the share that the search turned into one with the answer it wanted. The others are skipped; an attack that ended in an "
        "error counts as failed.</li>"
        f"<li><b>after validity filter</b>: successes whose meaning moved at most {valid['most']:g} by "
        f"{escape(measure(valid['measure']))}. The rest may have succeeded only because they say something else: read some.</li>"
        f"{scores}"
        f"{_attacker(summary)}"
        "<li><b>queries</b>: texts that the model was asked about for one example, failed attacks included.</li>"
        "<li>Compare runs only with the same data, recipe and limits: a longer search finds more.</li></ul>"
        f"<h2{anchor}>Recipe: {escape(name)}</h2><ul>{''.join(recipe_lines)}</ul>"
        f"{repeating_line(run)}"
    )
