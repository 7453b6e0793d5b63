"""Phrases, simple clauses and adverbials, found by patterns over a sentence's letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from .lexicon import phrases, words
from .sentence import Piece, Rewording, Sentence, segments

MODIFIER = r"(?:r*[j0]|[eg](?=[jnsN]))"  # adjectives; participles only right before what they modify
MODIFIERS = rf"(?:{MODIFIER}(?:(?:,|,?c)?{MODIFIER})*)?"
NOUN = rf"(?:D?d)?{MODIFIERS}[nsN]+"
NP = rf"(?:p|{NOUN}(?:'{MODIFIERS}[nsN]+)*)"  # a noun phrase without what follows its noun
NP_OF = rf"{NP}(?:f{NP})*"
NP_PP = rf"{NP}(?:[fi]{NP})*"
VERB = r"r*(?:m!?r*V(?:r*[eg])*|h!?(?:r*e(?:r*[eg])*)?|b!?(?:r*[eg](?:r*[eg])?)?|o!?r*V|v)"


def single(s: Sentence, start: int, stop: int) -> bool:
    """Whether these words have no verb that something after them could belong to."""
    return not re.search("[vbhomVgewWSt]", s.shape[start:stop])


def plural(s: Sentence, start: int, stop: int) -> bool | None:
    """Whether a noun phrase takes a plural verb; None where that is not sure."""
    shape = s.shape[start:stop]
    head = re.match(NP, shape)
    if not head:
        return None
    if not re.fullmatch(NP_PP, shape):  # two that are joined
        return True if "and" in s.low[start:stop] and not re.search("[fi]", shape) else None
    last = start + head.end() - 1
    if s.low[last] in ("number", "couple", "majority", "lot", "rest") and s.kind(last + 1) == "f":  # a number of films
        return plural(s, last + 2, stop)
    if s.shape[last] == "p":
        return s.low[last] in ("i", "you", "we", "they", "us", "them")
    return {"s": True, "n": False}.get(s.shape[last])


@cache
def dates() -> frozenset[str]:
    """Names of times."""
    return words("days") | words("time units") | words("other dates")


CLAUSE = re.compile(rf"(?P<subject>{NP_PP}(?:c{NP_PP})?|E|d(?=[bhomv]))(?P<verb>{VERB})")
FINITE = re.compile("[vbhom]")
LONGEST = 15  # words before a comma at a clause's front


@dataclass(frozen=True)
class Clause:
    """A clause: from `start` the subject, from `verb` the verb with auxiliaries and adverbs, from `rest` all else."""

    s: Sentence
    start: int
    verb: int
    rest: int
    stop: int

    @property
    def subject(self) -> str:
        """The letters of the subject."""
        return self.s.shape[self.start : self.verb]

    @property
    def group(self) -> str:
        """The letters of the verb."""
        return self.s.shape[self.verb : self.rest]

    @property
    def tail(self) -> str:
        """The letters of what follows the verb."""
        return self.s.shape[self.rest : self.stop]

    @property
    def past(self) -> bool:
        """Whether the main verb is in the past tense."""
        return self.s.words[self.rest - 1].tag == "VBD"

    @property
    def base(self) -> str:
        """The lemma of the main verb."""
        return self.s.lemma(self.rest - 1)

    @property
    def clitic(self) -> bool:
        """Whether the verb leans on the subject: it's."""
        return self.s.low[self.verb][0] == "'"

    @property
    def follows(self) -> bool:
        """Whether a comma stands before it."""
        return self.s.kind(self.start - 1) == ","

    def becomes(self, *pieces: Piece) -> Iterator[Rewording]:
        """The rewording of the whole clause as these pieces."""
        return self.s.arrange(self.start, self.stop, *pieces)


def clause_at(s: Sentence, start: int, stop: int) -> Clause | None:
    """The clause that begins with its subject at `start`."""
    if start + 1 >= stop or s.low[start] in ("me", "him", "us", "them"):
        return None
    if s.low[start] in ("this", "last", "next", "every") and s.low[start + 1] in dates() | {"time"}:
        return None
    match = CLAUSE.match(s.shape, start, stop)
    if not match or words("links").intersection(s.low[start + 1 : match.start("verb")]):
        return None
    relative = s.low[start] == "that" and match["subject"] == "d" and match["verb"][0] != "b"
    return None if relative else Clause(s, start, match.start("verb"), match.end(), stop)


@lru_cache(maxsize=8)
def clauses(s: Sentence) -> tuple[Clause, ...]:
    """Clauses that fill a whole segment, or what a comma and "and" or "but" cut it into."""
    found = {}
    for start, stop in segments(s):
        start += s.low[start] in ("and", "but", "or", "so", "yet") and s.shape[start] in "cr"
        for a, b in _stretches(s, start, stop):
            clause = clause_at(s, a, b)
            if clause and sound(clause) and agrees(clause) and not _glued(clause):
                found[a, b] = clause
    return tuple(found.values())


def _stretches(s: Sentence, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Where a clause may be in a segment: the whole, two joined by a comma and "and" or "but", what follows a first comma."""
    yield start, stop
    links = [at for at in range(start + 3, stop) if s.shape[at - 1 : at + 1] == ",c" and s.low[at] in ("and", "but")]
    if len(links) == 1 and clause_at(s, links[0] + 1, stop):
        yield start, links[0] - 1
        yield links[0] + 1, stop
    comma = s.shape.find(",", start, start + LONGEST)
    if comma > start and not FINITE.search(s.shape, start, comma) and clause_at(s, comma + 1, stop):
        yield comma + 1, stop


def _glued(clause: Clause) -> bool:
    """Whether the first words of a text may be a headline that runs on into the first sentence."""
    s, texts = clause.s, [word.text for word in clause.s.words]
    if s.words[0].start or not s.capital(0):
        return False
    if s.kind(clause.start - 1) == ":" and not s.capital(clause.start):  # News; more news Our news is
        return any(text[0].isupper() and text in texts[: clause.start] for text in texts[clause.start : clause.stop])
    if clause.start > 1 and (s.shape[clause.start - 1] in '".:(' or s.low[clause.start] in words("starters")):
        return False
    first = [word for word in s.low[: clause.verb] if len(word) > 3]
    again = any(text[0].isupper() and text in texts[clause.rest :] for text in texts[: clause.rest])
    return (
        again or len(set(first)) < len(first) or re.search("NNNN|[nsN]i", re.sub("iN$", "", clause.subject)) is not None
    )


def sound(clause: Clause) -> bool:
    """Whether each further finite verb has a word that introduces it; if not, a headline and a sentence may have run together."""
    s, at = clause.s, clause.rest
    for match in FINITE.finditer(s.shape, clause.rest, clause.stop):
        linked = words("links").intersection(s.low[at : match.start()])
        if not linked and not re.search("[wWScE,]", s.shape[at : match.start()]):
            return False
        at = match.end()
    return True


def agrees(clause: Clause) -> bool:
    """Whether subject and verb agree; if not, tags are wrong, or the subject is longer than it seems."""
    finite, many = FINITE.search(clause.s.shape, clause.verb, clause.rest), plural(clause.s, clause.start, clause.verb)
    if not finite or many is None or clause.s.low[clause.start] in ("i", "you"):
        return True
    word, tag = clause.s.low[finite.start()], clause.s.words[finite.start()].tag
    if word == "'s" or tag == "MD" or (tag == "VBD" and word not in ("was", "were")):
        return True
    return many == (word in ("are", "were", "have", "do", "'re", "'ve") or (tag == "VBP" and word not in ("is", "has")))


YEAR = re.compile("(?:1[5-9]|20)[0-9][0-9]s?")
TIMELY = ("last", "next", "this", "every", "each", "late", "early", "earlier", "later", "one")
LONGEST_ADVERBIAL = 7  # words of an adverbial


def adverbial(s: Sentence, start: int, stop: int) -> bool:
    """Whether these words say when, or are another phrase that belongs to the whole clause."""
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
    """Whether a preposition and a noun phrase say when, or are of a kind that belongs to the clause wherever they stand."""
    head = re.match(f"i(?:{NP}|0)", shape)
    nouns = [word for word, kind in zip(low, shape[: head.end() if head else 0], strict=False) if kind in "nsN0"]
    if low[0] in words("time prepositions"):
        return bool(nouns) and len(low) < 8 and all(word in dates() or YEAR.fullmatch(word) for word in nouns)
    if low[0] == "for":
        return bool(nouns) and len(low) < 6 and nouns[-1] in words("time units")
    return low[0] in words("clause prepositions")


def adverbials(clause: Clause) -> Iterator[tuple[int, int]]:
    """Spans of adverbials of a clause: between subject and verb, or after the verb where they can belong to nothing else."""
    s = clause.s
    for start in range(clause.start + 1, clause.rest):
        for stop in range(min(clause.rest, start + 3), start, -1):
            day = s.low[start] in words("near days") or (s.low[start] in words("days") and s.capital(start))
            if (day or s.low[start] == "on") and adverbial(s, start, stop):
                yield start, stop
                return
    if clause.base in words("planning"):  # the time is that of the plan, not of the planning
        return
    for start in range(clause.rest, clause.stop):
        between = s.shape[clause.rest : start]
        if not single(s, clause.rest, start) or re.search("[,cR]", between):
            return
        for stop in range(min(clause.stop, start + LONGEST_ADVERBIAL), start, -1):
            day = bool(words("days").intersection(s.low[start:stop]))
            ends = stop == clause.stop or s.shape[stop] in ("iS,tW" if day else "S")
            if ends and adverbial(s, start, stop):
                event = s.shape[start] == "i" and s.low[start - 1] in words("events")
                if (day or "i" not in between) and not event:
                    yield start, stop
                return
