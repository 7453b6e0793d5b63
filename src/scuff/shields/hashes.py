"""Sets and tables of 64-bit hashes in sorted arrays, asked for many keys at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..text.ragged import Bits, Ints, Mask, Ragged, spread
from ..text.random import text_bits

BLOCK = 1 << 17  # code points that are hashed at once: `text_bits` keeps its powers for so many

STEPS = 3  # from the first key of a bucket on, in which nearly all keys are found


def word_bits(words: Ragged) -> Bits:
    """`text_bits` of many short texts, block by block."""
    if words.codes.size <= BLOCK:
        return text_bits(words)
    edges = np.unique(np.searchsorted(words.offsets, np.arange(0, words.codes.size, BLOCK)))
    edges = np.unique(np.append(edges, (0, len(words))))
    parts = []
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        first, last = words.offsets[begin], words.offsets[end]
        parts.append(text_bits(Ragged(words.codes[first:last], words.offsets[begin : end + 1] - first)))
    return np.concatenate(parts)


def _in_order(keys: Bits) -> tuple[Bits, Ints]:
    """The keys sorted, and the place that each had; equal ones in the order of their places.

    Keys with their places for last bits are sorted as plain numbers, twice as fast as places by keys.
    """
    last = np.uint64((1 << keys.size.bit_length()) - 1)
    packed = np.sort(keys & ~last | np.arange(keys.size, dtype=np.uint64))
    order = (packed & last).astype(np.int64)
    out = keys[order]
    if (out[1:] < out[:-1]).any():  # two keys differ in their last bits only
        order = np.argsort(keys, kind="stable")
        out = keys[order]
    return out, order


@dataclass(frozen=True, eq=False)
class HashTable:
    """Sorted keys; a key may come several times. `value[i]` belongs to keys[i]; bucket: where each run of first bits begins."""

    keys: Bits
    value: npt.NDArray[np.int32]
    bucket: npt.NDArray[np.int32]
    shift: np.uint64

    @classmethod
    def of(cls, keys: Bits, value: npt.NDArray[np.integer] | None = None) -> HashTable:
        """From keys in any order; without values, each key's place in that order. Equal keys keep the order of their values."""
        numbers = np.arange(keys.size, dtype=np.int32) if value is None else value.astype(np.int32)
        keys, order = _in_order(keys)
        bits = min(max(keys.size.bit_length(), 1), 22)
        shift = np.uint64(64 - bits)
        count = np.bincount((keys >> shift).astype(np.int64), minlength=1 << bits)
        bucket = np.zeros((1 << bits) + 1, np.int32)
        np.cumsum(count, out=bucket[1:])
        return cls(keys, numbers[order], bucket, shift)

    def first(self, keys: Bits) -> Ints:
        """The place of the first entry of each key, -1 for none."""
        group = (keys >> self.shift).astype(np.int64)
        at, end = self.bucket.take(group), self.bucket.take(group + 1)
        found = np.full(keys.size, -1, np.int64)
        left = some = (at < end).nonzero()[0]
        for _ in range(STEPS):  # `left` says which keys are still looked for
            if not some.size:
                return found
            at, end, keys = at.take(some), end.take(some), keys.take(some)
            here = self.keys.take(at)
            hit = (here == keys).nonzero()[0]
            found[left.take(hit)] = at.take(hit)
            at += 1
            some = ((here < keys) & (at < end)).nonzero()[0]
            left = left.take(some)
        keys = keys.take(some)
        place = self.keys.searchsorted(keys)
        hit = (self.keys.take(place, mode="clip") == keys).nonzero()[0]
        found[left.take(hit)] = place.take(hit)
        return found

    def get(self, keys: Bits) -> Ints:
        """The value of each key, of the first if there are several; -1 for none."""
        at = self.first(keys)
        return np.where(at >= 0, self.value[at], -1) if self.keys.size else at

    def has(self, keys: Bits) -> Mask:
        found: Mask = self.first(keys) >= 0
        return found

    def all(self, keys: Bits, most: int | None = None) -> tuple[Ints, Ints]:
        """Every match, or `most` of a key: which of `keys` it is of, and its value, in the order of `keys`."""
        at = self.first(keys)
        which = np.flatnonzero(at >= 0)
        at = at[which]
        many = self._same[at] if most is None else np.minimum(self._same[at], most)
        return np.repeat(which, many), self.value[spread(at, many)].astype(np.int64)

    @cached_property
    def _same(self) -> Ints:
        """How many entries from each on have the same key."""
        last = np.flatnonzero(np.append(self.keys[1:] != self.keys[:-1], True)[: self.keys.size])
        return np.repeat(last, np.diff(last, prepend=-1)) - np.arange(self.keys.size) + 1
