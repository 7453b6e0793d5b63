"""Coordinated parts in another order, and adjectives joined by a comma or "and"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ..substitutes import takes_an
from .attributes import describes
from .clauses import MODIFIERS, clause_at, dates
from .lexicon import can_be, phrases, words
from .sentence import Piece, Rewording, Sentence, loud, segments

ORDINAL = re.compile("^first$|second$|third$|th$|^last$|^final$")
THEIRS = ("its", "his", "her", "their")


def coordination(s: Sentence) -> Iterator[Rewording]:
    """sweet and playful -> playful and sweet; a fine cast and a smart script -> a smart script and a fine cast."""
    for pattern, allowed in PARTS.items():
        for match in pattern.finditer(s.shape):
            (a, b), (c, d) = match.span("a"), match.span("b")
            title = d < len(s.words) and (s.words[d].tag == "VBZ" or s.low[d] == "was")  # Tom and Jerry is a film
            linked = s.low[c - 1] in ("and", "or") and not title and free(s, b - 1, d - 1)
            if linked and suits(s, a, c) and allowed(s, a, b, c, d):
                yield from s.arrange(a, d, (c, d), "," if s.shape[b] == "," else "", (c - 1, c), (a, b))


def free(s: Sentence, one: int, other: int) -> bool:
    """Whether two words have no fixed order."""
    pair = s.low[one], s.low[other]
    if pair[0] == pair[1] or any(ORDINAL.search(word) for word in pair):
        return False
    return not {f"{pair[0]} {pair[1]}", f"{pair[1]} {pair[0]}"} & phrases("set pairs")


def suits(s: Sentence, a: int, c: int) -> bool:
    """Whether "a" or "an" before the first part suits the second, too."""
    return s.word(a - 1) not in ("a", "an") or takes_an(s.low[a]) == takes_an(s.low[c])


def adjective(s: Sentence, at: int) -> bool:
    """Whether the dictionary has a word as an adjective, or it is hyphenated."""
    low = s.low[at]
    return can_be(low, "JJ") or "-" in low or (low.startswith(("un", "under", "over")) and low.endswith("ed"))


def _adjectives(s: Sentence, a: int, b: int, c: int, d: int) -> bool:
    manner = all(word.endswith("ly") for word in (*s.low[a : b - 1], *s.low[c : d - 1]))
    if ((b - a == 1) != (d - c == 1) and not manner) or s.word(a - 1) in words("comparing"):
        return False  # very sweet and playful: perhaps very playful
    if s.words[b - 1].tag != s.words[d - 1].tag or not adjective(s, b - 1):
        return False
    if (words("comparing") - {"very", "rather"}) & {s.low[a], s.low[c]}:
        return False
    return s.kind(a - 1) in ("", *"d,b!civfe:.") and s.kind(d) in ("", *"nsN.,:")


def _adverbs(s: Sentence, a: int, b: int, c: int, d: int) -> bool:
    return s.low[a].endswith("ly") and s.low[c].endswith("ly") and s.kind(a - 1) != "r"


def _nouns(s: Sentence, a: int, b: int, c: int, d: int) -> bool:
    before, after = s.kind(a - 1), s.kind(d)
    if before == "g" and s.kind(a - 2) in ("i", "d", "j"):
        return False  # living room and office
    if before == "j" and s.low[a - 1] in words("several"):
        before = "v"
    owned = after == "f" and before == "d" and s.low[a - 1] in ("the", "its") and s.shape[a] == s.shape[c]
    if before not in ("", *"dvifVg:.,'") or (after not in ("", *".,:bhvm") and not owned):
        return False
    subject = after in tuple("bhvm") and before in tuple("vVg,")  # he likes jazz and rock is
    return not subject and not (dates() | words("unpaired")) & {s.low[a], s.low[c]}


def _names(s: Sentence, a: int, b: int, c: int, d: int) -> bool:
    between = s.kind(a - 1) in ("", *"ifvV:.") and s.kind(d) in ("", *".,:bhvmr")
    return between and d - c < 4 and s.capital(a) and not (dates() | {"both", "either"}) & {s.low[a], s.low[c]}


def _phrases(s: Sentence, a: int, b: int, c: int, d: int) -> bool:
    if s.low[c] in THEIRS and s.low[a] != s.low[c]:
        return False  # may refer to the first
    if s.kind(d) in tuple("bhvm"):
        return s.low[b] == "and" and (a == 0 or any(a == start for start, _ in segments(s)))
    return s.kind(d) in ("", *".,:") and s.kind(a - 1) in tuple("vVgbh")


def _pairs(s: Sentence, a: int, b: int, c: int, d: int) -> bool:
    if (words("several") | words("comparing")) & {s.low[a], s.low[c]}:
        return False
    shared = s.kind(a - 1) == "d" and s.low[a - 1] in ("some", "the", "its", "his", "her", "their", "these", "any")
    between = (s.kind(a - 1) in tuple("vVgifh") or shared) and s.kind(d) in ("", ".", ":")
    return between and adjective(s, b - 2) and adjective(s, d - 2)


PARTS: dict[re.Pattern[str], Callable[[Sentence, int, int, int, int], bool]] = {
    re.compile("(?P<a>r*j),?c(?P<b>r*j)"): _adjectives,
    re.compile("(?P<a>r)c(?P<b>r)"): _adverbs,
    re.compile("(?P<a>[ns])c(?P<b>[ns])"): _nouns,
    re.compile("(?P<a>N+)c(?P<b>N+)"): _names,
    re.compile(f"(?P<a>d{MODIFIERS}[ns])c(?P<b>d{MODIFIERS}[ns])"): _phrases,
    re.compile("(?P<a>r?j+[ns])c(?P<b>r?j+[ns])"): _pairs,
    re.compile("(?P<a>dj*[ns]fj*[ns])c(?P<b>dj*[ns]fj*[ns])(?![nsN'])"): _phrases,
}


LISTS = (
    re.compile("r*j(?:,r*j)+,?c(?P<last>r*j)"),
    re.compile("[ns](?:,[ns])+,?c(?P<last>[ns])(?![nsN'])"),
    re.compile(f"d{MODIFIERS}[ns](?:,d{MODIFIERS}[ns])+,?c(?P<last>d{MODIFIERS}[ns])(?![nsN'fi])"),
    re.compile("r?j+[ns](?:,r?j+[ns])+,?c(?P<last>r?j+[ns])(?![nsN'fi])"),
    re.compile(f"(?:d?{MODIFIERS}n*[ns])(?:,d?{MODIFIERS}n*[ns])+,?c(?P<last>d?{MODIFIERS}n*[ns])(?![nsN'fivbhom])"),
    re.compile("N+(?:,N+)+,?c(?P<last>N+)(?![nsN'])"),
)


def lists(s: Sentence) -> Iterator[Rewording]:
    """It is sweet, odd and playful. -> It is odd, playful and sweet."""
    for pattern in LISTS:
        for match in pattern.finditer(s.shape):
            start, last = match.start(), match.start("last")
            comma = s.shape[last - 2] == ","
            if start == 0 and match.end() >= len(s.shape.rstrip(".")):
                continue  # a title
            edges = [start - 1, *(at for at in range(start, last) if s.shape[at] == ","), last - 1, match.end()]
            edges = edges if not comma else [*edges[:-3], *edges[-2:]]
            parts = [(a + 1, b - (comma and b == last - 1)) for a, b in pairwise(edges)]
            if s.low[last - 1] in ("and", "or") and _same(s, parts) and suits(s, start, parts[1][0]):
                turned = (*parts[1:], parts[0]) if "other" not in s.low[last : match.end()] else ()
                for order in (turned, (parts[1], parts[0], *parts[2:])):
                    if order and suits(s, start, order[0][0]):
                        yield from s.arrange(start, match.end(), *_listed(order, comma, (last - 1, last)))


def _listed(parts: Sequence[tuple[int, int]], comma: bool, link: tuple[int, int]) -> Iterator[Piece]:
    """Parts with commas between them, and a conjunction before the last."""
    for number, part in enumerate(parts):
        if number:
            yield "," if comma or number < len(parts) - 1 else ""
        if number == len(parts) - 1:
            yield link
        yield part


def _same(s: Sentence, parts: list[tuple[int, int]]) -> bool:
    """Whether these parts may change places: none is part of a longer phrase, and each stands for itself."""
    (a, _), d = parts[0], parts[-1][1]
    before, after, kind = s.kind(a - 1), s.kind(d), s.shape[a]
    lasts = [s.low[b - 1] for _, b in parts]
    if len(set(lasts)) < len(lasts) or any(ORDINAL.search(word) for word in lasts) or len(parts) > 6:
        return False
    if (dates() | words("unpaired") | words("several")).intersection(lasts) or words("comparing").intersection(
        s.low[x] for x, _ in parts
    ):
        return False
    if s.shape[parts[0][1] - 1] == "j":
        manner = all(s.low[at].endswith("ly") for a, b in parts for at in range(a, b - 1))
        tags = {s.words[b - 1].tag for _, b in parts}
        grades = (
            all(adjective(s, b - 1) for _, b in parts) and len(tags) == 1 and s.word(a - 1) not in words("comparing")
        )
        return manner and grades and before in ("", *"db!cif:.") and after in ("", *"nsN.:")
    if kind == "N":
        named = (
            all(s.capital(x) for x, _ in parts)
            and not (d < len(s.words) and s.capital(d))
            and not loud(s, 0, len(s.words))
        )
        subject = after in tuple("bhvm")
        return named and before in (("", ":", ".") if subject else ("", *"ifvV:.")) and after in ("", *".:bhvm")
    theirs = any(s.low[x] in THEIRS for x, _ in parts[1:]) or any(s.shape[x] in "ge0" for x, _ in parts)
    articles = [s.shape[x] == "d" for x, _ in parts]
    if (articles[0] and not all(articles)) or any(s.capital(at) for at in range(a + (a == 0), d)):
        return False
    return (
        not theirs and before in ("", *"dvifVgh:.") and after in ("", ".", ":") and not (kind == "d" and before == "d")
    )


WELL = re.compile(r"(?P<a>r*j|[ns])rri(?P<b>r*j|[ns])(?=[.:,]|$)")
ONLY = re.compile(rf"!r(?P<a>r*j|d{MODIFIERS}n),?cr?(?P<b>r*j|d{MODIFIERS}n)(?=[.:,]|$)")


def as_well_as(s: Sentence) -> Iterator[Rewording]:
    """It is odd as well as funny. -> It is both odd and funny."""
    for match in WELL.finditer(s.shape):
        (a, b), (c, d) = match.span("a"), match.span("b")
        if s.low[b:c] == ["as", "well", "as"] and s.shape[b - 1] == s.shape[d - 1] and s.kind(a - 1) in tuple("bvifVg"):
            yield from s.arrange(a, d, "both" if s.shape[b - 1] == "j" else "", (a, b), "and", (c, d))


def not_only(s: Sentence) -> Iterator[Rewording]:
    """It is not only odd but also funny. -> It is both odd and funny."""
    for match in ONLY.finditer(s.shape):
        (a, b), (c, d) = match.span("a"), match.span("b")
        link = s.low[b:c]
        named = s.low[a - 1] == "only" and "but" in link and (link[-1] in ("but", "also")) and s.low[a - 2] == "not"
        if named and s.kind(a - 3) in ("b", "v", "V") and s.shape[a] == s.shape[c]:
            yield from s.arrange(a - 2, d, "both", (a, b), "and", (c, d))


def alike(s: Sentence) -> Iterator[Rewording]:
    """The script is smart and the cast is fine. -> The cast is fine and the script is smart."""
    for start, stop in segments(s):
        link = s.shape.find("c", start, stop)
        end = link - (s.kind(link - 1) == ",")
        first, second = clause_at(s, start, end), clause_at(s, link + 1, stop)
        if link < 0 or s.low[link] != "and" or not first or not second or "p" in s.shape[start:stop]:
            continue
        plain = all(re.fullmatch("b!?r*j", clause.group + clause.tail) for clause in (first, second))
        if plain and s.low[link + 1] not in ("that", "this", *THEIRS):
            yield from s.arrange(start, stop, (link + 1, stop), "," if end < link else "", "and", (start, end))


def both(s: Sentence) -> Iterator[Rewording]:
    """It is sweet and playful. -> It is both sweet and playful, and back."""
    for match in re.finditer(r"b(c?)r*(?P<a>j)c(?P<b>r*j)(?=[.:]|$)", s.shape):
        at, one, other = match.start() + 1, match.start("a"), match.end("b") - 1
        if s.low[match.start("b") - 1] != "and" or s.words[one].tag != "JJ" or s.words[other].tag != "JJ":
            continue
        if match[1]:
            if s.low[at] == "both":
                yield from s.arrange(at, at + 2, (at + 1, at + 2))
        elif not (words("comparing") | {"simultaneously", "simply"}) & {s.low[at], s.low[match.start("b")]} and free(
            s, one, other
        ):
            yield from s.arrange(at, at + 1, "both", (at, at + 1))


def commas(s: Sentence) -> Iterator[Rewording]:
    """a thoughtful, provocative film -> a provocative, thoughtful film."""
    for match in re.finditer("(?<=[dvVif])(?P<a>r*j),(?P<b>r*j)(?=[,cjns])", s.shape):
        (a, b), (c, d) = match.span("a"), match.span("b")
        if s.shape[a - 1] != "d" and not (describes(s.low[b - 1]) and describes(s.low[d - 1])):
            continue
        graded = {"JJS", "RBS", "RBR"} & {word.tag for word in s.words[a:d]}
        barred = {"new", "other", "even", "just", "only"}.intersection((s.low[a], s.low[c]))
        if not graded and not barred and adjective(s, b - 1) and adjective(s, d - 1) and suits(s, a, c):
            yield from s.arrange(a, d, (c, d), ",", (a, b))


def and_comma(s: Sentence) -> Iterator[Rewording]:
    """a sweet, playful film -> a sweet and playful film, and back."""
    for match in re.finditer("(?<=[dvVif])j[,c]j(?=n)", s.shape):  # political and religious groups are of two kinds
        a, link = match.start(), s.low[match.start() + 1]
        plain = all(s.words[at].tag == "JJ" and can_be(s.low[at], "JJ") for at in (a, a + 2)) and free(s, a, a + 2)
        if link in (",", "and") and plain and "both" not in s.low[max(a - 2, 0) : a]:
            yield from s.arrange(a, a + 3, (a, a + 1), "and" if link == "," else ",", (a + 2, a + 3))
