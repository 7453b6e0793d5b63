"""Segment: words run together."""

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


def blank_gaps(corpus: Corpus) -> Spans:
    """The stretches between two neighbouring words of a line that hold nothing but blanks."""
    words = corpus.words
    solid = np.append(0, np.cumsum(word_class(corpus.classes) != BLANK))
    start, stop = words.stop[:-1], words.start[1:]
    blank = (words.row[:-1] == words.row[1:]) & (solid[start] == solid[stop]) & (start < stop)
    return Spans(words.row[:-1], start, stop).where(blank)


@dataclass(frozen=True)
class Segment(Perturbation):
    """Delete the blanks between words: two words are joined with probability phi, a third with phi^2, and so on.

    That chain is the papers' (`selection="chain"`, the default here); where it ends the next word starts a new one. phi is
    the strength unless given. The published code joins with the same probability throughout: `selection="each"`. `quota`
    and `coin` join a share of all gaps. Words are joined across blanks only, never across punctuation or line ends.
    """

    phi: float | None = None

    name: ClassVar[str] = "segment"
    selection: ClassVar[str] = "chain"
    facts: ClassVar[Facts] = Facts(
        summary="run words together",
        paper="Zéroe 3.2; thesis 3.3.1; after Goldwater et al. 2009",
        example="Adversarial attacksare harmless.",
        level="word",
        scripts="scripts that put spaces between words",
        unit="gaps",
        keeps_tokens=False,
    )

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        gaps = blank_gaps(corpus)
        return Edits.of(corpus, gaps, Ragged.blank(len(gaps)))

    def units(self, corpus: Corpus) -> Spans:
        return blank_gaps(corpus)

    def pick(self, corpus: Corpus, edits: Edits, p: float, rng: Rng, selection: str, total: Ints) -> Edits:
        if selection != "chain":
            return super().pick(corpus, edits, p, rng, selection, total)
        phi = (p if self.phi is None else self.phi) if p else 0.0  # strength 0 changes nothing, whatever phi is
        if phi >= 1 or not len(edits):
            return edits
        # A gap with the draw u is joined if the chain is at most c gaps long, c the largest with u < phi^c; at 0 it never is.
        draw = rng.stream("chain").uniform(edits.row, edits.site)
        with np.errstate(divide="ignore"):
            reach = np.ceil(np.log(draw) / np.log(phi)) - 1 if phi > 0 else np.zeros(len(edits))
        word = np.searchsorted(corpus.words.start, corpus.offsets[edits.row] + edits.stop)  # the word after each gap
        opens = np.append(True, np.diff(word) != 1) | np.append(True, reach[:-1] < 1)
        joined = np.zeros(len(edits), np.bool_)
        gap = np.flatnonzero(opens & (reach >= 1))
        chain = np.ones(gap.size)  # the length of the chain at each gap; all runs of gaps are followed in lock step
        while gap.size:
            goes_on = reach[gap] >= chain
            joined[gap[goes_on]] = True
            chain = np.where(goes_on, chain + 1, 1)  # after a break the next word starts a new chain
            gap = gap + 1
            left = ~np.append(opens, True)[gap]
            gap, chain = gap[left], chain[left]
        return edits.where(joined)
