"""How much longer adversarial training of a translator takes than plain training, step by step in turns on one device.

    PYTHONPATH=src python benchmarks/translators.py TRAIN.jsonl.gz [--device cuda] [--steps 60] [--json FILE]
    PYTHONPATH=src python benchmarks/translators.py TRAIN.jsonl.gz --dev DEV.jsonl.gz [--choices 0 3] [--seconds 60]

TRAIN has `source` and `target` in each line. Every way takes the same batches, round by round, so that other work on the machine
hits all of them alike; the median of the rounds is shown. Michel et al. (2019) report less than 2 times. With --dev, sizes,
learning rates and numbers of BPE operations are compared instead, by the chrF of the dev part; no test part is looked at.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from scuff.huggingface.loading import place
from scuff.training.translation import SCHEDULES, Training, fast_products, train_translator
from scuff.translators.network import Sizes
from scuff.translators.translator import PAPER, SIZES, Translator, learn_vocabulary

WAYS: tuple[tuple[str | None, float], ...] = (
    (None, 1.0), ("vocabulary", 1.0), ("vocabulary", 0.5), ("swaps", 1.0), ("swaps", 0.5),
)  # fmt: skip


CHOICES: tuple[dict[str, Any], ...] = (
    {"architecture": "lstm", "rate": 1e-3},
    {"architecture": "lstm", "rate": 2e-3},
    {"architecture": "lstm", "rate": 3e-3},
    {"architecture": "transformer", "rate": 1e-3},
    {"architecture": "transformer", "rate": 2e-3},
    {"architecture": "transformer", "sizes": Sizes(128, 256, 4)},
    {"architecture": "transformer", "sizes": Sizes(256, 1024, 4)},
    {"architecture": "transformer", "sizes": PAPER["transformer"], "rate": 7e-4},
    {"architecture": "transformer", "pieces": "bpe", "vocabulary": 4000},
    {"architecture": "transformer", "pieces": "bpe", "vocabulary": 8000},
    {"architecture": "transformer", "pieces": "bpe", "vocabulary": 30000},
)


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


def choose(pairs: list[tuple[str, str]], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Trains the choices one after the other and returns the best dev chrF of each."""
    dev, found = read(options.dev, options.sentences), []
    for choice in [CHOICES[at] for at in options.choices] if options.choices else CHOICES:
        given = {"pieces": "words", "vocabulary": None, **choice}
        architecture, rate = given.pop("architecture"), given.pop("rate", None)
        sizes = given.pop("sizes", SIZES[architecture])
        sizes = Sizes(*options.sizes) if options.sizes else sizes
        schedule = SCHEDULES[architecture]
        schedule = replace(schedule, rate=rate or schedule.rate, epochs=options.epochs or schedule.epochs)
        with TemporaryDirectory() as folder:
            metrics = train_translator(
                pairs, dev, folder, architecture=architecture, sizes=sizes, schedule=schedule, device=options.device,
                seconds=options.seconds, **given,
            )  # fmt: skip
        seconds = metrics["seconds"]["training"]
        made = {
            "architecture": architecture, **given, "sizes": asdict(sizes), "rate": schedule.rate, **metrics["dev"],
            "epochs": len(metrics["epochs"]), "seconds": seconds,
        }  # fmt: skip
        found.append(made)
        print(
            f"{architecture:12}{given['pieces']:6}{given['vocabulary'] or '':>6} rate {schedule.rate:<7} {sizes.embedding:4}"
            f"{sizes.hidden:5}{sizes.layers:3}  dev chrF {made['chrf']:6.2f} loss {made['loss']:.3f} epoch {made['epoch']} of "
            f"{made['epochs']}, {seconds:.0f} s", flush=True,
        )  # fmt: skip
    return found


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
    parser.add_argument("--dev", type=Path, help="compare choices on this part instead of timing")
    parser.add_argument("--choices", type=int, nargs="+", help="numbers of CHOICES; default all")
    parser.add_argument("--seconds", type=float, help="of each training")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pairs = read(options.data, options.sentences)
    found = choose(pairs, options) if options.dev else compare(pairs, options)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def compare(pairs: list[tuple[str, str]], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Times the ways of training for each architecture and kind of pieces."""
    device, found = place(options.device), []
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
    return found


if __name__ == "__main__":
    main()
