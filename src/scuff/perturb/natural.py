"""Misspellings that people really made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from ..resources import modified, package_file, read_lines
from ..text import Corpus, Ragged, Rng
from ..text.ragged import Ints, Mask
from .base import Facts, WordPerturbation
from .lookup import Spellings


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
    """A table of errors by word; what differs in case alone is no error."""
    found: dict[str, dict[str, None]] = {}
    for word, error in pairs:
        if word.lower() != error.lower() and word.upper() != error.upper() and " " not in word:
            found.setdefault(word, {})[error] = None
    return Spellings.of(list(found), [list(errors) for errors in found.values()])


@lru_cache(maxsize=4)
def _table(path: Path, changed: float, read: Callable[[Path], Iterator[tuple[str, str]]]) -> Spellings:
    """`changed` is the file's time stamp: an edited list is read again."""
    table = _spellings(read(path))
    if not table.words.size:
        raise ValueError(f"{path}: expected word<TAB>error error ... lines, got none")
    return table


@dataclass(frozen=True)
class Natural(WordPerturbation):
    """Replace a word by one of its known misspellings, each equally likely.

    `errors` names a file of `word<TAB>error error ...` lines, such as the lists of Belinkov and Bisk that both papers use;
    without it the dictionary of the codespell package is read backwards. A word that is not listed as written is looked up in
    lower case and the error takes its case (the published code finds exact matches only).
    """

    errors: str | None = None

    name: ClassVar[str] = "natural"
    facts: ClassVar[Facts] = Facts(
        summary="replace a word by a misspelling that people made",
        paper="Zéroe 3.2; thesis 3.3.1; after Belinkov and Bisk 2018",
        example="Adversarial attacs rae harmless.",
        tags=("general",),
        scripts="those of the list",
        languages=("en",),
    )

    def table(self) -> Spellings:
        if self.errors:
            path = Path(self.errors)
            return _table(path, modified(path, "a list of misspellings for natural.errors"), _listed)
        path = package_file("codespell", "codespell_lib/data/dictionary.txt", extra="natural")
        return _table(path, modified(path, "codespell's dictionary"), _codespell)

    def able(self, corpus: Corpus) -> Mask:
        return self.table().find(corpus.cut(corpus.words))[0] >= 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        return self.table().respell(corpus, which, rng)
