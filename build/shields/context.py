"""Trains the network of tier `context` of `restore`: which words of a noisy text were changed, and which words were meant.

    PYTHONPATH=src python build/shields/context.py --device cuda --seconds 450 --workers 14 --out FOLDER

Worker processes make noisy text without end (build/shields/noise.py), each from its own seed; batches are taken from them in turn.
The learning rate follows the clock. FOLDER/shield-context.npz has the int8 weights, FOLDER/log.txt what was printed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of each worker
sys.path.insert(0, str(Path(__file__).parent))

import noise
import numpy as np

from scuff.shields.lexicon import lexicon
from scuff.shields.restore import features as ft
from scuff.shields.restore.candidates import candidates
from scuff.text.ragged import Ragged

V = 49152
GROUP = 2048  # words, padding included, of pieces that share their noise


def words_of_lexicon() -> list[str]:
    """The first V words of the lexicon."""
    return lexicon().words.take(np.arange(V)).strings()


@dataclass
class Batch:
    """Noisy text for the network. `word` numbers the distinct noisy words, of which 0 is a masked one."""

    rows: Any  # rows of the table of features of all distinct words
    first: Any
    hints: Any
    guess: Any
    share: Any
    word: Any  # [texts, words], -1: padding
    gaps: Any  # [texts, words, 2]
    target: Any  # number in the lexicon of the word that was meant; V: it is not there
    changed: Any
    doubtful: Any  # words of texts that nobody edited, neither known nor changed: they may be errors


def batch_of(
    meant: Sequence[noise.Piece], noisy: Sequence[list[str]], size: int, keys: ft.Keys, number: dict[str, int]
) -> Batch:
    index: dict[str, int] = {"": 0}
    shape = (len(meant), size)
    word, target = np.full(shape, -1, np.int32), np.zeros(shape, np.int32)
    uneven = np.zeros(shape, np.bool_)
    changed, gap = np.zeros(shape, np.bool_), np.zeros((*shape, 2), np.int16)
    between = Ragged.of([text for _, texts, _ in meant for text in texts])
    codes, at = ft.gaps(between), 0
    for row, ((words, _, rough), new) in enumerate(zip(meant, noisy, strict=True)):
        length = len(words)
        word[row, :length] = [index.setdefault(w, len(index)) for w in new]
        lower = [w.lower() for w in words]
        target[row, :length] = [number.get(w, V) for w in lower]
        changed[row, :length] = [w.lower() != old for w, old in zip(new, lower, strict=True)]
        uneven[row, :length] = rough and [w.islower() for w in new]
        own = codes[at : at + length + 1]
        gap[row, :length, 0] = ft.GAP_BEFORE + own[:-1]
        gap[row, :length, 1] = ft.GAP_AFTER + own[1:]
        gap[row, 0, 0] = ft.GAP_BEFORE + 254
        at += length + 1
    noisy_words = Ragged.of(list(index)[1:])
    rows, first = ft.features(noisy_words)
    hints = np.concatenate((np.full((1, ft.HINTS), -1), keys.hints(noisy_words)))
    unknown = np.flatnonzero(~lexicon().known(noisy_words))
    doubtful = uneven & ~changed & np.isin(word, unknown + 1)
    found = candidates(noisy_words.take(unknown))
    guess, share = ft.guess(replace(found, of=unknown[found.of] + 1), len(index), V)
    return Batch(
        np.append(ft.MASKED, rows).astype(np.int16), np.append(0, first + 1).astype(np.int32),
        np.where(hints < 0, V + 1, hints).astype(np.int32), np.where(guess < 0, V + 1, guess).astype(np.int32),
        share.astype(np.float16), word, gap, target, changed, doubtful,
    )  # fmt: skip


class Source:
    """Pieces of text by length, and batches of them."""

    def __init__(self, shared: Path, part: str, tokens: int, most: int = 10**9) -> None:
        self.lexicon = words_of_lexicon()
        self.keys = ft.Keys(Ragged.of(self.lexicon))
        self.number = {word: at for at, word in enumerate(self.lexicon)}
        self.tokens = tokens
        self.buckets: list[list[noise.Piece]] = [[] for _ in noise.LENGTHS]
        for piece in noise.pieces(shared, part, most=most):
            self.buckets[next(at for at, size in enumerate(noise.LENGTHS) if len(piece[0]) <= size)].append(piece)
        self.weights = [sum(len(words) for words, _, _ in bucket) for bucket in self.buckets]

    def batch(self, dice: random.Random) -> Batch:
        bucket = dice.choices(range(len(self.buckets)), self.weights)[0]
        size = noise.LENGTHS[bucket]
        meant: list[noise.Piece] = []
        noisy: list[list[str]] = []
        wanted = max(1, self.tokens // size)
        while len(meant) < wanted:
            group = dice.choices(self.buckets[bucket], k=min(GROUP // size, wanted - len(meant)))
            clear, scuffed = noise.noisy_group(group, self.lexicon, dice)
            meant += clear
            noisy += scuffed
        return batch_of(meant, noisy, size, self.keys, self.number)


def work(source: Source, seed: int, out: Any) -> None:
    dice = random.Random(seed)
    try:
        while True:
            out.put(source.batch(dice))
    except KeyboardInterrupt:
        pass


def dev_batches(source: Source, shared: Path, many: int) -> dict[str, list[Batch]]:
    """Dev text under each perturbation alone, at 0.2, 0.5 and 0.8, with its defaults."""
    dice = random.Random(5)
    some = [
        p
        for p in noise.pieces(shared, "dev", ("wikitext", "agnews", "jigsaw", "sst2"), most=1000)
        if 4 <= len(p[0]) <= 64
    ]
    chosen = dice.sample(some, many)
    texts = [" ".join(words) for words, _, _ in chosen]
    out = {"clean": [batch_of(chosen, [list(words) for words, _, _ in chosen], 64, source.keys, source.number)]}
    kinds: list[Any] = [
        noise.InnerShuffle(), noise.FullShuffle(), noise.Disemvowel(), noise.Truncate(), noise.Keyboard(), noise.Natural(),
        noise.Phonetic(), noise.Typo(), noise.Visual(), noise.Intrude(), noise.Segment(),
    ]  # fmt: skip
    for part in kinds:
        for strength in (0.2, 0.5, 0.8):
            made = noise.scuffed(texts, [part], [strength], 1)
            fine = [new if len(new) == len(old) else list(old) for new, (old, _, _) in zip(made, chosen, strict=True)]
            out.setdefault(part.name, []).append(batch_of(chosen, fine, 64, source.keys, source.number))
    fine = [[noise.own_noise(w, dice) if dice.random() < 0.3 else w for w in words] for words, _, _ in chosen]
    out["own noise"] = [batch_of(chosen, fine, 64, source.keys, source.number)]
    return out


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("--device", default="cpu")
    ask.add_argument("--seconds", type=float, default=450)
    ask.add_argument("--workers", type=int, default=14)
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--shared", type=Path, default=Path(os.environ.get("SCUFF_SHARED", "../shared")))
    ask.add_argument("--seed", type=int, default=17)
    ask.add_argument("--tokens", type=int, default=12288, help="words and padding of a batch")
    ask.add_argument("--rate", type=float, default=1.5e-3)
    ask.add_argument("--start", type=Path, help="folder with half-*.npz to go on from")
    ask.add_argument("--tiny", action="store_true", help="little data, small batches: a try on a CPU")
    args = ask.parse_args()
    began = time.time()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.tiny:
        args.tokens = min(args.tokens, 256)
    source = Source(args.shared, "train", args.tokens, 3000 if args.tiny else 10**9)
    dev = dev_batches(source, args.shared, 20 if args.tiny else 400)
    print(
        f"{time.time() - began:.0f} s: {sum(source.weights)} words of text in {sum(map(len, source.buckets))} pieces",
        flush=True,
    )
    fork = multiprocessing.get_context("fork")  # before torch is loaded: the workers share the text
    queues: list[Any] = [fork.Queue(4) for _ in range(args.workers)]
    workers = [
        fork.Process(target=work, args=(source, args.seed * 1000 + at, queues[at]), daemon=True)
        for at in range(args.workers)
    ]
    for worker in workers:
        worker.start()
    import context_training

    try:
        context_training.train(args, (queues[at % args.workers] for at in count()), dev)
    finally:
        for worker in workers:
            worker.terminate()


if __name__ == "__main__":
    main()
