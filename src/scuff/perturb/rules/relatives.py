"""Relative clauses: shortened, made longer, with another pronoun."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...language.inflect import inflected, lemma
from .lexicon import words
from .phrases import MODIFIERS, NP_PP, VERB
from .sentence import Rewording, Sentence

PERSON = re.compile("(?:er|or|ist|ian|man|men|woman|women|ee|ant|ent|ess|ster|eur|folk)s?$")


def apposition(s: Sentence) -> Iterator[Rewording]:
    """Anna, who is a doctor, left. -> Anna, a doctor, left."""
    for match in re.finditer(rf"(?<=[nsN],)wb(?=d{MODIFIERS}[nsN])", s.shape):
        at = match.start()
        end = s.shape.find(",", at)
        stop = end if end > 0 else len(s.shape.rstrip("."))
        if s.low[at] in ("who", "which") and re.fullmatch(NP_PP, s.shape[at + 2 : stop]):
            yield from s.arrange(at, at + 3, (at + 2, at + 3))


def reduced(s: Sentence) -> Iterator[Rewording]:
    """a film that was made by them -> a film made by them."""
    for match in re.finditer("(?<=[ns])wb(?=r?[eg]i|i[dnsNj])", s.shape):
        at = match.start()
        shared = re.search("[,c]r*[vbhom]", s.shape[at + 2 :])  # that is made and is sold
        named = s.low[at] in ("that", "which", "who") and s.low[at + 1] != "'s"
        cleft = (
            "it" in s.low[max(at - 7, 0) : at] and "the" in s.low[max(at - 4, 0) : at]
        )  # it is the film that was made
        if named and not shared and not cleft and s.low[at + 2] not in ("to", "about", "of"):
            yield from s.arrange(at, at + 3, (at + 2, at + 3))


def participle(s: Sentence) -> Iterator[Rewording]:
    """films featuring him -> films that feature him; people involved in it -> people who are involved in it."""
    if any(word.tag in ("VBD", "MD") for word in s.words):
        return
    for match in re.finditer("(?<=[djivf][ns])(?:g(?=[idjnsN])|e(?=i))", s.shape):
        at, noun = match.start(), s.low[match.start() - 1]
        who, many = "who" if noun in words("people") else "that", s.shape[at - 1] == "s"
        if s.low[at] in words("ongoing"):
            yield from s.arrange(at, at + 1, who, inflected(lemma(s.low[at], "VBG"), "VBP" if many else "VBZ") or "")
        elif s.low[at] in words("lasting"):
            yield from s.arrange(at, at + 1, who, "are" if many else "is", (at, at + 1))


def relative_pronoun(s: Sentence) -> Iterator[Rewording]:
    """a film that works -> a film which works; people that work -> people who work."""
    for match in re.finditer(rf"(?<=[nsN])w(?={VERB})", s.shape):
        at, noun = match.start(), s.low[match.start() - 1]
        person = noun in words("people") or PERSON.search(noun)
        new = ""
        if s.low[at] == "that":
            thing = noun in words("things") and "'" not in s.low[at + 1]
            new = "who" if noun in words("people") else "which" if thing else ""
        elif (s.low[at] == "which" and not person) or (s.low[at] == "who" and noun in words("anyone")):
            new = "that"
        if new and not s.capital(at):
            yield from s.arrange(at, at + 1, new)


def where(s: Sentence) -> Iterator[Rewording]:
    """a film in which he sings -> a film where he sings, and back."""
    for match in re.finditer("(?<=[ns])(?:iw|W)(?=[dpnNs])", s.shape):
        at, noun = match.start(), s.low[match.start() - 1]
        if not {noun, noun.removesuffix("s")} & (words("works") | words("settings")):
            continue
        if s.low[at : at + 2] == ["in", "which"]:
            yield from s.arrange(at, at + 2, "where")
        elif s.low[at] == "where":
            yield from s.arrange(at, at + 1, "in which")
