"""Words replaced by their neighbours in a space of word vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..language.inflect import cased_like
from ..resources import MissingResource, modified
from ..text import Corpus
from .base import Facts, check_number
from .gaps import find_gaps
from .neighbours import read_space
from .options import Options, Replace

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

    def options(self, corpus: Corpus) -> Options:
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
        return Options.of(lists)
