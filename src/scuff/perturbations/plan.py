"""A plan: a perturbation with all that decides its result, applied to texts or tokens block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import index

import numpy as np

from ..specs import check_switch
from ..text.corpus import Corpus
from ..text.edits import Edit, Edits
from ..version import __version__
from . import published
from .base import Perturbation, strength_of
from .blocks import Tally, Work
from .combine import only
from .keyboard import Keyboard
from .names import parse
from .protect import Protect
from .published import published_selection

ENOUGH, NEARLY = 500, 0.8  # units, and the share of the level, for `out_of_reach`


@dataclass(frozen=True)
class Plan(Work[Edit]):
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
        only_in: Sequence[str] = (),
    ) -> Plan:
        """as_published: options and selection that the user did not give are those of the perturbation's paper. only_in: text
        that alone may change, named as for protection.
        """
        rules = Protect.of(protect)
        check_switch(as_published, "as_published")
        if as_published:
            given, selection = perturbation, selection or published_selection(perturbation)
            perturbation = published.as_published(given)
            published.check_at_hand(given)
        part = parse(perturbation)
        if only_in:
            part = only(part, tuple(only_in))
        return cls(part, strength_of(level), whole_number(seed, "seed"), selection, rules)

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

    @property
    def spec(self) -> str:
        return self.perturbation.spec

    def protecting(self, protect: Protect) -> Plan:
        return replace(self, protect=protect)

    def edits(self, corpus: Corpus, part: slice, draw: int, tally: Tally | None) -> Edits:
        """The edits of one block of texts."""
        edits = self.perturbation.edits(
            corpus, self.level, seed=self.seed, draw=draw, selection=self.selection, protect=self.guard(part)
        )
        if tally:
            units = self.perturbation.units(corpus)
            tally.texts += len(corpus)
            tally.changed_texts += np.unique(edits.row).size
            tally.units += len(units)
            tally.changed_units += int(edits.touched(units, corpus.offsets).sum())
        return edits

    def changes(
        self, corpus: Corpus, part: slice, draw: int, tally: Tally | None
    ) -> tuple[Edits, Callable[[], list[list[Edit]]]]:
        edits = self.edits(corpus, part, draw, tally).in_order()
        return edits, partial(edits.listed, corpus)

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
                f"expected a perturbation that keeps each token, got {self.spec}: it changes which tokens there are"
            )
        return super().tokens(sentences, ids=ids, draw=draw, edits=edits, tally=tally)


def whole_number(value: object, what: str) -> int:
    """Returns an integer, of NumPy too. Raises TypeError for anything else."""
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"expected a whole number for {what}, got {value!r}") from None
