"""Blanks that were put into words, and blanks that were doubled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import Candidates
from ..text.ragged import Floats, Ints, Mask, Ragged, bounds, spread, sums
from ..text.random import Rng
from ..text.unicode import classes, word_class
from ..text.unicode_data import DIGIT, UPPER
from ..text.words import Spans
from .language import english
from .lexicon import lexicon
from .symbols import CALM, GAP, SINGLE, SURE, SYMBOL, TAMPERED, among, bits_of_tampering, piece_bits

BLANK = 32
MOST, LETTERS = 20, 24  # pieces of a word, and their letters
SPELT = 4  # single letters in a row that are a word, whatever they spell
DOUBLED, SHARE = 3, 0.2  # gaps of a line, and what share of its gaps, that are wide where blanks were doubled on purpose


def find_spaced(corpus: Corpus, sure: Ints) -> tuple[Ints, Ints]:
    """Finds the blanks inside words: their rows and places. sure: words of each text that symbols show to be tampered with."""
    words = corpus.words
    pieces = corpus.cut(words)
    length, number = pieces.lengths, lexicon().number(pieces)
    single = length == 1
    initial = corpus.codes[words.start] | 32
    article = single & ((initial == ord("a")) | (initial == ord("i")))
    odd = ((number < 0) | single) & ~article & (length < LETTERS)
    linked = (words.start[1:] - words.stop[:-1] == 1) & (words.row[1:] == words.row[:-1])
    linked[linked] = corpus.codes[words.stop[:-1][linked]] == BLANK
    many = words.per_row(len(corpus))
    busy = bits_of_tampering(sure, many)[words.row] <= CALM
    first, last = _windows(linked, odd | (busy & (length <= 3)), length)
    # from here on only the words that matter, and those beside them
    used = np.zeros(len(words) + 1, np.int64)
    np.add.at(used, np.maximum(first - 1, 0), 1)
    np.add.at(used, np.minimum(last + 2, len(words)), -1)
    kept = np.flatnonzero(np.cumsum(used)[:-1] > 0)
    first, last = np.searchsorted(kept, first), np.searchsorted(kept, last)
    words, pieces = words.where(kept), pieces.take(kept)
    row = words.row[first]
    ours = english(corpus, corpus.words, number >= 0, row)[row]
    chosen = _chosen(ours, Pieces(words, pieces, number[kept], article[kept], linked_to(words)), first, last, sure, many)
    inner = spread(first[chosen], last[chosen] - first[chosen])
    return words.row[inner], words.stop[inner]


def linked_to(words: Spans) -> Mask:
    """Which words have another of the same text before them."""
    return np.append(False, words.row[1:] == words.row[:-1])[: len(words)]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Words that may be pieces of words."""

    words: Spans
    texts: Ragged
    number: Ints
    article: Mask  # a or I
    follows: Mask

    @cached_property
    def bits(self) -> Ints:
        """What each costs behind the one before it, in 1/1024 bits."""
        base = piece_bits(self.texts)[0]
        before = np.where(self.follows, np.append(-1, self.number[:-1]), -1)
        bits = np.where(self.number >= 0, lexicon().pair_cost(before, self.number), base)
        bits = np.where((self.texts.lengths == 1) & ~self.article, np.maximum(bits, SINGLE), bits)
        return np.rint(bits * 1024).astype(np.int64)


def _windows(linked: Mask, odd: Mask, length: Ints) -> tuple[Ints, Ints]:
    """First and last of all stretches of linked words with an odd one among them."""
    links, odds, letters = bounds(linked), bounds(odd), bounds(length)
    near = np.flatnonzero(odd)
    near = np.unique((near[:, None] - np.arange(MOST)).ravel())
    near = near[near >= 0]
    found = [(np.empty(0, np.int64),) * 2]
    for size in range(2, MOST + 1):
        near = near[near + size <= odd.size]
        last = near + size - 1
        whole = (links[last] - links[near] == size - 1) & (letters[last + 1] - letters[near] <= LETTERS)
        near, last = near[whole], last[whole]
        some = odds[last + 1] > odds[near]
        found.append((near[some], last[some]))
    first, last = (np.concatenate(part) for part in zip(*found, strict=True))
    return first, last


def _chosen(ours: Mask, pieces: Pieces, first: Ints, last: Ints, sure: Ints, many: Ints) -> Ints:
    """Which stretches cost less as one word; none of them overlap. ours: those of English texts."""
    words, texts, number = pieces.words, pieces.texts, pieces.number
    row, length = words.row[first], texts.lengths
    size = texts.offsets[last + 1] - texts.offsets[first]
    joined = Ragged(texts.codes[spread(texts.offsets[first], size)], bounds(size))
    kind = word_class(classes(texts.codes))
    capital = sums(kind == UPPER, texts.offsets) == length
    digit = sums(kind == DIGIT, texts.offsets) > 0
    single = length == 1

    def count(mask: Mask) -> Ints:
        total = bounds(mask)
        return total[last + 1] - total[first]

    blanks = last - first
    alone, loud, digits = count(~single) == 0, count(~capital) == 0, count(digit)
    content = count((number >= 0) & (length > 2)) == 0  # nothing in it is a word by itself
    spelt = alone & ~_goes_on(single, words, first, last) & (blanks >= SPELT - 1) & ~_alphabet(joined)
    new = lexicon().number(joined)
    known = new >= 0
    fresh = np.flatnonzero(~known & (digits == 0))
    known[fresh] = lexicon().known(joined.take(fresh))
    known &= (digits == 0) & (foreign_joiners(texts, first, last) == 0)
    initial = np.zeros(len(words), np.bool_)
    initial[length > 0] = kind[texts.offsets[:-1][length > 0]] == UPPER
    inner = bounds(initial & (length > 1))
    proper = (inner[last + 1] > inner[first + 1]) & ~loud  # Van Rossum
    old = np.append(0, np.cumsum(pieces.bits))
    next_ = np.append(pieces.number, -1)[last + 1]
    next_ = np.where(np.append(pieces.follows, False)[last + 1], next_, -1)
    head = np.where(pieces.follows[first], np.append(-1, number)[first], -1)
    save = (old[last + 1] - old[first]) / 1024
    save = save + np.where(next_ >= 0, lexicon().pair_cost(number[last], next_) - lexicon().pair_cost(new, next_), 0)
    save = save - np.where(new >= 0, lexicon().pair_cost(head, new), piece_bits(joined)[0]) - SYMBOL - GAP * blanks

    def gains(prior: Floats) -> Floats:
        calm = prior > CALM
        good = known & ~(loud & calm & (blanks < SPELT - 1))
        good |= spelt & ~(loud & calm) & (digits == 0)
        good |= ~calm & ((content & (digits == 0)) | (alone & (digits == blanks + 1)))
        return np.where(good & (ours | spelt) & ~proper, save - prior, -np.inf)

    seen = words.start[first[gains(np.full(first.size, TAMPERED)) > SURE]]
    certain = np.unique(seen, return_index=True)[1]
    rows = row[gains(np.full(first.size, TAMPERED)) > SURE][certain]
    more = np.bincount(rows, minlength=many.size)
    gain = gains(bits_of_tampering(sure + more, many)[row])
    best = np.flatnonzero(gain > 0)
    best = best[np.lexsort((last[best], first[best]))]
    order = (np.iinfo(np.int64).max // 2 - np.rint(gain[best] * 1024).astype(np.int64)).astype(np.uint64)
    spans = Candidates(best, row[best], first[best], last[best] + 1, first[best], first[best], order)
    return spans.without_overlaps(Rng(np.empty(0, np.uint64))).index


def foreign_joiners(texts: Ragged, first: Ints, last: Ints) -> Ints:
    """How many apostrophes and hyphens stretches have."""
    total = bounds(sums(among(texts.codes, "'’-"), texts.offsets) > 0)
    return total[last + 1] - total[first]


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
