"""Inflection: words in another of their forms (watch, watches, watched, watching)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ..english.inflection import cased_like, forms
from ..english.tagger import word_tags
from ..text.corpus import Corpus
from .base import Facts
from .replace import Replace, WordOptions

NEGATED = frozenset(("are", "did", "do", "does", "had", "has", "have", "is", "was", "were"))  # take n't


@lru_cache(100_000)
def _others(word: str, tag: str) -> tuple[str, ...]:
    """The other forms of a word in its case; of a verb with n't those that can take it."""
    if word[-3:-2].lower() == "n" and word[-2:-1] in "'’":  # don't, doesn't, didn't
        stem, end = word[:-3], word[-3:]
        found = [form for form in forms(stem, tag) if form in NEGATED and stem.lower() in NEGATED]
        return tuple(cased_like(form, stem) + end for form in found)
    return tuple(cased_like(form, word) for form in forms(word, tag))


@dataclass(frozen=True)
class Inflection(Replace):
    """Replace nouns, verbs (be, have and do too), adjectives and adverbs by any other form of theirs, in the same case.

    Names, pronouns and modal verbs stay. Tan et al. 2020 choose the form that harms the victim most, as evaluations with score
    access do.
    """

    name: ClassVar[str] = "inflection"
    facts: ClassVar[Facts] = Facts(
        summary="replace words by other forms of theirs: tense, number, degree",
        paper="Morpheus (Tan et al. 2020); RobTest (Chen et al. 2023)",
        example="Adversarial attack are harmless.",
        level="word",
        tags=("general",),
        scripts="Latin",
        languages=("en",),
    )

    def options(self, corpus: Corpus) -> WordOptions:
        words = corpus.cut(corpus.words).strings()
        return WordOptions.of([_others(word, tag) for word, tag in zip(words, word_tags(corpus), strict=True)])
