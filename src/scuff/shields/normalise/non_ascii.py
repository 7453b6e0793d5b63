"""Words that have characters beyond ASCII: where they are, what their characters are, and the letters of each text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ...text.ragged import Ints, Mask, Ragged, bounds, spread
from ...text.words import Spans
from .invisible import APOSTROPHES
from .look_alikes import (
    CHINESE,
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
    LookAlikes,
    look_alikes,
)

STRONG = 25  # what Unicode lists as confusable, and letters with marks, costs less; the rest is from the learnt space


@cache
def _inside() -> Mask:
    """Which characters can be part of a word: letters and digits of all scripts, marks, signs that look like letters."""
    table = look_alikes()
    kind = table.kind
    lettery = np.array([chr(code).isalnum() for code in range(128)])
    as_letter = lettery[table.near[table.number, 0]] & (kind == SYMBOL) & (table.script != CHINESE)
    out: Mask = as_letter | np.isin(kind, (STYLED, SUPER, FLAG, ORDINARY, LETTER, NUMBER, MARK))
    out |= (kind == WIDE) & lettery[table.near[table.number, 0]]
    out[:128] = lettery
    return out


@cache
def _kinds(kinds: tuple[int, ...]) -> Mask:
    return np.isin(np.arange(256), kinds)


def among_kinds(kind: Bytes, kinds: tuple[int, ...]) -> Mask:
    """Which kinds of characters are among some."""
    return _kinds(kinds)[kind]


@dataclass(frozen=True, eq=False)
class Odd:
    """The words of texts that have characters beyond ASCII, and their characters, one word after the other."""

    row: Ints
    start: Ints
    text: Ragged
    word: Ints  # of each character
    all: Spans  # all words of the texts
    which: Ints  # of them are the odd ones
    kind: Bytes
    script: Bytes
    near: Bytes  # the plain character each looks like most, 0: none; ASCII is itself
    cost: Bytes

    def count(self, which: Mask) -> Ints:
        """How many characters of each word are some."""
        return np.bincount(self.word[which], minlength=len(self.text))

    def any(self, which: Mask) -> Mask:
        return self.count(which) > 0


def find_odd(texts: Ragged, kind: Bytes, table: LookAlikes) -> Odd:
    """Finds them in all texts. A single apostrophe between two letters is part of a word."""
    inside = _inside()[texts.codes]
    tick = np.flatnonzero((texts.codes == 0x27) | (texts.codes == 0x2019))
    tick = tick[(tick > 0) & (tick < inside.size - 1)]
    inside[tick[inside[tick - 1] & inside[tick + 1]]] = True
    opens = inside.copy()
    opens[1:] &= ~inside[:-1]
    edges = texts.offsets[:-1][texts.lengths > 0]
    opens[edges] = inside[edges]
    start = np.flatnonzero(opens)
    closes = inside.copy()
    closes[:-1] &= ~inside[1:] | opens[1:]
    stop = np.flatnonzero(closes) + 1
    at = np.flatnonzero(texts.codes > 126)
    at = at[inside[at] & (texts.codes[at] != 0x2019)]
    row = np.repeat(np.arange(len(texts)), np.diff(np.searchsorted(start, texts.offsets)))
    words = Spans(row, start, stop)
    which = np.flatnonzero(np.diff(np.searchsorted(at, np.append(start, inside.size))))
    start, length = start[which], stop[which] - start[which]
    index = spread(start, length)
    codes = texts.codes[index]
    number = table.number[codes]
    near = np.where(codes < 128, codes, table.near[number, 0]).astype(np.uint8)
    return Odd(
        words.row[which],
        start,
        Ragged(codes, bounds(length)),
        np.repeat(np.arange(length.size), length),
        words,
        which,
        kind[index],
        table.script[codes],
        near,
        np.where(codes < 128, 0, table.cost[number, 0]).astype(np.uint8),
    )


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
    scripts: Ints  # how many scripts its letters are of
    length: Ints


def count_letters(odd: Odd) -> Counts:
    ascii_ = odd.text.codes < 128
    form_ = among_kinds(odd.kind, (STYLED, SUPER, WIDE, FLAG))
    latin = (odd.script == LATIN) & ~ascii_ & ~form_ | (odd.kind == MARK) & (odd.script == 0)
    letter = among_kinds(odd.kind, (LETTER, ORDINARY, NUMBER, SYMBOL, MARK)) & ~latin & ~ascii_
    alike = odd.near > 0
    seen = [odd.any((odd.script == script) & ~form_) for script in range(1, 9)]
    return Counts(
        plain=odd.count(ascii_ & ~np.isin(odd.text.codes, APOSTROPHES)),
        accents=odd.count(latin),
        strange=odd.count(latin & (odd.kind == LETTER)),
        styled=odd.count(form_),
        strong=odd.count(letter & alike & (odd.cost < STRONG)),
        weak=odd.count(letter & alike & (odd.cost >= STRONG)),
        hard=odd.count(letter & ~alike),
        scripts=np.sum(seen, 0),
        length=odd.text.lengths,
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """What the letters of each text are."""

    latin: Ints
    own: Ints  # [rows, scripts] letters that only look like others of their script


def count_rows(plain: Ints, odd: Odd) -> Rows:
    rows, row = plain.size, odd.row[odd.word]
    form_ = among_kinds(odd.kind, (STYLED, SUPER, WIDE, FLAG))
    latin = plain + np.bincount(row[((odd.script == LATIN) | form_) & (odd.text.codes > 127)], minlength=rows)
    own = (odd.script > LATIN) & ~form_ & ((odd.near == 0) | (odd.cost >= STRONG)) & (odd.kind != MARK)
    key = row[own] * 16 + odd.script[own]
    return Rows(latin, np.bincount(key, minlength=rows * 16).reshape(rows, 16))
