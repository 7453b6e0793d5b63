"""The results of an attack: the lines of results.jsonl, one per example, and the numbers of summary.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

import numpy as np

from ..data.dataset import Dataset, joined
from ..metrics.interval import resamples, weighted_means, wilson
from ..runs.display import Shown, estimate, said, scores_of
from ..runs.folder import Arrays, BadRun
from ..runs.inputs import data_facts
from ..runs.pack import unpack_texts
from ..runs.schema import (
    SCHEMA,
    Adversarial,
    AttackerName,
    AttackLine,
    AttackShield,
    AttackSummary,
    Curve,
    Estimate,
    FoundLine,
    HasAttackShield,
    HasTradeoff,
    LabelCounts,
    Mended,
    Reasons,
    Replacement,
    RunFile,
    Status,
)
from ..text.ragged import Floats
from ..victims.base import Outputs
from ..victims.truth import Truth
from .engine import NO_CHANGE, NO_QUERY, NO_TIME
from .tradeoff import tradeoff_line, tradeoff_summary


@dataclass(frozen=True)
class Limits:
    """What decides the outcome of an attack beside its parts: seed, column to change, protected words, queries per example.

    A success is valid if its distance in meaning from the original, measured by `meaning`, is at most `most`.
    """

    seed: int = 0
    side: int = 0
    protect: tuple[str, ...] = ()
    max_queries: int | None = None
    meaning: str = "chrf"
    most: float = 0.2
    block: int = 64  # examples of a job

    @classmethod
    def of(cls, key: Mapping[str, Any]) -> Limits:
        """The limits in the key of a saved run."""
        given = {field.name: key[field.name] for field in fields(cls)}
        return cls(**{**given, "protect": tuple(given["protect"])})


SKIPPED, FAILED, SUCCEEDED, ERROR = range(4)  # places in STATUS
STATUS: tuple[Status, ...] = get_args(Status)
NO_ANSWER, NOTHING = "no answer", "nothing can change"  # reasons of skipped and failed examples

AWARE: AttackerName = "aware"  # of a shield
UNAWARE: AttackerName = "unaware"
SEARCHES_AGAINST: dict[str, str] = {  # what an attacker does, in words
    AWARE: "aware of the shield: searches against the shielded model",
    UNAWARE: "unaware of the shield: searches against the model alone; what it finds is then tried on the shielded model",
}
HELD = "the shield held"  # the reason of attacks that failed only because of it

MOST_WORDS = 30  # replacements that a summary lists


def result_lines(
    data: Dataset, truth: Truth, clean: Outputs, parts: Sequence[Arrays], limits: Limits
) -> list[AttackLine]:
    """The lines of results.jsonl: texts, target, status and adversarial text of each example.

    Raises BadRun if the parts are from an older version of Scuff.
    """
    lines: list[AttackLine] = []
    for part in parts:
        if "reached" not in part:
            raise BadRun("expected trials of this version of Scuff, got older ones: attack again, in another folder")
        shown, reasons = Shown(part, data, truth), unpack_texts("reason", part)
        mended = unpack_texts("mended", part) if "mended_bytes" in part else [""] * len(reasons)
        for at, example in enumerate(part["example"].tolist()):
            edits = shown.edits(at)
            distance = round(float(part["distance"][at]), 6)
            seen: Mended = {"mended": mended[at]} if mended[at] else {}
            found: FoundLine = {"found": bool(part["found"][at])} if "found" in part else {}
            adversarial: Adversarial | None = None if not edits else {
                "texts": shown.texts(at), "edits": edits, "answer": said(shown.answers[at], truth),
                **scores_of(shown.answers[at], truth),
                "margin": round(float(part["margin"][at]), 4), "changed": round(float(part["changed"][at]), 6),
                "similarity": round(1 - distance, 6), "valid": distance <= limits.most,
                **seen,
            }  # fmt: skip
            lines.append(
                {
                    "id": data.ids[example],
                    "texts": [column[example] for column in data.columns],
                    "target": data.targets[example],
                    "status": STATUS[part["status"][at]],
                    "reason": reasons[at],
                    "clean": {
                        "answer": said(clean.answers[example], truth),
                        **scores_of(clean.answers[example], truth),
                    },
                    "queries": int(part["queries"][at]),
                    "reached": int(part["reached"][at]) or None,
                    "unanswered": int(part["unanswered"][at]),
                    "adversarial": adversarial,
                    **found,
                    **tradeoff_line(part, at, STATUS[part["status"][at]] in ("succeeded", "failed")),
                }
            )
    return lines


def attack_summary(
    run: RunFile,
    data: Dataset,
    truth: Truth,
    clean: Outputs,
    settled: Outputs,
    limits: Limits,
    lines: list[AttackLine],
    lost: Mapping[str, int] | None = None,
    unshielded: Outputs | None = None,
) -> AttackSummary:
    """The numbers of summary.json. clean: answers to the original texts. settled: answers to the outcomes of the searches. lost:
    why queries had no answer, with counts. unshielded: answers to the original texts without the shield, if there is one.
    """
    attacked = [line for line in lines if line["status"] != "skipped"]
    won = [line for line in attacked if line["status"] == "succeeded"]
    queries = np.array([line["queries"] for line in attacked if line["queries"]], np.float64)
    broken = np.array([line["status"] == "succeeded" for line in lines], np.bool_)
    before = np.where(data.referenced, truth.score(clean)[0], np.nan)
    after = np.where(broken & np.isfinite(before), truth.score(settled)[0], before)
    texts = [line["adversarial"] for line in won if line["adversarial"]]  # every success has one
    valid = [text for text in texts if text["valid"]]
    halves: HasTradeoff = {}
    if data.task == "text":
        halves = {"tradeoff": tradeoff_summary(lines, run["recipe"]["goal"], bool(data.referenced.any()))}
    shield: HasAttackShield = {} if unshielded is None else {"shield": _shield(run, data, truth, unshielded, attacked)}
    why: Reasons = {"reasons": _ranked(lost)} if lost else {}
    return {
        "schema": SCHEMA, "kind": "attack", "signature": run["signature"], "model": run["model"]["name"],
        "data": data_facts(data, run),
        "task": data.task, "recipe": run["recipe"], "examples": len(lines),
        "clean": _score(before, truth), "after": _score(after, truth),
        "success": {**_share(len(won), len(attacked)), "count": len(won), "of": len(attacked)},
        "valid": {
            **_share(len(valid), len(attacked)), "count": len(valid), "of": len(attacked), "measure": limits.meaning,
            "most": limits.most,
        },
        "unanswered": sum(line["reason"].startswith(NO_ANSWER) for line in lines if line["status"] == "skipped"),
        "status": {name: sum(line["status"] == name for line in lines) for name in STATUS},
        "skipped": _counted(line["reason"] for line in lines if line["status"] == "skipped"),
        "problems": _counted(line["reason"] for line in lines if line["status"] == "error"),
        "queries": {
            "mean": _mean(queries), "median": float(np.median(queries)) if queries.size else None,
            "total": int(queries.sum()), "limit": limits.max_queries,
            "cut": _failed(attacked, NO_QUERY, NO_CHANGE, NO_TIME),
            "early": _failed(attacked, NO_CHANGE, NO_TIME) + _failed([a for a in attacked if a["queries"] <= 1], NO_QUERY),
            "unanswered": sum(line["unanswered"] for line in attacked), **why,
            "untried": _failed(attacked, NOTHING),
        },
        "changed": {"mean": _mean([text["changed"] for text in texts])},
        "similarity": {"mean": _mean([text["similarity"] for text in texts]), "measure": limits.meaning},
        "curve": _curve(attacked),
        "labels": _labels(attacked) if data.task in ("single", "multi") else {},
        "words": _words(won, limits.side), **halves, **shield,
    }  # fmt: skip


def _shield(
    run: RunFile, data: Dataset, truth: Truth, unshielded: Outputs, attacked: Sequence[AttackLine]
) -> AttackShield:
    """What the shield costs on clean texts and, of an attacker that is unaware of it, what it stops."""
    score = np.where(data.referenced, truth.score(unshielded)[0], np.nan)
    spec, mended = run["shield"]["spec"], run["shield"]["mended"]
    clean = _score(score, truth)
    if run["key"].get("attacker", AWARE) == AWARE:
        return {"spec": spec, "mended": mended, "attacker": AWARE, "clean": clean}
    found = [line for line in attacked if line.get("found")]
    held = sum(line["status"] == "succeeded" for line in found)
    return {
        "spec": spec, "mended": mended, "attacker": UNAWARE, "clean": clean,
        "found": {**_share(len(found), len(attacked)), "count": len(found), "of": len(attacked)},
        "survived": {**_share(held, len(found)), "count": held, "of": len(found)},
    }  # fmt: skip


def _failed(attacked: list[AttackLine], *reasons: str) -> int:
    """How many attacks failed for one of these reasons."""
    return sum(line["status"] == "failed" and line["reason"] in reasons for line in attacked)


def _score(score: Floats, truth: Truth) -> Estimate:
    """The task's usual metric over the answered examples, with its interval."""
    known = np.isfinite(score)
    if truth.metric.right_or_wrong or not known.any():
        return _share(int(score[known].sum()), int(known.sum()))
    mean, again = weighted_means(score, truth.weight, resamples(len(score), 0))
    interval = truth.metric.interval(float(mean), again, int(known.sum()), one_each=True)
    return estimate(mean, interval)


def _share(count: int, of: int) -> Estimate:
    """A proportion with Wilson's interval; None if it is a share of nothing."""
    return estimate(count / of, wilson(count / of, of)) if of else estimate(np.nan)


def _mean(values: Any) -> float | None:
    return round(float(np.mean(values)), 6) if len(values) else None


def _counted(reasons: Any) -> dict[str, int]:
    """How often each reason occurs, the most frequent first."""
    return _ranked(Counter(reasons))


def _ranked(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _curve(attacked: list[AttackLine]) -> Curve:
    """The share of attacked examples that would not have been broken, for several values of `max_queries`."""
    spent = np.array([line["reached"] or np.inf for line in attacked])
    most = max((line["queries"] for line in attacked), default=1)
    steps = [step * 10**power for power in range(7) for step in (1, 2, 3, 5, 7) if step * 10**power < most]
    budgets = [*steps, most]
    return {"queries": budgets, "left": [_mean(spent > budget) for budget in budgets]}


def _labels(attacked: list[AttackLine]) -> dict[str, LabelCounts]:
    """How many examples were attacked and how many broken, by target: a label or a set of labels."""
    out: dict[str, LabelCounts] = {}
    for line in attacked:
        target = line["target"]
        name = target if isinstance(target, str) else ", ".join(target)
        entry = out.setdefault(name, {"of": 0, "count": 0})
        entry["of"] += 1
        entry["count"] += line["status"] == "succeeded"
    return dict(sorted(out.items(), key=lambda entry: (-entry[1]["of"], entry[0])))


def _words(won: list[AttackLine], side: int) -> list[Replacement]:
    """The most frequent replacements in successful attacks."""
    found: Counter[tuple[str, str]] = Counter()
    for line in won:
        text = joined(line["texts"][side])
        edits = line["adversarial"]["edits"] if line["adversarial"] else []
        found.update((text[start:stop], new) for _, start, stop, new in edits)
    ranked = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_WORDS]
    return [{"old": old, "new": new, "count": count} for (old, new), count in ranked]
