"""Words that have characters beyond ASCII: where they are, what their characters are, and the letters of each text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from ...text.ragged import Ints, Mask, Ragged, bounds, spread
from ...text.words import Spans
from .look_alikes import CHINESE, FLAG, LETTER, MARK, NUMBER, ORDINARY, STYLED, SUPER, SYMBOL, WIDE, Bytes, look_alikes
from .traits import LATINS, OWN, Counts, Flags, traits


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


@dataclass(frozen=True, eq=False)
class Odd:
    """The words of texts that have characters beyond ASCII, and their characters, one word after the other."""

    row: Ints
    start: Ints
    text: Ragged
    word: Ints  # of each character
    at: Ints  # where each stands in all codes
    all: Spans  # all words of the texts
    which: Ints  # of them are the odd ones
    kind: Bytes
    traits: Bytes

    @cached_property
    def flags(self) -> Flags:
        """What each character is."""
        return traits().flags[self.traits]

    @cached_property
    def counts(self) -> Counts:
        """What the characters of each word are."""
        return traits().count(self.traits, self.text.offsets)

    @cached_property
    def script(self) -> Bytes:
        return look_alikes().script[self.text.codes]

    def count(self, which: Mask) -> Ints:
        """How many characters of each word are some."""
        return np.bincount(self.word[which], minlength=len(self.text))

    def any(self, which: Mask) -> Mask:
        return self.count(which) > 0


def find_odd(texts: Ragged, kind: Bytes) -> Odd:
    """Finds them in all texts. A single apostrophe between two letters is part of a word.

    kind: of each character, by the table of look-alikes, or 0 for one that counts as nothing.
    """
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
    codes, mine = texts.codes[index], kind[index]
    number = traits().number[codes]
    number[(mine == 0) & (codes > 127) & (codes != 0x2019)] = 0
    word = np.repeat(np.arange(length.size), length)
    return Odd(words.row[which], start, Ragged(codes, bounds(length)), word, index, words, which, mine, number)


@dataclass(frozen=True, eq=False)
class Rows:
    """What the letters of each text are."""

    latin: Ints
    own: Ints  # [rows, scripts] letters that only look like others of their script


def count_rows(plain: Ints, odd: Odd) -> Rows:
    rows = plain.size
    latin, own = (np.flatnonzero(odd.flags & np.uint32(flag)) for flag in (LATINS, OWN))
    key = odd.row[odd.word[own]] * 16 + look_alikes().script[odd.text.codes[own]]
    return Rows(
        plain + np.bincount(odd.row[odd.word[latin]], minlength=rows),
        np.bincount(key, minlength=rows * 16).reshape(rows, 16),
    )
