"""Slips of every kind: letters left out, added, replaced, swapped, doubled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..text import Corpus, Edits, Letters, Ragged, Rng
from ..text.distance import edit_distance
from ..text.ragged import Ints, Mask, bounds, spread, sums
from .base import Facts
from .inside import at_least_one
from .keyboard import neighbours, touching
from .scope import Scoped

OPERATIONS = ("delete", "insert", "replace", "swap", "repeat")
DELETE, INSERT, REPLACE, SWAP, REPEAT = range(5)
NOTHING, LETTER, NEXT, KEY = range(4)
# what stands for a letter after each operation; a key is inserted before or after it
PARTS = np.array(
    [
        [(NOTHING, NOTHING)] * 2,
        [(KEY, LETTER), (LETTER, KEY)],
        [(KEY, NOTHING)] * 2,
        [(NEXT, LETTER)] * 2,
        [(LETTER, LETTER)] * 2,
    ]
)


@dataclass(frozen=True)
class Typo(Scoped):
    """Change one letter of a word: delete it, insert or replace by a neighbour on the keyboard, swap with the next, repeat it.

    The letter and what happens to it are drawn among all that is possible: a word is never deleted to nothing, letters
    are swapped only inside a word and only with others, and letters that the `layout` lacks are not inserted or
    replaced. `operations`: some of the five, separated by blanks. Where a degree is a share of the characters
    (`typo@edits`, RobTest's malicious form), and with `scope="text"`, every letter of the text can change by itself.
    """

    operations: str = " ".join(OPERATIONS)
    layout: str = "qwerty"
    scope: str = "words"

    name: ClassVar[str] = "typo"
    facts: ClassVar[Facts] = Facts(
        summary="delete, insert, replace, swap or repeat one letter of a word",
        paper="RobTest (Chen et al. 2023) 2.1, C; after Li et al. 2019 (TextBugger)",
        example="Adversarial atatcks aree harmless.",
    )

    def __post_init__(self) -> None:
        if isinstance(self.operations, tuple):  # read as the words of a list
            object.__setattr__(self, "operations", " ".join(map(str, self.operations)))
        super().__post_init__()
        if not self.operations.split() or not set(self.operations.split()) <= set(OPERATIONS):
            raise ValueError(f"expected some of {', '.join(OPERATIONS)} for typo.operations, got {self.operations!r}")
        neighbours(self.layout, owner=self.name)

    def for_characters(self) -> Typo:
        return replace(self, scope="text")

    def for_tokens(self) -> Typo:
        return replace(self, scope="words")

    def able(self, corpus: Corpus) -> Mask:
        return sums(self._possible(corpus.letters).any(1), corpus.letters.first) > 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        possible = self._possible(letters)
        at = np.flatnonzero(possible.any(1))
        word = letters.word[at]
        at = at[at_least_one(corpus, words.row[word], word, letters.start[at], 0, rng)]  # one a word
        edits = self._slips(corpus, letters, at, words.row, possible[at], rng)
        span = edits.spans(corpus.offsets)
        # three pieces a word: the letters before, what stands for those that change, the letters after
        start = np.stack((words.start, corpus.codes.size + edits.text.offsets[:-1], span.stop), 1).ravel()
        length = np.stack((span.start - words.start, edits.text.lengths, words.stop - span.stop), 1)
        codes = np.concatenate((corpus.codes, edits.text.codes))[spread(start, length.ravel())]
        return Ragged(codes, bounds(length.sum(1))), edits.cost

    def strike(self, corpus: Corpus, rng: Rng) -> Edits:
        letters, words = corpus.letters, corpus.words
        possible = self._possible(letters)
        # All of these edits may be made at once, so the first letter of a word is never the one to go.
        possible[np.flatnonzero(~letters.joiner)[bounds(letters.count)[:-1]], DELETE] = False
        at = np.flatnonzero(possible.any(1))
        return self._slips(corpus, letters, at, words.row, possible[at], rng)

    def _possible(self, letters: Letters) -> Mask:
        """Which operations each letter allows."""
        real, same_word = ~letters.joiner, np.append(np.diff(letters.word) == 0, False)
        known = self._keys(letters) > 0
        found = np.zeros((real.size, len(OPERATIONS)), np.bool_)
        found[:, DELETE] = real & (letters.count > 1)[letters.word]
        found[:, INSERT] = found[:, REPLACE] = real & known
        found[:, SWAP] = real & np.append(real[1:], False) & same_word
        found[:-1, SWAP] &= letters.identity[1:] != letters.identity[:-1]
        found[:, REPEAT] = real
        return found & np.isin(OPERATIONS, self.operations.split())

    def _keys(self, letters: Letters) -> Ints:
        """The number of each letter in the table of neighbours; a letter with a combining mark is not on the keyboard."""
        code = letters.codes[letters.start]
        return np.where(letters.stop - letters.start > 1, 0, touching(self.layout).of(code))

    def _slips(self, corpus: Corpus, letters: Letters, at: Ints, row: Ints, possible: Mask, rng: Rng) -> Edits:
        """One of the possible operations on each of the letters `at`. `row`: the document of each word."""
        row, place = corpus.place(row[letters.word[at]], letters.start[at])
        pick = rng.stream("operation").below(possible.sum(1), row, place)
        operation = (possible.cumsum(1) > pick[:, None]).argmax(1)
        number, near = self._keys(letters)[at], touching(self.layout).near
        key = near.offsets[number] + rng.stream("key").below(near.lengths[number], row, place)
        after = np.minimum(at + 1, letters.start.size - 1)
        # what a replacement is made of: nothing, the letter, the next letter, a key; taken from behind the corpus
        start = np.stack((np.zeros_like(at), letters.start[at], letters.start[after], corpus.codes.size + key), 1)
        length = np.stack((np.zeros_like(at), *(letters.stop[i] - letters.start[i] for i in (at, after)), at * 0 + 1), 1)
        parts = PARTS[operation, rng.stream("side").below(2, row, place)]
        size = np.take_along_axis(length, parts, 1)
        source = np.concatenate((corpus.codes, near.codes))
        text = Ragged(
            source[spread(np.take_along_axis(start, parts, 1).ravel(), size.ravel())], bounds(size.sum(1))
        )
        swap = operation == SWAP
        stop = np.where(swap, letters.stop[after], letters.stop[at]) - corpus.offsets[row]
        edits = Edits(row, place, stop, text, place, np.where(operation % 4 == 0, length[:, 1], 1))
        edits.cost[swap] = edit_distance(*(t.take(np.flatnonzero(swap)) for t in (corpus.cut(edits.spans(corpus.offsets)), text)))
        return edits
