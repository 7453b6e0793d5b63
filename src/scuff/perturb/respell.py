"""Other spellings of a word: from a table where it is listed, from learnt rules where it is not."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from ..text import Corpus, Ragged, Rng
from ..text.ragged import Ints, Mask, bounds
from .base import WordPerturbation
from .channel import Channel
from .lookup import Spellings


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

    def _in_table(self, corpus: Corpus) -> Mask:
        table = self.table()
        return np.zeros(len(corpus.words), np.bool_) if table is None else table.find(corpus.cut(corpus.words))[0] >= 0

    def able(self, corpus: Corpus) -> Mask:
        found = self._in_table(corpus)
        return (
            found
            if self.listed
            else found | (self.channel().able(corpus.letters) & (corpus.letters.count >= self.shortest))
        )

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        table, found = self.table(), self._in_table(corpus)[which]
        parts = [self.channel().change(corpus, which[~found], rng)]
        if table is not None and found.any():
            parts.append(table.respell(corpus, which[found], rng))
        text = Ragged(
            np.concatenate([text.codes for text, _ in parts]),
            bounds(np.concatenate([text.lengths for text, _ in parts])),
        )
        order = np.argsort(np.concatenate((np.flatnonzero(~found), np.flatnonzero(found))))
        return text.take(order), np.concatenate([cost for _, cost in parts])[order]
