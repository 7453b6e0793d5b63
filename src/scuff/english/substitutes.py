"""Which English words may be replaced, and by which: of the same form, from another lemma, not the opposite."""

from __future__ import annotations

from functools import lru_cache

from .inflection import FAMILY, inflected, lemma
from .wordnet import antonyms, familiar, is_phrase, synonyms

# lemmas that carry grammar, number or negation rather than content; of adverbs only those in -ly are content
KEPT = {
    "be", "being", "have", "do", "let", "need", "dare", "use", "get", "go", "become", "seem", "keep", "other", "such",
    "own", "same", "many", "much", "few", "more", "most", "less", "least", "several", "first", "last", "next", "second",
    "third", "lot", "kind", "sort", "bit", "rest", "thing", "something", "anything", "nothing", "everything", "someone",
    "anyone", "everyone", "nobody", "anybody", "everybody", "how", "why", "only", "really", "hardly", "barely",
    "scarcely", "rarely", "merely", "solely", "nearly", "early", "likely",
    "accord",
}  # fmt: skip

PARTS = {"NN": "n", "VB": "v", "JJ": "a", "RB": "r"}  # WordNet's, by the beginning of a Penn Treebank tag
SILENT_H = ("hour", "honest", "honor", "honour", "heir")

SPOKEN_Y = (
    "use", "usa", "usi", "usu", "ute", "uti", "uto", "unani", "unit", "unif", "unil", "unis", "unic", "univ", "uniq", "union",
    "ubi", "ura", "ure", "uri", "eu", "ewe", "one", "once",
)  # fmt: skip


@lru_cache(100_000)
def has_content(word: str, tag: str) -> bool:
    """Whether a word is a noun, verb, adjective or adverb in -ly that may be replaced, and the tag can be right."""
    low = word.lower()
    if tag not in FAMILY or not low.isalpha() or len(low) == 1 or (tag.startswith("RB") and not low.endswith("ly")):
        return False
    base = lemma(low, tag)
    return base not in KEPT and low not in KEPT and inflected(base, tag) == low


@lru_cache(100_000)
def may_replace(new: str, old: str, tag: str) -> bool:
    """Whether a word has the form of a tag and is neither derived from the old one (attacker, attack) nor its opposite."""
    if not has_content(new, tag):
        return False
    mine, its = lemma(new, tag), lemma(old, tag)
    if mine == its or (min(len(mine), len(its)) > 2 and (mine.startswith(its) or its.startswith(mine))):
        return False
    opposites = antonyms(its) | antonyms(old.lower())
    return mine not in opposites and new.lower() not in opposites


@lru_cache(100_000)
def opposed(new: str, old: str, tag: str) -> bool:
    """Whether a synonym of one, in any sense, is an opposite of the other: great (swell, good) and bad."""
    mine, its, part = lemma(new, tag), lemma(old, tag), PARTS[tag[:2]]
    return bool(antonyms(its).intersection(synonyms(mine, part)) or antonyms(mine).intersection(synonyms(its, part)))


@lru_cache(100_000)
def related(word: str, tag: str, most: int) -> tuple[str, ...]:
    """Synonyms in any sense, in the form of the tag, the most familiar first."""
    found = synonyms(lemma(word, tag), PARTS[tag[:2]])
    known = sorted((new for new in found if new.isalpha() and familiar(new)), key=lambda new: (-familiar(new), new))
    forms = dict.fromkeys(form for new in known if (form := inflected(new, tag)) and may_replace(form, word, tag))
    return tuple(forms)[:most]


def in_phrase(before: list[str], word: str, tag: str, behind: list[str]) -> bool:
    """Whether a word makes a fixed phrase with its neighbours, which are in lower case: ripping off, in the end."""
    phrases = (
        " ".join([*before[len(before) - left :], form, *behind[:right]])
        for form in {word.lower(), lemma(word, tag)}
        for left in range(len(before) + 1)
        for right in range(min(len(behind), 3 - left) + 1)
        if left + right and behind[:right][-1:] != ["and"]  # WordNet has "good and"
    )
    return any(is_phrase(phrase) or is_phrase(phrase.removesuffix("s")) for phrase in phrases)  # special effects


def takes_an(word: str) -> bool:
    """Whether a word begins with a vowel as it is spoken: an hour, a unit."""
    low = word.lower()
    return low.startswith(SILENT_H) or (low[:1] in tuple("aeiou") and not low.startswith(SPOKEN_Y))
