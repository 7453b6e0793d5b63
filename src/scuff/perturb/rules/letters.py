"""One letter for each kind of word, so that a sentence is a string and rules are patterns over it."""

from __future__ import annotations

from functools import lru_cache

from .lexicon import words

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
    """The kind of a word; marks are . : , " and ( for brackets and all else that nothing goes across."""
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
