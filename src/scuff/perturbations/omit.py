"""Omit: words left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Ragged
from ..text.random import Rng
from ..text.unicode import word_class
from ..text.unicode_data import BLANK
from ..text.words import Spans
from .base import Facts, Perturbation
from .clitics import whole_words

LINE_ENDS = np.array([ord(char) for char in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"], np.uint32)


@dataclass(frozen=True)
class Omit(Perturbation):
    """Leave out whole words, each with the blanks before it, or, at the beginning of a line or without any, those after it.

    Line ends and punctuation stay, except what belongs to a word: the clitics of `it 's` and `do n't`, the apostrophe of `'em`
    and of `the dogs' bowl`. One word of every text, drawn at random, stays as well. `keep_one=False` is for a search,
    which decides itself how many words go: any of them may, so no two share a blank, and the first of a line leaves the blanks
    after it.
    """

    keep_one: bool = True

    name: ClassVar[str] = "omit"
    facts: ClassVar[Facts] = Facts(
        summary="leave out words",
        paper="after Feng et al. 2018 (input reduction)",
        example="Adversarial are harmless.",
        level="word",
        tags=("general",),
        scripts="scripts that put spaces between words",
        keeps_tokens=False,
    )

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        words = self.units(corpus)
        before, after = _blanks_around(corpus, words)
        follows = before > corpus.offsets[words.row]  # something stands before the blanks, and on the same line:
        follows[follows] = ~np.isin(corpus.codes[before[follows] - 1], LINE_ENDS)
        follows &= before < words.start
        row, start = corpus.place(words.row, np.where(follows, before, words.start))
        stop = np.where(follows | (not self.keep_one), words.stop, after) - corpus.offsets[row]
        site = words.start - corpus.offsets[row]
        edits = Edits(row, start, stop, Ragged.blank(len(words)), site, stop - start)
        if not self.keep_one:
            return edits
        count = words.per_row(len(corpus))
        some = np.flatnonzero(count)
        kept = rng.stream("kept").below(count[some], some, np.zeros_like(some))
        goes = np.ones(len(words), np.bool_)
        goes[np.searchsorted(words.row, some) + kept] = False
        return edits.where(goes)

    def units(self, corpus: Corpus) -> Spans:
        """Words with their clitics and apostrophes."""
        return whole_words(corpus)


def _blanks_around(corpus: Corpus, words: Spans) -> tuple[Ints, Ints]:
    """Where the blanks before each word begin, and where those after it end; a blank that carries a combining mark is none."""
    blank = word_class(corpus.classes) == BLANK
    blank[corpus.tail] = blank[corpus.tail - 1] = False
    solid = np.flatnonzero(~blank)
    at, behind = np.searchsorted(solid, words.start), np.searchsorted(solid, words.stop)
    before = np.maximum(np.append(solid, -1)[at - 1] + 1, corpus.offsets[words.row])
    return before, np.minimum(np.append(solid, corpus.codes.size)[behind], corpus.offsets[words.row + 1])
