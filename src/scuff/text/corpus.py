"""A corpus: all texts as one array of code points, each with a key that its random draws depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .edits import Edits
from .ragged import Bits, Ints, Ragged, bounds, spread
from .random import text_bits
from .unicode import Classes, classes, continues
from .words import Letters, Spans, find_letters, find_words


@dataclass(frozen=True, eq=False)
class Corpus(Ragged):
    """Texts with their keys, words and letters. `apply` returns the edited corpus; nothing else writes text."""

    keys: Bits
    _words: Spans | None = field(default=None, repr=False)  # where tokens were given
    _source: tuple[Corpus, Edits] | None = field(default=None, repr=False)  # what this was made from
    of_lists: bool = False  # the texts are lists of tokens: no edit may cut a token in two or leave it empty

    @classmethod
    def of(cls, texts: Sequence[str], *, ids: Sequence[object] | None = None) -> Corpus:
        """A corpus of texts. A document's key is the hash of its id where ids are given, else of its text, so that random
        draws never depend on its place in the list.
        """
        ragged = Ragged.of(texts)
        if ids is not None and len(ids) != len(texts):
            raise ValueError(f"expected one id per text, got {len(ids)} ids for {len(texts)} texts")
        named = ragged if ids is None else Ragged.of([str(i) for i in ids])
        return cls(ragged.codes, ragged.offsets, text_bits(named))

    @classmethod
    def of_tokens(
        cls, sentences: Sequence[Sequence[str]], *, ids: Sequence[object] | None = None
    ) -> tuple[Corpus, Spans]:
        """A corpus of sentences that are cut into tokens already, and the spans of all tokens. Tokens with a letter or digit
        are the words.
        """
        plain = cls.of([" ".join(tokens) for tokens in sentences], ids=ids)
        count = np.fromiter(map(len, sentences), np.int64, len(sentences))
        length = np.fromiter((len(token) for tokens in sentences for token in tokens), np.int64, int(count.sum()))
        row = np.repeat(np.arange(len(sentences)), count)
        before = bounds(length + 1)[:-1]  # each token is followed by one space, except the last of its sentence
        start = before - row + np.cumsum(count == 0)[row]
        tokens = Spans(row, start, start + length)
        inner = np.unique(
            np.searchsorted(tokens.start, find_words(plain.classes, plain.offsets, plain.tail).start, "right") - 1
        )
        return cls(plain.codes, plain.offsets, plain.keys, tokens.where(inner), None, True), tokens

    @cached_property
    def classes(self) -> Classes:
        """The class of each code point (see text/unicode.py)."""
        return classes(self.codes)

    @cached_property
    def tail(self) -> Ints:
        """Positions that continue the grapheme cluster before them."""
        return continues(self.classes, self.offsets)

    @cached_property
    def words(self) -> Spans:
        """All words. Found on the original text; in edited text they are where the edits carried them, never found again."""
        if self._words is not None:
            return self._words
        if self._source is None:
            return find_words(self.classes, self.offsets, self.tail)
        original, edits = self._source
        words = edits.carry(original.words, original.offsets)
        start = np.maximum(words.start, np.append(0, np.maximum.accumulate(words.stop)[:-1]))
        return Spans(words.row, start, words.stop).where(words.stop > start)  # some may have been deleted

    @cached_property
    def letters(self) -> Letters:
        """The letters of all words."""
        return find_letters(self.codes, self.classes, self.tail, self.words)

    def anew(self) -> Corpus:
        """The same texts, whose words are those that are found in them now, not those that were given or carried by edits."""
        return self if self._words is None and self._source is None else Corpus(self.codes, self.offsets, self.keys)

    def take(self, rows: Ints) -> Corpus:
        """Some documents, in this order, with their keys and words."""
        part = super().take(rows)
        known = None if self._words is None and self._source is None else self.words
        if known is not None:
            edges = np.searchsorted(known.row, np.arange(len(self) + 1))
            count = np.diff(edges)[rows]
            new = np.repeat(np.arange(rows.size), count)
            picked = known.where(spread(edges[:-1][rows], count))
            shift = part.offsets[new] - self.offsets[picked.row]
            known = Spans(new, picked.start + shift, picked.stop + shift)
        return Corpus(part.codes, part.offsets, self.keys[rows], known, None, self.of_lists)

    def place(self, row: Ints, position: Ints) -> tuple[Ints, Ints]:
        """(row, position in the document), as an Rng takes them, of positions that count from the beginning of all codes."""
        return row, position - self.offsets[row]

    def cut(self, spans: Spans) -> Ragged:
        """The texts of some spans."""
        return spans.cut(self)

    def apply(self, edits: Edits) -> Corpus:
        """Make all edits at once. Text outside them is copied as it is; words keep their identity."""
        if not len(edits):
            return self
        edits = edits.in_order()
        new = edits.splice(self)
        return Corpus(new.codes, new.offsets, self.keys, None, (self, edits), self.of_lists)
