"""Words restored, per perturbation and strength, by chains of shields, on texts of a part (dev while anything is being chosen).

    PYTHONPATH=src python build/shields/judge.py --part dev --texts 60 fast context

A word is restored if it is in the longest common subsequence of the words of the original and the mended text.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from pathlib import Path

import numpy as np
from rapidfuzz.distance import LCSseq

from scuff.perturbations.names import ZEROE
from scuff.perturbations.names import parse as perturbation
from scuff.resources import stream_lines
from scuff.shields.base import Shield
from scuff.shields.chain import Chain
from scuff.shields.deobfuscate import Deobfuscate
from scuff.shields.normalise import Normalise
from scuff.shields.restore import Restore
from scuff.text.corpus import Corpus

WORD = re.compile(r"\w+(?:['’-]\w+)*")
SETS = ("wikitext", "agnews", "jigsaw", "sst2")
PAIRS = (
    "keyboard+disemvowel", "natural+phonetic", "inner-shuffle+truncate", "visual+keyboard", "intrude+natural", "segment+typo",
    "homoglyph+inner-shuffle", "phonetic+visual", "disemvowel+intrude", "full-shuffle+invisible",
)  # fmt: skip


def chains() -> dict[str, Shield]:
    first = (Normalise(), Deobfuscate())
    return {
        "none": Chain(()),
        "first": Chain(first),
        "fast": Chain((*first, Restore())),
        "context": Chain((*first, Restore(tier="context"))),
        "restore": Restore(tier="context"),
    }


def texts(shared: Path, part: str, many: int) -> dict[str, list[str]]:
    out = {}
    for name in SETS:
        lines = stream_lines(shared / "data" / name / f"{part}.jsonl.gz")
        out[name] = [json.loads(line)["text"] for line, _ in zip(lines, range(many), strict=False)]
    return out


def restored(original: list[str], mended: list[str]) -> tuple[int, int]:
    """Words restored, and words."""
    hit = total = 0
    for a, b in zip(original, mended, strict=True):
        left, right = WORD.findall(a), WORD.findall(b)
        hit += LCSseq.similarity(left, right)
        total += len(left)
    return hit, total


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("chains", nargs="*", default=["context"])
    ask.add_argument("--shared", type=Path, default=Path(os.environ.get("SCUFF_SHARED", "../shared")))
    ask.add_argument("--part", default="dev")
    ask.add_argument("--texts", type=int, default=60)
    ask.add_argument("--perturbations", nargs="*", default=[*ZEROE, "typo", *PAIRS])
    args = ask.parse_args()
    every = texts(args.shared, args.part, args.texts)
    flat = [text for some in every.values() for text in some]
    shields = {name: chains()[name] for name in args.chains}
    for name, shield in shields.items():
        for data, some in texts(args.shared, args.part, 8 * args.texts).items():
            hit, total = restored(some, shield(Corpus.of(some)).strings())
            print(f"{name:8s} clean {data:10s} {hit / total:.5f} of {total} words stay", flush=True)
    means: dict[tuple[str, str], list[float]] = {}
    for spec in args.perturbations:
        group = "pairs" if "+" in spec else "ten" if spec in ZEROE else "other"
        for name, shield in shields.items():
            cells = []
            for strength in (0.2, 0.5, 0.8):
                noisy = perturbation(spec)(Corpus.of(flat), strength, seed=3)
                began = time.process_time()
                mended = shield(Corpus.of(noisy.strings())).strings()
                spent = time.process_time() - began
                hit, total = restored(flat, mended)
                cells.append((hit / total, total / spent))
                means.setdefault((name, group), []).append(hit / total)
            print(f"{name:8s} {spec:26s}" + "  ".join(f"{share:.4f}" for share, _ in cells)
                  + f"   {np.mean([speed for _, speed in cells]):.0f} words per CPU s", flush=True)  # fmt: skip
    for (name, group), found in means.items():
        print(f"{name:8s} {group:6s} mean {np.mean(found):.4f}")


if __name__ == "__main__":
    main()
