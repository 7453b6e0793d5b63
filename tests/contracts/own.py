"""Perturbations as a user writes them, with nothing but what `scuff.perturbations` exports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scuff.perturbations import Corpus, Edits, Ints, Mask, Perturbation, Ragged, Rng, WordPerturbation


@dataclass(frozen=True)
class Shout(WordPerturbation):
    """Write words in capitals."""

    loud: bool = False

    def able(self, corpus: Corpus) -> Mask:
        return np.array([self.loud or word != word.upper() for word in corpus.cut(corpus.words).strings()], np.bool_)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        old = corpus.cut(corpus.words.where(which))
        return Ragged.of([word.upper() + "!" * self.loud for word in old.strings()]), old.lengths + self.loud


class EchoWord(Perturbation):
    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        return Edits.of(
            corpus, corpus.words, Ragged.of([f"{word} {word}" for word in corpus.cut(corpus.words).strings()])
        )
