"""Normalise: characters that stand in for others become those others again, and those that nobody sees go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import ClassVar

import numpy as np

from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Ints, Mask, Ragged, bounds, rows_of
from ..base import Repairs, Shield
from .accented import stay_with_accents
from .direction import mend_order
from .invisible import EXPANDED, KINDS, LIGATURES, Swaps, has_controls, mend_unseen
from .look_alikes import POINT, look_alikes
from .scripts import mend_scripts

ESCAPE = 0x1B
BLOCK = 1 << 17  # characters at a time, so that arrays stay in the processor's cache


@dataclass(frozen=True)
class Normalise(Shield):
    """Mends look-alikes of other scripts, invisible and direction characters, piled-up marks, letters of other styles and widths,
    blanks that are none, and accents that no language put there.

    Text of one script stays, as do the accents of real words, joiners that emoji and scripts need, and typographic signs.
    Printable ASCII stays, but for a character that a backspace behind it takes back.
    """

    name: ClassVar[str] = "normalise"
    summary: ClassVar[str] = "look-alikes, invisible characters and styled letters back to plain text"
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def leaves(self, text: str) -> bool:
        return not self.in_doubt([text])

    def in_doubt(self, texts: Sequence[str]) -> list[int]:
        """All but plain ASCII without control characters, and texts of ordinary words with accents."""
        try:
            plain = list(map(str.isascii, texts))
        except TypeError:  # no text, which is told later
            return list(range(len(texts)))
        found: list[int] = []
        if has_controls("".join(compress(texts, plain))):
            found = [at for at, text in enumerate(texts) if plain[at] and has_controls(text)]
        beyond = [at for at, ascii_ in enumerate(plain) if not ascii_]
        stay = stay_with_accents([texts[at] for at in beyond])
        return sorted(found + [at for at, stays in zip(beyond, stay, strict=True) if not stays])

    def mend(self, corpus: Corpus) -> Repairs:
        at = np.flatnonzero((corpus.codes > 126) | (corpus.codes < 9))
        low = np.flatnonzero((corpus.codes < 32) & (corpus.codes > 13))
        at = at if not low.size else np.sort(np.concatenate((at, low)))
        work = np.zeros(17, np.bool_)
        work[1:15] = work[POINT] = True
        at = at[work[look_alikes().kind[corpus.codes[at]]]]
        if not at.size:
            return Repairs.none(self.kinds)
        rows = np.flatnonzero(np.diff(np.searchsorted(at, corpus.offsets)))
        block = np.cumsum(corpus.lengths[rows]) // BLOCK
        edges = np.flatnonzero(np.diff(block, prepend=-1, append=-1))
        found = [_mended(corpus, rows[first:last]) for first, last in pairwise(edges.tolist())]
        return Repairs.join(found)


def _mended(corpus: Corpus, rows: Ints) -> Repairs:
    """The repairs of some texts."""
    part = Ragged.take(corpus, rows)
    done = Repairs.none(KINDS)
    now = part
    for step in (_ordered, _seen, _read):
        found = step(now)
        if len(found):
            done = done.then(found, part)
            now = found.edits.splice(now)
    return done.of_rows(rows)


def _ordered(texts: Ragged) -> Repairs:
    edits, kind = mend_order(texts)
    return Repairs(edits, np.uint64(1) << kind.astype(np.uint64), KINDS)


def _seen(texts: Ragged) -> Repairs:
    kind = look_alikes().kind[texts.codes]
    kind[:-1][(texts.codes[:-1] == ESCAPE) & (texts.codes[1:] == ord("["))] = 0  # colours of a terminal stay whole
    return _repairs(texts, mend_unseen(texts, kind))


def _read(texts: Ragged) -> Repairs:
    kind = look_alikes().kind[texts.codes]
    kind[_in_formulas(texts)] = 0
    return _repairs(texts, mend_scripts(texts, kind))


def _in_formulas(texts: Ragged) -> Mask:
    """Which characters are signs of mathematics or currencies that stand at no word: ∀x, x∈A, ₩500."""
    codes = texts.codes
    sign = (codes >= 0x2200) & (codes < 0x2300) | (codes >= 0x20A0) & (codes < 0x20D0)
    at = np.flatnonzero(sign)
    if at.size:
        row = rows_of(at, texts.offsets)
        low = np.concatenate((np.zeros(2, np.uint32), codes | 0x20, np.zeros(2, np.uint32)))
        letter = (low >= ord("a")) & (low <= ord("z"))
        ahead = letter[at + 3] & letter[at + 4] & (at + 2 < texts.offsets[row + 1])
        behind = letter[at + 1] & letter[at] & (at - 2 >= texts.offsets[row])
        sign[at] = ~(ahead | behind)
    return sign


def _repairs(texts: Ragged, changes: Swaps) -> Repairs:
    """Swaps of single characters as repairs."""
    row = rows_of(changes.at, texts.offsets)
    start = changes.at - texts.offsets[row]
    length = (changes.new > 0).astype(np.int64)
    codes = changes.new[changes.new > 0]
    if (codes >= EXPANDED).any():
        wide = np.flatnonzero(changes.new >= EXPANDED)
        pieces = [[code] for code in changes.new.tolist()]
        for at in wide.tolist():
            pieces[at] = [ord(char) for char in LIGATURES[pieces[at][0] - EXPANDED]]
            length[at] = len(pieces[at])
        codes = np.array([code for piece in pieces for code in piece if code], np.uint32)
    edits = Edits(row, start, start + 1, Ragged(codes, bounds(length)), start, np.maximum(length, 1))
    return Repairs(edits, np.uint64(1) << changes.kind.astype(np.uint64), KINDS)
