"""There is: put in, and left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .clauses import clauses
from .lexicon import words
from .phrases import NP_OF, plural
from .sentence import Rewording, Sentence

BE = {"has": ("is", "are"), "had": ("was", "were")}


def there_is(s: Sentence) -> Iterator[Rewording]:
    """A man is in the garden. -> There is a man in the garden. The film has laughs. -> There are laughs in the film."""
    for clause in clauses(s):
        first, subject, rest = s.low[clause.start], (clause.start, clause.verb), (clause.rest, clause.stop)
        if (
            clause.group == "b"
            and not clause.clitic
            and first in words("indefinite")
            and s.word(clause.rest) in words("places")
        ):
            if re.fullmatch(f"i{NP_OF}", clause.tail) and re.fullmatch(NP_OF, clause.subject):
                yield from clause.becomes("there", (clause.verb, clause.rest), subject, rest)
        elif clause.group == "h" and s.low[clause.verb] in BE and first in ("the", "this"):
            indefinite = s.word(clause.rest) in words("indefinite") or clause.tail[:1] in ("j", "s")
            if s.low[clause.verb - 1] in words("works") and indefinite and re.fullmatch(NP_OF, clause.tail):
                many = "s" in clause.tail if s.low[clause.rest] == "plenty" else plural(s, *rest)
                yield from clause.becomes("there", BE[s.low[clause.verb]][bool(many)], rest, "in", subject)


def with_there(s: Sentence) -> Iterator[Rewording]:
    """Many people agree. -> There are many people who agree."""
    for clause in clauses(s):
        people = s.low[clause.start] in ("many", "several", "few") and s.low[clause.verb - 1] in words("people")
        if people and re.fullmatch("jj?s", clause.subject) and s.words[clause.verb].tag in ("VBP", "VBD", "MD"):
            be = "were" if s.words[clause.verb].tag == "VBD" else "are"
            yield from clause.becomes("there", be, (clause.start, clause.verb), "who", (clause.verb, clause.stop))


def without_there(s: Sentence) -> Iterator[Rewording]:
    """There are many people who agree. -> Many people agree."""
    for clause in clauses(s):
        match = re.match(f"{NP_OF}(?=w[vbhm])", clause.tail)
        if (
            clause.subject + clause.group == "Eb"
            and match
            and s.low[clause.rest] in ("many", "several", "some", "no", "few")
        ):
            who = clause.rest + match.end()
            if s.low[who] in ("who", "that", "which"):
                yield from clause.becomes((clause.rest, who), (who + 1, clause.stop))


def not_any(s: Sentence) -> Iterator[Rewording]:
    """there is no wit -> there isn't any wit; it has no wit -> it doesn't have any wit."""
    for at in range(1, len(s.words) - 2):
        if s.low[at + 1] != "no" or s.shape[at + 1] != "d" or not re.match("r*j*[ns]", s.shape[at + 2 :]):
            continue
        if s.words[at + 2].tag in ("JJR", "RBR") or s.low[at + 2] in ("one", "longer", "less", "more"):
            continue
        if s.shape[at - 1] == "E" and s.shape[at] == "b":
            be = "is" if s.low[at] == "'s" else s.low[at]
            yield from s.arrange(at - 1, at + 2, (at - 1, at), s.apostrophes(be + "n't"), "any")
        elif s.low[at] in ("has", "have", "had") and s.shape[at] == "h" and s.shape[at - 1] in "pnsN":
            do = {"has": "doesn't", "have": "don't", "had": "didn't"}[s.low[at]]
            yield from s.arrange(at, at + 2, s.apostrophes(do), "have any")
