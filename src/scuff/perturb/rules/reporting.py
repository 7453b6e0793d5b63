"""Who says it: before what is said, or after it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .adverbials import adverbial
from .clauses import clause_at, sound
from .lexicon import words
from .phrases import NP_PP
from .segments import segments, starts
from .sentence import Rewording, Sentence

TAIL = re.compile(rf",(?!p)(?P<who>{NP_PP})(?P<said>v)(?P<when>[^,]*)$")
HEAD = re.compile(rf"(?P<who>{NP_PP})(?P<said>v)(?P<when>(?:i?N)?)(?P<that>S?)")


def said_first(s: Sentence) -> Iterator[Rewording]:
    """It rained, officials said on Monday. -> Officials said on Monday that it rained."""
    for start, stop in segments(s):
        match = TAIL.search(s.shape[:stop], start)
        clause = (
            clause_at(s, start, match.start()) if match and s.low[match.start("said")] in words("reported") else None
        )
        if not match or not clause or not sound(clause) or not starts(s, start):
            continue
        when = match.start("when")
        if when == stop or adverbial(s, when, stop):
            yield from s.arrange(start, stop, (match.start() + 1, stop), "that", (start, match.start()))


def said_last(s: Sentence) -> Iterator[Rewording]:
    """Officials said on Monday that it rained. -> It rained, officials said on Monday."""
    for start, stop in segments(s):
        match = HEAD.match(s.shape, start, stop)
        if not match or s.low[match.start("said")] not in ("said", "says") or not starts(s, start):
            continue
        timed = not match["when"] or s.low[match.end("when") - 1] in words("days")
        that, clause = match.start("that"), clause_at(s, match.end(), stop)
        if not clause or not timed or (match["that"] and s.low[that] != "that") or re.search("[vbhom,]", clause.tail):
            continue
        if s.shape[start] == "p" or s.low[clause.start] not in ("it", "he", "she", "they"):
            yield from s.arrange(start, stop, (clause.start, stop), ",", (start, that))
