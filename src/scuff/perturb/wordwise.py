"""Perturbations that rewrite words one by one."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..text import Corpus, Edits, Rng, Spans
from ..text.ragged import Ints, Mask, Ragged
from .base import Perturbation


class WordPerturbation(Perturbation):
    """Rewrites words one by one: subclasses say which can change and how. Only the words chosen are rewritten."""

    @abstractmethod
    def able(self, corpus: Corpus) -> Mask:
        """Which of corpus.words can change."""

    @abstractmethod
    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        """New spellings of these words, and how many letters of each changed. Every one must differ from the old."""

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        which = np.flatnonzero(self.able(corpus))
        turns = [
            self._edits(corpus, which, *self.rewrite(corpus, which, rng.stream(turn) if turn else rng))
            for turn in range(k)
        ]
        return turns[0] if k == 1 else Edits.join(turns).distinct()

    def choose(self, corpus: Corpus, p: float, rng: Rng, selection: str | None, guard: Spans | None) -> Edits:
        if (selection or self.selection) == "edits":  # the choice depends on how many letters each new spelling changes
            return super().choose(corpus, p, rng, selection, guard)
        # The same as choosing among all proposals, because a draw depends on its place and not on the draws before it.
        able = np.flatnonzero(self.able(corpus))
        unwritten = Ragged(np.zeros(able.size, np.uint32), np.arange(able.size + 1))  # stands for the new spelling
        sites = self._edits(corpus, able, unwritten, np.ones_like(able))
        chosen = self.select(corpus, sites, p, rng, selection, guard)
        which = np.searchsorted(corpus.words.start, corpus.offsets[chosen.row] + chosen.start)
        return self._edits(corpus, which, *self.rewrite(corpus, which, rng))

    def _edits(self, corpus: Corpus, which: Ints, text: Ragged, cost: Ints) -> Edits:
        words = corpus.words.where(which)
        row, start = corpus.place(words.row, words.start)
        return Edits(row, start, start + words.stop - words.start, text, start, cost)
