"""Typo: letters left out, added, replaced, swapped, doubled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..metrics.edit import word_distance
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Mask, Ragged, bounds, spread, sums
from ..text.random import Rng
from ..text.words import Letters
from .base import Facts
from .keyboard import neighbours, touching
from .words import Scoped, at_least_one

Bytes = npt.NDArray[np.uint8]
OPERATIONS = ("delete", "insert", "replace", "swap", "repeat")
DELETE, _, _, SWAP, REPEAT = range(5)
BIT = {name: np.uint8(1 << number) for number, name in enumerate(OPERATIONS)}
ADDING = BIT["insert"] | BIT["repeat"]

# Of each set of operations, written as bits, how many there are, and which.
MEMBERS = [[number for number in range(5) if bits >> number & 1] for bits in range(32)]
COUNT = np.array([len(found) for found in MEMBERS], np.uint64)
MEMBER = np.array([found + [0] * (5 - len(found)) for found in MEMBERS]).ravel()

# What stands for a letter after each operation, if a key is inserted before it; the same, if after it; and in the gap behind it.
NOTHING, LETTER, NEXT, KEY = range(4)

PARTS = np.array(
    [
        [(NOTHING, NOTHING), (KEY, LETTER), (KEY, NOTHING), (NEXT, LETTER), (LETTER, LETTER)],
        [(NOTHING, NOTHING), (LETTER, KEY), (KEY, NOTHING), (NEXT, LETTER), (LETTER, LETTER)],
        [(NOTHING, NOTHING), (KEY, NOTHING), (NOTHING, NOTHING), (NOTHING, NOTHING), (LETTER, NOTHING)],
    ]
).reshape(-1, 2)


@dataclass(frozen=True)
class Typo(Scoped):
    """Change one letter of a word: delete it, insert or replace by a neighbour on the keyboard, swap with the next, repeat it.

    The letter and what happens to it are drawn among all that is possible: a word is never deleted to nothing, letters
    are swapped only inside a word and only with others, and letters that the `layout` lacks are not inserted or
    replaced. `operations`: some of the five, separated by blanks. `layout`: as for `keyboard`; `any` takes letters at random, a
    to z in the same case, as DeepWordBug does (Gao et al. 2018). `keep="ends"`: the first and the last letter of a word stay
    where they are (TextBugger, Li et al. 2019). Where a degree is a share of the characters
    (`typo@edits`, RobTest's malicious form), and with `scope="text"`, every letter of the text can change by itself.
    """

    operations: str = " ".join(OPERATIONS)
    layout: str = "qwerty"
    scope: str = "words"
    keep: str | None = None

    name: ClassVar[str] = "typo"
    facts: ClassVar[Facts] = Facts(
        summary="delete, insert, replace, swap or repeat one letter of a word",
        paper="RobTest (Chen et al. 2023) 2.1, C; after Li et al. 2019 (TextBugger)",
        example="Adversarial attcaks are harmlless.",
    )

    def __post_init__(self) -> None:
        if isinstance(self.operations, tuple):  # from a list in a settings file
            object.__setattr__(self, "operations", " ".join(map(str, self.operations)))
        super().__post_init__()
        if not self.operations.split() or not set(self.operations.split()) <= set(OPERATIONS):
            raise ValueError(f"expected some of {', '.join(OPERATIONS)} for typo.operations, got {self.operations!r}")
        neighbours(self.layout, owner=self.name)
        if self.keep not in (None, "ends"):
            raise ValueError(f"expected None or 'ends' for typo.keep, got {self.keep!r}")

    def for_characters(self) -> Typo:
        return replace(self, scope="text")

    def for_tokens(self) -> Typo:
        return replace(self, scope="words")

    def able(self, corpus: Corpus) -> Mask:
        return sums(self._possible(corpus.letters) > 0, corpus.letters.first) > 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        possible = self._possible(letters)
        at = np.flatnonzero(possible)
        word = letters.word[at]
        at = at[at_least_one(corpus, words.row[word], word, letters.start[at], 0, rng)]  # one a word
        edits = self._slips(corpus, letters, words.row, at, possible[at], np.zeros_like(at), rng)
        span = edits.spans(corpus.offsets)
        # three pieces a word: the letters before, what stands for those that change, the letters after
        start = np.stack((words.start, corpus.codes.size + edits.text.offsets[:-1], span.stop), 1).ravel()
        length = np.stack((span.start - words.start, edits.text.lengths, words.stop - span.stop), 1)
        codes = np.concatenate((corpus.codes, edits.text.codes))[spread(start, length.ravel())]
        return Ragged(codes, bounds(length.sum(1))), edits.cost

    def strike(self, corpus: Corpus, rng: Rng) -> Edits:
        """Proposes edits at two sites per letter, so that 6 of 10 characters can change: the letter, and, except for the last,
        the gap behind it.
        """
        letters = corpus.letters
        possible = self._possible(letters)
        # All of these edits may be made at once, so the first letter of a word is never deleted: a word never vanishes.
        heads = bounds(letters.count)[:-1][letters.count > 0]  # a word may have lost all its letters
        possible[np.flatnonzero(~letters.joiner)[heads]] &= ~BIT["delete"]
        behind = np.where(_inner(letters), possible & ADDING, np.uint8(0))
        both = np.stack((possible ^ behind, behind), 1).ravel()
        site = np.flatnonzero(both)
        return self._slips(corpus, letters, corpus.words.row, site >> 1, both[site], site & 1, rng)

    def _possible(self, letters: Letters) -> Bytes:
        """Which operations each letter allows, as bits."""
        swap = _inner(letters)
        swap[:-1] &= letters.identity[1:] != letters.identity[:-1]
        found = BIT["repeat"] | BIT["delete"] * (letters.count > 1)[letters.word] | BIT["swap"] * swap
        found |= (BIT["insert"] | BIT["replace"]) * (self._keys(letters) > 0)
        found[letters.joiner] = 0
        if self.keep:
            some = np.diff(letters.first) > 0
            first, last = letters.first[:-1][some], letters.first[1:][some] - 1
            found[first] = found[last] = 0
            found[np.maximum(last - 1, first)] &= ~BIT["swap"]
        return found & np.uint8(sum(BIT[name] for name in set(self.operations.split())))

    def _keys(self, letters: Letters) -> Ints:
        """The number of each letter in the table of neighbours; a letter with a combining mark is not on the keyboard."""
        code = letters.codes[letters.start]
        return np.where(letters.stop - letters.start > 1, 0, touching(self.layout).of(code))

    def _slips(
        self, corpus: Corpus, letters: Letters, row: Ints, at: Ints, possible: Bytes, behind: Ints, rng: Rng
    ) -> Edits:
        """Draws a possible operation for each of the letters `at`, or the gap behind. `row`: the document of each word."""
        begin, end, after = letters.start[at], letters.stop[at], np.minimum(at + 1, letters.start.size - 1)
        row, place = corpus.place(row[letters.word[at]], begin)
        site = place * 2 + behind
        chance = rng.stream("slip").bits(
            row, site
        )  # one draw: the top bits decide the operation, the middle ones the key
        operation = MEMBER[possible * 5 + ((chance >> np.uint64(40)) * COUNT[possible] >> np.uint64(24)).view(np.int64)]
        number, near = self._keys(letters)[at], touching(self.layout).near
        pick = (chance >> np.uint64(8) & np.uint64(0xFFFFFFFF)) * near.lengths[number].view(np.uint64) >> np.uint64(32)
        side = np.where(behind, 2, (chance & np.uint64(1)).view(np.int64))
        # a replacement consists of nothing, the letter, the next letter, a key from the table (appended to the corpus)
        start = np.empty((at.size, 4), np.int64)
        start[:, LETTER], start[:, NEXT] = begin, letters.start[after]
        start[:, KEY] = near.offsets[number] + pick.view(np.int64) + corpus.codes.size
        length = np.ones((at.size, 4), np.int64)
        length[:, NOTHING], length[:, LETTER], length[:, NEXT] = (
            0,
            end - begin,
            letters.stop[after] - letters.start[after],
        )
        part = PARTS[side * 5 + operation]
        part += np.arange(0, at.size * 4, 4)[:, None]
        size = length.ravel()[part]
        source = np.concatenate((corpus.codes, near.codes))
        index = start.ravel()[part]
        index = index[size > 0] if size.max(initial=0) < 2 else spread(index.ravel(), size.ravel())
        text = Ragged(source[index], bounds(size[:, 0] + size[:, 1]))
        swap = operation == SWAP
        stop = np.where(swap, letters.stop[after], end) - corpus.offsets[row]
        cost = np.where((operation == DELETE) | (operation == REPEAT), length[:, LETTER], 1 + swap)
        edits = Edits(row, np.where(behind, stop, place), stop, text, site, cost)
        many = np.flatnonzero(swap & (text.lengths > 2))
        if many.size:  # two letters of several code points may have some in common
            old = corpus.cut(edits.spans(corpus.offsets).where(many))
            cost[many] = word_distance(old, text.take(many))
        return edits


def _inner(letters: Letters) -> Mask:
    """Letters with another letter right behind them in their word."""
    follows = np.append((np.diff(letters.word) == 0) & ~letters.joiner[1:], False)
    return follows & ~letters.joiner
