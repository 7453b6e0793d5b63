"""The numbers of docs/results/toxictrap-training.md, from the cells of the runs, with intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from toxictrap_training import metrics_of
from toxictrap_training_plan import EXTEND, SHIELDS, TRAP, WAYS, label_of, unseen_for

from scuff.metrics.interval import percentile_interval, resamples, wilson

FIGURES = json.loads((Path(__file__).parent / "figures" / "toxictrap_training.json").read_text(encoding="utf-8"))
TITLES: dict[str, str] = FIGURES["tasks"]
DRAWS = 200
Kept = dict[str, Any]
Estimate = list[float]  # value, low, high


def from_cells(folder: Path) -> Kept:
    """Numbers of all cells, parts of a row together, with intervals."""
    cells = [
        {"name": path.stem, **json.loads(path.read_text(encoding="utf-8"))}
        for path in sorted((folder / "cells").glob("*.json"))
    ]
    kept: Kept = {"about": json.loads((folder / "about.json").read_text(encoding="utf-8")), "tasks": {}}
    for task in TITLES:
        mine = [cell for cell in cells if cell["cell"]["task"] == task]
        if mine:
            attacks = gathered(mine)
            kept["tasks"][task] = {
                "models": models(folder, task, mine), "found": found(mine),
                "attacks": {key: row_of(each) for key, each in attacks.items()},
                "unseen": unseen(attacks), "compared": compared(attacks),
                "seconds": {
                    kind: round(float(np.mean(each)), 1)
                    for kind in ("model", "found", "attack", "score")
                    if (each := [cell["seconds"] for cell in mine if cell["cell"]["kind"] == kind])
                },
            }  # fmt: skip
    return kept


def key_of(training: str, recipe: str, shield: str = "", way: str = "") -> str:
    return f"{label_of(training, way)}, {recipe}" + (f", {shield}" if shield else "")


def columns() -> dict[str, tuple[str, str]]:
    """The models that are attacked by recipes that they were not trained on: way and shield, by their names in the evidence."""
    plain = {shield or "alone": ("", shield) for shield in ("", *SHIELDS)}
    return plain | {f"+{way}": (way, about.shield) for way, about in WAYS.items() if way}


def gathered(cells: Iterable[Kept]) -> dict[str, Kept]:
    """The attacked texts of each row, of all its parts."""
    out: dict[str, Kept] = {}
    for cell in sorted(cells, key=lambda each: each["cell"]["part"] or 0):
        about = cell["cell"]
        if about["kind"] == "attack":
            row = out.setdefault(
                key_of(about["training"], about["recipe"], about["shield"], about["way"]),
                {"examples": 0, "id": [], "won": [], "queries": [], "words": []},
            )
            row["examples"] += cell["examples"]
            for name in ("id", "won", "queries", "words"):
                row[name] += cell[name]
    return out


def row_of(attacked: Kept) -> Kept:
    """Success in % with Wilson's interval, queries, words changed in % (of successes)."""
    won, words = attacked["won"], [share for share in attacked["words"] if share is not None]
    rate = float(np.mean(won)) if won else float("nan")
    return {
        "success": [round(100 * each, 2) for each in (rate, *wilson(rate, len(won)))] if won else None, "of": len(won),
        "texts": attacked["examples"], "queries": round(float(np.mean(attacked["queries"])), 2) if won else None,
        "words": round(100 * float(np.mean(words)), 2) if words else None,
    }  # fmt: skip


def models(folder: Path, task: str, cells: Iterable[Kept]) -> dict[str, Kept]:
    """The clean scores of each training, alone and behind shields, and their differences to the model without training."""
    out: dict[str, Kept] = {}
    rows = {}
    for cell in cells:
        about = cell["cell"]
        if about["kind"] in ("model", "score"):
            key = label_of(about["training"], about["way"]) + (f", {about['shield']}" if about["shield"] else "")
            with np.load(folder / "rows" / f"{cell['name']}.npz") as held:
                rows[key] = held["scores"].astype(np.float64), held["truth"]
            out[key] = {
                "tested": cell["tested"],
                **{name: cell[name] for name in ("adversarial", "training", "epoch") if name in cell},
            }
    draws = {size: resamples(size, 0, DRAWS) for size in {len(truth) for _, truth in rows.values()}}
    again = {key: resampled(task, *each, draws[len(each[1])]) for key, each in rows.items()}
    for key, scores in again.items():
        out[key]["scores"] = {name: estimate(values) for name, values in scores.items()}
        if "none" in again:
            out[key]["differences"] = {name: estimate(values - again["none"][name]) for name, values in scores.items()}
    return out


def resampled(task: str, scores: Any, truth: Any, draws: Any) -> dict[str, Any]:
    """Each metric on all texts, then on resamples of them."""
    whole = [metrics_of(task, scores, truth)]
    for draw in draws:
        at = np.repeat(np.arange(len(truth)), draw.astype(int))
        whole.append(metrics_of(task, scores[at], truth[at]))
    return {name: np.array([each[name] for each in whole]) for name in whole[0]}


def estimate(values: Any) -> Estimate:
    low, high = percentile_interval(values[1:])
    return [round(float(each), 4) for each in (values[0], min(low, values[0]), max(high, values[0]))]


def found(cells: Iterable[Kept]) -> dict[str, Kept]:
    """What each recipe found in the training texts, also against models that were trained on the first finds (again)."""
    out: dict[str, Kept] = {}
    for cell in cells:
        about = cell["cell"]
        if about["kind"] == "found":
            key = about["recipe"] + (", again" if about["way"] else "")
            row = out.setdefault(key, {"found": 0, "attacked": 0, "queries": 0, "seconds": 0.0})
            for name in row:
                row[name] = round(row[name] + cell[name], 1)
    return out


def unseen(attacks: dict[str, Kept]) -> dict[str, Kept]:
    """Success of recipes that a model was not trained on, all together, and what is left of that without training.

    AT2 is attacked by ToxicTrap (unk, delete), AT2-without-R by R. Only recipes that were run both
    ways count.
    """
    out: dict[str, Kept] = {}
    for name, (way, shield) in columns().items():
        pairs = []
        for recipe in (*TRAP, *EXTEND):
            after = attacks.get(key_of(unseen_for(recipe), recipe, shield, way))
            before = attacks.get(key_of("none", recipe))
            if before and after and before["won"] and after["won"]:
                pairs.append((before, after))
        if pairs:
            out[name] = {"recipes": len(pairs), **pooled(pairs)}
    return out


def pooled(pairs: Sequence[tuple[Kept, Kept]]) -> Kept:
    """Success before and after, the mean over recipes, and how much lower it is, in %; resampled over texts."""
    values = []
    for draw in range(-1, DRAWS):
        means = []
        for number, pair in enumerate(pairs):
            rates = []
            for side, row in enumerate(pair):
                won = np.array(row["won"], float)
                chosen = (
                    won
                    if draw < 0
                    else won[np.random.default_rng([draw, number, side]).integers(0, len(won), len(won))]
                )
                rates.append(chosen.mean() if len(won) else np.nan)
            means.append(rates)
        before, after = np.mean(means, 0)
        values.append((100 * before, 100 * after, 100 * (1 - after / before) if before else np.nan))
    before, after, lower = (estimate(np.array(each)) for each in zip(*values, strict=True))
    return {"before": before, "after": after, "lower": lower}


def compared(attacks: dict[str, Kept]) -> dict[str, Estimate]:
    """Differences in points of success between two rows, over resamples of the texts of each."""
    out = {}
    for one, other in (
        ("AT1-unk, unk", "AT1-delete, delete"),
        ("AT2, unk", "AT1-unk, unk"),
        ("AT2, delete", "AT1-delete, delete"),
    ):
        if one in attacks and other in attacks and attacks[one]["won"] and attacks[other]["won"]:
            values = []
            for draw in range(-1, DRAWS):
                rng = np.random.default_rng(draw + 1)
                rates = [
                    np.mean(won if draw < 0 else won[rng.integers(0, len(won), len(won))])
                    for won in (np.array(attacks[key]["won"], float) for key in (one, other))
                ]
                values.append(100 * (rates[0] - rates[1]))
            out[f"{one} - {other}"] = estimate(np.array(values))
    return out
