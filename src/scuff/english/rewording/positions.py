"""Phrases that commas set off, and reporting clauses, at other positions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..inflection import inflected, lemma
from .clauses import MODIFIERS, NP_OF, NP_PP, VERB, adverbial, clause_at, clauses, sound
from .lexicon import can_be, words
from .sentence import Rewording, Sentence, loud, segments, starts

LONGEST = 14  # words of a phrase that is moved
SHORT = 10  # words of a clause that is put inside another
WHEN = ("when", "if", "although", "though", "because", "while", "once")
INNER = re.compile(rf"(?P<subject>(?!p){NP_OF}),(?P<phrase>r?[ige][^,]+),(?={VERB})")
INSIDE = re.compile("r?,(?P<phrase>r{1,2}|i[^,vbhom]{1,5}),")


def after_subject(s: Sentence) -> Iterator[Rewording]:
    """With its fine cast, the film works. -> The film, with its fine cast, works."""
    for start, stop in segments(s):
        comma = s.shape.find(",", start, min(stop, start + LONGEST))
        phrase = re.fullmatch("!?r?[iegS][^vbhom]{1,}", s.shape[start : max(comma, start)])
        noun = (
            re.fullmatch("d[jnrsfiNd]*[ns]", s.shape[start : max(comma, start)])
            if s.low[start] in ("a", "an")
            else None
        )
        phrase = phrase or noun
        minor = clause_at(s, start + 1, comma) if s.low[start] in WHEN and comma > start else None
        if comma <= start or not (phrase or adverbial(s, start, comma) or (minor and comma - start < SHORT)):
            continue
        clause = clause_at(s, comma + 1, stop)
        if not clause or not sound(clause) or clause.clitic or s.low[clause.verb] == "then":
            continue
        short = len(clause.subject) < 6 and s.low[clause.verb - 1] not in words("near days")
        short = short and not (minor and words("their").intersection(s.low[clause.start : clause.verb]))
        if short and re.fullmatch(f"(?!p){NP_OF}", clause.subject):
            yield from s.arrange(
                start, stop, (clause.start, clause.verb), ",", (start, comma), ",", (clause.verb, stop)
            )


def after_be(s: Sentence) -> Iterator[Rewording]:
    """At its best, it is a farce. -> It is, at its best, a farce."""
    for start, stop in segments(s):
        comma = s.shape.find(",", start, min(stop, start + 7))
        phrase = re.fullmatch("r?i[^vbhomwWScegt]{1,4}", s.shape[start : max(comma, start)])
        clause = clause_at(s, comma + 1, stop) if phrase else None
        if (
            not clause
            or clause.group != "b"
            or clause.clitic
            or not sound(clause)
            or s.low[start] in ("like", "unlike")
        ):
            continue
        if (
            clause.subject != "E"
            and clause.tail[:1] in tuple("djr")
            and "," not in clause.tail
            and s.low[comma - 1] not in words("near days")
        ):
            yield from s.arrange(
                start, stop, (clause.start, clause.rest), ",", (start, comma), ",", (clause.rest, stop)
            )


def before_subject(s: Sentence) -> Iterator[Rewording]:
    """The film, with its fine cast, works. -> With its fine cast, the film works."""
    for start, stop in segments(s):
        start += s.low[start] in ("and", "but")
        match = INNER.match(s.shape, start, stop)
        if not match or len(match["phrase"]) > LONGEST or not starts(s, start):
            continue
        a, b = match.span("phrase")
        if not words("belongs before").intersection(s.low[a : a + 2]) and not re.search("[vbhomcwW:]", match["phrase"]):
            yield from s.arrange(start, b + 1, (a, b), ",", (start, match.end("subject")))


def inside(s: Sentence) -> Iterator[Rewording]:
    """It is, in many ways, a success. -> In many ways, it is a success."""
    for clause in clauses(s):
        match = INSIDE.match(s.shape, clause.rest, clause.stop)
        if not match or clause.follows:
            continue
        a, b = match.span("phrase")
        last = s.low[b - 1] in words("comments") and (b - a == 1 or s.low[a] in ("quite", "rather"))
        known = last if s.shape[a] == "r" else s.low[a] in ("like", "despite", "unlike", "in", "at")
        if known or adverbial(s, a, b):
            yield from clause.becomes((a, b), ",", (clause.start, a - 1), (match.end(), clause.stop))


def set_off(s: Sentence) -> Iterator[Rewording]:
    """It works, with a fine cast. -> With a fine cast, it works."""
    for clause in clauses(s):
        comma = s.shape.find(",", clause.start, clause.stop)
        if (
            not clause.rest <= comma < clause.stop - 1  # a comma may end the clause
            or s.low[comma + 1] not in words("set off by")
            or s.shape[comma + 1] != "i"
            or clause.follows
        ):
            continue
        phrase = s.shape[comma + 1 : clause.stop]
        if 3 <= len(phrase) <= LONGEST and not re.search("[vbhomwWS,]", phrase):
            yield from clause.becomes((comma + 1, clause.stop), ",", (clause.start, comma))


def and_verb(s: Sentence) -> Iterator[Rewording]:
    """It collapsed, killing ten. -> It collapsed and killed ten."""
    for clause in clauses(s):
        comma = s.shape.find(",", clause.rest, clause.stop)
        if clause.group not in ("v", "rv", "b") or comma < 0 or not re.match("g[dpj0Nin]", s.shape[comma + 1 :]):
            continue
        between, word = s.shape[clause.rest : comma], s.low[comma + 1]
        between = re.sub("cd[jn]*[ns]$", "", between) if clause.group != "b" else between
        if re.search("[vbhomwWSct]" + ("" if clause.group == "b" else "|j$"), between) or word in words(
            "not done by the subject"
        ):
            continue
        tag = s.words[clause.rest - 1].tag
        if clause.group == "b" and (
            clause.clitic or s.low[clause.verb] in ("am", "are") or word.endswith("ying") or can_be(word, "JJ")
        ):
            continue
        new = inflected(lemma(word, "VBG"), tag)
        if new and "cg" not in s.shape[comma : clause.stop]:
            yield from s.arrange(comma - 1, comma + 2, (comma - 1, comma), "and", new)


def manner(s: Sentence) -> Iterator[Rewording]:
    """He quickly opened the door. -> He opened the door quickly, and back."""
    for clause in clauses(s):
        last = clause.stop - 1
        if (
            clause.group == "rv"
            and s.low[clause.verb] in words("manner")
            and re.fullmatch("(?:d?j?[ns])?", clause.tail)
        ):
            yield from s.arrange(
                clause.verb, clause.stop, (clause.verb + 1, clause.stop), (clause.verb, clause.verb + 1)
            )
        elif clause.group == "v" and s.low[last] in words("manner") and re.fullmatch("(?:d?j?[ns])?r", clause.tail):
            yield from s.arrange(clause.verb, clause.stop, (last, clause.stop), (clause.verb, last))


def also(s: Sentence) -> Iterator[Rewording]:
    """It is also funny. -> It is funny, too."""
    for clause in clauses(s):
        for at in range(clause.verb, min(clause.rest + 1, clause.stop)):
            few = clause.stop - at < LONGEST and not re.search("[,cvbhomwWS!]", clause.tail)
            if s.low[at] == "also" and few and clause.tail and s.word(clause.stop) in ("", ".", "!"):
                yield from clause.becomes((clause.start, at), (at + 1, clause.stop), ",", "too")


TAIL = re.compile(rf",(?!p)(?P<who>{NP_PP})(?P<said>v)(?P<when>[^,]*)$")
HEAD = re.compile(rf"(?P<who>{NP_PP})(?P<said>v)(?P<when>(?:i?N)?)(?P<that>S?)")


def said_first(s: Sentence) -> Iterator[Rewording]:
    """It rained, officials said on Monday. -> Officials said on Monday that it rained."""
    for start, stop in segments(s):
        match = TAIL.search(s.shape[:stop], start)
        clause = (
            clause_at(s, start, match.start()) if match and s.low[match.start("said")] in words("reported") else None
        )
        if not match or not clause or not sound(clause) or not starts(s, start):
            continue
        when = match.start("when")
        if when == stop or adverbial(s, when, stop):
            yield from s.arrange(start, stop, (match.start() + 1, stop), "that", (start, match.start()))


def said_last(s: Sentence) -> Iterator[Rewording]:
    """Officials said on Monday that it rained. -> It rained, officials said on Monday."""
    for start, stop in segments(s):
        match = HEAD.match(s.shape, start, stop)
        if not match or s.low[match.start("said")] not in ("said", "says") or not starts(s, start):
            continue
        timed = not match["when"] or s.low[match.end("when") - 1] in words("days")
        that, clause = match.start("that"), clause_at(s, match.end(), stop)
        if not clause or not timed or (match["that"] and s.low[that] != "that") or re.search("[vbhom,]", clause.tail):
            continue
        if s.shape[start] == "p" or s.low[clause.start] not in ("it", "he", "she", "they"):
            yield from s.arrange(start, stop, (clause.start, stop), ",", (start, that))


DASHES = ("--", "-", "–", "—")
PAIR = re.compile(r"(?<=[nsNjreRV]):(?P<inside>[^,:.\"(]{1,12}):(?=[^:.,\"(])")
LAST = re.compile(r"(?<=[nsN]):(?P<inside>(?:r*d|j|c|r*[ie])[^,:.\"(]{1,12})(?=\.$|$)")
BRACKETS = re.compile(r"(?<=[nsN])\((?P<inside>[^,:.\"(]{3,14})\((?=[.]|[vbhomicn])")


def dashes(s: Sentence) -> Iterator[Rewording]:
    """The film -- a comedy -- is dull. -> The film, a comedy, is dull."""
    for pattern in (PAIR, LAST):
        for match in pattern.finditer(s.shape):
            a, b = match.span("inside")
            marks = {s.low[a - 1], s.low[b] if pattern is PAIR else s.low[a - 1]}
            ends = (a - 1, b) if pattern is PAIR else (a - 1,)
            if "-" in marks and (s.spaced or not all(_apart(s, at) for at in ends)):
                continue  # shoot - 'em - up
            if (s.capital(a) and pattern is LAST) or loud(s, max(a - 5, 0), b) or s.shape.count(":") > len(ends):
                continue
            if pattern is LAST and s.kind(a) == "d" and not _same_number(s, a):
                continue
            if not marks <= set(DASHES) or not _aside(s, a, b) or "," in s.shape[max(a - 6, 0) : a - 1]:
                continue
            if pattern is PAIR:
                yield from s.arrange(a - 2, b + 2, (a - 2, a - 1), ",", (a, b), ",", (b + 1, b + 2))
            elif s.kind(a) != "j":
                yield from s.arrange(a - 2, b, (a - 2, a - 1), ",", (a, b))


def brackets(s: Sentence) -> Iterator[Rewording]:
    """The film (despite its fine cast) is dull. -> The film, despite its fine cast, is dull."""
    for match in BRACKETS.finditer(s.shape):
        a, b = match.span("inside")
        if s.low[a - 1] not in ("-lrb-", "(") or s.low[b] not in ("-rrb-", ")") or not _aside(s, a, b):
            continue
        if any(s.capital(at) or s.shape[at] == "0" for at in range(a, b)) or s.shape[a] in "njs":
            continue
        end = s.kind(b + 1) == "."
        rest = () if end else (",", (b + 1, b + 2))
        yield from s.arrange(a - 2, b + 1 + (not end), (a - 2, a - 1), ",", (a, b), *rest)


def _apart(s: Sentence, at: int) -> bool:
    """Whether a mark has white space on both sides."""
    word = s.words[at]
    return s.text[word.start - 1 : word.start].isspace() and s.text[word.stop : word.stop + 1].isspace()


def _same_number(s: Sentence, a: int) -> bool:
    """Whether the noun phrase that begins here can explain the noun before it."""
    noun = re.match(f"d{MODIFIERS}[nN]*([nsN])", s.shape[a:])
    return noun is not None and noun[1] == s.shape[a - 2]


def _aside(s: Sentence, a: int, b: int) -> bool:
    """Whether these words have no clause of their own."""
    finite, opens = re.search("[vbhomV]", s.shape[a:b]), re.search("[wWt]", s.shape[a:b])
    if s.kind(a) == "c":
        return (
            s.low[a] in ("and", "but", "or", "yet")
            and not re.search("[SW]", s.shape[a:b])
            and s.kind(a + 1) not in ("p", "d")
        )
    if s.kind(a) == "S":
        return not finite and s.low[a] in ("while", "although", "though", "if")
    return (
        s.kind(a) not in ("W", "w")
        and s.low[a] not in ("only", "not")
        and (not finite or (opens is not None and opens.start() < finite.start()))
    )
