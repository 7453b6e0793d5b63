"""What every perturbation shares: strengths, selection, protection. A new one writes `propose`, or (`WordPerturbation`) `able`
and `rewrite`.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from operator import index
from typing import Any, ClassVar, Literal, final

import numpy as np

from ..specs import Part, check_number, check_switch
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints
from ..text.random import Rng
from ..text.words import Spans
from .protect import Protect

LEVELS = {"low": 0.2, "mid": 0.5, "high": 0.8}  # names of strengths
SELECTIONS = ("quota", "coin", "each", "below", "edits", "all")


def strength_of(level: str | float) -> float:
    """The strength that low, mid, high or a number in [0, 1] stands for."""
    try:
        value = LEVELS[level] if isinstance(level, str) and level in LEVELS else float(level)
    except (TypeError, ValueError):
        value = math.nan
    if not 0 <= value <= 1:
        raise ValueError(f"expected low, mid, high or a number in [0, 1] for level, got {level!r}")
    return value


@dataclass(frozen=True)
class Facts:
    """What `scuff describe` tells about a perturbation, and what other rooms ask before they use it."""

    summary: str = ""
    paper: str = ""
    example: str = ""  # "Adversarial attacks are harmless." after it
    level: Literal["char", "word", "sentence"] = "char"
    tags: tuple[Literal["general", "malicious"], ...] = ("general", "malicious")
    scripts: str = "all"
    languages: tuple[str, ...] = ()  # () is any; otherwise ISO 639-1 codes
    unit: str = "words"  # what the strength is a share of
    keeps_tokens: bool = True  # every token stays one token: safe for tagging data
    reach: float = 1.0  # about the share of the units of a usual text that can change at most


@dataclass(frozen=True)
class Perturbation(Part, ABC):
    """Proposes edits to a corpus. A subclass is a frozen dataclass: its fields are its options, `name(option=value)` its spec.

    name: by default that of the class, `MyNoise` as `my-noise`; random draws depend on it. facts: by default the first line
    of the docstring; say `keeps_tokens=True` there if every edit stays inside one word. selection: the default protocol of
    `choose`. A field `phi` (the rate inside a word) that is left None takes the strength, as in the papers.
    """

    facts: ClassVar[Facts] = Facts(keeps_tokens=False)
    selection: ClassVar[str] = "quota"

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "facts" not in vars(cls):
            about = inspect.cleandoc(vars(cls).get("__doc__") or "").split("\n")[0]
            cls.facts = replace(cls.facts, summary=about or cls.name)

    def __post_init__(self) -> None:
        """Checks the options by their defaults. Raises ValueError if one is of another kind, or a count below 1."""
        for field in fields(self):
            value, what = getattr(self, field.name), f"{self.name}.{field.name}"
            wrong = ""
            if field.name == "phi":
                if value is not None:
                    check_number(value, 0, 1, what)
            elif isinstance(field.default, bool):
                check_switch(value, what)
            elif isinstance(field.default, int) and (type(value) is not int or value < 1 <= field.default):
                wrong = "a whole number above 0" if field.default >= 1 else "a whole number"
            elif isinstance(field.default, str) and not (isinstance(value, str) and (value or not field.default)):
                wrong = "at least one character"
            if wrong:
                raise ValueError(f"expected {wrong} for {what}, got {value!r}")

    @abstractmethod
    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        """Proposes up to k different edits for every site that can change; each really changes the text."""

    def units(self, corpus: Corpus) -> Spans:
        """What the strength is a share of: by default words."""
        return corpus.words

    def choose(self, corpus: Corpus, p: float, rng: Rng, selection: str | None, guard: Spans | None) -> Edits:
        """Chooses among proposed edits that do not touch a guarded span, by a selection protocol. Words stand here for what the
        strength is a share of.

        quota: in random order until ceil(p * n) words have changed, or all were tried (thesis and published code).
        coin: the same, but a coin of p decides about each (paper), so somewhat fewer change. each: only the coin.
        below: at most floor(p * n) words. edits: words until a share p of the characters is inserted, deleted or replaced, never
        more (RobTest's degrees). all: every site that can change, whatever p is.
        """
        return self.select(corpus, _checked(self.propose(corpus, rng), self), p, rng, selection, guard)

    def select(
        self, corpus: Corpus, edits: Edits, p: float, rng: Rng, selection: str | None, guard: Spans | None
    ) -> Edits:
        """Chooses among these edits, without those that touch a guarded span or that no text may have (`sound`)."""
        edits = sound(edits.in_order(), corpus)
        if guard is not None and len(guard):
            edits = edits.where(~edits.hitting(guard, corpus.offsets))
        total = self.units(corpus).per_row(len(corpus))
        return self.pick(corpus, edits, p, rng, selection or self.selection, total)

    def pick(self, corpus: Corpus, edits: Edits, p: float, rng: Rng, selection: str, total: Ints) -> Edits:
        """Chooses among these edits by a protocol; `total` is what p is a share of, per document."""
        if selection not in SELECTIONS:
            raise ValueError(f"expected {', '.join(SELECTIONS)} for selection, got {selection!r}")
        if selection == "all":
            return edits.within(None, rng)
        if selection in ("below", "edits"):
            total = corpus.lengths if selection == "edits" else total
            most = np.floor(total * p + 1e-9).astype(np.int64)
            return edits.within(most, rng, unit="letters" if selection == "edits" else "sites")
        quota = None if selection == "each" else np.ceil(total * p - 1e-9).astype(np.int64)
        return edits.within(quota, rng, coin=None if selection == "quota" else p)

    def at(self, p: float) -> Perturbation:
        """This perturbation with everything that depends on the strength filled in."""
        if getattr(self, "phi", 0.0) is None:
            changes: dict[str, Any] = {"phi": p}
            return replace(self, **changes)
        return self

    def for_tokens(self) -> Perturbation:
        """This perturbation as it suits tagging data, where words are perturbed one by one."""
        return self

    def for_characters(self) -> Perturbation:
        """This perturbation as it suits a strength that is a share of the characters: small edits anywhere, if it has such."""
        return self

    @final
    def proposals(
        self, corpus: Corpus, strength: float | str, *, seed: int = 0, k: int = 1, protect: Protect | None = None
    ) -> Edits:
        """Up to k alternatives for every site that is not protected, for a search to choose from."""
        rng = Rng.of(corpus.keys, index(seed), self.name, "proposals")
        edits = sound(_checked(self.at(strength_of(strength)).propose(corpus, rng, k=k), self), corpus)
        if protect:
            edits = edits.where(~edits.hitting(protect.find(corpus), corpus.offsets))
        return edits.real(corpus)

    @final
    def edits(
        self,
        corpus: Corpus,
        strength: float | str,
        *,
        seed: int = 0,
        draw: int | Ints = 0,
        selection: str | None = None,
        protect: Protect | None = None,
    ) -> Edits:
        """The edits that a call applies. `draw` may be a number per text: many versions of one text at once."""
        p = strength_of(strength)
        rng = Rng.for_draws(corpus.keys, draw, index(seed), self.name)  # a NumPy integer is the same number
        guard = protect.find(corpus) if protect else None
        chosen = sound(self.at(p).choose(corpus, p, rng, selection, guard).in_order(), corpus)
        return protect.settle(corpus, chosen) if protect else chosen

    @final
    def __call__(self, corpus: Corpus, strength: float | str, **options: Any) -> Corpus:
        """Perturb all texts: `seed`, `draw`, `selection` and `protect` as for `edits`."""
        return corpus.apply(self.edits(corpus, strength, **options))


def sound(edits: Edits, corpus: Corpus) -> Edits:
    """Drops edits that cut a grapheme cluster and, of lists of tokens, those that leave other tokens than before.

    The shipped perturbations propose hardly any; this holds for all, a user's own too.
    """
    if corpus.tail.size:
        edits = edits.where(~edits.cutting(corpus.offsets, corpus.tail))
    return edits.where(~edits.breaking_tokens(corpus)) if corpus.of_lists else edits


def _checked(edits: Any, perturbation: Perturbation) -> Edits:
    if not isinstance(edits, Edits):
        raise TypeError(f"expected Edits from {perturbation.spec}.propose, got {type(edits).__name__}")
    return edits
