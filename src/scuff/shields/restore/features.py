"""What of a noisy word survives noise, as numbers: the input of the network of tier `context`. Training reads the same file."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from ...text.ragged import Bits, Ints, Mask, Ragged, bounds, run_lengths, spread, sums
from ...text.random import BASE, INVERSE, counters, mix, text_bits
from ...text.unicode import case_map
from ..lexicon import lexicon
from .candidates import Candidates

# Rows of the table of features: what is small has a row per value, the rest is hashed.
SYMBOLS = 40  # 0: border of a word, 1 to 26: letters, 27: digit, 28: apostrophe, 29: hyphen, 30 to 39: any other
PLACES = 16
BAG, BEGIN, END, PAIR = 0, 320, 960, 1600
SHAPE, GAP_BEFORE, GAP_AFTER, MASKED = 3200, 3328, 3584, 3839
TRIPLE, BONES, ROWS = 3840, 10240, 12288
VOWELS = tuple(ord(letter) - ord("a") + 1 for letter in "aeiou")
# the word itself; the same letters; the same inner letters; the same consonants; one more at the end
HINT_COUNTS = (1, 2, 2, 4, 2)
# and so many that one letter put in, left out or replaced, or two that changed places, turn into the noisy word
NEAR = 3
HINTS = sum(HINT_COUNTS) + NEAR
GUESSES = 8  # candidates of a word that the lexicon lacks
LONGEST = 40  # letters that are looked at; a longer word is no word


@cache
def _symbols() -> npt.NDArray[np.int64]:
    """The symbol of each code point; accents and case do not matter."""
    table = 30 + np.arange(0x110000) % 10
    for code in range(0x250):
        base = unicodedata.normalize("NFD", chr(code).lower())[0]
        if "a" <= base <= "z":
            table[code] = ord(base) - ord("a") + 1
    table[[code for code in range(0x10000) if chr(code).isdecimal()]] = 27
    table[[0x27, 0x2018, 0x2019, 0x2BC, 0xFF07]] = 28
    table[[0x2D, 0x2010, 0x2011, 0x2012, 0x2013]] = 29
    return table


def symbols(words: Ragged) -> tuple[Ints, Ints]:
    """The symbols of all words and where each word begins."""
    keep = np.minimum(words.lengths, LONGEST)
    return _symbols()[words.codes[spread(words.offsets[:-1], keep)]], bounds(keep)


def _bits(value: Ints) -> Bits:
    return mix(counters(value))


def _anagram(symbol: Ints, first: Ints) -> Bits:
    """Equal for words of the same letters in any order."""
    return sums(_bits(symbol), first)


def _inner(symbol: Ints, first: Ints) -> Bits:
    """Equal for words of the same letters that begin and end alike."""
    ends = np.append(symbol, 0)
    begin, last = ends[first[:-1]], ends[np.maximum(first[1:] - 1, first[:-1])]
    return mix(_anagram(symbol, first) + _bits(begin * SYMBOLS + last + 1000))


def _kept(symbol: Ints, first: Ints, keep: Mask) -> tuple[Ints, Ints]:
    return symbol[keep], np.append(0, np.cumsum(keep))[first]


def _bones(symbol: Ints, first: Ints) -> tuple[Ints, Ints]:
    """The words without vowels."""
    return _kept(symbol, first, ~np.isin(symbol, VOWELS))


def _hash(symbol: Ints, first: Ints) -> Bits:
    """A hash of each word; 0 for an empty one."""
    return np.where(np.diff(first) > 0, text_bits(Ragged(symbol.astype(np.uint32), first)), np.uint64(0))


@dataclass(frozen=True, eq=False)
class Keys:
    """Words of the lexicon by what noise leaves of them: which words have the same letters, the same consonants, and so on."""

    words: Ragged

    @cached_property
    def tables(self) -> list[tuple[Bits, Ints]]:
        """Per kind of key: all keys in order and the word of each; of equal keys the most frequent word comes first."""
        symbol, first = symbols(self.words)
        shorter = np.ones(symbol.size, np.bool_)
        shorter[first[1:][np.diff(first) > 0] - 1] = False
        kinds = _plain_keys(symbol, first)
        kinds.append(_hash(*_kept(symbol, first, shorter)))
        out = []
        for key in kinds:
            order = np.argsort(key, kind="stable")
            out.append((key[order], order))
        return out

    @cached_property
    def near(self) -> tuple[Bits, Ints]:
        """The keys of all words, and of all words with one letter left out, in order, and the word of each."""
        symbol, first = symbols(self.words)
        key, word = _one_less(symbol, first)
        order = np.argsort(key, kind="stable")
        return key[order], word[order]

    def _near(self, noisy: Ragged) -> Ints:
        """[words, NEAR]: the most frequent words that share with a noisy word what is left if each may lose one letter."""
        key, owner = _one_less(*symbols(noisy))
        known, word = self.near
        at = np.searchsorted(known, key)
        pairs = []
        for place in range(2):
            spot = np.minimum(at + place, known.size - 1)
            hit = (known[spot] == key) & (at + place < known.size)
            pairs.append(owner[hit] * len(self.words) + word[spot[hit]])
        pair = np.unique(np.concatenate(pairs))
        owner, word = pair // len(self.words), pair % len(self.words)
        size = run_lengths(owner) if owner.size else owner
        rank = spread(np.zeros_like(size), size)
        out = np.full((len(noisy), NEAR), -1)
        fits = rank < NEAR
        out[owner[fits], rank[fits]] = word[fits]
        return out

    def hints(self, noisy: Ragged) -> Ints:
        """[words, HINTS]: words that each noisy word may stand for; -1: none."""
        symbol, first = symbols(noisy)
        out = np.full((len(noisy), HINTS), -1)
        keys = _plain_keys(symbol, first)
        column = 0
        for key, (known, word), count in zip([*keys, keys[0]], self.tables, HINT_COUNTS, strict=True):
            at = np.searchsorted(known, key)
            for place in range(count):
                spot = np.minimum(at + place, known.size - 1)
                hit = (known[spot] == key) & (at + place < known.size) & (key != 0)
                out[:, column] = np.where(hit, word[spot], -1)
                column += 1
        out[:, column:] = self._near(noisy)
        return out


def guess(found: Candidates, count: int, size: int) -> tuple[Ints, npt.NDArray[np.float32]]:
    """[words, GUESSES]: the likeliest candidates of so many words, among the first `size` of the lexicon, and how likely each is
    beside the others; -1: none.
    """
    found = found.where(found.word < size)
    score = found.channel - lexicon().cost[found.word]
    order = np.lexsort((found.word, -score, found.of))
    of, score, word = found.of[order], score[order], found.word[order]
    many = run_lengths(of) if of.size else of
    rank = spread(np.zeros_like(many), many)
    best = np.repeat(score[np.cumsum(many) - many], many)
    few = rank < GUESSES
    words, share = np.full((count, GUESSES), -1), np.zeros((count, GUESSES), np.float32)
    words[of[few], rank[few]] = word[few]
    share[of[few], rank[few]] = np.exp2(score - best)[few]
    return words, share / np.maximum(share.sum(1, keepdims=True), np.float32(1e-6))


def _one_less(symbol: Ints, first: Ints) -> tuple[Bits, Ints]:
    """A key of each word, then of each word without one of its letters, for every letter; and the word of each key.

    A polynomial as in `text_bits`: the sum before the letter, and the sum behind it one power lower.
    """
    up = np.cumprod(np.append(np.uint64(1), np.full(symbol.size + 1, BASE, np.uint64)), dtype=np.uint64)
    down = np.cumprod(np.append(np.uint64(1), np.full(symbol.size + 1, INVERSE, np.uint64)), dtype=np.uint64)
    running = np.append(np.uint64(0), np.cumsum(up[: symbol.size] * symbol.astype(np.uint64), dtype=np.uint64))
    length = np.diff(first)
    word, letter = np.repeat(np.arange(length.size), length), np.arange(symbol.size)
    begin, end = first[:-1], first[1:]
    whole = (running[end] - running[begin]) * down[begin]
    less = (running[letter] - running[begin[word]]) * down[begin[word]]
    less += (running[end[word]] - running[letter + 1]) * down[begin[word] + 1]
    key = mix(np.append(whole, less) ^ counters(np.append(length, length[word] - 1)))
    return key, np.append(np.arange(length.size), word)


def _plain_keys(symbol: Ints, first: Ints) -> list[Bits]:
    return [_hash(symbol, first), _anagram(symbol, first), _inner(symbol, first), _hash(*_bones(symbol, first))]


def _grams(symbol: Ints, first: Ints, n: int) -> tuple[Ints, Ints]:
    """The n-grams of words whose borders are marked by 0, as numbers in base SYMBOLS, and the word of each."""
    length = np.diff(first)
    word = np.repeat(np.arange(length.size), length + 2)
    padded = np.zeros(word.size, np.int64)
    padded[spread(bounds(length + 2)[:-1] + 1, length)] = symbol
    number = padded[: max(padded.size - n + 1, 0)].copy()
    for ahead in range(1, n):
        number *= SYMBOLS
        number += padded[ahead : padded.size - n + 1 + ahead]
    whole = word[: number.size] == word[word.size - number.size :]
    return number[whole], word[: number.size][whole]


def features(noisy: Ragged) -> tuple[Ints, Ints]:
    """Rows of the table that describe each word: those of word i are rows[first[i]:first[i + 1]]."""
    symbol, first = symbols(noisy)
    length = np.diff(first)
    word = np.repeat(np.arange(length.size), length)
    place = np.arange(symbol.size) - first[:-1][word]
    back = length[word] - 1 - place
    order = np.lexsort((symbol, word))
    same = run_lengths(word[order] * SYMBOLS + symbol[order]) if order.size else np.empty(0, np.int64)
    rank = spread(np.zeros_like(same), same)
    bag = symbol[order] * 8 + np.minimum(rank, 7)
    near, far = place < PLACES, back < PLACES
    pair, pair_word = _grams(symbol, first, 2)
    triple, triple_word = _grams(symbol, first, 3)
    bones = _bones(symbol, first)
    two, two_word = _grams(*bones, 2)
    three, three_word = _grams(*bones, 3)
    shape, shape_word = _shapes(noisy, symbol, first)
    row = np.concatenate(
        (
            BAG + bag,
            BEGIN + place[near] * SYMBOLS + symbol[near],
            END + back[far] * SYMBOLS + symbol[far],
            PAIR + pair,
            TRIPLE + (_bits(triple) % np.uint64(BONES - TRIPLE)).astype(np.int64),
            BONES + (_bits(np.concatenate((two, three + 100_000))) % np.uint64(ROWS - BONES)).astype(np.int64),
            SHAPE + shape,
        )
    )
    owner = np.concatenate(
        (word[order], word[near], word[far], pair_word, triple_word, two_word, three_word, shape_word)
    )
    by_word = np.argsort(owner, kind="stable")
    return row[by_word], bounds(np.bincount(owner, minlength=len(noisy)))


def _shapes(noisy: Ragged, symbol: Ints, first: Ints) -> tuple[Ints, Ints]:
    """Length, capitals, and what else than letters there is, as rows from SHAPE on."""
    length, every = noisy.lengths, np.arange(len(noisy))
    upper = sums((case_map(upper=False)[noisy.codes] != noisy.codes).astype(np.int64), noisy.offsets)
    lead = np.append(noisy.codes, np.uint32(0))[noisy.offsets[:-1]]
    capital = case_map(upper=False)[lead] != lead
    case = np.where(
        upper == 0, 0, np.where(upper == length, 1, np.where(capital & (upper == 1), 2, np.where(capital, 3, 4)))
    )
    parts, words = [np.minimum(length, 24), 32 + case], [every, every]
    for turn, (low, high) in enumerate(((27, 27), (28, 28), (29, 29), (30, 39))):
        has = np.flatnonzero(sums(((symbol >= low) & (symbol <= high)).astype(np.int64), first))
        parts.append(np.full(has.size, 40 + turn))
        words.append(has)
    return np.concatenate(parts), np.concatenate(words)


def gaps(between: Ragged) -> Ints:
    """A number below 255 for what stands between two words: its first two characters that are not blanks, and whether it is
    empty. Letters cannot stand there.
    """
    keep = ~np.isin(between.codes, (0x20, 0xA0))
    first = np.append(0, np.cumsum(keep))[between.offsets]
    codes = between.codes[keep]
    padded = np.append(codes, np.zeros(2, np.uint32)).astype(np.int64)
    count = np.diff(first)
    one = np.where(count > 0, padded[first[:-1]], 0)
    two = np.where(count > 1, padded[np.minimum(first[:-1] + 1, padded.size - 1)], 0)
    number = (_bits(one * 0x110000 + two) % np.uint64(253)).astype(np.int64) + 2
    return np.where(between.lengths == 0, 0, np.where(count == 0, 1, number))
