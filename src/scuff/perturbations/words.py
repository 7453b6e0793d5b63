"""Perturbations of single words: which words and letters change, letters replaced from a table."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Codes, Ints, Mask, Ragged, bounds, run_lengths, spread, sums
from ..text.random import Rng
from ..text.unicode import word_class
from ..text.unicode_data import BLANK
from ..text.words import Letters, Spans
from .base import Facts, Perturbation


class WordPerturbation(Perturbation):
    """Rewrites words one by one: a subclass says which can change and how. Only the words chosen are rewritten."""

    facts: ClassVar[Facts] = Facts()

    @abstractmethod
    def able(self, corpus: Corpus) -> Mask:
        """Which of corpus.words can change."""

    @abstractmethod
    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        """New spellings of these words, and how many letters of each changed. Every one must differ from the old."""

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        which = self._able(corpus)
        turns = [self._rewritten(corpus, which, rng.stream(turn) if turn else rng) for turn in range(k)]
        return turns[0] if k == 1 else Edits.join(turns).distinct()

    def choose(self, corpus: Corpus, p: float, rng: Rng, selection: str | None, guard: Spans | None) -> Edits:
        if (selection or self.selection) == "edits":  # the choice depends on how many letters each new spelling changes
            return super().choose(corpus, p, rng, selection, guard)
        # The same as choosing among all proposals, because a draw depends on its place and not on the draws before it.
        able = self._able(corpus)
        unwritten = Ragged(np.zeros(able.size, np.uint32), np.arange(able.size + 1))  # in place of the new spelling
        if corpus.of_lists:  # a token may hold blanks, which its new spelling keeps
            unwritten = corpus.cut(corpus.words.where(able))
        sites = self._edits(corpus, able, unwritten, np.ones_like(able))
        chosen = self.select(corpus, sites, p, rng, selection, guard)
        which = np.searchsorted(corpus.words.start, corpus.offsets[chosen.row] + chosen.start)
        return self._rewritten(corpus, which, rng)

    def _able(self, corpus: Corpus) -> Ints:
        """The numbers of the words that can change. Raises ValueError if `able` is no mask of all words."""
        mask = np.asarray(self.able(corpus))
        if mask.dtype != np.bool_ or mask.shape != (len(corpus.words),):
            got = f"{mask.dtype} of shape {mask.shape}"
            raise ValueError(f"expected a mask of {len(corpus.words)} words from {self.spec}.able, got {got}")
        return np.flatnonzero(mask)

    def _rewritten(self, corpus: Corpus, which: Ints, rng: Rng) -> Edits:
        """Raises ValueError if `rewrite` does not give a spelling and a cost for each word."""
        text, cost = self.rewrite(corpus, which, rng)
        if len(text) != which.size or np.shape(cost) != (which.size,):
            got = f"{len(text)} and {np.shape(cost)}"
            raise ValueError(f"expected {which.size} spellings and costs from {self.spec}.rewrite, got {got}")
        return self._edits(corpus, which, text, cost)

    def _edits(self, corpus: Corpus, which: Ints, text: Ragged, cost: Ints) -> Edits:
        return Edits.of(corpus, corpus.words.where(which), text, cost)


class Rated(WordPerturbation):
    """Changes each letter of a word with probability phi: at least one of them or, with `at_least_one=False`, maybe none."""

    phi: float | None
    at_least_one: bool = True  # a field where it is an option

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.at_least_one and self.phi == 0:
            raise ValueError(f"expected phi above 0 for {self.name}.at_least_one=False, got 0: nothing would change")

    def at(self, p: float) -> Perturbation:
        """With the strength as phi. A search works at strength 0, and gets one letter a word in any case."""
        if p or self.at_least_one or self.phi is not None:
            return super().at(p)
        changes: dict[str, Any] = {"phi": 0.0, "at_least_one": True}
        return replace(self, **changes)

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        edits = super().propose(corpus, rng, k=k)
        return edits if self.at_least_one else edits.real(corpus)

    def choose(self, corpus: Corpus, p: float, rng: Rng, selection: str | None, guard: Spans | None) -> Edits:
        chosen = super().choose(corpus, p, rng, selection, guard)
        return chosen if self.at_least_one else chosen.real(corpus)


class Scoped(WordPerturbation):
    """`scope="words"` rewrites words, as many as the strength says; `scope="text"` takes each character with that chance."""

    scope: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scope not in ("text", "words"):
            raise ValueError(f"expected text, words for {self.name}.scope, got {self.scope!r}")
        words = self.scope == "words"
        object.__setattr__(self, "selection", "quota" if words else "each")
        object.__setattr__(self, "facts", replace(self.facts, unit="words" if words else "characters"))

    @abstractmethod
    def strike(self, corpus: Corpus, rng: Rng) -> Edits:
        """Proposes an edit for every character that can change; its site is the character."""

    def units(self, corpus: Corpus) -> Spans:
        if self.scope == "words":
            return super().units(corpus)
        at = np.flatnonzero(word_class(corpus.classes) != BLANK)
        return Spans(np.searchsorted(corpus.offsets, at, "right") - 1, at, at + 1)

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        if self.scope == "words":
            return super().propose(corpus, rng, k=k)
        turns = [self.strike(corpus, rng.stream(turn) if turn else rng) for turn in range(k)]
        return turns[0] if k == 1 else Edits.join(turns).distinct()

    def choose(self, corpus: Corpus, p: float, rng: Rng, selection: str | None, guard: Spans | None) -> Edits:
        if self.scope == "words":
            return super().choose(corpus, p, rng, selection, guard)
        return self.select(corpus, self.propose(corpus, rng), p, rng, selection, guard)


# ---- letters of words: which change, left out, inserted, replaced from a table ----


def at_least_one(corpus: Corpus, row: Ints, word: Ints, position: Ints, phi: float | None, rng: Rng) -> Mask:
    """Hits each position with probability phi, given that each word is hit at all.

    `row` and `word` name the document and the word of each position; words stand in groups. Exact and without trial and
    error: the place of a word's first hit is drawn from the truncated geometric distribution, the positions after it
    are independent. phi = 0 or None is the limit: exactly one, anywhere.
    """
    count = run_lengths(word)
    begin = bounds(count)[:-1]
    draw = rng.stream("first").uniform(*corpus.place(row[begin], position[begin]))
    if not phi:
        first = (draw * count).astype(np.int64)
    elif phi >= 1:
        first = np.zeros_like(count)
    else:
        miss = np.log1p(-phi)
        first = np.floor(np.log1p(draw * np.expm1(count * miss)) / miss).astype(np.int64)
    first = begin + np.minimum(first, count - 1)
    hit = rng.stream("more").uniform(*corpus.place(row, position)) < (phi or 0)
    hit &= np.arange(word.size) > np.repeat(first, count)
    hit[first] = True
    return hit


def without(corpus: Corpus, letters: Letters, dropped: Mask) -> tuple[Ragged, Ints]:
    """Words without some of their letters, and how many were dropped from each."""
    kept = np.flatnonzero(~dropped)
    length = letters.stop[kept] - letters.start[kept]
    size = sums(length, np.append(0, np.cumsum(~dropped))[letters.first])
    return Ragged(corpus.codes[spread(letters.start[kept], length)], bounds(size)), sums(dropped, letters.first)


def each_alone(corpus: Corpus, row: Ints, position: Ints, phi: float | None, rng: Rng) -> Mask:
    """Hits each position with probability phi, whatever happens to the others: a word may get none. `row`: their documents."""
    return rng.stream("more").uniform(*corpus.place(row, position)) < (phi or 0)


def gaps_hit(corpus: Corpus, letters: Letters, words: Spans, phi: float | None, rng: Rng, *, sure: bool = True) -> Ints:
    """The letters of some words in front of which something is to be inserted; never the first of a word. sure: one at least."""
    gap = np.ones(letters.start.size, np.bool_)
    gap[letters.first[:-1]] = False
    gaps = np.flatnonzero(gap)
    word = letters.word[gaps]
    row, at = words.row[word], letters.start[gaps]
    return gaps[at_least_one(corpus, row, word, at, phi, rng) if sure else each_alone(corpus, row, at, phi, rng)]


def inserted(corpus: Corpus, letters: Letters, hit: Ints, symbols: Codes, pick: Ints) -> tuple[Ragged, Ints]:
    """Words with symbols[pick] in front of the letters `hit`, and how many each word got."""
    # pieces of the new words: letters, and in front of some of them a symbol, appended to the codes of the corpus
    start = np.insert(letters.start, hit, corpus.codes.size + pick)
    length = np.insert(letters.stop - letters.start, hit, 1)
    added = np.bincount(letters.word[hit], minlength=letters.first.size - 1)
    size = sums(letters.stop - letters.start, letters.first) + added
    return Ragged(np.concatenate((corpus.codes, symbols))[spread(start, length)], bounds(size)), added


class Choices:
    """For each code point a number (0: none), and for each number the code points that may stand for it."""

    def __init__(self, options: dict[int, str] | tuple[Ints, Ragged]) -> None:
        if isinstance(options, tuple):
            self.number, self.near = options
        else:
            self.number = np.zeros(max(options) + 2, np.int64)
            self.number[list(options)] = np.arange(1, len(options) + 1)
            self.near = Ragged.of(["", *options.values()])

    def of(self, codes: Codes) -> Ints:
        """The number of each code point."""
        return self.number[np.minimum(codes, self.number.size - 1)]


class Substitute(Rated):
    """Replaces each letter of a word that has choices with probability phi."""

    @abstractmethod
    def choices(self) -> Choices:
        """The table of what may stand for each letter."""

    def draw(self, choices: Choices, number: Ints, row: Ints, place: Ints, rng: Rng) -> Codes:
        """Draws one of the choices for each number, each equally likely."""
        pick = rng.stream("key").below(choices.near.lengths[number], row, place)
        return choices.near.codes[choices.near.offsets[number] + pick]

    def _numbers(self, letters: Letters) -> Ints:
        """The number of each letter in the table; 0 for a letter with a combining mark, which the table does not mean."""
        return np.where(letters.stop - letters.start > 1, 0, self.choices().of(letters.codes[letters.start]))

    def able(self, corpus: Corpus) -> Mask:
        letters = corpus.letters
        return sums(self._numbers(letters) > 0, letters.first) > 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        number = self._numbers(letters)
        open_to = np.flatnonzero(number)
        word = letters.word[open_to]
        row, at = words.row[word], letters.start[open_to]
        if self.at_least_one:
            hit = open_to[at_least_one(corpus, row, word, at, self.phi, rng)]
        else:
            hit = open_to[each_alone(corpus, row, at, self.phi, rng)]
        word, at = letters.word[hit], letters.start[hit]
        text = corpus.cut(words)
        new = self.draw(self.choices(), number[hit], *corpus.place(words.row[word], at), rng)
        text.codes[text.offsets[word] + at - words.start[word]] = new
        return text, np.bincount(word, minlength=which.size)
