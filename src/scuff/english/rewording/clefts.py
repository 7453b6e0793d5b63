"""Clefts and existential sentences: a frame put around one part of a clause, or taken away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..inflection import inflected
from .clauses import MODIFIERS, NP, NP_OF, Clause, adverbials, clauses, dates, plural, single
from .lexicon import can_be, phrases, words
from .sentence import Rewording, Sentence, segments

NOBODY = frozenset(("nobody", "nothing", "none", "no", "few", "neither", "nor"))
SHORT = 12  # words after the verb


def what_cleft(s: Sentence) -> Iterator[Rewording]:
    """The film lacks depth. -> What the film lacks is depth."""
    for clause in clauses(s):
        mild = clause.group == "rv" and s.low[clause.verb] in ("merely", "just", "only", "never")
        if clause.group not in ("v", "rv") or mild or clause.base not in words("wanting") or clause.subject == "E":
            continue
        if re.match(f"(?!p|d?N+(?!')){NP}", clause.tail) and _plain(clause):  # not: what she wants is Anna
            be = "was" if clause.past else "is"
            yield from clause.becomes("what", (clause.start, clause.rest), be, (clause.rest, clause.stop))


def what_it_is_like(s: Sentence) -> Iterator[Rewording]:
    """The film suffers from a lack of wit. -> What the film suffers from is a lack of wit; also: it evokes a lost world."""
    for clause in clauses(s):
        if clause.group not in ("v", "rv") or clause.subject == "E" or clause.follows or s.low[clause.start] in NOBODY:
            continue
        if clause.group == "rv" and not s.low[clause.verb].endswith("ly"):
            continue
        with_preposition = f"{clause.base} {s.word(clause.rest)}" in phrases("what-cleft with a preposition")
        at = clause.rest + with_preposition
        if not with_preposition and clause.base not in words("what-cleft"):
            continue
        match = re.match(f"(?!p|d?N+(?!')|D){NP_OF}(?=[wS]|$)", s.shape[at : clause.stop])
        if match and _plain(clause) and not LITTLE.intersection(s.low[at : at + 2]):
            be = "was" if clause.past else "is"
            yield from clause.becomes("what", (clause.start, at), be, (at, clause.stop))


LITTLE = frozenset(
    ("no", "nothing", "little", "few", "nobody", "neither", "enough", "much", "many", "more", "less", "any")
)


def _plain(clause: Clause) -> bool:
    """Whether what follows the verb is one phrase, perhaps with a relative clause, and nothing is denied."""
    low = clause.s.low
    if low[clause.start] in NOBODY or {"lot", "way"}.intersection(low[clause.rest : clause.stop]):
        return False
    return not re.search("[,:]", clause.tail) and not re.search("[vbhom]", re.split("w|(?<=[ns])S", clause.tail)[0])


def what_they_do(s: Sentence) -> Iterator[Rewording]:
    """The film reduces him to a joke. -> What the film does is reduce him to a joke."""
    for clause in clauses(s):
        tag = s.words[clause.rest - 1].tag
        plain = clause.group == "v" or (clause.group == "rv" and s.low[clause.verb].endswith("ly"))
        talk = s.low[clause.start] in ("i", "you") and tag != "VBD"
        talk = talk or (s.low[clause.start] == "it" and clause.base == "take")  # it takes talent to
        known = can_be(s.low[clause.rest - 1], tag) and (
            s.spaced or s.capital(clause.start) or s.shape[clause.start] != "n"
        )
        if not plain or talk or not known or clause.base in words("states") | words("wanting"):
            continue
        object_next = re.match(f"(?=[dpjsn]){NP}", clause.tail) and _plain(clause)
        if (
            object_next
            and not dates().intersection(s.low[clause.rest : clause.rest + 2])
            and len(clause.tail) <= SHORT
            and not words("days").intersection(s.low[clause.start : clause.stop])
        ):
            frame = {"VBD": "did was", "VBZ": "does is"}.get(tag, "do is")
            verb = (clause.verb, clause.rest - 1), clause.base
            yield from clause.becomes("what", (clause.start, clause.verb), frame, *verb, (clause.rest, clause.stop))


def it_cleft(s: Sentence) -> Iterator[Rewording]:
    """The cast saves the film. -> It is the cast that saves the film."""
    for clause in clauses(s):
        definite = s.low[clause.start] in words("definite") and s.low[clause.verb - 1] not in words("works")
        if clause.group != "v" or not definite or clause.base in ("seem", "become", "remain", "say"):
            continue
        whole = re.fullmatch(NP_OF, clause.subject) and single(s, clause.rest, clause.stop) and "," not in clause.tail
        if whole and re.match(f"(?=[dp]){NP}", clause.tail):
            frame = "it was" if clause.past else "it is"
            yield from clause.becomes(frame, (clause.start, clause.verb), "that", (clause.verb, clause.stop))


def time_cleft(s: Sentence) -> Iterator[Rewording]:
    """She left on Monday. -> It was on Monday that she left."""
    for clause in clauses(s):
        for start, stop in adverbials(clause) if clause.group == "v" and clause.past else ():
            bare, bereft = s.low[start] in words("days"), start == clause.rest and s.low[start - 1] in words("saying")
            if (
                stop == clause.stop
                and not bereft
                and (bare or s.low[start] == "on")
                and words("days").intersection(s.low[start:stop])
            ):
                yield from clause.becomes("it was", "on" if bare else "", (start, stop), "that", (clause.start, start))


def what_is(s: Sentence) -> Iterator[Rewording]:
    """What it lacks is depth. -> Depth is what it lacks."""
    for start, stop in segments(s):
        finite = [at for at in range(start + 1, stop) if s.shape[at] in "vbhom"]
        if s.low[start] != "what" or len(finite) != 2 or s.shape[finite[1]] != "b" or s.low[finite[1]][0] == "'":
            continue
        at = finite[1]
        if re.fullmatch(f"(?!p){NP_OF}(?:i{NP})*", s.shape[at + 1 : stop]) and not re.search("[,S]", s.shape[start:at]):
            yield from s.arrange(start, stop, (at + 1, stop), (at, at + 1), (start, at))


def predicate_first(s: Sentence) -> Iterator[Rewording]:
    """The attacks are harmless. -> Harmless is what the attacks are."""
    for clause in clauses(s):
        if clause.group != "b" or clause.clitic or s.low[clause.start] == "it" or clause.subject == "E":
            continue
        low = s.low[clause.rest : clause.stop]
        adverbs = [word for word, kind in zip(low, clause.tail, strict=True) if kind == "r"]
        plain = all(word.endswith("ly") for word in adverbs) and not (
            words("degrees") | words("comments")
        ).intersection(low)
        adjective = re.fullmatch("r*j(?:(?:,j)*,?cr*j)?", clause.tail) and s.words[clause.stop - 1].tag == "JJ"
        noun = re.fullmatch(f"d{MODIFIERS}n", clause.tail) and low[0] in ("a", "an") and len(low) < 6
        bare = s.low[clause.start] in ("this", "that") and len(clause.subject) == 1
        if plain and (adjective or noun) and not bare and s.low[clause.start] not in NOBODY:
            frame = "was what" if s.low[clause.verb] in ("was", "were") else "is what"
            yield from clause.becomes((clause.rest, clause.stop), frame, (clause.start, clause.rest))


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
        elif (
            s.shape[at] == "v"
            and not re.search("[vbhom]", s.shape[at + 2 : at + 7])
            and s.lemma(at) in words("with no object")
            and s.shape[at - 1] in "pnsN"
            and s.low.count("no") == 1
        ):
            do = {"VBZ": "doesn't", "VBD": "didn't"}.get(s.words[at].tag, "don't")
            yield from s.arrange(at, at + 2, s.apostrophes(do), s.lemma(at), "any")


def no_more(s: Sentence) -> Iterator[Rewording]:
    """it doesn't have any wit -> it has no wit; there isn't any wit -> there is no wit."""
    for match in re.finditer("(?<=[pnsNE])(?:o!V|b!)d(?=r*j*[ns])", s.shape):
        at, last = match.start(), match.end() - 1
        if s.low[last] != "any" or s.words[last + 1].tag in ("JJR", "RBR"):
            continue
        if s.shape[at] == "b":
            if s.kind(at - 1) == "E" and s.low[at][0] != "'":
                yield from s.arrange(at, last + 1, (at, at + 1), "no")
        else:
            tag = {"does": "VBZ", "did": "VBD"}.get(s.low[at], "VBP")
            verb = (
                {"VBZ": "has", "VBD": "had"}.get(tag, "have")
                if s.low[last - 1] == "have"
                else inflected(s.low[last - 1], tag)
            )
            if verb and s.low[last - 1] in (*words("with no object"), "have"):
                yield from s.arrange(at, last + 1, verb, "no")


def seldom(s: Sentence) -> Iterator[Rewording]:
    """Rarely has a film been so dull. -> A film has rarely been so dull."""
    match = re.match(f"[rn](?P<verb>[hbmo])(?P<who>{NP_OF})(?=r*[eVgv])", s.shape)
    if match and s.low[0] in ("seldom", "rarely", "never") and not any("?" in low for low in s.low):
        a, b = match.span("who")
        yield from s.arrange(0, b, (a, b), (1, 2), (0, 1))


def so_that_is(s: Sentence) -> Iterator[Rewording]:
    """The film is so dull that it hurts. -> So dull is the film that it hurts."""
    for clause in clauses(s):
        match = re.match("rj(?:c(?:rj|j))?(?=S)", clause.tail)
        if clause.group == "b" and not clause.clitic and match and s.low[clause.rest] == "so" and not clause.follows:
            end = clause.rest + match.end()
            if s.low[end] == "that" and re.fullmatch(f"(?!p){NP_OF}", clause.subject):
                be = clause.verb, clause.rest
                yield from s.arrange(clause.start, end, (clause.rest, end), be, (clause.start, clause.verb))


def place_first(s: Sentence) -> Iterator[Rewording]:
    """Love is at the heart of the story. -> At the heart of the story is love."""
    for clause in clauses(s):
        if clause.group != "b" or clause.clitic or clause.follows or not re.fullmatch(f"(?!p){NP_OF}", clause.subject):
            continue
        if s.word(clause.rest) in words("inner places") and re.fullmatch(f"idnf{NP_OF}", clause.tail):
            yield from clause.becomes(
                (clause.rest, clause.stop), (clause.verb, clause.rest), (clause.start, clause.verb)
            )
