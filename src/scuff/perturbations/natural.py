"""Natural: misspellings as people make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import ClassVar

from ..resources import load, modified, package_file, read_lines
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
    weights = (int(count) for row in pairs for _, count in row)
    return Spellings.of([word for word, _ in rows], [[error for error, _ in row] for row in pairs], weights)


@cache
def _channel() -> NoisyChannel:
    """The learnt rules: all but other endings for long words, slips of one letter for short ones, fumbles for the shortest."""
    learnt = NoisyChannel.read(load("natural.xz"))
    return NoisyChannel.by_length({2: learnt.fumbles(), 3: learnt.slips(), LONG: learnt.steady()})


@dataclass(frozen=True)
class Natural(Respell):
    """Misspell a word as people do.

    2,600 words get one of the errors that people made in comments, as often as they made it (their: thier, there). All others get
    one drawn from statistics learnt from real errors: which letters people leave out, add, swap and replace, given the letters
    around (docs/natural.md); so every word can be misspelt, where the papers look words up in a list that lacks many. Words of up
    to 4 letters get only the slips of a hand: one letter more, less or another, or two swapped; words of 2 swapped or doubled
    ones. `errors` names another list, `word<TAB>error error ...` lines as those of Belinkov and Bisk, or "codespell" for the
    dictionary of that package; listed words then get a listed error (each equally likely, in the word's case). With
    `listed=True` no others are touched, as in the papers.
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
