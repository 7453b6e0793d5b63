"""How human the misspellings are: on words that were held out, and on another source of errors (codespell's dictionary).

python build/natural/estimate.py ERRORS.tsv --held 0.1 --out held.xz
python build/natural/judge.py ERRORS.tsv held.xz      # prints Markdown
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from estimate import clean, codespell, listed
from rapidfuzz.distance import OSA

import scuff
from scuff.perturbations.channel import NoisyChannel
from scuff.perturbations.keyboard import neighbours
from scuff.text.corpus import Corpus
from scuff.text.random import Rng

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def uniform_edits(word: str) -> Counter[str]:
    """Every way to delete, replace, insert or swap."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    found = [a + b[1:] for a, b in cuts if b] + [a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1]
    found += [a + c + b[1:] for a, b in cuts if b for c in LETTERS] + [a + c + b for a, b in cuts for c in LETTERS]
    return Counter(new for new in found if new != word)


def keyboard_edits(word: str) -> Counter[str]:
    near = neighbours("qwerty")
    return Counter(word[:i] + n + word[i + 1 :] for i, c in enumerate(word) for n in near[c])


def channel_edits(channel: NoisyChannel, word: str) -> Counter[str]:
    """All outputs of one rule, with their weights."""
    letters = Corpus.of([word]).letters
    out: Counter[str] = Counter()
    weight, texts = np.diff(channel.weight), channel.texts.strings()
    for at, context in enumerate(channel.contexts(letters).tolist()):
        for rule in range(channel.first[context], channel.first[context + 1]):
            out[word[:at] + texts[channel.number[rule]] + word[at + channel.taken[rule] :]] += int(weight[rule])
    return out


def bits(found: Counter[str], error: str, floor: float) -> float:
    """Surprise at an error; every model mixed with 1 % of uniform edits, so that none is infinitely surprised."""
    return -math.log2(0.99 * found[error] / max(1, sum(found.values())) + 0.01 * floor)


def samples(words: list[str], count: int, channel: NoisyChannel) -> dict[str, list[list[str]]]:
    chance = random.Random(1)
    drawn: dict[str, list[list[str]]] = {"channel": [], "keyboard": [], "uniform edits": []}
    everything = np.arange(len(words))
    pools = [list(uniform_edits(word).elements()) for word in words]
    for turn in range(count):
        corpus = Corpus.of(words)
        drawn["channel"].append(channel.change(corpus, everything, Rng.of(corpus.keys, turn))[0].strings())
        drawn["keyboard"].append(scuff.perturb(words, "keyboard(phi=0)", 1, seed=turn))
        drawn["uniform edits"].append([chance.choice(pool) for pool in pools])
    return {name: [list(each) for each in zip(*turns, strict=True)] for name, turns in drawn.items()}


def main(errors: str, table: str) -> None:
    channel = NoisyChannel.read(Path(table).read_bytes())
    known = listed(errors)
    words = sorted(known)
    random.Random(7).shuffle(words)
    cut = int(len(words) * 0.1)
    held = {word: known[word] for word in words[:cut]}
    trained = set(words[cut:])
    other = {word: e for word, e in clean(codespell()).items() if word not in trained}
    print(
        "| test | model | bits per error of one edit | a real error at 1 sample | at 5 | at 20 |\n|---|---|---|---|---|---|"
    )
    for name, test in {"held-out words of the same list": held, "codespell, words not in the list": other}.items():
        some = random.Random(3).sample(sorted(test), min(1500, len(test)))
        surprise: dict[str, list[float]] = {"channel": [], "keyboard": [], "uniform edits": []}
        for word in some:
            flat = uniform_edits(word)
            models = {"channel": channel_edits(channel, word), "keyboard": keyboard_edits(word), "uniform edits": flat}
            for error in test[word]:
                if OSA.distance(word, error) == 1:
                    for model, found in models.items():
                        surprise[model].append(bits(found, error, flat[error] / sum(flat.values())))
        drawn = samples(some, 20, channel)
        for model in surprise:
            hits = [
                np.mean([bool(set(each[:k]) & set(test[w])) for w, each in zip(some, drawn[model], strict=True)])
                for k in (1, 5, 20)
            ]
            print(
                f"| {name} ({len(some)} words, {len(surprise[model])} errors) | {model} | {np.mean(surprise[model]):.2f} | "
                + " | ".join(f"{h:.1%}" for h in hits)
                + " |"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
