"""Sentences without a subject or a verb, as reviews have them, made whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..substitutes import takes_an
from .clauses import Clause, clause_at, sound
from .lexicon import can_be, words
from .sentence import Rewording, Sentence, segments

ADJECTIVE = re.compile("(?:r*[jg](?:,|,?c!?))*r*j(?=[.itSfW]|$)")
NOUN = re.compile("(?:r*[jeg](?:,|,?c)?)+n(?![nsN'v])")
PARTICIPLE = re.compile("r?ei|0fd")
VERB = re.compile("r?(?:v(?=[dijpt0Rrc])|h(?=[dj0r])|m!?r*V)")


def fragment(s: Sentence) -> Iterator[Rewording]:
    """A fine film. -> It is a fine film. Lacks depth. -> It lacks depth."""
    start = int(s.shape[:1] == ".")  # dots before it
    if s.words[0].start or not any(a == start and not s.shape[b:].strip(".") for a, b in segments(s)):
        return
    noun, first, it = NOUN.match(s.shape, start), (start, start + 1), s.apostrophes("it's")
    adverb = s.low[start].endswith("ly") or s.low[start] in ("always", "never", "often", "still", "also", "even")
    if VERB.match(s.shape, start) and _third(s, start + adverb):
        yield from s.arrange(*first, "it", first)
    elif _verbless(s, start):
        if noun and s.spaced and s.low[noun.end() - 1] in words("counted"):
            yield from s.arrange(*first, it, "an" if takes_an(s.low[start]) else "a", first)
        elif _noun(s, start) or (s.spaced and _bare(s, start)):
            yield from s.arrange(*first, it, first)
            if s.low[start] in ("a", "an"):
                yield from s.arrange(*first, "this is", first)


def _third(s: Sentence, at: int) -> bool:
    """Whether the subject left out is surely "it"; outside of reviews it may be "I"."""
    if s.spaced:
        return s.shape[at] == "m" or (s.words[at].tag == "VBZ" and can_be(s.low[at], "VBZ"))
    return s.low[at] in words("fragment verbs")


def _verbless(s: Sentence, start: int) -> bool:
    """Whether every finite verb is in a relative or other subordinate clause."""
    finite, opens = re.search("[vbhomV]", s.shape[start:]), re.search("[wWSt]", s.shape[start:])
    if not finite:
        return True
    if not opens or opens.start() > finite.start():
        return False
    return sound(Clause(s, start, start, start + finite.end(), len(s.shape)))


def _noun(s: Sentence, start: int) -> bool:
    """Whether it is a noun phrase without a noun that may be a verb."""
    if s.spaced and (s.low[start] in words("before a fragment") or s.shape[start] == "!"):
        start += 1
    if s.word(start) not in ("a", "an") and not (s.spaced and s.word(start) == "the"):
        return False
    verbs = [at for at, kind in enumerate(s.shape) if kind == "s" and can_be(s.low[at], "VBZ")]
    finite = any(s.kind(at + 1) in ("d", "p", "t") or re.match("ns[Rir]", s.shape[at - 1 :]) for at in verbs)
    return re.search("[ns]", s.shape) is not None and not finite


def _bare(s: Sentence, start: int) -> bool:
    """Whether it is an adjective or participle, and no clause follows that this could belong to."""
    participle = PARTICIPLE.match(s.shape, start)
    if participle and s.shape[participle.end() - 2] == "e" and not can_be(s.low[participle.end() - 2], "VBN"):
        return False
    commas = [at for at, kind in enumerate(s.shape) if kind == ","]
    following = any(clause_at(s, comma + 1, len(s.shape)) for comma in commas)
    return not following and bool(participle or ADJECTIVE.match(s.shape, start))
