"""Other spellings of a word: from a table where it is listed, from learnt rules where it is not."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ..text import Corpus, Edits, Ragged, Rng
from ..text.distance import edit_distance
from ..text.ragged import Ints, Mask
from .channel import Channel
from .lookup import Spellings
from .wordwise import WordPerturbation


class Respell(WordPerturbation):
    """What `natural` and `phonetic` share. `listed=True` leaves words alone that the table does not have."""

    listed: bool
    shortest: ClassVar[int] = 2  # the fewest letters of a word that the rules may change

    @abstractmethod
    def table(self) -> Spellings | None:
        """Spellings of whole words, if there are any."""

    @abstractmethod
    def channel(self) -> Channel:
        """Rules for all other words."""

    def able(self, corpus: Corpus) -> Mask:
        table = self.table()
        able = np.zeros(len(corpus.words), np.bool_) if table is None else table.find(corpus.cut(corpus.words))[0] >= 0
        if not self.listed:
            able |= (corpus.letters.count >= self.shortest) & self.channel().able(corpus.letters)
        return able

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        table = self.table()
        if table is None:
            return self.channel().change(corpus, which, rng)
        entry, folded = table.find(corpus.cut(corpus.words.where(which)))
        found = entry >= 0
        parts = [
            self.channel().change(corpus, which[~found], rng),
            table.respell(corpus, which[found], entry[found], folded[found], rng),
        ]
        text = Ragged.join([text for text, _ in parts])
        order = np.argsort(np.concatenate((np.flatnonzero(~found), np.flatnonzero(found))))
        return text.take(order), np.concatenate([cost for _, cost in parts])[order]

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        """With exact costs. Rewriting gives bounds, which take no time where only words are counted."""
        edits = super().propose(corpus, rng, k=k)
        old = corpus.cut(edits.spans(corpus.offsets))
        return replace(edits, cost=edit_distance(old, edits.text, bound=edits.cost))
