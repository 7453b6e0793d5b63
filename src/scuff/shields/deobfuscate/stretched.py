"""Letters that are repeated for effect: soooo gooood."""

from __future__ import annotations

import numpy as np

from ...text.corpus import Corpus
from ...text.ragged import Ragged, bounds, spread, sums
from ...text.unicode import case_map, word_class
from ...text.unicode_data import LETTER, LOWER, UPPER
from ...text.words import Spans
from ..lexicon import lexicon
from ..technical import BESIDE, attached
from .costs import among, one_of

LEAST, LONG = 3, 4  # equal letters in a row that are too many, and so many that they are whatever the word is
MOST = 3  # such runs of a word that are tried with one letter and with two
COSTS = 22.0  # bits above which a word is too rare to be meant
TWICE = 1.0  # bits more for a letter that stays twice
# what is stretched by its nature, each letter once
SOUNDS = (
    "a ah aha ahem argh aw bah bo boo br brr bz bzt duh eh ek er ew ewe f fh gr grah grr ha he hey hm ho hu huh hush m "
    "mh mu mwah nah ne nom o of oh ok op ouch ow pf pff phew poof psh pst rah sh shush sob tsk u ugh uh uhm um urgh vrom "
    "w wah wh whe who wo woh woo wosh wow x y yah yay yeah yikes yo yuk yum z zom zip"
)
ROMAN = "IVXLCDM"


def find_stretched(corpus: Corpus) -> Spans:
    """Finds the letters that are too many: [start, stop) of those that go."""
    codes, none = corpus.codes, np.empty(0, np.int64)
    if codes.size < LEAST:
        return Spans(none, none, none)
    equal = codes[1:] == codes[:-1]
    at = np.flatnonzero(equal[1:] & equal[:-1])
    if at.size:
        kind = word_class(corpus.classes[at])
        at = at[(kind == LOWER) | (kind == UPPER) | (kind == LETTER)]
    words = corpus.words
    which = np.unique(np.searchsorted(words.start, at, "right") - 1)
    which = which[which >= 0]
    if not which.size:
        return Spans(none, none, none)
    words = words.where(which)
    texts = corpus.cut(words)
    roman = sums(~among(texts.codes, ROMAN), texts.offsets) == 0
    run = np.append(np.append(equal[1:] & equal[:-1], False)[1:], [False, False]) & np.append(
        equal[1:] & equal[:-1], [False, False]
    )
    longest = bounds(run)  # four equal letters begin here
    right = (lexicon().number(texts) >= 0) & (longest[words.stop] == longest[words.start])
    keep = attached(corpus, words, BESIDE) | roman | right
    words = words.where(~keep)
    return _surplus(words, words.cut(corpus))


def _surplus(words: Spans, texts: Ragged) -> Spans:
    """The letters that go from each word."""
    codes = case_map(False)[texts.codes]
    number = np.repeat(np.arange(len(texts)), texts.lengths)
    opens = np.append(True, (codes[1:] != codes[:-1]) | (number[1:] != number[:-1]))[: codes.size]
    start = np.flatnonzero(opens)
    size = np.diff(np.append(start, codes.size))
    word = number[start]
    long = size >= LEAST
    rank = np.cumsum(long) - 1
    first = np.searchsorted(word[long], np.arange(len(texts)))
    place = np.where(long, rank - first[word], MOST)  # which of the long runs of its word each is
    once = Ragged(codes[start], np.searchsorted(start, texts.offsets))
    sound = one_of(once, SOUNDS) | (np.diff(np.searchsorted(start, texts.offsets)) < 2)
    # all ways: bit i of a way says that long run i keeps two letters
    ways = 1 << MOST
    owner = np.repeat(np.arange(len(texts)), ways)
    way = np.tile(np.arange(ways), len(texts))
    many = np.bincount(word[long], minlength=len(texts))
    real = way < 1 << np.minimum(many, MOST)[owner]
    owner, way = owner[real], way[real]
    runs = np.searchsorted(start, texts.offsets)
    count = np.diff(runs)[owner]
    index = spread(runs[owner], count)
    choice = np.repeat(way, count)
    left = np.where(long[index], 1 + (choice >> np.minimum(place[index], MOST) & 1), size[index])
    length = sums(left, bounds(count))
    variants = Ragged(np.repeat(codes[start[index]], left), bounds(length))
    found = lexicon().number(variants)
    twice = np.zeros(ways, np.int64)
    for bit in range(MOST):
        twice += np.arange(ways) >> bit & 1
    bits = np.where(found >= 0, lexicon().cost[found] + TWICE * twice[way], np.inf)
    bits = np.where(bits <= COSTS, bits, np.inf)
    order = np.lexsort((way, bits, owner))
    best = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
    good = np.isfinite(bits[best])
    chosen = way[best]
    kept = np.where(long, 1 + (chosen[word] >> np.minimum(place, MOST) & 1), size)
    # no known word: what is far too long keeps two letters
    kept = np.where(good[word], kept, np.where(size >= LONG, 2, size))
    gone = (kept < size) & ~sound[word]
    at = words.start[word] + start - texts.offsets[word]
    return Spans(words.row[word[gone]], (at + kept)[gone], (at + size)[gone])
