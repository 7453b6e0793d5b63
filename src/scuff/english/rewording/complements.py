"""What goes with a verb in another construction: it seems that, it takes, fails to, less than, one of, all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..inflection import inflected
from ..substitutes import takes_an
from .attributes import describes
from .clauses import NP, NP_OF, NP_PP, adverbial, clauses, plural
from .lexicon import words
from .sentence import Rewording, Sentence

ALL = {"it": "it", "they": "them", "we": "us", "you": "you"}
FINITE = {
    ("be", "VBZ"): "is",
    ("be", "VBP"): "are",
    ("be", "VBD"): "was",
    ("have", "VBZ"): "has",
    ("have", "VBD"): "had",
}


def _form(base: str, tag: str, many: bool) -> str:
    """A finite form of a verb."""
    if base == "be" and tag == "VBD" and many:
        return "were"
    return FINITE.get((base, tag)) or inflected(base, tag) or ""


def seems_that(s: Sentence) -> Iterator[Rewording]:
    """The plan seems to work. -> It seems that the plan works."""
    for clause in clauses(s):
        if clause.group != "v" or clause.base not in ("seem", "appear") or not clause.tail.startswith("tV"):
            continue
        first, verb = s.low[clause.start], s.low[clause.rest + 1]
        many = True if first in ("i", "you", "we", "they") else plural(s, clause.start, clause.verb)
        bare = first in ("this", "that") and len(clause.subject) == 1
        if first in ("it", "there", "i") or bare or many is None or clause.follows or s.more_verbs(clause.verb):
            continue
        tag = "VBD" if clause.past else "VBP" if many else "VBZ"
        new = _form(verb, tag, many)
        frame = f"it {'seemed' if clause.past else 'seems'} that" if clause.base == "seem" else ""
        frame = frame or f"it {'appeared' if clause.past else 'appears'} that"
        if new:
            yield from s.arrange(clause.start, clause.rest + 2, frame, (clause.start, clause.verb), new)


def seems_to(s: Sentence) -> Iterator[Rewording]:
    """It seems that the plan works. -> The plan seems to work."""
    for clause in clauses(s):
        match = re.match(f"S(?P<who>(?!p){NP_OF})(?P<verb>[vb]|h(?=r*e))(?!!)", clause.tail)
        if clause.subject != "p" or s.low[clause.start] != "it" or clause.group != "v" or not match or clause.past:
            continue
        at, verb = clause.rest + 1, clause.rest + match.start("verb")
        tag, many = s.words[verb].tag, plural(s, at, verb)
        if clause.base not in ("seem", "appear") or many is None or tag == "VBD" or s.low[verb][0] == "'":
            continue
        seem = clause.base + ("" if many else "s")
        yield from s.arrange(clause.start, verb + 1, (at, verb), seem, "to", s.lemma(verb))


def it_takes(s: Sentence) -> Iterator[Rewording]:
    """It takes talent to make a dull film. -> To make a dull film takes talent."""
    for clause in clauses(s):
        match = re.match(f"(?P<what>(?!p){NP_OF})(?=tV)", clause.tail)
        if s.low[clause.start] != "it" or clause.group != "v" or clause.base != "take" or not match or clause.follows:
            continue
        to = clause.rest + match.end()
        if not re.search("[,:S]", clause.tail) and 4 <= clause.stop - to <= 14:
            yield from clause.becomes((to, clause.stop), (clause.verb, clause.rest), (clause.rest, to))


def fails_to(s: Sentence) -> Iterator[Rewording]:
    """It fails to work. -> It does not work."""
    for match in re.finditer("(?<=[nsNp])v(?=tV)", s.shape):
        at = match.start()
        if s.lemma(at) == "fail" and not s.more_verbs(at) and s.kind(at - 2) not in ("r", "!"):
            do = {"VBD": "did", "VBZ": "does"}.get(s.words[at].tag, "do")
            yield from s.arrange(at, at + 2, s.apostrophes(do + "n't"))


def less_than(s: Sentence) -> Iterator[Rewording]:
    """It is less funny than the first. -> It is not as funny as the first."""
    for match in re.finditer("(?<=[pnsN]b)rj(?=i)", s.shape):
        at = match.start()
        if s.low[at] == "less" and s.low[at + 2] == "than" and s.kind(at + 3) != "j":
            yield from s.arrange(at, at + 3, "not as", (at + 1, at + 2), "as")


def among(s: Sentence) -> Iterator[Rewording]:
    """It is one of the best films. -> It is among the best films, and back."""
    for match in re.finditer(r"(?<=[nsNpd]b)(?:0f|i)(?=d(?:n')?r?j)", s.shape):
        a, b = match.span()
        best = re.match(r"d(?:n')?(?P<best>r?j)(?:j*[nN]*s(?![nsN'])|(?=[.]|$))", s.shape[b:])
        tags = {s.words[at].tag for at in range(b, b + best.end())} if best else set()
        if not {"JJS", "RBS", "RBR"} & tags or s.low[a - 1] in ("are", "were", "'re"):
            continue
        if s.low[a:b] == ["one", "of"]:
            yield from s.arrange(a, b, "among")
        elif s.low[a] == "among":
            yield from s.arrange(a, b, "one of")


def one(s: Sentence) -> Iterator[Rewording]:
    """The film is smart and funny. -> The film is a smart and funny one."""
    for clause in clauses(s):
        shape = re.fullmatch("j(?:(?:,j)*,?cj)?", clause.tail)
        if clause.group != "b" or clause.clitic or not shape or s.low[clause.verb] not in ("is", "was"):
            continue
        known = all(describes(s.low[at]) for at in range(clause.rest, clause.stop) if s.shape[at] == "j")
        thing = s.low[clause.verb - 1] in words("counted things") and re.fullmatch("d?[jn]*n", clause.subject)
        if known and thing and s.low[clause.start] in ("the", "this", "that", "its", "his", "her", "their"):
            an = "an" if takes_an(s.low[clause.rest]) else "a"
            yield from s.arrange(clause.rest, clause.stop, an, (clause.rest, clause.stop), "one")


def all_float(s: Sentence) -> Iterator[Rewording]:
    """it all works -> all of it works, and back."""
    for match in re.finditer("pd(?=r?[vbhom])", s.shape):
        at = match.start()
        if s.low[at] in ALL and s.low[at + 1] == "all" and s.kind(at - 1) in ("", *".,:cSi"):
            yield from s.arrange(at, at + 2, "all of", ALL[s.low[at]])
    for match in re.finditer("dfp(?=[vm])", s.shape):
        at = match.start()
        back = {"it": "it", "them": "they", "us": "we", "you": "you"}.get(s.low[at + 2])
        if s.low[at] == "all" and back and s.kind(at - 1) in ("", ".", ":"):
            yield from s.arrange(at, at + 3, back, "all")


def purpose(s: Sentence) -> Iterator[Rewording]:
    """He sold the house to pay his debts. -> To pay his debts, he sold the house."""
    for clause in clauses(s):
        match = re.match(f"(?P<what>{NP_OF})(?=tV)", clause.tail)
        if (
            clause.group not in ("v", "mV")
            or clause.base not in words("done for a purpose")
            or not match
            or clause.follows
        ):
            continue
        to = clause.rest + match.end()
        nouns = words("with an infinitive").intersection(s.low[clause.rest : to])
        plain = not re.search("[vbhomwWS,:c]", s.shape[to : clause.stop]) and clause.stop - to >= 3
        if plain and not nouns and s.shape[clause.start] != "E" and s.low[to + 1] != "be":
            yield from clause.becomes((to, clause.stop), ",", (clause.start, to))


def there_are(s: Sentence) -> Iterator[Rewording]:
    """There are many ideas floating around. -> Many ideas are floating around."""
    for clause in clauses(s):
        match = re.match(f"(?P<who>{NP})(?=g)", clause.tail)
        if clause.subject + clause.group != "Eb" or clause.clitic or not match or clause.follows:
            continue
        at = clause.rest + match.end()
        few = s.low[clause.rest] in ("many", "several", "some", "no", "few", "two", "three")
        if few and not re.search("[vbhom]", clause.tail):
            yield from s.arrange(clause.start, at, (clause.rest, at), (clause.verb, clause.rest))


def said_who(s: Sentence) -> Iterator[Rewording]:
    """\"It rained,\" said Anna. -> \"It rained,\" Anna said, and back."""
    for match in re.finditer(
        rf'(?<=")(?:(?P<said>v)(?P<whom>(?!p){NP_PP})|(?P<who>(?!p){NP_PP})(?P<says>v))(?=[.]|$)', s.shape
    ):
        said, who = ("said", "whom") if match["said"] else ("says", "who")
        (a, b), at = match.span(who), match.start(said)
        if s.low[at] not in ("said", "says", "added") or s.text[s.words[match.start() - 1].start] not in "\"”'":
            continue
        if s.word(match.start() - 2) in (",", "?", "!") and not adverbial(s, b - 1, b):
            first, second = (s.cut(a, b), s.cut(at, at + 1))[:: 1 if said == "said" else -1]
            yield Rewording(s.words[match.start()].start, s.words[match.end() - 1].stop, f"{first} {second}")


def noun_is(s: Sentence) -> Iterator[Rewording]:
    """clooney 's a good director -> clooney is a good director."""
    for match in re.finditer("(?<=[nN])['b](?=!?r*d[rjn]|!r*j|r+j|ntV)", s.shape):
        at = match.start()
        if s.low[at] == "'s" and s.low[at + 1] not in ("own", "most", "very") and s.kind(at - 2) != "c":
            after = s.low[at + 1] in ("fun", "a", "an", "the", "not", "so", "too", "just", "also", "still")
            if after:
                yield from s.arrange(at - 1, at + 1, (at - 1, at), "is")


def by_doing(s: Sentence) -> Iterator[Rewording]:
    """It surprises by taking its time. -> By taking its time, it surprises."""
    for clause in clauses(s):
        at = next((i for i in range(clause.rest, clause.stop - 2) if s.low[i] == "by" and s.shape[i + 1] == "g"), 0)
        if not at or clause.follows or clause.subject == "E" or clause.stop - at > 14:
            continue
        few = not re.search("[vbhomwWS,:ceg]", s.shape[clause.rest : at]) and not re.search(
            "[vbhomwWS,:]", s.shape[at : clause.stop]
        )
        if few and clause.group in ("v", "rv", "mV"):
            yield from clause.becomes((at, clause.stop), ",", (clause.start, at))


def manages(s: Sentence) -> Iterator[Rewording]:
    """It manages to surprise. -> It succeeds in surprising."""
    for match in re.finditer("(?<=[nsNpr])vtV", s.shape):
        at = match.start()
        new = inflected(s.low[at + 2], "VBG")
        if s.lemma(at) == "manage" and new and not s.more_verbs(at) and s.low[at + 2] not in ("be", "have"):
            form = {"VBZ": "succeeds", "VBD": "succeeded"}.get(s.words[at].tag, "succeed")
            yield from s.arrange(at, at + 3, form, "in", new)


GOING = {"i": "am", "you": "are", "we": "are", "they": "are", "he": "is", "she": "is", "it": "is"}


def going_to(s: Sentence) -> Iterator[Rewording]:
    """She will leave. -> She is going to leave, and back."""
    for clause in clauses(s):
        will = clause.verb
        if clause.group.startswith("mV") and s.low[will] == "will" and s.low[will + 1] != "have":
            many = None if clause.subject == "p" else plural(s, clause.start, clause.verb)
            be = GOING.get(s.low[clause.start]) if clause.subject == "p" else {True: "are", False: "is"}.get(bool(many))
            if be and (clause.subject == "p" or many is not None):
                yield from s.arrange(will, will + 1, be, "going to")
        going = clause.group == "bg" and s.low[clause.rest - 1] == "going" and clause.tail.startswith("tV")
        if going and s.low[will] in ("is", "are", "am") and not s.more_to(will):
            yield from s.arrange(will, clause.rest + 1, "will")


def such_a(s: Sentence) -> Iterator[Rewording]:
    """such a dull film -> so dull a film, and back."""
    for match in re.finditer("[Djd]dj(?=n)|rjd(?=n)", s.shape):
        at = match.start()
        if (
            s.low[at] == "such"
            and s.low[at + 1] in ("a", "an")
            and s.words[at + 2].tag == "JJ"
            and s.low[at + 2] != "little"
        ):
            if describes(s.low[at + 2]):
                yield from s.arrange(at, at + 3, "so", (at + 2, at + 3), "an" if takes_an(s.low[at + 3]) else "a")
        elif s.low[at] == "so" and s.low[at + 2] in ("a", "an"):
            yield from s.arrange(at, at + 3, "such", "an" if takes_an(s.low[at + 1]) else "a", (at + 1, at + 2))


def in_order_to(s: Sentence) -> Iterator[Rewording]:
    """He sold it to pay his debts. -> He sold it in order to pay his debts."""
    for clause in clauses(s):
        match = re.match(f"(?P<what>{NP_OF})(?=tV[dpjnsN])", clause.tail)
        if clause.group not in ("v", "mV") or clause.base not in words("done for a purpose") or not match:
            continue
        to = clause.rest + match.end()
        if not (words("with an infinitive") - {"it", "them", "him"}).intersection(s.low[clause.rest : to]):
            yield from s.arrange(to, to + 1, "in order", (to, to + 1))
