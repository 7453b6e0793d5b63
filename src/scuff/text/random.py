"""Randomness as a function of (seed, document, perturbation, draw, position): no stream, no state.

A draw is the SplitMix64 output at counter `position` of the stream that belongs to the document, so neither the
order of the documents nor their number, batch or worker can change it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .hash import counters, mix, name_bits
from .ragged import Bits, Ints, spread


@dataclass(frozen=True, eq=False)
class Rng:
    """One random stream per document. `stream(label)` gives an independent one for another purpose."""

    state: Bits

    @classmethod
    def of(cls, keys: Bits, *names: object) -> Rng:
        return cls(mix(keys ^ name_bits(*names)))

    @classmethod
    def for_draws(cls, keys: Bits, draw: Ints | int, *names: object) -> Rng:
        """`of(keys, *names, draw)`, where each document may have a draw number of its own."""
        numbers, which = np.unique(np.asarray(draw, np.int64), return_inverse=True)
        named = np.array([name_bits(*names, number) for number in numbers.tolist()], np.uint64)
        return cls(mix(keys ^ named[which.reshape(np.shape(draw))]))

    def stream(self, *label: object) -> Rng:
        return Rng.of(self.state, *label)

    def bits(self, row: Ints, position: Ints) -> Bits:
        return mix(self.state[row] + counters(position))

    def uniform(self, row: Ints, position: Ints) -> npt.NDArray[np.float64]:
        """In [0, 1), with all 53 bits of a float."""
        return (self.bits(row, position) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, limit: Ints | int, row: Ints, position: Ints) -> Ints:
        """A whole number in [0, limit); the bias of multiply-and-shift is below limit / 2**32."""
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
