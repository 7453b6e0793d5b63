"""Texts that stay because their only letters beyond ASCII are those of ordinary accented words: most text in European languages.

What stands between blanks is judged once and remembered, so that no arrays are made of such texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import compress, filterfalse

import numpy as np

from ...text.language import WORDS
from ...text.ragged import Ints, Ragged, bounds
from ..language import languages_of_small_words
from ..lexicon import lexicon
from .direction import SURE
from .invisible import has_controls
from .look_alikes import LATIN, ORDINARY, SIGN, look_alikes
from .non_ascii import find_odd
from .scripts import begin_with_capital, disguised_numbers, readings, right_words

KEPT, LONG = 1 << 16, 40  # strings between blanks that are remembered, and letters of the longest
SIGNS = ((0xA1, 0xC0), (0x2010, 0x2028), (0x2030, 0x205F))  # ranges in which signs of typography stand
ASCII = "".join(map(chr, range(128)))
# What a string between blanks is: it has a word that is wrong in an English text; one that may be wrong in any text. From the
# third bit on: how many of its words are small English ones without their accents.
IN_ENGLISH, OPEN, SMALL = 1, 2, 4

_seen: dict[str, int] = {}  # what was judged


@cache
def _letters() -> frozenset[str]:
    """Ordinary Latin letters with accents."""
    table = look_alikes()
    return frozenset(map(chr, np.flatnonzero((table.kind == ORDINARY) & (table.script == LATIN)).tolist())) - set(SURE)


@cache
def _allowed() -> frozenset[str]:
    """Characters of strings that are judged: ASCII, ordinary Latin letters with accents, signs that nothing is done with."""
    table, signs = look_alikes(), np.zeros(0x110000, np.bool_)
    for first, last in SIGNS:
        part = slice(first, last)
        signs[part] = ((table.kind[part] == 0) | (table.kind[part] >= SIGN)) & (table.script[part] == 0)
    return _letters() | set(ASCII) | set(map(chr, np.flatnonzero(signs).tolist())) - set(SURE)


@cache
def _words() -> re.Pattern[str]:
    """A word of a text of such letters, as `find_odd` finds them."""
    letters = f"[0-9A-Za-z{''.join(sorted(_letters()))}]+"
    return re.compile(f"{letters}(?:['’]{letters})*")


def stay_with_accents(texts: Sequence[str]) -> list[bool]:
    """Which of some texts beyond ASCII are sure to stay."""
    allowed, known = _allowed(), _seen.get
    out: list[bool] = []
    later: list[tuple[int, list[str]]] = []  # texts with strings that were not judged yet, with all their strings
    new: dict[str, int] = {}
    for at, text in enumerate(texts):
        stays = text.lstrip(ASCII)[0] in allowed
        if stays:
            odd = list(filterfalse(str.isascii, text.split(" ")))
            judged = list(map(known, odd))
            if None in judged:
                some = [part for part, each in zip(odd, judged, strict=True) if each is None]
                stays = all(len(part) <= LONG and allowed.issuperset(part) for part in some)
                if stays:
                    new.update(dict.fromkeys(some, 0))
                    later.append((at, odd))
            elif any(judged):
                stays = _stays(text, [each for each in judged if each])
        out.append(stays)
    if new:
        new.update(zip(new, _judged(list(new)).tolist(), strict=True))
        for at, odd in later:
            out[at] = _stays(texts[at], [new[part] if part in new else _seen[part] for part in odd])
        if len(_seen) < KEPT:
            _seen.update(new)
    if has_controls("".join(compress(texts, out))):
        out = [stays and not has_controls(text) for text, stays in zip(texts, out, strict=True)]
    return out


@cache
def _small_words() -> dict[str, int]:
    """Small words, each with a byte for each language that has it, so that one sum counts those of all; the first is English."""
    small = languages_of_small_words()
    return {
        word: sum(1 << 8 * bit for bit in range(bits.bit_length()) if bits >> bit & 1) for word, bits in small.items()
    }


def _stays(text: str, judged: Sequence[int]) -> bool:
    """Whether a text stays. judged: of all its strings beyond ASCII.

    One with a word that is wrong in an English text stays if it has no more small words of English than of another language.
    """
    all_ = 0
    for each in judged:
        all_ |= each
    if not all_ & IN_ENGLISH or all_ & OPEN:
        return not all_ & OPEN
    words = _words().findall(text.lower().replace("’", "'"))
    if len(words) > 255:
        return False
    counts = sum(filter(None, map(_small_words().get, words))).to_bytes(len(WORDS), "little")
    ours = counts[0] + (sum(each // SMALL for each in judged) if all_ >= SMALL else 0)
    return ours <= max(counts[1:])


def _judged(parts: Sequence[str]) -> Ints:
    """What strings between blanks are in a text that consists of such strings.

    Normalise changes an accented word that is known without its accents and wrong with them, if the text is English or most
    letters of the word are accented, and a number with such letters. Others only follow where there are such words.
    """
    texts = Ragged.of([" ".join(parts)])
    odd = find_odd(texts, look_alikes().kind[texts.codes])
    out = np.zeros(len(parts), np.int64)
    if not len(odd.text):
        return out
    counts = odd.counts
    plain, number = readings(odd, counts.hard == 0)
    wrong = (number >= 0) & ~right_words(odd, (counts.accents > counts.strange) & (counts.length > 1))
    heavy = wrong & (counts.accents > 2) & (2 * counts.accents >= counts.length)
    wrong &= (counts.length > 1) & ~begin_with_capital(odd)
    heavy |= disguised_numbers(odd, plain)
    first = bounds(np.array([len(part) + 1 for part in parts]))
    part = np.searchsorted(first, odd.start, "right") - 1
    out[part[wrong]] = IN_ENGLISH
    out[part[heavy]] |= OPEN
    small, said = languages_of_small_words(), lexicon().words.take(number[number >= 0]).strings()
    np.add.at(out, part[number >= 0], [SMALL * (small.get(word) == 1) for word in said])
    return out
