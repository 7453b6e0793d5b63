"""Measures the speed of the perturbations: characters per second on one core, beside peers and limits of the same run.

    python benchmarks/perturb.py                    # 20,000 texts of the shared data, all perturbations, limits, peers
    python benchmarks/perturb.py --texts my.txt     # a text per line instead

Peers are measured in their own virtual environments (SCUFF_PEERS, default ~/.cache/scuff-peers, built by
SCUFF_SHARED/peers/make_venvs.sh) with their own defaults; a peer without an environment is skipped with a message.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np

import scuff
from scuff.perturbations.base import LEVELS

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
PEERS = Path(os.environ.get("SCUFF_PEERS", Path.home() / ".cache/scuff-peers"))
VENVS = {"nlpaug": "venv-aug", "augly": "venv-augly", "textattack": "venv-ta"}
SAME = {  # by perturbation, the peers' operations that do the same or come closest
    "inner-shuffle": ["RandomCharAug(swap)", "simulate_typos(typo_type=charmix)", "WordSwapNeighboringCharacterSwap"],
    "full-shuffle": ["RandomCharAug(swap)", "simulate_typos(typo_type=charmix)", "WordSwapNeighboringCharacterSwap"],
    "intrude": ["RandomCharAug(insert)", "insert_punctuation_chars", "WordSwapRandomCharacterInsertion"],
    "disemvowel": ["RandomCharAug(delete)", "WordSwapRandomCharacterDeletion"],
    "truncate": ["RandomCharAug(delete)", "WordSwapRandomCharacterDeletion"],
    "segment": ["SplitAug", "merge_words"],
    "keyboard": ["KeyboardAug", "simulate_typos(typo_type=keyboard)", "WordSwapQWERTY"],
    "natural": ["SpellingAug", "simulate_typos(typo_type=misspelling)"],
    "phonetic": [],
    "visual": ["replace_similar_unicode_chars", "WordSwapHomoglyphSwap"],
    "homoglyph": ["replace_similar_unicode_chars", "WordSwapHomoglyphSwap"],
    "invisible": ["insert_zero_width_chars"],
    "omit": [],
    "typo": [],
}
# these tag or parse each text and remember that: every turn has other texts
WORDS = ["inflection", "synonym", "syntax"]


def real_texts(count: int = 20_000) -> list[str]:
    """Returns texts of davidson and sst2 in turn, as the peers' scripts read them."""
    parts = []
    for task in ("davidson", "sst2"):
        with gzip.open(SHARED / "data" / task / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
            parts.append([json.loads(line)["text"] for line, _ in zip(lines, range(count // 2), strict=False)])
    return [text for pair in zip(*parts, strict=True) for text in pair]


def rate(call: Callable[[], object], characters: int, turns: int) -> float:
    """Returns million characters per second: the median of some turns after a warm-up."""
    call()
    seconds = []
    for _ in range(turns):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return characters / statistics.median(seconds) / 1e6


def rate_of_new(name: str, texts: list[str], turns: int) -> float:
    """Returns million characters per second on texts that were not seen before: the median of some turns after a warm-up."""
    parts = np.array_split(np.arange(len(texts)), turns + 1)
    found = []
    for part in parts:
        some = [texts[at] for at in part.tolist()]
        begin = time.perf_counter()
        scuff.perturb(some, name)
        found.append(sum(map(len, some)) / (time.perf_counter() - begin) / 1e6)
    return statistics.median(found[1:])


def peer_rates(seconds: float) -> dict[str, float]:
    """Returns million characters per second by peer and operation."""
    found: dict[str, float] = {}
    for peer, venv in VENVS.items():
        python, script = PEERS / venv / "bin/python", SHARED / "peers/perturb_throughput.py"
        if not (python.exists() and script.exists()):
            print(f"{peer}: not measured, no environment in {PEERS}", file=sys.stderr)
            continue
        command = [str(python), str(script), peer, "--seconds", str(seconds)]
        for line in subprocess.run(command, capture_output=True, text=True).stdout.splitlines():
            entry = json.loads(line)
            if "chars_per_s" in entry:
                found[f"{peer} {entry['op']}"] = entry["chars_per_s"] / 1e6
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", help="a file with a text per line instead of the shared data")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3, help="per peer operation and repetition")
    parser.add_argument("--no-peers", action="store_true")
    args = parser.parse_args()
    if not args.texts and not (SHARED / "data").is_dir():
        sys.exit(f"needs the shared data in {SHARED} (SCUFF_SHARED), or --texts FILE")
    texts = Path(args.texts).read_text(encoding="utf-8").splitlines() if args.texts else real_texts()
    characters = sum(map(len, texts))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the peers' processes, too: all on the same core

    shift = {code: code + 1 for code in range(97, 122)}
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    translate = rate(lambda: [text.translate(shift) for text in texts], characters, args.turns)
    copy = rate(points.copy, characters, args.turns)
    peers = {} if args.no_peers else peer_rates(args.seconds)
    print(
        f"{len(texts):,} texts, {characters:,} characters, one core, text in to text out, level mid; millions per second"
    )
    print(f"limits: str.translate {translate:.1f}, NumPy copy of the code points {copy:.0f}\n")
    levels = [name for name in LEVELS if name != "mid"]
    print(
        f"| perturbation | M chars/s | of str.translate | {' | '.join(levels)} | fastest peer, M chars/s | times that |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in SAME:
        perturbation = scuff.parse(name)

        def speed(level: str, turns: int, perturbation: scuff.Perturbation = perturbation) -> float:
            return rate(lambda: scuff.perturb(texts, perturbation, level), characters, turns)

        ours, others = speed("mid", args.turns), [f"{speed(level, 3):.1f}" for level in levels]
        same = {op: value for op, value in peers.items() if any(part in op for part in SAME[name])}
        best = max(same, key=lambda op: same[op], default="")
        beaten = f"{best}: {same[best]:.2f} | {ours / same[best]:.0f}" if best else "- | -"
        print(f"| {name} | {ours:.1f} | {ours / translate:.2f} | {' | '.join(others)} | {beaten} |", flush=True)
    for name in WORDS:
        ours = rate_of_new(name, texts, args.turns)
        print(f"| {name} | {ours:.2f} | {ours / translate:.3f} | - | - | - | - |", flush=True)
    print("\nall peers' operations: " + "; ".join(f"{op} {value:.3f}" for op, value in peers.items()) if peers else "")


if __name__ == "__main__":
    main()
