"""Letters replaced by others from a table: what the keyboard, the look-alikes and the visual space share."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..text import Corpus, Letters, Ragged, Rng
from ..text.ragged import Codes, Ints, Mask, sums
from .inside import at_least_one
from .wordwise import WordPerturbation


class Choices:
    """For each code point a number (0: none), and for each number the code points that may stand for it."""

    def __init__(self, options: dict[int, str] | tuple[Ints, Ragged]) -> None:
        if isinstance(options, tuple):
            self.number, self.near = options
        else:
            self.number = np.zeros(max(options) + 2, np.int64)
            self.number[list(options)] = np.arange(1, len(options) + 1)
            self.near = Ragged.of(["", *options.values()])

    def of(self, codes: Codes) -> Ints:
        return self.number[np.minimum(codes, self.number.size - 1)]


class Substitute(WordPerturbation):
    """Replaces each letter of a word that has choices with probability phi, at least one of them."""

    phi: float | None

    @abstractmethod
    def choices(self) -> Choices:
        """What may stand for what."""

    def draw(self, choices: Choices, number: Ints, row: Ints, place: Ints, rng: Rng) -> Codes:
        """One of the choices for each number, each equally likely."""
        pick = rng.stream("key").below(choices.near.lengths[number], row, place)
        return choices.near.codes[choices.near.offsets[number] + pick]

    def _numbers(self, letters: Letters) -> Ints:
        """A letter with a combining mark has no choices: it is not the letter that the table means."""
        return np.where(letters.stop - letters.start > 1, 0, self.choices().of(letters.codes[letters.start]))

    def able(self, corpus: Corpus) -> Mask:
        letters = corpus.letters
        return sums(self._numbers(letters) > 0, letters.first) > 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        number = self._numbers(letters)
        open_to = np.flatnonzero(number)
        word = letters.word[open_to]
        hit = open_to[at_least_one(corpus, words.row[word], word, letters.start[open_to], self.phi, rng)]
        word, at = letters.word[hit], letters.start[hit]
        text = corpus.cut(words)
        new = self.draw(self.choices(), number[hit], *corpus.place(words.row[word], at), rng)
        text.codes[text.offsets[word] + at - words.start[word]] = new
        return text, np.bincount(word, minlength=which.size)
