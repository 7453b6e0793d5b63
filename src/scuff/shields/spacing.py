"""Blanks that were put into words, and blanks that were doubled."""

from __future__ import annotations

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import Candidates
from ..text.ragged import Floats, Ints, Mask, Ragged, bounds, spread, sums
from ..text.random import Rng
from ..text.unicode import classes, word_class
from ..text.unicode_data import DIGIT, UPPER
from ..text.words import Spans
from .lexicon import lexicon
from .symbols import CALM, GAP, SINGLE, SURE, SYMBOL, TAMPERED, bits_of_tampering, one_of, piece_bits

BLANK = 32
MOST, LETTERS = 20, 24  # pieces of a word, and their letters
SPELT = 4  # single letters in a row that are a word, whatever they spell
DOUBLED, SHARE = 3, 0.2  # gaps of a line, and what share of its gaps, that are wide where blanks were doubled on purpose


def find_spaced(corpus: Corpus, sure: Ints) -> tuple[Ints, Ints, Ints]:
    """Finds the blanks inside words: their rows and places. sure: words of each text that other signs show to be tampered with;
    it is returned with those added that blanks show.
    """
    words, none = corpus.words, np.empty(0, np.int64)
    if len(words) < 2:
        return none, none, sure
    codes = corpus.codes
    pieces = corpus.cut(words)
    length = pieces.lengths
    number = lexicon().number(pieces)
    odd = (number < 0) | ((length == 1) & ~one_of(pieces, ["a", "i"]))
    odd &= length < LETTERS
    gap = words.start[1:] - words.stop[:-1]
    linked = (gap == 1) & (words.row[1:] == words.row[:-1])
    linked[linked] = codes[words.stop[:-1][linked]] == BLANK
    busy = bits_of_tampering(sure, words.per_row(len(corpus)))[words.row] <= CALM
    first, last = _windows(linked, odd | (busy & (length <= 3)), length)
    if not first.size:
        return none, none, sure
    return _chosen(corpus, pieces, number, first, last, sure)


def _windows(linked: Mask, odd: Mask, length: Ints) -> tuple[Ints, Ints]:
    """First and last of all stretches of linked words with an odd one among them."""
    links, odds, letters = bounds(linked), bounds(odd), bounds(length)
    near = np.flatnonzero(odd)
    near = np.unique(np.concatenate([near - shift for shift in range(MOST)]))
    near = near[near >= 0]
    found = []
    for size in range(2, MOST + 1):
        last = near + size - 1
        near = near[last < odd.size]
        last = near + size - 1
        whole = links[last] - links[near] == size - 1
        near, last = near[whole], last[whole]
        good = letters[last + 1] - letters[near] <= LETTERS
        near, last = near[good], last[good]
        some = odds[last + 1] > odds[near]
        found.append((near[some], last[some]))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))  # type: ignore[return-value]


def _chosen(
    corpus: Corpus, pieces: Ragged, number: Ints, first: Ints, last: Ints, sure: Ints
) -> tuple[Ints, Ints, Ints]:
    """The blanks of those stretches that cost less as one word."""
    words, length = corpus.words, pieces.lengths
    row = words.row[first]
    letters = bounds(length)
    size = letters[last + 1] - letters[first]
    joined = Ragged(pieces.codes[spread(letters[first], size)], bounds(size))
    new = lexicon().number(joined)
    known = new >= 0
    kind = word_class(classes(pieces.codes))
    capital = sums(kind == UPPER, pieces.offsets) == length
    digit = sums(kind == DIGIT, pieces.offsets) > 0
    single = length == 1

    def every(mask: Mask) -> Mask:
        total = bounds(mask)
        return total[last + 1] - total[first] == last - first + 1

    def none_of(mask: Mask) -> Mask:
        total = bounds(mask)
        return total[last + 1] == total[first]

    alone = every(single)
    letters_only = none_of(digit)
    full = alone & ~_goes_on(single, words, first, last)
    fresh = np.flatnonzero(~known & letters_only)
    known[fresh] = lexicon().known(joined.take(fresh))
    per_row = words.per_row(len(corpus))
    loud = every(capital)
    tail = np.append(number, -1)[last + 1]
    tail = np.where(np.append(words.row, -1)[last + 1] == row, tail, -1)
    head = np.where(np.append(-1, words.row)[first] == row, np.append(-1, number)[first], -1)
    base = piece_bits(pieces)[0]
    follow = np.append(False, words.row[1:] == words.row[:-1])
    paired = np.where(number >= 0, lexicon().pair_cost(np.where(follow, np.append(-1, number[:-1]), -1), number), base)
    paired = np.where(single & ~one_of(pieces, ["a", "i"]), np.maximum(paired, SINGLE), paired)
    running = np.append(0, np.cumsum(np.rint(paired * 1024).astype(np.int64)))
    old = (running[last + 1] - running[first]) / 1024
    old = old + np.where(tail >= 0, lexicon().pair_cost(number[last], tail), 0)
    whole = piece_bits(joined)[0]
    bits = np.where(new >= 0, lexicon().pair_cost(head, new), whole)
    bits = bits + np.where(tail >= 0, lexicon().pair_cost(new, tail), 0)
    save = old - bits - SYMBOL - GAP * (last - first)
    content = none_of((number >= 0) & (length > 2))  # nothing in it that is a word by itself
    usual = _alphabet(joined)

    def gains(prior: Floats) -> Floats:
        calm = prior > CALM
        good = known & letters_only & ~(loud & calm & (last - first < SPELT - 1))
        good |= full & ~usual & (last - first >= SPELT - 1) & ~(loud & calm) & letters_only
        good |= ~calm & ((content & letters_only) | (alone & none_of(~digit)))
        return np.where(good, save - prior, -np.inf)

    seen = gains(np.full(first.size, TAMPERED))
    certain = np.unique(words.start[first[seen > SURE]])
    more = np.bincount(np.searchsorted(corpus.offsets, certain, "right") - 1, minlength=len(corpus))
    gain = gains(bits_of_tampering(sure + more, per_row)[row])
    best = np.flatnonzero(gain > 0)
    best = best[np.lexsort((last[best], first[best]))]
    order = (np.iinfo(np.int64).max // 2 - np.rint(gain[best] * 1024).astype(np.int64)).astype(np.uint64)
    spans = Candidates(best, row[best], first[best], last[best] + 1, first[best], first[best], order)
    picked = spans.without_overlaps(Rng(np.empty(0, np.uint64))).index
    inner = spread(first[picked], last[picked] - first[picked])
    return words.row[inner], words.stop[inner], sure + more


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
