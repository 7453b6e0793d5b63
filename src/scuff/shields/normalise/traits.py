"""What characters count as in a word: which alphabet, which kind of disguise. One look-up and one sum count all of it at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ...text.ragged import Bits, Ints, Mask, sums
from .invisible import APOSTROPHES, STRESS
from .look_alikes import (
    CYRILLIC,
    FLAG,
    LATIN,
    LETTER,
    MARK,
    NUMBER,
    ORDINARY,
    STYLED,
    SUPER,
    SYMBOL,
    WIDE,
    Bytes,
    look_alikes,
)

STRONG = 25  # what Unicode lists as confusable, and letters with marks, costs less; the rest is from the learnt space
# Greek letters that are symbols in the sciences; the others are only ever Greek.
SYMBOLS = "αβγδεζηθκλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
FORMS = (STYLED, SUPER, WIDE, FLAG)
Flags = npt.NDArray[np.uint32]

# What a character is, and a word has, as bits; the first eight say of which scripts letters are.
(
    DIGIT,
    SYMBOLIC,  # a Greek symbol or the micro sign
    UNUSUAL,  # a letter that no language with many writers has, or of another script
    SOUND,  # a Latin one of these
    CYRILLICS,
    STRESSED,  # marks of stress or length, of sounds
    BEYOND,  # of other scripts than Latin, Greek and Cyrillic
    ACCENTS,  # letters of languages with many writers, and marks
    OWN,  # letters that no other alphabet has, but for marks
    ONLY,  # the same with marks
    OTHERS,  # of any script but Latin
    LATINS,  # Latin beyond ASCII, or plain letters in another style
) = (1 << bit for bit in range(8, 20))


@dataclass(frozen=True, eq=False)
class Counts:
    """What the characters of each odd word are."""

    plain: Ints  # ASCII letters and digits
    accents: Ints  # Latin letters beyond ASCII, and marks
    strange: Ints  # those of them that no language with many writers has
    styled: Ints
    strong: Ints  # letters of other scripts that Unicode lists as look-alikes of plain ones
    weak: Ints  # those that look like plain ones to the learnt space alone
    hard: Ints  # those that look like none
    symbols: Ints  # Greek letters that are symbols
    length: Ints
    flags: Flags  # what a word has

    def have(self, flag: int) -> Mask:
        """Which words have a character with one of some flags."""
        return (self.flags & np.uint32(flag)) > 0

    @property
    def mixed(self) -> Mask:
        """Which words have letters of several scripts."""
        scripts = self.flags & np.uint32(255)
        return (scripts & (scripts - np.uint32(1))) > 0  # a bit is left without the lowest


@dataclass(frozen=True, eq=False)
class Traits:
    """Many characters count as the same: `number` says which entry of the others is that of a code point, 0 counts as nothing.

    counts: a byte for each of the counts of a word, in the order of `Counts`. flags: bits.
    """

    number: Bytes
    counts: Bits
    flags: Flags

    def count(self, number: Bytes, edges: Ints) -> Counts:
        """Counts the characters of words, none of which is empty. number: of the traits of each character."""
        each, length = self.counts[number], np.diff(edges)
        if length.max(initial=0) < 256:  # no byte runs over
            whole = sums(each, edges)
            columns = [(whole >> np.uint64(8 * at) & np.uint64(255)).astype(np.int64) for at in range(8)]
        else:
            columns = [sums((each >> np.uint64(8 * at) & np.uint64(1)).astype(np.int64), edges) for at in range(8)]
        plain, accents, strange, styled, strong, weak, hard, symbols = columns
        flags = np.bitwise_or.reduceat(self.flags[number], edges[:-1])
        return Counts(plain, accents, strange, styled, strong, weak, hard, symbols, length, flags)


@cache
def traits() -> Traits:
    """The traits of all code points."""
    table, code = look_alikes(), np.arange(0x110000)
    kind, script, ascii_ = table.kind, table.script, code < 128
    near = np.where(ascii_, code, table.near[table.number, 0])
    weak = ~ascii_ & (table.cost[table.number, 0] >= STRONG)
    form, mark, latin = np.isin(kind, FORMS), kind == MARK, script == LATIN
    only = (script > LATIN) & ((near == 0) | weak)
    symbol = np.isin(code, [ord(char) for char in SYMBOLS])
    accent = latin & ~ascii_ & ~form | mark & (script == 0)
    letter = np.isin(kind, (LETTER, ORDINARY, NUMBER, SYMBOL, MARK)) & ~accent & ~ascii_
    counts, flags = np.zeros(code.size, np.uint64), np.zeros(code.size, np.uint64)
    counted = (
        ascii_ & ~np.isin(code, APOSTROPHES), accent, accent & (kind == LETTER), form, letter & (near > 0) & ~weak,
        letter & (near > 0) & weak, letter & (near == 0), symbol,
    )  # fmt: skip
    for at, which in enumerate(counted):
        counts |= which.astype(np.uint64) << np.uint64(8 * at)
    flagged = {
        DIGIT: (code > 47) & (code < 58), SYMBOLIC: symbol | (code == 0xB5), UNUSUAL: kind == LETTER,
        SOUND: latin & (kind == LETTER), CYRILLICS: script == CYRILLIC, STRESSED: np.isin(code, STRESS),
        BEYOND: script > CYRILLIC, ACCENTS: (kind == ORDINARY) | mark, OWN: only & ~form & ~mark, ONLY: only,
        OTHERS: script > LATIN, LATINS: (latin | form) & ~ascii_,
    } | {1 << bit: (script == bit + 1) & ~form for bit in range(8)}  # fmt: skip
    for flag, which in flagged.items():
        flags |= which.astype(np.uint64) * np.uint64(flag)
    # no two of the eight counts and twenty flags share a bit of this key, and nothing is 0
    key = flags << np.uint64(8)
    for at in range(8):
        key |= (counts >> np.uint64(8 * at) & np.uint64(1)) << np.uint64(at)
    every, first, number = np.unique(key, return_index=True, return_inverse=True)
    if every.size > 256 or every[0]:
        raise ValueError(f"expected at most 256 kinds of traits, the first of them none, got {every.size}")
    return Traits(number.astype(np.uint8), counts[first], flags[first].astype(np.uint32))
