"""Symbols between the letters."""

from __future__ import annotations

from dataclasses import dataclass
from string import punctuation
from typing import ClassVar

import numpy as np

from ..text import Corpus, Ragged, Rng
from ..text.ragged import Ints, Mask, bounds, spread
from .base import Facts, WordPerturbation
from .inside import at_least_one


@dataclass(frozen=True)
class Intrude(WordPerturbation):
    """Insert a symbol, the same throughout a word, into each gap between two of its characters with probability phi.

    An attacked word gets at least one. Symbols: ASCII punctuation (all of it, as in the published code; both papers
    print the list without `_` and `~`, yet use `_` in examples) and the space (paper and thesis examples; not in the
    code). Words of 3 letters and more, as both papers say; the code takes 2: `min_letters=2`.
    """

    phi: float | None = None
    symbols: str = punctuation + " "
    min_letters: int = 3

    name: ClassVar[str] = "intrude"
    facts: ClassVar[Facts] = Facts(
        summary="insert a symbol between the letters of a word",
        paper="Zéroe 3.2; thesis 3.3.1; after Hosseini et al. 2017",
        example="A d v e r sar ial at:ta:ck:s are h}ar}m}less.",
        tags=("malicious",),
    )

    def able(self, corpus: Corpus) -> Mask:
        return corpus.letters.count >= max(self.min_letters, 2)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        gap = np.ones(letters.start.size, np.bool_)  # in front of each letter but the first
        gap[letters.first[:-1]] = False
        gaps = np.flatnonzero(gap)
        word = letters.word[gaps]
        hit = gaps[at_least_one(corpus, words.row[word], word, letters.start[gaps], self.phi, rng)]
        added = np.bincount(letters.word[hit], minlength=which.size)

        # pieces: letters, and in front of some of them a symbol, taken from behind the corpus
        symbols = np.array([ord(symbol) for symbol in self.symbols], np.uint32)
        pick = rng.stream("symbol").below(symbols.size, *corpus.place(words.row, words.start))
        start = np.insert(letters.start, hit, corpus.codes.size + pick[letters.word[hit]])
        length = np.insert(letters.stop - letters.start, hit, 1)
        text = np.concatenate((corpus.codes, symbols))[spread(start, length)]
        return Ragged(text, bounds(words.stop - words.start + added)), added
