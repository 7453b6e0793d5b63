"""Synonyms and antonyms of English words, from WordNet."""

from __future__ import annotations

from functools import lru_cache

from .inflect import inflected, lemma
from .synsets import PARTS, USUAL, table

RARE = 7  # percent: what a word means less often hardly anybody thinks of
UNLIKE = 15  # percent: words that are less alike mean the same only to a lexicographer


@lru_cache(100_000)
def synonyms(lemma: str, pos: str, senses: int | None = None, fit: float = 0.0) -> tuple[str, ...]:
    """Other lemmas of the same synsets, those of the most frequent sense first; lower-case, phrases with spaces. For adjectives
    also lemmas of the same cluster that are very alike ("great", "wonderful").

    pos: n, v, a or r. senses: only what is among the first so many senses of both words, and no rare one of the other. fit: only
    what may stand for the lemma in most contexts, the least sum of how often the lemma means that (0 to 1) and how alike both
    are to a sentence encoder (0 to 1); of several senses only the likely ones count then.
    """
    net = table()
    means: dict[int, int] = {}
    alike: dict[int, int] = {}
    for sense in net.senses(lemma, PARTS[pos]):
        if senses is not None and net.rank[sense] > senses:
            break
        for other, likeness in net.others(sense):
            if senses is None or (net.rank[other] <= senses and net.share[other] >= RARE):
                word = int(net.word[other])
                means[word] = means.get(word, 0) + int(net.share[sense])
                alike[word] = max(alike.get(word, 0), likeness)
    if fit:
        fits = [word for word in means if alike[word] >= UNLIKE and means[word] + alike[word] >= 100 * fit]
        likely = max((means[word] for word in fits if " " not in net.words[word]), default=0) / 2
        means = {word: means[word] for word in fits if means[word] >= likely}
    return tuple(net.words[word] for word in means)


@lru_cache(100_000)
def any_synonyms(word: str) -> tuple[str, ...]:
    """Lemmas of all synsets that a word, as it is or in its base form, has a sense in, as any part of speech."""
    tags = ("NNS", "VBZ", "VBD", "VBG", "VBN", "JJR", "JJS")
    # fat is no father
    bases = [word, *(base for tag in tags if (base := lemma(word, tag)) and inflected(base, tag) == word)]
    found = (other for base in bases for pos in PARTS for other in (base, *synonyms(base, pos)) if known(other, pos))
    return tuple(other for other in dict.fromkeys(found) if other != word)


@lru_cache(100_000)
def antonyms(word: str) -> frozenset[str]:
    """The opposites of a lemma as any part of speech, and what usually means the same as they, or for adjectives something
    similar: of "speedy" (fast) "slow" and "sluggish".
    """
    net = table()
    found = {net.words[at] for at in net.antonyms.get(net.number.get(word, -1), [])}
    for sense in net.senses(word, range(5)):
        if net.rank[sense] <= USUAL:
            for other in net.opposites.get(int(net.heads[net.synset[sense]]), []):
                found |= net.cluster(other)
    return frozenset(found - {word})


def known(word: str, pos: str) -> bool:
    """Whether a lemma is in the table as this part of speech."""
    return bool(table().senses(word, PARTS[pos]))


def familiar(word: str) -> int:
    """How often a lemma occurs in sense-tagged text and in WordNet's glosses and examples, up to 255."""
    net = table()
    at = net.number.get(word)
    return 0 if at is None else int(net.familiar[at])


def is_phrase(words: str) -> bool:
    """Whether these two to four words are a lemma, or a name, of their own: "of course", "new york"."""
    return words in table().phrases
