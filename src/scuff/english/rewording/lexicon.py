"""Words and tags as the rewording rules see them: word lists, one letter per kind of word, repaired tags."""

from __future__ import annotations

from functools import cache, lru_cache

from ...resources import load
from ..inflection import inflected, lemma
from ..tagger import Token


@cache
def _sections() -> dict[str, str]:
    """The shipped word lists by name."""
    parts = load("syntax.txt").decode().split("[")[1:]
    return {name: entries for name, _, entries in (part.partition("]") for part in parts)}


@cache
def words(name: str) -> frozenset[str]:
    """A list of single words."""
    return frozenset(_sections()[name].split())


@cache
def phrases(name: str) -> frozenset[str]:
    """A list with an entry per line."""
    return frozenset(_sections()[name].strip().split("\n"))


@lru_cache(100_000)
def can_be(word: str, tag: str) -> bool:
    """Whether the dictionary has a word with this tag."""
    return inflected(lemma(word, tag), tag) is not None


# d determiner, j adjective, n s N noun (one, many, name), p pronoun, E there, v b h o m finite verb (be, have, do, modal),
# V e g its other forms, i preposition, f of, S subordinator, c conjunction, r adverb, ! not, R particle, w W wh-word
LETTERS = {
    "DT": "d", "PRP$": "d", "PDT": "D", "CD": "0", "$": "0", "JJ": "j", "JJR": "j", "JJS": "j", "NN": "n", "NNS": "s",
    "NNP": "N", "NNPS": "N", "PRP": "p", "EX": "E", "POS": "'", "VBZ": "v", "VBP": "v", "VBD": "v", "MD": "m", "VB": "V",
    "VBG": "g", "VBN": "e", "TO": "t", "IN": "i", "CC": "c", "RB": "r", "RBR": "r", "RBS": "r", "RP": "R", "WDT": "w",
    "WP": "w", "WP$": "w", "WRB": "W",
}  # fmt: skip

FINITE = {
    **dict.fromkeys(("is", "are", "was", "were", "am", "'s", "'re", "'m"), "b"),
    **dict.fromkeys(("has", "have", "had", "'ve"), "h"),
    **dict.fromkeys(("do", "does", "did"), "o"),
}

QUOTES = frozenset(("``", "''", '"', "“", "”", "`", "'", "‘", "’"))
BRACKETS = frozenset(("-lrb-", "-rrb-", "-lsb-", "-rsb-", "-lcb-", "-rcb-"))


@lru_cache(100_000)
def letter(low: str, tag: str) -> str:
    """The kind of a word as a letter; marks are . : , " and ( for brackets and all else that no rule crosses."""
    if low in BRACKETS or not any(map(str.isalnum, low)):
        return _mark(low, tag)
    if low[0] in "@#" or low.startswith(("http", "www.")):
        return "("
    if low in ("not", "n't"):
        return "!"
    if tag in ("VBZ", "VBP", "VBD") or low in ("'re", "'m", "'ve"):
        return FINITE.get(low, "v")
    if tag == "IN" and low in words("subordinators"):
        return "S"
    found = "f" if low == "of" else LETTERS.get(tag, "x")
    return "x" if found == "w" and low not in words("wh-words") else found


def _mark(low: str, tag: str) -> str:
    """The kind of a token without letters and digits."""
    if low == "," or tag == "POS":
        return "," if low == "," else "'"
    if low in QUOTES:
        return '"'
    if low[0] in ".!?…":
        return "."
    if low[0] in ":;-–—" and len(low) < 4:
        return ":"
    return "0" if low in ("$", "£", "€") else "n" if low == "%" else "("


def with_days(shape: str, low: list[str]) -> str:
    """Days after a noun or verb are adverbs, not part of it: He met the board Monday night."""
    for at, word in enumerate(low):
        day, near = word in words("days") and shape[at] == "N", word in words("near days")
        if not (day or near) or shape[at + 1 : at + 2] == "'":
            continue
        night = at + 1 < len(low) and low[at + 1] in words("parts of days")
        apart = at > 0 and shape[at - 1] in "nsN0ver" and (night or shape[at + 1 : at + 2] not in ("n", "s", "N"))
        if near or apart:
            shape = shape[:at] + "r" * (1 + night) + shape[at + 1 + night :]
    return shape


ACRONYMS = frozenset(("US", "IT", "WHO"))


def typed(word: str) -> str:
    """A word in lower case with a straight apostrophe, except acronyms that would be other words: US, us."""
    return word if word in ACRONYMS else word.lower().replace("’", "'")


def words_of(text: str, tokens: list[Token]) -> tuple[Token, ...]:
    """The words of one sentence, hyphenated ones in one piece, with repaired tags."""
    found = _joined(text, tokens)
    for at, word in enumerate(found):
        tag = _tag(typed(word.text), found, at)
        if tag != word.tag:
            found[at] = word._replace(tag=tag)
    return tuple(found)


def _joined(text: str, tokens: list[Token]) -> list[Token]:
    """The tokens with hyphenated words in one piece, which get the tag of the last part, or of an adjective before a noun."""
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        word, end = tokens[at], at
        while end + 2 < len(tokens) and tokens[end + 1].text == "-" and tokens[end].stop + 1 == tokens[end + 2].start:
            end += 2
        if end > at:
            last, after = tokens[end].tag, tokens[end + 1].tag if end + 1 < len(tokens) else ""
            tag = "JJ" if last in ("VBN", "VBG") or (after in ("NN", "NNS", "JJ") and last != "NNP") else last
            word = Token(word.start, tokens[end].stop, text[word.start : tokens[end].stop], tag, word.sentence)
        out.append(word)
        at = end + 1
    return out


def _tag(low: str, found: list[Token], at: int) -> str:
    """A tag that agrees with the dictionary and with the words around, of which those before have repaired tags already."""
    tag, before = found[at].tag, found[at - 1].tag if at else ""
    after = found[at + 1].tag if at + 1 < len(found) else ""
    if low in words("pronouns"):
        return "PRP"
    if better := _plain_tag(low, found, at, after):
        return better
    if low.endswith("ly") and after[:2] in ("JJ", "RB", "VB") and can_be(low, "RB"):
        return "RB" if tag == "JJ" or (tag == "NN" and not can_be(low, tag)) else tag
    if low.isalpha() and tag in ("NN", "RB", "VBG", "VBN") and can_be(low, "JJ"):
        return "JJ" if not can_be(low, tag) or (tag[0] == "V" and _modifies(before, after)) else tag
    if tag == "VBD" and at and can_be(low, "VBN"):
        if before == "RB" and _adverbial(found, at, after):
            return "JJ" if after in ("NN", "NNS", "JJ") else "VBN"
        return "VBN" if before in (",", "CC", "NN", "NNS") and _partly(found, at) else tag
    if tag == "VB" and (
        before in ("NNS", "PRP") or (before == "RB" and at > 1 and found[at - 2].tag in ("NNS", "PRP"))
    ):
        near = found[max(at - 6, 0) : at]
        return tag if any(w.tag in ("MD", "TO") or typed(w.text) in words("causing") for w in near) else "VBP"
    if tag == "NNS" and low.islower() and can_be(low, "VBZ") and (not can_be(low, "NNS") or _finite(found, at, after)):
        return "VBZ"
    return tag


def _plain_tag(low: str, found: list[Token], at: int, after: str) -> str:
    """The tag of a word that the tagger often gets wrong; "" for all others."""
    tag = found[at].tag
    if tag == "MD" and low not in words("modals"):  # the tagger takes "witty" for one
        return "JJ" if can_be(low, "JJ") else "NN"
    if at == 0 and tag in ("VB", "JJ") and after in ("VBZ", "MD") and low.islower() and len(found) > 3:
        return "NN"  # the name of a film or a person
    if tag == "JJ" and "-" in low and low.endswith("ly") and after == "JJ":
        return "RB"  # mind-numbingly bad
    linked = (
        tag == "NN" and at > 1 and found[at - 1].tag == "CC" and found[at - 2].tag == "JJ" and after in (".", "", ",")
    )
    return "JJ" if linked and (low == "fun" or (low.endswith("ing") and low in words("describing"))) else ""


def _partly(found: list[Token], at: int) -> bool:
    """Whether a past tense is a participle: a film helped by its cast."""
    nearby = [typed(word.text) for word in found[at + 1 : at + 3]]
    after = nearby[0] if nearby else ""
    if after == "by" or (nearby[1:] == ["by"] and found[at + 1].tag == "RB"):
        return True
    finite = any(w.tag in ("VBZ", "VBP", "VBD", "MD") for place, w in enumerate(found) if place != at)
    return after in ("with", "in", "to") and found[at - 1].tag in (",", "CC") and not finite


def _adverbial(found: list[Token], at: int, after: str) -> bool:
    """Whether a past tense behind an adverb is a participle: a sharply written drama, and finely directed."""
    adverb, before = typed(found[at - 1].text), found[at - 2].tag if at > 1 else ""
    if (
        not adverb.endswith("ly")
        or before not in ("", ",", "CC", "DT", "JJ", "VBZ")
        or after not in ("NN", "NNS", "JJ", ",", ".", "CC", ":", "")
    ):
        return False
    return after in ("NN", "JJ") or before == "VBZ" or not any(w.tag in ("VBZ", "VBP", "MD", "PRP") for w in found[:at])


def _modifies(before: str, after: str) -> bool:
    """Whether a participle between words with these tags is used as an adjective."""
    if after in ("NN", "NNS", "JJ"):
        return before in ("RB", "DT", "PRP$", ",", "CC", "JJ")
    return after in ("CC", ",", ".", ":", "") and before in ("RB", ",", "CC")


def _finite(found: list[Token], at: int, after: str) -> bool:
    """Whether a word that is tagged as a plural noun is a finite verb: "the lack of pace kills it"."""
    verbless = not any(word.tag in ("VBZ", "VBP", "VBD", "MD") for word in found)
    if at == 0:
        objects = ("you", "us", "it", "them", "me", "him")
        if after == "PRP" and typed(found[1].text) in objects and len(found) > 2:
            return True
        if after == "TO" or (
            after == "CC" and len(found) > 4 and found[2].tag == "NNS" and can_be(typed(found[2].text), "VBZ")
        ):
            return verbless or after == "TO"
        return verbless and after in ("DT", "IN", "TO", "RB", "PRP$") and typed(found[1].text) != "of"
    takes = after == "PRP" and typed(found[at + 1].text) in ("it", "them", "us", "him", "me") and at + 2 < len(found)
    if at == 1 and verbless and found[0].tag in ("NN", "JJ", "NNP", "FW", "CD") and after in ("DT", "PRP$", "JJ", "IN"):
        return after != "IN" and not can_be(typed(found[0].text), "JJ")
    return found[at - 1].tag == "NN" and (takes or (verbless and after in ("DT", "PRP$")))
