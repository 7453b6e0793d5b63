"""Words replaced by their neighbours in a file of word vectors or of neighbour lists."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..english.inflection import cased_like
from ..resources import MissingResource, modified, stream_lines
from ..specs import check_number
from ..text.corpus import Corpus
from .base import Facts
from .replace import Replace, WordOptions, find_gaps

# ---- files of vectors or neighbours ----

BLOCK = 1 << 24  # cosines that are computed at once, 64 MB of them
LINES = 10_000  # lines that are read at once
SPARE = 8  # more neighbours than wanted are found, so that ties at the end are settled by the exact cosines


@dataclass(frozen=True, eq=False)
class Lists:
    """The neighbours of each word, the nearest first."""

    near: dict[str, list[str]]

    def __contains__(self, word: str) -> bool:
        return word in self.near

    def nearest(self, words: Sequence[str], count: int, cosine: float | None) -> list[list[str]]:
        """Up to `count` neighbours of each of these words, which are all known."""
        if cosine is not None:
            raise ValueError("expected a file of vectors for embedding.cosine, got lists of neighbours without cosines")
        return [[new for new in self.near[word] if not same(new, word)][:count] for word in words]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words and their unit vectors."""

    words: list[str]
    number: dict[str, int]
    matrix: npt.NDArray[np.float32]
    _found: dict[tuple[str, int], list[tuple[str, float]]] = field(default_factory=dict)

    def __contains__(self, word: str) -> bool:
        return word in self.number

    def nearest(self, words: Sequence[str], count: int, cosine: float | None) -> list[list[str]]:
        """Up to `count` neighbours, of at least this cosine, of each of these words, which are all known. Keeps what it found."""
        new = [word for word in dict.fromkeys(words) if (word, count) not in self._found]
        step = max(1, BLOCK // len(self.words))
        for at in range(0, len(new), step):
            self._look(new[at : at + step], count)
        least = -2.0 if cosine is None else cosine
        return [[near for near, score in self._found[word, count] if score >= least] for word in words]

    def _look(self, words: list[str], count: int) -> None:
        """Finds the neighbours of some words and keeps them."""
        row = np.array([self.number[word] for word in words])
        scores = self.matrix[row] @ self.matrix.T
        most = min(2 * count + SPARE, len(self.words))  # with the word itself and its spellings in other cases
        nearest = np.argpartition(-scores, most - 1, axis=1)[:, :most]
        for word, at, near in zip(words, row.tolist(), nearest, strict=True):
            # in double precision, because single precision depends on how many words are asked for at once
            exact = (self.matrix[near].astype(np.float64) * self.matrix[at].astype(np.float64)).sum(1).round(6)
            order = np.lexsort((near, -exact))
            found = [(self.words[near[i]], float(exact[i])) for i in order if not same(self.words[near[i]], word)]
            self._found[word, count] = found[:count]


def same(one: str, other: str) -> bool:
    """Whether two words differ at most in case."""
    return one.casefold() == other.casefold()


@lru_cache(maxsize=2)
def read_space(path: Path, changed: float) -> Lists | Vectors:
    """Reads lines `word<TAB>neighbour neighbour ...`, the nearest first, or `word number number ...` as word2vec and GloVe write
    them, plain or gzip. `changed` is the file's time stamp: an edited file is read again.
    """
    lines = stream_lines(path)
    first = next(lines, "")
    if "\t" in first:
        return Lists(dict(_listed(path, chain([first], lines))))
    if not first.strip():
        raise ValueError(f"{path}: expected word<TAB>neighbours or word and numbers, got an empty line first")
    header = first.split()
    return _vectors(path, lines if len(header) == 2 and all(map(str.isdecimal, header)) else chain([first], lines))


def _listed(path: Path, lines: Iterator[str]) -> Iterator[tuple[str, list[str]]]:
    """Each word and its neighbours."""
    for at, line in enumerate(lines, 1):
        word, tab, near = line.partition("\t")
        if line.strip() and not tab:
            raise ValueError(f"{path}: line {at}: expected word<TAB>neighbour neighbour ..., got {line[:40]!r}")
        yield word.strip(), near.split()


def _vectors(path: Path, lines: Iterator[str]) -> Vectors:
    """Reads word vectors; raises ValueError for lines of another kind, numbers that are not finite, and nothing but zeros."""
    words: list[str] = []
    parts: list[npt.NDArray[np.float32]] = []
    size = 0
    while block := [line.rstrip() for line in islice(lines, LINES)]:
        size = size or len(block[0].split(" ")) - 1
        cut = [line.rsplit(" ", size) for line in block]  # a word may hold a space
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                numbers = np.fromstring(" ".join(" ".join(each[1:]) for each in cut), np.float32, sep=" ")
            parts.append(numbers.reshape(len(block), size))
        except (ValueError, DeprecationWarning):
            bad = next((line for line, each in zip(block, cut, strict=True) if not _numbers(each[1:], size)), block[0])
            many = f"{size} numbers" if size else "its vector"
            raise ValueError(f"{path}: expected a word and {many} in each line, got {bad[:40]!r}") from None
        words += [each[0] for each in cut]
    if not words or not size:
        raise ValueError(f"{path}: expected lines of a word and numbers, got none")
    matrix = np.concatenate(parts)
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(length).all():
        raise ValueError(
            f"{path}: expected finite numbers, got others for {words[int(np.argmin(np.isfinite(length)))]!r}"
        )
    known = length[:, 0] > 0  # zeros have no direction: such a word has no vector
    if not known.any():
        raise ValueError(f"{path}: expected vectors, got only zeros")
    if not known.all():
        matrix, length, words = matrix[known], length[known], [words[at] for at in np.flatnonzero(known).tolist()]
    matrix /= length
    number = {word: at for at, word in reversed(list(enumerate(words)))}  # the first of equal words counts
    return Vectors(words, number, matrix)


def _numbers(texts: list[str], size: int) -> bool:
    """Whether these are so many numbers."""
    try:
        return len([float(text) for text in texts]) == size
    except ValueError:
        return False


# ---- the perturbation ----

FILE = "word vectors or neighbours for embedding.file"


@dataclass(frozen=True)
class Embedding(Replace):
    """Replace words by near ones in a space of word vectors, in the same case.

    `file`, plain or gzip, holds the `neighbours` nearest words of each word (`word<TAB>word word ...`, the nearest first) or
    vectors (`word number number ...`, as word2vec and GloVe write them); counter-fitted ones keep opposites apart (Mrkšić et
    al. 2016). `n` is short for `neighbours`. `cosine` is the least likeness, for vectors. `tagger=False` takes all neighbours of
    every word, in any language; by default only English nouns, verbs, adjectives and adverbs are replaced, by words of the same
    form that are not their opposites and do not stand near.
    """

    file: str | None = None
    neighbours: int = 20
    cosine: float | None = None
    tagger: bool = True

    short: ClassVar[dict[str, str]] = {"n": "neighbours"}
    name: ClassVar[str] = "embedding"
    facts: ClassVar[Facts] = Facts(
        summary="replace words by near ones in a space of word vectors, which you give",
        paper="RobTest (Chen et al. 2023); after Alzantot et al. 2018",
        example="Adversarial assaults are harmless.",
        level="word",
        tags=("general",),
        scripts="those of the file",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.file is not None and not (isinstance(self.file, str) and self.file):
            raise ValueError(f"expected the name of a file for embedding.file, got {self.file!r}")
        if self.cosine is not None:
            check_number(self.cosine, -1, 1, "embedding.cosine")

    def stamp(self) -> object:
        return None if self.file is None else modified(Path(self.file), FILE)

    def options(self, corpus: Corpus) -> WordOptions:
        if self.file is None:
            raise MissingResource("embedding needs word vectors or lists of neighbours: embedding(file='FILE')")
        path = Path(self.file)
        space = read_space(path, modified(path, FILE))
        old = corpus.cut(corpus.words).strings()
        gaps = {gap.number: gap for gap in find_gaps(corpus, corpus.strings(), True)} if self.tagger else None
        entry = {
            at: word if (word := old[at]) in space else word.lower()
            for at in (range(len(old)) if gaps is None else gaps)
        }
        known = [at for at in entry if entry[at] in space]
        near = space.nearest([entry[at] for at in known], self.neighbours, self.cosine)
        lists: list[list[str]] = [[] for _ in old]
        for at, words in zip(known, near, strict=True):
            cased: dict[str, str] = {}
            for new in words:
                if new[0].isalpha() and "_" not in new and (gaps is None or gaps[at].takes(new)):
                    cased.setdefault(new.casefold(), cased_like(new, old[at]))  # of good and Good the nearer one
            lists[at] = list(cased.values())
        return WordOptions.of(lists)
