"""Blanks that were put into words, and blanks that were doubled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...text.corpus import Corpus
from ...text.edits import EditCandidates
from ...text.ragged import Codes, Floats, Ints, Mask, Ragged, bounds, spread, sums
from ...text.random import Rng
from ...text.unicode import classes, word_class
from ...text.unicode_data import DIGIT, UPPER
from ...text.words import Spans
from ..hashes import word_bits
from ..language import english
from ..lexicon import folded, lexicon
from ..restore.caution import offensive
from ..technical import BESIDE, attached
from .costs import CALM, GAP, SINGLE, SURE, SYMBOL, TAMPERED, among, bits_of_tampering, piece_bits

BLANK = 32
VOWELS, KINDS = (0.2, 0.6), 8  # the share of vowels, and the number of different letters, of spelled English
BLOCK = 1 << 15  # words from which stretches are looked for at a time
MOST, LETTERS, PIECE = 20, 24, 12  # pieces of a word, the letters of all, and those of one that is no word
RARE = 8.0  # bits, and two for each letter, above which a short word may be a piece
CLEAN = 16.0  # bits below which a piece is a plain word: joined with others, it makes no word that offends
SPELT = 4  # single letters in a row that are a word, whatever they spell
JOINED = BESIDE + "*'’-"  # before or behind a letter that belongs to something else
# gaps of a line, and what share of its gaps, that are wide where blanks were doubled on purpose
DOUBLED, SHARE = 3, 0.2


def find_spaced(corpus: Corpus, sure: Ints) -> tuple[Ints, Ints]:
    """Finds the blanks inside words: their rows and places. sure: words of each text that symbols show to be tampered with."""
    words = corpus.words
    pieces = Pieces.of(corpus, words)
    length = pieces.texts.lengths
    many = words.per_row(len(corpus))
    busy = bits_of_tampering(sure, many) <= CALM
    rare = (length <= 3) & (lexicon().cost[pieces.number] > RARE + 2 * length)
    linked = (words.start[1:] - words.stop[:-1] == 1) & (words.row[1:] == words.row[:-1])
    linked[linked] = corpus.codes[words.stop[:-1][linked]] == BLANK
    spelled = _spelled_texts(corpus.codes[words.start], length == 1, linked)
    free = ~attached(corpus, words, JOINED)
    found: list[Stretches] = []
    for first, last in _windows(linked, pieces.odd | rare, length):
        some = Stretches.of(pieces, first, last)
        worth = some.known | some.spelt | some.figures | (busy[words.row[first]] & some.empty)
        found.append(some.where(worth & free[first] & free[last]))
    if not found:
        return words.row[spelled], words.stop[spelled]
    stretches = Stretches.join(found)
    gain = _gains(stretches, sure, many)
    rows = words.row[stretches.first]
    ours = english(corpus, words, pieces.number >= 0, rows[gain > 0])[rows]
    chosen = _apart(stretches, np.where(ours | stretches.spelt, gain, -np.inf))
    inner = np.append(spelled, spread(stretches.first[chosen], (stretches.last - stretches.first)[chosen]))
    return words.row[inner], words.stop[inner]


def _spelled_texts(initial: Codes, single: Mask, linked: Mask) -> Ints:
    """The letters, but for the last, of runs of more letters than a word has: texts that are spelled. Their blanks go, and words
    are found by splitting. Such runs, also those that stay, are taken out of `linked`.
    """
    goes_on = np.append(linked & single[:-1] & single[1:], False)
    first = np.flatnonzero(goes_on & ~np.append(False, goes_on[:-1]))
    last = np.flatnonzero(~goes_on & np.append(False, goes_on[:-1]))
    long = last - first >= MOST
    first, size = first[long], (last - first)[long] + 1
    linked[spread(first, size - 1)] = False
    codes, edges = initial[spread(first, size)], bounds(size)
    vowels = sums(among(codes, "aeiouAEIOU"), edges) / np.maximum(size, 1)
    small = sums((codes >= ord("a")) & (codes <= ord("z")), edges)
    kinds = [np.unique(codes[a:b]).size for a, b in pairwise(edges.tolist())]
    alphabet = _alphabet(Ragged(codes, edges))
    text = (
        (vowels > VOWELS[0])
        & (vowels < VOWELS[1])
        & (2 * small > size)
        & (np.array(kinds, np.int64) >= KINDS)
        & ~alphabet
    )
    return spread(first[text], size[text] - 1)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Words that may be pieces of words."""

    words: Spans
    texts: Ragged
    number: Ints
    article: Mask  # a or I
    follows: Mask  # there is another word of the same text before it

    @classmethod
    def of(cls, corpus: Corpus, words: Spans) -> Pieces:
        texts = corpus.cut(words)
        initial = corpus.codes[words.start] | 32
        article = (texts.lengths == 1) & ((initial == ord("a")) | (initial == ord("i")))
        follows = np.append(False, words.row[1:] == words.row[:-1])[: len(words)]
        return cls(words, texts, lexicon().number(texts), article, follows)

    @property
    def odd(self) -> Mask:
        """Which are no words, or letters by themselves."""
        length = self.texts.lengths
        return ((self.number < 0) | (length == 1)) & ~self.article & (length <= PIECE)

    @property
    def clean(self) -> Mask:
        """Which are plain words of several letters, none that offends."""
        plain: Mask = (self.number >= 0) & (self.texts.lengths > 1) & (lexicon().cost[self.number] < CLEAN)
        return plain & ~offensive()[self.number]

    def bits(self, which: Ints) -> Ints:
        """What some cost, each behind the one before it, in 1/1024 bits."""
        texts, number = self.texts.take(which), self.number[which]
        before = np.where(self.follows[which], np.append(-1, self.number)[which], -1)
        bits = np.where(number >= 0, lexicon().pair_cost(before, number), piece_bits(texts)[0])
        bits = np.where((texts.lengths == 1) & ~self.article[which], np.maximum(bits, SINGLE), bits)
        return np.rint(bits * 1024).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Stretches:
    """Neighbouring pieces, from `first` to `last`, that may be one word."""

    pieces: Pieces
    first: Ints
    last: Ints
    number: Ints  # of the word that they are
    known: Mask  # it is a word
    spelt: Mask  # single letters, as many as there are in a row
    empty: Mask  # half of it are single letters, and nothing in it is a word by itself
    figures: Mask  # single digits, or a year with some
    loud: Mask  # all in capitals

    @classmethod
    def of(cls, pieces: Pieces, first: Ints, last: Ints) -> Stretches:
        texts = pieces.texts
        length, kind = texts.lengths, word_class(classes(texts.codes))
        single = length == 1
        joined = _joined(texts, first, last)
        keys = word_bits(folded(joined))
        number = lexicon().table.get(keys)
        unlisted = np.flatnonzero(number < 0)
        known = number >= 0
        known[unlisted] = lexicon().others.has(keys[unlisted])

        def count(mask: Mask) -> Ints:
            total = bounds(mask)
            return total[last + 1] - total[first]

        digit = sums(kind == DIGIT, texts.offsets) > 0
        capitals = sums(kind == UPPER, texts.offsets)
        plain = (count(digit) == 0) & (count(sums(among(texts.codes, "'’-"), texts.offsets) > 0) == 0)
        alone, loud = count(~single) == 0, count(capitals < length) == 0
        # Van Rossum: in a word that was cut only the first piece has a capital
        initial = bounds((capitals > 0) & (length > 1))
        listed = np.flatnonzero(alone)
        plain[listed] &= ~_alphabet(joined.take(listed))
        plain &= loud | (initial[last + 1] == initial[first + 1])
        bad = np.flatnonzero(offensive()[number] & (number >= 0))
        plain[bad] &= count(pieces.clean)[bad] == 0
        spelt = alone & ~_goes_on(single, pieces.words, first, last) & (last - first >= SPELT - 1)
        letters = count(single & ~pieces.article)
        empty = plain & (2 * letters > last - first) & (letters > 1) & (count((pieces.number >= 0) & (length > 2)) == 0)
        figures = (count(~digit) == 0) & ((count(~single) == 0) | (count(single) > 0) & _year(joined))
        return cls(pieces, first, last, number, known & plain, spelt & plain, empty, figures, loud)

    @staticmethod
    def join(parts: list[Stretches]) -> Stretches:
        """All stretches of several parts."""
        names = ("first", "last", "number", "known", "spelt", "empty", "figures", "loud")
        return Stretches(parts[0].pieces, *(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def where(self, chosen: Mask) -> Stretches:
        """Some of these."""
        return Stretches(
            self.pieces, self.first[chosen], self.last[chosen], self.number[chosen], self.known[chosen], self.spelt[chosen],
            self.empty[chosen], self.figures[chosen], self.loud[chosen],
        )  # fmt: skip


def _joined(texts: Ragged, first: Ints, last: Ints) -> Ragged:
    """Neighbouring texts as one."""
    size = texts.offsets[last + 1] - texts.offsets[first]
    return Ragged(texts.codes[spread(texts.offsets[first], size)], bounds(size))


def _windows(linked: Mask, odd: Mask, length: Ints) -> Iterator[tuple[Ints, Ints]]:
    """First and last of all stretches of linked words with an odd one among them, some at a time: a text may be all letters."""
    links, odds, letters = bounds(linked), bounds(odd), bounds(length)
    ahead = np.minimum(np.arange(odd.size) + MOST, odd.size)
    starts = np.flatnonzero(odds[ahead] > odds[:-1])
    for begin in range(0, starts.size, BLOCK):
        near, found = starts[begin : begin + BLOCK], []
        for size in range(2, MOST + 1):
            near = near[near + size <= odd.size]
            last = near + size - 1
            whole = (links[last] - links[near] == size - 1) & (letters[last + 1] - letters[near] <= LETTERS)
            near, last = near[whole], last[whole]
            some = odds[last + 1] > odds[near]
            found.append((near[some], last[some]))
        first, last = (np.concatenate(part) for part in zip(*found, strict=True))
        yield first, last


def _gains(stretches: Stretches, sure: Ints, many: Ints) -> Floats:
    """The bits that each stretch saves as one word. sure, many: tampered words and words of each text."""
    pieces, first, last = stretches.pieces, stretches.first, stretches.last
    row, blanks = pieces.words.row[first], last - first
    inner = spread(first, blanks + 1)
    used, place = np.unique(inner, return_inverse=True)
    old = sums(pieces.bits(used)[place], bounds(blanks + 1)) / 1024
    after = np.where(np.append(pieces.follows, False)[last + 1], np.append(pieces.number, -1)[last + 1], -1)
    head = np.where(pieces.follows[first], np.append(-1, pieces.number)[first], -1)
    new = stretches.number
    pair = lexicon().pair_cost
    bits = piece_bits(_joined(pieces.texts, first, last))[0]
    save = old - np.where(new >= 0, pair(head, new), bits) - SYMBOL - GAP * blanks
    save = save + np.where(after >= 0, pair(pieces.number[last], after) - pair(new, after), 0)

    def gains(prior: Floats) -> Floats:
        calm = prior > CALM
        good = stretches.known & ~(stretches.loud & calm & (blanks < SPELT - 1))
        good |= stretches.spelt & ~(stretches.loud & calm)
        good |= ~calm & (stretches.empty | stretches.figures)
        return np.where(good, save - prior, -np.inf)

    clear = np.flatnonzero(gains(np.full(first.size, TAMPERED)) > SURE)
    certain = clear[np.unique(first[clear], return_index=True)[1]]
    more = np.bincount(row[certain], minlength=many.size)
    return gains(bits_of_tampering(sure + more, many)[row])


def _apart(stretches: Stretches, gain: Floats) -> Ints:
    """Stretches that save bits and do not overlap: of two that do, the one that saves more stays."""
    first, last = stretches.first, stretches.last
    best = np.flatnonzero(gain > 0)
    best = best[np.lexsort((last[best], first[best]))]
    order = (np.iinfo(np.int64).max // 2 - np.rint(gain[best] * 1024).astype(np.int64)).astype(np.uint64)
    start = first[best]
    spans = EditCandidates(best, stretches.pieces.words.row[start], start, last[best] + 1, start, start, order)
    return spans.without_overlaps(Rng(np.empty(0, np.uint64))).index


def _year(texts: Ragged) -> Mask:
    """Which texts are years since 1500."""
    padded = np.append(texts.codes, np.zeros(2, np.uint32))
    first, second = padded[texts.offsets[:-1]], padded[texts.offsets[:-1] + 1]
    old = (first == ord("1")) & (second >= ord("5")) & (second <= ord("9"))
    new = (first == ord("2")) & (second == ord("0"))
    return (texts.lengths == 4) & (old | new) & (sums(among(texts.codes, "0123456789"), texts.offsets) == 4)


def _goes_on(single: Mask, words: Spans, first: Ints, last: Ints) -> Mask:
    """Whether a single letter stands before or behind a stretch, one blank away."""
    beside = np.append(single[:-1] & single[1:] & (words.start[1:] - words.stop[:-1] == 1), False)
    return np.append(False, beside)[first] | beside[last]


def _alphabet(texts: Ragged) -> Mask:
    """Which texts are the alphabet or part of it, or one letter repeated."""
    low = texts.codes | 32
    step = np.diff(low.astype(np.int64), prepend=0)
    step[texts.offsets[:-1]] = 1
    same = np.where(step == 0, 1, 0)
    same[texts.offsets[:-1]] = 1
    return (sums(step != 1, texts.offsets) == 0) | (sums(same == 0, texts.offsets) == 0)


def find_doubled(corpus: Corpus) -> Spans:
    """Finds blanks that double the one before them, in texts where many gaps between words of one line are wide.

    Blanks behind a full stop, of an indentation or of a table are left: those of a table are on several lines.
    """
    words = corpus.words
    start, stop = words.stop[:-1], words.start[1:]
    inside = (words.row[1:] == words.row[:-1]) & (stop > start)
    start, stop, row = start[inside], stop[inside], words.row[:-1][inside]
    solid = bounds(corpus.codes != BLANK)
    gap = solid[stop] == solid[start]
    wide = gap & (stop - start > 1)
    if not wide.any():
        none = np.empty(0, np.int64)
        return Spans(none, none, none)
    many = np.bincount(row[wide], minlength=len(corpus))
    share = many / np.maximum(np.bincount(row[gap], minlength=len(corpus)), 1)
    lines = sums(corpus.codes == 10, corpus.offsets) > 0
    lines |= sums(corpus.codes == 9, corpus.offsets) > 0
    done = wide & ((many >= DOUBLED) & (share >= SHARE) & ~lines)[row]
    return Spans(row[done], start[done] + 1, stop[done])
