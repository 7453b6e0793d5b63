"""Keys of words: hashes that a word and what an error makes of it have in common, for many words at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...text.ragged import Bits, Ints, Mask, Ragged, bounds, spread, sums
from ...text.random import BASE, INVERSE, counters, mix

Small = npt.NDArray[np.uint8]
LONGEST = 40  # letters of a word that has keys
APOSTROPHE, HYPHEN, OTHER = 26, 27, 28  # after the letters a to z
C, F, G, H, K, N, P, R, S, W = 2, 5, 6, 7, 10, 13, 15, 17, 18, 22
VOWEL = np.isin(np.arange(29), [ord(letter) - ord("a") for letter in "aeiou"])
# letters that sound alike have one class; 0: says nothing (vowels, h, w, y, apostrophes)
SOUND = np.zeros(29, np.uint8)
for _number, _group in enumerate(("bp", "ckqx", "dt", "fv", "gj", "l", "mn", "r", "sz"), 1):
    SOUND[[ord(letter) - ord("a") for letter in _group]] = _number
PLAINER = np.arange(OTHER + 2, dtype=np.uint8)
PLAINER[[C, ord("q") - ord("a")]] = K
PLAINER[ord("z") - ord("a")] = S
PLAINER[ord("y") - ord("a")] = ord("i") - ord("a")
POWER = np.cumprod(np.append(np.uint64(1), np.full(LONGEST + 1, BASE, np.uint64)), dtype=np.uint64)
BACK, BACK2 = np.uint64(INVERSE), np.uint64(INVERSE * INVERSE % (1 << 64))
RANDOM = mix(counters(np.arange(1000, 1029)))  # of each letter, for sums in which order does not matter


@dataclass(frozen=True, eq=False)
class Spelt:
    """Words as small letters: a to z are 0 to 25, then the apostrophe, the hyphen, and anything else."""

    letters: Small
    offsets: Ints

    @classmethod
    def of(cls, words: Ragged) -> Spelt:
        """Of words in lower case with straight apostrophes (`folded`)."""
        code = words.codes
        letters = np.where((code >= ord("a")) & (code <= ord("z")), code - np.uint32(ord("a")), OTHER).astype(np.uint8)
        letters[code == ord("'")] = APOSTROPHE
        letters[code == ord("-")] = HYPHEN
        return cls(letters, words.offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    @cached_property
    def lengths(self) -> Ints:
        return np.diff(self.offsets)

    @cached_property
    def word(self) -> Ints:
        """The word of each letter."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def place(self) -> Ints:
        """Where in its word each letter stands."""
        return np.arange(self.letters.size) - self.offsets[:-1][self.word]

    def take(self, rows: Ints) -> Spelt:
        length = self.lengths[rows]
        return Spelt(self.letters[spread(self.offsets[:-1][rows], length)], bounds(length))

    def only(self, kept: Mask) -> Spelt:
        """The words of some of the letters."""
        return Spelt(self.letters[kept], np.append(0, np.cumsum(kept))[self.offsets])

    def padded(self, width: int) -> Small:
        """One row a word, with OTHER + 1 behind it; cut at `width`."""
        out = np.full((len(self), width), OTHER + 1, np.uint8)
        inside = self.place < width
        out[self.word[inside], self.place[inside]] = self.letters[inside]
        return out

    @cached_property
    def _running(self) -> Bits:
        """Sums of letter times power from the beginning of all letters."""
        terms = (self.letters.astype(np.uint64) + np.uint64(1)) * POWER[np.minimum(self.place, LONGEST)]
        return np.append(np.uint64(0), np.cumsum(terms, dtype=np.uint64))

    def hashes(self) -> Bits:
        """A hash of each word."""
        return mix(self._running[self.offsets[1:]] - self._running[self.offsets[:-1]])

    def without_one(self) -> tuple[Ints, Bits]:
        """The hash of each word without one of its letters, for each letter; of equal letters in a row for one."""
        last = np.append(self.letters[1:] != self.letters[:-1], True)
        last[self.offsets[1:][self.lengths > 0] - 1] = True
        at = np.flatnonzero(last & (self.lengths > 1)[self.word])
        word, running = self.word[at], self._running
        before = running[at] - running[self.offsets[word]]
        behind = running[self.offsets[word + 1]] - running[at + 1]
        return word, mix(before + behind * BACK)

    def without_two(self) -> tuple[Ints, Bits]:
        """The hash of each word without two of its letters, for every two."""
        rest = self.lengths[self.word] - self.place - 1
        first = np.repeat(np.arange(self.letters.size), rest)
        second = spread(np.arange(self.letters.size) + 1, rest)
        word, running = self.word[first], self._running
        before = running[first] - running[self.offsets[word]]
        middle = running[second] - running[first + 1]
        behind = running[self.offsets[word + 1]] - running[second + 1]
        keys = mix(before + middle * BACK + behind * BACK2)
        enough = (self.lengths > 3)[word]
        return word[enough], keys[enough]

    def prefixes(self, least: int, share: float) -> tuple[Ints, Bits]:
        """The hash of each word without its last letters, down to `least` and to a share of its length."""
        shortest = np.maximum(least, np.ceil(share * self.lengths)).astype(np.int64)
        count = np.maximum(self.lengths - shortest, 0)
        word = np.repeat(np.arange(len(self)), count)
        stop = spread(self.offsets[:-1] + shortest, count)
        return word, mix(self._running[stop] - self._running[self.offsets[word]])

    def _sum(self) -> Bits:
        return sums(RANDOM[self.letters], self.offsets)

    def unordered(self) -> Bits:
        """The same for words of the same letters, whatever their order."""
        return mix(self._sum())

    def unordered_without_one(self) -> tuple[Ints, Bits]:
        """`unordered` of each word without one letter, for each letter."""
        some = np.flatnonzero((self.lengths > 2)[self.word])
        return self.word[some], mix(self._sum()[self.word[some]] - RANDOM[self.letters[some]])

    def skeleton(self) -> Spelt:
        """The words without their vowels."""
        return self.only(~VOWEL[self.letters])

    def sounds(self) -> Spelt:
        """The classes of sound of the consonants, with runs of one class as one."""
        letters = self.letters.copy()
        letters[:-1][(letters[:-1] == P) & (letters[1:] == H) & (self.word[:-1] == self.word[1:])] = F  # ph
        some = Spelt(letters, self.offsets).only(SOUND[letters] > 0)
        kind = SOUND[some.letters]
        again = np.append(False, (kind[1:] == kind[:-1]) & (some.word[1:] == some.word[:-1]))[: kind.size]
        made = Spelt(kind, some.offsets)
        return made.only(~again)

    def sounded(self) -> Spelt:
        """The words in plainer spellings of their sound: ph is f, ck and hard c are k, soft c is s; one of two equal letters."""
        old, same = self.letters, np.append(self.word[1:] == self.word[:-1], False)
        after = np.append(old[1:], OTHER)
        after[~same] = OTHER
        new = PLAINER[old].copy()
        soft = np.isin(after, [ord(letter) - ord("a") for letter in "eiy"])
        new[(old == C) & soft] = S
        new[(old == P) & (after == H)] = F
        begins = np.append(True, ~same[:-1])[: old.size]
        before = np.append(OTHER, old[:-1])[: old.size]
        before[begins] = OTHER
        gone = (
            ((old == H) & np.isin(before, (P, G, W, R)))
            | ((old == C) & (after == K))
            | (new == np.where(same, PLAINER[after], OTHER + 1))
        )
        gone |= begins & (((old == K) & (after == N)) | ((old == W) & (after == R)))
        gone |= (old == G) & (after == H) & ~begins
        return Spelt(new, self.offsets).only(~gone)

    def arrangements(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """log2 of how many orders the letters of each word have, and of how many if the first and the last stay."""
        return _orders(self), _orders(self.only((self.place > 0) & (self.place < self.lengths[self.word] - 1)))


FACTORIAL = np.append(0.0, np.cumsum(np.log2(np.arange(1, 200)))).astype(np.float32)


def _orders(words: Spelt) -> npt.NDArray[np.float32]:
    count = np.bincount(words.word * 32 + words.letters, minlength=1)
    key = np.flatnonzero(count)
    word, many = key // 32, count[key]
    out = FACTORIAL[np.minimum(words.lengths, 199)]
    return (out - np.bincount(word, FACTORIAL[np.minimum(many, 199)], len(words))).astype(np.float32)
