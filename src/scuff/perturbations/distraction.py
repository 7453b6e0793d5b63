"""Distraction: irrelevant additions at the end of a text, after RobTest and StressTest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from ..resources import load
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Mask, Ragged, sums
from ..text.random import Rng
from ..text.unicode import case_map
from ..text.words import Spans
from .base import Facts, Perturbation

# ---- how texts end ----


def _table(characters: str) -> Mask:
    """A look-up table that is true for these characters; its last entry stands for all code points from there on."""
    table = np.zeros(0xFFFF, np.bool_)
    table[[ord(c) for c in characters]] = True
    return table


WHITE = _table("".join(chr(c) for c in range(0x3001) if chr(c).isspace()))
CLOSING = WHITE | _table("\"'`´)]}’”»›」』】）")
STOPS = _table(".!?…‽。！？؟।॥։")  # they end a sentence
MARKS = _table(".,!?;:")


@dataclass(frozen=True, eq=False)
class Endings:
    """How each text that is not blank ends."""

    row: Ints
    end: Ints  # behind its last character that is not white space, counted from the beginning of all codes
    stopped: Mask  # it ends with a sentence
    plain: Mask  # it ends with a word between blanks, so that a comma may follow
    spaced: Mask  # it puts a space before punctuation
    lower: Mask  # it has letters, none of them a capital

    @classmethod
    def of(cls, corpus: Corpus) -> Endings:
        white, closing = (_among(table, corpus) for table in (WHITE, CLOSING))
        last = _last(~white, corpus)
        row = np.flatnonzero(last >= 0)
        end, close = last[row] + 1, _last(~closing, corpus)[row]
        stopped = (close >= 0) & _among(STOPS, corpus)[close]
        before, after = np.append(True, white[:-1]), np.append(white[1:], True)
        before[corpus.offsets[:-1][corpus.lengths > 0]] = False
        after[corpus.offsets[1:][corpus.lengths > 0] - 1] = True
        spaced = sums(_among(MARKS, corpus) & before & after, corpus.offsets)[row] > 0
        changes = [(case_map(upper=upper)[corpus.codes] != corpus.codes) for upper in (False, True)]
        capitals, small = (sums(change, corpus.offsets)[row] for change in changes)
        return cls(row, end, stopped, _ends_in_word(corpus, end), spaced, (capitals == 0) & (small > 0))


def _ends_in_word(corpus: Corpus, end: Ints) -> Mask:
    """Whether a word between blanks ends at each of these places."""
    words = corpus.words
    if not len(words):
        return np.zeros(end.size, np.bool_)
    at = np.maximum(np.searchsorted(words.stop, end, "right") - 1, 0)
    begin = words.start[at]
    first = begin == corpus.offsets[words.row[at]]
    return (words.stop[at] == end) & (first | WHITE[np.minimum(corpus.codes[begin - 1], WHITE.size - 1)])


def _among(table: Mask, corpus: Corpus) -> Mask:
    """Which code points of a corpus a table is true for."""
    return table[np.minimum(corpus.codes, table.size - 1)]


def _last(wanted: Mask, corpus: Corpus) -> Ints:
    """The last wanted position of each text; -1 if there is none."""
    at = np.append(-1, np.flatnonzero(wanted))
    last = at[np.searchsorted(at, corpus.offsets[1:]) - 1]
    return np.where(last >= corpus.offsets[:-1], last, -1)


# ---- what is added ----

MOST = 10  # additions to a text
KINDS = {  # each kind, and the lists that its parts are drawn from
    "tautology": ("tautology",),
    "url": ("host", "page"),
    "handle": ("name", "server"),
    "sentence": ("sentence",),
    "words": ("word", "next word", "next word"),
}

CLAUSES = ("tautology", "sentence")
NOTHING, SPACE, AND, COMMA_AND, SPACED_COMMA_AND, STOP, SPACED_STOP = range(7)
AROUND = ("", " ", " and ", ", and ", " , and ", ".", " .")  # what stands before and after an addition
WRITTEN, CAPITAL, LOWER = range(3)  # as in the list, with a first capital, in lower case


class Stock(NamedTuple):
    """A list of parts: the number of its first, its size, and the step widths that lead through all of them."""

    first: int
    size: int
    steps: Ints


@cache
def _lists() -> dict[str, list[str]]:
    """The shipped lists of parts by name."""
    sections = (section.split("]", 1) for section in load("distraction.txt").decode().split("[")[1:])
    return {name: lines.strip().split("\n") for name, lines in sections}


@lru_cache(maxsize=4)
def _parts(words: tuple[str, ...]) -> tuple[Ragged, dict[str, Stock]]:
    """All parts of additions, written in three ways (WRITTEN, CAPITAL, LOWER), and where each list is among them."""
    lists = _lists() | {"word": list(words), "next word": [f" {word}" for word in words]}
    flat, found = list(AROUND), {}
    for name, entries in lists.items():
        number = np.arange(len(entries))
        found[name] = Stock(len(flat), len(entries), number[np.gcd(number, len(entries)) == 1])
        flat += entries
    capital, lower = [entry[:1].upper() + entry[1:] for entry in flat], [entry.lower() for entry in flat]
    return Ragged.of([*flat, *capital, *lower]), found


@dataclass(frozen=True)
class Distraction(Perturbation):
    """Add things at the end of a text that have nothing to do with it; the text itself stays as it is.

    Up to ten: the strength p adds ceil(10 p). After a sentence each is a sentence of its own, else it goes on with
    "and"; capitals and spaces before punctuation follow the text. `kinds`, separated by blanks: tautology (true is not
    false), url and handle (made up, on domains that are reserved for examples by RFC 2606 and 6761), sentence (a
    neutral one). `words`: words of the data set, which are then added, too, three at a time.
    """

    kinds: str = "tautology url handle sentence"
    words: tuple[str, ...] = ()

    name: ClassVar[str] = "distraction"
    facts: ClassVar[Facts] = Facts(
        summary="add irrelevant things at the end",
        paper="RobTest (Chen et al. 2023) 2.1; after Naik et al. 2018, Ribeiro et al. 2020",
        example="Adversarial attacks are harmless. True is not false.",
        level="sentence",
        tags=("malicious",),
        languages=("en",),
        unit="additions",
        keeps_tokens=False,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.words, list):
            object.__setattr__(self, "words", tuple(self.words))
        if not isinstance(self.words, tuple) or not all(isinstance(w, str) and w.strip() for w in self.words):
            raise ValueError(f"expected a tuple of words for distraction.words, got {self.words!r:.60}")
        if not self.kinds.split() or not set(self.kinds.split()) <= set(KINDS):
            raise ValueError(f"expected some of {', '.join(KINDS)} for distraction.kinds, got {self.kinds!r}")
        if "words" in self.kinds.split() and not self.words:
            raise ValueError("expected words in distraction.words for distraction.kinds='words', got none")

    def units(self, corpus: Corpus) -> Spans:
        """Room for ten additions at the end of each text that is not blank."""
        ends = Endings.of(corpus)
        row, end = np.repeat(ends.row, MOST), np.repeat(ends.end, MOST)
        return Spans(row, end, end)

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        """Proposes ten additions at one place, before white space at the end; any of them can follow each other."""
        ends = Endings.of(corpus)
        at, turn = np.divmod(np.arange(ends.row.size * MOST * k), k)
        text, site = np.divmod(at, MOST)
        new = self._additions(ends, text, site + MOST * turn, rng)
        row, place = corpus.place(ends.row[text], ends.end[text])
        edits = Edits(row, place, place, new, place + site, new.lengths)
        return edits if k == 1 else edits.distinct()

    def _additions(self, ends: Endings, text: Ints, number: Ints, rng: Rng) -> Ragged:
        """An addition for each (text, number): what goes before, up to three parts, what comes after."""
        source, stocks = _parts(self.words)
        named = [kind for kind in KINDS if kind in self.kinds.split() or (kind == "words" and self.words)]
        spot = ends.row[text], number
        kind = rng.stream("kind").below(len(named), *spot)
        clause = np.isin(named, CLAUSES)[kind]
        parts = np.zeros((number.size, 5), np.int64)
        for turn, name in enumerate(named):
            mine = np.flatnonzero(kind == turn)
            for place, stock in enumerate(stocks[part] for part in KINDS[name]):
                # each text has a first part and a step, so that no part comes twice before all have come
                draws, zero = rng.stream(name, place), np.zeros_like(ends.row)
                first = draws.stream("first").below(stock.size, ends.row, zero)
                step = stock.steps[draws.stream("step").below(stock.steps.size, ends.row, zero)]
                parts[mine, place + 1] = (
                    stock.first + (first[text[mine]] + step[text[mine]] * number[mine]) % stock.size
                )
        spaced, stopped = ends.spaced[text], ends.stopped[text]
        comma = ends.plain[text] & (rng.stream("comma").below(2, *spot) > 0)
        goes_on = np.where(comma, np.where(spaced, SPACED_COMMA_AND, COMMA_AND), AND)
        parts[:, 0] = np.where(clause & ~stopped, goes_on, SPACE)
        parts[:, -1] = np.where(clause & stopped, np.where(spaced, SPACED_STOP, STOP), NOTHING)
        way = np.where(ends.lower[text], LOWER, np.where(clause & stopped, CAPITAL, WRITTEN))
        taken = source.take((parts + (way * (len(source) // 3))[:, None]).ravel())
        return Ragged(taken.codes, taken.offsets[:: parts.shape[1]])
