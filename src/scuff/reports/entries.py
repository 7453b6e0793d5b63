"""What trackers of experiments are told about a run (`--log`): its settings, and from its files its scores and report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..runs.folder import Folder
from ..runs.proof import Change, GroupChange, Proof
from ..runs.schema import AttackSummary, Cell, Estimate, EvaluationSummary, Pair, Timing
from ..runs.settings import BY_THE_WAY
from ..runs.trackers import Beginning, Outcome, finite
from ..stores import StorePath
from .formatting import alone

Numbers = dict[str, float | None]
# settings that do not decide the result, or may hold a secret
UNTOLD = {*BY_THE_WAY, "cache", "options"}
FILES = ("report.html", "summary.json")


def begun(kind: str, model: str, data: str, settings: Any, options: Mapping[str, Any] | None) -> Beginning:
    """Returns what is known when a run begins. settings: a dataclass. options: of the model, without any that may be secret."""
    params = {"model": model, "data": data, **chosen(settings), **({"options": options} if options else {})}
    return Beginning(kind, f"{model} on {data}", params)


def chosen(settings: Any) -> dict[str, Any]:
    """Returns the settings that have a value, defaults too, in plain types."""
    found = ((each.name, getattr(settings, each.name)) for each in fields(settings) if each.name not in UNTOLD)
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in found
        if isinstance(value, str | int | float | tuple | dict) and value not in ((), {})
    }


def ended(folder: Folder) -> Outcome:
    """Returns what came of an evaluation or an attack."""
    run, summary = folder.run(), folder.summary()
    found = attack_metrics(summary, folder.timings()) if "kind" in summary else evaluation_metrics(summary)
    facts = {"signature": run["signature"], "scuff": run["versions"]["scuff"]}
    return Outcome(finite(found), facts, _files(folder.path, FILES))


def _files(folder: Path | StorePath, names: tuple[str, ...]) -> list[Path | StorePath]:
    return [folder.absolute() / name for name in names if (folder / name).is_file()]


def evaluation_metrics(summary: EvaluationSummary) -> Numbers:
    """Returns every score with the ends of its interval, by name: clean/score, overall/average, dimension/NAME/worst_low, ..."""
    clean = summary["clean"]
    found = _ends("clean/score", clean["score"])
    if "auc" in clean:
        found |= _ends("clean/auc", clean["auc"])
    found |= _pair("overall", summary["overall"])
    left = {entry["dimension"]: entry["left"] for entry in summary["harm"]}
    for name, content in summary["dimensions"].items():
        place = f"dimension/{name.replace('/', '_')}"
        found |= {**_pair(place, content), f"{place}/left": left.get(name)}
        for cell in content["degrees"]:
            found |= _cell(f"{place}/at {cell['degree']:g}", cell)
    return {**found, "cases": summary["queries"]["cases"], "answered": summary["answered"]}


def _pair(place: str, pair: Pair) -> Numbers:
    return {
        **_ends(f"{place}/average", pair["average"]),
        **_ends(f"{place}/worst", pair["worst"]),
        **_ends(f"{place}/worst_alone", alone(pair)),
    }


def _cell(place: str, cell: Cell) -> Numbers:
    found = {**_ends(f"{place}/average", cell["average"]), **_ends(f"{place}/worst", cell["worst"])}
    return found | (_ends(f"{place}/auc", cell["auc"]) if "auc" in cell else {})


def _ends(name: str, entry: Estimate) -> Numbers:
    low, high = entry["interval"]
    return {name: entry["value"], f"{name}_low": low, f"{name}_high": high}


def attack_metrics(summary: AttackSummary, timings: list[Timing]) -> Numbers:
    """Returns success, scores, costs and quality of an attack, by name."""
    queries = summary["queries"]
    found = {
        **_ends("attack/success", summary["success"]), **_ends("attack/valid", summary["valid"]),
        **_ends("clean/score", summary["clean"]), **_ends("after/score", summary["after"]),
        "attack/attacked": summary["success"]["of"], "queries/mean": queries["mean"], "queries/median": queries["median"],
        "queries/total": queries["total"], "quality/changed": summary["changed"]["mean"],
        "quality/similarity": summary["similarity"]["mean"], "seconds": sum(entry["seconds"] for entry in timings),
    }  # fmt: skip
    if "tradeoff" in summary:
        halves = summary["tradeoff"]
        for name in ("source", "before", "after", "decrease", "success", "succeeded"):
            found |= _ends(f"tradeoff/{name}", halves[name])
    return found


def hardened(proof: Proof, folder: Path) -> Outcome:
    """Returns what came of a hardening: each score before and after, and the difference with its interval."""
    found = proof["comparison"]
    numbers = _change("clean/score", found["clean"])
    groups: Mapping[str, GroupChange | None] = {"all": found["all"], "seen": found["seen"], "unseen": found["unseen"]}
    for name, group in groups.items():
        if group is not None:
            numbers |= {**_change(f"{name}/average", group["average"]), **_change(f"{name}/worst", group["worst"])}
    for name, each in found["dimensions"].items():
        numbers |= _change(f"dimension/{name.replace('/', '_')}/average", each["average"])
    if proof["attack"] is not None:
        numbers |= _change("attack/success", proof["attack"]["success"])
    facts = {"verdict": proof["words"][0] if proof["words"] else "", "scuff": proof["scuff"]}
    return Outcome(finite(numbers), facts, _files(folder, ("comparison.html", "proof.json")))


def _change(name: str, change: Change) -> Numbers:
    low, high = change["interval"]
    return {
        f"{name}_before": change["before"],
        f"{name}_after": change["after"],
        f"{name}_difference": change["difference"],
        f"{name}_difference_low": low,
        f"{name}_difference_high": high,
    }
