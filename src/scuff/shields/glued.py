"""Which words of a text are several that run together."""

from __future__ import annotations

import numpy as np

from ..text.corpus import Corpus
from ..text.ragged import Floats, Ints, Mask, Ragged, bounds, sums
from ..text.unicode import is_white, word_class
from ..text.unicode_data import DIGIT, LOWER, MARK, UPPER
from ..text.words import Spans
from .lexicon import lexicon
from .splitting import WIDTHS, Splits, split
from .symbols import CALM, TAMPERED, among, bits_of_tampering

SHORTEST = 4
WHOLE, PER_LETTER = 16.0, 3.6  # bits of a word that is not in the lexicon, and of each of its letters
BLANK = 1.0  # bits of each blank that is missing
GLUED = 14.0  # bits that a split has to save in a text without others
CLEAR = 20.0  # bits by which a split counts as seen, if its words often stand together
LONG = 30.0  # bits by which one of three words and more does
NAMED = 6.0  # more bits where a word begins with a capital, as names do
ODD = 12.0  # more bits where a part is no word
FOREIGN = 0.5  # the share of words that are known below which a text is in another language
BEFORE, BEHIND = "@#/\\_=&$<~%+|.", "@/\\_=<+|"


def find_glued(corpus: Corpus) -> tuple[Ints, Ints]:
    """Finds where blanks are missing inside words: rows and places."""
    words, none = corpus.words, np.empty(0, np.int64)
    pieces = corpus.cut(words)
    right = lexicon().known(pieces)
    which = np.flatnonzero(~right & splittable(corpus, words))
    if not which.size:
        return none, none
    texts = pieces.take(which)
    ways = split(texts)
    row = words.row[which]
    kind = word_class(corpus.classes[words.start[which]])
    many = words.per_row(len(corpus))
    gain = WHOLE + PER_LETTER * texts.lengths - ways.bits - BLANK * (ways.parts - 1)
    gain = gain - np.where(ways.known, 0, ODD)
    cut = ways.parts > 1
    named = NAMED * (kind == UPPER)
    camel = among_capitals(texts)
    sure = cut & ways.known & ~camel & (
        (ways.paired & (gain > CLEAR + named)) | ((ways.parts > 2) & (gain > LONG + named))
    )
    seen = np.bincount(row[sure], minlength=len(corpus))
    prior = bits_of_tampering(seen, many)[row]
    calm = prior > CALM
    done = sure | (cut & ~calm & (gain > prior + np.where(camel, 0, named / 2)))
    # a text most of whose words are unknown even now is in another language
    fine = np.bincount(words.row[right], minlength=len(corpus)) + np.bincount(row[done & ways.known], minlength=len(corpus))
    done &= (fine >= FOREIGN * many)[row]
    chosen = done[ways.word]
    at = words.start[which][ways.word[chosen]] + ways.cut[chosen]
    return row[ways.word[chosen]], at


def splittable(corpus: Corpus, words: Spans) -> Mask:
    """Which words may be split at all: of Latin letters, and no part of an address, a name of a file, a tag or code."""
    codes, length = corpus.codes, words.stop - words.start
    edge = np.zeros(1, np.uint32)
    before = np.append(edge, codes)[words.start]
    before[np.isin(words.start, corpus.offsets)] = 0
    behind = np.append(codes, edge)[words.stop]
    behind[np.isin(words.stop, corpus.offsets)] = 0
    next_ = np.append(codes, np.zeros(2, np.uint32))[words.stop + 1]
    good: Mask = (length >= SHORTEST) & (length <= WIDTHS[-1])
    good &= ~among(before, BEFORE) & ~among(behind, BEHIND)
    letter = ((codes | 32) >= ord("a")) & ((codes | 32) <= ord("z"))
    good &= ~((behind == ord(".")) & (((next_ | 32) >= ord("a")) & ((next_ | 32) <= ord("z"))))
    plain = letter | among(codes, "'’-0123456789")
    strange = bounds(~plain)
    letters = bounds(letter)
    good &= strange[words.stop] == strange[words.start]
    good &= 2 * (letters[words.stop] - letters[words.start]) > length
    return good


def among_capitals(texts: Ragged) -> Mask:
    """Which texts have a capital behind a small letter."""
    from ..text.unicode import classes

    kind = word_class(classes(texts.codes))
    camel = np.append(False, (kind[:-1] == LOWER) & (kind[1:] == UPPER))
    camel[texts.offsets[:-1][texts.lengths > 0]] = False
    return sums(camel, texts.offsets) > 0
