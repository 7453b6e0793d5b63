"""Phonetic: words in another spelling of their sound."""

from __future__ import annotations

import lzma
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np

from ..metrics.edit import word_distance
from ..resources import load
from ..text.corpus import Corpus
from ..text.ragged import Ints, Mask, Ragged, sums
from ..text.random import Rng, text_bits
from ..text.unicode import case_map
from .base import Facts, Perturbation
from .channel import NoisyChannel, Respell, tripled
from .spelling import Spellings

ACRONYM = 4  # letters up to which a word in capitals is one: its letters are named, not read
FARTHEST = 0.25  # the share of characters from which on every word is spelled as differently as it can be


def _rows() -> list[list[str]]:
    """Words, their spellings, and the weights of these in hexadecimal."""
    return [line.split("\t") for line in lzma.decompress(load("phonetic.txt.xz")).decode().split("\n")]


@cache
def _table() -> Spellings:
    rows = _rows()
    weights = (weight for _, _, numbers in rows for weight in bytes.fromhex(numbers))
    table = Spellings.of([word for word, _, _ in rows], [spellings.split(" ") for _, spellings, _ in rows], weights)
    return table.only(~tripled(table.spellings, Ragged.blank(len(table.spellings))))  # agreeement


@cache
def _distances() -> Ints:
    """How far each spelling is from its word."""
    words = Ragged.of([word for word, _, _ in _rows()])
    return _table().distances(words.take(np.flatnonzero(_table().exact(words) >= 0)))


@cache
def _slight_table() -> Spellings:
    return _table().only(_distances() == 1)


@cache
def _farthest() -> Ints:
    """For each word of the table the number of the spelling that is farthest from it."""
    first = _table().first
    word = np.repeat(np.arange(first.size - 1), np.diff(first))
    return np.lexsort((-_distances(), word))[first[:-1]]


@cache
def _best_table(slight: bool) -> Spellings:
    """The likeliest spelling of each word, which stands first."""
    table = _slight_table() if slight else _table()
    best = np.zeros(len(table.spellings), np.bool_)
    best[table.first[:-1]] = True
    return table.only(best)


@cache
def _rules() -> NoisyChannel:
    return NoisyChannel.read(load("phonetic-rules.xz"))


@cache
def _slight_rules() -> NoisyChannel:
    return _rules().slight()


@dataclass(frozen=True)
class Phonetic(Respell):
    """Replace a word by another spelling of its sound.

    Respellings of 129,000 words were made as in the papers: the word's sound is spelled anew by a model that learnt
    to spell sounds, and kept where WordSim calls the two identical or very similar; not one but up to 8 a word, and
    only what a model of reading reads back as the same sound. They are drawn by the spelling model's probability. Any
    other word gets one or two other letters for the same sound; `listed=True` leaves it alone, as the papers do. No letter is
    written three times. Single letters, acronyms (up to 4 capitals) and clitics written apart (`it 's`, `do n't`) stay as they
    are. `choice="best"` always takes the likeliest respelling of a word of the table: one a word, as in the papers.

    `slight=True` keeps to spellings in which one letter is inserted, deleted or replaced (RobTest's general form).
    `phi` goes farther: with that probability a word gets its farthest spelling, and letters change at each further
    place where others stand for the same sound. Where a degree is a share of the characters (`phonetic@edits`,
    RobTest's malicious form) it follows the degree: from a quarter on, all that can change does.
    """

    listed: bool = False
    slight: bool = False
    phi: float | None = 0.0
    choice: str = "drawn"

    name: ClassVar[str] = "phonetic"
    shortest: ClassVar[int] = 5  # in a shorter word one more letter often changes the sound
    facts: ClassVar[Facts] = Facts(
        summary="respell a word by its sound",
        paper="Zéroe 3.2, 3.3, A.1; thesis 3.2.1, 3.3.1",
        example="Advercerial atacs ahr harmlus.",
        scripts="Latin",
        languages=("en",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.choice not in ("drawn", "best"):
            raise ValueError(f"expected drawn or best for phonetic.choice, got {self.choice!r}")
        if not self.goes_far and self.phi != 0:
            why = "slight=True" if self.slight else "choice='best'"
            raise ValueError(f"expected phi=0 for phonetic.{why}, got {self.phi!r}")

    @property
    def goes_far(self) -> bool:
        """Whether words can get other than their usual spellings."""
        return not self.slight and self.choice == "drawn"

    def at(self, p: float) -> Perturbation:
        return replace(self, phi=min(1.0, p / FARTHEST)) if self.phi is None else self

    def for_characters(self) -> Phonetic:
        return replace(self, phi=None) if self.goes_far else self

    def table(self) -> Spellings:
        if self.choice == "best":
            return _best_table(self.slight)
        return _slight_table() if self.slight else _table()

    def channel(self) -> NoisyChannel:
        return _slight_rules() if self.slight else _rules()

    def able(self, corpus: Corpus) -> Mask:
        letters, upper = corpus.letters, case_map(upper=True)
        code = letters.codes[letters.start]
        acronym = (sums(upper[code] != code, letters.first) == 0) & (
            letters.count <= ACRONYM
        )  # a single letter, too: s, ess
        return super().able(corpus) & ~acronym & (letters.count > 1)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        near, bound = super().rewrite(corpus, which, rng)
        if not self.phi:
            return near, bound
        words = corpus.words.where(which)
        old, spot = corpus.cut(words), corpus.place(words.row, words.start)
        entry, folded = self.table().find(old)
        far = np.flatnonzero((entry >= 0) & (rng.stream("farthest").uniform(*spot) < self.phi))
        farthest = self.table().written(_farthest()[entry[far]], old.take(far), folded[far])
        source = np.arange(which.size) + which.size * (entry >= 0)  # words that are not listed start from themselves
        source[far] = 2 * which.size + np.arange(far.size)
        begun = Ragged.join([old, near, farthest]).take(source)
        rate = np.where(old.lengths >= self.shortest, self.phi, 0.0) * (not self.listed)
        done = self.channel().change_far(begun, *spot, rate, rng)
        same = text_bits(done) == text_bits(old)  # no place was drawn, or the rules wrote the word as it was
        same |= tripled(done, old)
        new = Ragged.join([done, near]).take(np.arange(which.size) + which.size * same)
        return new, word_distance(old, new)
