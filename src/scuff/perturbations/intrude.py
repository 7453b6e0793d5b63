"""Intrude: symbols between the letters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from string import punctuation
from typing import ClassVar

import numpy as np

from ..text.corpus import Corpus
from ..text.ragged import Ints, Mask, Ragged
from ..text.random import Rng
from ..text.unicode import is_white
from .base import Facts
from .words import Rated, gaps_hit, inserted


@dataclass(frozen=True)
class Intrude(Rated):
    """Insert a symbol, the same throughout a word, into each gap between two of its characters with probability phi.

    A chosen word gets at least one or, with `at_least_one=False` (the paper), maybe none. Symbols: ASCII punctuation (all
    of it, as in the published code; both papers print the list without `_` and `~`, yet use `_` in examples) and the space
    (paper and thesis examples; not in the code). Tokens get no blanks, which would cut them in two. Words of 3 letters and
    more, as both papers say; the code takes 2: `min_letters=2`.
    """

    phi: float | None = None
    symbols: str = punctuation + " "
    min_letters: int = 3
    at_least_one: bool = True

    name: ClassVar[str] = "intrude"
    facts: ClassVar[Facts] = Facts(
        summary="insert a symbol between the letters of a word",
        paper="Zéroe 3.2; thesis 3.3.1; after Hosseini et al. 2017",
        example="A d v e r sar ial at:ta:ck:s are h}ar}m}less.",
        tags=("malicious",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.symbols.isspace():
            object.__setattr__(self, "facts", replace(self.facts, keeps_tokens=False))

    def able(self, corpus: Corpus) -> Mask:
        return corpus.letters.count >= max(self.min_letters, 2)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        hit = gaps_hit(corpus, letters, words, self.phi, rng, sure=self.at_least_one)
        symbols = np.array([ord(symbol) for symbol in self.symbols], np.uint32)
        if corpus.of_lists and self.facts.keeps_tokens:
            symbols = symbols[~is_white(symbols)]
        pick = rng.stream("symbol").below(symbols.size, *corpus.place(words.row, words.start))
        return inserted(corpus, letters, hit, symbols, pick[letters.word[hit]])
