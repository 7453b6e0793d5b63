"""What the attacks on the inside of words share: which letters are hit, and words without some letters."""

from __future__ import annotations

import numpy as np

from ..text import Corpus, Letters, Ragged, Rng, Spans
from ..text.ragged import Codes, Ints, Mask, bounds, run_lengths, spread, sums


def at_least_one(corpus: Corpus, row: Ints, word: Ints, position: Ints, phi: float | None, rng: Rng) -> Mask:
    """Hit each position with probability phi, given that each word is hit at all.

    `row` and `word` name the document and the word of each position; words stand in groups. Exact and without trial and
    error: the place of a word's first hit is drawn from the truncated geometric distribution, the positions after it
    are independent. phi = 0 or None is the limit: exactly one, anywhere.
    """
    count = run_lengths(word)
    begin = bounds(count)[:-1]
    draw = rng.stream("first").uniform(*corpus.place(row[begin], position[begin]))
    if not phi:
        first = (draw * count).astype(np.int64)
    elif phi >= 1:
        first = np.zeros_like(count)
    else:
        miss = np.log1p(-phi)
        first = np.floor(np.log1p(draw * np.expm1(count * miss)) / miss).astype(np.int64)
    first = begin + np.minimum(first, count - 1)
    hit = rng.stream("more").uniform(*corpus.place(row, position)) < (phi or 0)
    hit &= np.arange(word.size) > np.repeat(first, count)
    hit[first] = True
    return hit


def without(corpus: Corpus, letters: Letters, dropped: Mask) -> tuple[Ragged, Ints]:
    """Words without some of their letters, and how many were dropped from each."""
    kept = np.flatnonzero(~dropped)
    length = letters.stop[kept] - letters.start[kept]
    size = sums(length, np.append(0, np.cumsum(~dropped))[letters.first])
    return Ragged(corpus.codes[spread(letters.start[kept], length)], bounds(size)), sums(dropped, letters.first)


def gaps_hit(corpus: Corpus, letters: Letters, words: Spans, phi: float | None, rng: Rng) -> Ints:
    """The letters of some words in front of which something is to be inserted; never the first of a word."""
    gap = np.ones(letters.start.size, np.bool_)
    gap[letters.first[:-1]] = False
    gaps = np.flatnonzero(gap)
    word = letters.word[gaps]
    return gaps[at_least_one(corpus, words.row[word], word, letters.start[gaps], phi, rng)]


def inserted(corpus: Corpus, letters: Letters, hit: Ints, symbols: Codes, pick: Ints) -> tuple[Ragged, Ints]:
    """Words with symbols[pick] in front of the letters `hit`, and how many each word got."""
    # pieces: letters, and in front of some of them a symbol, taken from behind the corpus
    start = np.insert(letters.start, hit, corpus.codes.size + pick)
    length = np.insert(letters.stop - letters.start, hit, 1)
    added = np.bincount(letters.word[hit], minlength=letters.first.size - 1)
    size = sums(letters.stop - letters.start, letters.first) + added
    return Ragged(np.concatenate((corpus.codes, symbols))[spread(start, length)], bounds(size)), added
