"""Adverbials that may stand at either end of a clause: how to know one by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .clauses import Clause
from .lexicon import phrases, words
from .phrases import NP, NP_OF, dates, single
from .sentence import Sentence

YEAR = re.compile("(?:1[5-9]|20)[0-9][0-9]s?")
TIMELY = ("last", "next", "this", "every", "each", "late", "early", "earlier", "later", "one")
LONGEST = 7  # words of an adverbial


def adverbial(s: Sentence, start: int, stop: int) -> bool:
    """Whether these words say when, or belong to the whole clause for another reason."""
    low, shape = s.low[start:stop], s.shape[start:stop]
    if " ".join(low) in phrases("set adverbials"):
        return True
    if len(low) <= 2 and low[0] in words("days") | words("near days"):
        return len(low) == 1 or low[1] in words("parts of days")
    if low[0] in TIMELY and low[-1] in dates():
        dated = all(word in dates() for word, kind in zip(low[1:], shape[1:], strict=True) if kind in "nsNr")
        return dated and len(low) < 5 and re.fullmatch("[jdr0]*[nNr]+", shape) is not None
    if low[-1] == "ago":
        return (
            1 < len(low) < 5 and low[-2] in words("time units") and re.fullmatch("r?[d0j]*[ns][ri]", shape) is not None
        )
    return re.fullmatch(f"i(?:{NP_OF}|0)", shape) is not None and _timed(low, shape)


def _timed(low: list[str], shape: str) -> bool:
    """Whether a preposition and a noun phrase say when, or belong to a clause whatever stands between."""
    head = re.match(f"i(?:{NP}|0)", shape)
    nouns = [word for word, kind in zip(low, shape[: head.end() if head else 0], strict=False) if kind in "nsN0"]
    if low[0] in words("time prepositions"):
        return bool(nouns) and len(low) < 8 and all(word in dates() or YEAR.fullmatch(word) for word in nouns)
    if low[0] == "for":
        return bool(nouns) and len(low) < 6 and nouns[-1] in words("time units")
    return low[0] in words("clause prepositions")


def adverbials(clause: Clause) -> Iterator[tuple[int, int]]:
    """Adverbials of a clause's verb: between it and its subject, or after it with nothing else that they could belong to."""
    s = clause.s
    for start in range(clause.start + 1, clause.rest):
        for stop in range(min(clause.rest, start + 3), start, -1):
            day = s.low[start] in words("near days") or (s.low[start] in words("days") and s.capital(start))
            if (day or s.low[start] == "on") and adverbial(s, start, stop):
                yield start, stop
                return
    if clause.base in words("planning"):  # what happens at the time that is named is not this
        return
    for start in range(clause.rest, clause.stop):
        between = s.shape[clause.rest : start]
        if not single(s, clause.rest, start) or re.search("[,cR]", between):
            return
        for stop in range(min(clause.stop, start + LONGEST), start, -1):
            day = bool(words("days").intersection(s.low[start:stop]))
            ends = stop == clause.stop or s.shape[stop] in ("iS,tW" if day else "S")
            if ends and adverbial(s, start, stop):
                event = s.shape[start] == "i" and s.low[start - 1] in words("events")
                if (day or "i" not in between) and not event:
                    yield start, stop
                return
