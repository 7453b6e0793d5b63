"""Adjectives and participles in another place: before the noun, or behind it in a relative clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..substitutes import takes_an
from ..wordnet import is_phrase
from .clauses import dates
from .lexicon import can_be, words
from .sentence import Piece, Rewording, Sentence

PLAIN = "(?:d?0?j*[nN]*[nsN](?:(?:f|,?c)d?0?j*[nN]*[nsN])*)"
ADJECTIVES = "r*j(?:(?:,|,?c)r*j)*"
ATTRIBUTE = re.compile(rf"(?P<article>d?)(?P<group>{ADJECTIVES})(?P<noun>[ns])(?=[.:,w]|$)")
BEHIND = re.compile(r"(?P<article>d)(?P<noun>[jN]*n*[ns])wb(?P<group>r*[jg])(?=[.:,]|$)")
LONG = ("ful", "less", "ous", "able", "ible", "esque")  # endings of adjectives that tell how something is
COMPOUND = re.compile(
    "^(?:well|ill|badly|self|over|un|fast|slow|thought|high|low|heavy|light|half|feel|laugh|crowd)-.*(?:ing|ed|en|wn)$|-(?:inducing|numbing|"
    "provoking|pleasing|filled|riddled|headed|hearted|paced|minded|warming|wrenching|breaking|stopping|blowing)$"
)
PRESENT = ("VBZ", "VBP", "MD")
CLAUSES = (
    "but",
    "because",
    "while",
    "although",
    "though",
    "with",
    "without",
    "thanks",
    "despite",
    "even",
    "if",
    "when",
)


@lru_cache(10_000)
def describes(word: str) -> bool:
    """Whether an adjective says how something is, before its noun as well as after "is"; not: old friend, political party."""
    if word in words("describing"):
        return True
    if "-" in word:
        return COMPOUND.search(word) is not None
    return word.endswith(LONG) and word not in words("not describing") and can_be(word, "JJ") and len(word) > 5


def that_is(s: Sentence, noun: int, many: bool, past: bool = False) -> str:
    """The beginning of a relative clause about a noun: that is, who are."""
    low = s.low[noun]
    person = low in words("people") or low.removesuffix("s") in words("people")
    be = ("were" if many else "was") if past else ("are" if many else "is")
    return f"{'who' if person else 'that'} {be}"


def past(s: Sentence) -> bool:
    """Whether a verb of the sentence is in the past tense."""
    return any(word.tag == "VBD" for word in s.words)


def article(s: Sentence, at: int, noun: int) -> Piece:
    """The article at `at` as it stands before the word at `noun`."""
    return (at, at + 1) if s.low[at] not in ("a", "an") else "an" if takes_an(s.low[noun]) else "a"


def relative(s: Sentence) -> Iterator[Rewording]:
    """It is a smart, moving film. -> It is a film that is smart and moving."""
    for match in ATTRIBUTE.finditer(s.shape):
        a = match.start()
        if not described(s, match) or s.kind(a - 1) in ("V", "e"):
            continue
        was = past(s)
        if was and s.word(a - 1) not in ("was", "were") and any(word.tag in PRESENT for word in s.words):
            continue
        yield from s.arrange(a, match.end(), *behind(s, match, was))


def described(s: Sentence, match: re.Match[str]) -> bool:
    """Whether the adjectives of an ATTRIBUTE may go behind their noun."""
    a, (b, c), d = match.start(), match.span("group"), match.end("noun")
    return _stands_free(s, a, b, s.shape[d - 1] == "s") and _graded(s, b, c) and _describable(s, b, c, d)


def behind(s: Sentence, match: re.Match[str], was: bool = False) -> Iterator[Piece]:
    """The pieces of an ATTRIBUTE with its adjectives in a relative clause."""
    a, (b, c), d = match.start(), match.span("group"), match.end("noun")
    if b > a:
        yield article(s, a, c)
    yield c, match.end()
    yield that_is(s, d - 1, s.shape[d - 1] == "s", was)
    comma = s.shape.rfind(",", b, c)
    if comma < 0 or "c" in s.shape[b:c]:
        yield b, c
    else:
        yield b, comma
        yield "and"
        yield comma + 1, c
    if s.kind(match.end()) == "w":
        yield "and"


def _stands_free(s: Sentence, a: int, b: int, many: bool) -> bool:
    """Whether the noun phrase has an article that allows a relative clause, and is no part of a longer one."""
    if any(s.capital(at) for at in range(a + (a == 0), b + 1)):
        return False
    before = s.word(a - 1)
    if b > a:
        return s.low[a] in (("some", "these", "those") if many else ("a", "an")) and before not in (
            "such", "what", "quite", "rather", "many", "as", "so", "too", "how", "half",
        )  # fmt: skip
    return many and s.kind(a - 1) in tuple("vbhif") and s.kind(b) == "j" and before not in ("as", "than", "like")


def _graded(s: Sentence, b: int, c: int) -> bool:
    """Whether all adjectives say how something is, and adverbs before them how much so."""
    for at in range(b, c):
        low, kind = s.low[at], s.shape[at]
        if kind == "j" and (s.words[at].tag != "JJ" or not describes(low)):
            return False
        if kind == "r" and not (low.endswith("ly") and low != "only") and low not in words("degree adverbs"):
            return False
        if kind == "c" and low not in ("and", "but", "yet", "or"):
            return False
    return True


def _describable(s: Sentence, b: int, c: int, d: int) -> bool:
    """Whether the noun is one that a relative clause can describe, and what follows it belongs to neither."""
    noun, last = s.low[d - 1], s.low[c - 1]
    if noun in words("not described") | dates() or is_phrase(f"{last} {s.low[c]}") or is_phrase(f"{last} {noun}"):
        return False
    if any(s.shape[at] == "j" and (describes(s.low[at]) or s.low[at] == "enough") for at in range(c, d)):
        return False
    if s.kind(d) == "w":
        if s.words[d - 1].tag == "NNS" and d + 1 < len(s.words) and s.words[d + 1].tag == "VBZ":
            return False  # a story about boys that works
        return s.low[d] in ("that", "who", "which") and s.kind(d + 1) in tuple("vbhmr") and "," not in s.shape[b:c]
    return s.kind(d) != "," or s.word(d + 1) in CLAUSES


AND_ONE = re.compile(
    rf"(?P<article>d)(?P<group>{ADJECTIVES})(?P<noun>[jN]*n*n)(?P<more>(?:[fi]{PLAIN})+|w[vbhm][^,:.\"(]*)(?=[.]?[.]?$)"
)
LONGEST = 14  # words between the noun and what is said of it


def and_one(s: Sentence) -> Iterator[Rewording]:
    """It is a moving story about two boys. -> It is a story about two boys, and a moving one."""
    for at in range(len(s.words)):
        found = and_a(s, at) if s.low[at] in ("a", "an") else None
        if found and ((at == 0 and s.spaced) or s.kind(at - 1) in ("b", "v")):
            yield from s.arrange(at, found[0], *found[1])


def and_a(s: Sentence, a: int) -> tuple[int, tuple[Piece, ...]] | None:
    """Where the noun phrase at the end of a sentence that begins with an article at `a` ends, and its pieces in another order."""
    match = AND_ONE.match(s.shape, a)
    if not match:
        return None
    (b, c), d, end = match.span("group"), match.end("noun"), match.end()
    plain = end - d <= LONGEST and not NOT.intersection(s.low[:a]) and "," not in s.shape[b:c] and not past(s)
    if (
        not plain
        or any(s.capital(at) for at in range(a + 1, d))
        or not _graded(s, b, c)
        or not _describable(s, b, c, d)
    ):
        return None
    return end, (article(s, a, c), (c, end), ",", "and", "an" if takes_an(s.low[b]) else "a", (b, c), "one")


NOT = frozenset(("not", "n't", "hardly", "never", "if", "whether", "less", "more", "?"))


def attributive(s: Sentence) -> Iterator[Rewording]:
    """It is a film that is moving. -> It is a moving film."""
    for match in BEHIND.finditer(s.shape):
        a, (c, d), (b, e) = match.start(), match.span("noun"), match.span("group")
        if s.low[a] not in ("a", "an", "some") or s.low[d] not in ("that", "who", "which"):
            continue
        if describes(s.low[e - 1]) and _graded(s, b, e) and not any(s.capital(at) for at in range(c, e)):
            yield from s.arrange(a, e, article(s, a, b), (b, e), (c, d))


POSTNOMINAL = re.compile(r"(?<=[ns])(?P<adverb>r?)(?P<word>[je])(?=[iftrj])")


def full_of(s: Sentence) -> Iterator[Rewording]:
    """a film full of life -> a film that is full of life."""
    for match in POSTNOMINAL.finditer(s.shape):
        at, word = match.start(), match.start("word")
        adjective = s.shape[word] == "j"
        enough = adjective and s.word(word + 1) == "enough" and s.kind(word + 2) in ("i", "t")
        known = s.low[word] in words("behind its noun" if adjective else "filled") and s.kind(word + 1) in (
            "i",
            "f",
            "t",
        )
        known = (
            known
            and s.low[word + 1] not in ("as", "than")
            and (adjective or s.low[max(at - 4, 0) : at].count("the") == 0)
        )
        if not (known or enough) or past(s):
            continue
        if (
            s.kind(at - 2) in tuple("nN'")
            or s.kind(at - 2) == ""
            or (at < word and s.low[at] not in ("far", "much") and not s.low[at].endswith("ly"))
        ):
            continue
        if any(s.shape[i] in "vVge" and s.lemma(i) in words("making") for i in range(max(at - 8, 0), at)):
            continue  # it made the hall full of life
        if any(word.tag == "PRP$" for word in s.words[max(at - 4, 0) : at]):
            continue  # with your mouth full of bread
        yield from s.arrange(at, at + 1, that_is(s, at - 1, s.shape[at - 1] == "s"), (at, at + 1))


def without_that_is(s: Sentence) -> Iterator[Rewording]:
    """a film that is full of life -> a film full of life."""
    for match in re.finditer("(?<=[ns])wb(?=r?j[ift])", s.shape):
        at = match.start()
        adjective = at + 2 + (s.shape[at + 2] == "r")
        cleft = "it" in s.low[max(at - 7, 0) : at] and "the" in s.low[max(at - 4, 0) : at]
        named = s.low[at] in ("that", "which", "who") and s.low[at + 1] != "'s" and not cleft
        if named and s.low[adjective] in words("behind its noun") and not re.search("cr*[vbhom]", s.shape[at + 2 :]):
            yield from s.arrange(at, at + 3, (at + 2, at + 3))


WITH = re.compile("(?P<article>d)(?:r?j(?:,|c)?)*n*n(?P<with>i)(?=d|j*s|0)")


def that_has(s: Sentence) -> Iterator[Rewording]:
    """It is a film with a fine cast. -> It is a film that has a fine cast."""
    for match in WITH.finditer(s.shape):
        a, at = match.start(), match.start("with")
        noun, before = s.low[at - 1], s.kind(a - 1)
        if s.low[a] not in ("a", "an") or noun not in words("counted things") | words("works") or past(s):
            continue
        if before not in ("", "b", "r", ":", ".") or any(s.capital(i) for i in range(a + (a == 0), at)):
            continue
        if s.low[at] == "with" and s.low[at + 1] not in ("which", "whom", "the", "this", "that"):
            yield from s.arrange(at, at + 1, "that has")
        elif s.low[at] == "about":
            yield from s.arrange(at, at + 1, "that is about")
