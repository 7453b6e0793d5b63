"""The words of a sentence: hyphenated ones joined, and tags repaired that dictionary or neighbours rule out."""

from __future__ import annotations

from ...language.tagger import Token
from .lexicon import can_be, words

ACRONYMS = frozenset(("US", "IT", "WHO"))


def typed(word: str) -> str:
    """In lower case, with the apostrophe of a typewriter; but the US are not us."""
    return word if word in ACRONYMS else word.lower().replace("’", "'")


def words_of(text: str, tokens: list[Token]) -> tuple[Token, ...]:
    """The words of one sentence."""
    found = _joined(text, tokens)
    for at, word in enumerate(found):
        tag = _tag(typed(word.text), found, at)
        if tag != word.tag:
            found[at] = word._replace(tag=tag)
    return tuple(found)


def _joined(text: str, tokens: list[Token]) -> list[Token]:
    """Hyphenated words in one piece: with the tag of the last part, but an adjective before a noun."""
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
    """A tag that goes with the dictionary and with the words around it, of which those before are repaired already."""
    tag, before = found[at].tag, found[at - 1].tag if at else ""
    after = found[at + 1].tag if at + 1 < len(found) else ""
    if low in words("pronouns"):
        return "PRP"
    if low.endswith("ly") and after[:2] in ("JJ", "RB", "VB") and can_be(low, "RB"):
        return "RB" if tag == "JJ" or (tag == "NN" and not can_be(low, tag)) else tag
    if low.isalpha() and tag in ("NN", "RB", "VBG", "VBN") and can_be(low, "JJ"):
        return "JJ" if not can_be(low, tag) or (tag[0] == "V" and _modifies(before, after)) else tag
    if tag == "VB" and before in ("NNS", "PRP"):
        near = found[max(at - 6, 0) : at]
        return tag if any(w.tag in ("MD", "TO") or typed(w.text) in words("causing") for w in near) else "VBP"
    if tag == "NNS" and low.islower() and can_be(low, "VBZ") and (not can_be(low, "NNS") or _finite(found, at, after)):
        return "VBZ"
    return tag


def _modifies(before: str, after: str) -> bool:
    """Whether a participle stands between such neighbours as an adjective would."""
    if after in ("NN", "NNS", "JJ"):
        return before in ("RB", "DT", "PRP$", ",", "CC", "JJ")
    return after in ("CC", ",", ".", ":", "") and before in ("RB", ",", "CC")


def _finite(found: list[Token], at: int, after: str) -> bool:
    """Whether what is tagged as many things is what one thing does: "the lack of pace kills it"."""
    verbless = not any(word.tag in ("VBZ", "VBP", "VBD", "MD") for word in found)
    if at == 0:
        return verbless and after in ("DT", "IN", "TO", "RB", "PRP$") and typed(found[1].text) != "of"
    takes = after == "PRP" and typed(found[at + 1].text) in ("it", "them", "us", "him", "me") and at + 2 < len(found)
    return found[at - 1].tag == "NN" and (takes or (verbless and after in ("DT", "PRP$")))
