"""Feeds: what a trainer trains on, epoch by epoch. Clean data, or data whose texts are perturbed anew in every epoch."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Thread
from typing import Any, Protocol

import numpy as np

from ..data.dataset import Dataset, Text, joined
from ..data.perturbing import PROBE
from ..isolation import Failures
from ..perturbations.languages import warn_of_language
from ..perturbations.plan import Plan, whole_number
from ..perturbations.protect import Protect
from ..runs.settings import SIDES
from ..specs import check_switch, digests, known_name
from ..text.ragged import Ints, Ragged
from ..text.random import text_bits
from ..version import __version__
from .mixtures import Mixture, example_keys, ranked, rewritten

LOOK = 200  # texts by which the language of the data is told


class Feed(Protocol):
    """What a trainer trains on. The trainer shuffles the examples of an epoch."""

    @property
    def data(self) -> Dataset:
        """The clean examples: they tell task, labels and sizes."""

    @property
    def identity(self) -> str:
        """All that decides the texts of every epoch, as one line: for checkpoints and model cards."""

    def epoch(self, number: int) -> Dataset:
        """Returns the examples of an epoch (0, 1, ...): the same number, the same examples, whatever was asked before."""


@dataclass(frozen=True, eq=False)
class Clean:
    """The data as it is, in every epoch."""

    data: Dataset

    @property
    def identity(self) -> str:
        return f"clean|data:{self.data.digest}"

    def epoch(self, number: int) -> Dataset:
        return self.data


@dataclass(frozen=True, eq=False)
class Mixed:
    """The data with its texts perturbed by a mixture; labels, label sets and tags stay.

    mixture: as `Mixture.of` reads it, such as `low-mid-high(keyboard)`. In an epoch each example is in one part of it, and the
    sizes of parts differ by at most one. fresh: from epoch to epoch examples go on to the next part, and their noise is new; else
    all epochs are alike. beside: clean examples stay, too, and perturbed ones follow them unless nothing in them changed; else
    they take their place, and an epoch has the size of the data. side: which text of a pair is perturbed.

    The noise of an example depends on its texts, the seed, its part and the epoch; which part it is in, on the texts of the other
    examples, too, but not on their order. Raises ValueError if the mixture cannot run on the data: a perturbation that changes
    which tokens there are on data in tokens, a side that is not there; MissingResource if something is not installed.
    """

    data: Dataset
    mixture: Any
    seed: int = 0
    fresh: bool = True
    beside: bool = False
    side: str = "first"
    protect: Any = ()
    as_published: bool = False
    # examples on which a perturbation raised: they stay
    failures: Failures = field(default_factory=Failures, repr=False)

    def __post_init__(self) -> None:
        whole_number(self.seed, "feed.seed")
        for switch in ("fresh", "beside", "as_published"):
            check_switch(getattr(self, switch), f"feed.{switch}")
        known_name(self.side, SIDES, "a side")
        if max(SIDES[self.side]) >= len(self.data.columns):
            fields = ", ".join(self.data.fields)
            raise ValueError(f"expected two columns of texts for side {self.side}, got {fields}")
        check_plans(self.plans, tokens=self._tokens)
        some = (joined(text) for column in self.data.columns for text in column[:LOOK])
        warn_of_language(self.parts.perturbations, some, stacklevel=4)

    @property
    def _tokens(self) -> bool:
        return bool(len(self.data)) and not isinstance(self.data.columns[0][0], str)

    @cached_property
    def parts(self) -> Mixture:
        """The mixture as it suits the data."""
        mixture = Mixture.of(self.mixture, as_published=self.as_published)
        return mixture.for_tokens() if self._tokens else mixture

    @cached_property
    def plans(self) -> list[Plan | None]:
        return self.parts.plans(self.seed, Protect.of(self.protect))

    @cached_property
    def identity(self) -> str:
        own = digests([self.parts.spec])
        parts = {
            "scuff": __version__, "data": self.data.digest, "mixture": self.parts.signature, "seed": self.seed,
            "fresh": str(self.fresh).lower(), "clean": "beside" if self.beside else "replaced", "side": self.side,
            "protect": ",".join(Protect.of(self.protect).what) or "nothing", **({"own": own} if own else {}),
        }  # fmt: skip
        return "mixed|" + "|".join(f"{key}:{value}" for key, value in parts.items())

    def portions(self, number: int) -> Ints:
        """Returns the part that each example is in, in an epoch: a number in `parts.labels`."""
        return self.parts.spread(self._rank, self._turn(number))

    def epoch(self, number: int) -> Dataset:
        columns = self.texts(np.arange(len(self.data)), number)
        old = self.data
        if not self.beside:
            return replace(old, columns=tuple(map(tuple, columns)))
        both = zip(zip(*columns, strict=True), zip(*old.columns, strict=True), strict=True)
        changed = [at for at, (new, was) in enumerate(both) if new != was]
        return replace(
            old,
            columns=tuple((*was, *(new[at] for at in changed)) for was, new in zip(old.columns, columns, strict=True)),
            targets=(*old.targets, *(old.targets[at] for at in changed)),
            ids=(*old.ids, *(f"{old.ids[at]}~{number}" for at in changed)),
        )

    def texts(self, rows: Ints, number: int) -> list[list[Text]]:
        """Returns the columns of some examples as they are in an epoch, unchanged ones too."""
        at = rows.tolist()
        return rewritten(
            [[column[row] for row in at] for column in self.data.columns], self.portions(number)[rows], self.plans,
            sides=SIDES[self.side], draw=self._turn(number), failures=self.failures,
            place=lambda row: f"example {self.data.ids[at[row]]}",
        )  # fmt: skip

    def _turn(self, number: int) -> int:
        return number if self.fresh else 0

    @cached_property
    def _rank(self) -> Ints:
        targets = text_bits(Ragged.of([json.dumps(target) for target in self.data.targets]))
        return ranked(example_keys(self.data.columns), self.seed, targets)


def check_plans(plans: list[Plan | None], *, tokens: bool) -> None:
    """Raises what a plan raises on plain words: a missing resource or a wrong option is found before the first epoch."""
    for plan in plans:
        if plan is not None and tokens:
            plan.tokens([PROBE.split()])
        elif plan is not None:
            plan.texts([PROBE])


class Ahead:
    """A feed whose next epoch is made in a thread while the trainer is busy with this one. The bytes are the same.

    last: the number of the last epoch, after which none is made.
    """

    def __init__(self, feed: Feed, last: int | None = None) -> None:
        self.feed, self.last = feed, last
        self._made: dict[int, Dataset | Exception] = {}
        self._thread: Thread | None = None

    @property
    def data(self) -> Dataset:
        return self.feed.data

    @property
    def identity(self) -> str:
        return self.feed.identity

    def epoch(self, number: int) -> Dataset:
        """Returns the examples of an epoch, and begins with the next. Raises what making it raised."""
        if self._thread:
            self._thread.join()
            self._thread = None
        found = self._made.pop(number, None)
        self._made.clear()
        if isinstance(found, Exception):
            raise found
        out = self.feed.epoch(number) if found is None else found
        if self.last is None or number < self.last:
            self._thread = Thread(target=self._make, args=(number + 1,), daemon=True)
            self._thread.start()
        return out

    def _make(self, number: int) -> None:
        try:
            self._made[number] = self.feed.epoch(number)
        except Exception as error:
            self._made[number] = error
