"""Clauses, adverbials and subjects in another order: subordinate clauses, fronting, inversion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .clauses import (
    LONGEST_ADVERBIAL,
    NOUN,
    NP,
    NP_OF,
    NP_PP,
    Clause,
    adverbial,
    adverbials,
    clause_at,
    clauses,
    plural,
    single,
    sound,
)
from .lexicon import words
from .sentence import Rewording, Sentence, loud, segments

CONTRAST = ("although", "though")  # with a comma, wherever they stand


def clause_order(s: Sentence) -> Iterator[Rewording]:
    """I stayed because it rained. -> Because it rained, I stayed."""
    for clause in clauses(s):
        for at in range(clause.rest, clause.stop):
            if s.low[at] in words("conjunctions") and s.shape[at] in "SiWr":
                minor, end = clause_at(s, at + 1, clause.stop), at - (s.shape[at - 1] == ",")
                if minor and _movable(clause, at, end) and _alone(minor):
                    yield from clause.becomes((at, clause.stop), ",", (clause.start, end))
                break


def _movable(clause: Clause, at: int, end: int) -> bool:
    """Whether the conjunction at `at` can only join its clause to the main one, which ends before `end`."""
    s = clause.s
    if s.low[at - 1] in words("not before a conjunction") or re.search("[vbhomwWStVg,c:]", s.shape[clause.rest : end]):
        return False
    if s.low[at] == "because" and "!" in s.shape[clause.start : at]:  # perhaps it was for another reason
        return False
    if s.low[at] in ("if", "when", "as") and s.lemma(at - 1) in words("asking"):
        return False
    first = s.low[clause.start]
    return first not in ("this", "that") and not (first in words("their") and s.shape[at + 1] != "p")


def _alone(minor: Clause) -> bool:
    """Whether all up to the end belongs to this clause, and no day is in it that may belong to the main clause."""
    if words("days").intersection(minor.s.low[minor.rest : minor.stop]):
        return False
    return not re.search("[vbhomS,:]", minor.tail) and not re.search("cr?[vbhomp]", minor.tail)


def clause_order_back(s: Sentence) -> Iterator[Rewording]:
    """Because it rained, I stayed. -> I stayed because it rained."""
    for start, stop in segments(s):
        if s.low[start] not in words("conjunctions") - {"while", "whereas"} or s.shape.count(",", start, stop) != 1:
            continue
        comma = s.shape.index(",", start, stop)
        minor, main = clause_at(s, start + 1, comma), clause_at(s, comma + 1, stop)
        if not minor or not main or not sound(minor) or re.search("[vbhomwWSc]", main.tail):
            continue
        named = words("their").intersection(s.low[comma + 1 : stop]) and s.shape[start + 1] != "p"
        if not named and s.low[comma + 1] != "then":
            yield from s.arrange(
                start, stop, (comma + 1, stop), "," if s.low[start] in CONTRAST else "", (start, comma)
            )


def but(s: Sentence) -> Iterator[Rewording]:
    """It is slow, but it is fun. -> Although it is slow, it is fun."""
    for clause in clauses(s):
        links = [at for at in range(clause.rest, clause.stop) if s.low[at] == "but" and s.shape[at] == "c"]
        if len(links) != 1 or s.shape[links[0] - 1] != ",":
            continue
        at, before = links[0], s.low[: links[0]]
        plain = not {"only", "merely", "just", "nothing"}.intersection(before)
        if plain and clause_at(s, at + 1, clause.stop) and not re.search("[,:]", s.shape[clause.rest : at - 1]):
            yield from clause.becomes("although", (clause.start, at), (at + 1, clause.stop))


def however(s: Sentence) -> Iterator[Rewording]:
    """But the plan failed. -> However, the plan failed."""
    only = "not only" in s.text[: s.words[0].start].lower()[-200:]
    if s.low[0] == "but" and s.shape[:1] in "ci" and s.word(1) != "," and not only:
        finite = re.search("[vbhom]", s.shape)
        if finite and s.kind(1) in tuple("pdnNjsE") and not any("?" in low for low in s.low):
            yield from s.arrange(0, 2, "however", ",", (1, 2))


def although(s: Sentence) -> Iterator[Rewording]:
    """Although it is slow, it is fun. -> It is slow, but it is fun."""
    for start, stop in segments(s):
        comma = s.shape.find(",", start, stop)
        if comma < 0 or s.low[start] not in (*CONTRAST, "while") or "but" in s.low[start:stop]:
            continue
        minor, main = clause_at(s, start + 1, comma), clause_at(s, comma + 1, stop)
        if minor and main and sound(minor) and (s.low[start] != "while" or "g" not in minor.group):
            yield from s.arrange(start, stop, (start + 1, comma + 1), "but", (comma + 1, stop))


MAIN = re.compile("(?![SWwtgevi])[^vbhomSWwt,:]+[vbhom]")  # up to the verb of a main clause


def join(s: Sentence) -> Iterator[Rewording]:
    """It is slow, and it is long. -> It is slow; it is long. It is slow, but fun. -> It is slow; however, it is fun."""
    for start, stop in segments(s):
        verb = MAIN.match(s.shape, start, stop)
        comma = s.shape.find(",", verb.end() + 1 if verb else stop, stop - 2)
        at = comma + 1
        if not verb or comma < 0 or s.shape[at] != "c" or s.low[at] not in ("and", "but"):
            continue
        first, second = clause_at(s, start, comma), clause_at(s, at + 1, stop)
        whole = s.shape[comma - 1] not in "icdSwWt" and not re.search("[SwWvbhom]", s.shape[verb.end() : comma])
        if second and sound(second) and whole and (s.spaced or (first and sound(first))):
            word = s.cut(comma - 1, comma) + (" ;" if s.spaced else ";")
            yield from s.arrange(comma - 1, at + 1, word, *(("however", ",") if s.low[at] == "but" else ()))


def semicolon(s: Sentence) -> Iterator[Rewording]:
    """It is slow; the plot is thin. -> It is slow, and the plot is thin."""
    for at in range(3, len(s.words) - 2):
        if s.low[at] != ";" or s.shape.count(":") != 1 or "," in s.shape or "!" in s.shape[at:]:
            continue
        first, second = clause_at(s, 0, at), clause_at(s, at + 1, len(s.shape))
        if first and second and sound(first) and sound(second):
            yield from s.arrange(at - 1, at + 1, (at - 1, at), ",", "and")


TRAILING = re.compile("[^vbhomSWwt,:]+[vbhom][^,:]*,(?P<minor>r?[SiW][^,:]+)(?=\\.?$)")


def clause_front(s: Sentence) -> Iterator[Rewording]:
    """He is tired of it, although he likes the cast. -> Although he likes the cast, he is tired of it."""
    for start, stop in segments(s):
        match = TRAILING.match(s.shape, start, stop) if not re.search("[Ww]|^[tgei]", s.shape[start:stop]) else None
        if not match:
            continue
        a, b = match.span("minor")
        even = s.shape[a] == "r"
        link, minor = s.low[a + even], clause_at(s, a + 1 + even, b)
        known = link in ("as", "because", "although", "though", "since") and (not even or s.low[a] == "even")
        if not known or not minor or not sound(minor) or re.search("[SW]", s.shape[start : a - 1]):
            continue
        main = clause_at(s, start, a - 1)
        named = s.low[start] in words("their") and s.shape[minor.start] != "p"
        if (link == "because" and "!" in s.shape[start:a]) or (link == "as" and minor.group in ("b", "o", "h")):
            continue
        if (
            main
            and not named
            and s.low[start] not in ("but", "and")
            and not words("links").intersection(s.low[main.rest : a - 1])
        ):
            yield from s.arrange(start, b, (a, b), ",", (start, a - 1))


FEW = 9  # words after a verb; after more of them an adverbial at the end does not clearly belong to it


def to_front(s: Sentence) -> Iterator[Rewording]:
    """She left in the morning. -> In the morning, she left."""
    for clause in clauses(s):
        for start, stop in () if clause.follows else adverbials(clause):
            on = "on" if s.low[start] in words("days") else ""
            yield from clause.becomes(on, (start, stop), ",", (clause.start, start), (stop, clause.stop))


def to_end(s: Sentence) -> Iterator[Rewording]:
    """In the morning, she left. -> She left in the morning."""
    for start, stop in segments(s):
        comma = s.shape.find(",", start, min(stop, start + LONGEST_ADVERBIAL + 1))
        clause = clause_at(s, comma + 1, stop) if comma > start and adverbial(s, start, comma) else None
        if clause and len(clause.tail) < FEW and single(s, clause.rest, stop) and not re.search("[,i]", clause.tail):
            yield from s.arrange(start, stop, (comma + 1, stop), (start, comma))


def source(s: Sentence) -> Iterator[Rewording]:
    """It rained, according to her. -> According to her, it rained."""
    for clause in clauses(s):
        match = re.search(f",[eig][ti]{NP_PP}$", clause.tail)
        comma = clause.rest + match.start() if match else clause.stop
        if s.low[comma + 1 : comma + 3] == ["according", "to"]:
            yield from clause.becomes((comma + 1, clause.stop), ",", (clause.start, comma))


def comment(s: Sentence) -> Iterator[Rewording]:
    """Unfortunately, it rained. -> It rained, unfortunately. The rain, unfortunately, came down hard."""
    for start, stop in segments(s):
        if s.shape[start : start + 2] != "r," or not (s.low[start] in words("comments") or s.low[start].endswith("ly")):
            continue
        clause, word = clause_at(s, start + 2, stop), (start, start + 1)
        if not clause or not sound(clause) or s.low[clause.start] in ("nothing", "nobody", "none", "no", "few"):
            continue
        short = stop - start < FEW and single(s, clause.rest, stop) and "," not in clause.tail
        if short and s.low[start] in words("closing comments"):
            yield from s.arrange(start, stop, (start + 2, stop), ",", word)
        elif s.shape[clause.start] not in "pE" and not clause.clitic:
            yield from s.arrange(start, stop, (clause.start, clause.verb), ",", word, ",", (clause.verb, stop))


def adverb(s: Sentence) -> Iterator[Rewording]:
    """It ultimately failed. -> Ultimately, it failed."""
    for clause in clauses(s):
        for at in range(clause.verb, min(clause.rest + 1, clause.stop)):
            alone = (
                s.kind(at - 1) not in ("r", "!", ",")
                and s.kind(at + 1) not in ("r", ",", "")
                and (at < clause.rest or clause.group == "b")
            )
            if s.shape[at] == "r" and s.low[at] in words("comments") and alone:
                yield from clause.becomes((at, at + 1), ",", (clause.start, at), (at + 1, clause.stop))


def on_day(s: Sentence) -> Iterator[Rewording]:
    """said Monday -> said on Monday, and back."""
    for at in range(1, len(s.words)):
        after = s.kind(at + 1)
        if (
            s.low[at] not in words("days")
            or s.shape[at] not in "Nr"
            or not s.capital(at)
            or loud(s, max(at - 8, 0), at)
        ):
            continue
        if s.shape[at - 1] in "vesnV0r" and s.low[at - 1] not in ("late", "early", "earlier", "later"):
            if after in ("", *".,:iStW") and s.word(at + 1) != "on":
                yield from s.arrange(at, at + 1, "on", (at, at + 1))
        elif s.low[at - 2 : at] == ["said", "on"] and after in ("", ".", ",", "S"):
            yield from s.arrange(at - 1, at + 1, (at, at + 1))


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
