"""Writes report.html of an attack."""

from __future__ import annotations

from ..attacks.published import AS_PUBLISHED
from ..metrics.interval import wilson
from ..runs.folder import Folder
from ..runs.schema import AttackSummary, Tradeoff
from .attack_tables import against, measure, number_rows, recipe_rows, share_of, title
from .charts import budget_curve
from .formatting import number, percent, spread
from .notes import attack_notes
from .page import Repeat, escaped, estimate_tile, interval_line, write_page
from .samples import attack_samples
from .verdict import Verdict, verdict_of

Tile = tuple[str, list[str]]


def write_attack_report(folder: Folder) -> Verdict:
    """Writes report.html from summary.json and results.jsonl. It holds no times, so that the same run gives the same bytes.

    Returns the verdict with which the page begins.
    """
    verdict, summary = verdict_of(folder), folder.attack_summary()
    samples = attack_samples(folder, summary)
    reduces = summary["recipe"]["goal"].startswith("reduction")
    curve = budget_curve(summary["curve"], summary["success"]["of"], reduces)
    (_, [name]), *parts = recipe_rows(summary)
    contents = {
        "verdict": "Verdict", "numbers": "Every number", "queries": "How many queries it takes", "labels": "By label",
        "examples": "Texts and words", "recipe": "Recipe", "definitions": "What the numbers mean", "repeat": "Repeat this run",
    }  # fmt: skip
    absent = {
        "queries": not curve,
        "labels": not summary["labels"],
        "examples": not samples.shown and not summary["words"],
    }
    write_page(
        folder,
        "attack.html",
        title=f"Scuff: {title(summary)}",
        heading=title(summary),
        contents=[(anchor, name) for anchor, name in contents.items() if not absent.get(anchor)],
        summary=summary,
        verdict=verdict,
        published=_published(summary),
        deviations=len(summary["recipe"]["deviations"]),
        tiles=_tiles(summary),
        numbers=[[what.strip(), value, of] for what, value, of in number_rows(summary)],
        curve=curve,
        reduces=reduces,
        labels=_labels(summary),
        words=[
            [escaped(row["old"]) or "-", escaped(row["new"]) or "-", f"{row['count']:,}"] for row in summary["words"]
        ],
        samples=samples,
        recipe=name,
        parts=parts,
        notes=attack_notes(summary),
        valid=summary["valid"],
        valid_measure=measure(summary["valid"]["measure"]),
        halves=_halves(summary["tradeoff"]) if "tradeoff" in summary else None,
        unaware=summary.get("shield", {}).get("attacker") == "unaware",
        repeat=Repeat.of(folder.run()),
    )
    return verdict


def _tiles(summary: AttackSummary) -> list[Tile]:
    success, valid, queries = summary["success"], summary["valid"], summary["queries"]
    return [
        estimate_tile(success, "attack success rate", f"{success['count']:,} of {success['of']:,} attacked"),
        estimate_tile(valid, "success after validity filter", f"{valid['count']:,} of {valid['of']:,} attacked"),
        *(_tradeoff_tiles(summary["tradeoff"]) if "tradeoff" in summary else [_accuracy_tile(summary)]),
        *_shield_tiles(summary),
        (number(queries["mean"]), ["queries per attacked text", f"median {number(queries['median'])}"]),
    ]


def _accuracy_tile(summary: AttackSummary) -> Tile:
    of = f"of the tags of {summary['examples']:,}" if summary["task"] == "tokens" else f"of {summary['examples']:,}"
    change = f"{percent(summary['clean']['value'])} → {percent(summary['after']['value'])}"
    return change, ["accuracy before and after", f"{of} examples", interval_line(summary["after"])]


def _shield_tiles(summary: AttackSummary) -> list[Tile]:
    """Returns how many attacks of an unaware attacker get past the shield; [] of other attackers and without a shield."""
    survived = summary.get("shield", {}).get("survived")
    if survived is None:
        return []
    of = f"{survived['count']:,} of {survived['of']:,} that fool the model alone"
    return [estimate_tile(survived, "past the shield", of)]


def _tradeoff_tiles(tradeoff: Tradeoff) -> list[Tile]:
    """Returns both halves, and how many attacks have a sum above the threshold."""
    score, likeness, won = measure(tradeoff["metric"]), measure(tradeoff["source_metric"]), tradeoff["succeeded"]
    change = f"{percent(tradeoff['before']['value'])} → {percent(tradeoff['after']['value'])}"
    return [
        estimate_tile(tradeoff["source"], f"{likeness} of the source", "100 is the original"),
        estimate_tile(tradeoff["decrease"], f"relative decrease of {score}", f"of the output: {change}"),
        estimate_tile(won, f"S above {100 * tradeoff['threshold']:g}", share_of(tradeoff)),
    ]


def _published(summary: AttackSummary) -> str:
    """Returns where the recipe is published, if it is as published; "" if it is ours."""
    paper, mark, where = summary["recipe"]["paper"].partition(AS_PUBLISHED)
    return f"As published{where} ({paper})" if mark else ""


def _labels(summary: AttackSummary) -> list[list[str]]:
    rows = []
    for label, entry in summary["labels"].items():
        count, of = entry["count"], entry["of"]
        shown = spread({"value": count / of, "interval": [*wilson(count / of, of)]})
        rows.append([escaped(label or "no label"), f"{of:,}", f"{count:,}", shown])
    return rows


def _halves(tradeoff: Tradeoff) -> dict[str, str]:
    """Returns the words of an explanation of both halves of an attack on texts (Michel et al. 2019, section 2.1)."""
    return {
        "score": measure(tradeoff["metric"]),
        "likeness": measure(tradeoff["source_metric"]),
        "against": against(tradeoff),
        "least": f"{100 * tradeoff['threshold']:g}",
    }
