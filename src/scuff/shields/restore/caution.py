"""Caution: which repairs of `restore` are not made, whatever speaks for them.

A text in another language is not read as English, names stay, far-fetched repairs need a text that was tampered with, and a
word that offends is written only where it stood in disguise, or where errors that explain it stand in a tampered or coarse text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from ...resources import load
from ...text.corpus import Corpus
from ...text.ragged import Ints, Mask, Ragged, spread, sums
from ...text.unicode import case_map
from ..hashes import HashTable, word_bits
from ..language import Reading, accented, is_slang
from ..lexicon import folded, lexicon
from ..other_languages import languages_of
from ..trigrams import letter_bits
from .candidates import MISSPELT, MIXED, SOUND, TYPO, Candidates, candidates
from .keys import Spelt
from .page import MASKS, Page

ERROR, FARTHEST = 1.0, -39.0  # bits of an error, besides its channel; one beyond this is a guess
FEW = 0.15  # the share of unknown words below which a text is English
SHORT, FREQUENT, USUAL = 4, 13.0, 16.5  # words of a short text; bits of words that a lone error is of
# the share, and number, of wrong words of a text that was tampered with; a name counts less
TAMPERED, SEVERAL, NAME = 0.04, 1.9, 0.34
GUESS, FULL = -25.0, 0.1  # log2 P of errors that are guesses, and the share of wrong words from which on they are made
SLIP = -14.0  # log2 P of one error that is not far-fetched
LIKELY = -8.0  # log2 P of an error that explains a word well
COMMON, FAMILIAR = 16.0, 9.0  # bits of a word that a lone small word may stand for, and a short one of another language
# bits of a lone small word, for each letter and besides, below which it is hardly right by chance
PER_LETTER, WHOLE = 3.0, 9.0
CLEAR = 3.0  # bits by which a word must be likelier than the next
SOUNDED, HEARD = 6, -11.0  # letters of a word that is spelt by its sound, and log2 P of that
CAPITAL = 0.5  # how often a word has a capital that a name with one slip may be
SHAME = 4.0  # bits against words that offend
FORMS = ("s", "es", "d", "ed", "ing", "er", "ers")  # regular endings of words
HIDDEN, HIDING = (
    re.compile(r"([*#$%])\1"),
    re.compile(r"[*#$%]+"),
)  # letters behind several equal symbols, and behind any
ABBREVIATION, LONG = 5, 8  # letters of what may be an abbreviation, and of words that are not mixed up


@dataclass(frozen=True, eq=False)
class Changes:
    """What a tier would change: units of a page, each with a word of the lexicon, the channel and the kind of error."""

    page: Page
    unit: Ints
    word: Ints
    channel: npt.NDArray[np.float32]
    kind: Ints

    def where(self, chosen: Mask | Ints) -> Changes:
        return Changes(self.page, self.unit[chosen], self.word[chosen], self.channel[chosen], self.kind[chosen])

    def and_also(self, other: Changes) -> Changes:
        """Both, in the order of units."""
        names = ("unit", "word", "channel", "kind")
        both = Changes(self.page, *(np.append(getattr(self, name), getattr(other, name)) for name in names))
        return both.where(np.argsort(both.unit, kind="stable"))

    @property
    def row(self) -> Ints:
        return self.page.units.row[self.unit]


def allowed(changes: Changes) -> Mask:
    """Which changes are made."""
    if not changes.unit.size:
        return np.zeros(0, np.bool_)
    page, unit = changes.page, changes.unit
    rows, part = np.unique(changes.row, return_inverse=True)
    first = np.searchsorted(page.units.row, rows)
    some = spread(first, page.total[rows])  # all units of the texts in question
    place = np.searchsorted(some, unit)
    texts = page.corpus.cut(page.units.where(some))
    keys = word_bits(folded(texts))
    tongues = languages_of(keys)
    accents = accented(texts)
    title = _titles(page, some, texts)
    foreign = _reading(changes, some, texts, title).foreign()[place]
    near, listed = _near(changes), changes.kind == MISSPELT
    unknown = page.unknown[unit]
    name = title[place] & ~(page.starts[unit] & (changes.channel >= SLIP))
    wrong = np.bincount(part, unknown * np.where(name, NAME, 1.0) * (near | (tongues[place] == 0)), rows.size)
    small = np.bincount(part, unknown & ~title[place], rows.size) > 0  # names alone are no sign of tampering
    tampered = ((wrong >= SEVERAL) & (wrong >= TAMPERED * page.total[rows]) & small)[part]
    guess = (changes.channel < GUESS) & ((changes.kind == TYPO) | (changes.kind == MIXED))
    tampered &= ~guess | (wrong >= FULL * page.total[rows])[part]
    cost = lexicon().cost[changes.word]
    length = texts.lengths[place]
    sure = near & ((cost < USUAL) | (length >= LONG))
    plain = ~title[place] & (length > 2) & (cost < COMMON) & (cost - changes.channel < PER_LETTER * length + WHOLE)
    masked = _masked(texts.take(place))
    alone = listed | masked | np.where(unknown, sure | plain, True)
    short = unknown & (length <= 3) & (cost <= FAMILIAR) | ~unknown  # ar for are says little of a language
    other = (tongues[place] > 0) & (title[place] | ~short)
    alone &= ~accents[place] & (~other | listed) & ~is_slang(keys[place])
    shown = lexicon().capital[changes.word] > CAPITAL
    alone &= ~(title[place] & ~page.starts[unit]) | listed | (sure & shown & ~masked & (cost < USUAL)) | ~unknown
    alone &= ~(_loud(texts.take(place)) & unknown & (length <= ABBREVIATION)) | listed
    alone &= ~(_inner(texts.take(place)) & unknown)
    alone &= listed | ~_form(texts.take(place), changes.word)
    few = page.total[rows] <= SHORT
    strange = np.bincount(part, unknown, rows.size)
    likely = np.bincount(part, changes.channel >= LIKELY, rows.size)
    lost = (few & (strange >= page.total[rows]) & ((likely < page.total[rows]) | (likely < 3)))[part]
    clear = listed | (near & ((cost < FREQUENT) | (length >= LONG)))
    clear |= sure & ~title[place] & (length > SHORT) & (page.total[rows] == 1)[part]  # one small word
    made: Mask = ~foreign & (tampered | alone) & (~lost | clear | masked)
    made &= ~_initials(texts.take(place))
    made &= _fits(texts.take(place), changes.word)
    bad = np.flatnonzero(made & offensive()[changes.word])
    if bad.size:
        number = page.number[some]
        coarse = (
            np.bincount(np.searchsorted(rows, page.units.row[some]), (number >= 0) & offensive()[number], rows.size) > 0
        )
        fair = np.where(unknown, tampered | coarse[part], tampered & coarse[part])
        made[bad] = fair[bad] | disguises(texts.take(place[bad]), changes.word[bad])
    return made


def _reading(changes: Changes, some: Ints, texts: Ragged, title: Mask) -> Reading:
    """Some units of a page, with the words that they would become."""
    page = changes.page
    error = np.full(len(page.units), np.inf)
    bits = ERROR - changes.channel + lexicon().cost[changes.word]
    error[changes.unit] = np.where(changes.channel > FARTHEST, bits, np.inf)
    letters = -letter_bits(Spelt.of(folded(texts)))
    row, starts, number, unknown = page.units.row[some], page.starts[some], page.number[some], page.unknown[some]
    return Reading(texts, row, starts, number, unknown, title, letters, error[some])


def foreign_texts(corpus: Corpus) -> Mask:
    """Which texts are in another language, if every unknown word became the likeliest word of the lexicon."""
    out = np.zeros(len(corpus), np.bool_)
    page = Page.of(corpus)
    strange = np.bincount(page.units.row[page.unknown], minlength=len(corpus))
    rows = np.flatnonzero((strange > 0) & (strange >= FEW * page.total))
    if not rows.size:
        return out
    if rows.size < len(corpus):
        out[rows] = foreign_texts(corpus.take(rows))
        return out
    units = np.flatnonzero(page.unknown & ~page.fixed)
    kinds, which = np.unique(page.kind[units], return_inverse=True)
    found = candidates(page.distinct.take(kinds))
    score = found.channel - lexicon().cost[found.word]
    best = np.full(kinds.size, -1)
    order = np.lexsort((found.word, -score, found.of))
    first = order[np.flatnonzero(np.diff(found.of[order], prepend=-1))]
    best[found.of[first]] = first
    pick = best[which]
    units, pick = units[pick >= 0], pick[pick >= 0]
    changes = Changes(page, units, found.word[pick], found.channel[pick], found.kind[pick])
    every = np.arange(len(page.units))
    texts = corpus.cut(page.units)
    foreign = _reading(changes, every, texts, _titles(page, every, texts)).foreign()
    out = 2 * np.bincount(page.units.row[foreign], minlength=len(corpus)) > page.total
    return out & (page.total > 1)


def clear_slips(page: Page, units: Ints) -> Changes:
    """Changes of units whose error needs no context: a listed one, or one slip in a long word, with a single word behind it."""
    kinds, which = np.unique(page.kind[units], return_inverse=True)
    noisy = page.distinct.take(kinds)
    found = decent(candidates(noisy, near=True), noisy)
    score = found.channel - lexicon().cost[found.word]
    order = np.lexsort((found.word, -score, found.of))
    first = np.flatnonzero(np.diff(found.of[order], prepend=-1))
    behind = np.append(score[order], -np.inf)[first + 1]
    last = np.append(found.of[order], -1)[first + 1] != found.of[order][first]
    best = order[first]
    clear = last | (score[best] - behind >= CLEAR)
    long = (noisy.lengths[found.of[best]] >= LONG) & (found.kind[best] == TYPO) & (found.channel[best] >= SLIP)
    best = best[clear & (long | (found.kind[best] == MISSPELT))]
    pick = np.full(kinds.size, -1)
    pick[found.of[best]] = best
    mine = np.flatnonzero(pick[which] >= 0)
    pick = pick[which[mine]]
    return Changes(page, units[mine], found.word[pick], found.channel[pick], found.kind[pick])


# ---- names, abbreviations, far-fetched errors ----


def _titles(page: Page, some: Ints, texts: Ragged) -> Mask:
    """Which units have a capital at their begin only, unless the text has them on plain words as well, as headlines have."""
    big = texts.codes != case_map(upper=False)[texts.codes]
    first = big[texts.offsets[:-1]]
    found: Mask = first & (sums(big, texts.offsets) == 1)
    row, number = page.units.row[some], page.number[some]
    plain = (number >= 0) & (lexicon().capital[number] < CAPITAL) & ~page.starts[some]
    many = np.bincount(row, plain, len(page.corpus))
    capital = np.bincount(row, plain & first, len(page.corpus))
    return found & (2 * capital <= many)[row]


def _loud(texts: Ragged) -> Mask:
    return sums(texts.codes != case_map(upper=True)[texts.codes], texts.offsets) == 0


def _inner(texts: Ragged) -> Mask:
    """Which texts have several capitals, but small letters as well: RStudio."""
    big = texts.codes != case_map(upper=False)[texts.codes]
    return (sums(big, texts.offsets) > 1) & ~_loud(texts)


def _masked(texts: Ragged) -> Mask:
    """Which texts hide letters behind symbols: st*pid."""
    return sums((texts.codes < 128) & MASKS[np.minimum(texts.codes, 127)], texts.offsets) > 0


def _initials(texts: Ragged) -> Mask:
    """M*A*S*H"""
    many = sums((texts.codes < 128) & MASKS[np.minimum(texts.codes, 127)], texts.offsets)
    return (many > 1) & (2 * many + 1 == texts.lengths) & _loud(texts)


def _fits(texts: Ragged, words: Ints) -> Mask:
    """Which words may stand behind a mask of several equal symbols: those with the letters that are seen, half of them at least.

    f**k is not `full`, and p***y may be anything. One symbol alone may have come in, or stand for a letter that is wrong as well.
    """
    out = np.ones(len(texts), np.bool_)
    some = np.flatnonzero(_masked(texts))
    both = zip(folded(texts.take(some)).strings(), lexicon().words.take(words[some]).strings(), strict=True)
    for at, (old, new) in zip(some.tolist(), both, strict=True):
        if HIDDEN.search(old):
            seen = [re.escape(part) for part in HIDING.split(old)]
            letters = sum(map(str.isalpha, old))
            out[at] = 2 * letters >= len(old) and re.fullmatch("[a-z]*".join(seen), new) is not None
    return out


def _form(texts: Ragged, words: Ints) -> Mask:
    """Which texts are regular forms of the rare words that they would become; all those of frequent words are known."""
    out = lexicon().cost[words] >= USUAL
    some = np.flatnonzero(out)
    both = zip(folded(texts.take(some)).strings(), lexicon().words.take(words[some]).strings(), strict=True)
    out[some] = [old.startswith(new) and old[len(new) :] in FORMS for old, new in both]
    return out


def _near(changes: Changes) -> Mask:
    """Which changes undo one error that is not far-fetched."""
    one = (changes.kind == TYPO) & (changes.channel >= SLIP) | (changes.kind == MISSPELT)
    units = changes.page.units
    long = (units.stop - units.start)[changes.unit] >= SOUNDED
    heard = (changes.kind == SOUND) & np.where(long, changes.channel >= HEARD, lexicon().cost[changes.word] < FREQUENT)
    return one | heard


# ---- words that offend ----


@cache
def offensive() -> Mask:
    """Which words of the lexicon offend. Only hashes of them are listed."""
    keys = np.frombuffer(load("offensive.bin"), "<u8").astype(np.uint64)
    return HashTable.of(keys).has(word_bits(lexicon().words))


def decent(found: Candidates, noisy: Ragged) -> Candidates:
    """The candidates with words that offend made less likely, but for those that a noisy word disguises, and without guesses
    at them; without those that a mask of symbols does not hide.
    """
    found = found.where(_fits(noisy.take(found.of), found.word))
    bad = np.flatnonzero(offensive()[found.word])
    if not bad.size:
        return found
    bad = bad[~disguises(noisy.take(found.of[bad]), found.word[bad])]
    channel = found.channel.copy()
    channel[bad] -= SHAME
    kept = np.ones(len(found), np.bool_)
    kept[bad] = channel[bad] >= GUESS
    return replace(found, channel=channel).where(kept)


def disguises(noisy: Ragged, words: Ints) -> Mask:
    """Which strings are words of the lexicon in disguise."""
    written, meant = folded(noisy).strings(), lexicon().words.take(words).strings()
    return np.array([disguised(old, new) for old, new in zip(written, meant, strict=True)], np.bool_)


def disguised(old: str, new: str) -> bool:
    """Whether `old` is `new` with letters behind symbols, with its inner letters mixed, without its vowels, or with one slip
    inside: no end cut off.
    """
    if len(new) > 4 and old[:1] == new[:1] and old[-1:] == new[-1:] and sorted(old) == sorted(new):
        return True
    if len(old) > 2 and old == new[0] + "".join(letter for letter in new[1:] if letter not in "aeiou"):
        return True
    if len(old) == len(new):
        hidden = [a != b and not a.isalpha() for a, b in zip(old, new, strict=True)]
        wrong = [at for at, (a, b) in enumerate(zip(old, new, strict=True)) if a != b and not hidden[at]]
        if any(hidden):
            return not wrong and 2 * sum(hidden) <= len(new)
        swapped = (
            len(wrong) == 2
            and wrong[1] == wrong[0] + 1
            and old[wrong[0]] + old[wrong[1]] == new[wrong[1]] + new[wrong[0]]
        )
        return len(new) > 4 and wrong[:1] != [0] and (len(wrong) == 1 or swapped)
    longer, shorter = (old, new) if len(old) > len(new) else (new, old)
    if len(longer) != len(shorter) + 1 or len(new) < 5:
        return False
    gaps = [at for at in range(1, len(longer) - 1) if longer[:at] + longer[at + 1 :] == shorter]
    return bool(gaps) and (longer == old or all(longer[at] not in "aeiou" for at in gaps))
