"""Writes comparison.html of a hardening: a model before and after it, on the same cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

from ..runs.folder import Folder
from ..runs.proof import Change, GroupChange, Proof
from ..runs.schema import EvaluationLine
from .charts import dumbbells, two_curves
from .formatting import percent
from .page import Example, answer_text, write_page
from .proof import LOST, WON, groups_of, points, verdict

SHOWN = 5  # examples of each kind
CLASSES = {WON: "won", LOST: "lost"}


def write_comparison(folder: Path, proof: Proof) -> None:
    """Writes the page into the folder of a hardening, from its proof and the results of its two runs."""
    found = proof["comparison"]
    mended, broken = _examples(folder)
    contents = {
        "verdict": "Verdict", "overview": "Before and after", "scores": "Every score", "degrees": "By degree",
        "examples": "Examples", "made": "How this was made",
    }  # fmt: skip
    write_page(
        Folder(folder),
        "comparison.html",
        name="comparison.html",
        title=f"Scuff: {proof['model']} hardened",
        heading=f"{proof['model']}, hardened",
        contents=list(contents.items()),
        proof=proof,
        found=found,
        tiles=_tiles(proof),
        overview=[
            (title or "all perturbations", dumbbells([(name, found["dimensions"][name]["average"]) for name in names]))
            for title, names in groups_of(proof)
        ],
        scores=_scores(proof),
        curves=[
            (name, two_curves(f"{name}: average score by degree", found["dimensions"][name]["degrees"], found["clean"],
                              found["metric"]))
            for _, names in groups_of(proof) for name in names
        ],
        mended=mended,
        broken=broken,
    )  # fmt: skip


def _tiles(proof: Proof) -> list[tuple[str, list[str]]]:
    found, attack = proof["comparison"], proof["attack"]
    groups: list[tuple[str, GroupChange | None]] = [("all perturbations", found["all"])]
    if proof["trained"]:
        groups = [("seen in training", found["seen"]), ("never seen", found["unseen"]), *groups]
    tiles = [_tile(found["clean"], f"clean {found['metric']}")]
    tiles += [_tile(group["average"], words) for words, group in groups if group is not None]
    return [*tiles, *([_tile(attack["success"], f"success of {attack['recipe']}", lower=True)] if attack else [])]


def _tile(change: Change, what: str, *, lower: bool = False) -> tuple[str, list[str]]:
    value = f"{percent(change['before'])} → {percent(change['after'])}"
    return value, [what, _coloured(change, lower=lower), verdict(change, lower_is_better=lower)]


def _coloured(change: Change, *, lower: bool = False) -> str:
    """Returns the difference, in bold and green if it is surely won, red if it is surely lost."""
    kind = CLASSES.get(verdict(change, lower_is_better=lower))
    return Markup('<span class="{}">{}</span>').format(kind, points(change)) if kind else points(change)


def _scores(proof: Proof) -> tuple[list[str], list[list[str]]]:
    columns = [
        "perturbation",
        "trained on",
        "average before",
        "after",
        "difference",
        "worst before",
        "after",
        "difference",
    ]
    found = proof["comparison"]
    rows = []
    for title, names in groups_of(proof):
        for name in names:
            entry = found["dimensions"][name]
            seen = "" if not title else "seen" if entry["seen"] else "never seen"
            rows.append([name, seen, *_cells(entry["average"]), *_cells(entry["worst"])])
    for words, group in (("seen", found["seen"]), ("never seen", found["unseen"]), ("all", found["all"])):
        if group is not None and (proof["trained"] or words == "all"):
            rows.append([f"mean, {words}", "", *_cells(group["average"]), *_cells(group["worst"])])
            if group["auc"] is not None:
                rows.append([f"macro AUC, {words}", "", *_cells(group["auc"]), "", "", ""])
    rows.append(["clean", "", *_cells(found["clean"]), "", "", ""])
    if found["clean_auc"] is not None:
        rows.append(["clean macro AUC", "", *_cells(found["clean_auc"]), "", "", ""])
    return columns, rows


def _cells(change: Change) -> list[str]:
    return [percent(change["before"]), percent(change["after"]), _coloured(change)]


def _examples(folder: Path) -> tuple[list[Example], list[Example]]:
    """Returns cases that broke the model before and do not after, and the other way round."""
    pairs = list(
        zip(Folder(folder / "before").evaluation_results(), Folder(folder / "after").evaluation_results(), strict=True)
    )
    return list(_differing(pairs)), list(_differing([(after, before) for before, after in pairs]))


def _differing(pairs: list[tuple[EvaluationLine, EvaluationLine]]) -> Iterator[Example]:
    """Yields the smallest failure of examples that one run has in a dimension and the other has not, one of a dimension."""
    seen: set[str] = set()
    for one, other in pairs:
        for name, entry in one["dimensions"].items():
            broken = entry["broken_by"]
            right = one["clean"]["score"] == 1 and other["clean"]["score"] == 1
            if name in seen or broken is None or other["dimensions"][name]["broken_by"] is not None or not right:
                continue
            seen.add(name)
            head = Markup("<b>{}</b>, degree {}: expected {}, answered {}").format(
                name, f"{broken['degree']:g}", answer_text(one["target"]), answer_text(broken["answer"])
            )
            yield Example(head, one["texts"], broken["edits"])
            break
        if len(seen) == SHOWN:
            return
