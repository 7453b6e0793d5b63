"""A tagged sentence as the rules see it, and the segments of it that can hold a whole clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..inflection import lemma
from ..tagger import Token
from .lexicon import can_be, letter, typed, with_days, words, words_of

SPACED = re.compile(
    r"\s(?:,|n't|'(?:s|re|ve|m|ll|d))\s|^[^A-Z]*\s(?:[.!?]+|\.\s+')\s*$"
)  # in text that is cut into tokens
NAMES = ("NNP", "NNPS")  # tags of names
OPEN = ("NN", "NNS", "JJ", "JJR", "JJS", "VBZ", "VB", "VBP", "VBD", "FW")  # tags of words that the dictionary knows
Piece = tuple[int, int] | str  # words of a sentence (start, stop), or new ones


class Rewording(NamedTuple):
    """text[start:stop] may become `new`."""

    start: int
    stop: int
    new: str


# What is true of a whole text is found once, not again for each of its sentences.


@lru_cache(maxsize=16)
def _spaced(text: str) -> bool:
    return SPACED.search(text) is not None


@lru_cache(maxsize=16)
def _curly(text: str) -> bool:
    return "’" in text and "'" not in text


@dataclass(frozen=True, eq=False)
class Sentence:
    """Some words of a text. `shape` has one letter per word (see LETTERS in lexicon.py), `low` the words in lower case."""

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
        """The words in lower case."""
        return [typed(word.text) for word in self.words]

    @cached_property
    def shape(self) -> str:
        """The kinds of the words, one letter each; patterns of the rules are over these."""
        return with_days("".join(map(letter, self.low, (word.tag for word in self.words))), self.low)

    @property
    def spaced(self) -> bool:
        """Whether punctuation and the parts of contractions stand apart in the text."""
        return _spaced(self.text)

    def apostrophes(self, new: str) -> str:
        """New words with the apostrophe that the text has, and with contractions cut where the text has them cut."""
        if self.spaced:
            new = re.sub("(?<=[a-z])(n't|'(?:s|re|ve|m|ll|d))$", r" \1", new)
        return new.replace("'", "’") if _curly(self.text) else new

    def word(self, at: int) -> str:
        """A word in lower case; "" outside the sentence."""
        return self.low[at] if 0 <= at < len(self.low) else ""

    def kind(self, at: int) -> str:
        """The letter of a word; "" outside the sentence."""
        return self.shape[at] if 0 <= at < len(self.shape) else ""

    def lemma(self, at: int) -> str:
        return lemma(self.words[at].text, self.words[at].tag)

    def capital(self, at: int) -> bool:
        return self.words[at].text[0].isupper()

    def more_to(self, at: int) -> bool:
        """Whether one more infinitive with "to" may be beside the one after a word: fails to work and to please."""
        return any(  # by the word: its tag may be that of a preposition
            word == "to" and re.search("[c,:i][r!]*$", self.shape[at:to]) for to, word in enumerate(self.low) if to > at
        )

    def more_verbs(self, at: int) -> bool:
        """Whether one more infinitive, with "to" or without, may be beside the one after a word."""
        return self.more_to(at) or bool(re.search("cr?V", self.shape[at:]))

    def cut(self, start: int, stop: int) -> str:
        """The text of some words."""
        return self.text[self.words[start].start : self.words[stop - 1].stop] if start < stop else ""

    def arrange(self, start: int, stop: int, *pieces: Piece) -> Iterator[Rewording]:
        """Yields the rewording in which words start to stop become these pieces, none if nothing changes.

        A piece is words of the sentence as (start, stop), or new ones; a "," is spaced as the text does it. The first word gets a
        capital if the first one had it, which loses it.
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
        dot = self.text.startswith(".", self.words[stop - 1].stop)  # which may belong to an abbreviation
        if out != self.cut(start, stop) and not (
            dot and (out[-1:] == "." or self.low[stop - 1] in words("abbreviations"))
        ):
            yield Rewording(self.words[start].start, self.words[stop - 1].stop, out)

    def _inner(self, at: int) -> str:
        """The first word as it is written inside a sentence: names and "I" keep their capital."""
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


ENDS = (".", "!", ";", "!!", "!!!", "")  # what a segment must end with


@lru_cache(maxsize=8)  # all rules get one sentence before the next
def segments(s: Sentence) -> tuple[tuple[int, int], ...]:
    """Stretches that may be whole clauses, not questions, nor parts that go on after a quote, bracket or dash."""
    found = []
    for match in re.finditer(r'[^":.(]+', s.shape):
        start, stop = match.span()
        before = s.kind(start - 1)
        opens = before in ("", ".") or (before == ":" and (s.low[start - 1] != "-" or not s.spaced))
        cut = s.spaced and s.word(stop) == "..." and stop == len(s.words) - 1  # as reviews end
        whole = opens and (cut or s.word(stop) in ENDS) and _apart(s, start, stop)
        for at in range(start + 1, stop - 1):
            if _begins(s, at):  # what stands before it is a headline without a mark at its end
                start = at
        if whole and not loud(s, start, stop) and not any(_odd(s, at) for at in range(start + 1, stop)):
            found.append((start, stop))
    return tuple(found)


def loud(s: Sentence, start: int, stop: int) -> bool:
    """Whether most words have capitals, as in headlines."""
    texts = [word.text for word in s.words[start:stop] if word.text[0].isalpha()]
    return sum(text[0].isupper() for text in texts) * 5 > len(texts) * 3


def starts(s: Sentence, at: int) -> bool:
    """Whether a sentence surely begins here, and not a headline that runs on into it."""
    return s.words[at].start > 0 or not s.capital(at) or s.words[at].tag in ("PRP", "DT", "PRP$")


def _apart(s: Sentence, start: int, stop: int) -> bool:
    """Whether no mark around these words belongs to an abbreviation, and the text was not cut off after them."""
    at = s.words[start].start
    before, mark = s.text[max(at - 1, 0) : at], s.word(stop)
    after = s.text[s.words[stop].stop : s.words[stop].stop + 1] if mark else ""
    if before.strip() or (after.strip() and after not in "\"'”’)"):
        return False
    if not mark and s.words[0].sentence and not s.spaced:
        return False
    marks = [at for at in (start - 1, stop) if s.word(at) == "." and at > 0]
    if any(len(s.low[at - 1]) == 1 and s.low[at - 1].isalpha() for at in marks):  # an initial
        return False
    again = s.words[0].start > 0 and s.kind(start - 1) in ("", ".")
    return s.spaced or not (again and s.words[start].text[0].islower())


def _begins(s: Sentence, at: int) -> bool:
    """Whether a sentence seems to begin here although no mark stands before it."""
    word, after = s.words[at].text, s.words[at + 1].text
    return word[0].isupper() and s.low[at] in words("starters") and not word[1:].isupper() and after[0].islower()


def _odd(s: Sentence, at: int) -> bool:
    """Whether a word has a capital without reason: a headline may end here, or a title begin."""
    text, tag = s.words[at].text, s.words[at].tag
    if text.isupper() and len(text) > 2:
        return len(text) > 5 or can_be(text, "NN")
    common = tag not in NAMES and not text.isupper() and (tag not in OPEN or can_be(text, tag))
    return text[0].isupper() and common
