"""Verbs in another construction, active and passive voice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..inflection import inflected, lemma
from .clauses import MODIFIERS, NP_OF, NP_PP, Clause, adverbial, clauses, dates, plural
from .lexicon import can_be, words
from .sentence import Piece, Rewording, Sentence

AFTER = {"b": "jegd", "h": "e", "m": "V"}  # what may follow an auxiliary
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
        if (
            s.lemma(at)
            not in (
                "begin",
                "start",
                "continue",
                "like",
                "love",
                "hate",
                "prefer",
                "cease",
                "bother",
            )
            or s.more_to(at)
            or re.search("cr?[Vg]|^.(?:tV|g)c", s.shape[at:])
        ):
            continue  # begins to sing and dance
        if s.low[at] in ("like", "love", "hate", "prefer") and (
            s.kind(at - 1) in ("m", "i", "") or s.word(at - 1) in ("'d", "i")
        ):
            continue  # would like to; as I like to put it
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
        if s.shape[at] == "t" and not s.more_to(at):
            yield from s.arrange(at, at + 2, (at + 1, at + 2))
        elif s.shape[at] == "V" and s.word(at - 2) != "to":  # not: to help to win
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


OBJECT = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "it": "it", "you": "you"}
SUBJECT = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "it": "it", "you": "you"}


def passive(s: Sentence) -> Iterator[Rewording]:
    """The cast saves the film. -> The film is saved by the cast."""
    for clause in clauses(s):
        if (
            clause.group not in ("v", "rv", "mV", "he")
            or not re.fullmatch(NP_OF, clause.subject)
            or "p" in clause.subject
        ):
            continue
        stop, participle = _object(clause), inflected(clause.base, "VBN")
        many = plural(s, clause.rest, stop) if stop else None
        if not stop or many is None or not participle or clause.base not in words("passive"):
            continue
        patient: Piece = (clause.rest, stop)
        if s.shape[clause.rest] == "p":
            patient = "i" if s.spaced and s.low[clause.rest] == "me" else SUBJECT[s.low[clause.rest]]
        adverb = (clause.verb, clause.verb + int(clause.group == "rv"))
        pieces = patient, _be(clause, many, s.low[clause.rest]), adverb, participle, "by", (clause.start, clause.verb)
        yield from clause.becomes(*pieces, (stop, clause.stop))


def _object(clause: Clause) -> int | None:
    """Where the object ends, or None if more than a time follows it."""
    s = clause.s
    match = re.match(NP_OF, clause.tail)
    if not match or clause.tail[0] == "0" or (clause.tail[0] == "p" and s.low[clause.rest] not in SUBJECT):
        return None
    stop = clause.rest + match.end()
    barred = words("no patient") | words("no agent") | dates() | ({"her"} if match.end() > 1 else set())
    if barred.intersection(s.low[clause.rest : stop]):
        return None
    return stop if stop == clause.stop or adverbial(s, stop, clause.stop) else None


def _be(clause: Clause, many: bool, patient: str) -> str:
    """The form of "be" that makes a verb passive, with its auxiliary."""
    first = clause.s.low[clause.verb]
    if clause.group == "mV":
        return f"{first} be"
    if clause.group == "he":
        return f"{'had' if first == 'had' else 'have' if many else 'has'} been"
    if clause.past:
        return "were" if many and patient != "me" else "was"
    return "am" if patient == "me" else "are" if many else "is"


def active(s: Sentence) -> Iterator[Rewording]:
    """The film is saved by the cast. -> The cast saves the film."""
    for clause in clauses(s):
        agent = _agent(clause)
        many, last = plural(s, *agent) if agent else None, clause.rest - 1
        if not agent or many is None or (s.shape[last - 1] == "r" and not s.low[last - 1].endswith("ly")):
            continue
        patient: Piece = (clause.start, clause.verb)
        if s.shape[clause.start] == "p":
            patient = OBJECT.get(s.low[clause.start], "")
        new = _finite(clause, many)
        if new and patient and can_be(s.low[last], "VBN") and re.fullmatch(NP_OF, clause.subject):
            adverb = (last - int(s.shape[last - 1] == "r"), last)
            yield from clause.becomes(agent, adverb, new, patient, (agent[1], clause.stop))


def _agent(clause: Clause) -> tuple[int, int] | None:
    """The agent of a passive verb: all after "by", without a time at the end."""
    s, start = clause.s, clause.rest + 1
    if not re.fullmatch("br?e|mVe|hee", clause.group) or s.word(clause.rest) != "by" or start >= clause.stop:
        return None
    stop = next((at for at in range(start + 1, clause.stop) if adverbial(s, at, clause.stop)), clause.stop)
    low = s.low[start:stop]
    if not re.fullmatch(f"(?!p){NP_PP}", s.shape[start:stop]) or "than" in low:
        return None
    return None if (words("no agent") | dates()).intersection(low) else (start, stop)


def _finite(clause: Clause, many: bool) -> str:
    """The active form of a passive verb."""
    s, base = clause.s, clause.s.lemma(clause.rest - 1)
    first = s.low[clause.verb]
    if clause.group[0] == "m":
        return f"{first} {base}"
    if clause.group[0] == "h":
        return f"{'had' if first == 'had' else 'have' if many else 'has'} {s.low[clause.rest - 1]}"
    return inflected(base, "VBD" if first in ("was", "were") else "VBP" if many else "VBZ") or ""
