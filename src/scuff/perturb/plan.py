"""A plan: an attack with all that decides its result, run over texts or tokens block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from .. import __version__
from ..text import Corpus, Edit, Edits
from ..text.ragged import bounds
from .base import Perturbation, strength_of
from .names import parse
from .protect import Protect

BLOCK = 1 << 17  # code points that are worked on at once: arrays of this size stay in the processor's cache


@dataclass
class Tally:
    """What was done: texts, words (gaps for `segment`), and how many of them changed."""

    texts: int = 0
    changed_texts: int = 0
    units: int = 0
    changed_units: int = 0

    @property
    def reached(self) -> float:
        """The real strength: the share of units that changed."""
        return self.changed_units / self.units if self.units else 0.0


@dataclass(frozen=True)
class Plan:
    """A perturbation with everything that decides its result: the same plan gives the same text the same noise."""

    attack: Perturbation
    level: float
    seed: int = 0
    selection: str | None = None
    protect: Protect = field(default_factory=Protect)

    @classmethod
    def of(
        cls,
        attack: str | Perturbation,
        level: str | float,
        seed: int,
        selection: str | None,
        protect: Sequence[str] | Protect,
    ) -> Plan:
        rules = (protect,) if isinstance(protect, str) else protect
        return cls(
            parse(attack) if isinstance(attack, str) else attack, strength_of(level), seed, selection,
            rules if isinstance(rules, Protect) else Protect(tuple(rules)),
        )  # fmt: skip

    @property
    def signature(self) -> str:
        """Repeats the result, whatever the data."""
        parts = {
            "scuff": __version__, "attack": self.attack.spec, "level": f"{self.level:g}", "seed": self.seed,
            "selection": self.selection or self.attack.selection, "protect": ",".join(self.protect.what) or "nothing",
        }  # fmt: skip
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def edits(self, corpus: Corpus, draw: int, protect: Protect, tally: Tally | None) -> Edits:
        edits = self.attack.edits(
            corpus, self.level, seed=self.seed, draw=draw, selection=self.selection, protect=protect
        )
        if tally:
            tally.texts += len(corpus)
            tally.changed_texts += np.unique(edits.row).size
            tally.units += int(self.attack.total(corpus).sum())
            tally.changed_units += len(edits)
        return edits

    def texts(
        self,
        texts: Sequence[str],
        *,
        ids: Sequence[object] | None = None,
        draw: int = 0,
        edits: list[list[Edit]] | None = None,
        tally: Tally | None = None,
    ) -> list[str]:
        """Perturb texts; `edits` and `tally` are filled where given."""
        new: list[str] = []
        for part in blocks(list(map(len, texts))):
            corpus = Corpus.of(texts[part], ids=None if ids is None else ids[part])
            spans = self.protect.spans
            guard = self.protect if spans is None else Protect(self.protect.what, spans[part])
            chosen = self.edits(corpus, draw, guard, tally)
            new += corpus.apply(chosen).strings()
            if edits is not None:
                edits += chosen.listed(corpus)
        return new

    def tokens(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        ids: Sequence[object] | None = None,
        draw: int = 0,
        edits: list[list[Edit]] | None = None,
        tally: Tally | None = None,
    ) -> list[list[str]]:
        """Perturb sentences in tokens; every token stays one. Edits count in the tokens joined by one space."""
        if not self.attack.facts.keeps_tokens:
            raise ValueError(
                f"expected an attack that keeps each token, got {self.attack.spec}: the words that it joins have no tag"
            )
        new: list[list[str]] = []
        for part in blocks([sum(map(len, tokens)) + len(tokens) for tokens in sentences]):
            corpus, spans = Corpus.of_tokens(sentences[part], ids=None if ids is None else ids[part])
            chosen = self.edits(corpus, draw, self.protect, tally).in_order()
            flat = corpus.apply(chosen).cut(chosen.carry(spans, corpus.offsets)).strings()
            edges = bounds(spans.per_row(len(corpus))).tolist()
            new += [flat[a:b] for a, b in pairwise(edges)]
            if edits is not None:
                edits += chosen.listed(corpus)
        return new


def blocks(sizes: Sequence[int]) -> Iterator[slice]:
    """Stretches of texts of about BLOCK code points each. Where they are cut changes nothing but time."""
    block = np.cumsum(np.array(sizes, np.int64)) // BLOCK
    edges = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(sizes)]
    return (slice(a, b) for a, b in pairwise(edges) if a < b)
