"""What follows the verb before it, and the subject behind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .clauses import clauses
from .lexicon import words
from .phrases import NOUN, NP, NP_OF, plural
from .sentence import Rewording, Sentence

LONGEST = 11  # words that may come before a verb


def inversion(s: Sentence) -> Iterator[Rewording]:
    """The fox jumps over the dog. -> Over the dog jumps the fox."""
    for clause in clauses(s):
        if (
            clause.group != "v"
            or clause.base not in words("motion")
            or not re.fullmatch(f"(?!p){NP_OF}", clause.subject)
        ):
            continue
        if re.fullmatch(f"i{NP_OF}", clause.tail) and s.low[clause.rest] in words("ways"):
            yield from clause.becomes(
                (clause.rest, clause.stop), (clause.verb, clause.rest), (clause.start, clause.verb)
            )


def equation(s: Sentence) -> Iterator[Rewording]:
    """The real star is the script. -> The script is the real star."""
    for clause in clauses(s):
        if clause.group != "b" or clause.clitic or s.low[clause.start] != "the" or s.word(clause.rest) != "the":
            continue
        both = re.fullmatch(NP_OF, clause.subject) and re.fullmatch(NP_OF, clause.tail)
        if both and plural(s, clause.start, clause.verb) == plural(s, clause.rest, clause.stop):
            yield from clause.becomes(
                (clause.rest, clause.stop), (clause.verb, clause.rest), (clause.start, clause.verb)
            )


def hard_to(s: Sentence) -> Iterator[Rewording]:
    """It is hard to resist the film. -> The film is hard to resist, and back."""
    for clause in clauses(s):
        match = re.fullmatch(f"!?r*j(?P<verb>tV)(?P<what>(?:(?!p){NP})?)", clause.tail)
        if clause.group != "b" or not match or s.low[clause.rest + match.start("verb") - 1] not in words("hard"):
            continue
        what, be = clause.rest + match.start("what"), "was" if s.low[clause.verb] in ("was", "were") else "is"
        if s.low[clause.start] == "it" and s.shape[clause.stop - 1] == "n":
            yield from clause.becomes((what, clause.stop), be, (clause.rest, what))
        elif not match["what"] and re.fullmatch(NOUN, clause.subject):
            yield from clause.becomes("it", be, (clause.rest, clause.stop), (clause.start, clause.verb))


def to_do(s: Sentence) -> Iterator[Rewording]:
    """It is rare to see such films. -> To see such films is rare."""
    for clause in clauses(s):
        match = re.match("r*j(?=tV.)", clause.tail)  # without an object, "it" may be one: it is hard to watch
        if clause.group != "b" or s.low[clause.start] != "it" or not match or re.search("[,c:SwW]", clause.tail):
            continue
        to, be = clause.rest + match.end(), "was" if s.low[clause.verb] == "was" else "is"
        if clause.stop - to <= LONGEST and s.low[clause.rest] not in ("too", "enough", "so", "likely", "able", "sure"):
            yield from clause.becomes((to, clause.stop), be, (clause.rest, to))
