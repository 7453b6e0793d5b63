"""METEOR (Lavie and Agarwal, 2007), with Scuff's own tables: words that are equal, have the same stem, or are synonyms.

There are many METEORs, and they differ by points. This one has the parameters, stages and order of matching of
`nltk.translate.meteor_score` (3.10), the stems of its Porter stemmer, and its `wordpunct` tokens. It leaves nltk in two things:
- Two words are synonyms if they share a synset, in whatever form they stand, as METEOR is defined. nltk hands the stems of the
  stage before on, and looks for synonyms of "happi". `nltk=True` does so, too, and gives nltk's numbers for the same WordNet.
- Synonyms come from the table that ships with Scuff: WordNet 3.0 without names and what WordNet marks as obsolete or rude.
It is not the METEOR 1.5 in Java that the authors of TEAPOT used, which also has paraphrases, function words, tuned weights and a
search for the best alignment.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ..text.ragged import Floats
from ..version import __version__
from .base import Answers, Mean, Task

NLTK = "3.10"  # whose numbers they are
TOKEN = re.compile(r"\w+|[^\w\s]+")  # nltk's wordpunct_tokenize


@dataclass(frozen=True)
class Meteor(Mean):
    """Sentence METEOR, averaged over texts. alpha: the weight of recall, from 0 to 1. gamma: how much of the score scattered
    matches can cost; beta: how soon they do. english: whether stems and synonyms count; without them, for other languages, only
    equal words match. nltk: look synonyms up by stems, as nltk does.
    """

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    english: bool = True
    nltk: bool = False

    name: ClassVar[str] = "meteor"
    summary: ClassVar[str] = "words that a text shares with its reference, stems and synonyms included (METEOR)"
    title: ClassVar[str] = "METEOR"
    tasks: ClassVar[tuple[Task, ...]] = ("text",)

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"expected a number in [0, 1] for meteor.{name}, got {value!r}")
        if self.beta < 0:
            raise ValueError(f"expected 0 or more for meteor.beta, got {self.beta!r}")

    @property
    def signature(self) -> str:
        how = "exact+porter+wordnet3.0" if self.english else "exact"
        weights = f"alpha:{self.alpha:g}|beta:{self.beta:g}|gamma:{self.gamma:g}"
        version = f"nltk.{NLTK}+scuff.{__version__}" if self.nltk else f"scuff.{__version__}"
        return f"nrefs:1|case:lc|tok:wordpunct|match:{how}|{weights}|version:{version}"

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        pairs = zip(answers.tolist(), targets.tolist(), strict=True)
        return np.array([self.of_words(_words(said), _words(wanted)) for said, wanted in pairs], np.float64)

    def of_words(self, said: Sequence[str], wanted: Sequence[str]) -> float:
        """METEOR of a text against a reference, as words in lower case; 0 if none matches."""
        places = sorted(_aligned(said, wanted, self._stages()))
        if not places:
            return 0.0
        precision, recall = len(places) / len(said), len(places) / len(wanted)
        mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        follows = sum(b[0] == a[0] + 1 and b[1] == a[1] + 1 for a, b in pairwise(places))
        return (1 - self.gamma * ((len(places) - follows) / len(places)) ** self.beta) * mean

    def _stages(self) -> list[Stage]:
        if not self.english:
            return [(_itself, _itself)]
        from ..english.morphy import synset_words, synsets  # reads the tables when they are first used
        from ..english.stemmer import stem

        def stemmed(word: str) -> tuple[str]:
            return (stem(word),)

        synonyms: Stage = (lambda word: synset_words(stem(word)), stemmed) if self.nltk else (synsets, synsets)
        return [(_itself, _itself), (stemmed, stemmed), synonyms]


# a stage of matching: a word of the text matches a word of the reference if what they become has something in common
Stage = tuple[Callable[[str], Iterable[Hashable]], Callable[[str], Iterable[Hashable]]]


def _words(text: str) -> list[str]:
    return [token.lower() for token in TOKEN.findall(text)]


def _itself(word: str) -> tuple[str]:
    return (word,)


def _aligned(said: Sequence[str], wanted: Sequence[str], stages: Sequence[Stage]) -> list[tuple[int, int]]:
    """Pairs of places whose words match. Each stage goes from the last word of the text on, and takes the last word of the
    reference that fits and is free.
    """
    mine, due, pairs = list(range(len(said))), list(range(len(wanted))), []
    for of_text, of_reference in stages:
        places, left, taken = defaultdict(list), [], set()
        for at in due:
            for key in of_reference(wanted[at]):
                places[key].append(at)
        for at in reversed(mine):
            best = -1
            for key in of_text(said[at]):
                free = places.get(key, [])
                while free and free[-1] in taken:
                    free.pop()
                best = max(best, free[-1]) if free else best
            if best < 0:
                left.append(at)
            else:
                pairs.append((at, best))
                taken.add(best)
        mine, due = left[::-1], [at for at in due if at not in taken]
        if not mine or not due:
            break
    return pairs
