"""Synonyms and antonyms from WordNet: the table of synsets that ships with Scuff, and which of them suit a word."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..resources import load
from ..text.ragged import Ints, bounds
from .inflection import inflected, lemma

PARTS = {"n": (0,), "v": (1,), "a": (2, 4), "r": (3,)}  # 4: adjective synsets that belong to the head before them
SATELLITE = 4
USUAL = 3  # the first senses of a word, which are what it usually means


@dataclass(frozen=True, eq=False)
class SynsetTable:
    """Words and synsets by number. A sense is a word in a synset; the senses of synset i are first[i]:first[i + 1]."""

    words: list[str]
    familiar: npt.NDArray[np.uint8]  # how often sense-tagged text and WordNet's own glosses have the word, up to 255
    part: npt.NDArray[np.uint8]
    first: Ints
    word: Ints  # by sense
    rank: Ints  # by sense: 1 for what the word most often means
    share: npt.NDArray[np.uint8]  # by sense: how often the word means that, in percent
    alike: npt.NDArray[
        np.uint8
    ]  # of every two senses of a synset (1 2, 1 3, ..., 2 3, ...) the words' cosine in percent
    similar: Ints  # pairs of adjective senses of one cluster, and how alike they are
    opposite: Ints  # pairs of synsets
    antonym: Ints  # pairs of words
    phrases: frozenset[str]

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each word."""
        return {word: at for at, word in enumerate(self.words)}

    @cached_property
    def by_word(self) -> tuple[Ints, Ints]:
        """All senses in the order of words and ranks, and where those of each word begin."""
        order = np.argsort(self.word << 8 | self.rank, kind="stable")
        return order, bounds(np.bincount(self.word, minlength=len(self.words)))

    @cached_property
    def synset(self) -> Ints:
        """The synset of each sense."""
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
        """For an adjective sense the similar ones, and how alike each is."""
        found: dict[int, list[tuple[int, int]]] = {}
        for sense, other, alike in self.similar.tolist():
            found.setdefault(sense, []).append((other, alike))
        return found

    @cached_property
    def opposites(self) -> dict[int, list[int]]:
        """The opposites of a synset."""
        return _grouped(self.opposite)

    @cached_property
    def antonyms(self) -> dict[int, list[int]]:
        """The antonyms of a word."""
        return _grouped(self.antonym)

    def senses(self, word: str, parts: Sequence[int]) -> list[int]:
        """The senses of a word as these parts of speech, the most frequent first."""
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
    """The second of each pair by the first; pairs are sorted."""
    edges = [0, *(np.flatnonzero(np.diff(pairs[:, 0])) + 1).tolist(), len(pairs)]
    return {int(pairs[a, 0]): pairs[a:b, 1].tolist() for a, b in pairwise(edges)}


@cache
def table() -> SynsetTable:
    """The table, which is read when it is first used."""
    with np.load(io.BytesIO(load("wordnet.npz"))) as file:
        words, phrases = (file[name].tobytes().decode().split("\n") for name in ("words", "phrases"))
        phrases += [word for word in words if " " in word]
        return SynsetTable(
            words, file["familiar"], file["part"], bounds(file["size"].astype(np.int64)), file["word"].astype(np.int64),
            file["rank"].astype(np.int64), file["share"], file["alike"],
            file["similar"].astype(np.int64), file["opposite"].astype(np.int64), file["antonym"].astype(np.int64),
            frozenset(phrases),
        )  # fmt: skip


# ---- look-ups ----

RARE = 7  # percent: a sense that is rarer is hardly understood
UNLIKE = 15  # percent: words that are less alike are synonyms in name only


@lru_cache(100_000)
def synonyms(lemma: str, pos: str, senses: int | None = None, fit: float = 0.0) -> tuple[str, ...]:
    """Other lemmas of the same synsets, those of the most frequent sense first; lower-case, phrases with spaces. For adjectives
    also lemmas of the same cluster that are very alike ("great", "wonderful").

    pos: n, v, a or r. senses: only what is among the first so many senses of both words, and not rare for the other. fit: only
    what may replace the lemma in most contexts, the least sum of how often the lemma means that (0 to 1) and how alike both are
    by a sentence encoder (0 to 1); of several senses only the likely ones count then.
    """
    net = table()
    means: dict[int, int] = {}
    alike: dict[int, int] = {}
    for sense in net.senses(lemma, PARTS[pos]):
        if senses is not None and net.rank[sense] > senses:
            break
        for other, likeness in net.others(sense):
            if senses is None or (net.rank[other] <= senses and net.share[other] >= RARE):
                word = int(net.word[other])
                means[word] = means.get(word, 0) + int(net.share[sense])
                alike[word] = max(alike.get(word, 0), likeness)
    if fit:
        fits = [word for word in means if alike[word] >= UNLIKE and means[word] + alike[word] >= 100 * fit]
        likely = max((means[word] for word in fits if " " not in net.words[word]), default=0) / 2
        means = {word: means[word] for word in fits if means[word] >= likely}
    return tuple(net.words[word] for word in means)


@lru_cache(100_000)
def any_synonyms(word: str) -> tuple[str, ...]:
    """Lemmas of all synsets that a word, as it is or in its base form, has a sense in, as any part of speech."""
    tags = ("NNS", "VBZ", "VBD", "VBG", "VBN", "JJR", "JJS")
    # a base counts only if it gives the word again
    bases = [word, *(base for tag in tags if (base := lemma(word, tag)) and inflected(base, tag) == word)]
    found = (other for base in bases for pos in PARTS for other in (base, *synonyms(base, pos)) if known(other, pos))
    return tuple(other for other in dict.fromkeys(found) if other != word)


@lru_cache(100_000)
def antonyms(word: str) -> frozenset[str]:
    """The opposites of a lemma as any part of speech, and what usually means the same as they, or for adjectives something
    similar: of "speedy" (fast) "slow" and "sluggish".
    """
    net = table()
    found = {net.words[at] for at in net.antonyms.get(net.number.get(word, -1), [])}
    for sense in net.senses(word, range(5)):
        if net.rank[sense] <= USUAL:
            for other in net.opposites.get(int(net.heads[net.synset[sense]]), []):
                found |= net.cluster(other)
    return frozenset(found - {word})


def known(word: str, pos: str) -> bool:
    """Whether a lemma is in the table as this part of speech."""
    return bool(table().senses(word, PARTS[pos]))


def familiar(word: str) -> int:
    """How often a lemma occurs in sense-tagged text and in WordNet's glosses and examples, up to 255."""
    net = table()
    at = net.number.get(word)
    return 0 if at is None else int(net.familiar[at])


def is_phrase(words: str) -> bool:
    """Whether these two to four words are a lemma, or a name, of their own: "of course", "new york"."""
    return words in table().phrases
