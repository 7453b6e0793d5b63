"""Other spellings of words from a table, found by hash for all words of a corpus at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..metrics.edit import word_distance
from ..text.corpus import Corpus
from ..text.ragged import Bits, Ints, Mask, Ragged, bounds, spread, sums
from ..text.random import Rng, text_bits
from ..text.unicode import case_map

CURLY, APOSTROPHE = np.uint32(0x2019), np.uint32(0x27)


@dataclass(frozen=True, eq=False)
class Spellings:
    """A hash table in arrays: words by bucket (the first bits of their hash), the spellings of each and their weights.

    words: their hashes, sorted. bucket: where the words of each bucket begin. first: where the spellings of each word begin.
    """

    words: Bits
    bucket: Ints
    first: Ints
    spellings: Ragged
    weight: Ints  # running sum over all spellings

    @classmethod
    def of(cls, words: list[str], spellings: list[list[str]], weights: Iterable[int] | None = None) -> Spellings:
        """From words, a list of spellings for each, and the weights of all spellings in one row (by default alike)."""
        keys = text_bits(Ragged.of(words))
        order = np.argsort(keys)
        count = np.array([len(each) for each in spellings], np.int64)
        flat = Ragged.of([spelling for each in spellings for spelling in each])
        weight = np.ones(len(flat), np.int64) if weights is None else np.fromiter(weights, np.int64, len(flat))
        starts = bounds(count)[:-1]
        index = np.concatenate(
            [np.arange(starts[at], starts[at] + count[at]) for at in order] or [np.empty(0, np.int64)]
        )
        size = np.uint64(1 << (len(words).bit_length() + 3))
        edges = np.arange(size, dtype=np.uint64) * (np.uint64(1 << 63) // size * np.uint64(2))
        bucket = np.append(np.searchsorted(keys[order], edges), order.size)
        return cls(keys[order], bucket, bounds(count[order]), flat.take(index), bounds(weight[index]))

    def exact(self, texts: Ragged) -> Ints:
        """The entry of each text, -1 for none. (Another text has the same 64 bits once in 10^14 words.)"""
        keys = text_bits(texts)
        bucket = (keys >> np.uint64(64 - (self.bucket.size - 1).bit_length() + 1)).astype(np.int64)
        found = np.full(keys.size, -1)
        at, end = self.bucket[bucket], self.bucket[bucket + 1]
        left = np.flatnonzero(at < end)  # eight buckets a word: most are empty, hardly any holds more than one
        while left.size:
            hit = self.words[at[left]] == keys[left]
            found[left[hit]] = at[left[hit]]
            at[left] += 1
            left = left[~hit & (at[left] < end[left])]
        return found

    def distances(self, words: Ragged) -> Ints:
        """The edit distance of each spelling from its word; `words`: all words of the table, in any order."""
        entry = self.exact(words)
        count = np.diff(self.first)[entry]
        number = spread(self.first[:-1][entry], count)
        out = np.empty(len(self.spellings), np.int64)
        out[number] = word_distance(words.take(np.repeat(np.arange(len(words)), count)), self.spellings.take(number))
        return out

    def only(self, kept: Mask) -> Spellings:
        """A table of some of the spellings, without words that have none of them."""
        count = sums(kept, self.first)
        bucket = bounds((count > 0).astype(np.int64))[self.bucket]
        spellings, weight = self.spellings.take(np.flatnonzero(kept)), np.diff(self.weight)[kept]
        return Spellings(self.words[count > 0], bucket, bounds(count[count > 0]), spellings, bounds(weight))

    def find(self, texts: Ragged) -> tuple[Ints, Mask]:
        """The entry of each text, -1 for none, and whether it was found only in lower case."""
        lower = case_map(upper=False)
        texts = Ragged(np.where(texts.codes == CURLY, APOSTROPHE, texts.codes), texts.offsets)
        entry = self.exact(texts)
        capital = lower[texts.codes] != texts.codes
        many = sums(capital, texts.offsets)
        first = np.zeros(len(texts), np.bool_)
        first[texts.lengths > 0] = capital[texts.offsets[:-1][texts.lengths > 0]]
        small = sums(case_map(upper=True)[texts.codes] != texts.codes, texts.offsets)
        folded = (entry < 0) & (many > 0) & ((small == 0) | (first & (many == 1)))  # Word or WORD; WoRd may be a name
        part = texts.take(np.flatnonzero(folded))
        entry[folded] = self.exact(Ragged(lower[part.codes], part.offsets))
        return entry, folded

    def respell(self, corpus: Corpus, which: Ints, entry: Ints, folded: Mask, rng: Rng) -> tuple[Ragged, Ints]:
        """A spelling of each word, drawn by weight, in the word's case, and an upper bound of the letters that changed."""
        words = corpus.words.where(which)
        old = corpus.cut(words)
        low, high = self.weight[self.first[entry]], self.weight[self.first[entry + 1]]
        aim = low + rng.stream("spelling").below(high - low, *corpus.place(words.row, words.start))
        new = self.written(along(self.weight, self.first[entry], aim), old, folded)
        return new, np.maximum(old.lengths, new.lengths)

    def written(self, number: Ints, old: Ragged, folded: Mask) -> Ragged:
        """Spellings by their number, in the case of the old words and with their kind of apostrophe."""
        new = recased(self.spellings.take(number), old, folded)
        curly = np.repeat(sums(old.codes == CURLY, old.offsets) > 0, new.lengths)
        new.codes[curly & (new.codes == APOSTROPHE)] = CURLY
        return new


def along(running: Ints, start: Ints, aim: Ints) -> Ints:
    """The last place from `start` on where a running sum is at most `aim`, found step by step.

    The likely choices come first, so few steps are taken; a binary search would miss the processor's cache at every step.
    """
    at, left = start.copy(), np.arange(start.size)
    while left.size:
        left = left[running[np.minimum(at[left] + 1, running.size - 1)] <= aim[left]]
        left = left[at[left] + 2 < running.size]
        at[left] += 1
    return at


def recased(new: Ragged, old: Ragged, folded: Mask) -> Ragged:
    """Gives new words the case of the old, all capitals or a capital first letter, where `folded`."""
    upper, lower = case_map(upper=True), case_map(upper=False)
    codes = new.codes.copy()
    capital = folded & (old.codes[old.offsets[:-1]] != lower[old.codes[old.offsets[:-1]]])
    raised = sums(old.codes != upper[old.codes], old.offsets) == 0
    shout = np.repeat(folded & raised & (old.lengths > 1), new.lengths)
    codes[shout] = upper[codes[shout]]
    first = new.offsets[:-1][capital]
    codes[first] = upper[codes[first]]
    return Ragged(codes, new.offsets)
