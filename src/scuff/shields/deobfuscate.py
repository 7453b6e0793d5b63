"""Deobfuscate: what people write to keep a word from being recognised, and words that run together, are undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ragged, bounds
from ..text.words import Spans
from .base import Repairs, Shield, mended
from .symbols import find_symbols


@dataclass(frozen=True)
class Deobfuscate(Shield):
    """Takes symbols and spaces out of words."""

    name: ClassVar[str] = "deobfuscate"
    summary: ClassVar[str] = "symbols and spaces inside words, leet, stretched letters, glued words"
    kinds: ClassVar[tuple[str, ...]] = ("symbols", "leet", "spaced", "stretched", "doubled-space", "glued")

    def mend(self, corpus: Corpus) -> Repairs:
        changes = find_symbols(corpus)
        text = Ragged(changes.new[changes.new > 0], bounds((changes.new > 0).astype(np.int64)))
        edits = Edits.of(corpus, Spans(changes.row, changes.at, changes.at + 1), text)
        return Repairs.of(edits, changes.read.astype(np.int64), self.kinds)
