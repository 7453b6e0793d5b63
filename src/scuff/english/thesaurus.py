"""Scuff's own list of synonyms: pairs of words that mean the same in nearly every sentence, and what must stand beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from ..resources import load
from .inflection import ADJECTIVE, NOUN, VERB, inflected, lemma
from .substitutes import PARTS

SECTIONS = {"[noun]": "n", "[verb]": "v", "[adjective]": "a", "[adverb]": "r", "[form]": ""}
CLASSES = frozenset((
    "obj", "pro", "that", "to", "ing", "adj", "num", "name", "end", "pass", "attr", "pred", "verb", "base", "past", "more",
    "plain", "last",
))  # fmt: skip
LIMITS = frozenset(("sg", "pl", "part", "comp", "noun", "prep", "rel"))
NAME = ("NNP", "NNPS")
BASE = ("NN", "JJ", "RB", "VB")  # tags of base forms
OBJECT = ("DT", "PDT", "PRP$", "CD", *NOUN, *NAME, *ADJECTIVE)
BE = frozenset(("am", "is", "are", "was", "were", "be", "been", "being", "'s", "'re", "'m", "get", "gets", "got"))

PERFECT = BE | {"have", "has", "had", "having", "'ve", "'d"}
SUBJECT = (*NOUN, *NAME, "PRP", "WP", "WDT")
TAGS = {  # conditions that ask only for the tag of the word behind
    "pro": ("PRP",), "ing": ("VBG",), "num": ("CD",), "name": NAME, "attr": (*NOUN, *ADJECTIVE), "verb": (*VERB, "MD"),
    "base": ("VB", "VBP"), "past": ("VBD", "VBZ"), "more": ("JJR", "RBR"), "plain": ("JJ",),
}  # fmt: skip


class Around(NamedTuple):
    """The neighbours of a word, in lower case, and their tags; "" where something other than one space is between."""

    before: str
    before_tag: str
    behind: str
    behind_tag: str
    after_tag: str  # of the word behind the next


@dataclass(frozen=True)
class Substitute:
    """A synonym and its conditions: one of `classes`, `behind` and `before` if there are any, and all the others."""

    word: str
    classes: frozenset[str] = frozenset()
    behind: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    never_behind: frozenset[str] = frozenset()
    never_before: frozenset[str] = frozenset()
    limits: frozenset[str] = frozenset()

    def suits(self, tag: str, around: Around) -> bool:
        """Whether the synonym can stand for a word with this tag between these neighbours."""
        if around.behind in self.never_behind or {"NN": "pl", "NNS": "sg"}.get(tag) in self.limits:
            return False
        before = "not" if around.before.endswith("n't") else around.before
        if before in self.never_before or not self._allows(tag, around):
            return False
        if tag in NOUN and self._in_compound(around):
            return False
        if self.behind or self.before or self.classes:
            return self.named(around) or any(_holds(each, tag, around) for each in self.classes)
        if tag in VERB:
            return around.behind_tag not in ("RP", "TO") and (around.behind_tag != "IN" or tag == "VBN")
        return tag not in ADJECTIVE or around.behind_tag not in ("IN", "TO")

    def _allows(self, tag: str, around: Around) -> bool:
        """Whether the limits hold that say what the word is, or that a noun is in front."""
        noun = "noun" not in self.limits or around.before_tag in NOUN
        prep = "prep" not in self.limits or tag in ("IN", "RP", "CC")
        return noun and prep and ("rel" not in self.limits or tag == "WDT")

    def named(self, around: Around) -> bool:
        """Whether the list names the word behind or in front: then the two may be a fixed phrase."""
        return around.behind in self.behind or around.before in self.before

    def _in_compound(self, around: Around) -> bool:
        """Whether a noun is the first or last part of a compound, and may not be replaced there: "film festival"."""
        last, first = around.before_tag in (*NOUN, *NAME), around.behind_tag in (*NOUN, *NAME)
        return (last and "part" not in self.limits) or (first and "comp" not in self.limits)


def _holds(name: str, tag: str, around: Around) -> bool:
    """Whether a condition holds; the file says what each means."""
    behind, kind = around.behind, around.behind_tag
    passive = tag == "VBN" and (around.before in BE or behind == "by")
    if name == "obj":
        inside = tag in ("VBN", "VBG") and around.before_tag in ("DT", "PRP$", "JJ", "POS")  # the proposed law
        return kind in OBJECT and behind not in ("that", "there") and not inside
    if name == "that":
        return behind == "that" and kind == "IN"
    if name == "to":
        return behind == "to" and around.after_tag == "VB" and not passive
    if name == "end":
        return (behind == "" or kind == "CC") and not passive
    if name == "pass":
        return passive and kind not in OBJECT
    if name == "pred":
        return kind not in (*NOUN, *NAME, *ADJECTIVE, "IN", "TO", "CD", "VBG")
    if name == "last":
        return kind == "JJ" and around.after_tag in ("", "CC")
    return kind in TAGS.get(name, (*ADJECTIVE, "VBN"))  # adj


@cache
def _lists() -> dict[tuple[str, str], tuple[Substitute, ...]]:
    """The file: synonyms by lemma and part of speech."""
    found: dict[tuple[str, str], tuple[Substitute, ...]] = {}
    part = ""
    for line in load("synonyms.txt").decode().splitlines():
        if line in SECTIONS:
            part = SECTIONS[line]
        elif line and not line.startswith("#"):
            word, _, others = line.partition(": ")
            found[word, part] = tuple(map(_substitute, others.split()))
    return found


def _substitute(text: str) -> Substitute:
    """A synonym as it is written in the file: `big/attr,-scale`."""
    word, _, conditions = text.partition("/")
    names = frozenset(conditions.split(",")) - {""}
    signs = {"+": "behind", ">": "before", "-": "never_behind", "<": "never_before"}
    words = {field: frozenset(name[1:] for name in names if name[0] == sign) for sign, field in signs.items()}
    return Substitute(word, names & CLASSES, limits=names & LIMITS, **words)


def unsure(word: str, form: str, tag: str, around: Around) -> bool:
    """Whether a past tense could be a participle, or the other way round, and the two differ for the synonym: talked, spoke."""
    if tag not in ("VBD", "VBN"):
        return False
    base, other = lemma(form, tag), "VBN" if tag == "VBD" else "VBD"
    if inflected(lemma(word, tag), other) != word or inflected(base, other) == form:
        return False
    return around.before not in PERFECT if tag == "VBN" else around.before_tag not in SUBJECT


@lru_cache(100_000)
def substitutes(word: str, tag: str) -> tuple[tuple[str, Substitute], ...]:
    """The synonyms of a word in lower case, in the form of its tag; of its lemma none if the tag cannot be right."""
    part = PARTS.get(tag[:2], "")
    base = lemma(word, tag) if part else word
    listed = _lists().get((base, part), ()) if part and (inflected(base, tag) or base) == word else ()
    forms = ((each.word if tag in BASE else inflected(each.word, tag), each) for each in listed)
    as_is = ((each.word, each) for each in _lists().get((word, ""), ()))
    return tuple((form, each) for form, each in (*forms, *as_is) if form and form != word)
