"""A sentence as the rules see it: words with tags, one letter per word to match patterns on, and how its text is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ...language.inflect import lemma
from ...language.tagger import Token
from .letters import letter, with_days
from .lexicon import can_be, words
from .tags import typed, words_of

SPACED = re.compile(r"\s(?:,|n't|'(?:s|re|ve|m|ll|d))\s|^[^A-Z]*\s\.\s*$")  # cut into tokens, as treebanks are
NAMES = ("NNP", "NNPS")
OPEN = ("NN", "NNS", "JJ", "JJR", "JJS", "VBZ", "VB", "VBP", "VBD", "FW")
Piece = tuple[int, int] | str


class Rewording(NamedTuple):
    """text[start:stop] may become `new`."""

    start: int
    stop: int
    new: str


@dataclass(frozen=True, eq=False)
class Sentence:
    """Some words of a text. `shape` has one letter per word (see letters.py), `low` the words in lower case."""

    text: str
    words: tuple[Token, ...]

    @classmethod
    def all_of(cls, text: str, tokens: list[Token]) -> Iterator[Sentence]:
        """The sentences of a text."""
        edges = [0, *(at for at, (a, b) in enumerate(pairwise(tokens), 1) if a.sentence != b.sentence), len(tokens)]
        for a, b in pairwise(edges):
            if a < b:
                yield cls(text, words_of(text, tokens[a:b]))

    @cached_property
    def low(self) -> list[str]:
        return [typed(word.text) for word in self.words]

    @cached_property
    def shape(self) -> str:
        return with_days("".join(map(letter, self.low, (word.tag for word in self.words))), self.low)

    @cached_property
    def spaced(self) -> bool:
        """Whether punctuation and the parts of contractions stand apart."""
        return SPACED.search(self.text) is not None

    def apostrophes(self, new: str) -> str:
        """New words with the apostrophe that the text has, and with contractions cut where the text has them cut."""
        if self.spaced:
            new = re.sub("(?<=[a-z])(n't|'(?:s|re|ve|m|ll|d))$", r" \1", new)
        return new.replace("'", "’") if "’" in self.text and "'" not in self.text else new

    def word(self, at: int) -> str:
        """In lower case; nothing outside the sentence."""
        return self.low[at] if 0 <= at < len(self.low) else ""

    def kind(self, at: int) -> str:
        """The letter of a word; nothing outside the sentence."""
        return self.shape[at] if 0 <= at < len(self.shape) else ""

    def lemma(self, at: int) -> str:
        return lemma(self.words[at].text, self.words[at].tag)

    def capital(self, at: int) -> bool:
        return self.words[at].text[0].isupper()

    def cut(self, start: int, stop: int) -> str:
        """The text of some words."""
        return self.text[self.words[start].start : self.words[stop - 1].stop] if start < stop else ""

    def arrange(self, start: int, stop: int, *pieces: Piece) -> Iterator[Rewording]:
        """Words start to stop become these pieces: words of the sentence as (start, stop), or new ones; "," spaced as it is here.

        The first word has a capital if it had one before, the one that was first loses it. Nothing where nothing changes.
        """
        first = self.words[start].text
        begins = start == 0 or self.shape[start - 1] in '".:(' or self.low[start] in words("starters")
        opens, out = begins and self.capital(start), ""
        for piece in pieces:
            new = piece if isinstance(piece, str) else self.cut(*piece)
            if opens and not isinstance(piece, str) and piece[0] == start < piece[1]:
                new = self._inner(start) + new[len(first) :]
            if new:
                out += new if not out or (new[0] == "," and not self.spaced) else " " + new
        out = out[:1].upper() + out[1:] if opens else out
        dot = self.text[self.words[stop - 1].stop :][:1] == "."  # it may be an abbreviation's
        if out != self.cut(start, stop) and not (
            dot and (out[-1:] == "." or self.low[stop - 1] in words("abbreviations"))
        ):
            yield Rewording(self.words[start].start, self.words[stop - 1].stop, out)

    def _inner(self, at: int) -> str:
        """A sentence's first word as it is written when it is no longer the first: names and "I" keep their capital."""
        word, low = self.words[at], self.low[at]
        text, tag = word.text, word.tag
        if low in words("starters") | words("quantities"):
            return text.lower()
        if tag in NAMES or text == "I" or any(map(str.isupper, text[1:])):
            return text
        named = at + 1 < len(self.words) and self.capital(at + 1) and (tag != "JJ" or low in words("name adjectives"))
        if tag in OPEN and (named or not can_be(text, tag)):
            return text  # part of a name, or no dictionary has it in lower case
        return text[:1].lower() + text[1:]
