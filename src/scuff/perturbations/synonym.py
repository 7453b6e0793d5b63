"""Synonym: words replaced by synonyms, from Scuff's own list, WordNet or a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..english.inflection import NOUN, VERB, cased_like, inflected, lemma
from ..english.substitutes import PARTS, in_phrase, takes_an
from ..english.tagger import word_tags
from ..english.thesaurus import Around, substitutes, unsure
from ..english.wordnet import antonyms, any_synonyms, familiar, known, synonyms
from ..resources import modified, read_lines
from ..specs import check_number
from ..text.corpus import Corpus
from .base import Facts
from .replace import AROUND, PHRASE, Gap, Replace, WordOptions, find_gaps, likeness

LISTED, WORDNET = "scuff", "wordnet"
SOURCE = "scuff, wordnet or a file of synonyms for synonym.source"
REACH = {LISTED: 0.075, WORDNET: 0.15}  # of the words, measured on seven data sets
SENSES, FIT = 5, 0.3  # of WordNet's synonyms, where nothing else is said
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


def _named(words: list[str], at: int, tag: str, around: Around) -> bool:
    """Whether a word looks like a part of a name or a title: in capitals, and not because a sentence begins."""
    word = words[at]
    if word.islower():
        return False
    before = words[at - 1] if around.before else ""
    behind = words[at + 1] if around.behind else ""
    if len(word) > 1 and word.isupper():
        return bool(before or behind) and not any(each.isupper() and len(each) > 1 for each in (before, behind))
    return bool(before) or (tag[:2] in ("NN", "VB", "JJ") and not behind.islower())


def listed_gaps(corpus: Corpus, texts: list[str]) -> list[tuple[Gap, list[str]]]:
    """The words for which Scuff's own list has synonyms that can stand there, and these."""
    words, tags = corpus.cut(corpus.words).strings(), word_tags(corpus)
    low = [word.lower() for word in words]
    row, start = corpus.place(corpus.words.row, corpus.words.start)
    stop = start + corpus.words.stop - corpus.words.start
    edges = np.searchsorted(row, np.arange(len(corpus) + 1))
    here = corpus.codes[np.minimum(corpus.words.stop, corpus.codes.size - 1)]
    joined = (row[1:] == row[:-1]) & (start[1:] - stop[:-1] == 1) & (here[:-1] == ord(" "))
    one = [False, *joined.tolist(), False, False]  # whether one space is between a word and the one before
    found = []
    for at, (word, tag) in enumerate(zip(low, tags, strict=True)):
        if not (others := substitutes(word, tag)):
            continue
        around = Around(
            low[at - 1] if one[at] else "", tags[at - 1] if one[at] else "",
            low[at + 1] if one[at + 1] else "", tags[at + 1] if one[at + 1] else "",
            tags[at + 2] if one[at + 1] and one[at + 2] else "",
        )  # fmt: skip
        suit = [(form, each) for form, each in others if each.suits(tag, around)]
        if not suit or _named(words, at, tag, around):
            continue
        text = int(row[at])
        left, right = max(at - AROUND, int(edges[text])), min(at + AROUND + 1, int(edges[text + 1]))
        near = frozenset(low[left:right])
        fixed = _fixed(low, one, at, tag)
        new = [
            cased_like(form, words[at])
            for form, each in suit
            if form not in near
            and (around.before not in ("a", "an") or takes_an(form) == (around.before == "an"))
            and (not fixed or each.named(around))
            and not unsure(word, form, tag, around)
        ]
        if new := list(dict.fromkeys(new)):
            span = int(start[left]), int(stop[right - 1])
            gap = Gap(at, text, int(start[at]), int(stop[at]), words[at], tag, around.before, *span, near)
            found.append((gap, new))
    return found


def _fixed(low: list[str], one: list[bool], at: int, tag: str) -> bool:
    """Whether a word belongs to a fixed phrase of at most four words."""
    first = last = at
    while first > max(0, at - PHRASE) and one[first]:
        first -= 1
    while last < at + PHRASE and one[last + 1]:
        last += 1
    return in_phrase(low[first:at], low[at], tag, low[at + 1 : last + 1])


@dataclass(frozen=True)
class Synonym(Replace):
    """Replace nouns, verbs, adjectives, adverbs and some connectives by synonyms in the same form and case, never by opposites.

    `source`: `scuff`, its own list of pairs that mean the same in nearly every sentence, and what must stand beside them: for one
    word in 13, nine of ten right where they stand. `wordnet`: lemmas of one WordNet synset, for one word in seven, most of them
    not right where they stand. Or a file, for example made from HowNet: lines `word<TAB>part of speech (n, v, a, r)<TAB>synonym
    synonym ...` of lemmas, the words of a phrase joined by `_`. `encoder`: `minilm`, or the folder or id of a sentence encoder,
    keeps the synonyms whose cosine with the word, where they stand, is at least `floor`.
    Who gives one of the next three takes WordNet. `senses`: only what is among the first so many senses of both words (5), the
    most frequent first. `fit`: the least sum of how often the word means that in sense-tagged text (0 to 1) and how alike both
    are out of context (0 to 1, by a sentence encoder, computed when the table was built); 0 takes all (0.3). `multiword` allows
    phrases ("film" to "motion picture"), which tagging data cannot take. `loose` takes the lemmas of every sense, of WordNet or
    of the file, as any part of speech, as they are, for every word, whatever the sentence: RobTest's synonyms, and for search
    attacks that have constraints of their own (TextAttack's PWWS).
    """

    senses: int | None = None
    fit: float | None = None
    multiword: bool = False
    source: str = LISTED
    loose: bool = False
    encoder: str = ""
    floor: float = 0.75

    name: ClassVar[str] = "synonym"
    facts: ClassVar[Facts] = Facts(
        summary="replace words by synonyms",
        paper="RobTest (Chen et al. 2023); after PWWS (Ren et al. 2019)",
        example="Adversarial attacks are innocuous.",
        level="word",
        tags=("general",),
        scripts="Latin",
        languages=("en",),
        reach=REACH[LISTED],
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.senses is not None and (type(self.senses) is not int or self.senses < 1):
            raise ValueError(f"expected a whole number above 0 for synonym.senses, got {self.senses!r}")
        if self.fit is not None:
            check_number(self.fit, 0, 2, "synonym.fit")
        check_number(self.floor, -1, 1, "synonym.floor")
        reach = REACH.get(WORDNET if self.net else self.source, 1.0)
        facts = replace(self.facts, keeps_tokens=not self.multiword, reach=1.0 if self.loose else reach)
        object.__setattr__(self, "facts", facts)

    @property
    def net(self) -> bool:
        """Whether synonyms come from WordNet."""
        wanted = self.multiword or self.senses is not None or self.fit is not None
        return self.source == WORDNET or (self.source == LISTED and wanted)

    def settled(self) -> Synonym:
        """This perturbation with the source that it takes, which some options decide; its synonyms are the same."""
        return replace(self, source=WORDNET) if self.source == LISTED and (self.net or self.loose) else self

    def stamp(self) -> object:
        return None if self.source in (LISTED, WORDNET) else modified(Path(self.source), SOURCE)

    def options(self, corpus: Corpus) -> WordOptions:
        if self.loose:
            return WordOptions.of([self._any(word) for word in corpus.cut(corpus.words).strings()])
        texts = corpus.strings()
        own = self.source == LISTED and not self.net
        found = listed_gaps(corpus, texts) if own else self._found(corpus, texts)
        if self.encoder:
            found = self._alike(texts, found)
        lists: list[list[str]] = [[] for _ in range(len(corpus.words))]
        for gap, new in found:
            lists[gap.number] = new
        return WordOptions.of(lists)

    def _found(self, corpus: Corpus, texts: list[str]) -> list[tuple[Gap, list[str]]]:
        """Words that may be replaced, and their synonyms from WordNet or the file."""
        tags, row, found = [*word_tags(corpus), ""], [*corpus.words.row.tolist(), -1], []
        for gap in find_gaps(corpus, texts, True):
            behind = gap.number + 1  # the next word counts if it is of this text, and a blank is between them
            near = row[behind] == row[gap.number] and texts[gap.text][gap.stop : gap.stop + 1] == " "
            if not _bound(gap, tags[behind] if near else ""):
                found.append((gap, self._choices(gap)))
        return found

    def _alike(self, texts: list[str], found: list[tuple[Gap, list[str]]]) -> list[tuple[Gap, list[str]]]:
        """Those synonyms that the encoder finds alike where they stand."""
        scores = likeness(self.encoder, texts, [gap for gap, _ in found], [new for _, new in found])
        return [
            (gap, [word for word, score in zip(new, each, strict=True) if score >= self.floor])
            for (gap, new), each in zip(found, scores, strict=True)
        ]

    def _any(self, word: str) -> list[str]:
        """Synonyms in any sense, whatever the sentence."""
        every = any_synonyms(word.lower())
        if self.source not in (LISTED, WORDNET):
            path = Path(self.source)
            listed = _listed(path, modified(path, SOURCE))
            every = tuple(other for pos in sorted(set(PARTS.values())) for other in listed.get((word.lower(), pos), ()))
        found = (other for other in every if self.multiword or " " not in other)
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
        if self.net:
            found = synonyms(base, pos, self.senses or SENSES, FIT if self.fit is None else self.fit)
            found = tuple(other for other in found if " " in other or familiar(other) >= FAMILIAR)
        else:
            path = Path(self.source)
            found = _listed(path, modified(path, SOURCE)).get((base, pos), ())
        return (other for other in found if self.multiword or " " not in other)
