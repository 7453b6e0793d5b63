"""Measures where the time of a search attack goes, beside its limits in the same run.

  python benchmarks/attack_speed.py MODEL DATA [--recipe deepwordbug] [--examples 1000] [--device cuda] [--workers 1 8]

First `scuff.attack`, everything included, with a model that is loaded and has attacked something. Then the same texts, ready:
the forward pass alone (tokenised and padded beforehand, the best of some batch sizes), `tokenizer(...)` alone, both one after
the other, and the victim's own call. Then the same attack with a victim that has stored all answers: the cost of the search
itself. With several workers each loads the model itself: that time is measured separately, by a run with one query per example.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import scuff
from evaluate import bare_model, plain_way
from scuff.victims.base import Outputs
from scuff.victims.open import open_victim

SIZES = {"cpu": (512, 1024, 2048, 4096), "cuda": (16384, 32768, 65536, 131072)}  # pieces per batch
ENOUGH = {"cpu": 1000, "cuda": 100_000}  # texts to measure a limit with
WARM = 64  # examples that are attacked before the clock starts
Row = tuple[str, float, int]  # name, seconds, texts


def noting(victim: Any, answers: dict[str, Any], replay: bool) -> type:
    """Returns a subclass of the victim's class that stores each answer or, if replay, returns the stored ones."""
    kind = type(victim)

    class Noting(kind):  # type: ignore[misc, valid-type]
        def __call__(self, *columns: Sequence[str]) -> Outputs:
            if replay and all(text in answers for text in columns[0]):
                return Outputs.of(np.stack([answers[text] for text in columns[0]]))
            found: Outputs = kind.__call__(self, *columns)
            answers.update(zip(columns[0], found.answers, strict=True))
            return found

    return Noting


def attacked(model: Any, args: argparse.Namespace, folder: Path, examples: int, **more: Any) -> tuple[float, Any]:
    """Returns seconds and result of an attack. Meaning is measured by chrF, so that no second network runs."""
    begin = time.perf_counter()
    done = scuff.attack(model, args.data, args.recipe, folder, examples=examples, encoder="chrf", **more)
    return time.perf_counter() - begin, done


def alone(args: argparse.Namespace, folder: Path) -> list[Row]:
    """Measures one process."""
    victim: Any = open_victim(args.model, "single", (), {"device": args.device})
    attacked(victim, args, folder / "warm", WARM)
    kind = type(victim)
    answers: dict[str, Any] = {}
    first, _ = attacked(victim, args, folder / "first", args.examples)
    victim.__class__ = noting(victim, answers, replay=False)
    seconds, done = attacked(victim, args, folder / "run", args.examples)
    victim.__class__ = noting(victim, answers, replay=True)
    engine, again = attacked(victim, args, folder / "stored", args.examples)
    victim.__class__ = kind
    queries, device = done.summary["queries"]["total"], args.device.partition(":")[0]
    assert again.summary["queries"]["total"] == queries
    spent = done.timings[-1]
    print(
        f"{done}\n{len(answers):,} different texts; {spent['victim_seconds']:.1f} of {spent['seconds']:.1f} s in the model"
    )
    texts = sorted(answers, key=len)
    texts = texts[:: max(1, len(texts) // ENOUGH[device])]
    begin = time.perf_counter()
    victim(texts)
    own = time.perf_counter() - begin
    best, size = max((bare_model(victim, texts, size), size) for size in SIZES[device])
    tokenizing, forward = plain_way(victim, texts, size)
    return [
        ("`scuff.attack`, all of it, the first time in a process", first, queries),
        ("the second time", seconds, queries),
        ("the same without a model (stored answers)", engine, queries),
        ("ready-made texts, forward pass alone", len(texts) / best, len(texts)),
        ("ready-made texts, `tokenizer(...)` alone", tokenizing, len(texts)),
        ("ready-made texts, the two one after the other", tokenizing + forward, len(texts)),
        ("ready-made texts, the victim's own call", own, len(texts)),
    ]


def together(args: argparse.Namespace, folder: Path, workers: int) -> list[Row]:
    """Measures several processes."""
    options = {"options": {"device": args.device}, "workers": workers}
    start, _ = attacked(args.model, args, folder / f"start-{workers}", args.examples, max_queries=1, **options)
    seconds, done = attacked(args.model, args, folder / f"run-{workers}", args.examples, **options)
    queries = done.summary["queries"]["total"]
    return [
        (f"`scuff.attack`, {workers} workers, their start and all", seconds, queries),
        (f"the same less {start:.1f} s for start, originals and report", seconds - start, queries),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--recipe", default="deepwordbug")
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, nargs="*", default=[])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        rows = alone(args, Path(temporary))
        for workers in args.workers:
            rows += together(args, Path(temporary), workers)
    print("\n| | seconds | texts | texts per second |\n|---|---:|---:|---:|")
    for name, seconds, count in rows:
        print(f"| {name} | {seconds:.2f} | {count:,} | {count / seconds:,.0f} |")


if __name__ == "__main__":
    main()
