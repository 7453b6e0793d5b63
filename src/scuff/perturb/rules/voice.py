"""Active and passive."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...language.inflect import inflected
from .adverbials import adverbial
from .clauses import Clause, clauses
from .lexicon import can_be, words
from .phrases import NP_OF, NP_PP, dates, plural
from .sentence import Piece, Rewording, Sentence

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
    """Where the object ends, if after it there is nothing but a time."""
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
    """Who does what a passive verb says: all behind "by", but for a time at the end."""
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
