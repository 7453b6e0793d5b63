"""Clauses in another order: around because, when, although and the like, and around but."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .clauses import Clause, clause_at, clauses, sound
from .lexicon import words
from .segments import segments
from .sentence import Rewording, Sentence

CONTRAST = ("although", "though")  # with a comma, wherever they stand


def clause_order(s: Sentence) -> Iterator[Rewording]:
    """I stayed because it rained. -> Because it rained, I stayed."""
    for clause in clauses(s):
        for at in range(clause.rest, clause.stop):
            if s.low[at] in words("conjunctions") and s.shape[at] in "SiWr":
                minor, end = clause_at(s, at + 1, clause.stop), at - (s.shape[at - 1] == ",")
                if minor and _movable(clause, at, end) and _alone(minor):
                    yield from clause.becomes((at, clause.stop), ",", (clause.start, end))
                break


def _movable(clause: Clause, at: int, end: int) -> bool:
    """Whether a conjunction can only join its clause to the main one, whose words end before `end`."""
    s = clause.s
    if s.low[at - 1] in words("not before a conjunction") or re.search("[vbhomwWStVg,c:]", s.shape[clause.rest : end]):
        return False
    if s.low[at] == "because" and "!" in s.shape[clause.start : at]:  # perhaps it was for another reason
        return False
    if s.low[at] in ("if", "when", "as") and s.lemma(at - 1) in words("asking"):
        return False
    first = s.low[clause.start]
    return first not in ("this", "that") and not (first in words("their") and s.shape[at + 1] != "p")


def _alone(minor: Clause) -> bool:
    """Whether all to its end belongs to a clause, and no day does that may be the main clause's."""
    if words("days").intersection(minor.s.low[minor.rest : minor.stop]):
        return False
    return not re.search("[vbhomS,:]", minor.tail) and not re.search("cr?[vbhomp]", minor.tail)


def clause_order_back(s: Sentence) -> Iterator[Rewording]:
    """Because it rained, I stayed. -> I stayed because it rained."""
    for start, stop in segments(s):
        if s.low[start] not in words("conjunctions") - {"while", "whereas"} or s.shape.count(",", start, stop) != 1:
            continue
        comma = s.shape.index(",", start, stop)
        minor, main = clause_at(s, start + 1, comma), clause_at(s, comma + 1, stop)
        if not minor or not main or not sound(minor) or re.search("[vbhomwWSc]", main.tail):
            continue
        named = words("their").intersection(s.low[comma + 1 : stop]) and s.shape[start + 1] != "p"
        if not named and s.low[comma + 1] != "then":
            yield from s.arrange(
                start, stop, (comma + 1, stop), "," if s.low[start] in CONTRAST else "", (start, comma)
            )


def but(s: Sentence) -> Iterator[Rewording]:
    """It is slow, but it is fun. -> Although it is slow, it is fun."""
    for clause in clauses(s):
        links = [at for at in range(clause.rest, clause.stop) if s.low[at] == "but" and s.shape[at] == "c"]
        if len(links) != 1 or s.shape[links[0] - 1] != ",":
            continue
        at, before = links[0], s.low[: links[0]]
        plain = not {"only", "merely", "just", "nothing"}.intersection(before)
        if plain and clause_at(s, at + 1, clause.stop) and not re.search("[,:]", s.shape[clause.rest : at - 1]):
            yield from clause.becomes("although", (clause.start, at), (at + 1, clause.stop))


def although(s: Sentence) -> Iterator[Rewording]:
    """Although it is slow, it is fun. -> It is slow, but it is fun."""
    for start, stop in segments(s):
        comma = s.shape.find(",", start, stop)
        if comma < 0 or s.low[start] not in (*CONTRAST, "while") or "but" in s.low[start:stop]:
            continue
        minor, main = clause_at(s, start + 1, comma), clause_at(s, comma + 1, stop)
        if minor and main and sound(minor) and (s.low[start] != "while" or "g" not in minor.group):
            yield from s.arrange(start, stop, (start + 1, comma + 1), "but", (comma + 1, stop))


def join(s: Sentence) -> Iterator[Rewording]:
    """It is slow, and it is long. -> It is slow; it is long. It is slow, but fun. -> It is slow; however, it is fun."""
    for start, stop in segments(s):
        first = clause_at(s, start, stop)
        comma = s.shape.find(",", first.rest + 1 if first else stop, stop - 2)
        at = comma + 1
        if not first or comma < 0 or not sound(first) or s.shape[at] != "c" or s.low[at] not in ("and", "but"):
            continue
        second = clause_at(s, at + 1, stop)
        whole = s.shape[comma - 1] not in "icdSwWt" and not re.search("[SwW]", s.shape[first.rest : comma])
        if second and sound(second) and whole:
            word = s.cut(comma - 1, comma) + (" ;" if s.spaced else ";")
            yield from s.arrange(comma - 1, at + 1, word, *(("however", ",") if s.low[at] == "but" else ()))
