"""Measure a model under a perturbation of your own, here umlauts written as on a keyboard without them.

`scuff evaluate MODEL DATA --dimensions examples/own_perturbation.py:Umlauts` does the same on the command line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import scuff
from scuff.perturbations import Corpus, Ints, Mask, Ragged, Rng, WordPerturbation

PLAIN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})


@dataclass(frozen=True)
class Umlauts(WordPerturbation):
    """Write ä as ae, ß as ss."""

    def able(self, corpus: Corpus) -> Mask:
        return np.array([word != word.translate(PLAIN) for word in corpus.cut(corpus.words).strings()], np.bool_)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        old = corpus.cut(corpus.words.where(which)).strings()
        return Ragged.of([word.translate(PLAIN) for word in old]), np.array([len(word) for word in old], np.int64)


if __name__ == "__main__":
    print(scuff.perturb("Die Türen schließen früh, schöne Grüße!", Umlauts(), 1))
    data = [("schöner Tag", "good"), ("müde Füße", "bad"), ("sehr schön", "good"), ("übles Wetter", "bad")]
    predict = lambda texts: ["good" if "schön" in text else "bad" for text in texts]  # noqa: E731
    print(scuff.evaluate(predict, data, dimensions=[Umlauts()], degrees=[1], cases=1))
