"""How much longer adversarial training of a translator takes than plain training, step by step in turns on one device.

    PYTHONPATH=src python benchmarks/translators.py TRAIN.jsonl.gz [--device cuda] [--steps 60] [--json FILE]

TRAIN has `source` and `target` in each line. Every way takes the same batches, round by round, so that other work on the machine
hits all of them alike; the median of the rounds is shown. Michel et al. (2019) report less than 2 times.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scuff.huggingface.loading import place
from scuff.training.translation import SCHEDULES, Training, fast_products
from scuff.translators.network import Sizes
from scuff.translators.translator import SIZES, Translator, learn_vocabulary

WAYS: tuple[tuple[str | None, float], ...] = (
    (None, 1.0), ("vocabulary", 1.0), ("vocabulary", 0.5), ("swaps", 1.0), ("swaps", 0.5),
)  # fmt: skip


def read(path: Path, count: int | None) -> list[tuple[str, str]]:
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines()[:count]
    return [(row["source"], row["target"]) for row in map(json.loads, lines)]


def wait(device: Any) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def measure(
    pairs: list[tuple[str, str]], architecture: str, pieces: str, sizes: Sizes, device: Any, steps: int, rounds: int
) -> dict[str, Any]:
    source, target = (
        learn_vocabulary([pair[side] for pair in pairs], pieces, joined=bool(side)) for side in (0, 1)
    )  # fmt: skip
    times: dict[str, list[float]] = {}
    runs = {}
    for adversarial, alpha in WAYS:
        torch.manual_seed(0)
        translator = Translator.build(architecture, sizes, source, target, device=device)
        name = f"{adversarial or 'plain'}{f' alpha {alpha}' if adversarial else ''}"
        runs[name] = Training(translator, SCHEDULES[architecture], pairs, pairs[:10], adversarial, alpha, 3, 0)
    batches = runs["plain"].corpus.batches(SCHEDULES[architecture].batch_tokens, np.random.default_rng(0))[:steps]
    for round_ in range(rounds + 1):
        for name, run in runs.items():
            run.network.train()
            wait(device)
            began = time.perf_counter()
            for inputs in run.inputs(batches):
                run.step(*inputs)
            wait(device)
            if round_:  # the first one warms up
                times.setdefault(name, []).append((time.perf_counter() - began) / len(batches))
    median = {name: float(np.median(found)) for name, found in times.items()}
    return {
        "architecture": architecture, "pieces": pieces, "device": str(device), "steps": len(batches), "rounds": rounds,
        "milliseconds": {name: 1000 * value for name, value in median.items()},
        "ratio": {name: value / median["plain"] for name, value in median.items()},
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--architecture", nargs="+", default=["lstm", "transformer"])
    parser.add_argument("--pieces", nargs="+", default=["words"])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="of the data; default all")
    parser.add_argument("--sizes", type=int, nargs=3, help="embedding, hidden, layers instead of the usual ones")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pairs, device, found = read(options.data, options.sentences), place(options.device), []
    with fast_products():
        for architecture in options.architecture:
            for pieces in options.pieces:
                sizes = Sizes(*options.sizes) if options.sizes else SIZES[architecture]
                made = measure(pairs, architecture, pieces, sizes, device, options.steps, options.rounds)
                found.append(made)
                for name, ratio in made["ratio"].items():
                    print(
                        f"{architecture:12}{pieces:7}{name:22}{made['milliseconds'][name]:9.2f} ms a step{ratio:7.2f} times",
                        flush=True,
                    )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
