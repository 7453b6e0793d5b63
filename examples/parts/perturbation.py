"""A perturbation: which words can change, and what they become."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scuff.perturbations import Corpus, Ints, Mask, Ragged, Rng, WordPerturbation


@dataclass(frozen=True)
class Shout(WordPerturbation):
    """Write words in capitals; `loud` adds an exclamation mark."""

    loud: bool = False

    def able(self, corpus: Corpus) -> Mask:
        return np.array([word != word.upper() for word in corpus.cut(corpus.words).strings()], np.bool_)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        old = corpus.cut(corpus.words.where(which)).strings()
        new = [word.upper() + "!" * self.loud for word in old]
        return Ragged.of(new), np.array([len(word) for word in new], np.int64)
