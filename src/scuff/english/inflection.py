"""Lemmas and forms of English words, from lemminflect (its dictionary is the SPECIALIST lexicon)."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from types import ModuleType

from ..resources import MissingResource

NOUN, VERB = ("NN", "NNS"), ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")
ADJECTIVE, ADVERB = ("JJ", "JJR", "JJS"), ("RB", "RBR", "RBS")
FAMILIES = {"NOUN": NOUN, "VERB": VERB, "ADJ": ADJECTIVE, "ADV": ADVERB}
FAMILY = {tag: family for family, tags in FAMILIES.items() for tag in tags}
SAME = {
    "VBN": "VBD",
    "VBD": "VBN",
    "VBP": "VB",
}  # forms that the dictionary leaves out where they are the same as another
BETTER: dict[tuple[str, str], tuple[str, ...]] = {  # forms that the dictionary has wrong
    ("be", "VBP"): ("are", "am"),
    ("beef", "NNS"): ("beefs",),
    ("dis", "VBZ"): ("disses",),
    ("wake", "VBN"): ("woken",),
    ("wrong", "JJR"): (),
    ("wrong", "JJS"): (),
}


@cache
def _library() -> ModuleType:
    """lemminflect; raises MissingResource if it is not installed."""
    try:
        import lemminflect
    except ImportError:
        raise MissingResource("expected the package lemminflect, got none: pip install 'scuff[english]'") from None
    return lemminflect


@lru_cache(100_000)
def lemma(word: str, tag: str) -> str:
    """The lower-case lemma of a word with a Penn Treebank tag; the word itself where there is no other."""
    low, family = _plain(word), FAMILY.get(tag, "")
    if not family:
        return low
    found: tuple[str, ...] = _library().getLemma(low, family, lemmatize_oov=False)
    for each in (low, *found) if tag == FAMILIES[family][0] else found:  # "found" is find/VBD, but found/VB
        if low in _variants(each, tag):
            return each
    if found or tag in ("NN", "VB", "VBP", "JJ", "RB"):
        return found[0] if found else low
    guess: tuple[str, ...] = _library().getLemma(low, family)
    return next((each for each in guess if each.islower()), low)  # its rules may cut a word of one letter to nothing


@lru_cache(100_000)
def inflected(lemma: str, tag: str) -> str | None:
    """The form of a lemma for a Penn Treebank tag: ("view", "VBD") gives "viewed"; None where there is none."""
    found = _variants(lemma, tag)
    return found[0] if found else None


@lru_cache(100_000)
def forms(word: str, tag: str) -> list[str]:
    """Every other form of a word for its part of speech, sorted: watched/VBD gives watch, watches, watching.

    Only for words that are in the dictionary. Of several spellings (traveled, travelled) the usual one.
    """
    low, family = _plain(word), FAMILY.get(tag, "")
    base = lemma(word, tag)
    known = {each: _variants(base, each) for each in FAMILIES.get(family, ())}
    if not any(low in variants for variants in known.values()):
        return []
    if base == "be":
        return sorted({form for variants in known.values() for form in variants} - {low})
    return sorted({variants[0] for variants in known.values() if variants and low not in variants})


@lru_cache(100_000)
def possible_tags(word: str) -> frozenset[str]:
    """The tags of nouns, verbs, adjectives and adverbs that the dictionary has a word with; none for an unknown word."""
    low = _plain(word)
    lemmas: dict[str, tuple[str, ...]] = _library().getAllLemmas(low) if low.isalpha() else {}
    candidates = ((each, tag) for family in FAMILIES for each in lemmas.get(family, ()) for tag in FAMILIES[family])
    return frozenset(tag for each, tag in candidates if low in _variants(each, tag))


@lru_cache(100_000)
def _variants(lemma: str, tag: str) -> tuple[str, ...]:
    """The spellings of a lemma's form for a tag, the usual one first."""
    if (lemma, tag) in BETTER:
        return BETTER[lemma, tag]
    family = FAMILY.get(tag, "")
    if not family or (tag[2:] in ("R", "S") and family in ("ADJ", "ADV") and not _comparable(lemma, family)):
        return ()
    table = _table(lemma, family)
    found = table.get(tag) or table.get(SAME.get(tag, ""), ())
    if family in ("ADJ", "ADV") and lemma.endswith("e"):
        found = tuple(re.sub("e(er|est)$", r"\1", form) for form in found)  # the dictionary has freeer, trueer
    found = tuple(form for form in found if form.isascii() >= lemma.isascii() and form.isalpha() == lemma.isalpha())
    if tag == "NNS":  # nouns that are also used without number have themselves as a plural: film, films
        found = tuple(form for form in found if form != lemma) or found
    return found


@lru_cache(100_000)
def _table(lemma: str, family: str) -> dict[str, tuple[str, ...]]:
    """The forms of a lemma by tag."""
    return _library().getAllInflections(lemma, family)


def _comparable(lemma: str, family: str) -> bool:
    """Whether -er and -est sound right: one syllable, or two with a light ending. (The dictionary has "correctlier".)"""
    if family == "ADV" and lemma.endswith("ly"):
        return lemma == "early"
    syllables = len(re.findall("[aeiou]+", re.sub("(?<=[^aeiou])e$", "", lemma)))
    return syllables <= 1 or (syllables == 2 and lemma.endswith(("y", "le", "ow", "er")) and not lemma.endswith("ey"))


def _plain(word: str) -> str:
    """A word in lower case with a straight apostrophe."""
    return word.lower().replace("’", "'")


def cased_like(new: str, old: str) -> str:
    """Write a word as another one is written: Word, WORD or word."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
