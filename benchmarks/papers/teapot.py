"""Repeats TEAPOT's Tables 2, 5 and 6 and its Figure 1 (Michel et al. 2019) on Multi30k and writes docs/results/teapot.md.

  python benchmarks/papers/teapot.py run [MODEL ...] [--device cuda] [--jobs 16] [--seconds 120] [--limit 480] [--out FOLDER]
  python benchmarks/papers/teapot.py run de-lstm-words --tiny     (to try it: a small model, few sentences)
  python benchmarks/papers/teapot.py page [--runs FOLDER]

Models: LANGUAGE-ARCHITECTURE-PIECES (cs, de, fr; lstm, transformer; words, bpe), and the word LSTMs that are trained on
attacks, LANGUAGE-lstm-words-WITHIN-ALPHA (vocabulary, swaps; 1.0, 0.5). A model is trained, tested and attacked by one process,
`--jobs` of them side by side, base models first; then the rows that the paper has no figures of. What is finished is not done
again. After `--limit` seconds nothing begins; `--seconds` is the most that a training takes. Numbers alone, without any text of the
data, are kept in FOLDER/models and FOLDER/attacks, which is all that `page` needs: it writes docs/results/teapot.json, the
evidence, and the tables of docs/results/teapot.md. Data: SCUFF_SHARED/data/multi30k_*_en. The train part trains, the dev part
chooses the epoch, and everything that is reported, attacks too, is on the test part (2016).
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LANGUAGES = ("cs", "de", "fr")
TITLES = {"lstm": "LSTM", "transformer": "Transformer", "words": "words", "bpe": "subwords"}
CONSTRAINTS = {"Unconstrained": "vocabulary", "CharSwap": "swaps", "kNN": "neighbours"}  # the paper's names, and ours
SUBSTITUTIONS = 3
STEPS = (1, 2, 3)  # substitutions of the stronger search
RANDOM = "CharSwap, random places"
TRAININGS = {  # the paper's names of adversarial trainings
    f"{within}-{alpha}": f"{name}-adv, alpha {alpha}"
    for alpha in (1.0, 0.5)
    for name, within in (("Unconstrained", "vocabulary"), ("CharSwap", "swaps"))
}
OWN = (  # German sentences of our own, in the manner of Multi30k's captions, whose texts may not be copied
    ("Ein alter Mann repariert im Regen ein rotes Fahrrad.", "An old man is repairing a red bicycle in the rain."),
    ("Zwei Kinder bauen am Strand eine Burg aus Sand.", "Two children are building a castle of sand on the beach."),
    ("Eine Frau mit einem blauen Hut liest auf einer Bank ein Buch.", "A woman with a blue hat is reading a book on a bench."),
    ("Drei Hunde rennen über eine Wiese hinter einem Ball her.", "Three dogs are running across a meadow after a ball."),
    ("Ein Junge springt von einer Mauer in das Wasser.", "A boy is jumping from a wall into the water."),
    ("Mehrere Leute sitzen an einem Tisch und essen zusammen.", "Several people are sitting at a table and eating together."),
    ("Ein Mädchen in einem gelben Kleid spielt auf der Straße Gitarre.", "A girl in a yellow dress is playing guitar on the street."),
    ("Ein Arbeiter steht auf einer Leiter und malt ein Haus an.", "A worker is standing on a ladder and painting a house."),
)  # fmt: skip


def title(model: str) -> str:
    """The name of a model, without its language, as tables show it."""
    return " ".join(TITLES.get(part, part) for part in model.split("-"))


def no_sign(name: str) -> str:
    return f"{name}, no sign"


def strong(name: str, n: int = SUBSTITUTIONS) -> str:
    return f"{name}, stronger, {n}"


@dataclass(frozen=True)
class Model:
    """A translator. within, alpha: of adversarial training; "": none."""

    language: str
    kind: str
    pieces: str
    within: str = ""
    alpha: float = 0.0

    @property
    def name(self) -> str:
        trained = f"-{self.within}-{self.alpha}" if self.within else ""
        return f"{self.language}-{self.kind}-{self.pieces}{trained}"

    @classmethod
    def all(cls) -> list[Model]:
        """Base models, then adversarially trained ones; German first, whose figures the issue names."""
        order = sorted(LANGUAGES, key=lambda language: language != "de")
        base = [cls(each, kind, pieces) for kind in ("lstm", "transformer") for pieces in ("words", "bpe") for each in order]
        alphas = [(float(alpha), within) for within, _, alpha in (name.rpartition("-") for name in TRAININGS)]
        return [*base, *(cls(each, "lstm", "words", within, alpha) for alpha, within in alphas for each in order)]


@dataclass(frozen=True)
class Attack:
    """An attack of a table. spec: its search; "": at random places, which asks for no gradient."""

    name: str
    spec: str

    @classmethod
    def main(cls, model: Model) -> list[Attack]:
        """Those of Table 2, or of Table 6 for an adversarially trained model."""
        names = ("CharSwap",) if model.within else tuple(CONSTRAINTS)
        return [cls(name, f"substitution(within='{CONSTRAINTS[name]}', n={SUBSTITUTIONS})") for name in names]

    @classmethod
    def more(cls, model: Model) -> list[Attack]:
        """Those that the paper has no figures of."""
        if model.within:
            return []
        made = [cls(RANDOM, "")]
        for name, within in CONSTRAINTS.items():
            made.append(cls(no_sign(name), f"substitution(within='{within}', n={SUBSTITUTIONS}, sign=False)"))
        for name, within in CONSTRAINTS.items():
            made += [cls(strong(name, n), f"substitution(within='{within}', n={n}, {STRONGER})") for n in reversed(STEPS)]
        return made


STRONGER = "beam=4, verify=16"


@dataclass(frozen=True)
class Place:
    """Where things are, and how much is done."""

    out: Path
    shared: Path
    device: str
    sentences: int
    seconds: float
    epochs: int
    tiny: bool
    until: float  # nothing begins after that

    def translator(self, model: Model) -> Path:
        return self.out / "translators" / model.name

    def tested(self, model: Model) -> Path:
        return self.out / "models" / f"{model.name}.json"

    def attacked(self, model: Model, attack: Attack) -> Path:
        return self.out / "attacks" / model.name / f"{attack.name.replace(', ', '--').replace(' ', '-')}.json"

    def part(self, language: str, name: str, most: int | None = None) -> list[tuple[str, str]]:
        """Pairs of a part of the data."""
        path = self.shared / "data" / f"multi30k_{language}_en" / f"{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        return [(row["source"], row["target"]) for row in rows[:most]]

    def test(self, language: str) -> list[tuple[str, str]]:
        return self.part(language, "test", self.sentences)

    @property
    def late(self) -> bool:
        return time.time() > self.until


def keep(path: Path, what: Any) -> None:
    """Writes JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(what, ensure_ascii=False), encoding="utf-8")
    part.rename(path)
