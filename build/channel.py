"""Spelling changes as statistics: rates of replacing a letter, or two, given the letters around; packed for scuff.perturbations.channel.

A rule replaces `taken` letters (1 or 2) from a place by up to 3 letters. Its rate in a context (letter before, letter, letter after) is
estimated from counts, smoothed towards the rate for the letter with its successor, and that towards the rate for the letter alone.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

EDGE, OTHER = "^", "?"
ALPHABET = "abcdefghijklmnopqrstuvwxyz" + EDGE + OTHER
Rule = tuple[int, str]  # letters taken, what stands there instead
Context = tuple[str, str, str]


def contexts(word: str) -> list[Context]:
    padded = EDGE + "".join(c if c in ALPHABET[:26] else OTHER for c in word) + EDGE
    return [(padded[i - 1], padded[i], padded[i + 1]) for i in range(1, len(padded) - 1)]


def rates(
    seen: Counter[tuple[Context, Rule]],
    met: Counter[Context],
    strength: float = 8.0,
    most: int = 24,
    least: float = 0.004,
) -> dict[Context, dict[Rule, float]]:
    """Smoothed rates for every context met, and for each letter alone as (?, letter, ?)."""
    levels: list[dict[tuple[str, ...], Counter[Rule]]] = [defaultdict(Counter) for _ in range(3)]
    exposed: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(3)]
    keys = (lambda c: (c[1],), lambda c: (c[1], c[2]), lambda c: c)
    for (context, rule), count in seen.items():
        if rule == (2, ""):  # could delete a whole word
            continue
        for level, key in enumerate(keys):
            levels[level][key(context)][rule] += count
    for context, count in met.items():
        for level, key in enumerate(keys):
            exposed[level][key(context)] += count
    out: dict[Context, dict[Rule, float]] = {}

    def smoothed(context: Context, depth: int) -> dict[Rule, float]:
        below: dict[Rule, float] = {}
        for level in range(depth):
            key = keys[level](context)
            counts, total = levels[level][key], exposed[level][key]
            known = {*below, *counts}
            if context[2] in (EDGE, OTHER):
                known = {rule for rule in known if rule[0] == 1}
            below = {rule: (counts[rule] + strength * below.get(rule, 0.0)) / (total + strength) for rule in known}
        below = {rule: rate for rule, rate in below.items() if rule[1] != (context[1] + context[2])[: rule[0]]}
        # a rule for two letters speaks of these two
        below = {rule: rate for rule, rate in below.items() if depth > 1 or rule[0] == 1}
        total = sum(below.values())
        best = sorted(below, key=lambda rule: -below[rule])[:most]
        return {rule: below[rule] for rule in best if below[rule] >= least * total}

    for context in met:
        out[context] = smoothed(context, 3)
    for letter in ALPHABET[:26]:
        out[OTHER, letter, OTHER] = smoothed((OTHER, letter, OTHER), 1)
    return out


def pack(table: dict[Context, dict[Rule, float]], target: Path, **more: object) -> None:
    """Contexts by number, rules with 16-bit weights in a common scale, replacements once each."""
    texts = sorted({text for rules in table.values() for _, text in rules})
    number = {text: at for at, text in enumerate(texts)}
    place = {letter: at for at, letter in enumerate(ALPHABET)}
    order = sorted(table, key=lambda c: [place[x] for x in c])
    scale = max(rate for rules in table.values() for rate in rules.values())
    rows = [
        (taken, number[text], max(1, round(65535 * rate / scale)))
        for c in order
        for (taken, text), rate in table[c].items()
    ]
    head = json.dumps(
        {"texts": texts, "contexts": len(order), "rules": len(rows), "scale": scale, **more}, ensure_ascii=False
    )
    arrays = [
        np.array([(place[a] * 28 + place[b]) * 28 + place[c] for a, b, c in order], np.uint16),
        np.array([len(table[c]) for c in order], np.uint16),
        np.array([row[0] for row in rows], np.uint16),
        np.array([row[1] for row in rows], np.uint16),
        np.array([row[2] for row in rows], np.uint16),
    ]
    raw = head.encode() + b"\n" + b"".join(array.astype("<u2").tobytes() for array in arrays)
    target.write_bytes(lzma.compress(raw, preset=9 | lzma.PRESET_EXTREME))
    print(
        f"{target.name}: {len(order)} contexts, {len(rows)} rules, {len(texts)} replacements, {target.stat().st_size / 1e3:.0f} kB"
    )
