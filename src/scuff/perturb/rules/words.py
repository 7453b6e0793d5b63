"""The words of a sentence: tags repaired where lexicon or neighbours rule them out, and one letter for each kind of word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ...language.inflect import inflected, lemma
from ...language.tagger import Token

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
SUBORDINATORS = frozenset("that whether because although though if unless while whereas once lest".split())
PRONOUNS = frozenset(
    "i you he she it we they me him us them myself yourself himself herself itself ourselves themselves".split()
)
BRACKETS = frozenset(("-lrb-", "-rrb-", "-lsb-", "-rsb-", "-lcb-", "-rcb-"))
CAUSE = frozenset("let lets make makes made making help helps helped see sees saw watch have has had do does did".split())


def typed(word: str) -> str:
    """In lower case, with the apostrophe of a typewriter."""
    return word.lower().replace("’", "'")


@lru_cache(100_000)
def can_be(word: str, tag: str) -> bool:
    """Whether the lexicon has a word with this tag."""
    return inflected(lemma(word, tag), tag) is not None


@lru_cache(100_000)
def letter(low: str, tag: str) -> str:
    if low in BRACKETS or not any(map(str.isalnum, low)):
        return _mark(low, tag)
    if low in ("not", "n't"):
        return "!"
    if tag in ("VBZ", "VBP", "VBD") or low in ("'re", "'m", "'ve"):
        return FINITE.get(low, "v")
    if tag == "IN" and low in SUBORDINATORS:
        return "S"
    return "f" if low == "of" else LETTERS.get(tag, "x")


def _mark(low: str, tag: str) -> str:
    if low == "," or tag == "POS":
        return "," if low == "," else "'"
    if low[0] in ".!?…":
        return "."
    if low in ("``", "''", '"', "“", "”", "`", "'", "‘", "’"):
        return '"'
    if low[0] in ":;-–—" and len(low) < 4:
        return ":"
    return "0" if low in "$£€" else "n" if low == "%" else "("


def words_of(text: str, tokens: list[Token]) -> tuple[Token, ...]:
    return tuple(_repaired(_joined(text, tokens)))


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


def _repaired(words: list[Token]) -> Iterator[Token]:
    for at, word in enumerate(words):
        low, tag = typed(word.text), word.tag
        before = words[at - 1].tag if at else ""
        after = words[at + 1].tag if at + 1 < len(words) else ""
        if low in PRONOUNS:
            tag = "PRP"
        elif low.isalpha() and tag in ("NN", "RB", "VBG", "VBN") and can_be(low, "JJ"):
            if not can_be(low, tag) or (tag[0] == "V" and _modifies(before, after)):
                tag = "JJ"
        elif tag == "VB" and before in ("NNS", "PRP"):
            near = words[max(at - 6, 0) : at]
            if not any(w.tag in ("MD", "TO") or typed(w.text) in CAUSE for w in near):
                tag = "VBP"
        yield word._replace(tag=tag)


def _modifies(before: str, after: str) -> bool:
    """Whether a participle stands between such neighbours as an adjective would."""
    if after in ("NN", "NNS", "JJ"):
        return before in ("RB", "DT", "PRP$", ",", "CC", "JJ")
    return after in ("CC", ",", ".", ":", "") and before in ("RB", ",", "CC")
