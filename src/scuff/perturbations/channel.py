"""Respelling by statistics: a noisy channel of letter changes, and the perturbations that use it beside a table of spellings."""

from __future__ import annotations

import json
import lzma
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..metrics.edit import word_distance
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Bits, Floats, Ints, Mask, Ragged, bounds, spread, sums
from ..text.random import Rng, text_bits
from ..text.unicode import case_map
from ..text.words import Letters, Spans
from .clitics import clitics
from .spelling import Spellings, along
from .words import WordPerturbation

EDGE, OTHER = 26, 27  # after the letters a to z: the border of a word, any other character
SURE = 1000  # in 65,536ths: a rule of at least this rate is sure


@dataclass(frozen=True, eq=False)
class NoisyChannel:
    """Rules by context (letter before, letter, letter after): each replaces `taken` letters by a text, at a rate.

    With several `fewest`, there are rules of their own for words of so many letters and more, one table behind the other.
    """

    first: Ints  # 28^3 + 1, or so many times 28^3 + 1: where the rules of each context begin
    taken: Ints
    number: Ints  # of the replacement in `texts`
    weight: Ints  # running sum over all rules
    texts: Ragged
    two_edits: Ints  # in 65,536ths, by length of the word
    fewest: tuple[int, ...] = (0,)

    @classmethod
    def read(cls, data: bytes) -> NoisyChannel:
        """From the bytes that build/channel.py writes."""
        head, raw = lzma.decompress(data).split(b"\n", 1)
        about = json.loads(head)
        contexts, count, taken, number, weight = np.split(
            np.frombuffer(raw, "<u2").astype(np.int64),
            np.cumsum([about["contexts"], about["contexts"], about["rules"], about["rules"]]),
        )
        size = np.zeros(28**3, np.int64)
        size[contexts] = np.where(contexts // 28 % 28 == OTHER, 0, count)  # nothing is known of other letters and marks
        alone = (OTHER * 28 + np.arange(28**3) // 28 % 28) * 28 + OTHER  # a context never met: the letter by itself
        begin = np.zeros(28**3, np.int64)
        begin[contexts] = bounds(count)[:-1]
        begin, size = np.where(size > 0, begin, begin[alone]), np.where(size > 0, size, size[alone])
        index = spread(begin, size)
        two = np.array([round(share * 65536) for share in about.get("two_edits", [0])], np.int64)
        made = cls(bounds(size), taken[index], number[index], bounds(weight[index]), Ragged.of(about["texts"]), two)
        return made.only(~made._threes(), two)

    def contexts(self, letters: Letters) -> Ints:
        """The context of each letter. A letter with a combining mark, or of another alphabet, counts as OTHER."""
        code = case_map(upper=False)[letters.codes[letters.start]].astype(np.int64) - ord("a")
        kind = np.where((code >= 0) & (code < 26) & (letters.stop - letters.start == 1), code, OTHER)
        before, after = np.append(EDGE, kind[:-1]), np.append(kind[1:], EDGE)
        before[letters.first[:-1]] = EDGE
        after[letters.first[1:] - 1] = EDGE
        context = (before * 28 + kind) * 28 + after
        if len(self.fewest) > 1:
            table = np.searchsorted(self.fewest, letters.count, "right") - 1
            context += (28**3 * np.maximum(table, 0))[letters.word]
        return context

    @cached_property
    def chance(self) -> Ints:
        """The weight of all rules of each context."""
        return self.weight[self.first[1:]] - self.weight[self.first[:-1]]

    def able(self, letters: Letters) -> Mask:
        """Which words some rule applies to."""
        return sums((self.chance > 0)[self.contexts(letters)], letters.first) > 0

    def change(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        """The words with one rule applied, or two that lie apart, drawn by their rates; and how many letters each changes."""
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        row, place = corpus.place(words.row, words.start)
        context = self.contexts(letters)
        at, rule = self._draw(letters.first, context, self.chance[context], rng.stream("rule").uniform(row, place))
        length = np.minimum(letters.count, self.two_edits.size - 1)
        more = np.flatnonzero(rng.stream("more").below(1 << 16, row, place) < self.two_edits[length])
        count = np.diff(letters.first)[more]
        index, first = spread(letters.first[more], count), bounds(count)
        chance = self.chance[context[index]] * (np.abs(index - np.repeat(at[more], count)) > 2)
        draw = rng.stream("second").uniform(row[more], place[more])
        again, other = self._draw(first, context[index], chance, draw)
        apart = sums(chance, first) > 0
        both = np.append(at, index[again[apart]]), np.append(rule, other[apart])
        new, cost = self._apply(corpus, letters, *both)
        same = text_bits(new) == text_bits(corpus.cut(words))
        if same.any():  # the second undid the first: take the first alone
            undone = same[letters.word[both[0]]]
            undone[: at.size] = False
            new, cost = self._apply(corpus, letters, both[0][~undone], both[1][~undone])
        bad = np.flatnonzero(tripled(new, corpus.cut(words)))
        return self._change_again(corpus, which, bad, new, cost, rng) if bad.size else (new, cost)

    def _change_again(
        self, corpus: Corpus, which: Ints, bad: Ints, new: Ragged, cost: Ints, rng: Rng
    ) -> tuple[Ragged, Ints]:
        """The new words, but `bad` ones by another rule, of all that write no letter three times, if there is one."""
        words = corpus.words.where(which[bad])
        context, letters = self.contexts(corpus.letters.of_words(which[bad])), corpus.letters.of_words(which[bad])
        many = np.diff(self.first)[context]
        at = np.repeat(np.arange(context.size), many)  # each rule of each letter, as a word of its own
        rule, word = spread(self.first[context], many), letters.word[at]
        each, shift = corpus.letters.of_words(which[bad][word]), at - letters.first[word]
        made, costs = self._apply(corpus, each, each.first[:-1] + shift, rule)
        weight = np.diff(self.weight)[rule] * ~tripled(made, corpus.cut(words).take(word))
        running, edges = bounds(weight), np.searchsorted(word, np.arange(bad.size + 1))
        total = running[edges[1:]] - running[edges[:-1]]
        draw = rng.stream("again").uniform(*corpus.place(words.row, words.start))
        pick = np.searchsorted(running, running[edges[:-1]] + (draw * total).astype(np.int64), "right") - 1
        source, open_to = np.arange(which.size), total > 0
        source[bad[open_to]] = which.size + pick[open_to]
        return Ragged.join([new, made]).take(source), np.concatenate((cost, costs))[source]

    def change_far(self, words: Ragged, row: Ints, place: Ints, rate: Floats, rng: Rng) -> Ragged:
        """The words with sure rules applied at many places that lie apart: at each with the word's rate.

        `row` and `place` say where a word stands, for random draws. A letter's position is 64 times the word's plus its number,
        so that letters of different words never share a draw.
        """
        whole = Spans(np.arange(len(words)), words.offsets[:-1], words.offsets[1:])
        corpus = Corpus(words.codes, words.offsets, np.zeros(len(words), np.uint64), whole)
        letters = corpus.letters
        context, word = self.contexts(letters), letters.word
        spot = row[word], place[word] * 64 + np.arange(word.size) - letters.first[word]
        open_to = (self.chance[context] >= SURE) & (rng.stream("far").uniform(*spot) < rate[word])
        at = _apart(open_to, word, rng.stream("where").bits(*spot))
        first = self.first[context[at]]
        draw = rng.stream("which").uniform(spot[0][at], spot[1][at])
        aim = self.weight[first] + (draw * self.chance[context[at]]).astype(np.int64)
        return self._apply(corpus, letters, at, along(self.weight, first, aim))[0]

    def slight(self) -> NoisyChannel:
        """A channel of the sure rules that insert, delete or replace one letter."""
        return self.only(self._one_letter() & (np.diff(self.weight) >= SURE))

    def slips(self) -> NoisyChannel:
        """A channel of the rules that insert, delete or replace one letter, or swap two."""
        return self.only(self._one_letter() | self._swap())

    def fumbles(self) -> NoisyChannel:
        """A channel of the rules that swap two letters or write one twice."""
        new = self.texts.take(self.number)
        first, last = new.codes[np.minimum(new.offsets[:-1], new.codes.size - 1)], new.codes[new.offsets[1:] - 1]
        twice = (self.taken == 1) & (new.lengths == 2) & (first == last) & (first == self._old()[:, 0])
        return self.only(twice | self._swap())

    def firm(self) -> NoisyChannel:
        """A channel without the rules that change the first letter of a word, unless they swap it with the second."""
        new, first = self.texts.take(self.number), self._context() // 28**2 == EDGE
        begins = new.codes[np.minimum(new.offsets[:-1], new.codes.size - 1)] == self._old()[:, 0]
        return self.only(~first | self._swap() | (begins & (new.lengths > 0)), self.two_edits)

    def steady(self) -> NoisyChannel:
        """A channel without the rules that add two letters at once, which are mostly other endings."""
        return self.only(self.texts.lengths[self.number] <= self.taken + 1, self.two_edits)

    @staticmethod
    def by_length(channels: dict[int, NoisyChannel]) -> NoisyChannel:
        """One channel of several with the same texts, by the fewest letters of a word that each is for, in ascending order."""
        parts, fewest = list(channels.values()), tuple(channels)
        size = np.concatenate([np.diff(part.first) for part in parts])
        taken, number, weight = (
            np.concatenate(each)
            for each in zip(*((part.taken, part.number, np.diff(part.weight)) for part in parts), strict=True)
        )
        length = np.arange(parts[0].two_edits.size)
        table = np.maximum(np.searchsorted(fewest, length, "right") - 1, 0)
        two = np.stack([part.two_edits for part in parts])[table, length]
        return NoisyChannel(bounds(size), taken, number, bounds(weight), parts[0].texts, two, fewest)

    def only(self, kept: Mask, two_edits: Ints | None = None) -> NoisyChannel:
        """A channel of some of the rules. two_edits: as this one's; by default a word gets one edit."""
        first = np.append(0, np.cumsum(np.bincount(self._context()[kept], minlength=self.first.size - 1)))
        weight, two = bounds(np.diff(self.weight)[kept]), np.zeros_like(self.two_edits)
        two = two if two_edits is None else two_edits
        return NoisyChannel(first, self.taken[kept], self.number[kept], weight, self.texts, two)

    def _context(self) -> Ints:
        """The context of each rule."""
        return np.repeat(np.arange(self.first.size - 1), np.diff(self.first))

    def _old(self) -> Ints:
        """The letter that each rule is for, and the next."""
        context = self._context()
        return np.stack((context // 28 % 28, context % 28), 1) + ord("a")

    def _one_letter(self) -> Mask:
        """Which rules insert, delete or replace one letter."""
        old = Ragged(self._old()[np.arange(2) < self.taken[:, None]].astype(np.uint32), bounds(self.taken))
        found: Mask = word_distance(old, self.texts.take(self.number)) == 1
        return found

    def _threes(self) -> Mask:
        """Which rules write a letter three times, as far as the letters beside show it."""
        size, code, last = self.texts.lengths, self.texts.codes, self.texts.codes.size - 1
        ends = [np.clip(at, 0, last) for at in (self.texts.offsets[:-1], self.texts.offsets[1:] - 1)]
        double = (size > 1) & (code[ends[0]] == code[np.minimum(ends[0] + 1, last)])
        double_end = (size > 1) & (code[ends[1]] == code[np.maximum(ends[1] - 1, 0)])
        first, end = (code[at][self.number] for at in ends)
        before, after = (self._context() // 28**2 + ord("a") == first), (self._old()[:, 1] == end) & (self.taken == 1)
        single = (size == 1)[self.number] & before & after
        return single | (double[self.number] & before) | (double_end[self.number] & after)

    def _swap(self) -> Mask:
        """Which rules swap two letters."""
        new, old = self.texts.take(self.number), self._old()
        found = (self.taken == 2) & (new.lengths == 2)
        at = new.offsets[:-1][found]
        found[found] = (new.codes[at] == old[found, 1]) & (new.codes[at + 1] == old[found, 0])
        return found

    def _draw(self, first: Ints, context: Ints, chance: Ints, draw: npt.NDArray[np.float64]) -> tuple[Ints, Ints]:
        """A place in each word and a rule for it, by one draw among all rules of all its places."""
        running = bounds(chance)
        total = running[first[1:]] - running[first[:-1]]
        aim = (draw * total).astype(np.int64) + running[first[:-1]]
        at = np.minimum(np.searchsorted(running, aim, "right") - 1, first[1:] - 1)
        rule = self.first[context[at]]
        return at, along(self.weight, rule, self.weight[rule] + aim - running[at])

    def _apply(self, corpus: Corpus, letters: Letters, at: Ints, rule: Ints) -> tuple[Ragged, Ints]:
        """The words with rules applied at the letters `at`, each new letter in the case of the one it replaces; and costs."""
        new = self.texts.take(self.number[rule])
        upper, lower = case_map(upper=True), case_map(upper=False)
        code = letters.codes[letters.start]
        capital = code != lower[code]
        shout = sums(~capital & (upper[code] != code), letters.first) == 0
        shout &= sums(capital, letters.first) > 1
        place = np.arange(new.codes.size) - np.repeat(new.offsets[:-1], new.lengths)
        model = np.minimum(np.repeat(at, new.lengths) + place, letters.start.size - 1)
        raised = (capital[model] & (place < np.repeat(self.taken[rule], new.lengths))) | np.repeat(
            shout[letters.word[at]], new.lengths
        )
        codes = np.where(raised, upper[new.codes], new.codes)
        gone = np.zeros(letters.start.size, np.bool_)
        gone[at] = True
        gone[at[self.taken[rule] == 2] + 1] = True
        length = np.where(gone, 0, letters.stop - letters.start)
        source, size = letters.start.copy(), length.copy()
        source[at], size[at] = corpus.codes.size + new.offsets[:-1], new.lengths
        cost = np.maximum(self.taken[rule], new.lengths)
        text = np.concatenate((corpus.codes, codes))[spread(source, size)]
        offsets = bounds(sums(size, letters.first))
        head = offsets[:-1][capital[letters.first[:-1]]]  # a word that began with a capital still does
        text[head] = upper[text[head]]
        return Ragged(text, offsets), np.bincount(letters.word[at], cost, letters.first.size - 1).astype(np.int64)


def _apart(open_to: Mask, word: Ints, priority: Bits) -> Ints:
    """Of the letters that are open as many as can be taken in random order so that none has another within two letters.

    A rule depends on a letter and those beside it, and replaces up to two; if two were nearer, one would change the context of
    the other.
    """
    spaced = np.arange(word.size) + 2 * word + 2  # two empty places between words
    order = np.zeros(word.size + 2 * int(word.max(initial=0)) + 5, np.uint64)
    order[spaced[open_to]] = priority[open_to] | np.uint64(1)
    taken = np.zeros(order.size, np.bool_)
    while order.any():
        far_left, left, mine, right, far_right = (order[step : order.size - 4 + step] for step in range(5))
        first = (mine > left) & (mine > far_left) & (mine >= right) & (mine >= far_right) & (mine > 0)
        best = np.flatnonzero(first) + 2
        taken[best] = True
        for step in range(-2, 3):
            order[best + step] = 0
    return np.flatnonzero(taken[spaced])


def tripled(new: Ragged, old: Ragged) -> Mask:
    """Which new words write a letter three times in a row although the old one does not, whatever the case."""
    return _threefold(new) & ~_threefold(old)


def _threefold(words: Ragged) -> Mask:
    code = case_map(upper=False)[words.codes]
    row = np.repeat(np.arange(len(words)), words.lengths)
    three = (code[2:] == code[1:-1]) & (code[1:-1] == code[:-2]) & (row[2:] == row[:-2])
    found = np.zeros(len(words), np.bool_)
    found[row[2:][three]] = True
    return found


class Respell(WordPerturbation):
    """Respells words by a table and, if that lacks them, by rules. `listed=True` leaves words alone that the table lacks.

    Clitics written apart (it 's) stay as they are.
    """

    listed: bool
    shortest: ClassVar[int] = 2  # the fewest letters of a word that the rules may change

    @abstractmethod
    def table(self) -> Spellings:
        """Spellings of whole words."""

    @abstractmethod
    def channel(self) -> NoisyChannel:
        """Rules for all other words."""

    def able(self, corpus: Corpus) -> Mask:
        able = np.zeros(len(corpus.words), np.bool_)
        if not self.listed:
            able = (corpus.letters.count >= self.shortest) & self.channel().able(corpus.letters)
        rest = np.flatnonzero(~able)  # words that only the table can know
        able[rest] = self.table().find(corpus.cut(corpus.words.where(rest)))[0] >= 0
        return able & ~clitics(corpus)

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        table = self.table()
        entry, folded = table.find(corpus.cut(corpus.words.where(which)))
        found = entry >= 0
        parts = [
            self.channel().change(corpus, which[~found], rng),
            table.respell(corpus, which[found], entry[found], folded[found], rng),
        ]
        text = Ragged.join([text for text, _ in parts])
        order = np.argsort(np.concatenate((np.flatnonzero(~found), np.flatnonzero(found))))
        return text.take(order), np.concatenate([cost for _, cost in parts])[order]

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        """Proposes edits with exact costs. `rewrite` returns bounds, which take no time: where words are counted costs do not
        matter.
        """
        edits = super().propose(corpus, rng, k=k)
        old = corpus.cut(edits.spans(corpus.offsets))
        return replace(edits, cost=word_distance(old, edits.text))
