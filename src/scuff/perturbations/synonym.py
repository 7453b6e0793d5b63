"""Synonym: words replaced by synonyms, from WordNet or a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from ..english.inflection import NOUN, VERB, cased_like, inflected, lemma
from ..english.substitutes import PARTS, takes_an
from ..english.tagger import word_tags
from ..english.wordnet import antonyms, any_synonyms, familiar, known, synonyms
from ..resources import modified, read_lines
from ..specs import check_number
from ..text.corpus import Corpus
from .base import Facts
from .replace import Gap, Replace, WordOptions, find_gaps

WORDNET = "wordnet"
SOURCE = "wordnet or a file of synonyms for synonym.source"
FAMILIAR = 4  # how often WordNet's own texts must have a word; rarer ones hardly anybody knows
LIGHT = {  # words whose meaning depends mostly on their neighbours
    "make", "take", "give", "come", "put", "set", "find", "see", "feel", "like", "worth", "little", "full", "enough", "one",
    "plenty", "way", "time", "life", "fun",
}  # fmt: skip

BASE = ("NN", "JJ", "RB")  # tags of base forms
Listed = dict[tuple[str, str], tuple[str, ...]]


@lru_cache(maxsize=4)
def _listed(path: Path, changed: float) -> Listed:
    """Synonyms by lemma and part of speech. `changed` is the file's time stamp: an edited list is read again."""
    found: Listed = {}
    for at, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        word, pos, others = [*line.split("\t"), "", ""][:3]
        if line.count("\t") != 2 or pos.strip() not in PARTS.values():
            raise ValueError(f"{path}: line {at}: expected word<TAB>n, v, a or r<TAB>synonyms, got {line[:40]!r}")
        key = word.strip().lower(), pos.strip()
        found[key] = (*found.get(key, ()), *(other.replace("_", " ") for other in others.split()))
    if not found:
        raise ValueError(f"{path}: expected word<TAB>n, v, a or r<TAB>synonyms lines, got none")
    return found


@lru_cache(100_000)
def _form(other: str, tag: str) -> str | None:
    """A lemma in the form of a tag: of a phrase the verb that it begins with, or the noun that it ends with, is inflected."""
    if " " not in other:
        return inflected(other, tag)
    if tag in VERB:
        verb, _, rest = other.partition(" ")
        return f"{form} {rest}" if (form := inflected(verb, tag)) else None
    if tag == "NNS":
        rest, _, noun = other.rpartition(" ")
        return f"{rest} {form}" if " " not in rest and (form := inflected(noun, tag)) else None  # but men of letters
    return other if tag in BASE else None


def _bound(gap: Gap, behind: str) -> bool:
    """Whether a word's meaning depends on its neighbours, or its part of speech is not sure. `behind`: the next word's tag."""
    compound = gap.tag == "NN" and behind in NOUN
    particle = gap.tag in VERB and (
        behind == "RP" or (behind == "IN" and gap.tag != "VBN")
    )  # "wait for", not "await for"
    either = gap.tag in ("VBG", "VBN") and known(gap.word.lower(), "a")  # boring: participle or adjective
    return compound or particle or either or lemma(gap.word, gap.tag) in LIGHT


def _takes(gap: Gap, new: str, base: str) -> bool:
    """Whether a word or phrase can stand in a gap."""
    if " " not in new:
        return gap.takes(new)
    fits = gap.before not in ("a", "an") or takes_an(new) == (gap.before == "an")
    return fits and base not in new.split() and gap.word.lower() not in new.split() and new not in antonyms(base)


@dataclass(frozen=True)
class Synonym(Replace):
    """Replace nouns, verbs, adjectives and adverbs by synonyms in the same form and case, never by opposites.

    Synonyms are lemmas of one WordNet synset. `senses`: only what is among the first so many senses of both words, the most
    frequent first. `fit`: the least sum of how often the word means that in sense-tagged text (0 to 1) and how alike both are
    out of context (0 to 1, by a sentence encoder, computed when the table was built); 0 takes all. `multiword` allows
    phrases ("film" to "motion picture"), which tagging data cannot take. `source` names a file to use instead of WordNet, for
    example made from HowNet: lines `word<TAB>part of speech (n, v, a, r)<TAB>synonym synonym ...` of lemmas, the words of a
    phrase joined by `_`. `loose` takes the lemmas of every sense as any part of speech, as they are, for every word, whatever the
    sentence: for search attacks that have constraints of their own (TextAttack's PWWS).
    """

    senses: int = 5
    fit: float = 0.3
    multiword: bool = False
    source: str = WORDNET
    loose: bool = False

    name: ClassVar[str] = "synonym"
    facts: ClassVar[Facts] = Facts(
        summary="replace words by synonyms",
        paper="RobTest (Chen et al. 2023); after PWWS (Ren et al. 2019)",
        example="Adversarial onslaughts are harmless.",
        level="word",
        tags=("general",),
        scripts="Latin",
        languages=("en",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.fit, 0, 2, "synonym.fit")
        if self.multiword:
            object.__setattr__(self, "facts", replace(self.facts, keeps_tokens=False))

    def stamp(self) -> object:
        return None if self.source == WORDNET else modified(Path(self.source), SOURCE)

    def options(self, corpus: Corpus) -> WordOptions:
        if self.loose:
            return WordOptions.of([self._any(word) for word in corpus.cut(corpus.words).strings()])
        lists: list[list[str]] = [[] for _ in range(len(corpus.words))]
        texts, behind = corpus.strings(), [*word_tags(corpus)[1:], ""]
        for gap in find_gaps(corpus, texts, True):
            last = texts[gap.text][gap.stop : gap.stop + 1] != " "
            if not _bound(gap, "" if last else behind[gap.number]):
                lists[gap.number] = self._choices(gap)
        return WordOptions.of(lists)

    def _any(self, word: str) -> list[str]:
        """Synonyms in any sense, whatever the sentence."""
        found = (other for other in any_synonyms(word.lower()) if self.multiword or " " not in other)
        return list(dict.fromkeys(cased_like(other, word) for other in found if other != word.lower()))

    def _choices(self, gap: Gap) -> list[str]:
        """Synonyms in the form that a gap needs, those that can stand there."""
        base, pos = lemma(gap.word, gap.tag), PARTS[gap.tag[:2]]
        new = (
            form for other in self._synonyms(base, pos) if (form := _form(other, gap.tag)) and _takes(gap, form, base)
        )
        return list(dict.fromkeys(cased_like(form, gap.word) for form in new))

    def _synonyms(self, base: str, pos: str) -> Iterable[str]:
        """Synonyms of a lemma from WordNet or the file."""
        if self.source == WORDNET:
            found = synonyms(base, pos, self.senses, self.fit)
            found = tuple(other for other in found if " " in other or familiar(other) >= FAMILIAR)
        else:
            path = Path(self.source)
            found = _listed(path, modified(path, SOURCE)).get((base, pos), ())
        return (other for other in found if self.multiword or " " not in other)
