"""Measure a model under a perturbation of your own, here umlauts written as on a keyboard without them.

`scuff evaluate MODEL DATA --dimensions examples/own_perturbation.py:Umlauts` does the same on the command line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import scuff
from scuff.perturbations import Facts, WordPerturbation
from scuff.text import Corpus, Ragged, Rng
from scuff.text.ragged import Ints, Mask

PLAIN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})


@dataclass(frozen=True)
class Umlauts(WordPerturbation):
    name: ClassVar[str] = "umlauts"
    facts: ClassVar[Facts] = Facts("write ä as ae", paper="none", example="-", languages=("de",))

    def able(self, corpus: Corpus) -> Mask:
        return np.array([word != word.translate(PLAIN) for word in corpus.cut(corpus.words).strings()], np.bool_)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        old = corpus.cut(corpus.words.where(which)).strings()
        return Ragged.of([word.translate(PLAIN) for word in old]), np.array([len(word) for word in old], np.int64)


if __name__ == "__main__":
    print(scuff.perturb("Die Türen schließen früh, schöne Grüße!", Umlauts(), 1))
    data = [("schöner Tag", "good"), ("müde Füße", "bad"), ("sehr schön", "good"), ("übles Wetter", "bad")]
    predict = lambda texts: ["good" if "schön" in text else "bad" for text in texts]  # noqa: E731
    own = f"umlauts={__file__}:Umlauts"  # by this name worker processes find it, too; [Umlauts()] does without
    print(scuff.evaluate(predict, data, dimensions=[own], degrees=[1], cases=1))
