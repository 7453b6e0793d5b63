"""64-bit hashes of numbers, names and texts: the same on every machine, in every process."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import numpy as np

from .ragged import Bits, Ints, Ragged, sums

BASE = 0xD1342543DE82EF95  # a multiplier of good lattice structure (Steele and Vigna, 2022)
INVERSE = pow(BASE, -1, 1 << 64)
GAMMA = np.uint64(0x9E3779B97F4A7C15)


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


def name_bits(*names: object) -> np.uint64:
    """64 bits that stand for some names; blake2b because Python's own hash changes with every process."""
    return np.uint64(int.from_bytes(blake2b(repr(names).encode(), digest_size=8).digest(), "little"))


@lru_cache(maxsize=64)  # both bases at every size up to that of a block; a huge text is not worth keeping memory for
def _kept_powers(base: int, count: int) -> Bits:
    return _powers(base, count)


def _powers(base: int, count: int) -> Bits:
    """1, base, base^2, ... modulo 2^64."""
    return np.cumprod(np.append(np.uint64(1), np.full(count - 1, base, np.uint64)), dtype=np.uint64)


def text_bits(texts: Ragged) -> Bits:
    """A hash of each text: a polynomial in an odd base, then mixed with the length.

    Powers count from the beginning of all codes and are divided out per text: one product and one sum for all.
    """
    count = 1 << max(texts.codes.size, 1).bit_length()
    powers = _kept_powers if count <= 1 << 18 else _powers
    up, down = powers(BASE, count), powers(INVERSE, count)
    terms = up[: texts.codes.size] * (texts.codes + np.uint64(1))
    return mix(sums(terms, texts.offsets) * down[texts.offsets[:-1]] ^ counters(texts.lengths))
