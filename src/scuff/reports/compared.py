"""Compares saved runs: reads them one at a time, and refuses those that differ in more than the model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from ..attacks.comparison import compare_attack_sides, read_attack, turned_attacks
from ..evaluation.comparison import compare_sides
from ..evaluation.statistics import read_side, turned
from ..metrics.paired import holm
from ..metrics.rank import trend
from ..runs.comparable import Differing, differences, finished, other_cases, terms
from ..runs.display import cut, rounded
from ..runs.folder import BadRun, Folder
from ..runs.proof import AttackComparison, Change, EvaluationComparison
from ..runs.schema import AccessName, AttackLine, Estimate, EvaluationLine, Failure, RunFile, Summary
from ..version import __version__

DETAILED = 6  # runs that curves, radars and examples are shown of; of more, the first, the best and the last
TRENDING = 5  # runs from which a trend is told
SHOWN = 5  # examples of each kind that are kept
LONGEST = 40  # letters of a run's name

Order = Literal["given", "date"]
Kind = Literal["evaluate", "attack"]
Pair = EvaluationComparison | AttackComparison
Turned = tuple[EvaluationLine, str, Failure] | AttackLine  # an example that changed sides

METHOD = {
    "evaluate": "Differences are paired by example, with a 95 % interval of 1,000 bootstrap resamples of examples, both runs at "
    "once. p is two-sided, of a randomisation test that swaps the two answers of each example: exact for right and wrong answers "
    "(McNemar's test), else of 10,000 swaps. Over the dimensions of a comparison p is corrected by Holm's method; so it is, of "
    "the overall scores, over the runs. Won and lost: the interval is beside 0 and p below 0.05.",
    "attack": "Differences are paired by example, with a 95 % interval of 1,000 bootstrap resamples of examples, both runs at "
    "once. p is two-sided: McNemar's exact test of the examples that were attacked in both runs; of queries, a randomisation "
    "test. With several runs it is corrected by Holm's method. Won and lost: the interval is beside 0 and p below 0.05. Each "
    "attack searches anew: an attacker adapts to the model.",
}


class Final(TypedDict):
    """The final scores of a dimension."""

    access: AccessName
    average: Estimate
    worst: Estimate


class RunFacts(TypedDict):
    """A run: its scores with their own intervals. scores: average and worst of an evaluation, success and after of an attack."""

    name: str
    folder: str
    model: str
    shield: str | None
    data: str
    examples: int
    scuff: str
    clean: Estimate
    scores: dict[str, Estimate]
    queries: float | None  # mean number, of an attack
    dimensions: dict[str, Final]


class Trend(TypedDict):
    """How a score moves with the order of the runs: Spearman's rank correlation with it, and p."""

    score: str
    correlation: float | None
    p: float | None
    words: str


class Compared(TypedDict):
    """Everything that a comparison found. changes: of each run but the first, from the first."""

    scuff: str
    kind: Kind
    metric: str
    runs: list[RunFacts]
    differs: list[str]
    changes: list[Pair]
    trend: Trend | None
    method: str


@dataclass(frozen=True, eq=False)
class Material:
    """A comparison with what a page shows beside its numbers. detailed: places of the runs that are shown in detail. mended,
    broken: examples of each run but the first that changed sides, by its place. named: the user has named the runs.
    """

    content: Compared
    folders: list[Folder]
    detailed: list[int]
    mended: dict[int, list[Turned]]
    broken: dict[int, list[Turned]]
    named: bool = False

    @property
    def summaries(self) -> list[Summary]:
        """The summaries of the runs that are shown in detail."""
        return [self.folders[at].summary() for at in self.detailed]


def compare_saved(
    runs: Sequence[str | Path], *, names: Sequence[str] | None = None, anyway: bool = False, order: Order = "given"
) -> Material:
    """Compares runs with the first of them. Keeps statistics of the examples of two runs at most, however many there are.

    order: date puts the oldest run.json first. Raises Differing if the runs differ in more than the model, unless `anyway`, and
    BadRun if a folder is no finished run, or if they are of different kinds.
    """
    folders, given = _folders(runs, names, order)
    found, facts, kinds, shields = [], [], [], []
    for folder in folders:
        finished(folder)
        run, summary = folder.run(), folder.summary()
        found.append(terms(run, summary))
        facts.append(_facts(folder, run, summary))
        kinds.append("attack" if "kind" in summary else "evaluate")
        asked = run["config"].get("shield")  # a short name, where the spec is that of all its parts
        shields.append(asked if isinstance(asked, str) else facts[-1]["shield"] or "")
    if len(set(kinds)) > 1:
        other = kinds.index("attack" if kinds[0] == "evaluate" else "evaluate")
        raise BadRun(
            f"expected runs of one kind, got one of `scuff {kinds[0]}` ({folders[0].path}) and one of `scuff {kinds[other]}` "
            f"({folders[other].path})"
        )
    for fact, name in zip(facts, given or _names(facts, shields), strict=True):
        fact["name"] = name
    labels = [fact["name"] for fact in facts]
    differs = differences(labels, found) or other_cases(labels, folders)
    if differs and not anyway:
        raise Differing(differs)
    kind: Kind = "attack" if kinds[0] == "attack" else "evaluate"
    best = _best(facts, kind)
    some = range(len(facts)) if len(facts) <= DETAILED else sorted({0, best, len(facts) - 1})
    material = Material(_empty(kind, facts, differs), folders, list(some), {}, {}, names is not None)
    return _changed(material)


def hardened_material(folder: Path, change: EvaluationComparison) -> Material:
    """Returns the comparison of a hardening, whose numbers are known: the runs `before` and `after` in its folder."""
    folders = [Folder(folder / name) for name in ("before", "after")]
    facts = [_facts(each, each.run(), each.summary()) for each in folders]
    for fact, each in zip(facts, folders, strict=True):
        fact["name"] = fact["folder"] = each.path.name
    content: Compared = {**_empty("evaluate", facts, []), "metric": change["metric"], "changes": [change]}
    sides = [read_side(each) for each in folders]
    material = Material(content, folders, [0, 1], {}, {})
    material.mended[1] = list(turned(sides[0], sides[1], SHOWN))
    material.broken[1] = list(turned(sides[1], sides[0], SHOWN))
    return material


def _empty(kind: Kind, facts: list[RunFacts], differs: list[str]) -> Compared:
    return {
        "scuff": __version__, "kind": kind, "metric": "accuracy", "runs": facts, "differs": differs, "changes": [],
        "trend": _trend(facts, kind), "method": METHOD[kind],
    }  # fmt: skip


def _folders(
    runs: Sequence[str | Path], names: Sequence[str] | None, order: Order
) -> tuple[list[Folder], list[str] | None]:
    """Returns the folders in order with the names that were given for them. Raises ValueError if there are too few, or twice."""
    if len(runs) < 2:
        raise ValueError(f"expected two runs or more to compare, got {len(runs)}")
    folders = [Folder(run) for run in runs]
    for folder in folders:
        if not folder.started and all((folder.path / part / "run.json").is_file() for part in ("before", "after")):
            raise BadRun(
                f"{folder.path}: expected a run, got a folder of `scuff harden`: name {folder.path / 'before'} and "
                f"{folder.path / 'after'}"
            )
    places = Counter(folder.path.resolve() for folder in folders)
    if twice := [folder for folder in folders if places[folder.path.resolve()] > 1]:
        raise ValueError(f"expected each run once, got {twice[0].path} {places[twice[0].path.resolve()]} times")
    if names is not None and (len(names) != len(folders) or len(set(names)) < len(names)):
        raise ValueError(f"expected {len(folders)} different names, one for each run, got {', '.join(names) or 'none'}")
    if order == "date":
        times = [folder.modified("run.json") if folder.started else 0.0 for folder in folders]
        places_in_time = sorted(range(len(folders)), key=lambda at: (times[at], at))
        return [folders[at] for at in places_in_time], [names[at] for at in places_in_time] if names else None
    return folders, list(names) if names is not None else None


def _names(facts: list[RunFacts], shields: Sequence[str]) -> list[str]:
    """Returns the shortest names that tell the runs apart: of models, with shields, of folders; else the paths."""
    models = [model_name(fact) for fact in facts]
    shielded = [f"{model} + {shield}" if shield else model for model, shield in zip(models, shields, strict=True)]
    folders = [Path(fact["folder"]).name for fact in facts]
    for names in (models, shielded, folders):
        short = [cut(name, LONGEST) for name in names]
        if len(set(short)) == len(short) and all(short):
            return short
    return [fact["folder"] for fact in facts]


def model_name(fact: RunFacts) -> str:
    """Returns the name of a model without its shield and, of a path, without the folders."""
    bare = fact["model"].removesuffix(f" shielded by {fact['shield']}")
    return Path(bare).name or bare


def _facts(folder: Folder, run: RunFile, summary: Summary) -> RunFacts:
    shield = summary.get("shield")
    facts: RunFacts = {
        "name": "", "folder": str(folder.path), "model": summary["model"], "shield": shield["spec"] if shield else None,
        "data": summary["data"]["name"], "examples": 0, "scuff": run["versions"].get("scuff", ""), "clean": _bare(None),
        "scores": {}, "queries": None, "dimensions": {},
    }  # fmt: skip
    if "kind" in summary:
        facts["examples"], facts["clean"] = summary["examples"], summary["clean"]
        facts["scores"] = {"success": _bare(summary["success"]), "after": summary["after"]}
        facts["queries"] = summary["queries"]["mean"]
        return facts
    facts["examples"], facts["clean"] = summary["clean"]["examples"], summary["clean"]["score"]
    facts["scores"] = {name: _bare(summary["overall"][name]) for name in ("average", "worst")}
    facts["dimensions"] = {
        name: {"access": content["setting"], "average": content["average"], "worst": content["worst"]}
        for name, content in summary["dimensions"].items()
    }
    return facts


def _bare(entry: Estimate | None) -> Estimate:
    return (
        {"value": entry["value"], "interval": entry["interval"]} if entry else {"value": None, "interval": [None, None]}
    )


def _best(facts: Sequence[RunFacts], kind: Kind) -> int:
    """Returns the place of the most robust run: the highest average, or the lowest success; the first of equal ones."""
    values = [fact["scores"]["average" if kind == "evaluate" else "success"]["value"] for fact in facts]
    sign = 1 if kind == "evaluate" else -1
    return max(range(len(values)), key=lambda at: (-math.inf if values[at] is None else sign * values[at], -at))  # type: ignore[operator]


def _changed(material: Material) -> Material:
    """Compares every run with the first, one after the other, and keeps a few examples that changed sides."""
    content, folders = material.content, material.folders
    read, compare, turn = _tools(content["kind"])
    first = read(folders[0])
    for at, folder in enumerate(folders[1:], 1):
        other = read(folder)
        content["changes"].append(compare(first, other))
        if at in material.detailed:
            material.mended[at] = list(turn(first, other, SHOWN))
            material.broken[at] = list(turn(other, first, SHOWN))
    change = content["changes"][0]
    content["metric"] = "accuracy" if "recipe" in change else change["metric"]
    _correct(content)
    return material


def _tools(kind: Kind) -> tuple[Callable[[Folder], Any], Callable[..., Pair], Callable[..., Iterator[Turned]]]:
    """Returns what reads a run, what compares two, and what finds examples that changed sides."""
    if kind == "attack":
        return read_attack, compare_attack_sides, turned_attacks
    return read_side, compare_sides, turned


def headline(change: Pair) -> dict[str, Change]:
    """Returns the overall changes of a pair, by name: the first is the one that verdicts are about."""
    if "recipe" in change:
        return {"success": change["success"], "held": change["held"], "queries": change["queries"]}
    return {"average": change["all"]["average"], "worst": change["all"]["worst"], "clean": change["clean"]}


def _correct(content: Compared) -> None:
    """Corrects p of the overall changes for the number of runs that are compared with the first."""
    lines = [headline(change) for change in content["changes"]]
    for name in lines[0]:
        for line, p in zip(lines, holm([line[name]["p"] for line in lines]), strict=True):
            line[name]["p"] = None if p is None else rounded(p)


def _trend(facts: Sequence[RunFacts], kind: Kind) -> Trend | None:
    """Returns how the overall score moves over the runs; None of few runs, or if one has none."""
    score = "average" if kind == "evaluate" else "success"
    values = [fact["scores"][score]["value"] for fact in facts]
    known = [value for value in values if value is not None]
    if len(known) < TRENDING or len(known) < len(values):
        return None
    correlation, p = trend(known)
    words = "shows no clear trend"
    if math.isfinite(p) and p < 0.05:
        words = "rises" if correlation > 0 else "falls"
    return {"score": score, "correlation": rounded(correlation), "p": rounded(p), "words": words}
