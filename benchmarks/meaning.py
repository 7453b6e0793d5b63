"""Measures how fast chrF of pairs of texts is beside sacrebleu, sentence by sentence, in the same run, at equal results.

    python benchmarks/meaning.py                            # needs sacrebleu; SCUFF_SHARED/data/multi30k_de_en where present
    python benchmarks/meaning.py --outputs O --references R # of your own files, a text per line
    python benchmarks/meaning.py --lines 1000000            # and `scuff meaning` on five files of so many lines: time, memory

Time is processor time of one core; each side is measured three times in turn, and the fastest counts. Without a translator at
hand, outputs are references in which 30 % of the words are replaced by words of other references, 5 % left out, and half of the
texts have two neighbours swapped: their chrF is that of a fair translator. The aim: 20 times sacrebleu's speed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import sacrebleu

from scuff.data.toy import toy_dataset
from scuff.metrics.chrf import chrf

AIM = 20
SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
Pairs = tuple[list[str], list[str]]
# the peak of the new process alone: what the system counts for a child begins with its parent's
COMMAND = """
import sys, time
from pathlib import Path
from scuff.cli.main import main
main(sys.argv[1:])
peak = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(time.process_time(), int(peak) / 1024, file=sys.stderr)
"""


def references() -> tuple[str, list[str]]:
    """Returns what the texts are, and English sentences: of Multi30k, else the embedded reviews."""
    file = SHARED / "data/multi30k_de_en/train.jsonl.gz"
    if not file.is_file():
        print("Multi30k: skipped, not in SCUFF_SHARED; the embedded reviews take its place")
        return "embedded reviews", [str(text) for text in toy_dataset("sentiment", "train").columns[0]] * 10
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return "Multi30k", [json.loads(line)["target"] for line in lines]


def as_translated(texts: list[str], rng: random.Random) -> list[str]:
    """Returns texts as a fair translator would have them."""
    pool, out = " ".join(texts[:2000]).split(), []
    for text in texts:
        words = [rng.choice(pool) if rng.random() < 0.3 else word for word in text.split() if rng.random() > 0.05]
        if len(words) > 2 and rng.random() < 0.5:
            at = rng.randrange(len(words) - 1)
            words[at], words[at + 1] = words[at + 1], words[at]
        out.append(" ".join(words))
    return out


def as_attacked(texts: list[str], rng: random.Random) -> list[str]:
    """Returns texts with two neighbouring letters swapped in three words, as CharSwap does."""
    out = []
    for text in texts:
        words = text.split()
        for _ in range(3):
            at = rng.randrange(len(words))
            if len(words[at]) > 3:
                place = rng.randrange(1, len(words[at]) - 2)
                word = words[at]
                words[at] = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        out.append(" ".join(words))
    return out


def sets(size: int, given: Pairs | None) -> dict[str, Pairs]:
    """Returns the pairs of texts to measure, by what they are."""
    if given:
        return {"your files": given}
    name, texts = references()
    texts = (texts * (size // len(texts) + 1))[:size]
    rng = random.Random(0)
    ideographs = ["".join(chr(0x4E00 + int(abs(rng.gauss(0, 900)))) for _ in range(25)) for _ in range(size)]
    return {
        f"{name}: outputs against references": (as_translated(texts, rng), texts),
        f"{name}: attacked inputs against inputs": (as_attacked(texts, rng), texts),
        "random ideographs, 25 a text": ([text[:8] + text[10:] + text[3] for text in ideographs], ideographs),
        f"{name}: documents of 30 sentences": tuple(  # type: ignore[dict-item]
            [" ".join(side[at : at + 30]) for at in range(0, size, 30)] for side in (as_translated(texts, rng), texts)
        ),
    }


def by_sacrebleu(outputs: list[str], wanted: list[str]) -> npt.NDArray[np.float64]:
    metric = sacrebleu.CHRF()
    return np.array(
        [metric.sentence_score(*pair).score for pair in zip(outputs, ([one] for one in wanted), strict=True)]
    )


def timed(run: Callable[[], npt.NDArray[np.float64]]) -> tuple[float, npt.NDArray[np.float64]]:
    begin = time.process_time()
    found = run()
    return time.process_time() - begin, found


def compare(name: str, pairs: Pairs, times: int = 3) -> float:
    """Prints a row of the table. Returns how many times faster Scuff is."""
    theirs, mine = [], []
    few = max(len(pairs[0]) // 5, 1)  # sacrebleu's speed does not depend on how many there are
    for _ in range(times):
        slow, wanted = timed(lambda: by_sacrebleu(pairs[0][:few], pairs[1][:few]))
        fast, found = timed(lambda: chrf(*pairs))
        theirs.append(few / slow)
        mine.append(len(pairs[0]) / fast)
    away = np.abs(found[:few] - wanted / 100).max()
    assert away < 1e-9, f"results differ by {away}"
    ratio = max(mine) / max(theirs)
    mean = np.mean([len(text) for side in pairs for text in side])
    row = [
        name,
        f"{mean:.0f}",
        f"{found.mean():.2f}",
        f"{max(theirs):,.0f}",
        f"{max(mine):,.0f}",
        f"{ratio:.0f}",
        f"{away:.0e}",
    ]
    print(f"| {' | '.join(row)} |", flush=True)
    return ratio


def measure_command(lines: int) -> None:
    """Prints time and memory of `scuff meaning` on five files."""
    _, texts = references()
    texts = (texts * (lines // len(texts) + 1))[:lines]
    rng = random.Random(1)
    columns = {
        "src": texts, "adv-src": as_attacked(texts, rng), "out": as_translated(texts, rng), "adv-out": as_translated(texts, rng),
        "ref": texts,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        command, size = [sys.executable, "-c", COMMAND, "meaning"], 0
        for name, column in columns.items():
            path = Path(folder, name)
            path.write_text("\n".join(column) + "\n", encoding="utf-8")
            command += [f"--{name}", str(path)]
            size += path.stat().st_size
        done = subprocess.run([*command, "--jsonl", os.devnull], check=True, capture_output=True, text=True)
    took, memory = map(float, done.stderr.split())
    told = f"{lines:,} lines of five files ({size / 1e6:.0f} MB), with --jsonl: {took:.0f} s, {memory:.0f} MB"
    print(f"\nscuff meaning, {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=20_000, help="pairs of each kind")
    parser.add_argument("--outputs", type=Path)
    parser.add_argument("--references", type=Path)
    parser.add_argument("--lines", type=int, default=0, help="also measure the command on files of so many lines")
    args = parser.parse_args()
    given = None
    if args.outputs and args.references:
        given = tuple(path.read_text(encoding="utf-8").splitlines() for path in (args.outputs, args.references))
    print(f"sacrebleu {sacrebleu.__version__}, numpy {np.__version__}, one core; pairs a second\n")
    print("| pairs | letters | chrF | sacrebleu | Scuff | times | largest difference |\n|---|---|---|---|---|---|---|")
    ratios = [compare(name, pairs) for name, pairs in sets(args.size, given).items()]
    print(f"\nfirst row: {ratios[0]:.0f} times, the aim is {AIM}")
    if args.lines:
        measure_command(args.lines)


if __name__ == "__main__":
    main()
