"""What words of look-alikes say: for each character the plain ones it may stand for, and of all readings the likeliest word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ...text.ragged import Bits, Codes, Floats, Ints, Mask, Ragged, bounds, rows_of, spread, sums
from ...text.random import bits_of_sum, letter_bits
from ...text.unicode import case_map
from ..hashes import HashTable, word_bits
from ..lexicon import folded, lexicon
from .invisible import APOSTROPHES
from .look_alikes import MARK, SIGN, Bytes, look_alikes

READINGS = 64  # at most so many of a word are compared
CLOSE = 60  # another reading of a character is tried if it costs at most so much more than the best
COMMON = 2500  # words that nobody reads as others
UNKNOWN = 34.0  # bits that a reading costs which is no word
SHORT = 1500  # of the short ones, only these words: any three letters are some abbreviation
A_NUMBER = 14.0
SHAPE = 2.5  # costs of the table that make a bit
ORDINALS = [ord(first) << 8 | ord(last) for first, last in ("st", "nd", "rd", "th")]
CLITICS, UNUSUAL = ("", "s", "t", "d", "m", "ll", "re", "ve"), 8  # bits of what else stands behind an apostrophe

_OTHER = np.array([0 < code < 128 and code != 0x27 and not chr(code).isalnum() for code in range(129)])


@dataclass(frozen=True, eq=False)
class Choices:
    """What characters may stand for: a row for each of the table of look-alikes, then rows that depend on the word."""

    near: Bytes  # [rows, choices] plain characters, the most alike first
    cost: Bytes
    ways: Bytes  # how many of them are tried in a word of several letters
    alone: Bytes  # in one of a single letter
    tied: Mask  # whether the first two cost the same

    @classmethod
    def of(cls, near: Bytes, cost: Bytes) -> Choices:
        best, price = cost[:, :1].astype(np.int64), cost.astype(np.int64)
        many, few = ((near > 0) & (price <= best + close) for close in (CLOSE, 0))
        tied = cost[:, 0] == cost[:, 1]
        return cls(near, cost, many.sum(1).astype(np.uint8), few.sum(1).astype(np.uint8), tied)

    def and_(self, other: Choices) -> Choices:
        names = ("near", "cost", "ways", "alone", "tied")
        return Choices(*(np.concatenate((getattr(self, name), getattr(other, name))) for name in names))


@cache
def _choices() -> Choices:
    table = look_alikes()
    return Choices.of(table.near, table.cost)


@cache
def _clitics() -> HashTable:
    return HashTable.of(word_bits(Ragged.of(CLITICS)))


def decode(words: Ragged) -> tuple[Codes, Ints]:
    """The plain character of each character of the words: GONE for marks, the character itself where it looks like none. And the
    number in the lexicon of what each word says, -1 for none.
    """
    table, codes, out = look_alikes(), words.codes, words.codes.copy()
    at = np.flatnonzero(codes > 127)  # the others are what they are
    mine = codes[at]
    rule, kind, mark = table.number[mine].astype(np.int64), table.kind[mine], table.kind[mine] == MARK
    word = np.repeat(np.arange(len(words)), words.lengths)[at]
    choices = _choices()
    stays = (kind == SIGN) | (choices.near[rule, 0] == 0)  # a curly apostrophe stays
    choices, rule, digits = _prefer_digits(words, at, word, choices, rule, stays)
    out[at] = np.where(stays & ~digits, mine, choices.near[rule, 0])
    out[at[mark]] = 0
    ways = np.where(words.lengths[word] > 1, choices.ways[rule], choices.alone[rule])
    ways[stays | mark] = 1
    number = lexicon().number(without_gaps(Ragged(out, words.offsets)))
    open_ = np.flatnonzero(ways > 1)
    doubt = np.zeros(len(words), np.bool_)
    doubt[word[open_]] = True
    doubt &= (number < 0) | (number > COMMON)
    doubt[word[open_[choices.tied[rule[open_]]]]] = True
    which = np.flatnonzero(doubt)
    if which.size:
        some = np.flatnonzero(doubt[word])
        cost = np.where(stays[some], 0, choices.cost[rule[some], 0])
        place = np.cumsum(doubt) - 1
        best = Ragged(out, words.offsets).take(which)
        shape = np.bincount(place[word[some]], cost, which.size).astype(np.int64)
        some = some[ways[some] > 1]
        here = place[word[some]]
        spot = best.offsets[here] + at[some] - words.offsets[word[some]]
        said, found = Readings.of(
            best, shape, Open(here, spot, rule[some], ways[some].astype(np.int64)), choices
        ).best()
        out[spread(words.offsets[which], best.lengths)] = said
        number[which] = found
    return out, number


def _prefer_digits(
    words: Ragged, at: Ints, word: Ints, choices: Choices, rule: Ints, stays: Mask
) -> tuple[Choices, Ints, Mask]:
    """Among digits a character that looks like one is one first: choices with such rows, the rows of the characters, and which
    characters are read so. at, word: where each stands, and in which word.
    """
    first = choices.near[rule, 0]
    known = (first >= 48) & (first <= 57) & (choices.cost[rule, 0] <= 10) & ~stays
    none = np.zeros(at.size, np.bool_)
    sure = np.zeros(len(words), np.bool_)
    sure[rows_of(np.flatnonzero((words.codes >= 48) & (words.codes <= 57)), words.offsets)] = True
    sure[word[known]] = True
    where = np.flatnonzero(sure[word] & ~known)
    near, cost = choices.near[rule[where]], choices.cost[rule[where]]
    near[stays[where], 0] = 0
    digit = (near >= 48) & (near <= 57)
    best = digit.argmax(1)
    some = np.flatnonzero(best > 0)  # 0, too, where none is a digit
    if not some.size:
        return choices, rule, none
    where, near, cost, best = where[some], near[some], cost[some], best[some]
    row = np.arange(some.size)
    near[row, best], near[row, 0] = near[row, 0], near[row, best]
    cost[:, 0] = 0
    cost[:, 1:] = np.where(cost[:, 1:] < 255, np.maximum(cost[:, 1:], 30), 255)
    rule = rule.copy()
    rule[where] = choices.tied.size + row
    none[where] = True
    return choices.and_(Choices.of(near, cost)), rule, none


def without_gaps(words: Ragged) -> Ragged:
    """The words without characters that are gone."""
    kept = words.codes > 0
    return words if kept.all() else Ragged(words.codes[kept], bounds(sums(kept, words.offsets)))


# ---- all readings of words that have several ----


@dataclass(frozen=True, eq=False)
class Open:
    """Characters that can be read in several ways, in order: the word of each, its place among all codes, its row of choices, and
    how many of them are tried.
    """

    word: Ints
    at: Ints
    rule: Ints
    ways: Ints

    def limited(self, choices: Choices) -> Open:
        """With fewer ways, until a word has no more than READINGS; characters that are left with one are not open."""
        first = np.flatnonzero(np.diff(self.word, prepend=-1))
        per_word = np.diff(np.append(first, self.word.size))
        ways = self.ways

        def many() -> Mask:
            with np.errstate(over="ignore"):  # of a word of thousands of look-alikes: infinitely many are too many
                readings = np.multiply.reduceat(ways.astype(np.float64), first)
            return np.repeat(readings > READINGS, per_word)

        for most in (3, 2):
            ways = np.where(many(), np.minimum(ways, most), ways)
        left = np.flatnonzero(many())
        if left.size:
            cost = choices.cost[self.rule[left]].astype(np.int64)
            order = np.lexsort((cost[:, 1] - cost[:, 0], self.word[left]))  # the closest choices first
            word = self.word[left]
            opens = np.flatnonzero(np.diff(word, prepend=-1))
            rank = np.empty(left.size, np.int64)
            rank[order] = np.arange(left.size) - np.repeat(opens, np.diff(np.append(opens, left.size)))
            ways[left[rank >= int(np.log2(READINGS))]] = 1
        kept = ways > 1
        return Open(self.word[kept], self.at[kept], self.rule[kept], ways[kept])


@dataclass(frozen=True, eq=False)
class Readings:
    """All readings of some words, one after the other; the first choices of each word come first, its first character changes
    fastest. Sums over the letters of a word are those of its first reading and a difference for each other choice.
    """

    words: Ragged  # in their first readings, with gaps
    length: Ints  # of each word, without gaps
    open: Open
    opens: Ints  # where the open characters of each word begin, and the number of all
    stride: Ints  # of each open character: how many readings until its next choice
    near: Bytes  # [open, choices]
    first: Ints  # the first reading of each word, and the number of all
    word: Ints  # of each reading
    bits: Bits
    shape: Ints
    digits: Ints

    @classmethod
    def of(cls, words: Ragged, shape: Ints, open_: Open, choices: Choices) -> Readings:
        open_ = open_.limited(choices)
        codes, kept = words.codes, words.codes > 0
        before = bounds(kept)
        place = before[:-1] - np.repeat(before[words.offsets[:-1]], words.lengths)
        length = before[words.offsets[1:]] - before[words.offsets[:-1]]
        low = case_map(upper=False)
        small = low[codes]
        small[small == APOSTROPHES[1]] = APOSTROPHES[0]
        bits = sums(np.where(kept, letter_bits(small, place), np.uint64(0)), words.offsets)
        digits = sums((codes >= 48) & (codes <= 57), words.offsets)
        # a difference for each choice of each open character; those of the first one, and of none, are 0
        slot = bounds(open_.ways) + 1
        of = np.repeat(np.arange(open_.word.size), open_.ways)
        choice = np.arange(of.size) - np.repeat(slot[:-1] - 1, open_.ways)
        near, cost = choices.near[open_.rule], choices.cost[open_.rule].astype(np.int64)
        said, where = near[of, choice], place[open_.at]
        more = letter_bits(low[said], where[of])
        more = np.append(np.uint64(0), more - more[slot[:-1] - 1][of])
        digit = ((said >= 48) & (said <= 57)).astype(np.int64)
        numbers = np.append(0, digit - digit[slot[:-1] - 1][of])
        shapes = np.append(0, cost[of, choice] - cost[of, 0])
        count = np.bincount(open_.word, minlength=len(words))
        opens = bounds(count)
        word = np.arange(len(words))
        stride = np.ones(open_.word.size, np.int64)
        for rank in range(1, int(count.max(initial=0))):
            at = opens[:-1][count > rank] + rank
            stride[at] = stride[at - 1] * open_.ways[at - 1]
        for rank in range(int(count.max(initial=0)) - 1, -1, -1):
            has = count > rank
            at = np.where(has, opens[:-1] + rank, 0)
            many = np.where(has, open_.ways[at], 1)[word]
            begin = np.repeat(np.where(has, slot[at], 0)[word] - (np.cumsum(many) - many), many)
            begin += np.arange(begin.size)
            word = np.repeat(word, many)
            bits = np.repeat(bits, many) + more[begin]
            shape, digits = np.repeat(shape, many) + shapes[begin], np.repeat(digits, many) + numbers[begin]
        total = np.bincount(word, minlength=len(words))
        return cls(words, length, open_, opens, stride, near, bounds(total), word, bits, shape, digits)

    def best(self) -> tuple[Codes, Ints]:
        """Of all readings of each word the one that costs least: by shape, as a word, and in its mixture of cases and digits.
        And its number in the lexicon.

        The mixture only adds to the cost: it is looked at where the rest does not cost more than some reading with all.
        """
        number = lexicon().table.get(bits_of_sum(self.bits, self.length[self.word]))
        cost = self.shape / (10 * SHAPE) * 4 + self._word_costs(number)
        found = self._cheapest(cost, np.arange(cost.size))
        most = cost[found] + _mixture(self.codes(found))
        some = np.flatnonzero(cost <= most[self.word])
        if some.size > found.size:
            price = cost[some] + _mixture(self.codes(some))
            found = some[self._cheapest(price, some)]
        return self.codes(found).codes, number[found]

    def _cheapest(self, cost: Floats, which: Ints) -> Ints:
        """The first of the cheapest of some readings of each word, as places in `which`."""
        word = self.word[which]
        opens = np.flatnonzero(np.diff(word, prepend=-1))
        least = np.repeat(np.minimum.reduceat(cost, opens), np.diff(np.append(opens, word.size)))
        best = np.flatnonzero(cost == least)
        return best[np.diff(word[best], prepend=-1) > 0]

    def codes(self, which: Ints) -> Ragged:
        """What some readings say, with gaps."""
        word = self.word[which]
        out = self.words.take(word)
        count = np.diff(self.opens)[word]
        at = spread(self.opens[:-1][word], count)
        reading = np.repeat(which - self.first[word], count)
        spot = self.open.at[at] + np.repeat(out.offsets[:-1] - self.words.offsets[word], count)
        out.codes[spot] = self.near[at, reading // self.stride[at] % self.open.ways[at]]
        return out

    def _word_costs(self, number: Ints) -> Floats:
        """Bits of each reading as a word; what stands before an apostrophe may be one by itself, and 5th is a number."""
        known, length = lexicon(), self.length[self.word]
        cost = np.where(number < 0, UNKNOWN, known.cost[number]).astype(np.float64)
        cost[(length < 4) & (number > SHORT)] = UNKNOWN - 2
        cost[(self.digits == length) & (self.digits > 1)] = A_NUMBER
        tick = np.zeros(len(self.words), np.bool_)
        for where, codes in (
            (np.repeat(np.arange(len(self.words)), self.words.lengths), self.words.codes),
            (np.repeat(self.open.word, self.near.shape[1]), self.near.ravel()),
        ):
            tick[where[(codes == APOSTROPHES[0]) | (codes == APOSTROPHES[1])]] = True
        some = np.flatnonzero((self.digits > 0) & (length - self.digits == 2) & (number < 0))
        if some.size:
            words = without_gaps(self.codes(some))
            end = words.offsets[1:]
            cost[some[np.isin(words.codes[end - 2] << 8 | words.codes[end - 1], ORDINALS)]] = A_NUMBER
        some = np.flatnonzero(tick[self.word] & (number < 0)) if tick.any() else np.empty(0, np.int64)
        if some.size:
            words = without_gaps(self.codes(some))
            at = np.flatnonzero((words.codes == APOSTROPHES[0]) | (words.codes == APOSTROPHES[1]))
            word = rows_of(at, words.offsets)
            stem = at - words.offsets[word]
            parts = Ragged(words.codes[spread(words.offsets[word], stem)], bounds(stem))
            found = known.number(parts)
            behind = words.offsets[word + 1] - at - 1
            ends = word_bits(folded(Ragged(words.codes[spread(at + 1, behind)], bounds(behind))))
            cost[some[word]] = np.where(
                found < 0, UNKNOWN, known.cost[found] + np.where(_clitics().has(ends), 2, UNUSUAL)
            )
        return cost


def _mixture(words: Ragged) -> Floats:
    """Bits of capitals behind small letters, small ones behind two capitals, digits and signs among letters."""
    codes, edges = words.codes, words.offsets
    lower, upper = (codes >= 97) & (codes <= 122), (codes >= 65) & (codes <= 90)
    digit = (codes >= 48) & (codes <= 57)
    other = _OTHER[np.minimum(codes, 128)]
    first = np.zeros(codes.size + 1, np.bool_)
    first[edges] = True
    same = ~first[1:-1]
    tick = codes == 0x27
    price = np.zeros(codes.size, np.uint8)
    price[1:] += np.uint8(10) * (same & lower[:-1] & upper[1:])
    price[1:] += np.uint8(3) * (same & tick[:-1] & upper[1:])
    price[1:] += np.uint8(5) * (same & (digit[:-1] ^ digit[1:]))
    if codes.size > 2:
        run = same[1:] & same[:-1]
        price[2:] += np.uint8(6) * (run & upper[:-2] & upper[1:-1] & lower[2:])
        price[2:] += np.uint8(6) * (run & lower[:-2] & tick[1:-1] & upper[2:])
    price += np.uint8(5) * other
    alone = first[:-1] & first[1:]
    price += np.uint8(8) * (alone & (codes == ord("l")))
    return sums(price, edges).astype(np.float64)
