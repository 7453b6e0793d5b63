"""Verbs in another construction: often is, does have, seems to be, begins to, helps to, gave her, picked up."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...language.inflect import inflected, lemma
from .lexicon import words
from .phrases import MODIFIERS, dates
from .sentence import Rewording, Sentence

AFTER = {"b": "jegd", "h": "e", "m": "V"}  # what an auxiliary goes with
QUESTIONS = frozenset(("nor", "so", "than", "neither", "only", "how", "what", "why", "where", "when"))
THING = f"d{MODIFIERS}[ns]"
DATIVE = re.compile(f"[vVge](?:(?P<who>p|d[ns])(?P<what>{THING})|(?P<thing>{THING})[it](?P<whom>p|d[ns]))(?=[.,]|$)")


def auxiliary(s: Sentence) -> Iterator[Rewording]:
    """is often good -> often is good, and back."""
    for match in re.finditer("(?<=[nsNpwE])(?:[bhm]r|r[bhm])(?=[jegdV])", s.shape):
        at = match.start()
        verb, adverb = (at + 1, at) if s.shape[at] == "r" else (at, at + 1)
        goes = s.shape[at + 2] in AFTER[s.shape[verb]] and s.low[verb][0] != "'"
        if goes and s.low[adverb] in words("frequent"):
            yield from s.arrange(at, at + 2, (at + 1, at + 2), (at, at + 1))


def emphatic(s: Sentence) -> Iterator[Rewording]:
    """does have a heart -> has a heart."""
    for match in re.finditer("(?<=[nsNp])or?V", s.shape):
        do, verb = match.start(), match.end() - 1
        new = inflected(lemma(s.low[verb], "VB"), {"does": "VBZ", "did": "VBD", "do": "VBP"}[s.low[do]])
        adverb = verb == do + 1 or s.low[do + 1].endswith("ly") or s.low[do + 1] in ("somehow", "still")
        alone = adverb and s.low[verb] != "be" and not re.search("cr?V", s.shape[verb:])  # does sing and dance
        if new and alone and not QUESTIONS.intersection(s.low[max(do - 5, 0) : do]):
            yield from s.arrange(do, verb + 1, (do + 1, verb), new)


def seems(s: Sentence) -> Iterator[Rewording]:
    """seems to be good -> seems good, and back."""
    for match in re.finditer("[vV](?=(?:tV)?r*j(?![nsNj]))", s.shape):
        at = match.start()
        if s.lemma(at) not in ("seem", "appear"):
            continue
        if s.low[at + 1 : at + 3] == ["to", "be"]:
            yield from s.arrange(at + 1, at + 4, (at + 3, at + 4))
        elif s.shape[at + 1] != "t" and s.low[at + 1] not in ("like", "that", "far", "more", "less"):
            yield from s.arrange(at + 1, at + 2, "to be", (at + 1, at + 2))


def begins(s: Sentence) -> Iterator[Rewording]:
    """begins to rain -> begins raining, and back."""
    for match in re.finditer("[vV](?=tV|g(?![ns]))", s.shape):
        at = match.start()
        if s.lemma(at) not in ("begin", "start", "continue") or re.search("cr?[Vg]|^.(?:tV|g)c", s.shape[at:]):
            continue  # begins to sing and dance
        if s.shape[at + 1] == "t" and s.low[at + 2] not in words("never begun"):
            yield from s.arrange(at + 1, at + 3, inflected(s.low[at + 2], "VBG") or (at + 1, at + 3))
        elif s.shape[at + 1] == "g" and s.low[at + 1] not in ("being", "following"):
            yield from s.arrange(at + 1, at + 2, "to", lemma(s.low[at + 1], "VBG"))


def infinitive(s: Sentence) -> Iterator[Rewording]:
    """in order to win -> to win; helps to win -> helps win, and back."""
    for match in re.finditer("tV", s.shape):
        at = match.start()
        if s.low[max(at - 2, 0) : at] == ["in", "order"]:
            yield from s.arrange(at - 2, at + 1, (at, at + 1))
    for match in re.finditer("[vV](?=t?V)", s.shape):
        at = match.start() + 1
        if s.lemma(at - 1) != "help":
            continue
        if s.shape[at] == "t":
            yield from s.arrange(at, at + 2, (at + 1, at + 2))
        elif s.word(at - 2) != "to":  # not: to help to win
            yield from s.arrange(at, at + 1, "to", (at, at + 1))


def particle(s: Sentence) -> Iterator[Rewording]:
    """picked up the book -> picked the book up."""
    for match in re.finditer("[vVge]R(?P<object>d[ns])(?=[.:]|$)", s.shape):
        at, (a, b) = match.start(), match.span("object")
        known = s.lemma(at) in words("phrasal") and s.low[at + 1] in ("up", "down", "out", "off", "away")
        if known and s.low[b - 1] not in dates():
            yield from s.arrange(at + 1, b, (a, b), (at + 1, at + 2))


def dative(s: Sentence) -> Iterator[Rewording]:
    """gave him a book -> gave a book to him; gave a book to her -> gave her a book."""
    for match in DATIVE.finditer(s.shape):
        if s.lemma(match.start()) not in words("giving"):
            continue
        if match["who"] and s.low[match.start("who")] != "it":
            yield from s.arrange(match.start() + 1, match.end(), match.span("what"), "to", match.span("who"))
        elif (
            match["whom"] and s.low[match.end("thing")] == "to" and s.low[match.start("whom")] not in ("a", "an", "it")
        ):
            yield from s.arrange(match.start() + 1, match.end(), match.span("whom"), match.span("thing"))
