"""Words that sound alike."""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from ..resources import load
from ..text import Corpus, Ragged, Rng
from ..text.ragged import Ints, Mask
from .base import Facts, WordPerturbation
from .lookup import Spellings


@cache
def _table() -> Spellings:
    rows = [line.split("\t") for line in lzma.decompress(load("phonetic.txt.xz")).decode().split("\n")]
    weights = (weight for _, _, numbers in rows for weight in bytes.fromhex(numbers))
    return Spellings.of([word for word, _, _ in rows], [spellings.split(" ") for _, spellings, _ in rows], weights)


@dataclass(frozen=True)
class Phonetic(WordPerturbation):
    """Replace a word by another spelling of its sound.

    The respellings were made as in the papers: the word's sound is spelled anew by a model that learnt to spell sounds, and kept where
    WordSim calls the two identical or very similar; not one but up to 8 a word, and only those that a model of reading reads back as the same
    sound. Drawn by the spelling model's probability. Words that are not among the 100,000 in the table stay.
    """

    name: ClassVar[str] = "phonetic"
    facts: ClassVar[Facts] = Facts(
        summary="respell a word by its sound",
        paper="Zéroe 3.2, 3.3, A.1; thesis 3.2.1, 3.3.1",
        example="Advursarial attaks are harmlus.",
        scripts="Latin",
        languages=("en",),
    )

    def able(self, corpus: Corpus) -> Mask:
        return _table().find(corpus.cut(corpus.words))[0] >= 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        return _table().respell(corpus, which, rng)
