"""Sentences without a subject or a verb, as reviews have them, made whole, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..substitutes import takes_an
from .attributes import ATTRIBUTE, and_a, behind, described, describes
from .clauses import NP_PP, Clause, clause_at, sound
from .lexicon import can_be, words
from .sentence import Rewording, Sentence, segments

ADJECTIVE = re.compile("(?:r*[jg](?:,|,?c!?))*r*j(?=[.itSfW:(]|$)")
SEVERAL = re.compile("r*[jeg](?:(?:,|,?c)r*[jeg])+(?=[.:i]|$)")  # forced, familiar and dull
MODIFIED = re.compile("r+g(?=[.:i]|$)")
NOUN = re.compile("(?:r*[jeg](?:,|,?c)?)+n{1,2}(?![nsN'v])")
PARTICIPLE = re.compile("r*ei|0fd")
OWNED = re.compile("[nN]{1,2}'r*[jg]*[ns](?=[.fi]|$)")
VERB = re.compile("r?(?:v(?=[dijpt0RrcDgnsN])|h(?=[dj0rD])|m!?r*V|o!r*V|b!?(?=[rjd])(?!d[nN]*[.]))")
FINITE, OPENS = re.compile("[vbhomV]"), re.compile("[wWSt]|(?<=[ns])p(?=r*[vbhom])|cp(?=r*[vbhom])")
AS = re.compile("!?r?(?:rj|i[jg]|rr*j)[i,]")  # just as good as


def fragment(s: Sentence) -> Iterator[Rewording]:
    """A fine film. -> It is a fine film. Lacks depth. -> It lacks depth."""
    start = int(s.shape[:1] == ".")  # dots before it
    if s.words[0].start or start >= len(s.shape) or _asks(s):
        return
    whole = any(a == start and not s.shape[b:].strip(".") for a, b in segments(s))
    if not whole and not s.spaced:
        return
    first, opening = (start, start + 1), _opening(s)
    adverb = s.low[start].endswith("ly") or s.low[start] in ADVERBS
    if opening is not None:
        at, frame = opening
        yield from s.arrange(at, at + 1, frame, (at, at + 1))
    elif VERB.match(s.shape, start) and _third(s, start + adverb):
        yield from s.arrange(*first, "it", first)
        yield from _what(s, start)
    elif (whole or _unbroken(s, start)) and _verbless(s, start):
        yield from _completed(s, start)


def _opening(s: Sentence) -> tuple[int, str] | None:
    """Where a subject or verb is missing although the sentence begins with something else, and what goes there."""
    if not s.spaced:
        return None
    if s.shape.startswith("(d(") and s.low[1] in ("a", "an", "the") and _verbless(s, 3):
        return 0, s.apostrophes("it's")
    if s.low[:2] == ["no", "way"] and s.kind(2) == "p":
        return 0, s.apostrophes("there's")
    phrase = re.match("i[^,:.vbhomwWSt]{1,6},(?=v[dijrR])", s.shape)
    if phrase and s.words[phrase.end()].tag == "VBZ" and can_be(s.low[phrase.end()], "VBZ"):
        return phrase.end(), "it"
    return None


def _completed(s: Sentence, start: int) -> Iterator[Rewording]:
    """A fragment without a verb as a whole sentence."""
    first, it = (start, start + 1), s.apostrophes("it's")
    noun = NOUN.match(s.shape, start)
    of_a = re.match("r*j+n{1,2}fdn", s.shape[start:])  # dull programmer of a film
    counted = (noun and s.low[noun.end() - 1] in words("counted")) or (
        of_a and s.low[start + of_a.end() - 2] in ("a", "an")
    )
    if counted and s.spaced:
        yield from s.arrange(*first, it, "an" if takes_an(s.low[start]) else "a", first)
    elif _noun(s, start):
        yield from _framed(s, start, it)
    elif s.spaced and _bare(s, start):
        yield from s.arrange(*first, it, first)
        short = re.fullmatch(r"(?P<how>r?j(?:cr?j)?)\.?", s.shape[start:])
        if short and s.low[start] not in ("too", "so", "as", "more", "less") and s.words[start].tag != "RBR":
            end = start + len(short["how"])
            yield from s.arrange(start, end, (start, end), "is what it is")
    elif s.spaced and _mass(s, start):
        yield from s.arrange(*first, it, first)
    elif s.spaced and OWNED.match(s.shape, start) and not any(_verbal(s, at) for at in range(start, len(s.shape))):
        yield from s.arrange(*first, "this is", first)


def _what(s: Sentence, start: int) -> Iterator[Rewording]:
    """offers a fresh look at it . -> what it offers is a fresh look at it ."""
    stop = len(s.shape.rstrip("."))
    plain = re.fullmatch(f"(?!p|d?N+(?!')|D){NP_PP}(?:w[vbhm][^,:.]*)?", s.shape[start + 1 : stop])
    known = s.shape[start] == "v" and s.lemma(start) in words("wanting") | words("what-cleft")
    if (
        s.spaced
        and known
        and plain
        and s.low[start + 1] not in ("no", "any", "little", "much", "few", "enough", "more")
    ):
        yield from s.arrange(start, stop, "what it", (start, start + 1), "is", (start + 1, stop))


ADVERBS = ("always", "never", "often", "still", "also", "even", "sometimes", "almost")


def _mass(s: Sentence, start: int) -> bool:
    """Whether a noun phrase has no article and wants none: just nonsense; moviemaking at its best."""
    if (
        s.low[start] in ("just", "merely", "simply")
        and s.kind(start + 1) == "n"
        and s.kind(start + 2) in ("c", ".", "f")
    ):
        return True
    at = s.shape.find("i", start)
    return bool(at > 0 and s.low[at : at + 2] == ["at", "its"] and re.fullmatch("[jsn]*n", s.shape[start:at]))


def _framed(s: Sentence, start: int, it: str) -> Iterator[Rewording]:
    """A noun phrase as the complement of "it is" and the like; adjectives may go behind its noun."""
    first = start, start + 1
    yield from s.arrange(*first, it, first)
    if s.low[start] not in ("a", "an", "one", "another"):
        return
    yield from s.arrange(*first, "this is", first)
    if s.spaced and s.low[start] in ("a", "an"):
        yield from s.arrange(*first, "what we have here is", first)
        match = ATTRIBUTE.match(s.shape, start)
        if match and match["article"] and described(s, match):
            for frame in (it, "this is", "what we have here is"):
                yield from s.arrange(start, match.end(), frame, *behind(s, match))
        after = and_a(s, start)
        if after:
            end, pieces = after
            yield from s.arrange(start, end, it, *pieces)
            yield from s.arrange(start, end, "this is", *pieces)


def without_frame(s: Sentence) -> Iterator[Rewording]:
    """it 's a fine film . -> a fine film . this is so dull . -> it 's so dull . In reviews only."""
    at = s.shape.find("b", 0, 3) + 1
    if not s.spaced or s.words[0].start or at != 2 or s.low[1] not in ("is", "'s") or _asks(s) or s.word(2) == "n't":
        return
    if s.low[0] in ("it", "this", "here") and _verbless(s, 2) and _unbroken(s, 2):
        short = _bare(s, 2) and not re.search("[tSWw]", s.shape[2:]) and s.kind(2) not in ("g", "e")
        if short or (_noun(s, 2) and "S" not in s.shape and "when" not in s.low):
            yield from s.arrange(0, 3, (2, 3))
    if s.low[0] == "this" and s.kind(2) in ("d", "j", "r", "n", "0"):
        yield from s.arrange(0, 2, s.apostrophes("it's"))
    plain = not re.search("[wtSW]", s.shape) and s.shape.count("b") == 1
    if plain and s.low[0] == "it" and s.word(2) in ("a", "an", "one", "the"):
        yield from s.arrange(0, 2, "this is")


def without_it(s: Sentence) -> Iterator[Rewording]:
    """it offers little . -> offers little . i loved it . -> loved it . In reviews only."""
    match = re.match("pr?(?P<verb>[vhom])(?=[dijpR0rDs!teVn])", s.shape)
    if not match or not s.spaced or s.words[0].start or _asks(s) or "S" in s.shape:
        return
    verb = match.start("verb")
    tag, main = s.words[verb].tag, s.lemma(verb)
    if s.low[0] == "i":
        good = tag == "VBD" and s.shape[verb] == "v"
    else:
        good = s.low[0] == "it" and (tag == "VBZ" or s.shape[verb] == "m") and s.low[verb][0] != "'"
        following = re.search("[Ve]", s.shape[verb + 1 :]) if s.shape[verb] in "omh" else None
        good = good and not words("not dropped").intersection(
            (main, s.lemma(verb + 1 + following.start()) if following else main)
        )
    if good:
        yield from s.arrange(0, 2, (1, 2))


def _adjectival(s: Sentence, at: int) -> bool:
    return can_be(s.low[at], "JJ") or can_be(s.low[at], "VBN") or "-" in s.low[at] or describes(s.low[at])


def _asks(s: Sentence) -> bool:
    return any("?" in low for low in s.low)


def _unbroken(s: Sentence, start: int) -> bool:
    """Whether no dash or bracket may set off what comes before the verb of a whole sentence."""
    rest = s.shape[start:].rstrip('."')
    if rest[:1] in '.:,"c' or rest.count('"') % 2:
        return False
    return rest.count(":") + rest.count(".") < 2 or not re.search("[vbhom]", rest[: rest.rfind(":") + 1])


def _third(s: Sentence, at: int) -> bool:
    """Whether the subject left out is surely "it"; outside of reviews it may be "I"."""
    if s.spaced:
        if s.shape[at] in "bo":
            return s.low[at] in ("is", "does", "was") and not _asks(s)
        return s.shape[at] == "m" or (s.words[at].tag == "VBZ" and can_be(s.low[at], "VBZ"))
    return s.low[at] in words("fragment verbs")


def _verbless(s: Sentence, start: int) -> bool:
    """Whether every finite verb is in a relative or other subordinate clause."""
    stop = len(s.shape)
    if s.spaced and s.shape.count(":", start) == 1:  # what comes after a dash or colon stands for itself
        stop = s.shape.index(":", start)
    finite, opens = FINITE.search(s.shape, start, stop), OPENS.search(s.shape, start, stop)
    if not finite:
        return True
    if s.spaced and s.low[start] in ("as", "so") and not opens:
        return "as" in s.low[start + 1 : finite.start()]
    if not opens or opens.start() > finite.start():
        return False
    return sound(Clause(s, start, start, finite.end(), stop))


def _noun(s: Sentence, start: int) -> bool:
    """Whether it is a noun phrase without a noun that may be a verb."""
    if s.spaced and (s.low[start] in words("before a fragment") or s.shape[start] == "!"):
        start += 1
    if s.word(start) not in ("a", "an") and not (
        s.spaced and s.word(start) in ("the", "one", "another", "something", "nothing")
    ):
        return False
    verbs = [at for at, kind in enumerate(s.shape) if kind == "s" and can_be(s.low[at], "VBZ")]
    finite = any(s.kind(at + 1) in ("d", "p", "t") or re.match("ns[Rir]", s.shape[at - 1 :]) for at in verbs)
    return re.search("[ns]", s.shape) is not None and not finite


def _verbal(s: Sentence, at: int) -> bool:
    """Whether a plural noun may be a verb: his stylist hits audiences."""
    return s.shape[at] == "s" and can_be(s.low[at], "VBZ")


def _bare(s: Sentence, start: int) -> bool:
    """Whether it is an adjective, participle or comparison, and no clause follows that this could belong to."""
    if s.word(start) in ("both", "yet"):
        start += 1
    while re.match("r,[rj]", s.shape[start:]) and s.low[start].endswith("ly"):
        start += 2
    if s.low[start : start + 2] == ["at", "once"]:
        start += 2
    not_only = s.low[start : start + 2] == ["not", "only"]
    start += 2 * not_only
    participle, shape = PARTICIPLE.match(s.shape, start), s.shape
    if participle and shape[participle.end() - 2] == "e" and not can_be(s.low[participle.end() - 2], "VBN"):
        return False
    modified = MODIFIED.match(shape, start)
    good = bool(participle or ADJECTIVE.match(shape, start) or SEVERAL.match(shape, start))
    good = good or (modified is not None and _adjectival(s, modified.end() - 1))
    several = SEVERAL.match(shape, start)
    if several and not all(_adjectival(s, at) for at in range(start, several.end()) if shape[at] in "eg"):
        return False
    good = good or (s.word(start) in ("like", "among") and s.kind(start) == "i")
    good = good or (s.word(start) == "more" and "than" in s.low and shape[start + 1 : start + 2] == "j")
    good = good or (not_only and s.kind(start) == "j")
    good = good or (AS.match(shape, start) is not None and "as" in s.low[start : start + 3])
    commas = [at for at, kind in enumerate(shape) if kind == ","]
    return good and not any(clause_at(s, comma + 1, len(shape)) for comma in commas)
