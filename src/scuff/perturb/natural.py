"""Misspellings that people really made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..resources import modified, package_file, read_lines
from ..text import Corpus, Ragged, Rng
from ..text.hash import text_bits
from ..text.ragged import Bits, Ints, Mask, bounds, sums
from ..text.unicode import case_map
from .base import Facts, WordPerturbation


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


@dataclass(frozen=True, eq=False)
class ErrorTable:
    """A hash table over arrays: words by bucket (the first bits of their hash), and the errors of each."""

    words: Bits
    bucket: Ints
    first: Ints
    errors: Ragged

    @classmethod
    def of(cls, pairs: Iterator[tuple[str, str]]) -> ErrorTable:
        found: dict[str, dict[str, None]] = {}
        for word, error in pairs:
            if (
                word.lower() != error.lower() and word.upper() != error.upper() and " " not in word
            ):  # not just another case
                found.setdefault(word, {})[error] = None
        keys = text_bits(Ragged.of(list(found)))
        order = np.argsort(keys)
        lists = list(found.values())
        errors = [list(lists[at]) for at in order]
        size = np.uint64(1 << (len(found).bit_length() + 3))
        starts = np.searchsorted(
            keys[order], np.arange(size, dtype=np.uint64) * (np.uint64(1 << 63) // size * np.uint64(2))
        )
        return cls(
            keys[order], np.append(starts, order.size), bounds(np.array([len(e) for e in errors], np.int64)),
            Ragged.of([error for each in errors for error in each]),
        )  # fmt: skip

    def find(self, texts: Ragged) -> Ints:
        """Where each text stands in the table, -1 for nowhere. (Another text with the same 64 bits: 1 in 10^14 words.)"""
        keys = text_bits(texts)
        bucket = (keys >> np.uint64(64 - (self.bucket.size - 1).bit_length() + 1)).astype(np.int64)
        at, found = self.bucket[bucket], np.full(keys.size, -1)
        for _ in range(int(np.diff(self.bucket).max())):
            here = np.minimum(at, self.words.size - 1)
            np.copyto(found, here, where=self.words[here] == keys)
            at = at + 1
        return found


@lru_cache(maxsize=4)
def _table(path: Path, changed: float, read: Callable[[Path], Iterator[tuple[str, str]]]) -> ErrorTable:
    """`changed` is the file's time stamp: an edited list is read again."""
    table = ErrorTable.of(read(path))
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

    def table(self) -> ErrorTable:
        if self.errors:
            path = Path(self.errors)
            return _table(path, modified(path, "a list of misspellings for natural.errors"), _listed)
        path = package_file("codespell", "codespell_lib/data/dictionary.txt", extra="natural")
        return _table(path, modified(path, "codespell's dictionary"), _codespell)

    def find(self, text: Ragged) -> tuple[Ints, Mask]:
        """Each word's entry in the table, -1 for none, and whether it was found only in lower case."""
        table, lower = self.table(), case_map(upper=False)
        entry = table.find(text)
        folded = (entry < 0) & (sums(lower[text.codes] != text.codes, text.offsets) > 0)
        small = text.take(np.flatnonzero(folded))
        entry[folded] = table.find(Ragged(lower[small.codes], small.offsets))
        return entry, folded

    def able(self, corpus: Corpus) -> Mask:
        return self.find(corpus.cut(corpus.words))[0] >= 0

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        table, words = self.table(), corpus.words.where(which)
        old = corpus.cut(words)
        entry, folded = self.find(old)
        first = table.first[entry]
        pick = rng.stream("error").below(table.first[entry + 1] - first, *corpus.place(words.row, words.start))
        new = _recased(table.errors.take(first + pick), old, folded)
        return new, np.maximum(old.lengths, new.lengths)


def _recased(new: Ragged, old: Ragged, folded: Mask) -> Ragged:
    """Give new words the case of the old: all capitals, or a capital first letter. Only where `folded`."""
    upper, lower = case_map(upper=True), case_map(upper=False)
    codes = new.codes.copy()
    capital = folded & (old.codes[old.offsets[:-1]] != lower[old.codes[old.offsets[:-1]]])
    raised = np.add.reduceat(old.codes != upper[old.codes], old.offsets[:-1]) == 0 if len(old) else folded
    shout = np.repeat(folded & raised & (old.lengths > 1), new.lengths)
    codes[shout] = upper[codes[shout]]
    first = new.offsets[:-1][capital]
    codes[first] = upper[codes[first]]
    return Ragged(codes, new.offsets)
