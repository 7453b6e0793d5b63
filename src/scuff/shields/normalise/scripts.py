"""The second half of Normalise: which words of a text are written with characters that stand in for others, and what they say.

Only words that mix scripts, or stand alone among words of another one, are touched: a word of one script among its own kind,
and a word with the accents of a language, is right.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ...text.ragged import Codes, Ints, Mask, Ragged, bounds, rows_of, spread, sums
from ...text.unicode import classes, word_class
from ...text.unicode_data import UPPER
from ..hashes import HashTable, word_bits
from ..language import small_words
from ..lexicon import folded, lexicon
from ..word_parts import APOSTROPHE
from .decoding import decode, without_gaps
from .invisible import ACCENT, CONFUSABLE, GONE, STYLE, WIDTH, Swaps
from .look_alikes import CYRILLIC, FLAG, GREEK, MARK, ORDINARY, POINT, STYLED, SUPER, WIDE, Bytes, look_alikes
from .non_ascii import Odd, Rows, count_rows, find_odd
from .styles import styled
from .traits import ACCENTS, BEYOND, CYRILLICS, DIGIT, ONLY, OTHERS, SOUND, STRESSED, SYMBOLIC, UNUSUAL, Flags

FORMULA = 4  # letters of other styles in a row that may be a formula
A_ONE, A_ONE_OF_MANY = 14.0, 9.0  # bits of the word I from which on it is rather the number 1; in a text with digits
USUAL = 300  # words that are in any text
FEW = 12  # so many Latin letters for each of another script: the script is not that of the text
FREQUENT = 4000  # so many words make most of any English text, and little of others
ENGLISH, ENGLISH_DISGUISED = 0.5, 0.35  # the share of them from which on a text is English
# English words that keep the accents of the language that they came from.
LOANS = (
    "café cafés naïve naïveté naïvely résumé résumés fiancé fiancée cliché clichés clichéd façade façades jalapeño "
    "piñata señor señora señorita soupçon chargé chargés rôle rôles élan élite éclair éclat émigré émigrés entrée "
    "entrées exposé exposés matinée née né passé pâté protégé protégés protégée purée risqué roué sauté sautéed séance "
    "séances soirée soirées touché tête vis-à-vis à la là voilà déjà déjà-vu über doppelgänger angström ångström "
    "smörgåsbord crème brûlée crêpe crêpes fête fêtes château coöperate coöperation zoölogy preëmpt reëlect noël pokémon "
    "décor début débutante détente divorcé divorcée communiqué coup-d'état croûton croûtons hôtel maître mêlée mélange "
    "naïf outré papier-mâché piñatas raison-d'être raisonné retroussé señores société soufflé tapénade tragédienne "
    "vicuña animé appliqué attaché auto-da-fé béchamel bête blasé bric-à-brac cachaça canapé canapés canapé-bar "
    "cause-célèbre consommé coördinate cortège crèche curé dénouement façon flambé glacé gruyère habitué ingénue macramé "
    "manqué métier nouveau piqué pièce précis précised recherché rémoulade sautéing tilde touchée vécu étude études "
    "étagère épée mañana año niño niña él más où été être même für müsli schön größe straße ça là-bas père mère frère "
    "rosé andré josé rené zoë chloë brontë "
)


_WRONG = np.full(256, CONFUSABLE)  # what is wrong with a character of each kind, if it is
_WRONG[[STYLED, SUPER, FLAG]], _WRONG[WIDE], _WRONG[[ORDINARY, MARK]] = STYLE, WIDTH, ACCENT


@cache
def _loans() -> HashTable:
    return HashTable.of(np.unique(word_bits(folded(Ragged.of(sorted(set(LOANS.split())))))))


@cache
def _right_letters() -> Mask:
    """Which characters stand in words that are right."""
    out = lexicon().letters.copy()
    out[folded(Ragged.of([LOANS])).codes] = True
    return out


def mend_scripts(texts: Ragged, kind: Bytes) -> Swaps:
    """What becomes other characters. kind: of each character, by the table of look-alikes."""
    table = look_alikes()
    low = texts.codes | 0x20
    latin = (low >= 97) & (low <= 122) & (texts.codes < 128)
    works = sums(latin | (kind >= WIDE) & (kind <= FLAG), texts.offsets) > 0
    if not works.all():  # texts without a Latin letter are right
        some = np.flatnonzero(works)
        if not some.size:
            return Swaps.of(np.empty(0, np.int64), GONE, 0)
        index = spread(texts.offsets[some], texts.lengths[some])
        found = mend_scripts(Ragged(texts.codes[index], bounds(texts.lengths[some])), kind[index])
        return Swaps(index[found.at], found.new, found.kind)
    odd = find_odd(texts, kind)
    if not len(odd.text):
        return Swaps.of(np.empty(0, np.int64), GONE, 0)
    rows = count_rows(sums(latin, texts.offsets), odd)

    plain, number = readings(odd, (odd.counts.hard == 0) & _latin(odd, rows))
    _count_ones(texts, odd, plain, number)
    digits = disguised_numbers(odd, plain)
    chosen, accents = _chosen(texts, odd, rows, number, digits)
    kept = accents[odd.word] & ((odd.flags & np.uint32(ACCENTS)) > 0)
    new = np.where(chosen[odd.word] & ~kept, plain, odd.text.codes)

    foreign = ~chosen & _foreign(odd, rows)
    alphabets = (CYRILLIC, table.cyrillic, GREEK), (GREEK, table.greek, CYRILLIC)
    for script, target, other in alphabets if foreign.any() else ():
        better = target[table.number[odd.text.codes]]
        only = (odd.flags & np.uint32(ONLY)) > 0  # letters that no other alphabet has
        mine = foreign & odd.any((odd.script == script) & only) & ~odd.any((odd.script == other) & only)
        swap = mine[odd.word] & (odd.script != script) & (better > 0) & (odd.script > 0)
        new[swap] = better[swap]
    changed = new != odd.text.codes
    at = odd.at[changed]
    points = _points(texts, kind, np.bincount(odd.row[odd.word[changed]], minlength=len(texts)), rows)
    at, new = np.concatenate((at, points)), np.concatenate((new[changed], _plain(texts.codes[points])))
    order = np.argsort(at, kind="stable")
    wrong = np.concatenate((_kinds(odd.kind[changed], odd.flags[changed]), np.full(points.size, CONFUSABLE)))
    return Swaps(at[order], new[order], wrong[order])


def _points(texts: Ragged, kind: Bytes, changed: Ints, rows: Rows) -> Ints:
    """Where characters stand in for punctuation: in Latin texts in which letters are disguised too, and that have few letters
    of the script that the character is of, which may be disguises themselves.
    """
    at = np.flatnonzero(kind == POINT)
    if not at.size:
        return at
    row = rows_of(at, texts.offsets)
    latin = rows.latin[row] >= np.maximum(rows.own[row].max(1), 1)
    own = rows.own[row, look_alikes().script[texts.codes[at]]]
    return at[(changed[row] > 0) & latin & (own * FEW <= rows.latin[row])]


def _plain(codes: Codes) -> Codes:
    """The plain character that each looks like most."""
    table = look_alikes()
    return table.near[table.number[codes], 0].astype(np.uint32)


def _latin(odd: Odd, rows: Rows) -> Mask:
    """Words of texts that are Latin for the most part."""
    latin: Mask = (rows.latin >= np.maximum(rows.own.max(1), 1))[odd.row]
    return latin


def readings(odd: Odd, which: Mask) -> tuple[Codes, Ints]:
    """What the characters of some words say, and the number of each word in the lexicon then. Equal words are read once."""
    plain, number = odd.text.codes.copy(), np.full(len(odd.text), -1)
    mine = np.flatnonzero(which)
    words = odd.text.take(mine)
    _, first, same = np.unique(word_bits(words), return_index=True, return_inverse=True)
    once = words.take(first)
    codes, found = decode(once)
    said = Ragged(codes, once.offsets)
    _small_els(said, found)
    plain[spread(odd.text.offsets[mine], words.lengths)] = said.take(same).codes
    number[mine] = found[same]
    return plain, number


def _small_els(words: Ragged, number: Ints) -> None:
    """A plain I behind a small letter becomes l if that makes a word of what is none: swelIed. In place."""
    codes = words.codes
    small = np.append(False, (codes[:-1] >= 97) & (codes[:-1] <= 122))
    small[words.offsets[:-1][words.lengths > 0]] = False
    els = small & (codes == ord("I"))
    some = np.flatnonzero((number < 0) & (sums(els, words.offsets) > 0))
    if some.size:
        index = spread(words.offsets[some], words.lengths[some])
        new = Ragged(np.where(els, ord("l"), codes)[index].astype(np.uint32), bounds(words.lengths[some]))
        found = lexicon().number(without_gaps(new))
        good = np.repeat(found >= 0, new.lengths)
        codes[index[good]] = new.codes[good]
        number[some] = found


def disguised_numbers(odd: Odd, plain: Codes) -> Mask:
    """Words that are numbers, some of whose digits are other characters. plain: what each character says."""
    digit = (plain >= 48) & (plain <= 57)
    if not digit.any():
        return np.zeros(len(odd.text), np.bool_)
    whole: Mask = odd.count(digit) == odd.counts.length
    return whole & odd.any(digit & (odd.text.codes < 58)) & ~odd.counts.have(BEYOND)


def _kinds(kind: Bytes, flags: Flags) -> Ints:
    """What is wrong with characters that are."""
    out = _WRONG[kind]
    out[(flags & np.uint32(SOUND)) > 0] = ACCENT
    return out


def _foreign(odd: Odd, rows: Rows) -> Mask:
    """Words of another alphabet in which some letters are plain look-alikes."""
    mixed: Mask = odd.counts.mixed & (rows.own.max(1) >= rows.latin / 2)[odd.row]
    if not mixed.any():
        return mixed
    letters = (odd.script == CYRILLIC) | (odd.script == GREEK)
    return mixed & (2 * odd.count(letters) >= odd.count(odd.script > 0))


def _chosen(texts: Ragged, odd: Odd, rows: Rows, number: Ints, digits: Mask) -> tuple[Mask, Mask]:
    """Which words are to be read as plain ones, and which of them keep the accents of their language.

    number: in the lexicon, of what each says then. digits: which are numbers, some of whose digits are disguised.
    """
    counts, latin_text = odd.counts, _latin(odd, rows)
    foreign = counts.strong + counts.weak
    possible = (counts.hard == 0) & latin_text
    known, single, capital = number >= 0, counts.length == 1, begin_with_capital(odd)
    asked = (foreign == 0) & latin_text | known & ~capital  # for others it does not matter
    right = right_words(odd, (counts.accents > counts.strange) & ~single & asked)

    rare = ~known | (number >= USUAL)
    science = (counts.symbols == foreign) & (foreign == 1) & (~known | (counts.length < 4) & rare | single)
    science |= counts.have(DIGIT) & counts.have(SYMBOLIC)  # numbers with a unit, such as 5μm
    mixed = possible & (foreign > 0) & ((counts.plain + counts.accents + counts.styled > 0) | counts.mixed)
    # a shape that only the learnt space knows needs a word, or many other disguises in the text
    weak = mixed & ~science
    mixed &= (counts.strong > 0) | known
    alone = possible & (foreign > 0) & ~mixed & ~_among_own(odd)
    own = counts.plain + counts.accents + counts.styled
    spoken = _spoken(texts, odd)
    mixed &= ~spoken
    sure = mixed & ~science & (known | (own >= foreign) | (rows.latin[odd.row] > 2 * own))
    alone_sure = alone & ~science & (counts.weak == 0) & (known | single) & counts.have(UNUSUAL)

    style = styled(odd, rows) & ((number >= 0) | (counts.length > FORMULA))
    heavy = known & (counts.accents > 2) & (2 * counts.accents >= counts.length) & (foreign == 0) & possible
    heavy &= ~right & ~spoken  # no language marks every other letter of an English word
    certain = np.bincount(odd.row, sure | alone_sure | style | heavy, len(texts))
    english, words = _english(texts, odd, number, certain)
    accented = (counts.accents > 0) & (foreign == 0) & ~right & latin_text
    english &= (words > 2) | (counts.strange > 0)
    told = accented & known & (english | (counts.strange > 0) & (number < FREQUENT)) & ~spoken
    latin_alpha = single & (counts.strange > 0) & (number < 2) & english
    lower = told & (~single | latin_alpha) & (~capital | (counts.strange > 0))
    evidence = np.bincount(odd.row, sure | alone_sure | lower | style | heavy, len(texts))[odd.row]
    much = (evidence > 2) & (evidence * 8 > words)

    chosen = sure | alone_sure | style | heavy | (mixed | alone & ((counts.weak == 0) | known)) & (evidence > 1)
    long = (counts.strange > 0) & (counts.length > 5)
    chosen |= lower & ((number < np.where(counts.strange > 0, 5, 1) * FREQUENT) | (evidence > 1) | long)
    chosen |= told & (evidence > 2) | digits & latin_text | weak & much
    chosen |= accented & english & much & ((counts.strange > 0) | (counts.accents > 1) | (evidence * 3 > words))
    chosen |= (counts.styled > 0) & (counts.hard == 0) & (evidence > 1)
    loan = right | _loan(odd, (counts.have(ACCENTS) | (counts.accents > counts.strange)) & known & ~capital)
    common = known & (counts.accents > counts.strange) & ~capital & ~loan & (counts.length > 1) & (mixed | lower)
    abused = np.bincount(odd.row, common, len(texts))[odd.row] > 0
    keeps = (foreign + counts.styled + counts.strange > 0) & ~abused & (capital | ~known | loan)
    return chosen & ~spoken, keeps


def right_words(odd: Odd, which: Mask) -> Mask:
    """Words, of some, that are right with their accents: names and loan words."""
    out = np.zeros(len(odd.text), np.bool_)
    mine = np.flatnonzero(which)
    low = folded(odd.text.take(mine))
    never = sums(~_right_letters()[low.codes], low.offsets) > 0
    never &= sums(low.codes == APOSTROPHE, low.offsets) == 0  # one letter before an apostrophe may be any
    some = np.flatnonzero(~never)
    mine, words = mine[some], low.take(some)
    out[mine] = lexicon().known(words) | _loans().has(word_bits(words))
    return out


def _loan(odd: Odd, which: Mask) -> Mask:
    """Words, of some, that are loan words if their letters of other scripts are read as plain ones, and their accents stay."""
    out, mine = np.zeros(len(odd.text), np.bool_), np.flatnonzero(which)
    words, table = odd.text.take(mine), look_alikes()
    near = _plain(words.codes)
    stays = (words.codes < 128) | (near == 0) | (table.kind[words.codes] == ORDINARY)
    out[mine] = _loans().has(word_bits(folded(Ragged(np.where(stays, words.codes, near), words.offsets))))
    return out


def _count_ones(texts: Ragged, odd: Odd, plain: Codes, number: Ints) -> None:
    """Single characters that look like I become 1, and those that look like O become 0, beside digits; those that look like I
    where no word beside them goes with I, too. In place.
    """
    first = odd.text.offsets[:-1]
    said = np.where(odd.text.lengths == 1, plain[first], 0)
    mine, rounds = np.flatnonzero((said == ord("I")) | (said == ord("l"))), np.flatnonzero((said | 0x20) == ord("o"))
    plain[first[rounds[_beside_digits(texts, odd.row[rounds], odd.start[rounds])]]] = ord("0")
    if not mine.size:
        return
    beside = _beside_digits(texts, odd.row[mine], odd.start[mine])
    found = np.full(len(odd.all) + 2, -1)
    found[odd.which + 1] = number
    row = np.concatenate(([-1], odd.all.row, [-1]))
    place = odd.which[mine] + 1
    one = int(lexicon().number(Ragged.of(["i"]))[0])
    bits = np.zeros(mine.size)
    for other, ahead in ((place - 1, True), (place + 1, False)):
        same = row[other] == odd.row[mine]
        rest = np.flatnonzero(same & (found[other] < 0))
        found[other[rest]] = lexicon().number(odd.all.where(other[rest] - 1).cut(texts))
        near, me = np.where(same, found[other], -1), np.full(mine.size, one)
        if ahead:
            bits += lexicon().pair_cost(near, me)
        else:
            bits += np.where(near < 0, 0, lexicon().pair_cost(me, near) - lexicon().cost[near])
    numbers = sums((texts.codes > 47) & (texts.codes < 58), texts.offsets)[odd.row[mine]] > 0
    plain[first[mine]] = np.where(beside | (bits > np.where(numbers, A_ONE_OF_MANY, A_ONE)), ord("1"), ord("I"))


def _beside_digits(texts: Ragged, row: Ints, start: Ints) -> Mask:
    """Which of some characters stand beside a digit, or have only a dot, a hyphen or the like between."""
    at = np.stack([_codes_at(texts, row, start + step) for step in (-2, -1, 1, 2)])
    digit = (at > 47) & (at < 58)
    close = np.isin(at, [ord(char) for char in ".,:%-/"])
    found: Mask = digit[1] | digit[2] | close[1] & digit[0] | close[2] & digit[3]
    return found


def _codes_at(texts: Ragged, row: Ints, at: Ints) -> Codes:
    """The characters at some places, 0 for those that are outside of their texts."""
    inside = (at >= texts.offsets[row]) & (at < texts.offsets[row + 1])
    return np.where(inside, texts.codes[np.where(inside, at, 0)], np.uint32(0))


def begin_with_capital(odd: Odd) -> Mask:
    """Words that begin with a capital letter."""
    first: Mask = word_class(classes(odd.text.codes[odd.text.offsets[:-1]])) == UPPER
    return first


def _spoken(texts: Ragged, odd: Odd) -> Mask:
    """Words of sounds (IPA): with marks of stress or length, or in slashes or brackets."""
    before, after = (_codes_at(texts, odd.row, at) for at in (odd.start - 1, odd.start + odd.text.lengths))
    closed = np.isin(before, (0x2F, 0x5B)) | np.isin(after, (0x2F, 0x5D))
    counts = odd.counts
    return closed & counts.have(SOUND) & ~counts.have(CYRILLICS) | counts.have(STRESSED)


def _among_own(odd: Odd) -> Mask:
    """Words beside a word of the same script that only that script can write: Russian in an English text."""
    own = np.zeros(len(odd.text) + 2, np.int64)
    hard = np.flatnonzero(odd.flags & np.uint32(ONLY))
    if not hard.size:
        return np.zeros(len(odd.text), np.bool_)
    own[1:-1][odd.word[hard]] = odd.script[hard]
    mine = np.zeros(len(odd.text), np.int64)
    others = np.flatnonzero(odd.flags & np.uint32(OTHERS))
    mine[odd.word[others]] = odd.script[others]
    row = np.concatenate(([-1], odd.row, [-1]))
    before = (own[:-2] == mine) & (row[:-2] == odd.row)
    after = (own[2:] == mine) & (row[2:] == odd.row)
    return (mine > 0) & (before | after)


def _english(texts: Ragged, odd: Odd, number: Ints, sure: Ints) -> tuple[Mask, Ints]:
    """Which odd words stand in an English text, by its frequent words, and how many words their text has.

    sure: how many words of each text are disguised for sure; then other disguises may hide frequent words.
    """
    found = np.full(len(odd.all), -1)
    found[odd.which] = number
    rows = np.zeros(len(texts), np.bool_)
    rows[odd.row] = True
    some, odd_words = np.flatnonzero(rows[odd.all.row]), np.zeros(len(odd.all), np.bool_)
    odd_words[odd.which] = True
    keys = word_bits(folded(odd.all.where(some).cut(texts)))
    plain = np.flatnonzero(~odd_words[some])
    found[some[plain]] = lexicon().table.get(keys[plain])
    many = odd.all.per_row(len(texts))
    frequent = np.bincount(odd.all.row[(found >= 0) & (found < FREQUENT)], minlength=len(texts))
    share = np.where(sure > 1, ENGLISH_DISGUISED, ENGLISH)
    read = np.flatnonzero(number >= 0)  # count as they are, für, and as what they say
    said = lexicon().bits[number[read]]
    ours, others = small_words(np.append(keys, said), np.append(odd.all.row[some], odd.row[read]), len(texts))
    return ((frequent >= share * many) & (ours > np.where(sure > 1, others - 1, others)))[odd.row], many[odd.row]
