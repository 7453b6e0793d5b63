"""Noun phrases in another construction: the film's flaws, the flaws of the film, all of the films."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lexicon import words
from .phrases import MODIFIERS, dates
from .sentence import Rewording, Sentence

GENITIVE = re.compile(
    rf"(?<![DdjnsN'0reg])(?P<owner>d?j?[ns]|N+)'(?P<owned>{MODIFIERS}[ns]{{1,2}})(?=[.,:ivbhmrRwt]|$)"
)

BEFORE_ALL = ("of", "above", "after", "in", "for")  # first of all, above all, after all, in all


def genitive(s: Sentence) -> Iterator[Rewording]:
    """the film's flaws -> the flaws of the film."""
    for match in GENITIVE.finditer(s.shape):
        (a, b), (c, d) = match.span("owner"), match.span("owned")
        owner, noun, plain = s.low[b - 1], s.low[d - 1], s.shape[a] == "d"
        if s.low[b] not in ("'s", "'") or d - c > 4 or any(s.capital(at) for at in range(c, d)) or "same" in s.low[a:b]:
            continue
        if owner in dates() | words("owns nothing") or noun in dates() | words("never owned") or owner[0] == "'":
            continue
        if s.word(d) in ("to", "for", "against", "toward", "with"):
            continue  # the club's start to the season
        many, compound = s.shape[b - 1] == "s", s.shape[d - 2 : d] in ("nn", "ns")
        if many and compound:
            continue  # the girls' soccer team
        if re.match(",r*(?:[jeg]|[nsN]+(?:,|c))", s.shape[d:]):
            continue  # the film's wit, charm and style
        if plain and s.low[a] not in (*words("definite"), "this", "that"):
            continue
        if plain or (match["owner"][0] != "j" and noun in words("works") | words("of somebody")):
            link = "by" if noun in words("works") and not plain and not compound and s.word(d) != "by" else "of"
            yield from s.arrange(a, d, "the", (c, d), link, (a, b))


def possessive(s: Sentence) -> Iterator[Rewording]:
    """the flaws of the film -> the film's flaws."""
    for match in re.finditer("(?<!D)(?P<owned>dj*[ns])f(?P<owner>dj?n)(?=[.,:ivbhm]|$)", s.shape):
        (a, b), (c, d) = match.span("owned"), match.span("owner")
        noun, owner = s.low[b - 1], s.low[d - 1]
        graded = any(s.words[at].tag in ("JJS", "JJR", "CD") or s.low[at] in ("only", "same") for at in range(a, b))
        if s.low[a] != "the" or graded or noun in words("parts of things") or noun.endswith("ing"):
            continue
        if s.low[c] in words("definite") and owner in words("owners"):
            yield from s.arrange(a, d, (c, d - 1), s.apostrophes(owner + "'s"), (a + 1, b))


def all_of(s: Sentence) -> Iterator[Rewording]:
    """all the films -> all of the films, and back."""
    for at in range(len(s.words) - 2):
        if s.low[at] not in ("all", "both") or s.kind(at - 1) == "p" or s.word(at - 1) in BEFORE_ALL:
            continue
        of = int(s.low[at + 1] == "of")
        noun = re.match(f"d{MODIFIERS}[ns]+", s.shape[at + 1 + of :])
        if not noun or s.low[at + 1 + of] not in words("definite"):
            continue
        end = at + 1 + of + noun.end()
        if of:
            yield from s.arrange(at, at + 3, (at, at + 1), (at + 2, at + 3))
        elif s.word(end) not in ("of", "'s") or s.word(at - 1) == "for":
            pair = s.low[at] == "both" and "and" in s.low[at:end]  # both the cast and
            if not pair and s.kind(end) != "c" and s.low[at + 2] not in ("more", "time", "way", "same"):
                yield from s.arrange(at, at + 2, (at, at + 1), "of", (at + 1, at + 2))
