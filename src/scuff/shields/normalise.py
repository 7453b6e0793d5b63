"""Normalise: characters that stand in for others become those others again, and those that nobody sees go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ragged
from .base import Repairs, Shield
from .look_alikes import look_alikes
from .scripts import mend_scripts
from .unseen import KINDS, Changes, mend_unseen


@dataclass(frozen=True)
class Normalise(Shield):
    """Mends look-alikes of other scripts, invisible and direction characters, piled-up marks, letters of other styles and widths,
    blanks that are none, and accents that no language put there.

    Text of one script stays, as do the accents of real words, joiners that emoji and scripts need, and typographic signs. Plain
    ASCII is never changed.
    """

    name: ClassVar[str] = "normalise"
    summary: ClassVar[str] = "look-alikes, invisible characters and styled letters back to plain text"
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def mend(self, corpus: Corpus) -> Repairs:
        at = np.flatnonzero((corpus.codes > 126) | (corpus.codes < 9))
        low = np.flatnonzero((corpus.codes < 32) & (corpus.codes > 13))
        at = at if not low.size else np.sort(np.concatenate((at, low)))
        work = np.zeros(17, np.bool_)
        work[1:15] = True
        at = at[work[look_alikes().kind[corpus.codes[at]]]]
        if not at.size:
            return Repairs.none(self.kinds)
        rows = np.unique(np.searchsorted(corpus.offsets, at, "right") - 1)
        part = Ragged.take(corpus, rows)
        first = _repairs(part, mend_unseen(part, look_alikes().kind[part.codes]))
        between = first.edits.splice(part) if len(first) else part
        second = _repairs(between, mend_scripts(between, look_alikes().kind[between.codes]))
        done = first.then(second, part) if len(first) and len(second) else first if len(first) else second
        edits = done.edits
        home = Edits(rows[edits.row], edits.start, edits.stop, edits.text, edits.site, edits.cost)
        return Repairs(home, done.kind, self.kinds)


def _repairs(texts: Ragged, changes: Changes) -> Repairs:
    """Changes of single characters as repairs."""
    row = np.searchsorted(texts.offsets, changes.at, "right") - 1
    start = changes.at - texts.offsets[row]
    kept = changes.new > 0
    text = Ragged(changes.new[kept], np.append(0, np.cumsum(kept)))
    edits = Edits(row, start, start + 1, text, start, np.ones_like(row))
    return Repairs(edits, np.uint64(1) << changes.kind.astype(np.uint64), KINDS)
