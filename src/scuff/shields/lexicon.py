"""The English lexicon: words with costs, costs of pairs of words, and other forms that are right.

It tells what stands in a text on purpose and how likely each word is where it stands. build/shields/lexicon.py makes it.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from ..resources import load
from ..text.ragged import Bits, Ints, Mask, Ragged, bounds, spread, sums
from ..text.random import span_bits
from ..text.unicode import case_map
from ..text.words import Spans
from .hashes import HashTable, word_bits
from .memory import Memory
from .word_parts import APOSTROPHE, CURLY, at_hyphens, has_own

Costs = npt.NDArray[np.float32]
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # makes hashes of keys of pairs; odd, so none are mixed up
UNKNOWN = np.float32(20.0)  # the cost of a word that is not in the lexicon, in bits
ENDINGS = (  # what is left off, what comes in its place
    ("s", ""), ("ly", ""), ("ly", "le"), ("ness", ""), ("like", ""), ("wise", ""), ("ed", ""), ("ed", "e"), ("ing", ""),
    ("ing", "e"), ("ings", ""), ("y", "e"), ("er", ""), ("ers", ""),
)  # fmt: skip
DOUBLING = ("ed", "ing", "ings", "er", "ers")  # after one vowel and one consonant, which they double: occurred
BEGINNINGS = (
    "un",
    "re",
    "pre",
    "non",
    "anti",
    "over",
    "under",
    "out",
    "super",
    "mis",
    "co",
    "bio",
    "multi",
    "sub",
    "inter",
    "mega",
)
MORE = ("", "e", "le")  # what may come in the place of an ending
_VOWELS, _DOUBLED = (np.isin(np.arange(256), [ord(letter) for letter in some]) for some in ("aeiou", "bdgklmnprt"))
FEW = 200  # words that are sooner remembered than looked at again
STEM, COMMON = 4, 18.5  # letters and bits of a word whose forms are right
ORDINALS = ("s", "st", "nd", "rd", "th", "'s")  # 1990s, 1st


def folded(words: Ragged) -> Ragged:
    """The words as the lexicon compares them: in lower case, with straight apostrophes."""
    codes = case_map(upper=False)[words.codes]
    codes[codes == CURLY] = APOSTROPHE
    return Ragged(codes, words.offsets)


@dataclass(frozen=True, eq=False)
class Lexicon:
    """English words in lower case, numbered by falling frequency.

    cost: -log2 of each word's probability. others: hashes of further forms that are right. pairs: left * size + right of pairs
    that are more likely than their words by themselves. back: what it costs not to be in a pair with a left word.
    capital: how often a word inside a sentence begins with a capital letter, from 0 to 1: nearly always if it is a name.
    letters: which code points stand in some word or other form, and all of ASCII.
    """

    words: Ragged
    cost: Costs
    table: HashTable
    others: HashTable
    pairs: HashTable
    pair_costs: Costs
    back: Costs
    capital: Costs
    letters: Mask
    parts: Memory = field(default_factory=Memory)  # words that were looked at part by part: 1 if they are known

    def __len__(self) -> int:
        return self.cost.size

    @cached_property
    def bits(self) -> Bits:
        """The hash of each word."""
        return word_bits(self.words)

    def number(self, words: Ragged) -> Ints:
        """The number of each word, -1 for words that are not in the lexicon. A capital letter does not matter."""
        return self.table.get(word_bits(folded(words)))

    def known(self, words: Ragged) -> Mask:
        """Which words may be left alone: those of the lexicon, names, abbreviations, numbers, contractions, and possessives and
        hyphenated words whose parts are known.
        """
        low = folded(words)
        keys = word_bits(low)
        known = self._listed(keys)
        left = np.flatnonzero(~known)
        if left.size <= FEW:
            known[left] = self.parts.get(keys[left], lambda which: self._numbered_parts(low.take(left[which])))[1] > 0
        else:
            _, first, same = np.unique(keys[left], return_index=True, return_inverse=True)
            known[left] = self._by_parts(low.take(left[first]))[same]
        return known

    def pair_cost(self, left: Ints, right: Ints) -> Costs:
        """-log2 P(right | left), backed off to the cost of `right` where the pair is not listed. -1 stands for no or an unknown
        word. Left and right have the same shape, or one that broadcasts.
        """
        left, right = np.broadcast_arrays(left, right)
        size = len(self)
        out: Costs = self.cost[right] + np.where(left < 0, np.float32(0), self.back[left])
        out[right < 0] = UNKNOWN
        both = np.flatnonzero((left >= 0) & (right >= 0))
        key = (left.ravel().take(both).astype(np.int64) * size + right.ravel().take(both)).astype(np.uint64)
        at = self.pairs.first(key * SPREAD)
        hit = np.flatnonzero(at >= 0)
        out.reshape(-1)[both.take(hit)] = self.pair_costs.take(self.pairs.value.take(at.take(hit)))
        return out

    def _listed(self, keys: Bits) -> Mask:
        found = self.table.has(keys)
        left = np.flatnonzero(~found)
        found[left] = self.others.has(keys[left])
        return found

    def _numbered_parts(self, low: Ragged) -> tuple[Ints, Ints]:
        return np.arange(len(low)), self._by_parts(low).astype(np.int64)

    def _by_parts(self, low: Ragged) -> Mask:
        """Which words consist of parts that are known, between hyphens and without 's."""
        spans, first = at_hyphens(low.codes, Spans(np.arange(len(low)), low.offsets[:-1], low.offsets[1:]))
        length = spans.stop - spans.start
        long = np.flatnonzero(length > 1)
        length -= 2 * has_own(low.codes, spans)
        length[long] -= low.codes[spans.stop[long] - 1] == APOSTROPHE  # the writers'
        parts = Ragged(low.codes[spread(spans.start, length)], bounds(length))
        right = self._listed(word_bits(parts)) | (length == 1) | _numbers(parts)
        known = (sums(~right | (length == 0), first) == 0) | _numbers(low)
        left = np.flatnonzero(~known)
        known[left] = self._is_form(low.take(left))
        return known

    def _is_form(self, low: Ragged) -> Mask:
        """Which words are regular forms of words of the lexicon that are not rare: routings, unclassifiably, pretrial."""
        found = np.zeros(len(low), np.bool_)
        word, start, stop, more = _stems(low)
        if word.size:
            number = self.table.get(span_bits(low.codes, start, stop, MORE, more))
            found[word[(number >= 0) & (self.cost[number] < COMMON)]] = True
        return found


def _stems(low: Ragged) -> tuple[Ints, Ints, Ints, Ints]:
    """What is left of words without each ending or beginning they have: the word, where the stem starts and stops in all codes,
    and which of MORE comes behind it.
    """
    long = np.flatnonzero(low.lengths > STEM)
    first, last = low.offsets[long], low.offsets[long + 1]
    codes = np.minimum(low.codes, 255)  # no letter of an ending
    head, tail = (np.zeros(long.size, np.uint64) for _ in range(2))
    for place in range(5):
        head = head << np.uint64(8) | codes[first + place]
    for place in range(4, 0, -1):
        tail = tail << np.uint64(8) | codes[last - place]
    parts: list[tuple[Ints, int, int, int]] = []
    for ending, more in ENDINGS:
        hit = np.flatnonzero(tail & np.uint64((1 << 8 * len(ending)) - 1) == _packed(ending))
        hit = hit[last[hit] - first[hit] >= len(ending) + STEM]
        if ending in DOUBLING and not more:
            stop = last[hit] - len(ending)
            hit = hit[~(_VOWELS[codes[stop - 2]] & _DOUBLED[codes[stop - 1]])]
        parts.append((hit, 0, len(ending), MORE.index(more)))
    for beginning in BEGINNINGS:
        hit = np.flatnonzero(head >> np.uint64(8 * (5 - len(beginning))) == _packed(beginning))
        parts.append((hit[last[hit] - first[hit] > len(beginning) + STEM], len(beginning), 0, 0))
    which = np.concatenate([hit for hit, *_ in parts])
    before, behind, more_ = (
        np.repeat([part[at] for part in parts], [part[0].size for part in parts]) for at in (1, 2, 3)
    )
    return long[which], first[which] + before, last[which] - behind, more_


def _packed(letters: str) -> np.uint64:
    """Up to eight letters as one number."""
    return np.uint64(int.from_bytes(letters.encode(), "big"))


def _numbers(words: Ragged) -> Mask:
    """Which words are digits, with st, nd, rd, th or s behind them, if anything."""
    digit = (words.codes >= ord("0")) & (words.codes <= ord("9"))
    other = sums(~digit, words.offsets)
    found: Mask = (other == 0) & (words.lengths > 0)
    some = np.flatnonzero((other > 0) & (other <= 2) & (words.lengths > other))
    if some.size:
        strings = words.take(some).strings()
        found[some] = [
            word.rstrip("abcdefghijklmnopqrstuvwxyz'").isdecimal() and word.lstrip("0123456789") in ORDINALS
            for word in strings
        ]
    return found


def _lines(data: bytes) -> Ragged:
    """Lines of text, each ended by a line feed."""
    codes = np.frombuffer(data.decode().encode("utf-32-le"), np.uint32)
    ends = np.flatnonzero(codes == 10)
    return Ragged(codes[codes != 10], np.append(0, ends - np.arange(ends.size)))


def _planes(data: bytes, width: int) -> Ints:
    """Whole numbers from planes of bytes, lowest first."""
    rows = np.frombuffer(data, np.uint8).reshape(width, -1)
    out = np.zeros(rows.shape[1], np.int64)
    for place in range(width):
        out |= rows[place].astype(np.int64) << 8 * place
    return out


@cache
def lexicon() -> Lexicon:
    """The lexicon that ships with Scuff, read once."""
    head, raw = zlib.decompress(load("lexicon.bin")).split(b"\n", 1)
    about = json.loads(head)
    parts, at = [], 0
    for size in about["sizes"]:
        parts.append(raw[at : at + size])
        at += size
    listing, others, costs, back, lefts, rights, pair_costs, capital = parts
    step, more = np.float32(about["step"]), _lines(others)
    letters = np.arange(0x110000) < 128
    coarse = np.frombuffer(costs, np.uint8)
    order = np.argsort(coarse, kind="stable")
    words = _lines(listing).take(order)
    letters[words.codes] = letters[more.codes] = True
    left = np.repeat(np.arange(order.size), _planes(lefts, 2))
    steps, opens = _planes(rights, 3), np.diff(left, prepend=-1) != 0
    running = np.cumsum(steps)
    base = running[opens] - steps[opens]  # the first right word of each left one is not a difference
    right = running - np.repeat(base, np.diff(np.append(np.flatnonzero(opens), left.size)))
    return Lexicon(
        words,
        coarse[order] / step,
        HashTable.of(word_bits(words)),
        HashTable.of(word_bits(more)),
        HashTable.of((left * order.size + right).astype(np.uint64) * SPREAD),
        np.frombuffer(pair_costs, np.uint8) / step,
        np.frombuffer(back, np.uint8) / step,
        np.frombuffer(capital, np.uint8)[order] / np.float32(255),
        letters,
    )
