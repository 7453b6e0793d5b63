"""Synonyms and antonyms of English words, from WordNet 3.0 (Miller 1995; licence in NOTICE). Made by build/wordnet.py."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..resources import load
from ..text.ragged import Ints, bounds

PARTS = {"n": (0,), "v": (1,), "a": (2, 4), "r": (3,)}  # 4: adjective synsets that belong to the head before them
HEAD, SATELLITE = 2, 4


@dataclass(frozen=True, eq=False)
class _Table:
    """Words and synsets by number; a sense is a word in a synset, the senses of synset i are first[i]:first[i + 1]."""

    words: list[str]
    familiar: npt.NDArray[np.uint8]  # how often sense-tagged text and WordNet's own glosses have the word, up to 255
    part: npt.NDArray[np.uint8]
    first: Ints
    word: Ints  # by sense
    rank: Ints  # by sense: 1 for what the word most often means
    share: Ints  # by sense: how often the word means this, in percent
    opposite: Ints  # pairs of adjective synsets
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
    def heads(self) -> Ints:
        """The head of each adjective synset: the last one before a satellite, else the synset itself."""
        return np.maximum.accumulate(np.where(self.part == SATELLITE, 0, np.arange(self.part.size)))

    @cached_property
    def opposites(self) -> dict[int, list[int]]:
        return _grouped(self.opposite)

    @cached_property
    def antonyms(self) -> dict[int, list[int]]:
        return _grouped(self.antonym)

    def senses(self, word: str, parts: tuple[int, ...]) -> list[int]:
        """Of a word as these parts of speech, the most frequent first."""
        at = self.number.get(word)
        if at is None:
            return []
        order, begin = self.by_word
        return [s for s in order[begin[at] : begin[at + 1]].tolist() if self.part[self.synset[s]] in parts]

    def cluster(self, head: int) -> Iterator[str]:
        """The words of an adjective synset and of all that are similar to it."""
        end = head + 1
        while end < self.part.size and self.part[end] == SATELLITE:
            end += 1
        yield from (self.words[word] for word in self.word[self.first[head] : self.first[end]].tolist())


def _grouped(pairs: Ints) -> dict[int, list[int]]:
    edges = [0, *(np.flatnonzero(np.diff(pairs[:, 0])) + 1).tolist(), len(pairs)]
    return {int(pairs[a, 0]): pairs[a:b, 1].tolist() for a, b in pairwise(edges)}


@cache
def _table() -> _Table:
    with np.load(io.BytesIO(load("wordnet.npz"))) as file:
        words, phrases = (file[name].tobytes().decode().split("\n") for name in ("words", "phrases"))
        phrases += [word for word in words if " " in word]
        return _Table(
            words, file["familiar"], file["part"], bounds(file["size"].astype(np.int64)), file["word"].astype(np.int64),
            file["rank"].astype(np.int64), file["share"].astype(np.int64), file["opposite"].astype(np.int64), file["antonym"].astype(np.int64),
            frozenset(phrases),
        )  # fmt: skip


@lru_cache(100_000)
def synonyms(lemma: str, pos: str, senses: int | None = None) -> tuple[str, ...]:
    """Other lemmas of the same synsets, those of the most frequent sense first; lower-case, phrases with spaces.

    `pos`: n, v, a or r. `senses`: only what is among the first so many senses of both words, so that neither is used in a
    sense that nobody thinks of.
    """
    table = _table()
    found: dict[str, None] = {}
    for sense in table.senses(lemma, PARTS[pos]):
        if senses is not None and table.rank[sense] > senses:
            break
        synset = table.synset[sense]
        for other in range(table.first[synset], table.first[synset + 1]):
            if senses is None or table.rank[other] <= senses:
                found[table.words[table.word[other]]] = None
    found.pop(lemma, None)
    return tuple(found)


@lru_cache(100_000)
def antonyms(word: str) -> frozenset[str]:
    """What a lemma's opposites are, as any part of speech; for adjectives also what is similar to an opposite of what it is
    similar to: of "speedy" (fast) also "sluggish" (slow).
    """
    table = _table()
    direct = [table.words[at] for at in table.antonyms.get(table.number.get(word, -1), [])]
    heads = {int(table.heads[table.synset[sense]]) for sense in table.senses(word, PARTS["a"])}
    others = {other for head in heads for other in table.opposites.get(head, [])}
    found = {*direct, *(similar for other in others for similar in table.cluster(other))}
    return frozenset(found - {word})


def familiar(word: str) -> int:
    """How often a lemma occurs in sense-tagged text and in WordNet's glosses and examples, up to 255."""
    table = _table()
    at = table.number.get(word)
    return 0 if at is None else int(table.familiar[at])


def is_phrase(words: str) -> bool:
    """Whether these two to four words are a lemma, or a name, of their own: "of course", "new york"."""
    return words in _table().phrases
