"""Noun phrases in another construction: genitives, relative clauses, "that" before a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..inflection import inflected, lemma
from .clauses import MODIFIERS, NP_PP, VERB, dates
from .lexicon import can_be, words
from .sentence import Rewording, Sentence

GENITIVE = re.compile(
    rf"(?<![DdjnsN'0reg])(?P<owner>d?j?[ns]|N+)'(?P<owned>{MODIFIERS}[ns]{{1,2}}(?:c[nsg])?)(?=[.,:ivbhmrRwt]|$)"
)

BEFORE_ALL = ("of", "above", "after", "in", "for")  # first of all, above all, after all, in all


def genitive(s: Sentence) -> Iterator[Rewording]:
    """the film's flaws -> the flaws of the film."""
    for match in GENITIVE.finditer(s.shape):
        (a, b), (c, d) = match.span("owner"), match.span("owned")
        owner, noun, plain = s.low[b - 1], s.low[d - 1], s.shape[a] == "d"
        if s.low[b] not in ("'s", "'") or d - c > 4 or any(s.capital(at) for at in range(c, d)) or "same" in s.low[a:b]:
            continue
        if owner in dates() | words("owns nothing") or noun in dates() | words("never owned") or owner[0] == "'":
            continue
        if s.word(d) in ("to", "for", "against", "toward", "with"):
            continue  # the club's start to the season
        many, compound = s.shape[b - 1] == "s", s.shape[d - 2 : d] in ("nn", "ns")
        if many and compound:
            continue  # the girls' soccer team
        if s.shape[d - 1] == "g" and s.kind(d) not in ("b", "v", "h", "."):
            continue
        if re.match(",r*(?:[jeg]|[nsN]+(?:,|c))", s.shape[d:]):
            continue  # the film's wit, charm and style
        if plain and s.low[a] not in (*words("definite"), "this", "that"):
            continue
        if plain or (
            (match["owner"][0] != "j" or s.spaced)
            and noun in words("works") | words("of somebody") | words("attributes")
        ):
            link = "by" if noun in words("works") and not plain and not compound and s.word(d) != "by" else "of"
            yield from s.arrange(a, d, "the", (c, d), link, (a, b))


def possessive(s: Sentence) -> Iterator[Rewording]:
    """the flaws of the film -> the film's flaws."""
    for match in re.finditer("(?<!D)(?P<owned>dj*[ns])f(?P<owner>dj?[ns])(?=[.,:ivbhmrV]|$)", s.shape):
        (a, b), (c, d) = match.span("owned"), match.span("owner")
        noun, owner = s.low[b - 1], s.low[d - 1]
        graded = any(s.words[at].tag in ("JJS", "JJR", "CD") or s.low[at] in ("only", "same") for at in range(a, b))
        if s.low[a] != "the" or graded or noun in words("parts of things") or noun.endswith("ing"):
            continue
        many = s.shape[d - 1] == "s"
        if many and (noun not in words("attributes") or not owner.endswith("s")):
            continue
        if s.low[c] in words("definite") | {"this"} and (
            owner in words("owners") or (noun in words("attributes") and not many)
        ):
            mark = (" '" if s.spaced else "’" if "’" in s.text else "'") if many else ""
            yield from s.arrange(a, d, (c, d - 1), owner + mark if many else s.apostrophes(owner + "'s"), (a + 1, b))


def all_of(s: Sentence) -> Iterator[Rewording]:
    """all the films -> all of the films, and back."""
    for at in range(len(s.words) - 2):
        if s.low[at] not in ("all", "both") or s.kind(at - 1) == "p" or s.word(at - 1) in BEFORE_ALL:
            continue
        of = int(s.low[at + 1] == "of")
        noun = re.match(f"d{MODIFIERS}[ns]+", s.shape[at + 1 + of :])
        if not noun or s.low[at + 1 + of] not in words("definite"):
            continue
        end = at + 1 + of + noun.end()
        if of:
            yield from s.arrange(at, at + 3, (at, at + 1), (at + 2, at + 3))
        elif s.word(end) not in ("of", "'s") or s.word(at - 1) == "for":
            pair = s.low[at] == "both" and "and" in s.low[at:end]  # both the cast and
            if not pair and s.kind(end) != "c" and s.low[at + 2] not in ("more", "time", "way", "same"):
                yield from s.arrange(at, at + 2, (at, at + 1), "of", (at + 1, at + 2))


PERSON = re.compile("(?:er|or|ist|ian|man|men|woman|women|ee|ant|ent|ess|ster|eur|folk)s?$")


def apposition(s: Sentence) -> Iterator[Rewording]:
    """Anna, who is a doctor, left. -> Anna, a doctor, left."""
    for match in re.finditer(rf"(?<=[nsN],)wb(?=d{MODIFIERS}[nsN])", s.shape):
        at = match.start()
        end = s.shape.find(",", at)
        stop = end if end > 0 else len(s.shape.rstrip("."))
        if s.low[at] in ("who", "which") and re.fullmatch(NP_PP, s.shape[at + 2 : stop]):
            yield from s.arrange(at, at + 3, (at + 2, at + 3))


def which_is(s: Sentence) -> Iterator[Rewording]:
    """Anna, a doctor, left. -> Anna, who is a doctor, left."""
    for match in re.finditer(rf"(?<=[nN],)(?P<what>d{MODIFIERS}n(?:[if]{NP_PP})?),(?=r?[vbhom])", s.shape):
        a, head = match.start("what"), re.match(rf"d{MODIFIERS}n", match["what"])
        noun = s.low[a + head.end() - 1] if head else ""
        who = "who" if noun in words("people") else "which" if noun in words("things") | words("works") else ""
        past = any(word.tag == "VBD" for word in s.words)
        if who and s.low[a] in ("a", "an", "the") and not past and "," not in s.shape[: a - 1]:
            yield from s.arrange(a, a + 1, who, "is", (a, a + 1))


def reduced(s: Sentence) -> Iterator[Rewording]:
    """a film that was made by them -> a film made by them."""
    for match in re.finditer("(?<=[ns])wb(?=r?[eg]i|i[dnsNj])", s.shape):
        at = match.start()
        shared = re.search("[,c]r*[vbhom]", s.shape[at + 2 :])  # that is made and is sold
        named = s.low[at] in ("that", "which", "who") and s.low[at + 1] != "'s"
        # it is the film that was made
        cleft = "it" in s.low[max(at - 7, 0) : at] and "the" in s.low[max(at - 4, 0) : at]
        if named and not shared and not cleft and s.low[at + 2] not in ("to", "about", "of"):
            yield from s.arrange(at, at + 3, (at + 2, at + 3))


def participle(s: Sentence) -> Iterator[Rewording]:
    """films featuring him -> films that feature him; people involved in it -> people who are involved in it."""
    if any(word.tag in ("VBD", "MD") for word in s.words):
        return
    for match in re.finditer("(?<=[djivf][ns])(?:g(?=[idjnsN])|e(?=i))", s.shape):
        at, noun = match.start(), s.low[match.start() - 1]
        who, many = "who" if noun in words("people") else "that", s.shape[at - 1] == "s"
        if s.low[at] in words("ongoing"):
            yield from s.arrange(at, at + 1, who, inflected(lemma(s.low[at], "VBG"), "VBP" if many else "VBZ") or "")
        elif s.low[at] in words("lasting"):
            yield from s.arrange(at, at + 1, who, "are" if many else "is", (at, at + 1))


def relative_pronoun(s: Sentence) -> Iterator[Rewording]:
    """a film that works -> a film which works; people that work -> people who work."""
    for match in re.finditer(rf"(?<=[nsN])w(?={VERB})", s.shape):
        at, noun = match.start(), s.low[match.start() - 1]
        person = noun in words("people") or PERSON.search(noun)
        new = ""
        if s.low[at] == "that":
            thing = (noun in words("things") or _thing(s, at - 1)) and "'" not in s.low[at + 1]
            new = "who" if noun in words("people") else "which" if thing else ""
        elif (s.low[at] == "which" and not person) or (s.low[at] == "who" and noun in words("anyone")):
            new = "that"
        if new and not s.capital(at):
            yield from s.arrange(at, at + 1, new)


def _thing(s: Sentence, noun: int) -> bool:
    """Whether a noun is surely no person, and its phrase one after which "which" is usual: not the best film that."""
    low = s.low[noun]
    if low in words("content nouns") or s.kind(noun + 2) in ("e", "N"):
        return False
    if s.shape[noun] == "N" or not low.islower() or low.endswith(("thing", "one", "body")) or low in words("people"):
        return False
    if (
        low.removesuffix("s") in words("people")
        or (PERSON.search(low) and not THING.search(low))
        or not can_be(low, s.words[noun].tag)
    ):
        return False
    start = noun
    while start > 0 and s.shape[start - 1] in "jn0r":
        start -= 1
    best = any(s.words[at].tag in ("JJS", "RBS") for at in range(start, noun))
    bare = s.kind(start - 1) in tuple("ifvVg") and s.word(start - 1) not in ("as", "like", "than")
    return (
        (s.word(start - 1) in ("a", "an", "the", "some") or bare)
        and not best
        and not ONLY.intersection(s.low[start:noun])
    )


THING = re.compile("(?:ment|talent|content|event)s?$")
ONLY = frozenset(("only", "first", "last", "very", "same", "kind", "sort"))


def where(s: Sentence) -> Iterator[Rewording]:
    """a film in which he sings -> a film where he sings, and back."""
    for match in re.finditer("(?<=[ns])(?:iw|W)(?=[dpnNs])", s.shape):
        at, noun = match.start(), s.low[match.start() - 1]
        if not {noun, noun.removesuffix("s")} & (words("works") | words("settings")):
            continue
        if s.low[at : at + 2] == ["in", "which"]:
            yield from s.arrange(at, at + 2, "where")
        elif s.low[at] == "where":
            yield from s.arrange(at, at + 1, "in which")


UNCLEAR = frozenset(
    (
        "show",
        "shows",
        "showed",
        "report",
        "hope",
        "hopes",
        "fear",
        "feared",
        "claim",
        "claims",
        "feels",
        "felt",
        "prove",
        "proves",
    )
)
MOVED = frozenset(("as", "than", "which", "who", "what", "that", "how"))  # as good as she thinks it is


def without_that(s: Sentence) -> Iterator[Rewording]:
    """the film that I saw -> the film I saw; she says that it rained -> she says it rained."""
    for at in range(1, len(s.words) - 2):
        if s.low[at] != "that" or s.shape[at] not in "wSdi" or {"so", "such"}.intersection(s.low[:at]):
            continue  # so dull that we left
        noun, subject = s.shape[at - 1] in "ns", s.low[at + 1] in words("subjects") and s.shape[at + 2] in "vbhomr"
        said = s.low[at - 1] in words("saying") and s.shape[at - 1] in "vVe"
        idea = words("content nouns").intersection(s.low[max(at - 6, 0) : at])
        # not: it is odd that
        noun = noun and not re.search("pb", s.shape[:at]) and not re.match("pb[.,:]", s.shape[at + 1 :])
        named = noun and not idea and re.match(rf"d{MODIFIERS}n?[ns][vhom]", s.shape[at + 1 :])
        told = said and re.match(rf"d{MODIFIERS}n?[ns][vbhom]", s.shape[at + 1 :]) and s.low[at + 1] != "this"
        if (
            named
            or told
            or (noun and subject and s.low[at + 1] != "it")
            or (said and (subject or s.low[at + 1] == "there"))
        ):
            yield from s.arrange(at, at + 2, (at + 1, at + 2))


def with_that(s: Sentence) -> Iterator[Rewording]:
    """she says it rained -> she says that it rained."""
    for at in range(2, len(s.words) - 1):
        said = (
            s.low[at - 1] in words("saying, with a clause next")
            and s.shape[at - 1] == "v"
            and s.shape[at - 2] in "nsNp"
        )
        named = re.match(r"(?:d[jn]*[ns]|N+)r?(?:[bhom]|v(?![.,]))", s.shape[at:])
        clear = (
            s.low[at] not in ("this", "that", "last")
            and s.low[at - 1] not in UNCLEAR
            and s.capital(at) == (s.shape[at] == "N")
        )
        subject = _subject(s, at) or (named is not None and clear)
        if said and subject and not MOVED.intersection(s.low[max(at - 7, 0) : at]):
            yield from s.arrange(at, at + 1, "that", (at, at + 1))


def with_relative(s: Sentence) -> Iterator[Rewording]:
    """the best film I saw -> the best film that I saw."""
    for match in re.finditer("(?:^|(?<=[vVgbf]))dj*n(?=pr?[vhom])", s.shape):
        first, at = match.span()
        whole = first == 0 and not re.search("[vbhom]", s.shape[at + 2 :])  # This year I left.
        plain = s.low[first] in ("the", "a", "an", "every", "any", "no")
        timely = s.low[at - 1] in dates() | words("not a relative's noun")
        if plain and not whole and not timely and _subject(s, at) and s.low[at] != "it":
            yield from s.arrange(at, at + 1, "that", (at, at + 1))
    for match in re.finditer("(?<=[vVgbhfi])(?:d[j0]*[ns]|j+s)(?=pr?[vhomb])", s.shape):
        first, at = match.span()
        seen = re.search("[vbhom]", s.shape[:first]) and not re.search("[SW]", s.shape[:at]) and "," not in s.shape[:at]
        timely = s.low[at - 1] in dates() | words("not a relative's noun") or bool(SUCH.intersection(s.low[:at]))
        plain = s.low[first] in ("the", "a", "an", "every", "any", "no", "all", "those") or s.shape[first] == "j"
        if seen and plain and not timely and _subject(s, at) and not s.capital(at - 1):
            yield Rewording(s.words[at].start, s.words[at].stop, "that " + s.words[at].text)
    first_noun = re.match("d[jN]*[nsN](?=p[vbhm]r?[vbhm])", s.shape)  # the songs it has are good
    if first_noun and s.low[0] == "the" and s.low[first_noun.end()] in words("subjects"):
        at = first_noun.end()
        yield from s.arrange(at, at + 1, "that", (at, at + 1))


SUCH = frozenset(("such", "so"))


def _subject(s: Sentence, at: int) -> bool:
    """Whether a pronoun is the subject of a verb after it, and not in a headline."""
    verb = s.low[at] in words("subjects") and s.shape[at] == "p" and re.match("r?[vbhom]", s.shape[at + 1 :])
    return bool(verb) and (s.words[at].text == "I" or not s.capital(at))


def so_that(s: Sentence) -> Iterator[Rewording]:
    """so dull, it hurts -> so dull that it hurts."""
    for match in re.finditer("(?<=rj),(?=p[vbhom])", s.shape):
        at = match.start()
        if s.low[at - 2] == "so":
            yield from s.arrange(at - 1, at + 1, (at - 1, at), "that")
    for match in re.finditer("(?<=br[jg])S(?=(?:p|d?[ns])r?[vbhom])", s.shape):
        at = match.start()
        if s.low[at - 2] == "so" and s.low[at] == "that":
            yield from s.arrange(at, at + 2, (at + 1, at + 2))
    for at in range(2, len(s.words) - 3):  # so that he can go: so he can go
        if (
            s.low[at : at + 2] == ["so", "that"]
            and s.kind(at - 1) == ","
            and re.match(f"{NP_PP}[mbhvo]", s.shape[at + 2 :])
        ):
            yield from s.arrange(at, at + 2, "so")
