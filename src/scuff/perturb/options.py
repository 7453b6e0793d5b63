"""Whole words replaced by others: the part that synonyms, contextual words and inflections share."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..text import Corpus, Edits, Ragged, Rng
from ..text.hash import mix, text_bits
from ..text.ragged import Ints, Mask, bounds, sums
from ..text.random import some_of_each
from .wordwise import WordPerturbation

LATELY = 16  # how many sets of texts are remembered: the same ones come once for every degree


@dataclass(frozen=True, eq=False)
class Options:
    """What may stand for each word of some texts: for word i, texts[first[i]:first[i + 1]]."""

    first: Ints
    texts: Ragged

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]]) -> Options:
        count = np.fromiter(map(len, lists), np.int64, len(lists))
        return cls(bounds(count), Ragged.of([text for each in lists for text in each]))

    @property
    def count(self) -> Ints:
        return np.diff(self.first)


_per_corpus: WeakKeyDictionary[Corpus, dict[Any, tuple[Options, Ints]]] = WeakKeyDictionary()
_lately: OrderedDict[tuple[Any, Any, bytes], Options] = OrderedDict()


class Replace(WordPerturbation):
    """Replaces words by options of theirs, each equally likely."""

    @abstractmethod
    def options(self, corpus: Corpus) -> Options:
        """For every one of corpus.words, in order, what may stand there instead: all different, none the word itself, in its
        case. Called with every different text once, so the work is done once however many versions are drawn.
        """

    def stamp(self) -> object:
        """Changes when a file that the options come from does."""
        return None

    def able(self, corpus: Corpus) -> Mask:
        options, entry = self._known(corpus)
        return options.count[entry] > 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        options, entry = self._known(corpus)
        words, mine = corpus.words.where(which), entry[which]
        pick = rng.stream("option").below(options.count[mine], *corpus.place(words.row, words.start))
        new = options.texts.take(options.first[mine] + pick)
        return new, np.maximum(words.stop - words.start, new.lengths)

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        if k == 1:
            return super().propose(corpus, rng)
        options, entry = self._known(corpus)  # k of them, without drawing one twice
        count = options.count[entry]
        row, start = corpus.place(corpus.words.row, corpus.words.start)
        word, option = some_of_each(count, rng.stream("options").bits(row, start), k)
        new = options.texts.take(options.first[entry[word]] + option)
        length, at = (corpus.words.stop - corpus.words.start)[word], start[word]
        return Edits(row[word], at, at + length, new, at, np.maximum(length, new.lengths))

    def _known(self, corpus: Corpus) -> tuple[Options, Ints]:
        """The options of all words of the different texts, and for every word of the corpus which of those it is."""
        mine = _per_corpus.setdefault(corpus, {})
        if self not in mine:
            words = corpus.words
            edges = np.searchsorted(words.row, np.arange(len(corpus) + 1))
            row, start = corpus.place(words.row, words.start)
            where = mix((start << 32 | (words.stop - words.start)).astype(np.uint64))
            bits, first, inverse = np.unique(
                text_bits(corpus) + sums(where, edges), return_index=True, return_inverse=True
            )
            distinct = corpus.take(first)
            key = (self, self.stamp(), bits.tobytes())
            if key not in _lately:
                _lately[key] = self.options(distinct)
            _lately.move_to_end(key)
            while len(_lately) > LATELY:
                _lately.popitem(last=False)
            begin = bounds(np.diff(edges)[first])[:-1]
            mine[self] = _lately[key], begin[inverse[row]] + np.arange(len(words)) - edges[row]
        return mine[self]
