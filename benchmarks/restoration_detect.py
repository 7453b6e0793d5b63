"""How well tampered texts are told from clean ones: area under the ROC curve, and shares found by rate of false alarms."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import restoration_texts as texts
import scuff
from restoration_measures import auc

RATES = (0.01, 0.001)  # of false alarms
GROUPS = ("published", "more")


def jobs(args: argparse.Namespace, folder: Path, stamp: str) -> list[tuple[Any, ...]]:
    """The one job; none if there is no detector yet."""
    if not hasattr(scuff, "detect"):
        print("detect: left out, scuff has no detector")
        return []
    return [(measure, "detect", args.part, args.detect, args.clean, folder / "detect" / "detect.json", stamp)]


def probabilities(given: Sequence[str]) -> list[float]:
    return [verdict.probability for verdict in scuff.detect(list(given))]


def share_found(given: Sequence[str], rate: float) -> float:
    """The share of texts that is called tampered with."""
    return float(np.mean([verdict.tampered for verdict in scuff.detect(list(given), false_alarms=rate)]))


def measure(tool: str, part: str, count: int, clean: int, file: Path, stamp: str) -> str:
    """Writes one row per perturbation and level, against clean texts of the same domain, and the false alarms."""
    mark = sha256(f"{stamp} {part} {count} {clean}".encode()).hexdigest()[:16]
    if file.is_file() and json.loads(file.read_text(encoding="utf-8"))["mark"] == mark:
        return ""
    plain = texts.clean(part, clean)
    domains = list(dict.fromkeys(plain.domain))
    scores = _by_domain(plain.domain, probabilities(plain.original))
    rows = {}
    for group, name, level in texts.attacks():
        if group in GROUPS:
            batch = texts.attacked(part, count, group, name, level)
            found = _by_domain(batch.domain, probabilities(batch.attacked))
            rows[f"{name} {level:g}"] = {
                "auc": {domain: round(auc(scores[domain], found[domain]), 4) for domain in domains},
                "found": [round(share_found(batch.attacked, rate), 4) for rate in RATES],
            }
    alarms = {}
    for domain in domains:
        some = [text for text, where in zip(plain.original, plain.domain, strict=True) if where == domain]
        alarms[domain] = [round(share_found(some, rate), 5) for rate in RATES]
    kept = {
        "mark": mark, "tool": tool, "group": "detect", "domains": domains, "rates": [f"{100 * rate:g} %" for rate in RATES],
        "rows": rows, "alarms": alarms, "texts": count, "clean": clean,
    }  # fmt: skip
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(kept), encoding="utf-8")
    return f"detect: {len(rows)} rows"


def _by_domain(domain: Sequence[str], scores: Sequence[float]) -> dict[str, list[float]]:
    out: dict[str, list[float]] = {}
    for name, score in zip(domain, scores, strict=True):
        out.setdefault(name, []).append(score)
    return out
