"""The first half of Normalise: characters that nobody sees, marks piled upon letters, blanks that are no blanks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...text.ragged import Codes, Ints, Mask, Ragged, rows_of, sums
from ...text.unicode import classes, is_white
from ...text.unicode_data import PICTOGRAPH
from .look_alikes import (
    BIDI,
    BRAHMIC,
    CHINESE,
    DELETE,
    EASTERN,
    INVISIBLE,
    LATIN,
    LEFTWARD,
    LETTER,
    LINE,
    MARK,
    ORDINARY,
    SPACE,
    WIDE,
    Bytes,
    LookAlikes,
    look_alikes,
)

KINDS = ("confusable", "invisible", "bidi", "marks", "width", "styled", "space", "accent")
CONFUSABLE, UNSEEN, DIRECTION, MARKS, WIDTH, STYLE, BLANK, ACCENT = range(8)
CONTROLS = bytes((*range(9), *range(14, 32), 127))  # all of ASCII that may be changed
GONE = 0  # the new character of one that is deleted
LIGATURES = ("ff", "fi", "fl", "ffi", "ffl", "st", "st")  # from U+FB00 on; the new character is EXPANDED + place
EXPANDED = 0x110000
MOST_MARKS = 2  # on one letter of an alphabet: Vietnamese has two, piles begin at three
MOST_NEEDED = 4  # on one letter of a script that cannot do without: Hebrew, Arabic, Thai, Devanagari
ZWSP, ZWNJ, ZWJ, KEYCAP, BLACK_FLAG, DOTTED_CIRCLE = 0x200B, 0x200C, 0x200D, 0x20E3, 0x1F3F4, 0x25CC
APOSTROPHES = (0x27, 0x2019)
KEYS = [ord(char) for char in "0123456789#*"]
OF_FORMULAS = [0x302, 0x303, 0x304, 0x305, 0x307, 0x308, 0x20D6, 0x20D7, 0x20DB]  # marks on letters of formulas
STRESS = [0x2C8, 0x2CC, 0x2D0, 0x2D1]  # signs of sounds (IPA)
TYPESET = [0xA0, 0x2007, 0x2009, 0x202F]  # blanks that typesetters put beside numbers and signs


def has_controls(text: str) -> bool:
    """Whether a text has one of CONTROLS."""
    raw = text.encode(errors="surrogatepass")
    return len(raw.translate(None, CONTROLS)) < len(raw)


@dataclass(frozen=True, eq=False)
class Swaps:
    """Characters that become others: where each stands in all codes, what it becomes (GONE: nothing), number of its kind."""

    at: Ints
    new: Codes
    kind: Ints

    @staticmethod
    def of(at: Ints, new: Codes | int, kind: Ints | int) -> Swaps:
        return Swaps(
            at, np.broadcast_to(np.asarray(new, np.uint32), at.shape), np.broadcast_to(np.asarray(kind), at.shape)
        )

    @staticmethod
    def join(parts: list[Swaps]) -> Swaps:
        """All of them, in order; no two may be of one character."""
        at, new, kind = (np.concatenate([getattr(part, name) for part in parts]) for name in ("at", "new", "kind"))
        order = np.argsort(at, kind="stable")
        return Swaps(at[order], new[order], kind[order])


def _table(*ranges: tuple[int, int]) -> Mask:
    out = np.zeros(0x110000, np.bool_)
    for first, last in ranges:
        out[first : last + 1] = True
    return out


# Marks that no alphabet needs: through, around, above all of a letter, or letters above letters.
RARE_MARKS = _table(
    (0x305, 0x305), (0x30D, 0x30E), (0x310, 0x310), (0x312, 0x312), (0x315, 0x31A), (0x31C, 0x322), (0x329, 0x32C),
    (0x32F, 0x32F), (0x332, 0x341), (0x346, 0x34E), (0x350, 0x357), (0x359, 0x36F), (0x488, 0x489),
    (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20F0), (0xFE20, 0xFE2F),
)  # fmt: skip
VARIATIONS = _table((0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
TAGS = _table((0xE0020, 0xE007F))
SKINS = _table((0x1F3FB, 0x1F3FF))


@dataclass(frozen=True, eq=False)
class Around:
    """What stands around some positions of texts: the nearest characters that can be seen, 0 if there is none."""

    before: Codes
    after: Codes
    touching: Mask  # the one before stands directly before


def _around(texts: Ragged, kind: Bytes, at: Ints, skip: Mask) -> Around:
    """skip: by kind, what cannot be seen."""
    index = np.arange(kind.size)
    seen = ~skip[kind]
    row = rows_of(at, texts.offsets)
    last = np.maximum.accumulate(np.where(seen, index, -1))
    left = np.append(last, -1)[at - 1]
    left[(at == 0) | (left < texts.offsets[row])] = -1
    following = np.minimum.accumulate(np.where(seen, index, kind.size)[::-1])[::-1]
    right = np.append(following, kind.size)[at + 1]
    right[right >= texts.offsets[row + 1]] = kind.size
    padded = np.append(texts.codes, np.uint32(0))
    return Around(padded[np.where(left < 0, kind.size, left)], padded[right], left == at - 1)


def mend_unseen(texts: Ragged, kind: Bytes) -> Swaps:
    """What is taken out or becomes a plain blank. kind: of each character, by the table of look-alikes."""
    table = look_alikes()
    parts: list[Swaps] = []
    at = np.flatnonzero((kind == INVISIBLE) | (kind == BIDI) | (kind == SPACE) | (kind == LINE))
    if at.size:
        skip = np.zeros(256, np.bool_)
        skip[[INVISIBLE, BIDI]] = True
        parts.append(_mend_format(texts, kind, at, _around(texts, kind, at, skip), table))
    if (kind == DELETE).any():
        parts.append(_mend_deleted(texts, kind))
    at = np.flatnonzero(kind == MARK)
    if at.size:
        parts.append(_mend_marks(texts, kind, at, table))
    at = np.flatnonzero((texts.codes >= 0xFB00) & (texts.codes < 0xFB00 + len(LIGATURES)))
    if at.size:
        parts.append(Swaps.of(at, texts.codes[at] - np.uint32(0xFB00) + np.uint32(EXPANDED), STYLE))
    at = np.flatnonzero(kind == WIDE)
    if at.size:
        parts.append(_mend_wide_signs(texts, at, table))
    found = Swaps.join(parts) if parts else Swaps.of(np.empty(0, np.int64), GONE, 0)
    first = np.append(True, np.diff(found.at) > 0) if found.at.size else np.empty(0, np.bool_)
    return found if first.all() else Swaps(found.at[first], found.new[first], found.kind[first])


def _mend_format(texts: Ragged, kind: Bytes, at: Ints, around: Around, table: LookAlikes) -> Swaps:
    """Invisible characters, direction marks, blanks and line ends."""
    code, what = texts.codes[at], kind[at]
    before, after = table.script[around.before], table.script[around.after]
    picture = (classes(around.before) & 31 == PICTOGRAPH) | SKINS[around.before]
    joining = np.isin(before, (LEFTWARD, BRAHMIC)) & around.touching
    row = rows_of(at, texts.offsets)

    keep = (code == ZWJ) & (joining | (picture & (classes(around.after) & 31 == PICTOGRAPH)))
    keep |= (code == ZWNJ) & joining
    unspaced = np.isin(before, (EASTERN, CHINESE, BRAHMIC)) & np.isin(after, (EASTERN, CHINESE, BRAHMIC))
    keep |= (code == ZWSP) & unspaced
    key = np.isin(around.before, KEYS) & (around.after == KEYCAP)
    varied = picture | key | (around.before > 127) & ~np.isin(before, (1, 2, 3))
    keep |= VARIATIONS[code] & varied & around.touching
    keep |= TAGS[code] & (around.before == BLACK_FLAG)
    keep |= np.isin(code, (0x34F, *range(0x180B, 0x1810))) & (before == LEFTWARD)
    keep |= np.isin(code, (0x115F, 0x1160)) & ((before == CHINESE) | (after == CHINESE))
    keep |= np.isin(code, (0x17B4, 0x17B5)) & (before == EASTERN)

    direction = what == BIDI
    if direction.any():
        leftward = np.zeros(len(texts), np.bool_)
        leftward[rows_of(np.flatnonzero(table.script[texts.codes] == LEFTWARD), texts.offsets)] = True
        keep |= direction & leftward[row] & ~((before == 1) & (after == 1))
    new = np.where(what == SPACE, 0x20, np.where(what == LINE, 0x0A, GONE)).astype(np.uint32)
    blank = what == SPACE
    if blank.any():
        plain = (before > 0) & (after > 0)  # between two letters
        keep |= blank & np.isin(code, TYPESET) & ~plain
        east = (before == CHINESE) | (after == CHINESE)
        keep |= np.isin(code, (0x3000, 0x3164, 0xFFA0)) & east
        keep |= (code == 0x2800) & ((around.before >> 8 == 0x28) | (around.after >> 8 == 0x28))
    number = np.where(direction, DIRECTION, np.where(blank | (what == LINE), BLANK, UNSEEN))
    gone = ~keep
    return Swaps(at[gone], new[gone], number[gone])


def _mend_wide_signs(texts: Ragged, at: Ints, table: LookAlikes) -> Swaps:
    """Signs of full width in texts without Chinese, Japanese or Korean; letters are left to scripts.py."""
    plain = table.near[table.number[texts.codes[at]], 0].astype(np.uint32)
    low = plain | 0x20
    sign = (plain > 0) & ~((low >= 97) & (low <= 122) | (plain >= 48) & (plain <= 57))
    east = sums((table.script[texts.codes] == CHINESE) & (texts.codes < 0xFF00), texts.offsets) > 0
    gone = sign & ~east[rows_of(at, texts.offsets)]
    return Swaps.of(at[gone], plain[gone], WIDTH)


def _mend_deleted(texts: Ragged, kind: Bytes) -> Swaps:
    """Backspace and delete take the character before them away, as a terminal shows it (Boucher et al. 2022)."""
    gone: list[int] = []
    for stop in np.flatnonzero(kind == DELETE).tolist():
        start = int(texts.offsets[np.searchsorted(texts.offsets, stop, "right") - 1])
        victim = stop - 1
        taken = set(gone)
        while victim >= start and victim in taken:
            victim -= 1
        gone.append(stop)
        if victim >= start and texts.codes[victim] != 0x0A:
            gone.append(victim)
    return Swaps.of(np.sort(np.array(gone, np.int64)), GONE, UNSEEN)


def _mend_marks(texts: Ragged, kind: Bytes, at: Ints, table: LookAlikes) -> Swaps:
    """Marks that no alphabet needs, and piles of others. A mark or two that languages use stay; see scripts.py for accents."""
    index = np.arange(kind.size)
    stands = ~np.isin(kind, (MARK, INVISIBLE, BIDI))
    base = np.maximum.accumulate(np.where(stands, index, -1))[at]
    row = rows_of(at, texts.offsets)
    base = np.where(base < texts.offsets[row], -1 - row, base)  # those without a base, by text
    first = np.append(True, np.diff(base) != 0)
    pile = np.diff(np.append(np.flatnonzero(first), at.size))[np.cumsum(first) - 1]
    under = np.append(texts.codes, np.uint32(0))[np.where(base < 0, kind.size, base)]
    code = texts.codes[at]
    script = table.script[under]
    own = (table.script[code] > 0) & (script != 1)  # a mark of a script, as those of Hebrew
    needed = own | (script > 3)
    rare = RARE_MARKS[code] & ~((code == KEYCAP) & np.isin(under, KEYS)) & (under != DOTTED_CIRCLE)
    bare = (base < 0) | is_white(under) | np.isin(under, APOSTROPHES)
    gone = np.where(needed, pile > MOST_NEEDED, rare | (pile > MOST_MARKS) | bare)
    # a word in which most letters have a mark, or both of two
    letter = table.script[texts.codes] > 0
    composed = letter & (table.script[texts.codes] == LATIN) & np.isin(kind, (ORDINARY, LETTER))
    inside = letter | ~stands | np.isin(texts.codes, APOSTROPHES)
    opens = inside & ~np.append(False, inside[:-1])
    opens[texts.offsets[:-1][texts.lengths > 0]] = True
    number = np.cumsum(opens) - 1
    word, size = number[at], int(number[-1]) + 1
    accented = composed.copy()
    accented[base[first & ~needed & (base >= 0)]] = True
    many = np.bincount(number[accented & letter], minlength=size)[word]
    letters = np.bincount(number[letter], minlength=size)[word]
    gone |= ~needed & ((many > 2) & (2 * many > letters) | (many == 2) & (letters == 2))
    # x̄ and a⃗ in a text without other marks, and signs of sounds beside those of stress and length
    formula = (pile == 1) & (letters == 1) & np.isin(code, OF_FORMULAS)
    others = np.bincount(row[gone & ~formula], minlength=len(texts))[row] > 0
    spoken = (sums(np.isin(texts.codes, STRESS), texts.offsets) > 0)[row] & (pile == 1)
    gone &= ~(formula & ~others) & ~spoken
    return Swaps.of(at[gone], GONE, MARKS)
