"""The Porter stemmer (Porter, 1980) with the extensions of nltk's, which METEOR matches words by: the same stems as nltk's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "outings": "outing", "canning": "canning", "cannings": "canning", "howe": "howe",
    "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
Rules = Sequence[tuple[str, str]]  # an ending and what takes its place; only the first that fits is looked at
PLURALS: Rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
DOUBLE: Rules = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"), ("alli", "al"),
    ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"),
    ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
    ("fulli", "ful"),
)  # fmt: skip
SINGLE: Rules = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
LAST: Rules = tuple((ending, "") for ending in (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous",
    "ive", "ize",
))  # fmt: skip
VOWEL_RUN = re.compile("v+c")


@lru_cache(100_000)
def stem(word: str) -> str:
    """Returns the stem of a word in lower case: "running" and "runs" give "run"."""
    if word in IRREGULAR or len(word) <= 2:
        return IRREGULAR.get(word, word)
    word = f"{word[:-3]}ie" if word.endswith("ies") and len(word) == 4 else _replaced(word, PLURALS)
    word = _without_ed_and_ing(word)
    if word.endswith("y") and len(word) > 2 and _kinds(word)[-2] == "c":
        word = f"{word[:-1]}i"
    word = _replaced(_without_double_endings(word), SINGLE, 1)
    word = _replaced(word, LAST, 2)
    if word.endswith("e"):
        size = _measure(word[:-1])
        if size > 1 or (size == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _kinds(word: str) -> str:
    """c for each consonant and v for each vowel; a y is a vowel behind a consonant."""
    out = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and out[-1:] == "c")
        out += "v" if vowel else "c"
    return out


def _measure(word: str) -> int:
    """How often consonants follow vowels."""
    return len(VOWEL_RUN.findall(_kinds(word)))


def _ends_short(word: str) -> bool:
    """Whether it ends as "hop" does, with a single vowel between two consonants, or is as "at"."""
    kinds = _kinds(word)
    return (kinds[-3:] == "cvc" and word[-1] not in "wxy") or kinds == "vc"


def _replaced(word: str, rules: Rules, least: int = 0) -> str:
    """Replaces the first ending that fits, if what is before it has at least this measure."""
    for ending, new in rules:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = _measure(rest) >= least and (ending != "ion" or rest[-1:] in ("s", "t"))
            return rest + new if fits else word
    return word


def _without_ed_and_ing(word: str) -> str:
    if word.endswith("ied"):
        return f"{word[:-3]}{'ie' if len(word) == 4 else 'i'}"
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    rest = next(
        (word[: -len(end)] for end in ("ed", "ing") if word.endswith(end) and "v" in _kinds(word[: -len(end)])), ""
    )
    if not rest:
        return word
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    kinds = _kinds(rest)
    if rest[-1] == rest[-2:-1] and kinds[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return f"{rest}e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _without_double_endings(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _without_double_endings(word[:-2])
    if word.endswith("logi"):  # no ending of the list fits it
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, DOUBLE, 1)
