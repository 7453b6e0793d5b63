"""Counts what looks like a mistake in English texts: words that no dictionary has, and tags that do not follow each other.

This is a rough count for comparing a changed text with its original, not a grammar checker: it knows a dozen rules, and the
tagger errs. Mistakes that the original has, too, cancel out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ..text.ragged import Ints
from .inflection import VERB, possible_tags
from .substitutes import takes_an
from .tagger import Token, in_training, tagged
from .wordnet import table

FINITE = frozenset(("VBZ", "VBD", "VBP", "MD"))
ARTICLES = frozenset(("a", "an", "the", "every"))
# what hardly follows an article, or a word with one of these tags
BEHIND_ARTICLE = frozenset(("MD", "IN", "CC", "TO", "PRP", ".", ",", "VBZ", "VBP", "VB", "DT"))
NEVER_BEHIND: dict[str, frozenset[str]] = {
    "PRP$": frozenset(("MD", "IN", "CC", "DT", "PRP", ".", ",", "VBZ", "VBP", "TO")),
    "MD": FINITE | {"VBG", "NNS", "DT", "JJ"},
    "TO": frozenset(("VBZ", "VBD", "VBN", "MD")),
    "VBZ": frozenset(("VBZ", "VBP", "MD")),
    "VBD": frozenset(("VBZ", "VBP", "MD")),
    "VBP": frozenset(("VBZ", "MD")),
}
PERSONS = {"I": "VBZ", "you": "VBZ", "we": "VBZ", "they": "VBZ", "he": "VBP", "she": "VBP", "it": "VBP"}
ONE, MANY = (
    frozenset(("a", "an", "this", "that", "every", "each")),
    frozenset(("these", "those", "many", "several", "few")),
)


def faults(texts: Sequence[str]) -> Ints:
    """Returns how many mistakes each text seems to have. Needs lemminflect and the tagger; raises MissingResource without."""
    return np.array([_count(tokens) for tokens in tagged(texts)], np.int64)


def new_faults(before: Sequence[str], after: Sequence[str]) -> Ints:
    """Returns how many mistakes each changed text has more than its original; 0 if it has fewer."""
    return np.maximum(faults(after) - faults(before), 0)


def _count(tokens: Sequence[Token]) -> int:
    unknown = sum(not in_dictionary(token.text) for token in tokens if _is_word(token))
    return unknown + sum(_clash(one, other) for one, other in pairwise(tokens) if one.sentence == other.sentence)


def _is_word(token: Token) -> bool:
    """Whether a token should be in a dictionary: it has a letter, is not a name, and no part of a contraction."""
    text = token.text
    name = token.tag in ("NNP", "NNPS") and text[:1].isupper()
    return len(text) > 1 and not name and text[0] not in "'’@#" and "n't" not in text and any(map(str.isalpha, text))


@lru_cache(100_000)
def in_dictionary(word: str) -> bool:
    """Returns whether lemminflect's dictionary, WordNet or the texts that the tagger was trained on have a word."""
    low = word.lower().replace("’", "'")
    return bool(possible_tags(low)) or low in table().number or any(map(in_training, (word, low, low.capitalize())))


def _clash(one: Token, other: Token) -> bool:
    """Whether two words that follow each other hardly do so in English."""
    first, second = one.text.lower(), other.text.lower()
    if other.tag in (BEHIND_ARTICLE if first in ARTICLES else NEVER_BEHIND.get(one.tag, ())):
        return True
    if first in ("a", "an") and other.text[:1].isalpha() and takes_an(other.text) != (first == "an"):
        return True
    if first == second and first.isalpha() and first not in ("that", "had", "very", "so", "no"):
        return True  # the same word twice
    person = PERSONS.get(one.text if one.text == "I" else first)
    agrees = other.tag != person if person else not (one.tag == "NNS" and other.tag == "VBZ")
    if not agrees and other.tag in VERB:
        return True
    return (first in ONE and other.tag == "NNS") or (first in MANY and other.tag == "NN")
