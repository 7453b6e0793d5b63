"""Slips of the finger."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from ..resources import load
from ..text import Corpus, Letters, Ragged, Rng
from ..text.ragged import Ints, Mask, sums
from .base import Facts, WordPerturbation
from .inside import at_least_one

ROW_START = (0.0, 1.5, 1.75, 1.25)  # where the first key of each row sits, in key widths: ISO 9995 stagger


def layouts() -> dict[str, list[str]]:
    """The rows of keys of each layout."""
    found: dict[str, list[str]] = json.loads(load("keyboards.json"))
    return found


def neighbours(layout: str, keys: Literal["letters", "all"] = "letters") -> dict[str, str]:
    """Each letter with the keys that touch its own; an upper-case letter with upper-case ones."""
    known = layouts()
    if layout not in known:
        near = get_close_matches(layout, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"expected one of {', '.join(known)} for keyboard.layout, got {layout!r}{hint}")
    at = {
        key: (row, ROW_START[row] + column)
        for row, line in enumerate(known[layout])
        for column, key in enumerate(line)
        if key != " "
    }

    def touch(one: str, other: str) -> bool:
        (row, x), (other_row, other_x) = at[one], at[other]
        away = abs(x - other_x)
        return away == 1 if row == other_row else abs(row - other_row) == 1 and away < 1

    near_keys = {
        key: "".join(other for other in at if touch(key, other) and (keys == "all" or other.isalpha()))
        for key in at
        if key.isalpha()
    }
    upper = {key: "İ" if key == "i" and "ı" in at else key.upper() for key in near_keys}
    upper = {key: other for key, other in upper.items() if len(other) == 1 and other != key}
    near_upper = {  # σ and ς have one capital, which is not its own neighbour
        upper[key]: "".join(upper[k] for k in near_keys[key] if k in upper and upper[k] != upper[key]) for key in upper
    }
    return {key: near for key, near in {**near_upper, **near_keys}.items() if near}


@cache
def _table(layout: str, keys: Literal["letters", "all"]) -> tuple[Ints, Ragged]:
    """Code point to the number of its key (0: no key with neighbours), and the neighbours of each key."""
    near = neighbours(layout, keys)
    number = np.zeros(max(map(ord, near)) + 2, np.int64)
    number[[ord(key) for key in near]] = np.arange(1, len(near) + 1)
    return number, Ragged.of(["", *near.values()])


@dataclass(frozen=True)
class Keyboard(WordPerturbation):
    """Replace each letter of a word with probability phi by a letter on a key that touches its own, at least one.

    Case is kept. Only letters come in, as the paper says ("adjacent letters"); the key lists of Belinkov and Bisk that
    its code uses hold digits and punctuation too: `keys="all"`. The code changes exactly one letter: `phi=0`. Layouts:
    qwerty, qwertz, azerty, dvorak, colemak, spanish, italian, portuguese, swedish, danish, czech, turkish, russian,
    ukrainian, greek, hebrew.
    """

    phi: float | None = None
    layout: str = "qwerty"
    keys: Literal["letters", "all"] = "letters"

    name: ClassVar[str] = "keyboard"
    facts: ClassVar[Facts] = Facts(
        summary="replace letters by neighbours on the keyboard",
        paper="Zéroe 3.2; thesis 3.3.1; after Belinkov and Bisk 2018",
        example="Adverssrial attaxks are harmless.",
        scripts="those with a layout: Latin, Cyrillic, Greek, Hebrew",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keys not in ("letters", "all"):
            raise ValueError(f"expected letters or all for keyboard.keys, got {self.keys!r}")
        neighbours(self.layout, self.keys)

    def key(self, letters: Letters) -> Ints:
        """The number of each letter's key; 0 where it has none, such as a letter with a combining mark."""
        number, _ = _table(self.layout, self.keys)
        return np.where(
            letters.stop - letters.start > 1, 0, number[np.minimum(letters.codes[letters.start], number.size - 1)]
        )

    def able(self, corpus: Corpus) -> Mask:
        letters = corpus.letters
        return sums(self.key(letters) > 0, letters.first) > 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        key, (_, near) = self.key(letters), _table(self.layout, self.keys)
        typed = np.flatnonzero(key)
        word = letters.word[typed]
        hit = typed[at_least_one(corpus, words.row[word], word, letters.start[typed], self.phi, rng)]
        word, at = letters.word[hit], letters.start[hit]
        pick = rng.stream("key").below(near.lengths[key[hit]], *corpus.place(words.row[word], at))
        text = corpus.cut(words)
        text.codes[text.offsets[word] + at - words.start[word]] = near.codes[near.offsets[key[hit]] + pick]
        return text, np.bincount(word, minlength=which.size)
