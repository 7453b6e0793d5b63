"""Lemmas and forms of English words, from lemminflect."""

from __future__ import annotations

from functools import cache, lru_cache
from types import ModuleType

from ..resources import MissingResource

NOUN, VERB, ADJECTIVE, ADVERB = (
    ("NN", "NNS"),
    ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"),
    ("JJ", "JJR", "JJS"),
    ("RB", "RBR", "RBS"),
)
FAMILY = {tag: family for family in (NOUN, VERB, ADJECTIVE, ADVERB) for tag in family}
UPOS = {NOUN: "NOUN", VERB: "VERB", ADJECTIVE: "ADJ", ADVERB: "ADV"}
BE = {"VB": "be", "VBP": "are", "VBZ": "is", "VBD": "was", "VBN": "been", "VBG": "being"}


@cache
def _library() -> ModuleType:
    try:
        import lemminflect
    except ImportError:
        raise MissingResource("expected the package lemminflect, got none: pip install 'scuff[english]'") from None
    return lemminflect


@lru_cache(100_000)
def lemma(word: str, tag: str) -> str:
    """The lower-case lemma of a word with a Penn Treebank tag; the word itself where it has no other."""
    family = FAMILY.get(tag)
    low = word.lower().replace("’", "'")
    if family is None:
        return low
    found = _library().getLemma(low, UPOS[family])
    return found[0] if found else low


@lru_cache(100_000)
def inflected(lemma: str, tag: str) -> str | None:
    """The form of a lemma for a Penn Treebank tag: ("view", "VBD") gives "viewed"; None where there is none."""
    if tag not in FAMILY:
        return None
    if lemma == "be":
        return BE.get(tag)
    found = _library().getInflection(lemma, tag, inflect_oov=False)
    return found[0] if found else None


@lru_cache(100_000)
def forms(word: str, tag: str) -> list[str]:
    """Every other form of a word for its part of speech, sorted: watched/VBD gives watch, watches, watching."""
    family = FAMILY.get(tag)
    if family is None:
        return []
    low = word.lower().replace("’", "'")
    found = _library().getAllInflections(lemma(word, tag), UPOS[family])
    return sorted({form for tag in sorted(found) for form in found[tag] if form != low})


def cased_like(new: str, old: str) -> str:
    """Write a word as another one is written: Word, WORD or word."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
