"""Write src/scuff/resources/data/detect.json: the weights of Detector. benchmarks/restoration.py measures it.

    PYTHONPATH=src python build/shields/detect.py    # needs SCUFF_SHARED (default ../shared); two minutes on one core

Weights are learnt on the train parts of four sets, clean and perturbed at strengths from 0.05 to 0.8, with weight on few large
weights (L2); bias and scale of each model (Platt) and the thresholds come from the dev parts, each set counting alike.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
import scuff
from scuff.shields.detect import (
    KINDS_OF_TAMPERING,
    RATES,
    STATISTICS,
    Weights,
    features,
    kinds_of_repairs,
)
from scuff.text.corpus import Corpus
from scuff.text.ragged import Floats

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "src/scuff/resources/data/detect.json"
SHARED = Path(os.environ.get("SCUFF_SHARED", ROOT.parent / "shared"))
SETS = ("wikitext", "agnews", "jigsaw", "sst2")
PERTURBATIONS = {
    "homoglyph": "look-alike", "homoglyph(scripts='all')": "look-alike", "visual": "look-alike", "glyph": "look-alike",
    "invisible": "invisible", "intrude": "symbols", "segment": "spacing", "homoglyph(scripts='ascii')": "leet",
    "keyboard": "spelling", "typo": "spelling", "natural": "spelling", "phonetic": "spelling", "inner-shuffle": "shuffled",
    "full-shuffle": "shuffled", "disemvowel": "shortened", "truncate": "shortened",
}  # fmt: skip
MARKS = "\u0300\u0301\u0302\u0303\u0308\u030a\u0316\u0323\u0331\u0334\u0335\u0336\u0337\u0338\u0332\u035c"
STYLES = (0x1D400, 0x1D434, 0x1D468, 0x1D4D0, 0x1D56C, 0x1D5A0, 0x1D5D4, 0x1D670)  # A of some mathematical alphabets
STRENGTHS = (0.05, 0.1, 0.2, 0.4, 0.8)
LONGEST = 400  # characters of a text that are taken, so that long comments do not take all the time
PENALTY = 3.0


def texts(name: str, part: str, first: int, count: int) -> list[str]:
    """Some texts of a part of a set."""
    out: list[str] = []
    with gzip.open(SHARED / "data" / name / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if first <= number < first + count:
                row = json.loads(line)
                out.append((row.get("text") or row["sentence"])[:LONGEST])
    return out


def _styled(word: str, chance: random.Random) -> str:
    """A word in a mathematical alphabet, circled or of full width."""
    way = chance.choice((*STYLES, 0x24B6, 0xFF21))
    small = way + (32 if way == 0xFF21 else 26)
    return "".join(
        chr(way + ord(c) - 65) if "A" <= c <= "Z" else chr(small + ord(c) - 97) if "a" <= c <= "z" else c for c in word
    )


def _marked(word: str, chance: random.Random) -> str:
    """A word with marks upon its letters: one mark on all of them, or piles."""
    if chance.random() < 0.5:
        mark = chance.choice("\u0334\u0335\u0336\u0337\u0338\u0332")
        return "".join(c + mark for c in word)
    return "".join(c + "".join(chance.choices(MARKS, k=chance.randint(1, 5))) for c in word)


def _overridden(word: str, chance: random.Random) -> str:
    """A word written backwards in an override of direction, or with marks of direction in it."""
    if chance.random() < 0.5:
        return f"\u202e{word[::-1]}\u202c"
    return chance.choice("\u200e\u200f\u2066").join(word)


def _spaced(word: str, chance: random.Random) -> str:
    """A word letter by letter, with blanks between them."""
    return " ".join(word) if word.isalpha() else word


def _stretched(word: str, chance: random.Random) -> str:
    """A word of which one or two letters are repeated."""
    letters = list(word)
    for at in chance.sample(range(len(word)), min(len(word), chance.randint(1, 2))):
        letters[at] *= chance.randint(3, 7) if word[at].isalpha() else 1
    return "".join(letters)


OTHERS = {
    "styled": (_styled, "look-alike"), "marks": (_marked, "look-alike"), "bidi": (_overridden, "invisible"),
    "spaced": (_spaced, "spacing"), "stretched": (_stretched, "spelling"),
}  # fmt: skip
KIND_OF = PERTURBATIONS | {name: kind for name, (_, kind) in OTHERS.items()}


def _change(texts: list[str], name: str, strength: float, seed: int) -> list[str]:
    """Changes that no perturbation makes, made here, to a share of the words."""
    chance = random.Random(f"{name} {strength} {seed}")
    return [
        " ".join(OTHERS[name][0](word, chance) if chance.random() < strength else word for word in text.split(" "))
        for text in texts
    ]


def tampered(part: str, each: int, seed: int) -> Iterator[tuple[str, float, list[str]]]:
    """(perturbation, strength, changed texts): `each` texts of every set, other ones for each cell."""
    cell = 0
    for name in KIND_OF:
        for strength in STRENGTHS:
            old = [text for one in SETS for text in texts(one, part, cell * each % 1500, each)]
            new = (
                _change(old, name, strength, seed) if name in OTHERS else scuff.perturb(old, name, strength, seed=seed)
            )
            yield name, strength, [text for text, was in zip(new, old, strict=True) if text != was]
            cell += 1


def sample(part: str, clean: int, each: int) -> tuple[Floats, Floats, Floats]:
    """Features; the number of the kind of tampering of each text, from 1 (0: clean); a weight, so that both halves count alike."""
    seen = [features(Corpus.of(texts(name, part, 0, clean))) for name in SETS]
    kind = [np.zeros(len(rows)) for rows in seen]
    for name, _, changed in tampered(part, each, 5):
        seen.append(features(Corpus.of(changed)))
        kind.append(np.full(len(changed), 1 + KINDS_OF_TAMPERING.index(KIND_OF[name])))
    every = np.concatenate(kind)
    return np.concatenate(seen), every, np.where(every > 0, 0.5 / (every > 0).mean(), 0.5 / (every == 0).mean())


def learn(seen: Floats, right: Floats, weight: Floats, penalty: float) -> Floats:
    """Logistic regression by Newton's method; the last weight is the bias, which is not penalised."""
    data = np.concatenate((seen, np.ones((len(seen), 1))), 1)
    out = np.zeros(data.shape[1])
    ridge = np.diag(np.append(np.full(seen.shape[1], penalty), 1e-9))
    for _ in range(40):
        said = 1 / (1 + np.exp(-np.clip(data @ out, -30, 30)))
        slope = data.T @ (weight * (said - right)) + ridge @ out
        curve = (data * (weight * said * (1 - said))[:, None]).T @ data + ridge
        step = np.linalg.solve(curve, slope)
        out -= step * min(1.0, 5 / max(float(np.abs(step).max()), 1e-9))
        if np.abs(step).max() < 1e-6:
            break
    return out


def build() -> dict[str, object]:
    seen, kind, weight = sample("train", 1500, 8)
    middle, scale = seen.mean(0), seen.std(0)
    scale = np.where(scale < 1e-6, 1.0, np.maximum(scale, 0.05))
    fresh, truth, balance = sample("dev", 450, 4)
    rows = []
    for number in range(1 + len(KINDS_OF_TAMPERING)):
        right = (kind > 0 if number == 0 else kind == number).astype(np.float64)
        made = learn((seen - middle) / scale, right, weight, PENALTY)
        score = ((fresh - middle) / scale) @ made[:-1] + made[-1]
        again = (truth > 0 if number == 0 else truth == number).astype(np.float64)
        slope, shift = learn(score[:, None], again, balance, 0.01)
        rows.append(np.append(made[:-1] * slope, made[-1] * slope + shift))
    table = np.array(rows)
    names = [
        *(f"log {kind}" for kind in kinds_of_repairs()),
        *(f"share {kind}" for kind in kinds_of_repairs()),
        *STATISTICS,
    ]
    made_of: dict[str, object] = {
        "names": names,
        "kinds": list(KINDS_OF_TAMPERING),
        "middle": np.round(middle, 5).tolist(),
        "scale": np.round(scale, 5).tolist(),
        "weights": np.round(table[:, :-1], 4).tolist(),
        "bias": np.round(table[:, -1], 4).tolist(),
    }
    model = Weights.of({**made_of, "thresholds": {}})
    clean = [model.probabilities(features(Corpus.of(texts(name, "dev", 0, 1500))))[:, 0] for name in SETS]
    made_of["thresholds"] = {rate: _threshold(clean, float(rate)) for rate in RATES}
    return made_of


def _threshold(clean: list[Floats], rate: float) -> float:
    """The lowest score that no larger share of the clean texts reaches, each set counting alike."""
    score = np.concatenate(clean)
    share = np.concatenate([np.full(one.size, 1 / one.size / len(clean)) for one in clean])
    order = np.argsort(-score, kind="stable")
    over = np.cumsum(share[order]) > rate
    return round(float(np.nextafter(score[order][np.argmax(over)], 2)) + 5e-7, 6)


def main() -> None:
    TARGET.write_text(json.dumps(build(), indent=None, separators=(",", ":")), encoding="utf-8", newline="")
    listing = ROOT / "src/scuff/resources/manifest.toml"
    digest = sha256(TARGET.read_bytes()).hexdigest()
    old = listing.read_text(encoding="utf-8")
    new = re.sub(r'(\["detect\.json"\][^\[]*?sha256 = ")\w*', rf"\g<1>{digest}", old)
    listing.write_text(new, encoding="utf-8", newline="")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
