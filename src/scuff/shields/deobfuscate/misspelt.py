"""Parts of words that run together and have an error besides: what every part costs as a misspelt word.

What an error leaves of a word (its letters but one, its letters in another order, its consonants, its beginning) has a hash that
can be told for every part of a word from running sums, without cutting the parts out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ...text.ragged import Bits, Floats, Ints, Mask, Ragged
from ...text.random import mix
from ..hashes import HashTable
from ..lexicon import folded, lexicon
from ..restore.keys import BACK, LONGEST, POWER, RANDOM, VOWEL, Spelt

SHORTEST, LONG = 3, 14  # letters of a part
RARE = 18.5  # bits of a word above which it is not looked for behind an error
EDIT, SHUFFLE, INNER, BARE, BEGINNING = range(5)
# bits of the choice of each kind of error; where in a word it is comes on top
KIND = (4.0, 2.0, 1.0, 1.0, 3.0)
LEAST = 0.5  # share of a word that is left of it if its end is missing
FACTORIAL = np.append(0.0, np.cumsum(np.log2(np.arange(1, LONGEST + 1))))
SALT = mix(np.arange(7000, 7005, dtype=np.uint64))
FIRST, LAST = mix(np.arange(7005, 7007, dtype=np.uint64))
DOWN = np.cumprod(np.append(np.uint64(1), np.full(512, BACK, np.uint64)), dtype=np.uint64)
UP = np.cumprod(np.append(np.uint64(1), np.full(512, POWER[1], np.uint64)), dtype=np.uint64)
BITS = 22


@dataclass(frozen=True, eq=False)
class Prices:
    """What, in the text of each word, an error and a missing blank cost: bits."""

    error: Floats
    blank: Floats

    def take(self, which: Ints) -> Prices:
        return Prices(self.error[which], self.blank[which])


@dataclass(frozen=True, eq=False)
class Tables:
    """For each kind of error, a table of what it leaves of words, the most frequent word first; and which last bits of hashes
    come at all.
    """

    tables: tuple[HashTable, ...]
    seen: Mask


@cache
def _tables() -> Tables:
    every = lexicon().words
    some = np.flatnonzero((lexicon().cost <= RARE) & (every.lengths >= SHORTEST) & (every.lengths <= LONG + 1))
    spelt = Spelt.of(every.take(some))
    some = some[np.bincount(spelt.word, spelt.letters >= 26, some.size) == 0]
    spelt = Spelt.of(every.take(some))
    one, without = spelt.without_one()
    prefix, cut = spelt.prefixes(SHORTEST, LEAST)
    bare = np.flatnonzero(np.bincount(spelt.word, VOWEL[spelt.letters], some.size) > 0)
    bones = spelt.skeleton().take(bare)
    bare, bones = bare[bones.lengths >= 2], bones.take(np.flatnonzero(bones.lengths >= 2))
    ends = spelt.letters[spelt.offsets[:-1]], spelt.letters[spelt.offsets[1:] - 1]
    total = np.add.reduceat(RANDOM[spelt.letters], spelt.offsets[:-1])
    found = (
        (np.append(np.arange(some.size), one), np.append(spelt.hashes(), without)),
        (np.arange(some.size), mix(total)),
        (np.arange(some.size), mix(total + RANDOM[ends[0]] * FIRST + RANDOM[ends[1]] * LAST)),
        (bare, bones.hashes()),
        (prefix, cut),
    )
    tables, seen = [], np.zeros(1 << BITS, np.bool_)
    for kind, (word, keys) in enumerate(found):
        order = np.argsort(word, kind="stable")  # words stand in the order of their frequency
        tables.append(HashTable.of(keys[order] ^ SALT[kind], some[word[order]]))
        seen[_last_bits(tables[-1].keys)] = True
    return Tables(tuple(tables), seen)


def _last_bits(keys: Bits) -> Ints:
    return (keys & np.uint64((1 << BITS) - 1)).astype(np.int64)


def _lookup(kind: int, keys: Bits) -> tuple[Ints, Ints]:
    """Which keys are found, and the word of each."""
    keys = keys ^ SALT[kind]
    maybe = np.flatnonzero(_tables().seen[_last_bits(keys)])
    word = _tables().tables[kind].get(keys[maybe])
    return maybe[word >= 0], word[word >= 0]


def misspelt_parts(words: Ragged) -> Iterator[tuple[int, Ints, Ints, Floats]]:
    """For parts of some length: that length, where they begin in all codes, a word that each may be, the bits of the error."""
    spelt = Spelt.of(folded(words))
    letters, place = spelt.letters, spelt.place
    left = spelt.lengths[spelt.word] - place
    plain = np.append(0, np.cumsum(letters >= 26))
    vowels = np.append(0, np.cumsum(VOWEL[np.minimum(letters, 28)]))
    running = np.append(
        np.uint64(0), np.cumsum((letters.astype(np.uint64) + np.uint64(1)) * UP[place], dtype=np.uint64)
    )
    unordered = np.append(np.uint64(0), np.cumsum(RANDOM[letters], dtype=np.uint64))
    for length in range(2, LONG + 1):
        at = np.flatnonzero(left >= length)
        at = at[plain[at + length] == plain[at]]
        if not at.size:
            return
        down = DOWN[place[at]]
        whole = mix((running[at + length] - running[at]) * down)
        if length >= SHORTEST:
            size = np.log2(length)
            yield length, *_priced(at, *_lookup(EDIT, whole), KIND[EDIT] + size - 3)
            for gone in range(length):
                before = (running[at + gone] - running[at]) * down
                behind = (running[at + length] - running[at + gone + 1]) * down * BACK
                yield length, *_priced(at, *_lookup(EDIT, mix(before + behind)), KIND[EDIT] + size)
            total = unordered[at + length] - unordered[at]
            yield length, *_priced(at, *_lookup(SHUFFLE, mix(total)), KIND[SHUFFLE] + FACTORIAL[length])
            ends = RANDOM[letters[at]] * FIRST + RANDOM[letters[at + length - 1]] * LAST
            yield length, *_priced(at, *_lookup(INNER, mix(total + ends)), KIND[INNER] + FACTORIAL[length - 2])
            yield length, *_priced(at, *_lookup(BEGINNING, whole), KIND[BEGINNING])
        bare = np.flatnonzero(vowels[at + length] == vowels[at])
        yield length, *_priced(at[bare], *_lookup(BARE, whole[bare]), KIND[BARE])


def _priced(at: Ints, hit: Ints, word: Ints, bits: float) -> tuple[Ints, Ints, Floats]:
    return at[hit], word, np.full(hit.size, bits)


def add_misspelt(
    words: Ragged, prices: Prices, cost: npt.NDArray[np.float32], number: npt.NDArray[np.int32], cut: float
) -> None:
    """Puts parts that are words with an error beside those without, and the price of a missing blank on all.

    cost, number: of each part, by its length, place and word, as in splitting.py. cut: bits of a place where words are cut.
    """
    row = np.repeat(np.arange(len(words)), words.lengths)
    place = np.arange(words.codes.size) - words.offsets[row]
    cost[:, 1:] += prices.blank.astype(np.float32)
    flat, numbers = cost.reshape(-1), number.reshape(-1)
    table = lexicon().cost
    for length, at, word, bits in misspelt_parts(words):
        if length > cost.shape[0]:
            break
        bits = table[word] + bits + prices.error[row[at]] + np.where(place[at] > 0, cut + prices.blank[row[at]], 0)
        cell = ((length - 1) * cost.shape[1] + place[at]) * cost.shape[2] + row[at]
        better = np.flatnonzero(bits < flat[cell])
        flat[cell[better]] = bits[better]
        numbers[cell[better]] = word[better]
