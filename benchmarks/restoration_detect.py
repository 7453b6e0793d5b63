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
    """The one job."""
    return [(measure, "detect", args.part, args.detect, args.clean, folder / "detect" / "detect.json", stamp)]


def judged(given: Sequence[str]) -> tuple[list[float], list[float]]:
    """How likely each text was tampered with, and the share that is called so at each rate."""
    verdicts = [scuff.detect(list(given), false_alarms=rate) for rate in RATES]
    return [each.probability for each in verdicts[0]], [
        float(np.mean([each.tampered for each in all_])) for all_ in verdicts
    ]


def measure(tool: str, part: str, count: int, clean: int, file: Path, stamp: str) -> str:
    """Writes one row per perturbation and level, of texts that it changed, against clean texts of the same domain."""
    mark = sha256(f"{stamp} {part} {count} {clean}".encode()).hexdigest()[:16]
    if file.is_file() and json.loads(file.read_text(encoding="utf-8"))["mark"] == mark:
        return ""
    plain = texts.clean(part, clean)
    domains = list(dict.fromkeys(plain.domain))
    scores, alarms = {}, {}
    for domain in domains:
        some = [text for text, where in zip(plain.original, plain.domain, strict=True) if where == domain]
        scores[domain], shares = judged(some)
        alarms[domain] = [round(share, 5) for share in shares]
    rows = {}
    for group, name, level in texts.attacks():
        if group in GROUPS:
            batch = texts.attacked(part, count, group, name, level)
            changed = [at for at, text in enumerate(batch.attacked) if text != batch.original[at]]
            chance, found = judged([batch.attacked[at] for at in changed])
            by_domain = _by_domain([batch.domain[at] for at in changed], chance)
            rows[f"{name} {level:g}"] = {
                "auc": {
                    domain: round(auc(scores[domain], by_domain[domain]), 4)
                    for domain in domains
                    if domain in by_domain
                },
                "found": [round(share, 4) for share in found],
            }
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
