"""WordNet 3.0 as arrays (Miller 1995; licence in NOTICE). build/wordnet makes the table."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..resources import load
from ..text.ragged import Ints, bounds

PARTS = {"n": (0,), "v": (1,), "a": (2, 4), "r": (3,)}  # 4: adjective synsets that belong to the head before them
SATELLITE = 4
USUAL = 3  # a word's first senses are what it usually means


@dataclass(frozen=True, eq=False)
class Table:
    """Words and synsets by number; a sense is a word in a synset, the senses of synset i are first[i]:first[i + 1]."""

    words: list[str]
    familiar: npt.NDArray[np.uint8]  # how often sense-tagged text and WordNet's own glosses have the word, up to 255
    part: npt.NDArray[np.uint8]
    first: Ints
    word: Ints  # by sense
    rank: Ints  # by sense: 1 for what the word most often means
    share: npt.NDArray[np.uint8]  # by sense: how often the word means that, in percent
    alike: npt.NDArray[
        np.uint8
    ]  # every two senses of a synset, 1 2, 1 3, ..., 2 3, ...: cosine of the words in percent
    similar: Ints  # pairs of adjective senses of one cluster, and how alike they are
    opposite: Ints  # pairs of synsets
    antonym: Ints  # pairs of words
    phrases: frozenset[str]

    @cached_property
    def number(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}

    @cached_property
    def by_word(self) -> tuple[Ints, Ints]:
        """All senses in the order of words and ranks, and where those of each word begin."""
        order = np.argsort(self.word << 8 | self.rank, kind="stable")
        return order, bounds(np.bincount(self.word, minlength=len(self.words)))

    @cached_property
    def synset(self) -> Ints:
        """By sense."""
        return np.repeat(np.arange(self.part.size), np.diff(self.first))

    @cached_property
    def first_pair(self) -> Ints:
        """Where the pairs of each synset begin in `alike`."""
        size = np.diff(self.first)
        return bounds(size * (size - 1) // 2)

    @cached_property
    def heads(self) -> Ints:
        """The head of each synset: the last one before an adjective satellite, else the synset itself."""
        return np.maximum.accumulate(np.where(self.part == SATELLITE, 0, np.arange(self.part.size)))

    @cached_property
    def similars(self) -> dict[int, list[tuple[int, int]]]:
        found: dict[int, list[tuple[int, int]]] = {}
        for sense, other, alike in self.similar.tolist():
            found.setdefault(sense, []).append((other, alike))
        return found

    @cached_property
    def opposites(self) -> dict[int, list[int]]:
        return _grouped(self.opposite)

    @cached_property
    def antonyms(self) -> dict[int, list[int]]:
        return _grouped(self.antonym)

    def senses(self, word: str, parts: Sequence[int]) -> list[int]:
        """Of a word as these parts of speech, the most frequent first."""
        at = self.number.get(word)
        if at is None:
            return []
        order, begin = self.by_word
        return [s for s in order[begin[at] : begin[at + 1]].tolist() if self.part[self.synset[s]] in parts]

    def others(self, sense: int) -> list[tuple[int, int]]:
        """The other senses of its synset, then those that mean nearly the same, and how alike each is to this one."""
        synset = self.synset[sense]
        first, size = int(self.first[synset]), int(self.first[synset + 1] - self.first[synset])
        me = sense - first
        pairs = [(min(at, me), max(at, me), at) for at in range(size) if at != me]
        places = [low * (2 * size - low - 1) // 2 + high - low - 1 for low, high, _ in pairs]
        begin = int(self.first_pair[synset])
        same = [(first + at, int(self.alike[begin + p])) for (_, _, at), p in zip(pairs, places, strict=True)]
        return same + self.similars.get(sense, [])

    def cluster(self, head: int) -> set[str]:
        """The words that usually mean this, or, for adjectives, something similar."""
        end = head + 1
        while end < self.part.size and self.part[end] == SATELLITE:
            end += 1
        senses = range(self.first[head], self.first[end])
        return {self.words[self.word[sense]] for sense in senses if self.rank[sense] <= USUAL}


def _grouped(pairs: Ints) -> dict[int, list[int]]:
    edges = [0, *(np.flatnonzero(np.diff(pairs[:, 0])) + 1).tolist(), len(pairs)]
    return {int(pairs[a, 0]): pairs[a:b, 1].tolist() for a, b in pairwise(edges)}


@cache
def table() -> Table:
    """Read once, when it is asked for."""
    with np.load(io.BytesIO(load("wordnet.npz"))) as file:
        words, phrases = (file[name].tobytes().decode().split("\n") for name in ("words", "phrases"))
        phrases += [word for word in words if " " in word]
        return Table(
            words, file["familiar"], file["part"], bounds(file["size"].astype(np.int64)), file["word"].astype(np.int64),
            file["rank"].astype(np.int64), file["share"], file["alike"],
            file["similar"].astype(np.int64), file["opposite"].astype(np.int64), file["antonym"].astype(np.int64),
            frozenset(phrases),
        )  # fmt: skip
