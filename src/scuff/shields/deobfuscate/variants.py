"""Runs of characters with symbols or digits inside, and how else they could be read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ...text.corpus import Corpus
from ...text.ragged import Codes, Ints, Ragged, bounds, spread, sums
from ...text.unicode import case_map, classes, is_white, word_class
from ...text.unicode_data import DIGIT, LOWER, UPPER
from ..normalise.look_alikes import CYRILLIC, look_alikes
from .costs import LIMIT, among, is_wordy, wordy_kinds

JOINERS = "'’-‐‑–—´\xad…\x91\x92\x93\x94\x96\x97"  # one of these goes only where that makes a known word
LONGEST = 120  # characters of such a run
# what may stand for a letter; the first letters are tried together, then the second ones
LEET = {
    "0": "o", "1": "il", "2": "z", "3": "e", "4": "a", "5": "s", "6": "gb", "7": "t", "8": "b", "9": "g",
    "@": "a", "$": "s", "!": "il", "|": "li", "+": "t", "(": "c", "€": "e", "£": "l", "¢": "c", "¥": "y",
}  # fmt: skip
MASK, MASKED = "*", "aeiou"  # a star may stand for any vowel
DELETE, LEET_READ, MASK_READ = range(3)


@dataclass(frozen=True, eq=False)
class Cores:
    """Runs of characters without white space, from their first letter or digit to their last, and where they begin."""

    texts: Ragged
    row: Ints
    start: Ints
    led: Codes  # the characters before and behind each, 0 if there are none
    followed: Codes

    def where(self, index: Ints) -> Cores:
        """Some of these."""
        row, start, led, followed = self.row[index], self.start[index], self.led[index], self.followed[index]
        return Cores(self.texts.take(index), row, start, led, followed)


def find_cores(corpus: Corpus) -> Cores:
    """All runs with a symbol between letters or digits, or with letters beside digits."""
    codes, offsets = corpus.codes, corpus.offsets
    kind = word_class(corpus.classes)
    inside, white = wordy_kinds()[kind], is_white(codes)
    if codes.size < 2:
        none = np.empty(0, np.int64)
        return Cores(Ragged.blank(0), none, none, np.empty(0, np.uint32), np.empty(0, np.uint32))
    digit = kind == DIGIT
    letter = inside & ~digit
    hit = np.zeros(codes.size, np.bool_)
    hit[:-1] = (letter[:-1] & digit[1:]) | (digit[:-1] & letter[1:])
    # a symbol behind a letter, which is inside if a letter follows in the run
    hit[1:] |= inside[:-1] & ~inside[1:] & ~white[1:]
    at = np.flatnonzero(hit)
    edge = np.flatnonzero(white)
    row = np.searchsorted(offsets, at, "right") - 1
    near = np.searchsorted(edge, at)
    begin = np.maximum(np.append(0, edge + 1)[near], offsets[row])
    end = np.minimum(np.append(edge, codes.size)[near], offsets[row + 1])
    first = np.flatnonzero(np.diff(begin, prepend=-1) > 0)
    begin, end, row = begin[first], end[first], row[first]
    words = np.flatnonzero(inside)
    start = np.append(words, codes.size)[np.searchsorted(words, begin)]
    stop = np.append(0, words + 1)[np.searchsorted(words, end)]
    solid = bounds(~inside)
    changes = bounds(hit)  # a symbol behind the last letter does not count
    length = stop - start
    good = (length > 2) & (length <= LONGEST)
    # scripts with joiners, or without blanks
    joined = bounds((look_alikes().script[codes] > CYRILLIC).astype(np.int64))
    good &= joined[np.maximum(stop, start)] == joined[start]
    start, stop = np.where(good, start, 0), np.where(good, stop, 0)
    good &= (solid[stop] > solid[start]) | (changes[stop] > changes[start])
    row, start, length, begin, end, stop = (x[good] for x in (row, start, length, begin, end, stop))
    led = np.where(start > begin, codes[start - 1], 0).astype(np.uint32)
    followed = np.where(end > stop, np.append(codes, 0)[stop], 0).astype(np.uint32)
    return Cores(Ragged(codes[spread(start, length)], bounds(length)), row, start, led, followed)


@dataclass(frozen=True, eq=False)
class Variants:
    """Other readings of cores: the core of each, what it does, with which symbol, and the characters that stay or change."""

    core: Ints
    what: Ints
    symbol: Codes
    texts: Ragged
    source: Ints  # of each character, its place in the codes of the cores

    @staticmethod
    def join(parts: list[Variants]) -> Variants:
        return Variants(
            np.concatenate([part.core for part in parts]),
            np.concatenate([part.what for part in parts]),
            np.concatenate([part.symbol for part in parts]),
            Ragged.join([part.texts for part in parts]),
            np.concatenate([part.source for part in parts]),
        )


def deletions(texts: Ragged) -> Variants:
    """Each text without one of its symbols, wherever it stands in it."""
    codes, number = texts.codes, np.repeat(np.arange(len(texts)), texts.lengths)
    at = np.flatnonzero(~is_wordy(codes) & (codes < LIMIT))
    pair = np.sort(number[at] << 21 | codes[at].astype(np.int64))
    pair = pair[np.flatnonzero(np.diff(pair, prepend=-1))]
    core, symbol = pair >> 21, (pair & (1 << 21) - 1).astype(np.uint32)
    length = texts.lengths[core]
    source = spread(texts.offsets[core], length)
    stays = codes[source] != np.repeat(symbol, length)
    size = sums(stays, bounds(length))
    source = source[stays]
    return Variants(core, np.full(core.size, DELETE), symbol, Ragged(codes[source], bounds(size)), source)


@cache
def _leet(turn: int) -> Codes:
    table = np.arange(LIMIT + 1, dtype=np.uint32)
    for symbol, letters in LEET.items():
        table[ord(symbol)] = ord(letters[min(turn, len(letters) - 1)])
    return table


def readings(texts: Ragged) -> Variants:
    """Texts with digits and symbols read as letters: all of them that can be, or the one star as a vowel."""
    codes = texts.codes
    kind = word_class(classes(codes))
    letters = sums((kind == LOWER) | (kind == UPPER), texts.offsets)
    leet = sums(among(codes, "".join(LEET)), texts.offsets)
    symbols = sums(~wordy_kinds()[kind] & ~among(codes, "'’-"), texts.offsets)
    open_to = np.flatnonzero((leet > 0) & (letters >= 2) & (leet <= letters))
    second = open_to[sums(among(codes, "1!|6"), texts.offsets)[open_to] > 0]
    stars = sums(codes == ord(MASK), texts.offsets)
    masked = np.flatnonzero((stars == 1) & (symbols == 1) & (letters >= 3))
    core = np.concatenate([open_to, second, np.repeat(masked, len(MASKED))])
    turn = np.repeat([0, 1], [open_to.size, second.size])
    length = texts.lengths[core]
    source = spread(texts.offsets[core], length)
    new = codes[source]
    cut = int(length[: turn.size].sum())
    short = np.minimum(new[:cut], LIMIT)
    read = np.where(np.repeat(turn, length[: turn.size]) > 0, _leet(1)[short], _leet(0)[short])
    new[:cut] = np.where(new[:cut] < LIMIT, read, new[:cut])
    star = np.flatnonzero(new[cut:] == ord(MASK)) + cut
    new[star] = np.resize(np.array([ord(vowel) for vowel in MASKED], np.uint32), star.size)
    what = np.repeat([LEET_READ, MASK_READ], [turn.size, core.size - turn.size])
    loud = sums(kind == LOWER, texts.offsets)[core] == 0
    changed = new != codes[source]
    capital = changed & np.repeat(loud, length)
    new[capital] = case_map(True)[new[capital]]
    return Variants(core, what, np.zeros(core.size, np.uint32), Ragged(new, bounds(length)), source)
