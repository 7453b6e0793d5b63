"""Natural: misspellings as people make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..resources import load, modified, package_file, read_lines
from ..text.corpus import Corpus
from ..text.ragged import Mask, sums
from ..text.unicode import word_class
from ..text.unicode_data import DIGIT
from .base import Facts
from .channel import NoisyChannel, Respell
from .spelling import Spellings

LONG = 5  # letters of a word from which on all rules apply


def _listed(path: Path) -> Iterator[tuple[str, str]]:
    """(word, error) from lines `word<TAB>error error ...`."""
    for at, line in enumerate(read_lines(path), 1):
        word, tab, errors = line.partition("\t")
        if line.strip() and not tab:
            raise ValueError(f"{path}: line {at}: expected word<TAB>error error ..., got {line[:40]!r}")
        yield from ((word.strip(), error) for error in errors.split())


def _codespell(path: Path) -> Iterator[tuple[str, str]]:
    """(word, error) from codespell's `error->word` or `error->word, word, reason`."""
    for line in read_lines(path):
        error, _, words = line.partition("->")
        parts = [part.strip() for part in words.split(",")]
        yield from ((word, error) for word in (parts[:1] if len(parts) == 1 else parts[:-1]))


def _spellings(pairs: Iterable[tuple[str, str]]) -> Spellings:
    """A table of errors by word, without those that differ from the word in case alone."""
    found: dict[str, dict[str, None]] = {}
    for word, error in pairs:
        if word.lower() != error.lower() and word.upper() != error.upper() and " " not in word:
            found.setdefault(word, {})[error] = None
    return Spellings.of(list(found), [list(errors) for errors in found.values()])


@lru_cache(maxsize=4)
def _table(path: Path, changed: float, read: Callable[[Path], Iterator[tuple[str, str]]]) -> Spellings:
    """The table in a file. `changed` is the file's time stamp: an edited list is read again."""
    table = _spellings(read(path))
    if not table.words.size:
        raise ValueError(f"{path}: expected word<TAB>error error ... lines, got none")
    return table


@cache
def _common() -> Spellings:
    """The errors that people made in comments, with how often, from lines `word<TAB>error:count error:count ...`."""
    rows = [line.split("\t") for line in load("natural-errors.txt").decode().split("\n")]
    pairs = [[pair.split(":") for pair in errors.split(" ")] for _, errors in rows]
    kept = [
        [(error, int(count)) for error, count in row if int(count) > 1 or not _accident(word, error)]
        for (word, _), row in zip(rows, pairs, strict=True)
    ]
    words = [word for (word, _), row in zip(rows, kept, strict=True) if row]
    weights = (count for row in kept for _, count in row)
    return Spellings.of(words, [[error for error, _ in row] for row in kept if row], weights)


def _accident(word: str, error: str) -> bool:
    """Whether an error changes the first letter of a short word, other than by a swap with the second: hire, phire."""
    return len(word) <= LONG and error[:1] != word[:1] and error[:2] != word[1::-1]


@cache
def _channel() -> NoisyChannel:
    """The learnt rules: all but other endings for long words, slips of one letter for short ones, fumbles for the shortest."""
    learnt = NoisyChannel.read(load("natural.xz"))
    steady = learnt.steady()
    return NoisyChannel.by_length(
        {2: learnt.fumbles(), 3: learnt.slips().firm(), LONG: steady.firm(), LONG + 1: steady}
    )


@dataclass(frozen=True)
class Natural(Respell):
    """Misspell a word as people do.

    2,500 words get one of the errors that people made in comments, as often as they made it (their: thier, there). All others get
    one drawn from statistics learnt from real errors: which letters people leave out, add, swap and replace, given the letters
    around (docs/natural.md); so every word can be misspelt, where the papers look words up in a list that lacks many. Words of up
    to 4 letters get only the slips of a hand: one letter more, less or another, or two swapped; words of 2 swapped or doubled
    ones. Words of up to 5 keep their first letter, or swap it with the second; words with digits stay as they are.

    `errors` names another list, `word<TAB>error error ...` lines as those of Belinkov and Bisk, or "codespell" for the dictionary
    of that package; listed words then get a listed error (each equally likely, in the word's case). With `listed=True` no others
    are touched, as in the papers.
    """

    errors: str | None = None
    listed: bool = False

    name: ClassVar[str] = "natural"
    facts: ClassVar[Facts] = Facts(
        summary="misspell words as people do",
        paper="Zéroe 3.2; thesis 3.3.1; after Belinkov and Bisk 2018",
        example="Adversarial attacs rae harmless.",
        tags=("general",),
        scripts="Latin; other letters only from a list",
        languages=("en",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.errors is not None and not (isinstance(self.errors, str) and self.errors):
            raise ValueError(f"expected the name of a list, or codespell, for natural.errors, got {self.errors!r}")
        if self.errors not in (None, "codespell") and self.listed:  # the list may be of any language
            object.__setattr__(self, "facts", replace(self.facts, languages=()))

    def table(self) -> Spellings:
        if self.errors is None:
            return _common()
        if self.errors == "codespell":
            path = package_file("codespell", "codespell_lib/data/dictionary.txt", extra="natural")
            return _table(path, modified(path, "codespell's dictionary"), _codespell)
        path = Path(self.errors)
        return _table(path, modified(path, "a list of misspellings for natural.errors"), _listed)

    def channel(self) -> NoisyChannel:
        return _channel()

    def able(self, corpus: Corpus) -> Mask:
        able, letters = super().able(corpus), corpus.letters
        digits = word_class(corpus.classes[letters.start]) == DIGIT
        some = np.flatnonzero(able & (sums(digits, letters.first) > 0))  # 5th: only as the table has it
        able[some] = self.table().find(corpus.cut(corpus.words.where(some)))[0] >= 0
        return able
