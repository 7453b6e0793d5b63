"""Fits what tier `context` decides by, on dev texts: the log odds of a change.

    PYTHONPATH=src python build/shields/fit_context.py --shared ../shared [--texts 60]

Prints the constants of scuff/shields/context.py. Noise comes from build/shields/noise.py, words are aligned with those that were meant.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import noise
import numpy as np

from scuff.shields import context
from scuff.shields.lexicon import lexicon
from scuff.text.corpus import Corpus
from scuff.text.ragged import Ragged

SETS = ("wikitext", "agnews", "jigsaw", "sst2")


def text_of(words: list[str], between: list[str]) -> str:
    return "".join(part for pair in zip(between, [*words, ""], strict=True) for part in pair)


class Case:
    """Noisy texts with the words that were meant, one per unit."""

    def __init__(self, name: str, pieces: list[noise.Piece], noisy: list[list[str]]) -> None:
        self.name = name
        fine = [at for at, new in enumerate(noisy) if len(new) == len(pieces[at][0])]
        self.corpus = Corpus.of([text_of(noisy[at], pieces[at][1]) for at in fine], ids=fine)
        self.meant = [word for at in fine for word in pieces[at][0]]
        self.units = context.Units.of(self.corpus)
        count = np.bincount(self.units.spans.row, minlength=len(fine))
        good = count == np.array([len(noisy[at]) for at in fine])
        if not good.all():
            keep = [at for at, ok in zip(fine, good, strict=True) if ok]
            self.__init__(name, [pieces[at] for at in keep], [noisy[at] for at in keep])  # type: ignore[misc]
            return
        self.truth = lexicon().number(Ragged.of(self.meant))
        seen = self.units.text.strings()
        self.changed = np.array([a.lower() != b.lower() for a, b in zip(seen, self.meant, strict=True)])

        self.pairs = context.Pairs.of(self.corpus)

    def propose(self) -> tuple[Any, Any, Any]:
        """Units, the best word of each, and the evidence."""
        pairs = self.pairs
        if pairs is None:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, context.WEIGHTS.size))
        best, _, evidence = pairs.judged()
        return pairs.look[pairs.found.of[best]], pairs.found.word[best], evidence


def cases(shared: Path, many: int) -> list[Case]:
    dice = random.Random(11)
    out = []
    pieces: list[noise.Piece] = []
    for name in SETS:
        some = [piece for piece in noise.pieces(shared, "dev", (name,)) if len(piece[0]) >= 4]
        dice.shuffle(some)
        out.append(Case(f"clean {name}", some[: 8 * many], [list(words) for words, _, _ in some[: 8 * many]]))
        pieces += some[:many]
    texts = [" ".join(words) for words, _, _ in pieces]
    kinds: list[Any] = [
        noise.InnerShuffle(), noise.FullShuffle(), noise.Disemvowel(), noise.Truncate(), noise.Keyboard(), noise.Natural(),
        noise.Phonetic(), noise.Typo(), noise.Visual(), noise.Segment(),
    ]  # fmt: skip
    for part in kinds:
        for strength in (0.1, 0.5, 0.8):
            out.append(Case(f"{part.name} {strength}", pieces, noise.scuffed(texts, [part], [strength], 6)))
    for turn in range(3):
        rate = (0.05, 0.2, 0.5)[turn]
        new = [[noise.own_noise(w, dice) if dice.random() < rate else w for w in words] for words, _, _ in pieces]
        for (words, _, _), mine in zip(pieces, new, strict=True):
            mine[:] = [w if noise.WHOLE.fullmatch(w) else old for w, old in zip(mine, words, strict=True)]
        out.append(Case(f"own {rate}", pieces, new))
    for turn in range(4):
        parts = dice.sample(kinds[:8], 2)
        name = "+".join(part.name for part in parts)
        out.append(Case(name, pieces, noise.scuffed(texts, parts, [0.3 + 0.1 * turn] * 2, 6)))
    return out


def accuracy(some: list[Case]) -> float:
    """Changed words whose proposal is right, mean over cases."""
    found = []
    for case in some:
        unit, word, _ = case.propose()
        right = np.zeros(len(case.units), np.bool_)
        right[unit] = word == case.truth[unit]
        if case.changed.any():
            found.append(right[case.changed & (case.truth >= 0)].mean())
    return float(np.mean(found))


def fit(x: Any, y: Any, weight: Any) -> Any:
    """Logistic regression by Newton's method, slightly regularised."""
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        slope = x.T @ (weight * (p - y)) + 1e-3 * w
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(w.size)
        w = w - np.linalg.solve(curve, slope)
    return w


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("--shared", type=Path, default=Path(os.environ.get("SCUFF_SHARED", "../shared")))
    ask.add_argument("--texts", type=int, default=60)
    ask.add_argument("--keep", type=float, default=0.9995, help="share of clean words that must stay, over all sets")
    ask.add_argument("--grid", action="store_true", help="look for RARE and COST first")
    args = ask.parse_args()
    context.LOOK_KNOWN, context.LOOK_UNKNOWN = -3.0, -6.0  # what is to be left must be seen, too
    every = cases(args.shared, args.texts)
    noisy = [case for case in every if not case.name.startswith("clean")]
    if args.grid:
        for name, values in (("RARE", (8.0, 11.0, 14.0, 17.0)), ("COST", (0.3, 0.5, 0.69))):
            scores = {}
            for value in values:
                setattr(context, name, value)
                scores[value] = accuracy(noisy)
                print(name, value, f"{scores[value]:.4f}", flush=True)
            setattr(context, name, max(scores, key=lambda v: scores[v]))
    rows, labels, weights = [], [], []
    kept = []
    for case in every:
        unit, word, evidence = case.propose()
        changed, right = case.changed[unit], word == case.truth[unit]
        use = ~changed | right
        clean = case.name.startswith("clean")
        rows.append(evidence[use])
        labels.append(right[use] & changed[use])
        weights.append(np.full(use.sum(), 1.0))
        if clean:
            kept.append((case, evidence))
    x, y = np.concatenate(rows).astype(np.float64), np.concatenate(labels).astype(np.float64)
    w = fit(x, y, np.concatenate(weights))
    total = sum(len(case.units) for case, _ in kept)
    clean = np.concatenate([evidence for _, evidence in kept])
    allowed = int((1 - args.keep) * total)
    shift = 0.0
    while (clean @ w > 0).sum() > allowed and shift < 20:  # texts in which little else was changed need more
        shift += 0.05
        w[0] -= 0.035
        w[-1] -= 0.015
    print(f"{x.shape[0]} proposals, shift {shift:.3f} ({allowed} of {total} clean words may change)")
    print("WEIGHTS =", np.round(w, 3).tolist())
    for case, evidence in kept:
        print(f"{case.name:20s} kept {1 - (evidence @ w > 0).sum() / len(case.units):.5f} of {len(case.units)}")
    for case in noisy:
        unit, word, evidence = case.propose()
        right = np.zeros(len(case.units), np.bool_)
        done = np.zeros(len(case.units), np.bool_)
        right[unit] = word == case.truth[unit]
        done[unit[evidence @ w > 0]] = True
        changed = case.changed
        if not changed.any():
            continue
        print(
            f"{case.name:30s} changed {changed.mean():.3f}: proposed right {right[changed].mean():.4f}, mended "
            f"{(right & done)[changed].mean():.4f}; words right {np.where(changed, right & done, ~done).mean():.4f}; "
            f"kept {(~done)[~changed].mean():.4f}", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
