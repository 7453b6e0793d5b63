"""Texts that stay because their only letters beyond ASCII are those of ordinary accented words: most text in European languages.

What stands between blanks is judged once and remembered, so that no arrays are made of such texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ...text.ragged import Mask, Ragged, bounds
from .direction import SURE
from .invisible import has_controls
from .look_alikes import LATIN, ORDINARY, SIGN, look_alikes
from .non_ascii import find_odd
from .scripts import begin_with_capital, disguised_numbers, readings, right_words

KEPT, LONG = 1 << 16, 40  # strings between blanks that are remembered, and letters of the longest
SIGNS = ((0xA1, 0xC0), (0x2010, 0x2028), (0x2030, 0x205F))  # ranges in which signs of typography stand
ASCII = "".join(map(chr, range(128)))

_seen: dict[str, bool] = {}  # what was judged: whether it is right wherever it stands


@cache
def _allowed() -> frozenset[str]:
    """Characters of strings that are judged: ASCII, ordinary Latin letters with accents, signs that nothing is done with."""
    table = look_alikes()
    good = (table.kind == ORDINARY) & (table.script == LATIN)
    for first, last in SIGNS:
        part = slice(first, last)
        good[part] |= ((table.kind[part] == 0) | (table.kind[part] >= SIGN)) & (table.script[part] == 0)
    good[:128] = True
    return frozenset(map(chr, np.flatnonzero(good).tolist())) - set(SURE)


def stay_with_accents(texts: Sequence[str]) -> list[bool]:
    """Which of some texts beyond ASCII are sure to stay."""
    allowed, known = _allowed(), _seen.get
    out: list[bool] = []
    open_: list[tuple[int, list[str]]] = []  # texts that are judged below, with what is new in them
    for text in texts:
        stays = text.lstrip(ASCII)[0] in allowed
        new: list[str] = []
        for part in text.split(" ") if stays else ():
            if part.isascii():
                continue
            judged = known(part)
            if judged is None and len(part) <= LONG and allowed.issuperset(part):
                new.append(part)
            elif not judged:
                stays = False
                break
        if stays and not text.isprintable():
            stays = not has_controls(text)
        if stays and new:
            open_.append((len(out), new))
        out.append(stays)
    if open_:
        every = list(dict.fromkeys(part for _, new in open_ for part in new))
        found = dict(zip(every, _judged(every).tolist(), strict=True))
        for at, new in open_:
            out[at] = all(found[part] for part in new)
        if len(_seen) < KEPT:
            _seen.update(found)
    return out


def _judged(parts: Sequence[str]) -> Mask:
    """Which strings between blanks have no word that Normalise may change in a text that consists of such strings.

    It changes an accented word that is known without its accents and wrong with them, if the text is English or most letters of
    the word are accented, and a number with such letters. Others only follow where there are such words.
    """
    texts = Ragged.of([" ".join(parts)])
    odd = find_odd(texts, look_alikes().kind[texts.codes])
    out = np.ones(len(parts), np.bool_)
    if not len(odd.text):
        return out
    counts = odd.counts
    plain, number = readings(odd, counts.hard == 0)
    wrong = (number >= 0) & ~right_words(odd, (counts.accents > counts.strange) & (counts.length > 1))
    heavy = (counts.accents > 2) & (2 * counts.accents >= counts.length)
    wrong &= heavy | ((counts.length > 1) & ~begin_with_capital(odd))
    wrong |= disguised_numbers(odd, plain)
    first = bounds(np.array([len(part) + 1 for part in parts]))
    out[np.searchsorted(first, odd.start[wrong], "right") - 1] = False
    return out
