"""Spelling changes drawn from statistics: which letters are replaced by which, given the letters around them."""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass

import numpy as np

from ..text import Corpus, Letters, Ragged, Rng
from ..text.ragged import Ints, Mask, bounds, spread, sums
from ..text.unicode import case_map

EDGE, OTHER = 26, 27  # beside the letters a to z: the border of a word, any other character


@dataclass(frozen=True, eq=False)
class Channel:
    """Rules by context (letter before, letter, letter after): replace `taken` letters by `text`, at a rate."""

    first: Ints  # 28^3 + 1: where the rules of each context begin
    taken: Ints
    number: Ints  # of the replacement in `texts`
    weight: Ints  # running sum over all rules
    texts: Ragged
    two_edits: Ints  # in 65,536ths, by length of the word

    @classmethod
    def read(cls, data: bytes) -> Channel:
        """What build/channel.py packs."""
        head, raw = lzma.decompress(data).split(b"\n", 1)
        about = json.loads(head)
        contexts, count, taken, number, weight = np.split(
            np.frombuffer(raw, "<u2").astype(np.int64),
            np.cumsum([about["contexts"], about["contexts"], about["rules"], about["rules"]]),
        )
        size = np.zeros(28**3, np.int64)
        size[contexts] = count
        alone = (OTHER * 28 + np.arange(28**3) // 28 % 28) * 28 + OTHER  # a context never met: the letter by itself
        begin = np.zeros(28**3, np.int64)
        begin[contexts] = bounds(count)[:-1]
        begin, size = np.where(size > 0, begin, begin[alone]), np.where(size > 0, size, size[alone])
        index = spread(begin, size)
        two = np.array([round(share * 65536) for share in about.get("two_edits", [0])], np.int64)
        return cls(bounds(size), taken[index], number[index], bounds(weight[index]), Ragged.of(about["texts"]), two)

    def contexts(self, letters: Letters) -> Ints:
        """The context of each letter. A letter with a combining mark, or of another alphabet, is another character."""
        code = case_map(upper=False)[letters.codes[letters.start]].astype(np.int64) - ord("a")
        kind = np.where((code >= 0) & (code < 26) & (letters.stop - letters.start == 1), code, OTHER)
        before, after = np.append(EDGE, kind[:-1]), np.append(kind[1:], EDGE)
        before[letters.first[:-1]] = EDGE
        after[letters.first[1:] - 1] = EDGE
        return (before * 28 + kind) * 28 + after

    def able(self, letters: Letters) -> Mask:
        """Words in which some rule applies."""
        context = self.contexts(letters)
        return sums(self.weight[self.first[context + 1]] - self.weight[self.first[context]], letters.first) > 0

    def change(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        """Words with one rule applied, or two that lie apart, drawn by their rates."""
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        context = self.contexts(letters)
        chance = self.weight[self.first[context + 1]] - self.weight[self.first[context]]
        spot = corpus.place(words.row, words.start)
        at, rule = self._draw(letters, context, chance, rng.stream("rule"), *spot)
        apart = np.abs(np.arange(chance.size) - at[letters.word]) > 2
        again, other = self._draw(letters, context, chance * apart, rng.stream("second"), *spot)
        length = np.minimum(letters.count, self.two_edits.size - 1)
        more = rng.stream("more").below(1 << 16, *spot) < self.two_edits[length]
        more &= sums(chance * apart, letters.first) > 0
        return self._apply(corpus, letters, words.start, np.append(at, again[more]), np.append(rule, other[more]))

    def _draw(
        self, letters: Letters, context: Ints, chance: Ints, rng: Rng, row: Ints, place: Ints
    ) -> tuple[Ints, Ints]:
        """A place in each word and a rule for it, by one draw over all rules of all its places."""
        running = bounds(chance)
        total = running[letters.first[1:]] - running[letters.first[:-1]]
        aim = (rng.uniform(row, place) * total).astype(np.int64) + running[letters.first[:-1]]
        at = np.minimum(np.searchsorted(running, aim, "right") - 1, letters.first[1:] - 1)
        rule = np.searchsorted(self.weight, self.weight[self.first[context[at]]] + aim - running[at], "right") - 1
        return at, np.minimum(rule, self.taken.size - 1)

    def _apply(self, corpus: Corpus, letters: Letters, start: Ints, at: Ints, rule: Ints) -> tuple[Ragged, Ints]:
        """Write the replacements over the letters, in the case of the first letter that each takes."""
        new = self.texts.take(self.number[rule])
        upper = case_map(upper=True)
        code = corpus.codes[letters.start[at]]
        capital = np.repeat(code != case_map(upper=False)[code], new.lengths)
        codes = np.where(capital, upper[new.codes], new.codes)
        gone = np.zeros(letters.start.size, np.bool_)
        gone[at] = True
        gone[at[self.taken[rule] == 2] + 1] = True
        length = np.where(gone, 0, letters.stop - letters.start)
        source, size = letters.start.copy(), length.copy()
        source[at], size[at] = corpus.codes.size + new.offsets[:-1], new.lengths
        cost = np.maximum(self.taken[rule], new.lengths)
        text = np.concatenate((corpus.codes, codes))[spread(source, size)]
        return Ragged(text, bounds(sums(size, letters.first))), np.bincount(
            letters.word[at], cost, letters.first.size - 1
        ).astype(np.int64)
