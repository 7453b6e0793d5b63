"""Constraints on words: how many may change, and which may not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...perturbations.spelling import APOSTROPHE, CURLY
from ...resources import load, modified, stream_lines
from ...specs import check_count, check_number
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Bits, Ints, Mask, Ragged
from ...text.random import text_bits
from ...text.unicode import case_map
from ...text.words import Spans
from .base import Constraint

if TYPE_CHECKING:
    from ..candidates import Candidates


def edited_words(before: Corpus, edits: Edits) -> tuple[Spans, Spans]:
    """The words that edits touch: their spans before and after the edits. A deleted word has an empty span after them.

    If one edit replaces several words, the first gets the whole replacement and the others are empty.
    """
    old = before.words.where(edits.touched(before.words, before.offsets))
    new = edits.carry(old, before.offsets)
    start = np.maximum(new.start, np.append(0, np.maximum.accumulate(new.stop)[:-1])[: len(new)])
    return old, Spans(new.row, start, np.maximum(start, new.stop))


@dataclass(frozen=True)
class Changed(Constraint):
    """At most a share of the words may change, rounded down, but always `floor` words.

    ToxicTrap, 2.3 (share 0.1); A2T (Yoo and Qi 2021) has floor 4. TextAttack's MaxModificationRate rounds up.
    """

    share: float = 0.1
    floor: int = 0

    name: ClassVar[str] = "changed"
    summary: ClassVar[str] = "at most a share of the words changes"

    def __post_init__(self) -> None:
        check_number(self.share, 0, 1, "changed.share")
        check_count(self.floor, 0, "changed.floor")

    def most(self, corpus: Corpus) -> Ints:
        """How many words of each text may change."""
        return self._most(corpus.words.per_row(len(corpus)))

    def _most(self, words: Ints) -> Ints:
        return np.maximum(np.floor(words * self.share + 1e-9).astype(np.int64), self.floor)

    def sites(self, corpus: Corpus, edits: Edits) -> Mask:
        return (self.most(corpus)[edits.row] > 0) | ~edits.hitting(corpus.words, corpus.offsets)

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        touched = before.words.row[edits.touched(before.words, before.offsets)]
        return np.bincount(touched, minlength=len(before)) <= self.most(before)

    def allows(self, candidates: Candidates) -> Mask:
        return candidates.touched <= self._most(candidates.words)


class _Spares(Constraint, ABC):
    """A constraint that forbids edits of some words."""

    @abstractmethod
    def spared(self, corpus: Corpus) -> Mask:
        """Which of corpus.words may not be edited."""

    def sites(self, corpus: Corpus, edits: Edits) -> Mask:
        return ~edits.hitting(corpus.words.where(self.spared(corpus)), corpus.offsets)


@dataclass(frozen=True)
class StopWords(_Spares):
    """Function words may not change: the English ones, or those of a `file`, one word per line, in any case."""

    file: str | None = None

    name: ClassVar[str] = "stop-words"
    summary: ClassVar[str] = "function words are left alone"

    def __post_init__(self) -> None:
        if self.file is not None and not (isinstance(self.file, str) and self.file):
            raise ValueError(f"expected the name of a file for stop-words.file, got {self.file!r}")

    def spared(self, corpus: Corpus) -> Mask:
        if self.file is None:
            known = _english()
        else:
            path = Path(self.file)
            known = _listed(path, modified(path, "words, one per line, for stop-words.file"))
        return np.isin(_plain_bits(corpus.cut(corpus.words)), known)


@dataclass(frozen=True)
class MinLength(_Spares):
    """Words of fewer `letters` may not change (Pruthi et al. 2019). Digits count, inner apostrophes and hyphens do not."""

    letters: int = 4

    name: ClassVar[str] = "min-length"
    summary: ClassVar[str] = "short words are left alone"

    def __post_init__(self) -> None:
        check_count(self.letters, 1, "min-length.letters")

    def spared(self, corpus: Corpus) -> Mask:
        return corpus.letters.count < self.letters


def _plain_bits(words: Ragged) -> Bits:
    """Hashes of words in lower case, with straight apostrophes."""
    codes = case_map(upper=False)[words.codes]
    return text_bits(Ragged(np.where(codes == CURLY, APOSTROPHE, codes), words.offsets))


@cache
def _english() -> Bits:
    return _plain_bits(Ragged.of(load("stopwords.txt").decode().split()))


@lru_cache(maxsize=4)
def _listed(path: Path, changed: float) -> Bits:
    """The words of a file. changed: the file's time stamp, so that an edited file is read again."""
    return _plain_bits(Ragged.of(list(_single(path, stream_lines(path)))))


def _single(path: Path, lines: Iterable[str]) -> Iterable[str]:
    """The word of each line. Raises ValueError if a line has several."""
    for at, line in enumerate(lines, 1):
        if len(line.split()) > 1:
            raise ValueError(f"{path}: line {at}: expected one word, got {line[:40]!r}")
        yield from line.split()
