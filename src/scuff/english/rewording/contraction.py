"""Contractions and what they stand for: "do not" and "don't", "it is" and "it's"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..inflection import cased_like
from .lexicon import words
from .sentence import NAMES, Rewording, Sentence

NEGATED = frozenset(
    ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "can", "could", "will", "would", "should")
)

ODD = {"can": "ca", "will": "wo"}  # before n't
WHOLE = {short: whole for whole, short in ODD.items()}
SHORT = {"is": "'s", "has": "'s", "are": "'re", "am": "'m", "have": "'ve", "had": "'d", "will": "'ll", "would": "'d"}
LONG = {"'re": "are", "'m": "am", "'ve": "have", "'ll": "will"}

GONE = ("gone", "come", "become", "been", "got", "had", "left", "run")  # has, not is

HOSTS = {
    "is": ("it", "he", "she", "that", "there", "who"), "are": ("you", "we", "they"), "am": ("i",), "has": ("it", "he", "she"),
    "have": ("i", "you", "we", "they"), "had": ("i", "you", "he", "she", "we", "they"),
    "will": ("i", "you", "he", "she", "it", "we", "they"), "would": ("i", "you", "he", "she", "we", "they"),
}  # fmt: skip

FOLLOWS = {"h": "!?r*e", "m": "!?r*V", "o": "!?r*V", "b": "!?r*[djnsNegi0pt]"}  # what an auxiliary must have after it


def contraction(s: Sentence) -> Iterator[Rewording]:
    """do not -> don't, it is -> it's."""
    for at in range(len(s.words) - 1):
        first, second, text = s.low[at], s.low[at + 1], s.words[at].text
        if "\n" in s.cut(at, at + 2) or not re.match(FOLLOWS.get(s.shape[at], ""), s.shape[at + 2 :]):
            continue
        order = first == "do" and s.kind(at - 1) in ("", ".", ":") and s.kind(at + 2) == "V"  # do not go there
        if second == "not" and first in NEGATED and (order or s.shape[at] in "bhom"):
            if (order or s.kind(at - 1) in tuple("nsNpdwE")) and s.word(at + 2) not in words("focus"):
                yield _write(s, at, cased_like(ODD.get(first, first), text) + "n't")
        elif first in HOSTS.get(second, ()) and s.shape[at] in "pEdw" and s.shape[at + 1] in "bhm" and _leans(s, at):
            yield _write(s, at, text + SHORT[second])


SPOKEN = re.compile(r"n['’]t\b|['’](?:re|ve|ll|m)\b|\b(?:it|that|there|what) ?['’]s\b")


@lru_cache(maxsize=16)
def _spoken(text: str) -> bool:
    """Whether the text has contractions."""
    return SPOKEN.search(text) is not None


def spoken(s: Sentence) -> Iterator[Rewording]:
    """the film is a mess -> the film's a mess; should have gone -> should've gone. In reviews and texts with contractions."""
    if not s.spaced and not _spoken(s.text):
        return
    for at in range(1, len(s.words) - 1):
        low, text = s.low[at], s.words[at - 1].text
        if low in ("is", "has") and s.shape[at] in "bh" and _simple(s, at):
            yield _write(s, at - 1, text + "'s")
        elif low == "have" and s.low[at - 1] in MODALS and s.kind(at + 1) == "e" and s.kind(at - 2) in tuple("pnsN"):
            yield _write(s, at - 1, text + "'ve")


MODALS = ("should", "could", "would", "might", "must")
INDEFINITE = ("anything", "nothing", "something", "back", "over", "here")


def _simple(s: Sentence, at: int) -> bool:
    """Whether "is" or "has been" follows a short subject that ends with a noun which can take 's."""
    text, after = s.words[at - 1].text, s.shape[at + 1 :]
    if s.kind(at - 1) != "n" or text[-1] in "sxzh" or not text.islower() or not text.isalpha():
        return False
    if re.search("[vbhomVgetwWSfic]", s.shape[max(at - 6, 0) : at - 1]):
        return False
    begins = at == 1 and s.spaced
    if s.low[at] == "has":
        return s.word(at + 1) == "been" and s.kind(at - 2) in ("d", "j")
    follows = re.match("!?r*[djgwit]", after) is not None or s.word(at + 1) in INDEFINITE
    return follows and (begins or s.kind(at - 2) in ("d", "j", "n"))


def _leans(s: Sentence, at: int) -> bool:
    """Whether a verb may be contracted with its subject: not at the end of a clause, not where its complement has moved away."""
    subject, verb, rest = s.low[at], s.low[at + 1], s.shape[at + 2 :]
    if not re.match(FOLLOWS[s.shape[at + 1]], rest) or s.low[at + 2] == "n't":
        return False
    if s.shape[at] == "w":
        return re.match("r*[djeg]", rest) is not None and s.kind(at - 1) in ("n", "s")
    if subject == "there" and not re.match("!?r*[djnN]", rest):
        return False
    if subject == "it" and verb == "has" and "been" not in s.low[at + 2 : at + 4]:
        return False  # "it's made" may be "it is made"
    before = words("never contracted after").intersection(s.low[max(at - 4, 0) : at])
    return not before and s.kind(at - 1) not in tuple("nsNjVvobhmpgeif")


def expansion(s: Sentence) -> Iterator[Rewording]:
    """don't -> do not, it's -> it is."""
    for at in range(1, len(s.words)):
        host, part = s.low[at - 1], s.low[at]
        after = re.match("!?r*", s.shape[at + 1 :])
        next_at = at + 1 + (after.end() if after else 0)
        kind = s.kind(next_at)
        if part == "n't" and WHOLE.get(host, host) in NEGATED and not _asks(s, at):
            whole = cased_like(WHOLE.get(host, host), s.words[at - 1].text)
            yield _expand(s, at, whole, "not", gap="" if whole.lower() == "can" and not s.spaced else " ")
        elif part in LONG and (host in HOSTS["will"] or (part == "'ve" and s.shape[at - 1] == "m")):
            if s.kind(at + 1) not in ("", ".", ",", ":"):
                yield _expand(s, at, s.words[at - 1].text, LONG[part])
        elif part == "'d" and host in HOSTS["will"] and kind in ("V", "e"):
            if s.low[next_at] not in words("same participle"):
                yield _expand(s, at, s.words[at - 1].text, "would" if kind == "V" else "had")
        elif part == "'s" and host == "let" and s.kind(at + 1) == "V":
            yield _expand(s, at, s.words[at - 1].text, "us")
        elif part == "'s" and host in (*HOSTS["is"], "what", "here", "nothing", "everything", "something"):
            if kind == "e" and s.word(next_at + 1) == "by" and s.low[next_at] not in GONE:
                yield _expand(s, at, s.words[at - 1].text, "is")
            has = kind == "e" and s.low[next_at] in ("been", "got", "had", "become")
            if has or (
                kind and kind in "djnsNgi0ptcWw" and s.low[next_at] != "own"
            ):  # "it's gone" may be "it has gone"
                yield _expand(s, at, s.words[at - 1].text, "has" if has else "is")


def _asks(s: Sentence, at: int) -> bool:
    """Whether a verb with n't stands before its subject."""
    after = s.kind(at + 1)
    if after == "p" or (at == 1 and after != "V"):
        return True
    return s.shape[at - 1] != "b" and after in tuple("dnsNE") and s.kind(at - 2) not in tuple("pnsNwE")


def _expand(s: Sentence, at: int, host: str, new: str, gap: str = " ") -> Rewording:
    """The contraction of words at - 1 and at, written out in the case of the first."""
    shouted, titled = len(host) > 1 and host.isupper(), len(host) > 1 and host[0].isupper() and at + 1 < len(s.words)
    titled = titled and s.capital(at + 1) and s.words[at + 1].tag not in NAMES  # It's Time
    new = new.upper() if shouted else new.capitalize() if titled else new
    return Rewording(s.words[at - 1].start, s.words[at].stop, host + gap + new)


def _write(s: Sentence, at: int, new: str) -> Rewording:
    """Words at and at + 1 contracted."""
    old = s.words[at].text
    new = new.upper() if old.isupper() and len(old) > 1 else new
    return Rewording(s.words[at].start, s.words[at + 1].stop, s.apostrophes(new))
