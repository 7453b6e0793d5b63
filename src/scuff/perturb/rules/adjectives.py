"""Adjectives before a noun, with a comma or "and" between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .coordination import adjective, free, suits
from .lexicon import can_be
from .sentence import Rewording, Sentence


def commas(s: Sentence) -> Iterator[Rewording]:
    """a thoughtful, provocative film -> a provocative, thoughtful film."""
    for match in re.finditer("(?<=d)(?P<a>r*j),(?P<b>r*j)(?=[,cjns])", s.shape):
        (a, b), (c, d) = match.span("a"), match.span("b")
        graded = {"JJS", "RBS", "RBR"} & {word.tag for word in s.words[a:d]}
        barred = {"new", "other", "even", "just", "only"}.intersection((s.low[a], s.low[c]))
        if not graded and not barred and adjective(s, b - 1) and adjective(s, d - 1) and suits(s, a, c):
            yield from s.arrange(a, d, (c, d), ",", (a, b))


def and_comma(s: Sentence) -> Iterator[Rewording]:
    """a sweet, playful film -> a sweet and playful film, and back."""
    for match in re.finditer("(?<=d)j[,c]j(?=n)", s.shape):  # political and religious groups are of two kinds
        a, link = match.start(), s.low[match.start() + 1]
        plain = all(s.words[at].tag == "JJ" and can_be(s.low[at], "JJ") for at in (a, a + 2)) and free(s, a, a + 2)
        if link in (",", "and") and plain and "both" not in s.low[max(a - 2, 0) : a]:
            yield from s.arrange(a, a + 3, (a, a + 1), "and" if link == "," else ",", (a + 2, a + 3))
