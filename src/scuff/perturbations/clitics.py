"""Clitics: endings of English words that treebanks and data sets write apart (it 's, do n't), and apostrophes of words."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ..text.corpus import Corpus
from ..text.ragged import Ints, Mask, Ragged
from ..text.random import text_bits
from ..text.unicode import case_map, word_class
from ..text.unicode_data import BLANK
from ..text.words import Spans

APOSTROPHES = (0x27, 0x2019)
ENDINGS = ("s", "m", "d", "re", "ve", "ll")  # behind an apostrophe
NEGATION = "n't"
ELIDED = (
    "tis",
    "twas",
    "em",
    "n",
    "til",
    "cause",
    "bout",
    "cos",
    "cuz",
    "round",
)  # behind an apostrophe, words by themselves


def _keys(*texts: str) -> Ints:
    return text_bits(Ragged.of(texts)).view(np.int64)


ENDING_KEYS, GIVEN_KEYS = _keys(*ENDINGS), _keys(NEGATION, *(f"'{ending}" for ending in ENDINGS))
ELIDED_KEYS, SHORT_AND = _keys(*ELIDED), _keys("n")


def _apostrophes(corpus: Corpus) -> Mask:
    """Which code points are apostrophes, without those that carry a mark; one more entry, False, stands behind the last."""
    found = (corpus.codes == APOSTROPHES[0]) | (corpus.codes == APOSTROPHES[1])
    found[corpus.tail - 1] = False
    return np.append(found, False)


def _behind(corpus: Corpus, mark: Mask) -> Mask:
    """Which words stand right behind a marked code point of the same text."""
    words = corpus.words
    return (words.start > corpus.offsets[words.row]) & mark[words.start - 1]


def _followed(corpus: Corpus, stop: Ints, row: Ints, mark: Mask) -> Mask:
    """Whether the code point at each `stop` is a marked one of the same text."""
    return (stop < corpus.offsets[row + 1]) & mark[stop]


def _short_keys(corpus: Corpus, which: Ints) -> Ints:
    """Hashes of some words in lower case, with straight apostrophes."""
    text = corpus.cut(corpus.words.where(which))
    codes = case_map(upper=False)[text.codes]
    return text_bits(Ragged(np.where(codes == APOSTROPHES[1], APOSTROPHES[0], codes), text.offsets)).view(np.int64)


def clitics(corpus: Corpus) -> Mask:
    """Which words are endings written apart: 's, 'm, 'd, 're, 've, 'll and n't, in either case, with either apostrophe."""
    words, mark = corpus.words, _apostrophes(corpus)
    found = np.zeros(len(words), np.bool_)
    place = np.flatnonzero(mark)
    if not place.size or not len(words):
        return found
    near = np.unique(
        np.concatenate((place - 1, place, place + 1))
    )  # of n't, of 's as a token, of s behind its apostrophe
    which = np.minimum(np.searchsorted(words.start, near), len(words) - 1)
    which = which[(words.start[which] == near) & (words.stop[which] - near <= 3)]
    start, stop, row = words.start[which], words.stop[which], words.row[which]
    behind = (start > corpus.offsets[row]) & mark[start - 1]
    quoted = _followed(corpus, stop, row, mark)  # the letter 's' in quotation marks
    keys = _short_keys(corpus, which)
    found[which] = np.isin(keys, GIVEN_KEYS) | (behind & ~quoted & np.isin(keys, ENDING_KEYS))
    return found


def whole_words(corpus: Corpus) -> Spans:
    """The words with what belongs to them: clitics (it 's), the apostrophe of 'tis and 'em, and that of the dogs' bowl."""
    if corpus not in _found:
        _found[corpus] = _whole_words(corpus)
    return _found[corpus]


_found: WeakKeyDictionary[Corpus, Spans] = WeakKeyDictionary()  # proposals and units ask for the same


def _whole_words(corpus: Corpus) -> Spans:
    words, mark = corpus.words, _apostrophes(corpus)
    if not mark.any() or not len(words):
        return words
    blank = word_class(corpus.classes) == BLANK
    blank[corpus.tail] = blank[corpus.tail - 1] = False
    blank = np.append(blank, True)
    other = np.append(0, np.cumsum(~(blank | mark)[:-1]))
    ending = clitics(corpus)
    attached = np.append(False, (words.row[1:] == words.row[:-1]) & (other[words.stop[:-1]] == other[words.start[1:]]))
    attached &= ending
    first = np.flatnonzero(~attached)
    row, start, stop = words.row[first], words.start[first], words.stop[np.append(first[1:], len(words)) - 1]
    elided, closed = _elided(corpus, mark, blank)
    ends = stop + _possessive(corpus, mark, blank, ending | elided, stop, row)
    return Spans(row, start - elided[first], np.maximum(ends, stop + closed[first]))


def _elided(corpus: Corpus, mark: Mask, blank: Mask) -> tuple[Mask, Mask]:
    """Which words lack letters, for which an apostrophe stands in front, and which ('n') behind as well."""
    words, at_edge = corpus.words, np.append(True, blank[:-1])
    at_edge[corpus.offsets[:-1]] = True
    found = _behind(corpus, mark & at_edge)
    which = np.flatnonzero(found)
    keys = _short_keys(corpus, which)
    closed = np.zeros_like(found)
    closed[which] = np.isin(keys, SHORT_AND) & _followed(corpus, words.stop[which], words.row[which], mark)
    quoted = _followed(corpus, words.stop[which], words.row[which], mark) & ~closed[which]
    found[which] = np.isin(keys, ELIDED_KEYS) & ~quoted
    return found, closed & found


def _possessive(corpus: Corpus, mark: Mask, blank: Mask, led: Mask, stop: Ints, row: Ints) -> Ints:
    """How far the apostrophe of a plural's genitive (dogs', James ') reaches behind each `stop`.

    Only where the text has no other apostrophe that might be a quotation mark: then a closing one would look the same.
    """
    free = mark[:-1] & (corpus.codes != ord("`"))
    inner = corpus.letters.start[corpus.letters.joiner]
    free[inner] = False
    free[(corpus.words.start - 1)[led & (corpus.words.start > 0)]] = False
    free |= corpus.codes == ord("`")
    lone = np.bincount(np.searchsorted(corpus.offsets, np.flatnonzero(free), "right") - 1, minlength=len(corpus)) == 1
    free = np.append(free & mark[:-1], False)
    apart = (_followed(corpus, stop, row, blank)).astype(np.int64)  # James ' dogs
    at = stop + apart
    plural = np.isin(corpus.codes[stop - 1], (ord("s"), ord("S"))) & lone[row] & _followed(corpus, at, row, free)
    plural &= (at + 1 >= corpus.offsets[row + 1]) | blank[np.minimum(at + 1, blank.size - 1)]
    return np.where(plural, apart + 1, 0)
