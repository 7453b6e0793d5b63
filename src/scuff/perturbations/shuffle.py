"""InnerShuffle and FullShuffle: shuffled letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..text.corpus import Corpus
from ..text.ragged import Ints, Mask, Ragged, bounds, run_lengths, spread, sums
from ..text.random import Rng, shuffled
from ..text.words import Letters
from .base import Facts
from .words import WordPerturbation


@dataclass(frozen=True)
class FullShuffle(WordPerturbation):
    """Shuffle all letters of a word.

    Every arrangement that differs from the word is equally likely (drawn until it differs). Inner apostrophes and
    hyphens stay where they are: they are no letters. The paper takes words of 2 letters and more, the thesis and
    the published code of 3 and more: `min_letters=3`.
    """

    min_letters: int = 2

    name: ClassVar[str] = "full-shuffle"
    facts: ClassVar[Facts] = Facts(
        summary="shuffle all letters of a word",
        paper="Zéroe 3.2; thesis 3.3.1",
        example="idaAasvrler tstkaac are harmless.",
    )

    def movable(self, letters: Letters) -> Mask:
        """Which letters may change place."""
        return ~letters.joiner

    def able(self, corpus: Corpus) -> Mask:
        # a word whose movable letters are all the same has no other arrangement
        letters = corpus.letters
        slot = np.flatnonzero(self.movable(letters))
        word, identity = letters.word[slot], letters.identity[slot]
        able = np.zeros(len(corpus.words), np.bool_)
        able[word[1:][(word[1:] == word[:-1]) & (identity[1:] != identity[:-1])]] = True
        return able & (letters.count >= self.min_letters)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, row = corpus.letters.of_words(which), corpus.words.row[which]
        source = np.arange(letters.start.size)  # which letter ends up in each slot
        slot = np.flatnonzero(self.movable(letters))
        count = run_lengths(letters.word[slot])
        pair = slot[np.repeat(count == 2, count)]  # has one other arrangement, so no need to draw
        source[pair] = pair.reshape(-1, 2)[:, ::-1].ravel()
        slot, turn = slot[np.repeat(count > 2, count)], 0
        while slot.size:
            word = letters.word[slot]
            random = rng.stream("shuffle", turn).bits(*corpus.place(row[word], letters.start[slot]))
            count = run_lengths(word)
            source[slot] = slot[shuffled(count, random)]
            moved = letters.identity[source[slot]] != letters.identity[slot]
            slot = slot[np.repeat(sums(moved, bounds(count)) == 0, count)]  # still the same word: drawn again
            turn += 1
        start = letters.start[source]
        text = corpus.codes[spread(start, letters.stop[source] - start)]
        cost = sums(letters.identity[source] != letters.identity, letters.first)
        return Ragged(text, bounds(corpus.words.stop[which] - corpus.words.start[which])), cost


@dataclass(frozen=True)
class InnerShuffle(FullShuffle):
    """Shuffle the letters of a word between the first and the last, which stay.

    Only words of 4 letters and more with two different inner letters can change (the papers say 3, but the one inner
    letter of such a word has nowhere to go).
    """

    min_letters: int = 4

    name: ClassVar[str] = "inner-shuffle"
    facts: ClassVar[Facts] = Facts(
        summary="shuffle the inner letters of a word; the first and the last stay",
        paper="Zéroe 3.2; thesis 3.3.1; after Rayner et al. 2006",
        example="Aadrreavsil aacttks are hmarsels.",
    )

    def movable(self, letters: Letters) -> Mask:
        first, last = letters.first[:-1], letters.first[1:] - 1
        if letters.joiner[first].any() or letters.joiner[last].any():  # a given token may begin with a quotation mark
            index = np.arange(letters.start.size)
            first = np.minimum.reduceat(np.where(letters.joiner, index.size, index), letters.first[:-1])
            last = np.maximum.reduceat(np.where(letters.joiner, -1, index), letters.first[:-1])
        inner = np.append(~letters.joiner, False)
        inner[first] = inner[last] = False
        return inner[:-1]
