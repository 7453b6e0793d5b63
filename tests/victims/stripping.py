"""A small shield for the tests: it deletes some characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from scuff.shields import Corpus, Repairs, Shield
from scuff.text.edits import Edits
from scuff.text.ragged import Ragged
from scuff.text.words import Spans


@dataclass(frozen=True)
class Strip(Shield):
    """Deletes every occurrence of these characters, by default zero-width spaces."""

    what: str = "\u200b"

    kinds: ClassVar[tuple[str, ...]] = ("stripped",)

    def mend(self, corpus: Corpus) -> Repairs:
        at = np.flatnonzero(np.isin(corpus.codes, [ord(letter) for letter in self.what]))
        row = np.searchsorted(corpus.offsets, at, "right") - 1
        edits = Edits.of(corpus, Spans(row, at, at + 1), Ragged.of([""] * at.size))
        return Repairs.of(edits, np.zeros(at.size, np.int64), self.kinds)


FILE = __file__  # for specs: f"{FILE}:Strip"
