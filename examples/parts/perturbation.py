"""A perturbation: which words can change, and what they become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from scuff.perturbations import Facts, WordPerturbation
from scuff.text import Corpus, Ragged, Rng
from scuff.text.ragged import Ints, Mask


@dataclass(frozen=True)
class Shout(WordPerturbation):
    """Write words in capitals; `loud` adds an exclamation mark."""

    loud: bool = False

    name: ClassVar[str] = "shout"
    facts: ClassVar[Facts] = Facts("write words in capitals", paper="none", example="ADVERSARIAL attacks are HARMLESS.")

    def able(self, corpus: Corpus) -> Mask:
        return np.array([word != word.upper() for word in corpus.cut(corpus.words).strings()], np.bool_)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        old = corpus.cut(corpus.words.where(which)).strings()
        new = [word.upper() + "!" * self.loud for word in old]
        return Ragged.of(new), np.array([len(word) for word in new], np.int64)
