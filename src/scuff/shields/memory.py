"""What was found for words that came before: a word that comes again, in a later text or call, is not looked for again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ..text.ragged import Bits, Ints

KEPT = 1 << 16  # words that a memory holds at most; when it is full, it starts anew


class Memory:
    """Whole numbers for each of some hashes of words. What is kept changes nothing but time.

    `kept` is replaced, never emptied, so threads do not take from each other what they are about to read.
    """

    def __init__(self) -> None:
        self.kept: dict[int, Ints] = {}

    def get(self, keys: Bits, find: Callable[[Ints], tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
        """Which key each number is of, in the order of keys, and the numbers.

        find: is asked for some keys, by their places in `keys`; returns which of those each number is of, in order, and the
        numbers.
        """
        if keys.size > KEPT:
            return find(np.arange(keys.size))
        if len(self.kept) + keys.size > KEPT:
            self.kept = {}
        kept, words = self.kept, keys.tolist()
        new: dict[int, int] = {}
        for place, word in enumerate(words):
            if word not in kept:
                new.setdefault(word, place)
        if new:
            of, numbers = find(np.array(list(new.values()), np.int64))
            edges = np.searchsorted(of, np.arange(len(new) + 1)).tolist()
            kept.update(zip(new, (numbers[a:b] for a, b in pairwise(edges)), strict=True))
        parts = [kept[word] for word in words]
        if not parts:
            return find(np.empty(0, np.int64))
        return np.repeat(np.arange(keys.size), list(map(len, parts))), np.concatenate(parts)
