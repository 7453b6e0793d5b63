""" "that" before a clause: left out and put in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lexicon import words
from .phrases import MODIFIERS, dates
from .sentence import Rewording, Sentence

MOVED = frozenset(("as", "than", "which", "who", "what", "that", "how"))  # as good as she thinks it is


def without_that(s: Sentence) -> Iterator[Rewording]:
    """the film that I saw -> the film I saw; she says that it rained -> she says it rained."""
    for at in range(1, len(s.words) - 2):
        if s.low[at] != "that" or s.shape[at] not in "wSdi" or {"so", "such"}.intersection(s.low[:at]):
            continue  # so dull that we left
        noun, subject = s.shape[at - 1] in "ns", s.low[at + 1] in words("subjects") and s.shape[at + 2] in "vbhomr"
        said = s.low[at - 1] in words("saying") and s.shape[at - 1] in "vVe"
        idea = words("content nouns").intersection(s.low[max(at - 6, 0) : at])
        noun = (
            noun and not re.search("pb", s.shape[:at]) and not re.match("pb[.,:]", s.shape[at + 1 :])
        )  # it is odd that
        named = noun and not idea and re.match(rf"d{MODIFIERS}[ns][vhom]", s.shape[at + 1 :])
        if named or (noun and subject and s.low[at + 1] != "it") or (said and (subject or s.low[at + 1] == "there")):
            yield from s.arrange(at, at + 2, (at + 1, at + 2))


def with_that(s: Sentence) -> Iterator[Rewording]:
    """she says it rained -> she says that it rained."""
    for at in range(2, len(s.words) - 1):
        said = (
            s.low[at - 1] in words("saying, with a clause next")
            and s.shape[at - 1] == "v"
            and s.shape[at - 2] in "nsNp"
        )
        if said and _subject(s, at) and not MOVED.intersection(s.low[max(at - 7, 0) : at]):
            yield from s.arrange(at, at + 1, "that", (at, at + 1))


def with_relative(s: Sentence) -> Iterator[Rewording]:
    """the best film I saw -> the best film that I saw."""
    for match in re.finditer("(?:^|(?<=[vVgbf]))dj*n(?=pr?[vhom])", s.shape):
        first, at = match.span()
        whole = first == 0 and not re.search("[vbhom]", s.shape[at + 2 :])  # This year I left.
        plain = s.low[first] in ("the", "a", "an", "every", "any", "no")
        timely = s.low[at - 1] in dates() | words("not a relative's noun")
        if plain and not whole and not timely and _subject(s, at) and s.low[at] != "it":
            yield from s.arrange(at, at + 1, "that", (at, at + 1))


def _subject(s: Sentence, at: int) -> bool:
    """Whether a pronoun is the subject of a verb after it, and not in a headline."""
    verb = s.low[at] in words("subjects") and s.shape[at] == "p" and re.match("r?[vbhom]", s.shape[at + 1 :])
    return bool(verb) and (s.words[at].text == "I" or not s.capital(at))


def so_that(s: Sentence) -> Iterator[Rewording]:
    """so dull, it hurts -> so dull that it hurts."""
    for match in re.finditer("(?<=rj),(?=p[vbhom])", s.shape):
        at = match.start()
        if s.low[at - 2] == "so":
            yield from s.arrange(at - 1, at + 1, (at - 1, at), "that")
