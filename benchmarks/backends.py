"""Compares the backends of a classifier on a CPU in real attacks, with TextAttack in the same run, and ways to tokenise.

  python benchmarks/backends.py [MODEL DATA] [--examples 50] [--recipes deepwordbug pwws] [--rounds 3] [--skip-textattack]

Each round attacks the same examples by every side: TextAttack with dynamic padding (benchmarks/textattack_side.py, in its own
environment), and `scuff.attack` with PyTorch, onnxruntime and OpenVINO, everything included. Models are loaded, exported and have
attacked something before the clock starts. All sides use as many threads. Ratios are those of one round; medians are printed: by
the clock, for the same examples, and by the texts that the model saw in a second. (TextAttack's own count of queries has those
that its cache answers.)

Then the texts that Scuff asked about, call by call as the attack asked, go through `tokenizer(...)`, through the tokenizer's own
batch method (as Scuff did before), and through the table of words, empty at first and then known: texts per second of one core,
that is, of CPU time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from attack import PEERS, WARM, Side, choose, ours, textattack, write
from evaluate import default_victim
from scuff.huggingface import batches
from scuff.huggingface.words import Words, reading_of, words_of
from scuff.victims.exported import BACKENDS
from scuff.victims.open import open_victim

TEXTATTACK = "TextAttack, dynamic padding"


def attacks(args: argparse.Namespace, folder: Path, recipe: str, victims: dict[str, Any], data: Path) -> list[str]:
    """Prints seconds, queries and ratios of every side. Returns the texts that Scuff asked about, by call."""
    sides: dict[str, list[Side]] = {name: [] for name in ([TEXTATTACK] if args.textattack else []) + list(victims)}
    for name, victim in victims.items():
        ours(victim, folder / "few.jsonl", recipe, 0, WARM, folder / f"{recipe}-{name}-warm")
    for seed in range(args.rounds):
        if args.textattack:
            common = {"model": args.what[0], "data": data, "recipe": recipe, "threads": args.threads, "seed": seed}
            sides[TEXTATTACK].append(textattack(args.peer_python, folder / "asked", wrapper="dynamic", **common))
        for name, victim in victims.items():
            out = folder / f"{recipe}-{name}-{seed}"
            sides[name].append(ours(victim, data, recipe, seed, args.examples, out))
    print(
        f"\n{recipe}\n\n| | seconds | queries | texts seen | seen/s | times TextAttack: by the clock, by texts seen/s |",
        end="",
    )
    print(" times pytorch | succeeded |\n|---|---:|---:|---:|---:|---|---:|---:|")

    def clock(side: Side) -> float:
        return 1 / float(side["seconds"])

    def speed(side: Side) -> float:
        return float(side["forwards"] / side["seconds"])

    def times(name: str, other: str, rate: Callable[[Side], float]) -> str:
        pairs = zip(sides[name], sides.get(other, []), strict=False)
        ratios = [rate(one) / rate(two) for one, two in pairs]
        return f"{median(ratios):.2f}" if ratios else "-"

    for name, found in sides.items():
        figures = [median(side[what] for side in found) for what in ("seconds", "queries", "forwards")]
        won = sum(one["success"] for side in found for one in side["examples"])
        line = [name, f"{figures[0]:.1f}", f"{figures[1]:.0f}", f"{figures[2]:.0f}", f"{median(map(speed, found)):.0f}"]
        line += [
            ", ".join(times(name, TEXTATTACK, rate) for rate in (clock, speed)),
            times(name, "pytorch", clock),
            f"{won}",
        ]
        print("| " + " | ".join(line) + " |")
    return list(sides["pytorch"][0]["asked"])


def tokenising(tokenizer: Any, texts: Sequence[str], at_once: int = 512) -> None:
    """Prints texts per second of one core for every way to tokenise."""
    backend, calls = tokenizer.backend_tokenizer, [texts[at : at + at_once] for at in range(0, len(texts), at_once)]
    table, reading = words_of(tokenizer), reading_of(backend)
    if table is None or reading is None:
        print("this tokenizer's texts cannot be cut at blanks")
        return

    def library(some: Sequence[str]) -> object:
        return tokenizer(list(some), truncation=True, max_length=512)

    def whole(some: Sequence[str]) -> object:
        rows = batches._encode_fast(tokenizer, [some], 512, False, False)
        return batches._gathered(rows, {"input_ids": lambda row: row.ids}, {"input_ids": 0})

    def new() -> Callable[[Sequence[str]], object]:
        return Words(backend, reading).cut

    def known() -> Callable[[Sequence[str]], object]:
        return lambda some: batches.encode(tokenizer, [some], 512)

    ways = {
        "`tokenizer(...)`": lambda: library,
        "its batch method": lambda: whole,
        "words, none known": new,
        "words, all known": known,
    }
    print("\n| tokenising | texts/s of one core |\n|---|---:|")
    for name, way in ways.items():
        rates = []
        for _ in range(3):
            cut, begin = way(), time.process_time()
            for some in calls:
                cut(some)
            rates.append(len(texts) / (time.process_time() - begin))
        print(f"| {name} | {max(rates):,.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", nargs="*", metavar="MODEL DATA", help="default: the shared victim for sst2, its dev set"
    )
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument("--recipes", nargs="+", default=["deepwordbug", "pwws"], choices=["deepwordbug", "pwws"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backends", nargs="+", default=list(BACKENDS), choices=list(BACKENDS))
    parser.add_argument("--peer-python", type=Path, default=PEERS / "venv-ta/bin/python")
    parser.add_argument("--skip-textattack", dest="textattack", action="store_false")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if args.textattack and not args.peer_python.exists():
        sys.exit(
            f"expected TextAttack's Python for --peer-python, got {args.peer_python}: SCUFF_SHARED/peers/make_venvs.sh"
        )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        args.what = args.what or default_victim(folder, "dev")
        model, data = args.what
        options = {"device": "cpu", "threads": args.threads}
        names = dict.fromkeys(["pytorch", *args.backends])
        victims: dict[str, Any] = {
            name: open_victim(model, "single", (), {**options, "backend": name}) for name in names
        }
        rows = choose(victims["pytorch"], data, args.examples)
        args.examples = len(rows)
        write(rows[:WARM], folder / "few.jsonl")
        examples = write(rows, folder / "examples.jsonl")
        print(f"{len(rows)} examples of {Path(data).name}, {Path(model).name}, {args.threads} threads")
        for recipe in args.recipes:
            tokenising(victims["pytorch"].tokenizer, attacks(args, folder, recipe, victims, examples))


if __name__ == "__main__":
    main()
