"""The numbers of docs/results/zeroe-training.md: the papers' tables, and ours with intervals from the answers of the runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from zeroe_training import frequent
from zeroe_training_findings import FINDINGS, Scores, Trained

from scuff.metrics.classification import Auc
from scuff.metrics.interval import percentile_interval, resamples
from scuff.perturbations import LEVELS

FIGURES = Path(__file__).parent / "figures"
TITLES = {"pos": "POS", "nli": "NLI", "tc": "TC"}
WAYS = {"1-1": "1-1", "loo": "leave-one-out", "1-1 others": "1-1, other perturbations", "plm": "PLM", "pp": "PP"}
EXTRA = {"wide": "leave-one-out, four more perturbations", "long": "leave-one-out, three times as long"}
DRAWS = 200
ALL = ("none", *LEVELS)
SHORT = {
    "full-shuffle": "FS", "inner-shuffle": "IS", "intrude": "INT", "disemvowel": "DIS", "truncate": "TRUN", "segment": "SEG",
    "keyboard": "KEY", "natural": "NAT", "phonetic": "PH", "visual": "VIS",
}  # fmt: skip
Kept = dict[str, Any]


# ---- the papers' tables ----


@cache
def paper() -> dict[str, Trained]:
    """The papers' scores, as shares."""
    before = json.loads((FIGURES / "zeroe.json").read_text(encoding="utf-8"))
    told = json.loads((FIGURES / "zeroe_training.json").read_text(encoding="utf-8"))
    one_one = {"pos": "table 8, POS: 1-1", "nli": "table 9, NLI: 1-1", "tc": "table 10, TC: 1-1"}
    out = {}
    for at, task in enumerate(TITLES):
        unit = 1 if task == "tc" else 100
        names = [name for name in SHORT if before["table 6"][name]["low"][at] is not None]
        rows = {
            "loo": told["table 7: leave-one-out"],
            **{
                method: {name: {"none": found["none"], **found[name]} for name in names}
                for method, found in (("plm", told["thesis table A.8: PLM"]), ("pp", told["thesis table A.7: PP"]))
            },
        }
        own = told[one_one[task]]
        trained = {
            name: {
                tested: {
                    "none": own["clean"][column] / unit,
                    **{level: own["test"][tested][level][column] / unit for level in LEVELS},
                }
                for tested in names
            }
            for column, name in enumerate(own["train"]) if own["clean"][column] is not None
        }  # fmt: skip
        out[task] = Trained(
            before["clean"][task] / unit, before["worst"][task] / unit,
            {name: {level: before["table 6"][name][level][at] / unit for level in LEVELS} for name in names},
            {
                method: {name: {level: found[name][level][at] / unit for level in ALL} for name in names}
                for method, found in rows.items()
            },
            trained,
        )  # fmt: skip
    return out


def said() -> dict[str, list[float]]:
    told = json.loads((FIGURES / "zeroe_training.json").read_text(encoding="utf-8"))
    found: dict[str, list[float]] = told["table 3 and thesis 5.2, mean points won"]
    return found


# ---- ours, from the cells ----


class Answers:
    """The rows of all cells of a task: scores of the whole test part, and of resamples of it."""

    def __init__(self, task: str, folder: Path) -> None:
        self.task = task
        self.files = {path.stem: dict(np.load(path)) for path in sorted((folder / "rows").glob(f"{task}--*.npz"))}
        self.truth = self.files[f"{task}--none"]["truth"]
        self.draws = resamples(len(self.truth), 0, DRAWS).astype(np.float64)

    def scores(self, rows: Any, truth: Any) -> tuple[float, Any]:
        """The score and its resamples. Shields are tested on the first examples only, for which other draws are made."""
        draws = self.draws if len(truth) == len(self.truth) else resamples(len(truth), 0, DRAWS).astype(np.float64)
        if self.task == "tc":
            kept = frequent(truth)
            found = Auc().statistics(rows[:, kept].astype(np.float64), truth[:, kept].astype(bool), ())
            return float(Auc().score(found.sum(0))), np.asarray(Auc().score(draws @ found))
        known = truth.astype(np.float64)
        return float(rows.sum() / known.sum()), (draws @ rows.astype(np.float64)) / (draws @ known)

    @cached_property
    def cells(self) -> dict[str, dict[str, tuple[float, Any]]]:
        """All scores of the task by cell and what was tested."""
        return {
            name: {
                key: self.scores(each, rows.get("truth", self.truth)) for key, each in rows.items() if key != "truth"
            }
            for name, rows in self.files.items()
        }


def from_cells(folder: Path) -> Kept:
    """The evidence: scores, gains and their means with intervals by a bootstrap over examples, and support of the findings."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    done = sorted(path.stem for path in (folder / "rows").glob("*.npz"))
    kept: Kept = {"about": about, "cells": done, "tasks": {}, "findings": {}, "seconds": seconds(folder)}
    tables: dict[str, list[Trained]] = {}
    for task in TITLES:
        if (folder / "rows" / f"{task}--none.npz").is_file():
            answers = Answers(task, folder)
            tables[task] = [trained(answers, about["worst"][task], draw) for draw in range(-1, DRAWS)]
            kept["tasks"][task] = evidence(answers, tables[task])
    for finding in FINDINGS:
        for task in finding.tasks:
            if task in tables:
                found = [finding.test({task: each}, task) for each in tables[task]]
                if found[0] is not None:
                    support = float(np.mean([each is not None and each[0] for each in found[1:]]))
                    kept["findings"][f"{task}: {finding.says}"] = [*found[0], round(support, 3)]
    return kept


def seconds(folder: Path) -> dict[str, Any]:
    """How long the cells of each kind took, and examples per second of training."""
    out: dict[str, list[Any]] = {}
    for path in sorted((folder / "cells").glob("*.json")):
        cell = json.loads(path.read_text(encoding="utf-8"))
        key = " ".join(filter(None, (cell["cell"]["task"] or "pretraining", cell["cell"]["method"])))
        out.setdefault(key, []).append((cell["seconds"], cell.get("examples_per_second"), cell.get("epochs")))
    return {
        key: {
            "cells": len(each), "seconds": round(float(np.mean([one[0] for one in each])), 1),
            "examples per second": round(float(np.mean([one[1] for one in each]))) if each[0][1] else None,
        }
        for key, each in out.items()
    }  # fmt: skip


def trained(answers: Answers, worst: float, draw: int) -> Trained:
    """The tables of a task; draw: of a resample, -1 for all examples."""

    def value(found: tuple[float, Any]) -> float:
        return found[0] if draw < 0 else float(found[1][draw])

    def scores(cell: dict[str, tuple[float, Any]], name: str) -> dict[str, float]:
        return {"none": value(cell["clean"])} | {level: value(cell[f"{name}.{level}"]) for level in LEVELS}

    task, cells = answers.task, answers.cells
    names = [name for name in SHORT if task != "pos" or name != "segment"]
    base = cells[f"{task}--none"]
    after: dict[str, Scores] = {
        method: {
            name: scores(cells[found], name) for name in names
            if (found := f"{task}--{method}--{name}" if method in ("loo", *EXTRA) else f"{task}--{method}") in cells
        }
        for method in ("loo", "plm", "pp", *EXTRA)
    }  # fmt: skip
    one_one = {
        alpha: {name: scores(cells[f"{task}--1-1--{alpha}"], name) for name in names}
        for alpha in names if f"{task}--1-1--{alpha}" in cells
    }  # fmt: skip
    before = {name: {level: value(base[f"{name}.{level}"]) for level in LEVELS} for name in names}
    return Trained(value(base["clean"]), worst, before, {key: rows for key, rows in after.items() if rows}, one_one)


def evidence(answers: Answers, tables: Sequence[Trained]) -> Kept:
    whole, again = tables[0], tables[1:]
    methods = [method for method in (*WAYS, *EXTRA) if not math.isnan(whole.mean(method))]
    return {
        "clean": estimate(whole.clean, [each.clean for each in again]), "worst": round(whole.worst, 4),
        "tested": len(answers.truth),
        "before": rounded(whole.before), "after": {method: rounded(rows) for method, rows in whole.after.items()},
        "1-1": {alpha: rounded(rows) for alpha, rows in whole.one_one.items()},
        "mean": {method: estimate(whole.mean(method), [each.mean(method) for each in again]) for method in methods},
        "share": {
            method: estimate(whole.share(method), [each.share(method) for each in again])
            for method in methods if method != "1-1 others"
        },
        "clean won": {
            method: estimate(clean_gain(whole, method), [clean_gain(each, method) for each in again])
            for method in methods if method != "1-1 others"
        },
        "most": estimate(lost(whole), [lost(each) for each in again]),
        "gains": {
            method: {
                name: {
                    level: estimate(whole.gain(method, name, level), [each.gain(method, name, level) for each in again])
                    for level in ALL
                }
                for name in whole.rows(method)
            }
            for method in methods if method != "1-1 others"
        },
        "groups": whole.groups() if len(whole.one_one) > 1 else [],
        "shields": shields(answers), "seeds": seeds(answers, whole),
    }  # fmt: skip


def clean_gain(one: Trained, method: str) -> float:
    return float(np.mean([one.gain(method, name, "none") for name in one.rows(method)]))


def lost(one: Trained) -> float:
    """What the perturbations take on average: the most that mending could win without becoming better on clean text."""
    return 1 - float(np.mean([score for rows in one.before.values() for score in rows.values()])) / one.clean


def shields(answers: Answers) -> dict[str, Any]:
    """Mean gains of a shield alone and of leave-one-out with it, over the perturbations that were run, on the same examples."""
    out: dict[str, Any] = {}
    for shield in ("fast", "context"):
        found = {
            name: answers.cells[cell] for name in SHORT
            if (cell := f"{answers.task}--shield--{name}--{shield}") in answers.files
        }  # fmt: skip
        for way in ("none.shield", "loo.alone", "loo.shield") if found else ():
            values = [_mean_gain(found.values(), way, draw) for draw in range(-1, DRAWS)]
            clean = [_mean_gain(found.values(), way, draw, ("clean",)) for draw in range(-1, DRAWS)]
            examples = len(answers.files[f"{answers.task}--shield--{next(iter(found))}--{shield}"]["truth"])
            out.setdefault(shield, {"perturbations": list(found), "tested": examples})[way] = {
                "mean": estimate(values[0], values[1:]), "clean": estimate(clean[0], clean[1:]),
            }  # fmt: skip
    return out


def _mean_gain(cells: Iterable[Any], way: str, draw: int, levels: Sequence[str] = tuple(LEVELS)) -> float:
    def value(found: tuple[float, Any]) -> float:
        return found[0] if draw < 0 else float(found[1][draw])

    gains = [
        (value(cell[f"{way}.{level}"]) - value(cell[f"none.alone.{level}"])) / value(cell["none.alone.clean"])
        for cell in cells for level in levels
    ]  # fmt: skip
    return float(np.mean(gains))


def seeds(answers: Answers, whole: Trained) -> dict[str, Any]:
    """Mean gains of models with another seed, against the first model without mending: how much chance is in a training."""
    out = {}
    for method in ("loo", "1-1"):
        found = {
            name: answers.cells[cell] for name in SHORT
            if (cell := f"{answers.task}--{method}--{name}--seed-1") in answers.files and name in whole.rows(method)
        }  # fmt: skip
        if found:
            pairs = [
                np.array([cell[f"{name}.{level}"][0], whole.rows(method)[name][level]]) - whole.before[name][level]
                for name, cell in found.items() for level in LEVELS
            ]  # fmt: skip
            second, first = np.mean(pairs, 0) / whole.clean
            out[method] = {"cells": len(found), "first": round(float(first), 4), "second": round(float(second), 4)}
    return out


def estimate(value: float, again: Sequence[float]) -> list[float]:
    low, high = percentile_interval(np.array(again))
    return [round(float(each), 4) for each in (value, min(low, value), max(high, value))]


def rounded(rows: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {name: {level: round(float(score), 4) for level, score in levels.items()} for name, levels in rows.items()}


def ours(kept: Kept) -> dict[str, Trained]:
    """Our tables, from the evidence."""
    return {
        task: Trained(found["clean"][0], found["worst"], found["before"], found["after"], found["1-1"])
        for task, found in kept["tasks"].items()
    }
