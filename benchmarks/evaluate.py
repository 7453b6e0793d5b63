"""Measures how much of a model's speed `scuff evaluate` keeps.

  python benchmarks/evaluate.py [MODEL DATA] [--examples N] [--cases K]     engine efficiency
  python benchmarks/evaluate.py [MODEL DATA] --full [--device cuda] [--dimension NAME] [--workers W]

Engine efficiency is queries per second through `scuff.evaluate`, everything included (pre-flight, perturbation, trials on disk,
summary, report), over texts per second of the same model on the same texts, which are made, tokenized, sorted by length and
padded beforehand, in full batches of the same size, in the same run. The model is loaded before the clock starts.

--full runs one dimension of the whole protocol, 1,000 examples x 100 cases x 7 degrees, where W processes make the cases, and
compares it with tokenising and forwarding the same texts, ready-made and sorted by length: on a fast device that, not the model,
is the limit. It is measured twice: `tokenizer(...)` and then the model, the usual way, on all cores; and the victim's own call,
which builds fewer objects and tokenises while the device works. A GPU loads kernels and memory for every new shape, which slows
the first evaluation in a process: the second one is compared.
Needs torch, transformers and, by default, the project's shared models.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scuff.evaluation.export import write_cases
from scuff.evaluation.setup import EvaluationSetup

DIMENSIONS = ("keyboard", "inner-shuffle", "visual", "phonetic")
AT_ONCE = 20_000  # texts per call of `tokenizer(...)`


def default_victim(folder: Path, split: str) -> tuple[str, str]:
    """Restores the shared model for sst2 into a folder; returns its path and that of a split of its data."""
    shared = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
    if not (shared / "models").is_dir():
        sys.exit(f"no model given, and no shared models in {shared}: python benchmarks/evaluate.py MODEL DATA")
    subprocess.run([sys.executable, shared / "models" / "restore.py", folder, "sst2"], check=True, capture_output=True)
    return str(folder / "sst2"), str(shared / "data" / "sst2" / f"{split}.jsonl.gz")


def batches(rows: Sequence[Sequence[int]], batch_tokens: int) -> list[tuple[Any, Any]]:
    """Returns full batches of ids and masks, longest first."""
    import torch

    rows = sorted(rows, key=len, reverse=True)
    out, at = [], 0
    while at < len(rows):
        end = at + max(1, batch_tokens // len(rows[at]))
        length = np.array([len(row) for row in rows[at:end]])
        mask = np.arange(length[0]) < length[:, None]
        ids = np.zeros(mask.shape, np.int64)
        ids[mask] = [piece for row in rows[at:end] for piece in row]
        out.append((torch.from_numpy(ids), torch.from_numpy(mask.astype(np.int64))))
        at = end
    return out


def forward(victim: Any, ready: list[tuple[Any, Any]]) -> None:
    """Runs the model on batches and waits for the device."""
    import torch

    with torch.inference_mode():
        found = [victim.model(*(array.to(victim.model.device) for array in inputs)).logits for inputs in ready]
        torch.cat(found).cpu()


def tokenized(victim: Any, texts: list[str]) -> list[list[int]]:
    return list(victim.tokenizer(texts, truncation=True, max_length=victim.max_length)["input_ids"])


def bare_model(victim: Any, texts: list[str], batch_tokens: int) -> float:
    """Returns texts per second of the forward pass alone, with batches made beforehand."""
    ready = batches(tokenized(victim, texts), batch_tokens)
    forward(victim, ready[-1:])
    begin = time.perf_counter()
    forward(victim, ready)
    return len(texts) / (time.perf_counter() - begin)


def plain_way(victim: Any, texts: list[str], batch_tokens: int) -> tuple[float, float]:
    """Returns the seconds to tokenise all texts, and the seconds to pad and forward them afterwards."""
    begin, rows = time.perf_counter(), []
    for at in range(0, len(texts), AT_ONCE):
        rows += tokenized(victim, texts[at : at + AT_ONCE])
    middle = time.perf_counter()
    forward(victim, batches(rows, batch_tokens))
    return middle - begin, time.perf_counter() - middle


def engine(setup: EvaluationSetup, folder: Path, **settings: Any) -> tuple[float, dict[str, Any]]:
    """Returns the seconds of a whole evaluation with a loaded model, and the timings that it wrote."""
    import scuff

    begin = time.perf_counter()
    scuff.evaluate(setup.victim, setup.data, folder, **setup.settings.asdict(), **settings)
    seconds = time.perf_counter() - begin
    return seconds, json.loads((folder / "timings.json").read_text())[-1]


def efficiency(setup: EvaluationSetup, folder: Path, settings: dict[str, Any], rounds: int) -> None:
    """Prints queries per second of an evaluation over texts per second of the bare model, by round."""
    if setup.victim.batch_tokens is None:
        setup.victim(list(setup.data.columns[0]) * 10)  # so that it finds its batch size
    tokens = setup.victim.batch_tokens or 2048
    write_cases(setup.data, str(folder / "cases.jsonl"), **settings)
    texts = [json.loads(line)[setup.data.fields[0]] for line in (folder / "cases.jsonl").read_text().splitlines()]
    print(f"{len(texts):,} different texts, batches of {tokens} tokens")
    ratios = []
    for turn in range(rounds):
        limit = bare_model(setup.victim, texts, tokens)
        seconds, noted = engine(setup, folder / f"run{turn}")
        ratios.append(noted["queries"] / seconds / limit)
        said = f"{noted['queries'] / seconds:.0f} queries/s ({noted['queries']:,} asked)"
        print(f"bare model {limit:.0f} texts/s, scuff evaluate {said}: {ratios[-1]:.2f}", flush=True)
    print(f"engine efficiency {max(ratios):.2f} (best of {rounds}), {np.mean(ratios):.2f} on average")


def full(setup: EvaluationSetup, folder: Path, workers: int) -> None:
    """Runs one dimension of the whole protocol, and then the model on the same texts, ready-made."""
    victim: Any = setup.victim
    seen: list[Sequence[str]] = []
    kind = type(victim)

    class Noting(kind):  # type: ignore[misc, valid-type]
        def __call__(self, *columns: Sequence[str]) -> Any:
            seen.append(columns[0])
            return kind.__call__(self, *columns)

    victim.settle()
    victim(list(setup.data.columns[0]) * 3)
    victim.__class__ = Noting
    first, _ = engine(setup, folder / "first", workers=workers)
    victim.__class__ = kind
    texts = sorted((text for column in seen for text in column), key=len, reverse=True)
    seconds, noted = engine(setup, folder / "second", workers=workers)
    inside = f"{noted['victim_seconds']:.1f} s of them inside the victim"
    speed = f"{len(texts) / seconds:,.0f} texts/s ({len(texts):,}); {first:.1f} s the first time in this process"
    print(f"scuff evaluate: {seconds:.1f} s, {inside}, {speed}", flush=True)
    begin = time.perf_counter()
    for at in range(0, len(texts), victim.rows_at_once):
        victim(texts[at : at + victim.rows_at_once])
    own = time.perf_counter() - begin
    print(f"the same texts, ready-made, through the victim: {own:.1f} s; ratio {own / seconds:.2f}", flush=True)
    tokenising, forwarding = plain_way(victim, texts, victim.batch_tokens)
    plain = tokenising + forwarding
    parts = f"tokenizer(...) {tokenising:.1f} s + padding and forward {forwarding:.1f} s"
    print(f"the same texts, the plain way: {parts} = {plain:.1f} s; ratio {plain / seconds:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="MODEL DATA")
    parser.add_argument("--examples", type=int, help="default 100, with --full 1,000")
    parser.add_argument("--cases", type=int, help="default 4, with --full 100")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dimension", default=DIMENSIONS[0], help="for --full; default keyboard")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 1) - 2), help="for --full")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        model, data = args.what or default_victim(folder, "test" if args.full else "dev")
        examples, cases, names = (1000, 100, [args.dimension]) if args.full else (100, 4, list(DIMENSIONS))
        settings: dict[str, Any] = {
            "examples": args.examples or examples, "cases": args.cases or cases, "dimensions": names,
        }  # fmt: skip
        setup = EvaluationSetup.open(model, data, {**settings, "options": {"device": args.device}})
        if args.full:
            full(setup, folder, args.workers)
        else:
            efficiency(setup, folder, settings, args.rounds)


if __name__ == "__main__":
    main()
