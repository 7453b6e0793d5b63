"""Feeds: what a trainer trains on, epoch by epoch. Clean data, or data with perturbed copies that are new in every epoch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ..data.dataset import Dataset, Text
from ..data.perturbing import PROBE
from ..isolation import Failures
from ..perturbations.base import Perturbation
from ..perturbations.plan import Plan, whole_number
from ..perturbations.protect import Protect
from ..runs.settings import SIDES
from ..specs import check_switch, known_name
from ..text.ragged import Bits, Ints, Ragged
from ..text.random import text_bits
from ..version import __version__
from .mixtures import Mixture, example_keys, rewritten


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
    """The data with its texts perturbed by a mixture; labels and tags stay.

    mixture: as `Mixture.of` reads it, such as `low-mid-high(keyboard)`. Each example is in one part of it, and parts are of equal
    size. fresh: examples go on to the next part in each epoch, and their noise is new; else all epochs are alike. beside: clean
    examples stay, too, and perturbed ones follow them unless nothing in them changed; else they take their place, and an epoch
    has the size of the data. side: which text of a pair is perturbed.

    Raises ValueError if the mixture cannot run on the data: a perturbation that changes which tokens there are on data with a tag
    per token, a side that is not there, a resource that is not installed.
    """

    data: Dataset
    mixture: Mixture | str | Perturbation | Sequence[object]
    seed: int = 0
    fresh: bool = True
    beside: bool = False
    side: str = "first"
    protect: Sequence[str] | Protect = ()
    failures: Failures = field(
        default_factory=Failures, repr=False
    )  # examples that a perturbation raised on; they stay clean

    def __post_init__(self) -> None:
        whole_number(self.seed, "feed.seed")
        check_switch(self.fresh, "feed.fresh")
        check_switch(self.beside, "feed.beside")
        known_name(self.side, SIDES, "a side")
        if max(self.sides) >= len(self.data.columns):
            got = ", ".join(self.data.fields)
            raise ValueError(f"expected two columns of texts for side {self.side}, got {got}")
        for plan in self.plans:  # a resource that is missing, or a wrong strength, is found now and not after an epoch
            if plan is not None:
                plan.tokens([PROBE.split()]) if self.data.task == "tokens" else plan.texts([PROBE])

    @property
    def sides(self) -> tuple[int, ...]:
        return tuple(SIDES[self.side])

    @cached_property
    def parts(self) -> Mixture:
        """The mixture as it suits the data."""
        mixture = Mixture.of(self.mixture)
        return mixture.for_tokens() if self.data.task == "tokens" else mixture

    @cached_property
    def plans(self) -> list[Plan | None]:
        return self.parts.plans(self.seed, Protect.of(self.protect))

    @cached_property
    def identity(self) -> str:
        protect = Protect.of(self.protect)
        parts = {
            "scuff": __version__, "data": self.data.digest, "mixture": self.parts.signature, "seed": self.seed,
            "fresh": str(self.fresh).lower(), "clean": "beside" if self.beside else "replaced", "side": self.side,
            "protect": ",".join(protect.what) or "nothing",
        }  # fmt: skip
        return "mixed|" + "|".join(f"{key}:{value}" for key, value in parts.items())

    def portions(self, number: int) -> Ints:
        """Returns the part of the mixture that each example is in, in an epoch; `parts.labels` names them."""
        return self.parts.deal(self._keys, self.seed, number if self.fresh else 0, self._ties)

    def epoch(self, number: int) -> Dataset:
        columns = self.texts(np.arange(len(self.data)), number)
        if not self.beside:
            return replace(self.data, columns=tuple(map(tuple, columns)))
        old = self.data
        changed = [at for at, texts in enumerate(zip(*columns, strict=True)) if texts != self._example(at)]
        copies = old.take(np.array(changed, np.int64))
        return replace(
            old,
            columns=tuple((*was, *(new[at] for at in changed)) for was, new in zip(old.columns, columns, strict=True)),
            targets=(*old.targets, *copies.targets),
            ids=(*old.ids, *(f"{name}~" for name in copies.ids)),
        )

    def texts(self, rows: Ints, number: int) -> list[list[Text]]:
        """Returns the columns of some examples as they are in an epoch."""
        at = rows.tolist()
        return rewritten(
            [[column[row] for row in at] for column in self.data.columns], self.portions(number)[rows], self.plans,
            sides=self.sides, draw=number if self.fresh else 0, place=lambda row: f"example {self.data.ids[at[row]]}",
            failures=self.failures,
        )  # fmt: skip

    def _example(self, at: int) -> tuple[Text, ...]:
        return tuple(column[at] for column in self.data.columns)

    @cached_property
    def _keys(self) -> Bits:
        return example_keys(self.data.columns)

    @cached_property
    def _ties(self) -> Bits:
        return text_bits(Ragged.of([json.dumps(target) for target in self.data.targets]))
