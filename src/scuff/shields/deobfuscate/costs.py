"""What words, and symbols between letters, cost in clean text, in bits (-log2 of a probability), and what tampering costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ...text.ragged import Bits, Codes, Floats, Ints, Mask, Ragged, bounds, spread, sums
from ...text.random import text_bits
from ...text.unicode import case_map, classes, word_class
from ...text.unicode_data import DIGIT, LETTER, LOWER, MARK, UPPER
from ...text.words import WORDY
from ..hashes import word_bits
from ..lexicon import folded, lexicon

# -log2 of how often a symbol stands between two letters, per word of clean text (train parts of wikitext, agnews, jigsaw):
# anywhere, and between two small letters. Those of typeset text, which these sets hardly have, are taken as their plain twins.
USUAL = {
    "'": (6.1, 6.3), "-": (6.8, 7.2), ".": (8.2, 9.4), ":": (9.3, 13.5), "/": (9.4, 10.0), "!": (10.9, 13.5), "_": (11.0, 11.6),
    "’": (6.1, 6.3), ",": (12.0, 13.5), "(": (13.0, 13.9), "=": (13.1, 14.3), "&": (10.0, 14.1), "?": (13.0, 13.6),
    "#": (13.6, 18.4), ")": (14.7, 15.2), "—": (8.0, 8.0), "–": (8.0, 8.0), "…": (8.0, 8.0), "@": (14.9, 15.1), "*": (15.0, 15.5),
    "+": (15.0, 15.6), ";": (15.0, 15.6), "´": (8.0, 8.0), "\xad": (8.0, 8.0), "‐": (7.0, 7.0), "‑": (7.0, 7.0), "‘": (8.0, 8.0),
    "|": (13.6, 14.6), "$": (14.0, 15.0), "\x91": (8.0, 8.0), "\x92": (8.0, 8.0), "\x93": (8.0, 8.0), "\x94": (8.0, 8.0),
    "\x96": (8.0, 8.0), "\x97": (8.0, 8.0),
}  # fmt: skip
UNUSUAL = (18.0, 19.0)
NUMERIC = "%'’+*=^$€£×"  # may stand between digits
DECIMAL = ".,:/-–"  # stand between digits, whatever the text looks like
RUN = 6.0  # bits of several symbols in a row, as ... or --
UNKNOWN, PER_LETTER = 16.0, 2.5  # bits of a word that is not in the lexicon, and of each of its letters
MIXED = 10.0  # more bits if a digit stands between its letters
ACRONYM, NAME, SINGLE, NUMBER, CLITIC = 14.0, 18.0, 13.0, 9.0, 2.0
CLITICS = "s d ll re ve"  # behind any word; others, as those of don't and I'm, are in the lexicon
LIMIT = 0x3000  # symbols from here on, as those of Chinese, stay
TAMPERED = 15.0  # bits of tampering with a word of a text that shows none
CALM = 8.0  # bits of tampering above which a text does not look tampered with
SYMBOL, GAP = 4.0, 0.5  # bits of the choice of a symbol, and of each place
SURE = 6.0  # bits by which tampering has to win to count as seen
PSEUDO = 0.001


def bits_of_tampering(sure: Ints, words: Ints) -> Floats:
    """The bits that tampering with a word costs in texts of so many words, of which some were tampered with for sure.

    The rate is estimated as if a few words that were not had been seen before: 15 bits of none, about 4 of four in twenty.
    """
    rate = (sure + PSEUDO) / (words + PSEUDO * 2.0**TAMPERED)
    return np.minimum(TAMPERED, -np.log2(rate))


def is_wordy(codes: Codes) -> Mask:
    """Letters, digits and marks."""
    return wordy_kinds()[word_class(classes(codes))]


@cache
def wordy_kinds() -> Mask:
    table = WORDY.copy()
    table[MARK] = True
    return table


@cache
def _usual() -> Floats:
    """Bits of symbols: [anywhere or between small letters, code point]."""
    out = np.empty((2, LIMIT + 1))
    for at in (0, 1):
        out[at] = UNUSUAL[at]
        for symbol, bits in USUAL.items():
            out[at, ord(symbol)] = bits[at]
        out[at, LIMIT] = 4.0
    return out


@cache
def _members(symbols: str) -> Mask:
    out = np.zeros(LIMIT + 1, np.bool_)
    out[[ord(symbol) for symbol in symbols]] = True
    return out


def among(codes: Codes, symbols: str) -> Mask:
    """Which code points are among some."""
    return _members(symbols)[np.minimum(codes, LIMIT)]


@cache
def _hashes(words: str) -> Bits:
    return np.sort(text_bits(Ragged.of(words.split())))


def one_of(texts: Ragged, words: str) -> Mask:
    """Which texts are, in lower case, among some words, which have blanks between them."""
    low = Ragged(case_map(False)[texts.codes], texts.offsets)
    return np.isin(word_bits(low), _hashes(words))


@dataclass(frozen=True, eq=False)
class Cost:
    """What strings cost in bits, and what their words are like."""

    bits: Floats
    known: Mask  # no word of it is unknown
    single: Mask  # every word of it is one character
    upper: Mask  # its letters are capitals
    words: Ints


def piece_bits(pieces: Ragged) -> tuple[Floats, Mask]:
    """The bits of words, and which are known."""
    keys = word_bits(folded(pieces))
    number = lexicon().table.get(keys)
    kind = word_class(classes(pieces.codes))
    length = pieces.lengths
    capitals = sums(kind == UPPER, pieces.offsets)
    digits = sums(kind == DIGIT, pieces.offsets)
    bits: Floats = UNKNOWN + PER_LETTER * length.astype(np.float64)
    bits += np.where((digits > 0) & (digits < length), MIXED, 0)
    known = number >= 0
    other = np.flatnonzero(~known)
    named = other[lexicon().others.has(keys[other])]
    known[named] = True
    bits[named] = np.minimum(bits[named], NAME)
    listed = number >= 0
    bits[listed] = lexicon().cost[number[listed]]
    loud = (capitals == length) & (length > 1) & (length < 6)
    bits[loud] = np.minimum(bits[loud], ACRONYM)
    alone = length == 1
    article = alone & one_of(pieces, "a i")
    bits[alone & ~article] = SINGLE
    number_like = digits == length
    bits[number_like] = NUMBER
    known |= number_like | (loud & (length < 5))
    return bits, known


def cost(strings: Ragged) -> Cost:
    """What strings, each of which begins and ends with a letter or digit, cost as clean text."""
    codes, offsets = strings.codes, strings.offsets
    kind = word_class(classes(codes))
    inside = wordy_kinds()[kind]
    first = np.zeros(codes.size, np.bool_)
    first[offsets[:-1]] = True
    before = np.append(False, inside[:-1])
    opens = inside & (first | ~before)
    shuts = inside & np.append(first[1:] | ~inside[1:], True)[: codes.size]
    start, stop = np.flatnonzero(opens), np.flatnonzero(shuts) + 1
    pieces = Ragged(codes[spread(start, stop - start)], bounds(stop - start))
    bits, known = piece_bits(pieces)
    edges = np.searchsorted(start, offsets)
    # the runs of symbols between pieces
    gap = np.flatnonzero(np.append(~first[start[1:]], False)[: start.size])  # pieces with another one behind
    left, right = stop[gap] - 1, start[gap + 1]
    size = right - left - 1
    symbol = np.minimum(codes[left + 1], LIMIT)
    small = (kind[left] == LOWER) & (kind[right] == LOWER)
    here = _usual()[small.astype(np.int64), symbol]
    here = np.where((symbol == ord(".")) & (kind[left] != UPPER) & (kind[right] == UPPER), 4.0, here)
    digits = (kind[left] == DIGIT) | (kind[right] == DIGIT)
    here = np.where(digits, np.where(among(symbol, NUMERIC + DECIMAL), 2.0, here), here)
    here = np.where(size > 1, RUN + 2 * np.minimum(size - 2, 4), here)
    clitic = among(symbol, "'’") & (size == 1) & one_of(pieces.take(gap + 1), CLITICS)
    clitic &= np.isin(gap + 2, edges) & (pieces.lengths[gap] > 1)
    here = np.where(clitic, 4.0, here)
    bits[gap[clitic] + 1] = CLITIC
    known[gap[clitic] + 1] = True
    bits[gap] += here
    total = sums_of(bits, edges)
    whole = lexicon().number(strings)
    many = np.diff(edges) > 1
    listed = many & (whole >= 0)
    total[listed] = lexicon().cost[whole[listed]]
    good = sums(~known, edges) == 0
    letters = sums((kind == LOWER) | (kind == LETTER), offsets) == 0
    single = sums(stop - start > 1, edges) == 0
    return Cost(total, good | listed, single, letters, np.diff(edges))


def sums_of(values: Floats, edges: Ints) -> Floats:
    """The sum of each run of values, rounded so that it does not depend on the runs before it."""
    return sums(np.rint(values * 1024).astype(np.int64), edges) / 1024


def softly(symbol: Codes) -> Mask:
    """Which symbols may stand between letters in clean text."""
    return _usual()[0][np.minimum(symbol, LIMIT)] < UNUSUAL[0]
