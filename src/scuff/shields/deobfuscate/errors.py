"""Parts of words that run together as words with an error: what `restore` would take each part for, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...text.ragged import Floats, Ints, Mask, Ragged, bounds, spread
from ..hashes import word_bits
from ..lexicon import folded, lexicon
from ..restore.candidates import KINDS, MISSPELT, PRIOR, candidates

SHORTEST, LONGEST = 2, 13  # letters of a part
WIDEST = 40  # letters of a word whose parts are looked for
MOST = 4  # words that a part may be
EDGE = 1.5  # more bits of a typo in the first letter behind a missing blank, which is rather somewhere else then
SPREAD = 2.0  # errors of the usual kinds that every text is taken to have


@dataclass(frozen=True, eq=False)
class Errors:
    """Parts of words, each with a word of the lexicon that it may be, the kind of error, and the bits of that word and error.

    before, after: the numbers of the words beside each word that runs together, -1 if they are not known.
    """

    of: Ints
    start: Ints
    stop: Ints
    word: Ints
    kind: Ints
    bits: Floats
    before: Ints
    after: Ints

    @classmethod
    def find(cls, words: Ragged, price: Floats, before: Ints, after: Ints, near: bool) -> Errors:
        """price: bits of an error in the text of each word. near: only by one error that is not far-fetched."""
        low = folded(words)
        size = np.where(words.lengths <= WIDEST, words.lengths, 0)
        owner = np.repeat(np.arange(len(words)), size)
        start = spread(np.zeros(len(words), np.int64), size)
        most = np.minimum(size[owner] - start, LONGEST) - SHORTEST + 1
        few = np.maximum(most, 0)
        owner, start = np.repeat(owner, few), np.repeat(start, few)
        length = spread(np.full(few.size, SHORTEST), few)
        texts = Ragged(low.codes[spread(low.offsets[owner] + start, length)], bounds(length))
        _, first, which = np.unique(word_bits(texts), return_index=True, return_inverse=True)
        found = candidates(texts.take(first), MOST, near=near)
        count = np.bincount(found.of, minlength=first.size)
        index = spread(bounds(count)[:-1][which], count[which])
        part = np.repeat(np.arange(which.size), count[which])
        bits = lexicon().cost[found.word[index]] - found.channel[index] + price[owner[part]]
        begins = lexicon().words.codes[lexicon().words.offsets[found.word[index]]]
        moved = (start[part] > 0) & (begins != texts.codes[texts.offsets[part]])
        bits += EDGE * (moved & (found.kind[index] <= MISSPELT))
        return cls(
            owner[part],
            start[part],
            start[part] + length[part],
            found.word[index],
            found.kind[index],
            bits,
            before,
            after,
        )

    def further(self, words: Ragged, price: Floats, which: Ints) -> Errors:
        """The same, but for some words by two errors and far-fetched ones as well."""
        if not which.size:
            return self
        more = Errors.find(words.take(which), price[which], self.before[which], self.after[which], near=False)
        rest = self.where(~np.isin(self.of, which))
        return replace(
            rest,
            of=np.append(rest.of, which[more.of]),
            start=np.append(rest.start, more.start),
            stop=np.append(rest.stop, more.stop),
            word=np.append(rest.word, more.word),
            kind=np.append(rest.kind, more.kind),
            bits=np.append(rest.bits, more.bits),
        )

    def where(self, chosen: Mask | Ints) -> Errors:
        of, start, stop, word, kind = (x[chosen] for x in (self.of, self.start, self.stop, self.word, self.kind))
        return Errors(of, start, stop, word, kind, self.bits[chosen], self.before, self.after)

    def take(self, which: Ints) -> Errors:
        """The parts of some words, which are counted anew. which: ascending."""
        mine = self.where(np.isin(self.of, which))
        return replace(mine, of=np.searchsorted(which, mine.of), before=self.before[which], after=self.after[which])

    def again(self, seen: Ints, row: Ints) -> Errors:
        """The same by the kinds of errors that were seen in each text. seen: [word, kind]; row: the text of each word."""
        usual = np.exp2(-PRIOR) / np.exp2(-PRIOR).sum()
        count = np.zeros((int(row.max(initial=0)) + 1, len(KINDS)))
        np.add.at(count, row, seen)
        share = (count + SPREAD * usual) / (count.sum(1, keepdims=True) + SPREAD)
        return replace(self, bits=self.bits - np.log2(share / usual)[row[self.of], self.kind])

    def whole(self, lengths: Ints) -> Floats:
        """The bits of each word as one word with an error. lengths: letters of each word."""
        out = np.full(lengths.size, np.inf)
        mine = (self.start == 0) & (self.stop == lengths[self.of])
        np.minimum.at(out, self.of[mine], self.bits[mine])
        return out
