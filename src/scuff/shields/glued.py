"""Which words of a text are several that run together."""

from __future__ import annotations

import numpy as np

from ..text.corpus import Corpus
from ..text.ragged import Floats, Ints, Mask, Ragged, bounds, sums
from ..text.unicode import is_white, word_class
from ..text.unicode_data import LOWER, UPPER
from ..text.words import Spans
from ..text.language import find_language
from .lexicon import lexicon
from .splitting import WIDTHS, Splits, split
from .symbols import CALM, among, bits_of_tampering, one_of

SHORTEST = 3
WHOLE, PER_LETTER = 16.0, 3.8  # bits of a word that is not in the lexicon, and of each of its letters
NAME, RARE = 19.0, 15.0  # bits of a name; words of the lexicon below these are never split
CLEAR, LONG, VERY_LONG = 15.0, 26.0, 26.0  # bits by which a split counts as seen: with a function word, of three words, of any two
NAMED = 6.0  # more bits where a word begins with a capital inside a sentence, as names do
ODD = 1.0  # more bits where a part is no word
COMPOUND = 4.0  # more bits where two short words could be a compound
FOREIGN = 0.9  # the share of words that are known below which a text may be in another language
BEFORE, BEHIND = "@#/\\_=&$<~%+|.", "@/\\_=<+|"
STOPS = ".!?:;\"“”()[]*\n"  # what a sentence begins behind


def find_glued(corpus: Corpus) -> tuple[Ints, Ints]:
    """Finds where blanks are missing inside words: rows and places."""
    words = with_clitics(corpus)
    pieces = corpus.cut(words)
    right = lexicon().known(pieces)
    may = splittable(corpus, words)
    which = np.flatnonzero(~right & may)
    none = np.empty(0, np.int64)
    if not which.size:
        return none, none
    many = words.per_row(len(corpus))
    texts = pieces.take(which)
    ways = split(texts)
    row = words.row[which]
    gain = WHOLE + PER_LETTER * texts.lengths - ways.bits - np.where(ways.known, 0, ODD)
    gain -= NAMED * named(corpus, words.where(which), ways)
    cut, helped = ways.parts > 1, ways.function
    camel = among_capitals(texts)
    limit = np.where(helped, CLEAR, np.where((ways.parts > 2) & ~camel, LONG, np.where(camel, np.inf, VERY_LONG)))
    sure = cut & ways.known & (texts.lengths > SHORTEST) & (gain > limit)
    sure &= english(corpus, words, right, row[sure])[row]
    seen = np.bincount(row[sure], minlength=len(corpus))
    prior = bits_of_tampering(seen, many)
    compound = (ways.parts == 2) & ~helped & ((texts.lengths < 11) | has_digits(texts))
    done = sure | (cut & (prior[row] <= CALM) & (gain > prior[row] + COMPOUND * compound))
    found = [_places(words.where(which), ways, done)]
    again = np.flatnonzero(right & may & (prior <= CALM)[words.row])
    if again.size:  # a known word may be two, too, in a text with others that are
        found.append(_known(words.where(again), pieces.take(again), prior))
    rows, at = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows, at


def _known(words: Spans, texts: Ragged, prior: Floats) -> tuple[Ints, Ints]:
    """The same for words that are known, but rare."""
    number = lexicon().number(texts)
    bits = np.where(number < 0, NAME, lexicon().cost[number])
    rare = np.flatnonzero((bits >= RARE) & ~among_joiners(texts))
    words, ways = words.where(rare), split(texts.take(rare))
    done = (ways.parts > 1) & ways.known & (bits[rare] - ways.bits > prior[words.row])
    return _places(words, ways, done)


def _places(words: Spans, ways: Splits, done: Mask) -> tuple[Ints, Ints]:
    chosen = done[ways.word]
    word = ways.word[chosen]
    return words.row[word], words.start[word] + ways.cut[chosen]


def english(corpus: Corpus, words: Spans, right: Mask, rows: Ints) -> Mask:
    """Which texts are not in another language. rows: those that it is asked for; a text with many known words is English."""
    out = np.ones(len(corpus), np.bool_)
    share = np.bincount(words.row[right], minlength=len(corpus)) / np.maximum(words.per_row(len(corpus)), 1)
    rows = np.unique(rows)
    rows = rows[share[rows] < FOREIGN]
    for row, text in zip(rows.tolist(), Ragged.take(corpus, rows).strings(), strict=True):
        language = find_language([text])
        out[row] = language is None or "en" in language.codes
    return out


def named(corpus: Corpus, words: Spans, ways: Splits) -> Mask:
    """Which words begin with a capital that is not that of a sentence."""
    codes = corpus.codes
    capital = word_class(corpus.classes[words.start]) == UPPER
    solid = np.flatnonzero(~is_white(codes) | (codes == 10))
    last = np.append(-1, solid)[np.searchsorted(solid, words.start)]
    first = last < corpus.offsets[words.row]
    return capital & ~first & ~among(codes[np.maximum(last, 0)], STOPS) & ~ways.function


def with_clitics(corpus: Corpus) -> Spans:
    """The words, with the apostrophe before those that begin with one: 's and 've by themselves, as in tokenised text."""
    words, codes = corpus.words, corpus.codes
    before = np.append(np.zeros(2, np.uint32), codes)
    quote = among(before[words.start + 1], "'’") & (words.start > corpus.offsets[words.row])
    quote &= is_white(before[words.start]) | (words.start - 1 == corpus.offsets[words.row])
    clitic = one_of(Spans(words.row, words.start, np.minimum(words.stop, words.start + 1)).cut(corpus), list("svrldmt"))
    return Spans(words.row, words.start - (quote & clitic), words.stop)


def has_digits(texts: Ragged) -> Mask:
    """Which texts have a digit."""
    return sums(among(texts.codes, "0123456789"), texts.offsets) > 0


def among_joiners(texts: Ragged) -> Mask:
    """Which texts have an apostrophe or a hyphen."""
    return sums(among(texts.codes, "'’-"), texts.offsets) > 0


def splittable(corpus: Corpus, words: Spans) -> Mask:
    """Which words may be split at all: of Latin letters, and no part of an address, a name of a file, a tag or code."""
    codes, length = corpus.codes, words.stop - words.start
    edge = np.zeros(1, np.uint32)
    before = np.append(edge, codes)[words.start]
    before[np.isin(words.start, corpus.offsets)] = 0
    behind = np.append(codes, edge)[words.stop]
    behind[np.isin(words.stop, corpus.offsets)] = 0
    following = np.append(codes, np.zeros(2, np.uint32))[words.stop + 1]
    following[words.stop + 1 >= corpus.offsets[words.row + 1]] = 0
    good: Mask = (length >= SHORTEST) & (length <= WIDTHS[-1])
    good &= ~among(before, BEFORE) & ~among(behind, BEHIND)
    letter = ((codes | 32) >= ord("a")) & ((codes | 32) <= ord("z"))
    good &= ~((behind == ord(".")) & ((following | 32) >= ord("a")) & ((following | 32) <= ord("z")))  # a name of a file
    plain = letter | among(codes, "'’-0123456789")
    strange = bounds(~plain)
    letters = bounds(letter)
    good &= strange[words.stop] == strange[words.start]
    good &= letters[words.stop] - letters[words.start] > 1
    return good


def among_capitals(texts: Ragged) -> Mask:
    """Which texts have a capital behind a small letter."""
    from ..text.unicode import classes

    kind = word_class(classes(texts.codes))
    camel = np.append(False, (kind[:-1] == LOWER) & (kind[1:] == UPPER))
    camel[texts.offsets[:-1][texts.lengths > 0]] = False
    return sums(camel, texts.offsets) > 0
