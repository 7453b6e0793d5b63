"""Texts that were attacked, with what was changed: all that a page quotes from the data."""

from __future__ import annotations

from typing import Any

from ..evaluate import Folder
from ..evaluate.results import joined
from .groups import Summary
from .live import in_short
from .marks import marked, visible
from .section import table

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
    words = [[visible(row["old"]) or "-", visible(row["new"]) or "-", f"{row['count']:,}"] for row in summary["words"]]
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
    facts = [visible(in_short(line["clean"]["answer"])[:300])]
    if tried:
        facts[0] += f" → {visible(in_short(tried['answer'])[:300])}"
    facts.append(f"{line['queries']:,} queries")
    if tried and tried["similarity"] is not None:
        facts.append(f"similarity {tried['similarity']:.2f}")
    if tried and tried["valid"] is False:
        facts.append("moved too far in meaning")
    if line["reason"]:
        facts.append(visible(line["reason"]))
    name = f"<b>example {visible(str(line['id']))}</b>"
    return f'<div class="example"><p class="soft">{name}: {", ".join(facts)}</p>{"".join(texts)}</div>'
