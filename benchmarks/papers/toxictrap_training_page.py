"""Writes the tables of docs/results/toxictrap-training.md from toxictrap-training.json beside it and the paper's figures."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from toxictrap_training_evidence import FIGURES, TITLES, Estimate, Kept, columns, from_cells, key_of
from toxictrap_training_plan import EXTEND, KEPT, SHIELDS, TRAP, WAYS, label_of, unseen_for
from zeroe_findings import spearman
from zeroe_page import table

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
PAGE, DATA = RESULTS / "toxictrap-training.md", RESULTS / "toxictrap-training.json"
BEGIN, END = "<!-- toxictrap-training: made by benchmarks/papers/toxictrap_training.py page -->", "<!-- end -->"
TWEETS = "davidson"  # the task that has all trainings
METRICS = ("auc", "ap", "f1", "recall")  # of Tables 7 and 13


# ---- the tables ----


def interval(found: Estimate | None, digits: int = 1, unit: float = 1.0, sign: str = "") -> str:
    if not found:
        return ""
    value, low, high = (format(unit * each, f"{sign}.{digits}f") for each in found)
    return f"{value} [{low}, {high}]"


def performance(kept: Kept) -> str:
    """Tables 7 and 13."""
    rows = []
    for task, found in kept["tasks"].items():
        for training in KEPT[task]:
            paper = FIGURES["Tables 7 and 13"][task].get(training)
            mine = found["models"].get(training)
            if mine:
                pairs = [
                    cell for at, name in enumerate(METRICS)
                    for cell in ("" if paper is None else f"{paper[at]:.3f}", interval(mine["scores"][name], 3))
                ]  # fmt: skip
                rows.append([TITLES[task], training, *pairs, interval(mine["scores"]["accuracy"], 3)])
    head = ["task", "training"]
    for name in ("AUC", "AP", "F1", "recall"):
        head += [f"{name}, paper", "here"]
    return table([*head, "accuracy, here"], rows, 2)


def success(kept: Kept) -> str:
    """Tables 8 and 12."""
    rows = []
    for task, found in kept["tasks"].items():
        for key, paper in FIGURES["Tables 8 and 12"][task].items():
            training, search = key.split(", ")
            mine = found["attacks"].get(key)
            if mine is None or not mine["of"]:
                continue
            rows.append([
                TITLES[task], training, search, f"{paper[0]:.1f}", interval(mine["success"]), f"{mine['of']}", f"{paper[1]:.0f}",
                f"{mine['queries']:.0f}", f"{paper[2]:.1f}", "" if mine["words"] is None else f"{mine['words']:.1f}",
            ])  # fmt: skip
    head = [
        "task",
        "training",
        "search",
        "success %, paper",
        "here",
        "of",
        "queries, paper",
        "here",
        "words %, paper",
        "here",
    ]
    return table(head, rows, 3)


def behind_shields(kept: Kept) -> str:
    """ToxicTrap against models with and without a shield, and what that costs on clean texts."""
    rows = []
    for task, found in kept["tasks"].items():
        for training in ("none", "AT1-unk", "AT1-delete", "AT2"):
            for shield in ("", *SHIELDS):
                cells = [found["attacks"].get(key_of(training, recipe, shield)) for recipe in TRAP]
                clean = found["models"].get(training + (f", {shield}" if shield else ""))
                if not any(cells) and not (clean and shield):
                    continue
                change = (clean or {}).get("differences", {})
                rows.append([
                    TITLES[task], training, shield or "-", *(interval(cell["success"]) if cell else "" for cell in cells),
                    *(interval(change.get(name), 1, 100, "+") for name in ("accuracy", "auc", "f1")),
                ])  # fmt: skip
    head = [
        "task",
        "training",
        "shield",
        "success %, unk",
        "success %, delete",
        "clean accuracy, points",
        "clean AUC",
        "clean F1",
    ]
    return table(head, rows, 3)


def unseen_recipes(kept: Kept) -> str:
    """Success of each recipe against the models that were not trained on it."""
    found = kept["tasks"].get(TWEETS, {"unseen": {}})
    ran = [name for name in columns() if name in found["unseen"]]
    rows = []
    for recipe in (*TRAP, *EXTEND):
        keys = [key_of(unseen_for(recipe), recipe, shield, way) for way, shield in (columns()[name] for name in ran)]
        cells = [found["attacks"].get(key) for key in (key_of("none", recipe), *keys)] if ran else []
        if any(cells[1:]):
            name = f"toxictrap, {recipe}" if recipe in TRAP else recipe
            rows.append([name, *(_with_count(cell) for cell in cells)])
    return table(["recipe, not trained on", "no training", *map(heading, ran)], rows, 1) if rows else "Not run."


def heading(name: str) -> str:
    """What a column of the evidence is: the way of training, and the shield in front."""
    way, shield = columns()[name]
    if way:
        return f"AT2, {WAYS[way].says}"
    return f"AT2 behind `{shield}`" if shield else "AT2, no shield"


def ways(kept: Kept) -> str:
    """The means over all unseen recipes, and what each way costs on clean texts."""
    found = kept["tasks"].get(TWEETS, {"unseen": {}})
    rows = []
    for name in columns():
        if each := found["unseen"].get(name):
            change = _clean(found, name)
            rows.append([
                heading(name), f"{each['recipes']}", *(interval(each[key]) for key in ("before", "after")),
                interval(each["lower"], 0), *(interval(change.get(key), 1, 100, "+") for key in ("accuracy", "auc", "f1")),
                "**yes**" if _reached(found, name) else "no",
            ])  # fmt: skip
    head = [
        "model",
        "recipes",
        "success %, no training",
        "success %",
        "lower by %",
        "accuracy, points",
        "AUC",
        "F1",
        "aim",
    ]
    return table(head, rows, 1) if rows else "Not run."


def _reached(found: Kept, name: str) -> bool:
    """Whether success is lower by three quarters at less than a point of accuracy on clean texts."""
    clean: Estimate | None = _clean(found, name).get("accuracy")
    return clean is not None and clean[0] > -0.01 and bool(found["unseen"][name]["lower"][0] >= 75)


def _clean(found: Kept, name: str) -> Kept:
    """What the clean scores of AT2 changed by."""
    way, shield = columns()[name]
    model = label_of("AT2", way) + (f", {shield}" if shield and not way else "")
    change: Kept = found["models"].get(model, {}).get("differences", {})
    return change


def _with_count(cell: Kept | None) -> str:
    return f"{interval(cell['success'])} of {cell['of']}" if cell and cell["success"] else ""


def harvest(kept: Kept) -> str:
    rows = []
    for task, found in kept["tasks"].items():
        for recipe, row in found["found"].items():
            each = [
                row["found"],
                100 * row["found"] / max(1, row["attacked"]),
                row["queries"] / max(1, row["attacked"]),
            ]
            rows.append([TITLES[task], recipe, *(f"{value:.0f}" for value in (row["attacked"], *each))])
    return table(["task", "recipe", "training texts attacked", "adversarial", "%", "queries each"], rows, 2)


@dataclass(frozen=True)
class Finding:
    """What the paper says, and the test: of the evidence of a task, yes or no and the numbers; None if it was not run."""

    says: str
    where: str
    test: Callable[[Kept, str], tuple[bool, str] | None]
    tasks: tuple[str, ...] = ("davidson",)


def _holds(training: str) -> Callable[[Kept, str], tuple[bool, str] | None]:
    def test(found: Kept, task: str) -> tuple[bool, str] | None:
        change = found["models"].get(training, {}).get("differences", {}).get("auc")
        return None if not change else (change[0] >= -0.005, f"AUC {interval(change, 1, 100, '+')} points")

    return test


def _lowered(training: str, recipe: str, to: float) -> Callable[[Kept, str], tuple[bool, str] | None]:
    def test(found: Kept, task: str) -> tuple[bool, str] | None:
        rows = [found["attacks"].get(key_of(each, recipe)) for each in ("none", training)]
        if not all(row and row["success"] for row in rows):
            return None
        before, after = (row["success"][0] for row in rows if row)
        return after <= to * before, f"{before:.0f} to {after:.0f} %"

    return test


def _difference(key: str) -> Callable[[Kept, str], tuple[bool, str] | None]:
    def test(found: Kept, task: str) -> tuple[bool, str] | None:
        change = found["compared"].get(key)
        return None if not change else (change[0] < 0, f"{interval(change, 1, 1, '+')} points")

    return test


def _more(name: str) -> Callable[[Kept, str], tuple[bool, str] | None]:
    def test(found: Kept, task: str) -> tuple[bool, str] | None:
        rows = [found["attacks"].get(key) for key in ("none, unk", "AT1-unk, unk")]
        if not all(row and row[name] is not None for row in rows):
            return None
        before, after = (row[name] for row in rows if row)
        return after > before, f"{before:.0f} and {after:.0f}"

    return test


def _worse_f1(found: Kept, task: str) -> tuple[bool, str] | None:
    change = found["models"].get("AT2", {}).get("differences", {}).get("f1")
    return None if not change else (change[0] < 0, f"F1 {interval(change, 1, 100, '+')} points")


ALL = ("davidson", "jigsaw", "jigsaw-bl")
FINDINGS = (
    Finding("AT1-unk keeps the clean score (AUC, within half a point)", "3.5, Table 13", _holds("AT1-unk"), ALL),
    Finding("AT1-delete, too", "3.5", _holds("AT1-delete")),
    Finding("AT1-unk lowers success of unk to under a third", "Table 8", _lowered("AT1-unk", "unk", 1 / 3)),
    Finding(
        "on Jigsaw only by a quarter and more", "Table 12", _lowered("AT1-unk", "unk", 0.75), ("jigsaw", "jigsaw-bl")
    ),
    Finding("AT1-unk does slightly better than AT1-delete", "3.5", _difference("AT1-unk, unk - AT1-delete, delete")),
    Finding(
        "AT2, which never saw ToxicTrap, lowers its success to under a third: unk", "3.5", _lowered("AT2", "unk", 1 / 3)
    ),
    Finding("and delete", "3.5", _lowered("AT2", "delete", 1 / 3)),
    Finding("AT2 does better than AT1 against unk", "Table 8", _difference("AT2, unk - AT1-unk, unk")),
    Finding("and against delete", "Table 8", _difference("AT2, delete - AT1-delete, delete")),
    Finding("AT2 does slightly worse on clean texts", "3.5, Table 7", _worse_f1),
    Finding("the attack needs more queries after AT1", "Table 12", _more("queries"), ALL),
    Finding("and changes more words", "Table 12", _more("words"), ALL),
)


def findings(kept: Kept) -> str:
    rows = []
    for finding in FINDINGS:
        for task in finding.tasks:
            result = finding.test(kept["tasks"][task], task) if task in kept["tasks"] else None
            told = "not run" if result is None else f"**{'yes' if result[0] else 'no'}**: {result[1]}"
            rows.append([finding.says, finding.where, TITLES[task], told])
    pairs = [
        (paper[0], mine["success"][0])
        for task, found in kept["tasks"].items() for key, paper in FIGURES["Tables 8 and 12"][task].items()
        if (mine := found["attacks"].get(key)) and mine["success"]
    ]  # fmt: skip
    if len(pairs) > 2:
        rows.append(
            [
                "the order of the rows by success",
                "Table 12",
                "all",
                f"rank correlation {spearman(*zip(*pairs, strict=True)):.2f}, {len(pairs)} rows",
            ]
        )
    return table(["the paper says", "where", "task", "here"], rows, 4)


def aims(kept: Kept) -> str:
    """Whether AT2 plus shield lowers the success of unseen recipes by three quarters at less than one point of clean score."""
    found = kept["tasks"].get(TWEETS, {"unseen": {}})
    whole = [name for name, each in found["unseen"].items() if each["recipes"] == len((*TRAP, *EXTEND))]
    if not whole:
        return "Not run."
    best = max(whole, key=lambda name: found["unseen"][name]["lower"][0])
    each, reached = found["unseen"][best], [name for name in whole if _reached(found, name)]
    line = (
        f"**{'Reached' if reached else 'Missed'}.** AT2 with a shield should lower the success of recipes that it was not "
        f"trained on by three quarters, at less than a point of clean accuracy. Of {len(whole)} models that were attacked by "
        f"all {len((*TRAP, *EXTEND))} recipes *{heading(best)}* does most: from {interval(each['before'])} to "
        f"{interval(each['after'])} %, by {interval(each['lower'], 0)} %, at "
        f"{interval(_clean(found, best).get('accuracy'), 1, 100, '+')} points of accuracy."
    )
    return textwrap.fill(line, 100, break_long_words=False, break_on_hyphens=False) + "\n\n" + ways(kept)


def text_of(kept: Kept) -> str:
    """The generated part of the page."""
    parts = ["## The aim", aims(kept), "## What the paper found", findings(kept),
             "## Success (Tables 8 and 12)", success(kept), "## Clean scores (Tables 7 and 13)", performance(kept),
             "## Recipes that were not trained on", unseen_recipes(kept), "## Behind shields", behind_shields(kept),
             "## Adversarial texts found", harvest(kept)]  # fmt: skip
    return "\n\n".join(parts)


def write(runs: Path | None) -> int:
    """Writes evidence and page. runs: a folder of cells; None: only the evidence is read."""
    kept: Kept = from_cells(runs) if runs else json.loads(DATA.read_text(encoding="utf-8"))
    if runs:
        text = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).replace('},"', '},\n"')
        DATA.write_text(text + "\n", encoding="utf-8")
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{text_of(kept)}\n\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0
