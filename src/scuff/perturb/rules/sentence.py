"""A sentence as the rules see it: words with tags, one letter per word to match patterns on, and how its text is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ...language.tagger import Token
from .words import can_be, letter, typed, words_of

SPACED = re.compile(r"\s(?:,|n't|'(?:s|re|ve|m|ll|d))\s|^[^A-Z]*\s\.\s*$")  # cut into tokens, as treebanks are
STARTERS = frozenset(
    "the a an this these that those he she it they we his her its their our in on at after as if when with there for".split()
)
NAMES = ("NNP", "NNPS")
OPEN = ("NN", "NNS", "JJ", "JJR", "JJS", "VBZ", "VB", "VBP", "VBD", "FW")


class Rewording(NamedTuple):
    """text[start:stop] may become `new`."""

    start: int
    stop: int
    new: str


@dataclass(frozen=True, eq=False)
class Sentence:
    """`shape` has one letter per word (see words.py), so that rules are patterns over it."""

    text: str
    words: tuple[Token, ...]

    @classmethod
    def all_of(cls, text: str, tokens: list[Token]) -> Iterator[Sentence]:
        edges = [0, *(at for at, (a, b) in enumerate(pairwise(tokens), 1) if a.sentence != b.sentence), len(tokens)]
        for a, b in pairwise(edges):
            if a < b:
                yield cls(text, words_of(text, tokens[a:b]))

    @cached_property
    def low(self) -> list[str]:
        return [typed(word.text) for word in self.words]

    @cached_property
    def shape(self) -> str:
        return "".join(map(letter, self.low, (word.tag for word in self.words)))

    @cached_property
    def spaced(self) -> bool:
        return SPACED.search(self.text) is not None

    @cached_property
    def loud(self) -> bool:
        """Written in capitals for the most part, as headlines are."""
        words = [word.text for word in self.words if word.text[0].isalpha()]
        return sum(word[0].isupper() for word in words) * 2 > len(words)

    @cached_property
    def segments(self) -> list[tuple[int, int]]:
        """Stretches that may be whole clauses: between marks that sentences begin after and end before. Questions are not."""
        found, shape = [], self.shape + "."
        for match in re.finditer(r'[^":.(]+', shape):
            start, stop = match.span()
            mark = self.low[stop] if stop < len(self.low) else "."
            whole = (not start or shape[start - 1] in ".:") and shape[stop] in ".:" and "?" not in mark and mark[:2] != ".."
            for at in range(start + 1, stop - 1):
                if self._begins(at):  # what is before it is a headline without a mark at its end
                    start = at
            if whole:
                found.append((start, stop))
        return found

    def _begins(self, at: int) -> bool:
        word, after = self.words[at].text, self.words[at + 1].text
        return word[0].isupper() and self.low[at] in STARTERS and not word[1:].isupper() and after[0].islower()

    def cut(self, start: int, stop: int) -> str:
        return self.text[self.words[start].start : self.words[stop - 1].stop] if start < stop else ""

    def arrange(self, start: int, stop: int, *pieces: tuple[int, int] | str) -> Iterator[Rewording]:
        """Words start to stop become these pieces: words of the sentence as (start, stop), or new ones; "," spaced as it is here.

        Yields nothing where that changes nothing.
        """
        first = self.words[start].text
        opens = start == 0 or self.shape[start - 1] in '".:(' or any(start == a for a, _ in self.segments)
        opens &= first[0].isupper()
        out = ""
        for piece in pieces:
            if isinstance(piece, str):
                new = piece
            else:
                new = self.cut(*piece)
                if opens and piece[0] == start < piece[1]:
                    new = mid_sentence(self.words[start]) + new[len(first) :]
            if new:
                out += new if not out or (new == "," and not self.spaced) else " " + new
        if opens:
            out = out[:1].upper() + out[1:]
        if out != self.cut(start, stop):
            yield Rewording(self.words[start].start, self.words[stop - 1].stop, out)


def mid_sentence(word: Token) -> str:
    """A sentence's first word as it is written when it is no longer the first: names and "I" keep their capital."""
    text = word.text
    if word.tag in NAMES or text == "I" or any(map(str.isupper, text[1:])):
        return text
    if word.tag in OPEN and not can_be(text, word.tag):  # no dictionary has it in lower case
        return text
    return text[:1].lower() + text[1:]
