"""Randomness as a function of (seed, document key, name, draw, position), and the hashes that it is built on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .ragged import Bits, Codes, Ints, Ragged, spread, sums

BASE = 0xD1342543DE82EF95  # a multiplier of good lattice structure (Steele and Vigna, 2022)
INVERSE = pow(BASE, -1, 1 << 64)
GAMMA = np.uint64(0x9E3779B97F4A7C15)
AT_ONCE = 1 << 14  # hashes that are made at once


def mix(state: Bits) -> Bits:
    """SplitMix64's finaliser (Steele, Lea and Flood, 2014): every input bit reaches every output bit. In place."""
    state ^= state >> np.uint64(30)
    state *= np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(27)
    state *= np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return state


def counters(position: Ints) -> Bits:
    """SplitMix64 states at these positions of the stream that starts at 0."""
    return (position.astype(np.uint64) + np.uint64(1)) * GAMMA


@lru_cache(maxsize=1 << 14, typed=True)  # typed: 1, 1.0 and True are equal, but not the same name
def name_bits(*names: object) -> np.uint64:
    """64 bits that stand for some names; blake2b because Python's own hash changes with every process."""
    return np.uint64(int.from_bytes(blake2b(repr(names).encode(), digest_size=8).digest(), "little"))


@lru_cache(maxsize=64)  # both bases at every size up to that of a block; a huge text is not worth keeping memory for
def _kept_powers(base: int, count: int) -> Bits:
    return _powers(base, count)


def _powers(base: int, count: int) -> Bits:
    """1, base, base^2, ... modulo 2^64."""
    return np.cumprod(np.append(np.uint64(1), np.full(count - 1, base, np.uint64)), dtype=np.uint64)


TOGETHER = 1 << 17  # codes that are hashed together: their powers are kept, and fit into a cache


def text_bits(texts: Ragged) -> Bits:
    """A hash of each text: a polynomial in an odd base, then mixed with the length."""
    if texts.codes.size <= TOGETHER or len(texts) < 2:
        return _text_bits(texts.codes, texts.offsets)
    edges = np.searchsorted(texts.offsets, np.arange(0, texts.codes.size, TOGETHER))
    edges = np.unique(np.append(edges, len(texts)))
    parts = [texts.offsets[low : high + 1] for low, high in pairwise(edges.tolist())]
    return np.concatenate([_text_bits(texts.codes[part[0] : part[-1]], part - part[0]) for part in parts])


def _text_bits(codes: Codes, offsets: Ints) -> Bits:
    """Powers count from the beginning of all codes and are divided out per text: one product and one sum for all."""
    count = 1 << max(codes.size, 1).bit_length()
    powers = _kept_powers if count <= 1 << 18 else _powers
    up, down = powers(BASE, count), powers(INVERSE, count)
    terms = up[: codes.size] * (codes + np.uint64(1))
    return mix(sums(terms, offsets) * down[offsets[:-1]] ^ counters(np.diff(offsets)))


def letter_bits(codes: Codes, place: Ints) -> Bits:
    """What letters add to the hash of their text, each by its place there: `bits_of_sum` of their sum is `text_bits`."""
    count = 1 << max(int(place.max(initial=0)) + 1, 1).bit_length()
    powers = _kept_powers if count <= 1 << 18 else _powers
    return powers(BASE, count)[place] * (codes + np.uint64(1))


def bits_of_sum(total: Bits, length: Ints) -> Bits:
    """The hash of each text: of what its letters add to it, and of their number."""
    return mix(total ^ counters(length))


def span_bits(codes: Codes, start: Ints, stop: Ints, endings: Sequence[str] = ("",), which: Ints | int = 0) -> Bits:
    """`text_bits` of spans of codes, each with one of some endings put behind it. No span is cut out."""
    count = 1 << max(codes.size, 1).bit_length()
    powers = _kept_powers if count <= 1 << 18 else _powers
    up, down = powers(BASE, count), powers(INVERSE, count)
    running = np.zeros(codes.size + 1, np.uint64)
    np.cumsum(up[: codes.size] * (codes + np.uint64(1)), out=running[1:])
    more = [sum((ord(char) + 1) * BASE**place for place, char in enumerate(text)) % (1 << 64) for text in endings]
    whole = (running[stop] - running[start]) * down[start] + np.array(more, np.uint64)[which] * up[stop - start]
    return mix(whole ^ counters(stop - start + np.array([len(text) for text in endings])[which]))


def part_bits(texts: Ragged, length: int) -> Bits:
    """`text_bits` of the part of this length that begins at each code point, whichever text it ends in; of the last few, where
    the codes end before, nothing of use.
    """
    count = 1 << max(texts.codes.size, 1).bit_length()
    powers = _kept_powers if count <= 1 << 18 else _powers
    up, down = powers(BASE, count), powers(INVERSE, count)
    size = texts.codes.size
    running = np.zeros(size + length + 1, np.uint64)
    np.cumsum(up[:size] * (texts.codes + np.uint64(1)), out=running[1 : size + 1])
    running[size + 1 :] = running[size]
    parts = running[length : size + length] - running[:size]
    return mix(parts * down[:size] ^ counters(np.array([length])))


def one_edit_away(texts: Ragged) -> Iterator[tuple[Ints, Ints, Bits]]:
    """`text_bits` of all that short texts become if a letter is left out, two are swapped, or one of a to z or an apostrophe is
    put in or in the place of another: which text each is of, the place of the edit, and the hash.
    """
    most = int(texts.lengths.max(initial=0)) + 2
    up, back = _powers(BASE, most), np.uint64(INVERSE)
    owner = np.repeat(np.arange(len(texts)), texts.lengths)
    place = np.arange(texts.codes.size) - texts.offsets[owner]
    value = texts.codes + np.uint64(1)
    term = value * up[place]
    running = np.append(np.uint64(0), np.cumsum(term, dtype=np.uint64))
    before = running[:-1] - running[texts.offsets[owner]]
    behind = running[texts.offsets[owner + 1]] - running[1:]
    length = texts.lengths[owner]

    def hashed(sums: Bits, lengths: Ints) -> Bits:
        return mix(sums ^ counters(lengths))

    yield owner, place, hashed(before + behind * back, length - 1)
    pair = np.flatnonzero(place + 1 < length)
    swapped = before[pair] + value[pair + 1] * up[place[pair]] + value[pair] * up[place[pair] + 1] + behind[pair + 1]
    yield owner[pair], place[pair], hashed(swapped, length[pair])
    letters = np.array([ord("'"), *range(ord("a"), ord("z") + 1)], np.uint64) + np.uint64(1)
    step = max(1, AT_ONCE // max(texts.codes.size, 1))  # letters at once
    for first in range(0, letters.size, step):
        some = letters[first : first + step, None]
        many = some.size
        new = some * up[place]
        replaced, inserted = before + new + behind, before + new + (term + behind) * np.uint64(BASE)
        owners, places = np.tile(owner, many), np.tile(place, many)
        yield owners, places, hashed(replaced, length).ravel()
        yield owners, places, hashed(inserted, length + 1).ravel()
    ends = np.flatnonzero(texts.lengths > 0)
    whole, size = running[texts.offsets[ends + 1]] - running[texts.offsets[ends]], texts.lengths[ends]
    behind_all = hashed(whole + letters[:, None] * up[size], size + 1)
    yield np.tile(ends, letters.size), np.tile(size, letters.size), behind_all.ravel()


@dataclass(frozen=True, eq=False)
class Rng:
    """One random stream per document. A draw is a function of (document, position): drawing changes no state."""

    state: Bits

    @classmethod
    def of(cls, keys: Bits, *names: object) -> Rng:
        """The stream of these names for documents with these keys."""
        return cls(mix(keys ^ name_bits(*names)))

    @classmethod
    def for_draws(cls, keys: Bits, draw: Ints | int, *names: object) -> Rng:
        """`of(keys, *names, draw)`, where each document may have a draw number of its own."""
        numbers, which = np.unique(np.asarray(draw, np.int64), return_inverse=True)
        named = np.array([name_bits(*names, number) for number in numbers.tolist()], np.uint64)
        return cls(mix(keys ^ named[which.reshape(np.shape(draw))]))

    def stream(self, *label: object) -> Rng:
        """An independent stream for another purpose."""
        return Rng.of(self.state, *label)

    def bits(self, row: Ints, position: Ints) -> Bits:
        """64 random bits for each (row, position)."""
        return mix(self.state[row] + counters(position))

    def uniform(self, row: Ints, position: Ints) -> npt.NDArray[np.float64]:
        """A number in [0, 1) for each (row, position), with all 53 bits of a float."""
        return (self.bits(row, position) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, limit: Ints | int, row: Ints, position: Ints) -> Ints:
        """A whole number in [0, limit) for each (row, position); the bias of multiply-and-shift is below limit / 2**32."""
        scaled = (self.bits(row, position) >> np.uint64(32)) * np.asarray(limit).astype(np.uint64)
        return (scaled >> np.uint64(32)).astype(np.int64)


def shuffled(count: Ints, random: Bits) -> Ints:
    """A random order inside each group: indices into `random`, group after group, `count` of them per group.

    One sort of packed 64-bit keys (group, 34 random bits), ten times faster than lexsort. A stable sort, because it takes
    groups that are in order already as they come, and because equal keys then cannot depend on the machine.
    """
    group = np.repeat(np.arange(count.size, dtype=np.uint64) << np.uint64(34), count)
    return np.argsort(group | (random >> np.uint64(30)), kind="stable")


def some_of_each(count: Ints, random: Bits, k: int) -> tuple[Ints, Ints]:
    """k members of each group, none twice: which group each is of, and which member. `random`: bits of each group."""
    group, member = np.repeat(np.arange(count.size), count), spread(np.zeros_like(count), count)
    order = shuffled(count, mix(random[group] + member.astype(np.uint64)))
    kept = order[member < k]  # `order` keeps to the groups, so members count anew in each of them
    return group[kept], member[kept]
