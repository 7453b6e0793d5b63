"""Attacks on letters that take either words, one edit each, or every character of the text by itself."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np

from ..text import Corpus, Edits, Rng, Spans
from ..text.unicode import word_class
from ..text.unicode_data import BLANK
from .wordwise import WordPerturbation


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
        """An edit for every character that can change; its site is the character."""

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
