"""A plan: a perturbation with all that decides its result, applied to texts or tokens block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from itertools import pairwise
from operator import index

import numpy as np

from ..isolation import Failures
from ..specs import check_switch
from ..text.corpus import Corpus
from ..text.edits import Edit, Edits
from ..text.ragged import Ints, bounds, text_lengths
from ..version import __version__
from . import published
from .base import Perturbation, strength_of
from .keyboard import Keyboard
from .names import parse
from .protect import Protect
from .published import published_selection

ENOUGH, NEARLY = 500, 0.8  # units, and the share of the level, for `out_of_reach`
BLOCK = 1 << 17  # code points that are worked on at once: arrays of this size stay in the processor's cache


@dataclass
class Tally:
    """Counts of texts, of units (words, or what the strength is a share of), and of those that changed."""

    texts: int = 0
    changed_texts: int = 0
    units: int = 0
    changed_units: int = 0
    failures: Failures = field(
        default_factory=Failures
    )  # texts that the perturbation raised on, which stay as they are

    def add(self, other: Tally) -> None:
        """Adds other counts to these."""
        self.texts += other.texts
        self.changed_texts += other.changed_texts
        self.units += other.units
        self.changed_units += other.changed_units
        self.failures.extend(other.failures)

    @property
    def reached(self) -> float:
        """The share of units that changed."""
        return self.changed_units / self.units if self.units else 0.0


@dataclass(frozen=True)
class Plan:
    """A perturbation with everything that decides its result: the same plan gives the same text the same noise."""

    perturbation: Perturbation
    level: float
    seed: int = 0
    selection: str | None = None
    protect: Protect = field(default_factory=Protect)

    @classmethod
    def of(
        cls,
        perturbation: str | Perturbation,
        level: str | float,
        seed: int,
        selection: str | None,
        protect: Sequence[str] | Protect,
        as_published: bool = False,
    ) -> Plan:
        """as_published: options and selection that the user did not give are those of the perturbation's paper."""
        rules = (protect,) if isinstance(protect, str) else protect
        if not isinstance(rules, Protect | Iterable):
            raise TypeError(f'expected kinds of text, such as ["urls"], for protect, got {protect!r}')
        check_switch(as_published, "as_published")
        if as_published:
            given, selection = perturbation, selection or published_selection(perturbation)
            perturbation = published.as_published(given)
            published.check_at_hand(given)
        return cls(
            parse(perturbation), strength_of(level), whole_number(seed, "seed"), selection,
            rules if isinstance(rules, Protect) else Protect(tuple(rules)),
        )  # fmt: skip

    @property
    def signature(self) -> str:
        """All that decides the result except the data, for reports; `attack` is the old name of its key."""
        parts = {
            "scuff": __version__, "attack": self.perturbation.spec, "level": f"{self.level:g}", "seed": self.seed,
            "selection": self.selection or "default", "protect": ",".join(self.protect.what) or "nothing",
        }  # fmt: skip
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def out_of_reach(self, tally: Tally) -> str:
        """Returns one line that says that far fewer units changed than were asked for, because most cannot; "" otherwise.

        Only where the perturbation is known to reach few, and of texts that are enough to tell; or no letter is on its keys.
        """
        facts, asked = self.perturbation.facts, self.selection or self.perturbation.selection
        none = tally.units and not tally.changed_units and not tally.failures.count
        if none and isinstance(self.perturbation, Keyboard) and self.level and asked == "quota" and not self.protect:
            layout = self.perturbation.layout
            return f"{self.perturbation.spec} changed nothing: no letter of the texts is on the layout {layout}; try layout=..."
        enough = facts.reach < self.level and tally.units >= ENOUGH and asked in ("quota", "coin", "each")
        if not enough or tally.reached > NEARLY * self.level:
            return ""
        return (
            f"{self.perturbation.spec} changed {tally.reached:.1%} of the {facts.unit}: level {self.level:g} is out of reach, "
            f"it can change about {facts.reach:.0%} of a usual text"
        )

    def edits(self, corpus: Corpus, part: slice, draw: int, tally: Tally | None) -> Edits:
        """The edits of one block of texts."""
        spans = self.protect.spans
        guard = self.protect if spans is None else Protect(self.protect.what, spans[part])
        edits = self.perturbation.edits(
            corpus, self.level, seed=self.seed, draw=draw, selection=self.selection, protect=guard
        )
        if tally:
            units = self.perturbation.units(corpus)
            tally.texts += len(corpus)
            tally.changed_texts += np.unique(edits.row).size
            tally.units += len(units)
            tally.changed_units += int(edits.touched(units, corpus.offsets).sum())
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
        """Perturb texts; fills `edits` and `tally` where given."""
        new: list[str] = []
        for part in self._blocks(text_lengths(texts), ids):
            corpus = Corpus.of(texts[part], ids=None if ids is None else ids[part])
            chosen = self.edits(corpus, part, draw, tally)
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
        """Perturb sentences in tokens; every token stays one. Positions of `edits` count in the tokens joined by one space."""
        if not self.perturbation.facts.keeps_tokens:
            raise ValueError(
                f"expected a perturbation that keeps each token, got {self.perturbation.spec}: it changes which tokens there are"
            )
        new: list[list[str]] = []
        sizes = np.array([sum(map(len, tokens)) + len(tokens) for tokens in sentences], np.int64)
        for part in self._blocks(sizes, ids):
            corpus, spans = Corpus.of_tokens(sentences[part], ids=None if ids is None else ids[part])
            chosen = self.edits(corpus, part, draw, tally).in_order()
            flat = corpus.apply(chosen).cut(chosen.carry(spans, corpus.offsets)).strings()
            edges = bounds(spans.per_row(len(corpus))).tolist()
            new += [flat[a:b] for a, b in pairwise(edges)]
            if edits is not None:
                edits += chosen.listed(corpus)
        return new

    def _blocks(self, sizes: Ints, ids: Sequence[object] | None) -> Iterator[slice]:
        for what, given in (("ids", ids), ("protected spans", self.protect.spans)):
            if given is not None and (
                isinstance(given, str) or not isinstance(given, Sized) or len(given) != sizes.size
            ):
                raise ValueError(f"expected {what} for each of {sizes.size} texts, got {given!r:.60}")
        return blocks(sizes)


def whole_number(value: object, what: str) -> int:
    """Returns an integer, of NumPy too. Raises TypeError for anything else."""
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"expected a whole number for {what}, got {value!r}") from None


def blocks(sizes: Ints) -> Iterator[slice]:
    """Stretches of texts of about BLOCK code points each. Where they are cut changes nothing but time."""
    block = np.cumsum(sizes) // BLOCK
    edges = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), sizes.size]
    return (slice(a, b) for a, b in pairwise(edges) if a < b)
