"""Tables of text and Markdown: of an attack, as ToxicTrap prints them."""

from __future__ import annotations

import re
from textwrap import fill
from typing import Any

from .groups import Summary, Timings, percent, spread

Row = tuple[str, str, str]  # what, its value, and of what

FEW, WIDE = 100, 130

MEASURES = {"minilm": "MiniLM", "chrf": "chrF"}

PARTS = {
    "goal": "goal",
    "transform": "changes",
    "search": "search",
    "constraints": "constraints",
    "deviations": "deviates",
}


def attack_table(summary: Summary, timings: Timings) -> str:
    """Success, cost and quality as the papers report them; below what was attacked, what with, and how fast."""
    lines = [f"{title(summary)}: {summary['examples']:,} examples, in %, 95 % intervals", ""]
    lines += [f"{what:28}{value:19} {of}".rstrip() for what, value, of in numbers(summary)]
    lines += ["", *(_labelled("", note) for note in notes(summary)), _labelled("time", speed(timings))]
    name, *parts = recipe(summary)
    return "\n".join([*lines, "", _labelled(*name), *(_labelled(f"  {what}", "; ".join(said)) for what, said in parts)])


def title(summary: Summary) -> str:
    return f"{summary['recipe']['name']} against {summary['model']} on {summary['data']['name']}"


def numbers(summary: Summary) -> list[Row]:
    """The rows of the table."""
    success, valid, queries = summary["success"], summary["valid"], summary["queries"]
    tags = "tags; " if summary["task"] == "tokens" else ""
    out = [("attack success rate", interval(success), f"{success['count']:,} of {success['of']:,} attacked")]
    if valid:
        kept = f"{valid['count']:,} of {valid['of']:,}: meaning moved at most {valid['most']:g} by {measure(valid)}"
        out.append(("  after validity filter", interval(valid), kept))
    out += [
        ("accuracy, clean", interval(summary["clean"]), ""),
        ("accuracy, after attack", interval(summary["after"]), f"{tags}of all examples, the skipped ones too"),
        (
            "queries per attacked text",
            number(queries["mean"]),
            f"median {number(queries['median'])}, {_asked(queries)}",
        ),
        ("words changed", percent((summary["changed"] or {}).get("mean")), "on average, of successes"),
    ]
    alike = summary["similarity"]
    if alike:
        value = "-" if alike["mean"] is None else f"{alike['mean']:.2f}"
        out.append(("similarity in meaning", value, f"on average, of successes, by {measure(alike)}; 1 is the same"))
    return out


def _asked(queries: dict[str, Any]) -> str:
    limit = f", at most {queries['limit']:,} each" if queries.get("limit") else ""
    return f"{queries['total'] or 0:,} in all{limit}"


def interval(entry: dict[str, Any]) -> str:
    """As `spread`, also where nothing is known."""
    return spread({**entry, "interval": entry["interval"] or (None, None)})


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def measure(entry: dict[str, Any]) -> str:
    return MEASURES.get(entry["measure"], str(entry["measure"]))


def notes(summary: Summary) -> list[str]:
    """Who was attacked and who was not, and what a reader must know before believing the numbers."""
    status, attacked = summary["status"], summary["success"]["of"]
    counts = {"succeeded": "succeeded", "failed": "failed", "error": "ended in an error", "skipped": "skipped"}
    out = [", ".join(f"{status.get(name, 0):,} {said}" for name, said in counts.items())]
    if summary["skipped"]:
        out[0] += f" ({', '.join(f'{count:,} {why}' for why, count in summary['skipped'].items())})"
    if status.get("error"):
        reasons = "; ".join(f"{why}, {count:,} times" for why, count in list(summary["problems"].items())[:3])
        out.append(
            f"errors count as failed attacks, so the true success rate may be higher: {reasons or 'no reason given'}"
        )
    if summary["queries"].get("unanswered"):
        out.append(
            f"{_many(summary['queries']['unanswered'], 'query', 'queries')} had no answer, counted as not fooling the model"
        )
    if summary.get("unanswered"):
        out.append(f"{_many(summary['unanswered'], 'example')} had no answer even unchanged: nothing is known there")
    if summary["queries"].get("untried"):
        out.append(
            f"{_many(summary['queries']['untried'], 'attack')} failed untried: nothing there can change under this recipe"
        )
    if summary["queries"].get("cut"):
        out.append(f"{_many(summary['queries']['cut'], 'attack')} ran out of queries or time")
    if summary["data"]["skipped"]:
        skipped = ", ".join(f"{count} with {why}" for why, count in summary["data"]["skipped"].items())
        out.append(f"examples left out: {skipped}")
    if not attacked:
        out.append("nothing was attacked, so nothing is known")
    elif attacked < FEW:
        out.append(f"few texts were attacked ({attacked}): the intervals are wide")
    return out


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def recipe(summary: Summary) -> list[tuple[str, Any]]:
    """("recipe", its name and paper), then its parts with the specs of each; parts that it lacks are left out."""
    content = summary["recipe"]
    paper = f" ({content['paper']})" if content.get("paper") else ""
    parts = [(said, content.get(part) or []) for part, said in PARTS.items()]
    return [("recipe", content["name"] + paper), *((said, [p] if isinstance(p, str) else p) for said, p in parts if p)]


def _labelled(what: str, text: str) -> str:
    label, after = (f"{what:14}", " " * 14) if what else ("", "  ")
    return fill(label + text, WIDE, subsequent_indent=after, break_long_words=False, break_on_hyphens=False)


def rate(timings: Timings) -> float | None:
    """Queries per second over all sessions of a run."""
    seconds = sum(entry["seconds"] or 0 for entry in timings)
    return sum(entry["queries"] or 0 for entry in timings) / seconds if seconds else None


def speed(timings: Timings) -> str:
    per_second = rate(timings)
    if per_second is None:
        return "not known"
    seconds, inside = (sum(entry[name] or 0 for entry in timings) for name in ("seconds", "victim_seconds"))
    sessions = f" in {len(timings)} sessions" if len(timings) > 1 else ""
    workers = max(entry.get("workers") or 1 for entry in timings)
    share = f", {inside / seconds:.0%} of it inside the model" if workers == 1 else f", {workers} workers"
    minutes, rest = divmod(round(seconds), 60)
    taken = f"{seconds:.1f} s" if seconds < 100 else f"{minutes:,} min {rest:02} s"
    return f"{taken}{sessions}, {per_second:,.0f} queries per second{share}"


def comparison_table(rows: list[tuple[str, Summary, Timings]]) -> str:
    """Several runs in the layout of ToxicTrap's Table 5, as Markdown; rows: (task, summary, timings).

    A column of transformations, as in its Table 6, is there where the runs differ in them. n: attacked texts.
    """
    transforms = [", ".join(summary["recipe"]["transform"]) for _, summary, _ in rows]
    differ = len(set(transforms)) > 1
    numeric = ["Attack Success Rate", "Average Number of Queries", "Average Perturbed Word %", "n", "Queries/s"]
    named = ["Task", *(["Transformation"] if differ else []), "Search", "POS"]
    lines = [f"| {' | '.join([*named, *numeric])} |", "|" + "---|" * len(named) + "---:|" * len(numeric)]
    before = None
    for (task, summary, timings), transform in zip(rows, transforms, strict=True):
        per_second, changed = rate(timings), (summary["changed"] or {}).get("mean")
        cells = [
            "" if task == before else task, *([transform] if differ else []), *_search(summary["recipe"]),
            interval(summary["success"]), number(summary["queries"]["mean"]), percent(changed),
            f"{summary['success']['of']:,}", "-" if per_second is None else f"{per_second:,.0f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        before = task
    return "\n".join(lines) + "\n"


def _search(content: dict[str, Any]) -> tuple[str, str]:
    """As the paper names searches: a greedy one by how it ranks words; x where parts of speech must match."""
    ranked = re.search(r"importance=['\"]([\w-]+)", content["search"])
    matched = any(re.match(r"(pos|part.of.speech)\b", spec) for spec in content["constraints"])
    return ranked[1] if ranked else content["search"].partition("(")[0], "x" if matched else ""
