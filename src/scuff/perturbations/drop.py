"""Disemvowel and Truncate: letters left out."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from ..text.corpus import Corpus
from ..text.ragged import Ints, Mask, Ragged, sums
from ..text.random import Rng
from ..text.words import Letters
from .base import Facts
from .words import WordPerturbation, without


@cache
def _vowels(vowels: str) -> Mask:
    """A table that is true for the vowels in both cases and, from Latin and Greek, their accented forms (é is an e)."""
    bases = set(vowels.lower() + vowels.upper())
    accented = [c for c in range(0xC0, 0x2000) if unicodedata.normalize("NFD", chr(c))[0] in bases]
    table = np.zeros(max(0x2000, *map(ord, bases)) + 2, np.bool_)
    table[[*map(ord, bases), *accented]] = True
    return table


@dataclass(frozen=True)
class Disemvowel(WordPerturbation):
    """Delete all vowels of a word of more than 3 letters, never to nothing.

    As in both papers; the published code takes words of 3 letters too: `min_letters=3`. Accented vowels are vowels.
    """

    vowels: str = "aeiou"
    min_letters: int = 4

    name: ClassVar[str] = "disemvowel"
    facts: ClassVar[Facts] = Facts(
        summary="delete all vowels of a word",
        paper="Zéroe 3.2; thesis 3.3.1; after Boyd et al. 2010",
        example="dvrsrl ttcks are hrmlss.",
        scripts="alphabets with vowel letters (Latin; others by `vowels`)",
    )

    def vowel(self, letters: Letters) -> Mask:
        """Which letters are vowels."""
        table = _vowels(self.vowels)
        return table[np.minimum(letters.codes[letters.start], table.size - 1)]

    def able(self, corpus: Corpus) -> Mask:
        letters = corpus.letters
        vowels = sums(self.vowel(letters), letters.first)
        return (vowels > 0) & (vowels < letters.count) & (letters.count >= self.min_letters)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters = corpus.letters.of_words(which)
        return without(corpus, letters, self.vowel(letters))


@dataclass(frozen=True)
class Truncate(WordPerturbation):
    """Cut letters off the end of a word, one by default; at least `keep` remain.

    `keep=3` is the thesis and the published code; the paper also cuts words of 3 letters: `keep=2`.
    """

    letters: int = 1
    keep: int = 3

    name: ClassVar[str] = "truncate"
    facts: ClassVar[Facts] = Facts(
        summary="cut the last letter off a word",
        paper="Zéroe 3.2; thesis 3.3.1; after Elman 1995",
        example="Adversaria attack are harmles.",
    )

    def able(self, corpus: Corpus) -> Mask:
        return corpus.letters.count > self.keep

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters = corpus.letters.of_words(which)
        real = ~letters.joiner
        seen = np.append(0, np.cumsum(real))
        left = np.maximum(letters.count - self.letters, self.keep) + seen[letters.first[:-1]]
        return without(corpus, letters, real & (seen[1:] > left[letters.word]))
