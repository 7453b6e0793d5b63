"""Patterns of phrases over a sentence's letters."""

from __future__ import annotations

import re
from functools import cache

from .lexicon import words
from .sentence import Sentence

MODIFIER = r"(?:r*[j0]|[eg](?=[jnsN]))"  # adjectives; participles only right before what they modify
MODIFIERS = rf"(?:{MODIFIER}(?:(?:,|,?c)?{MODIFIER})*)?"
NOUN = rf"(?:D?d)?{MODIFIERS}[nsN]+"
NP = rf"(?:p|{NOUN}(?:'{MODIFIERS}[nsN]+)*)"  # a noun phrase without what follows its noun
NP_OF = rf"{NP}(?:f{NP})*"
NP_PP = rf"{NP}(?:[fi]{NP})*"
VERB = r"r*(?:m!?r*V(?:r*[eg])*|h!?(?:r*e(?:r*[eg])*)?|b!?(?:r*[eg](?:r*[eg])?)?|o!?r*V|v)"


def single(s: Sentence, start: int, stop: int) -> bool:
    """Whether words hold no verb that something after them could belong to."""
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
    if (
        s.low[last] in ("number", "couple", "majority", "lot", "rest") and s.kind(last + 1) == "f"
    ):  # as many as what follows
        return plural(s, last + 2, stop)
    if s.shape[last] == "p":
        return s.low[last] in ("i", "you", "we", "they", "us", "them")
    return {"s": True, "n": False}.get(s.shape[last])


@cache
def dates() -> frozenset[str]:
    """Names of times."""
    return words("days") | words("time units") | words("other dates")
