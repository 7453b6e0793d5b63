"""Deobfuscate: what people write to keep a word from being recognised, and words that run together, are undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Ragged, bounds
from ..text.words import Spans
from .base import Repairs, Shield, mended
from .glued import find_glued
from .spacing import find_doubled, find_spaced
from .symbols import find_symbols

KINDS = ("symbols", "leet", "spaced", "stretched", "doubled-space", "glued")
SYMBOLS, LEET, SPACED, STRETCHED, DOUBLED, GLUED = range(len(KINDS))


@dataclass(frozen=True)
class Deobfuscate(Shield):
    """Takes symbols and spaces out of words."""

    name: ClassVar[str] = "deobfuscate"
    summary: ClassVar[str] = "symbols and spaces inside words, leet, stretched letters, glued words"
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def mend(self, corpus: Corpus) -> Repairs:
        changes = find_symbols(corpus)
        text = Ragged(changes.new[changes.new > 0], bounds((changes.new > 0).astype(np.int64)))
        edits = Edits.of(corpus, Spans(changes.row, changes.at, changes.at + 1), text)
        done = Repairs.of(edits, changes.read.astype(np.int64), KINDS)
        now = mended(corpus, done)
        row, at, sure = find_spaced(now, changes.sure)
        blanks, wide = Spans(row, at, at + 1), find_doubled(now)
        found = Repairs.of(Edits.join([_gone(now, blanks), _gone(now, wide)]), np.repeat([SPACED, DOUBLED], [len(blanks), len(wide)]), KINDS)
        done, now = _then(done, found, corpus), mended(now, found)
        row, at = find_glued(now)
        gaps = Spans(row, at, at)
        found = Repairs.of(Edits.of(now, gaps, _blanks(len(gaps))), np.full(len(gaps), GLUED), KINDS)
        return _then(done, found, corpus)


def _blanks(count: int) -> Ragged:
    return Ragged(np.full(count, ord(" "), np.uint32), np.arange(count + 1))


def _gone(corpus: Corpus, spans: Spans) -> Edits:
    return Edits.of(corpus, spans, Ragged.blank(len(spans)))


def _then(done: Repairs, found: Repairs, corpus: Corpus) -> Repairs:
    """Both, one after the other."""
    if not len(done) or not len(found):
        return found if len(found) else done
    return done.then(found, corpus)
