"""Writes comparison.html: a model before and after it was hardened, on the same cases."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from markupsafe import Markup

from ..runs.folder import Folder
from ..runs.proof import Change, DegreeChange, GroupChange, Proof
from ..runs.schema import EvaluationLine
from .charts import dumbbells, two_curves
from .formatting import percent
from .page import answer_text, card, example, items, table, tile, write_page
from .proof import LOST, WON, groups_of, points, verdict

SHOWN = 5  # examples of each kind
COLOURS = {WON: "var(--clean)", LOST: "var(--worst)"}


def write_comparison(folder: Path, proof: Proof) -> None:
    """Writes the page into the folder of a hardening, from its proof and the results of its two runs."""
    parts = (_head(proof), _overview(proof), _scores(proof), _curves(proof), _examples(folder), _about(proof))
    title, markup = f"Scuff: {proof['model']} hardened", list(map(Markup, parts))
    write_page(Folder(folder), "parts.html", name="comparison.html", title=title, parts=markup)


def _head(proof: Proof) -> str:
    found, attack = proof["comparison"], proof["attack"]
    tiles = [_tile(found["clean"], f"clean {found['metric']}")]
    groups: list[tuple[str, GroupChange | None]] = [("all perturbations", found["all"])]
    if proof["trained"]:
        groups = [("seen in training", found["seen"]), ("never seen", found["unseen"]), *groups]
    tiles += [_tile(group["average"], words) for words, group in groups if group is not None]
    if attack is not None:
        tiles.append(_tile(attack["success"], f"success of {attack['recipe']}", lower=True))
    about = (
        f"{escape(' and '.join(proof['methods']))}. {found['examples']:,} examples of the test part, which was not trained on; "
        f"{found['cases']:,} cases, the same before and after; {escape(found['metric'])} in %."
    )
    first, *more = proof["words"]
    return (
        f'<h1>{escape(proof["model"])}, hardened</h1><p class="soft">{about}</p><p><b>{escape(first)}</b></p>'
        f'<div class="tiles">{"".join(tiles)}</div>{items([escape(line) for line in more])}'
        '<p>The whole runs: <a href="before/report.html">before</a>, <a href="after/report.html">after</a>.</p>'
    )


def _tile(change: Change, what: str, *, lower: bool = False) -> str:
    return tile(
        f'{percent(change["before"])} → {percent(change["after"])}',
        escape(what), _coloured(change, lower=lower), verdict(change, lower_is_better=lower),
    )  # fmt: skip


def _coloured(change: Change, *, lower: bool = False) -> str:
    """The difference, green if it is surely won, red if it is surely lost."""
    colour = COLOURS.get(verdict(change, lower_is_better=lower))
    return f'<span style="color:{colour}">{points(change)}</span>' if colour else points(change)


def _overview(proof: Proof) -> str:
    cards = []
    for title, names in groups_of(proof):
        pairs = [(name, proof["comparison"]["dimensions"][name]["average"]) for name in names]
        cards.append(card(title or "all perturbations", dumbbells(pairs)))
    keys = (
        '<p class="soft keys"><span><i class="key" style="border-color:var(--soft)"></i>before</span>'
        '<span><i class="key" style="border-color:var(--average)"></i>after</span></p>'
    )
    return f'<h2>Before and after</h2>{keys}<div class="cards wide">{"".join(cards)}</div>'


def _scores(proof: Proof) -> str:
    head = ["perturbation", "", "average before", "after", "difference", "worst before", "after", "difference"]
    rows = []
    for title, names in groups_of(proof):
        for name in names:
            entry = proof["comparison"]["dimensions"][name]
            rows.append([escape(name), "" if not title else "seen" if entry["seen"] else "never seen",
                         *_cells(entry["average"]), *_cells(entry["worst"])])  # fmt: skip
    found = proof["comparison"]
    for words, group in (("seen", found["seen"]), ("never seen", found["unseen"]), ("all", found["all"])):
        if group is not None and (proof["trained"] or words == "all"):
            rows.append([f"<b>mean, {words}</b>", "", *_cells(group["average"]), *_cells(group["worst"])])
            if group["auc"] is not None:
                rows.append([f"macro AUC, {words}", "", *_cells(group["auc"]), "", "", ""])
    rows.append(["<b>clean</b>", "", *_cells(found["clean"]), "", "", ""])
    if found["clean_auc"] is not None:
        rows.append(["clean macro AUC", "", *_cells(found["clean_auc"]), "", "", ""])
    how = (
        "<li>average: the mean score of an example's cases; worst: that of its worst case. Both weigh small degrees more, as "
        "the final scores of a run.</li>"
        "<li>Differences are in points with their paired 95 % interval: examples are resampled, both runs at once. Green and "
        "red: the interval is beside 0.</li>"
        + (
            "<li>seen: it was trained on, or a perturbation that makes changes of the same sort.</li>"
            if proof["trained"]
            else ""
        )
    )
    return f'<h2>Every score</h2>{table(head, rows, "scores")}<div class="soft how"><b>How to read this</b><ul>{how}</ul></div>'


def _cells(change: Change) -> list[str]:
    return [percent(change["before"]), percent(change["after"]), _coloured(change)]


def _curves(proof: Proof) -> str:
    cards = []
    for _, names in groups_of(proof):
        for name in names:
            degrees: list[DegreeChange] = proof["comparison"]["dimensions"][name]["degrees"]
            picture = two_curves(f"{name}: average score by degree", degrees, proof["comparison"]["clean"])
            cards.append(card(escape(name), picture))
    return f'<h2>By degree</h2><div class="cards">{"".join(cards)}</div>'


def _examples(folder: Path) -> str:
    """Cases that broke the model before and do not after, and the other way round."""
    pairs = list(
        zip(Folder(folder / "before").evaluation_results(), Folder(folder / "after").evaluation_results(), strict=True)
    )
    mended = list(_differing(pairs))
    broken = list(_differing([(after, before) for before, after in pairs]))
    out = ["<h2>Examples</h2>", "<h3>Broken before, held after</h3>", *(mended or ["<p>None.</p>"])]
    return "".join([*out, "<h3>Held before, broken after</h3>", *(broken or ["<p>None.</p>"])])


def _differing(pairs: list[tuple[EvaluationLine, EvaluationLine]]) -> Iterator[str]:
    """Yields the smallest failure of examples that one run has in a dimension and the other has not, one of a dimension."""
    seen: set[str] = set()
    for one, other in pairs:
        for name, entry in one["dimensions"].items():
            broken = entry["broken_by"]
            right = one["clean"]["score"] == 1 and other["clean"]["score"] == 1
            if name in seen or broken is None or other["dimensions"][name]["broken_by"] is not None or not right:
                continue
            seen.add(name)
            about = (
                f"<b>{escape(name)}</b>, degree {broken['degree']:g}: expected {answer_text(one['target'])}, "
                f"answered {answer_text(broken['answer'])}"
            )
            yield example(about, one["texts"], broken["edits"])
            break
        if len(seen) == SHOWN:
            return


def _about(proof: Proof) -> str:
    parts = ", ".join(f"{name} {part['examples']:,} of {escape(part['name'])}" for name, part in proof["data"].items())
    command = f"<br>To repeat this: <code>{escape(proof['command'])}</code>" if proof["command"] else ""
    trained = f"<br>Trained on: {escape(', '.join(proof['perturbations']))}." if proof["perturbations"] else ""
    return (
        f'<h2>How this was made</h2><p class="soft">Examples: {parts}. {escape(proof["split"])}.{trained}{command}<br>'
        f"scuff {escape(proof['scuff'])}, seed {proof['seed']}; proof.json has every number.</p>"
    )
