"""How long a feed takes to make an epoch, and a perturber a batch: seconds of one core, which other work does not change much.

python benchmarks/feeds.py            60,000 texts of about 64 characters, made of the words of the embedded data
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from time import process_time

from scuff.data.dataset import Dataset
from scuff.data.toy import toy_dataset
from scuff.training import Mixed, Perturber

MIXTURES = ("low-mid-high(keyboard)", "low-mid-high(visual)", "leave-one-out(keyboard)", "all")
BATCHES = (32, 256, 1000)
ROUNDS = 20


def seconds(work: Callable[[], object]) -> float:
    begin = process_time()
    work()
    return process_time() - begin


def texts(count: int) -> tuple[str, ...]:
    words = " ".join(map(str, toy_dataset("toy:sentiment", "train").columns[0])).split()
    dice = random.Random(0)
    return tuple(" ".join(dice.choices(words, k=dice.randint(6, 18))) for _ in range(count))


def main(count: int) -> None:
    made = texts(count)
    ids = tuple(map(str, range(count)))
    data = Dataset("texts", "single", (made,), ("a",) * count, ids)
    words = tuple(tuple(text.split()) for text in made)
    tokens = Dataset("tokens", "tokens", (words,), words, ids)
    print(f"{count:,} texts of {sum(map(len, made)) / count:.0f} characters, seconds of one core for an epoch\n")
    print("| mixture | texts | tokens | " + " | ".join(f"batches of {size}, on the fly" for size in BATCHES) + " |")
    print("|---|---|---|" + "---|" * len(BATCHES))
    for mixture in MIXTURES:
        cells = []
        for part in (data, tokens):
            feed = Mixed(part, mixture)
            feed.epoch(0)  # loads what it needs
            cells.append(seconds(partial(feed.epoch, 1)))
        noise = Perturber(mixture)
        for size in BATCHES:
            rows = [[{"text": text} for text in made[at : at + size]] for at in range(0, ROUNDS * size, size)]
            noise(rows[0])
            cells.append(sum(seconds(partial(noise, batch)) for batch in rows) / ROUNDS / size * count)
        print(f"| `{mixture}` | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000)
