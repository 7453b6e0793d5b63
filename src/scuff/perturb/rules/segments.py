"""Where whole clauses may stand: between marks that sentences begin after and end before, and not in headlines."""

from __future__ import annotations

import re
from functools import lru_cache

from .lexicon import can_be, words
from .sentence import NAMES, OPEN, Sentence

ENDS = (".", "!", ";", "!!", "!!!", "")


@lru_cache(maxsize=8)  # one sentence after the other is given to all rules
def segments(s: Sentence) -> tuple[tuple[int, int], ...]:
    """Stretches that may be whole clauses. Questions are not, nor what goes on behind a quote, bracket or dash."""
    found = []
    for match in re.finditer(r'[^":.(]+', s.shape):
        start, stop = match.span()
        before = s.kind(start - 1)
        opens = before in ("", ".") or (before == ":" and (s.low[start - 1] != "-" or not s.spaced))
        whole = opens and s.word(stop) in ENDS and _apart(s, start, stop)
        for at in range(start + 1, stop - 1):
            if _begins(s, at):  # what is before it is a headline without a mark at its end
                start = at
        if whole and not loud(s, start, stop) and not any(_odd(s, at) for at in range(start + 1, stop)):
            found.append((start, stop))
    return tuple(found)


def loud(s: Sentence, start: int, stop: int) -> bool:
    """Whether most words have capitals, as in headlines."""
    texts = [word.text for word in s.words[start:stop] if word.text[0].isalpha()]
    return sum(text[0].isupper() for text in texts) * 5 > len(texts) * 3


def starts(s: Sentence, at: int) -> bool:
    """Whether a sentence surely begins here, and not a headline that runs on into it."""
    return s.words[at].start > 0 or not s.capital(at) or s.words[at].tag in ("PRP", "DT", "PRP$")


def _apart(s: Sentence, start: int, stop: int) -> bool:
    """Whether no mark around these words belongs to an abbreviation, and the text was not cut off after them."""
    before, mark = s.text[: s.words[start].start][-1:], s.word(stop)
    after = s.text[s.words[stop].stop :][:1] if mark else ""
    if before.strip() or (after.strip() and after not in "\"'”’)"):
        return False
    if not mark and s.words[0].sentence and not s.spaced:
        return False
    marks = [at for at in (start - 1, stop) if s.word(at) == "." and at > 0]
    if any(len(s.low[at - 1]) == 1 and s.low[at - 1].isalpha() for at in marks):  # an initial
        return False
    again = s.words[0].start > 0 and s.kind(start - 1) in ("", ".")
    return s.spaced or not (again and s.words[start].text[0].islower())


def _begins(s: Sentence, at: int) -> bool:
    word, after = s.words[at].text, s.words[at + 1].text
    return word[0].isupper() and s.low[at] in words("starters") and not word[1:].isupper() and after[0].islower()


def _odd(s: Sentence, at: int) -> bool:
    """A capital where none is due: here, too, a headline may end, or a title begin."""
    text, tag = s.words[at].text, s.words[at].tag
    if text.isupper() and len(text) > 2:
        return len(text) > 5 or can_be(text, "NN")
    common = tag not in NAMES and not text.isupper() and (tag not in OPEN or can_be(text, tag))
    return text[0].isupper() and common
