"""How much of a model's speed is left when it is asked through `scuff evaluate`: engine efficiency.

  python benchmarks/evaluate.py [MODEL DATA] [--examples N] [--cases K]

Efficiency is queries per second through `scuff.evaluate`, everything included (pre-flight, perturbation, trials on disk, summary,
report), over texts per second of the same model on the same texts, which are made, tokenized, sorted by length and padded
beforehand, in full batches of the same size, in the same run. The model is loaded before the clock starts.
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
from pathlib import Path
from typing import Any

import numpy as np

from scuff.session.cases import write_cases
from scuff.session.config import Config
from scuff.session.session import Session

DIMENSIONS = ("keyboard", "inner-shuffle", "visual", "phonetic")


def default_victim(folder: Path) -> tuple[str, str]:
    shared = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
    if not (shared / "models").is_dir():
        sys.exit(f"no model given, and no shared models in {shared}: python benchmarks/evaluate.py MODEL DATA")
    subprocess.run([sys.executable, shared / "models" / "restore.py", folder, "sst2"], check=True, capture_output=True)
    return str(folder / "sst2"), str(shared / "data" / "sst2" / "dev.jsonl.gz")


def ceiling(victim: Any, texts: list[str], batch_tokens: int) -> float:
    """Texts per second of the bare model: everything but the forward pass is done beforehand."""
    import torch

    rows = sorted(
        victim.tokenizer(texts, truncation=True, max_length=victim.max_length)["input_ids"], key=len, reverse=True
    )
    batches, at = [], 0
    while at < len(rows):
        end = at + max(1, batch_tokens // len(rows[at]))
        part = rows[at:end]
        ids = np.zeros((len(part), len(part[0])), np.int64)
        for row, pieces in enumerate(part):
            ids[row, : len(pieces)] = pieces
        mask = (np.arange(ids.shape[1]) < np.array([[len(pieces)] for pieces in part])).astype(np.int64)
        batches.append((torch.from_numpy(ids), torch.from_numpy(mask)))
        at = end
    with torch.inference_mode():
        victim.model(*(array.to(victim.model.device) for array in batches[-1]))
        begin = time.perf_counter()
        for inputs in batches:
            victim.model(*(array.to(victim.model.device) for array in inputs)).logits.cpu()
        return len(texts) / (time.perf_counter() - begin)


def engine(session: Session, folder: Path) -> tuple[float, int]:
    """Queries per second of a whole evaluation with a model that is loaded already."""
    import scuff

    begin = time.perf_counter()
    scuff.evaluate(session.victim, session.data, folder, **session.config.asdict())
    seconds = time.perf_counter() - begin
    asked = json.loads((folder / "timings.json").read_text())[-1]["queries"]
    return asked / seconds, asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="MODEL DATA")
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--cases", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        model, data = args.what or default_victim(folder)
        settings: dict[str, Any] = {"examples": args.examples, "cases": args.cases, "dimensions": list(DIMENSIONS)}
        session = Session.of(model, data, Config.of(**settings))
        if session.victim.batch_tokens is None:
            session.victim(list(session.data.columns[0]) * 10)  # let it find its batch size
        tokens = session.victim.batch_tokens or 2048
        write_cases(session.data, str(folder / "cases.jsonl"), **settings)
        texts = [json.loads(line)[session.data.fields[0]] for line in (folder / "cases.jsonl").read_text().splitlines()]
        print(f"{len(texts):,} different texts, batches of {tokens} tokens")
        ratios = []
        for turn in range(args.rounds):
            limit = ceiling(session.victim, texts, tokens)
            speed, asked = engine(session, folder / f"run{turn}")
            ratios.append(speed / limit)
            print(
                f"bare model {limit:.0f} texts/s, scuff evaluate {speed:.0f} queries/s ({asked:,} asked): {speed / limit:.2f}"
            )
        print(f"engine efficiency {max(ratios):.2f} (best of {args.rounds}), {np.mean(ratios):.2f} on average")


if __name__ == "__main__":
    main()
