"""Adverbials from within or behind a clause to its front, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .adverbials import LONGEST, adverbial, adverbials
from .clauses import clause_at, clauses, sound
from .lexicon import words
from .phrases import NP_PP, single
from .segments import loud, segments
from .sentence import Rewording, Sentence

FEW = 9  # words after the verb, with which it can be heard that an adverbial at the end belongs to it


def to_front(s: Sentence) -> Iterator[Rewording]:
    """She left in the morning. -> In the morning, she left."""
    for clause in clauses(s):
        for start, stop in () if clause.follows else adverbials(clause):
            on = "on" if s.low[start] in words("days") else ""
            yield from clause.becomes(on, (start, stop), ",", (clause.start, start), (stop, clause.stop))


def to_end(s: Sentence) -> Iterator[Rewording]:
    """In the morning, she left. -> She left in the morning."""
    for start, stop in segments(s):
        comma = s.shape.find(",", start, min(stop, start + LONGEST + 1))
        clause = clause_at(s, comma + 1, stop) if comma > start and adverbial(s, start, comma) else None
        if clause and len(clause.tail) < FEW and single(s, clause.rest, stop) and not re.search("[,i]", clause.tail):
            yield from s.arrange(start, stop, (comma + 1, stop), (start, comma))


def source(s: Sentence) -> Iterator[Rewording]:
    """It rained, according to her. -> According to her, it rained."""
    for clause in clauses(s):
        match = re.search(f",[eig][ti]{NP_PP}$", clause.tail)
        comma = clause.rest + match.start() if match else clause.stop
        if s.low[comma + 1 : comma + 3] == ["according", "to"]:
            yield from clause.becomes((comma + 1, clause.stop), ",", (clause.start, comma))


def comment(s: Sentence) -> Iterator[Rewording]:
    """Unfortunately, it rained. -> It rained, unfortunately. The rain, unfortunately, came down hard."""
    for start, stop in segments(s):
        if s.shape[start : start + 2] != "r," or not (s.low[start] in words("comments") or s.low[start].endswith("ly")):
            continue
        clause, word = clause_at(s, start + 2, stop), (start, start + 1)
        if not clause or not sound(clause) or s.low[clause.start] in ("nothing", "nobody", "none", "no", "few"):
            continue
        short = stop - start < FEW and single(s, clause.rest, stop) and "," not in clause.tail
        if short and s.low[start] in words("closing comments"):
            yield from s.arrange(start, stop, (start + 2, stop), ",", word)
        elif s.shape[clause.start] not in "pE" and not clause.clitic:
            yield from s.arrange(start, stop, (clause.start, clause.verb), ",", word, ",", (clause.verb, stop))


def adverb(s: Sentence) -> Iterator[Rewording]:
    """It ultimately failed. -> Ultimately, it failed."""
    for clause in clauses(s):
        for at in range(clause.verb, clause.rest):
            alone = s.kind(at - 1) not in ("r", "!", ",") and s.kind(at + 1) != "r"
            if s.shape[at] == "r" and s.low[at] in words("comments") and alone:
                yield from clause.becomes((at, at + 1), ",", (clause.start, at), (at + 1, clause.stop))


def on_day(s: Sentence) -> Iterator[Rewording]:
    """said Monday -> said on Monday, and back."""
    for at in range(1, len(s.words)):
        after = s.kind(at + 1)
        if (
            s.low[at] not in words("days")
            or s.shape[at] not in "Nr"
            or not s.capital(at)
            or loud(s, max(at - 8, 0), at)
        ):
            continue
        if s.shape[at - 1] in "vesnV0r" and s.low[at - 1] not in ("late", "early", "earlier", "later"):
            if after in ("", *".,:iStW") and s.word(at + 1) != "on":
                yield from s.arrange(at, at + 1, "on", (at, at + 1))
        elif s.low[at - 2 : at] == ["said", "on"] and after in ("", ".", ",", "S"):
            yield from s.arrange(at - 1, at + 1, (at, at + 1))
