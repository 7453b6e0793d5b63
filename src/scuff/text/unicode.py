"""What a code point is: grapheme clusters (UAX #29), word characters, simple case mapping. All by table look-up."""

from __future__ import annotations

import base64
import zlib
from functools import cache

import numpy as np
import numpy.typing as npt

from .ragged import Codes, Ints, Mask
from .unicode_data import (
    CONSONANT,
    CONTROL,
    CR,
    EXTEND,
    FLAG,
    HANGUL_L,
    HANGUL_LV,
    HANGUL_LVT,
    HANGUL_T,
    HANGUL_V,
    LF,
    LINKER,
    LOWER,
    OPAQUE,
    PICTOGRAPH,
    PREPEND,
    RUNS,
    SPACING,
    UPPER,
    ZWJ,
)

Classes = npt.NDArray[np.uint8]
WHITE: Mask = np.array([chr(code).isspace() for code in range(0x3002)])  # U+3000 is the last
EXTENDS = (EXTEND, LINKER, OPAQUE)


def members(*classes: int) -> Mask:
    """A look-up table that is true for these joining classes."""
    table = np.zeros(32, np.bool_)
    table[list(classes)] = True
    return table


BREAKS = members(CR, LF, CONTROL)
CONJUNCT = members(EXTEND, LINKER, ZWJ)
EXTENDING = members(*EXTENDS)
# A cluster can go on only at these, or after PREPEND; everything else, nearly all text, starts one.
MAY_CONTINUE = members(*EXTENDS, ZWJ, LF, SPACING, FLAG, PICTOGRAPH, CONSONANT, *range(HANGUL_L, HANGUL_LVT + 1))
ALWAYS_CONTINUES = members(*EXTENDS, ZWJ, SPACING)  # GB9, GB9a


@cache
def _classes() -> Classes:
    raw = np.frombuffer(zlib.decompress(base64.b85decode(RUNS)), np.uint8).reshape(-1, 4).astype(np.int64)
    return np.repeat(raw[:, 0].astype(np.uint8), raw[:, 1] | raw[:, 2] << 8 | raw[:, 3] << 16)


def classes(codes: Codes) -> Classes:
    """One byte per code point: joining class (low five bits) and word class (high three)."""
    return _classes()[codes]


def word_class(code_classes: Classes) -> Classes:
    """What each code point is inside a word: LOWER, UPPER, LETTER, DIGIT, MARK, CONNECTOR, BLANK, or 0 for none of them."""
    return code_classes >> np.uint8(5)


def is_white(codes: Codes) -> Mask:
    """Which code points `str.split` splits at: blanks, tabs, line ends and others."""
    return WHITE[np.minimum(codes, WHITE.size - 1)]


def is_ascii_letter(codes: Codes) -> Mask:
    """Which code points are a to z or A to Z."""
    low = codes | np.uint32(32)
    letter: Mask = (low >= ord("a")) & (low <= ord("z"))
    return letter


@cache
def case_map(upper: bool) -> Codes:
    """Code point to its upper- or lower-case partner, where that is a single code point; else to itself."""
    table = np.arange(0x110000, dtype=np.uint32)
    kind = word_class(_classes())
    for code in np.flatnonzero((kind == LOWER) | (kind == UPPER)).tolist():
        other = chr(code).upper() if upper else chr(code).lower()
        if len(other) == 1:
            table[code] = ord(other)
    return table


def continues(code_classes: Classes, offsets: Ints) -> Ints:
    """The positions that continue the cluster before them, ascending. Empty for plain text."""
    join = code_classes & np.uint8(31)
    may = MAY_CONTINUE[join]
    may[1:] |= join[:-1] == PREPEND
    at = np.flatnonzero(may)
    first = offsets[np.searchsorted(offsets, at, "right") - 1]  # where the document of each begins
    inside = at > first  # a cluster never crosses into the next document
    at, first = at[inside], first[inside]
    before, here = join[at - 1], join[at]

    def either(values: Classes, *wanted: int) -> Mask:
        return members(*wanted)[values]

    joined = ALWAYS_CONTINUES[here] | (before == PREPEND)
    joined |= (before == HANGUL_L) & either(here, HANGUL_L, HANGUL_V, HANGUL_LV, HANGUL_LVT)  # GB6
    joined |= either(before, HANGUL_LV, HANGUL_V) & either(here, HANGUL_V, HANGUL_T)  # GB7
    joined |= either(before, HANGUL_LVT, HANGUL_T) & (here == HANGUL_T)  # GB8
    joined &= ~(BREAKS[before] | BREAKS[here])  # GB4, GB5
    joined |= (before == CR) & (here == LF)  # GB3

    def base(run: Mask, which: Mask, back: int = 1) -> Ints:
        """The last position, from `back` before each of at[which], whose class is not in `run`; -1 if there is none."""
        last = np.maximum.accumulate(np.where(run[join], -1, np.arange(join.size)))
        begin = at[which] - back
        found = last[np.maximum(begin, 0)]
        return np.where((begin >= first[which]) & (found >= first[which]), found, -1)

    conjunct = (here == CONSONANT) & CONJUNCT[before]  # GB9c
    if conjunct.any():
        start = base(CONJUNCT, conjunct)
        linkers = np.cumsum(join == LINKER)
        linked = linkers[at[conjunct] - 1] > linkers[start]
        joined[conjunct] |= linked & (start >= 0) & (join[start] == CONSONANT)
    emoji = (here == PICTOGRAPH) & (before == ZWJ)  # GB11
    if emoji.any():
        start = base(EXTENDING, emoji, back=2)  # the ZWJ itself stands between
        joined[emoji] |= (start >= 0) & (join[start] == PICTOGRAPH)
    flags = (here == FLAG) & (before == FLAG)  # GB12, GB13: the second of a pair, counted from the run's start
    if flags.any():
        start = np.maximum(base(members(FLAG), flags), first[flags] - 1)
        joined[flags] |= (at[flags] - start) % 2 == 0
    return at[joined]
