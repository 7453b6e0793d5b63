"""The second half of Normalise: which words of a text are written with characters that stand in for others, and what they say.

Only words that mix scripts, or stand alone among words of another one, are touched: a word of one script among its own kind,
and a word with the accents of a language, is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..text.ragged import Codes, Ints, Mask, Ragged, bounds, spread, sums
from .decoding import decode, form
from .hashes import HashTable, word_bits
from .lexicon import folded, lexicon
from .look_alikes import (
    CHINESE,
    CYRILLIC,
    FLAG,
    GREEK,
    LATIN,
    LETTER,
    MARK,
    NUMBER,
    ORDINARY,
    SIGN,
    STYLED,
    SUPER,
    SYMBOL,
    WIDE,
    Bytes,
    LookAlikes,
    look_alikes,
)
from .unseen import ACCENT, CONFUSABLE, GONE, STYLE, WIDTH, Changes

STRONG = 20  # what Unicode lists as confusable, and letters with marks, costs less; the rest is from the learnt space
FREQUENT = 4000  # so many words make most of any English text, and little of others
ENGLISH = 0.5  # the share of them from which on a text is English
APOSTROPHES = (0x27, 0x2019)
# Greek letters that are symbols in the sciences; the others are only ever Greek.
SYMBOLS = "αβγδεζηθκλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
# English words that keep the accents of the language that they came from.
LOANS = (
    "café cafés naïve naïveté naïvely résumé résumés fiancé fiancée cliché clichés clichéd façade façades jalapeño piñata señor "
    "señora señorita soupçon rôle rôles élan élite éclair éclat émigré émigrés entrée entrées exposé exposés matinée née né "
    "passé pâté protégé protégés protégée purée risqué roué sauté sautéed séance séances soirée soirées touché tête vis-à-vis à "
    "la là voilà déjà déjà-vu über doppelgänger angström ångström smörgåsbord crème brûlée crêpe crêpes fête fêtes château "
    "coöperate coöperation zoölogy preëmpt reëlect noël pokémon décor début débutante détente divorcé divorcée "
    "communiqué coup-d'état croûton croûtons hôtel maître mêlée mélange naïf outré papier-mâché piñatas raison-d'être "
    "raisonné retroussé sauté señores société soufflé tapénade tragédienne vicuña animé appliqué attaché auto-da-fé "
    "béchamel bête blasé bric-à-brac cachaça canapé canapés canapé-bar cause-célèbre consommé coördinate "
    "cortège crèche curé dénouement façon flambé glacé gruyère habitué ingénue macramé manqué métier nouveau piqué pièce "
    "précis précised recherché rémoulade résumés sautéing tilde touchée vécu étude études étagère épée mañana año niño niña "
    "él más où été être même für müsli schön größe straße ça là-bas père mère frère rosé andré josé rené zoë chloë brontë"
)


@cache
def _loans() -> HashTable:
    return HashTable.of(np.unique(word_bits(folded(Ragged.of(sorted(set(LOANS.split())))))))


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
def _symbols() -> Mask:
    out = np.zeros(0x110000, np.bool_)
    out[[ord(char) for char in SYMBOLS]] = True
    return out


@dataclass(frozen=True, eq=False)
class Odd:
    """The words of texts that have characters beyond ASCII, and their characters, one word after the other."""

    row: Ints
    start: Ints
    text: Ragged
    word: Ints  # of each character
    kind: Bytes
    script: Bytes
    near: Bytes  # the plain character each looks like most, 0: none; ASCII is itself
    cost: Bytes

    def count(self, which: Mask) -> Ints:
        """How many characters of each word are some."""
        return np.bincount(self.word[which], minlength=len(self.text))

    def any(self, which: Mask) -> Mask:
        return self.count(which) > 0


def _odd_words(texts: Ragged, kind: Bytes, table: LookAlikes) -> Odd:
    """Finds them. A single apostrophe between two letters is part of a word."""
    inside = _inside()[texts.codes]
    tick = np.flatnonzero(np.isin(texts.codes, APOSTROPHES))
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
    at = np.flatnonzero((texts.codes > 126) & inside & ~np.isin(texts.codes, APOSTROPHES))
    which = np.unique(np.searchsorted(start, at, "right") - 1)
    start, length = start[which], stop[which] - start[which]
    index = spread(start, length)
    codes = texts.codes[index]
    number = table.number[codes]
    near = np.where(codes < 128, codes, table.near[number, 0]).astype(np.uint8)
    return Odd(
        np.searchsorted(texts.offsets, start, "right") - 1,
        start,
        Ragged(codes, bounds(length)),
        np.repeat(np.arange(length.size), length),
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


def _count(odd: Odd) -> Counts:
    ascii_ = odd.text.codes < 128
    form_ = np.isin(odd.kind, (STYLED, SUPER, WIDE, FLAG))
    latin = (odd.script == LATIN) & ~ascii_ & ~form_ | (odd.kind == MARK) & (odd.script == 0)
    letter = np.isin(odd.kind, (LETTER, ORDINARY, NUMBER, SYMBOL, MARK)) & ~latin & ~ascii_
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


def _rows(texts: Ragged, odd: Odd) -> Rows:
    low = texts.codes | 0x20
    plain = sums((low >= 97) & (low <= 122), texts.offsets)
    rows, row = len(texts), odd.row[odd.word]
    form_ = np.isin(odd.kind, (STYLED, SUPER, WIDE, FLAG))
    latin = plain + np.bincount(row[((odd.script == LATIN) | form_) & (odd.text.codes > 127)], minlength=rows)
    own = (odd.script > LATIN) & ~form_ & ((odd.near == 0) | (odd.cost >= STRONG)) & (odd.kind != MARK)
    key = row[own] * 16 + odd.script[own]
    return Rows(latin, np.bincount(key, minlength=rows * 16).reshape(rows, 16))


def mend_scripts(texts: Ragged, kind: Bytes) -> Changes:
    """What becomes other characters. kind: of each character, by the table of look-alikes."""
    table = look_alikes()
    odd = _odd_words(texts, kind, table)
    if not len(odd.text):
        return Changes.of(np.empty(0, np.int64), GONE, 0)
    counts, rows = _count(odd), _rows(texts, odd)
    at = odd.start[odd.word] + np.arange(odd.word.size) - odd.text.offsets[odd.word]
    new = odd.text.codes.copy()

    chosen = _chosen(texts, odd, counts, rows)
    which = np.flatnonzero(chosen)
    part = spread(odd.text.offsets[which], odd.text.lengths[which])
    new[part] = decode(odd.text.take(which))

    foreign = ~chosen & _foreign(odd, counts, rows)
    for script, target in ((CYRILLIC, table.cyrillic), (GREEK, table.greek)):
        better = target[table.number[odd.text.codes]]
        mine = (foreign & odd.any((odd.script == script) & ((odd.near == 0) | (odd.cost >= STRONG))))[odd.word]
        swap = mine & (odd.script != script) & (better > 0) & (odd.script > 0)
        new[swap] = better[swap]
    changed = new != odd.text.codes
    return Changes(at[changed], new[changed], _kinds(odd)[changed])


def _kinds(odd: Odd) -> Ints:
    """What is wrong with each character, if it is."""
    out = np.full(odd.word.size, CONFUSABLE)
    out[np.isin(odd.kind, (STYLED, SUPER, FLAG))] = STYLE
    out[odd.kind == WIDE] = WIDTH
    out[(odd.kind == ORDINARY) | (odd.kind == MARK)] = ACCENT
    out[(odd.kind == LETTER) & (odd.script == LATIN) & (odd.text.codes >= 0xC0)] = ACCENT
    return out


def _foreign(odd: Odd, counts: Counts, rows: Rows) -> Mask:
    """Words of another alphabet in which some letters are plain look-alikes."""
    letters = np.isin(odd.script, (CYRILLIC, GREEK))
    most = 2 * odd.count(letters) >= odd.count(odd.script > 0)
    return most & (counts.scripts > 1) & (rows.own[odd.row].max(1) >= rows.latin[odd.row] / 2)


def _chosen(texts: Ragged, odd: Odd, counts: Counts, rows: Rows) -> Mask:
    """Which words are to be read as plain ones."""
    latin_text = rows.latin[odd.row] >= rows.own[odd.row].max(1)
    plain = form(odd.text)
    number = lexicon().number(plain)
    right = lexicon().known(odd.text) | _loans().has(word_bits(folded(odd.text)))
    foreign = counts.strong + counts.weak
    possible = (counts.hard == 0) & latin_text

    symbol = _symbols()[odd.text.codes]
    science = (odd.count(symbol) == foreign) & (foreign == 1) & ((number < 0) | (counts.length < 4))
    single = (foreign == 1) & (counts.length == 1)
    mixed = possible & (foreign > 0) & ((counts.plain + counts.accents + counts.styled > 0) | (counts.scripts > 1))
    mixed &= counts.strong + (number >= 0) > 0  # a shape that only the learnt space knows needs a word
    alone = possible & (foreign > 0) & ~mixed & ~_among_own(odd, counts) & (counts.weak == 0)
    sure = mixed & ~science & ~_measure(odd, counts)
    alone_sure = alone & ~science & ((number >= 0) | single)

    english, words = _english(texts, odd, number)
    accented = (counts.accents > 0) & (foreign == 0) & ~right & latin_text
    capital = (odd.text.codes[odd.text.offsets[:-1]] | 0x20 != odd.text.codes[odd.text.offsets[:-1]]) & False
    capital = _capital(odd)
    told = accented & (number >= 0) & english & ((words > 2) | (counts.strange > 0))
    lower = told & (~capital | (counts.strange > 0))
    evidence = np.bincount(odd.row, sure | alone_sure | lower, len(texts))[odd.row]
    much = (evidence > 2) & (evidence * 8 > words)

    chosen = sure | alone_sure | (alone | mixed & ~_measure(odd, counts)) & (evidence > 1)
    chosen |= lower & ((number < 20000) | (evidence > 1)) | told & (evidence > 2)
    chosen |= accented & english & much & ((counts.strange > 0) | (counts.accents > 1) | (evidence * 3 > words))
    return chosen | _styled(texts, odd, counts)


def _capital(odd: Odd) -> Mask:
    from ..text.unicode import classes, word_class
    from ..text.unicode_data import UPPER

    first: Mask = word_class(classes(odd.text.codes[odd.text.offsets[:-1]])) == UPPER
    return first


def _measure(odd: Odd, counts: Counts) -> Mask:
    """Numbers with a unit, such as 5μm."""
    return odd.any((odd.text.codes < 58) & (odd.text.codes > 47)) & odd.any(_symbols()[odd.text.codes] | (odd.text.codes == 0xB5))


def _among_own(odd: Odd, counts: Counts) -> Mask:
    """Words beside a word of the same script that only that script can write: Russian in an English text."""
    own = np.zeros(len(odd.text) + 2, np.int64)
    hard = (odd.script > LATIN) & ((odd.near == 0) | (odd.cost >= STRONG))
    own[1:-1][odd.word[hard]] = odd.script[hard]
    mine = np.zeros(len(odd.text), np.int64)
    mine[odd.word[odd.script > LATIN]] = odd.script[odd.script > LATIN]
    row = np.concatenate(([-1], odd.row, [-1]))
    before = (own[:-2] == mine) & (row[:-2] == odd.row)
    after = (own[2:] == mine) & (row[2:] == odd.row)
    return (mine > 0) & (before | after)


def _english(texts: Ragged, odd: Odd, number: Ints) -> tuple[Mask, Ints]:
    """Which odd words stand in an English text, by its frequent words, and how many words their text has."""
    rows = np.unique(odd.row)
    part = texts.take(rows)
    low = part.codes | 0x20
    letter = (low >= 97) & (low <= 122) & (part.codes > 64) | (part.codes == 0x27)
    letter |= _inside()[part.codes]
    opens = letter.copy()
    opens[1:] &= ~letter[:-1]
    edges = part.offsets[:-1][part.lengths > 0]
    opens[edges] = letter[edges]
    start = np.flatnonzero(opens)
    closes = letter.copy()
    closes[:-1] &= ~letter[1:] | opens[1:]
    length = np.flatnonzero(closes) + 1 - start
    words = form(Ragged(part.codes[spread(start, length)], bounds(length)))
    row = rows[np.searchsorted(part.offsets, start, "right") - 1]
    found = lexicon().number(words)
    many = np.bincount(row, minlength=len(texts))
    frequent = np.bincount(row[(found >= 0) & (found < FREQUENT)], minlength=len(texts))
    return (frequent >= ENGLISH * many)[odd.row], many[odd.row]


def _styled(texts: Ragged, odd: Odd, counts: Counts) -> Mask:
    """Words in letters of another style: two or more, one among plain letters, or single ones where the text has such words."""
    super_ = odd.count(odd.kind == SUPER)
    flags = odd.count(odd.kind == FLAG)
    rest = counts.styled - super_ - flags
    word = (rest > 1) | (rest > 0) & (counts.plain + counts.accents > 0)
    raised = (super_ > 1) & (super_ == counts.length) | (super_ > 3)
    return (word | raised) & (counts.hard == 0)
