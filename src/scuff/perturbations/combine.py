"""Perturbations made of perturbations: one of several, one after the other, only some of the text, all proposals joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import ClassVar, Literal

import numpy as np

from ..text.corpus import Corpus
from ..text.edits import NEVER, Edits
from ..text.ragged import Ints, Mask
from ..text.random import Rng, counters, mix, name_bits, text_bits
from ..text.words import Spans
from .base import Facts, Perturbation
from .protect import Protect, inside


def _facts(parts: tuple[Perturbation, ...], summary: str) -> Facts:
    """The facts of a combination: as safe as the least safe of its parts."""
    if not parts:
        raise ValueError("expected at least one perturbation to combine, got none")
    keeps = all(part.facts.keeps_tokens for part in parts)
    bound = [part.facts.languages for part in parts if part.facts.languages]
    languages = tuple(code for code in bound[0] if all(code in other for other in bound)) or bound[0] if bound else ()
    reach = min(1.0, sum(part.facts.reach for part in parts))
    level = max((part.facts.level for part in parts), key=("char", "word", "sentence").index)
    return replace(
        parts[0].facts, summary=summary, example="", keeps_tokens=keeps, unit="words", level=level, languages=languages,
        reach=reach,
    )  # fmt: skip


class _Combination(Perturbation):
    """Several perturbations; its spec is theirs with a mark between them."""

    parts: tuple[Perturbation, ...]
    mark: ClassVar[str]

    @property
    def spec(self) -> str:
        return self.mark.join(part.spec for part in self.parts)


@dataclass(frozen=True)
class Then(_Combination):
    """One perturbation after the other. Each finds its words where the one before left them, and selects on its own."""

    parts: tuple[Perturbation, ...]

    name: ClassVar[str] = "then"
    mark: ClassVar[str] = "+"

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", _facts(self.parts, "one after the other"))

    def at(self, p: float) -> Then:
        return Then(tuple(part.at(p) for part in self.parts))

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        raise TypeError("expected a perturbation that proposes edits for one site at a time, got a sequence (a+b)")

    def choose(self, corpus: Corpus, p: float, rng: Rng, selection: str | None, guard: Spans | None) -> Edits:
        done: Edits | None = None
        now = corpus
        if selection in ("below", "edits"):  # all parts together stay within the budget
            p = p / len(self.parts)
        for turn, part in enumerate(self.parts):
            edits = part.choose(now, p, rng.stream(turn, part.name), selection, guard)
            guard = edits.carry(guard, now.offsets) if guard is not None else None
            done = edits if done is None else done.then(edits, corpus).real(corpus)
            now = now.apply(edits)
        assert done is not None, "a sequence has at least one part"
        return done


@dataclass(frozen=True)
class OneOf(_Combination):
    """One of several perturbations, drawn anew for each word, or for each text (`per="text"`)."""

    parts: tuple[Perturbation, ...]
    per: Literal["word", "text"] = "word"

    name: ClassVar[str] = "one-of"
    mark: ClassVar[str] = "|"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(part.for_tokens() for part in self.parts))  # all perturb word by word
        if any(getattr(part, "budget", None) for part in self.parts):
            raise ValueError(
                "expected perturbations without a budget for a|b, got one with: a choice has no budget of its own"
            )
        if self.per not in ("word", "text"):
            raise ValueError(f"expected word or text for one-of.per, got {self.per!r}")
        object.__setattr__(self, "facts", _facts(self.parts, f"one of several, drawn for each {self.per}"))

    @property
    def spec(self) -> str:
        return super().spec + (" per text" if self.per == "text" else "")

    def at(self, p: float) -> OneOf:
        return OneOf(tuple(part.at(p) for part in self.parts), self.per)

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        proposals = [part.propose(corpus, rng.stream(turn, part.name), k=k) for turn, part in enumerate(self.parts)]
        if self.per == "text":
            rows = np.arange(len(corpus))
            turn_of = rng.stream("part").below(len(self.parts), rows, np.zeros_like(rows))
            proposals = [edits.where(turn_of[edits.row] == turn) for turn, edits in enumerate(proposals)]
        return Edits.join(proposals)


@dataclass(frozen=True)
class Only(Perturbation):
    """A perturbation kept to some of the text, named as for protection: `Only(Keyboard(), ("hashtags", "word:good"))`.

    The strength is then a share of the words in there.
    """

    part: Perturbation
    where: tuple[str, ...]

    name: ClassVar[str] = "only"

    def __post_init__(self) -> None:
        Protect(self.where)
        object.__setattr__(
            self, "facts", replace(self.part.facts, summary=f"{self.part.name}, only {', '.join(self.where)}")
        )
        object.__setattr__(self, "selection", self.part.selection)

    @property
    def spec(self) -> str:
        return f"{self.part.spec} only {', '.join(self.where)}"

    def at(self, p: float) -> Only:
        return Only(self.part.at(p), self.where)

    def _inside(self, corpus: Corpus, some: Spans) -> Mask:
        """Which spans lie in the part of the text that may change."""
        return inside(Protect(self.where).find(corpus), some)

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        edits = self.part.propose(corpus, rng.stream(self.part.name), k=k)
        return edits.where(self._inside(corpus, edits.spans(corpus.offsets)))

    def units(self, corpus: Corpus) -> Spans:
        units = self.part.units(corpus)
        return units.where(self._inside(corpus, units))

    def pick(self, corpus: Corpus, edits: Edits, p: float, rng: Rng, selection: str, total: Ints) -> Edits:
        return self.part.pick(corpus, edits, p, rng, selection, total)


def only(perturbation: Perturbation, where: tuple[str, ...]) -> Perturbation:
    """Keep a perturbation, or each part of a sequence, to some of the text."""
    return (
        Then(tuple(only(part, where) for part in perturbation.parts))
        if isinstance(perturbation, Then)
        else Only(perturbation, where)
    )


def all_proposals(
    parts: Sequence[tuple[Perturbation, int]], corpus: Corpus, seed: int = 0, protect: Protect | None = None
) -> Edits:
    """Up to k alternatives of each (perturbation, k) for every place that it can change, in order of rows and sites.

    Edits that overlap, change the same word or insert at the same place get the same site, which is where they begin; so any
    choice of one edit per site can be applied together. The same replacement of the same stretch comes once, from the part that
    is named first; inside a site parts keep their order, and so do the alternatives of each. Parts work at strength 0: one whose
    `phi` is None changes exactly one letter of a word.
    """
    if not parts:
        raise ValueError("expected at least one perturbation to propose edits, got none")
    found = []
    for at, (part, k) in enumerate(parts):
        turn = [other.name for other, _ in parts[:at]].count(part.name)
        own = int(name_bits(index(seed), turn)) if turn else seed  # two typos must not both hit the same letter
        found.append(part.proposals(corpus, 0.0, seed=own, k=k, protect=protect))
    edits = Edits.join(found)
    edits = edits.where(_first_of_each(edits))
    edits = replace(edits, site=_sites(edits, corpus))
    return edits.where(np.lexsort((edits.site, edits.row)))


def _first_of_each(edits: Edits) -> Ints:
    """The index at which each different edit comes first."""
    key = text_bits(edits.text)
    for field in (edits.row, edits.start, edits.stop):
        key = mix(key + counters(field))
    return np.sort(np.unique(key, return_index=True)[1])


def _sites(edits: Edits, corpus: Corpus) -> Ints:
    """Where the group of each edit begins: edits that overlap, each extended to the beginning of the first word it changes."""
    words, apart = corpus.words, corpus.offsets[edits.row] + edits.row  # so that two documents never touch
    start, stop = apart + edits.start, apart + edits.stop
    first = np.searchsorted(words.stop + words.row, start, "right")
    begin = np.minimum(start, np.append(words.start + words.row, NEVER)[first])
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(stop[order])
    opens = np.append(True, begin[1:] >= reach[:-1])[: order.size]  # insertions at one place have one site, too
    site = np.empty_like(begin)
    site[order] = begin[opens][np.cumsum(opens) - 1]
    return site - apart
