"""Adversarial examples of training data: texts of it, changed by attacks until the model to be trained is wrong.

ToxicTrap (Bespalov et al. 2023), algorithm 2: each recipe walks through the data until it has gamma |D| successes or the data
ends (`walks.py`). AT1 is one recipe, AT2 several.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..attacks.attack import Attack
from ..data.dataset import Dataset
from ..data.reading import read_dataset
from ..runs.engines.open import LOCAL, open_engine
from ..runs.folder import Folder
from ..runs.run import silent
from ..runs.setup import Say
from ..specs import check_number
from .feeds import Clean, Feed
from .walks import Found, Hunt, Recipe, RecipeCounts, Show, Texts, opened

GAMMA = 0.2  # adversarial examples of each recipe, as a share of the data: A2T's; the paper of ToxicTrap has none


@dataclass(frozen=True, eq=False)
class AdversarialExamples:
    """Adversarial examples with the targets of their originals, and where each comes from."""

    data: Dataset
    sources: tuple[str, ...]  # ids of the originals
    recipes: tuple[str, ...]  # that made each
    rounds: tuple[int, ...]  # of training, from 1
    counts: dict[str, RecipeCounts] = field(default_factory=dict)  # by recipe

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def digest(self) -> str:
        """A hash of all that is written."""
        return sha256(json.dumps(self.lines(), ensure_ascii=True).encode()).hexdigest()

    def lines(self) -> list[dict[str, Any]]:
        """An example a line: its id, texts and label, and the recipe, the round and the example that it was made of."""
        rows = zip(
            self.data.ids, zip(*self.data.columns, strict=True), self.data.targets, self.recipes, self.rounds, self.sources,
            strict=True,
        )  # fmt: skip
        return [
            {
                "id": name, **dict(zip(self.data.fields, texts, strict=True)), "label": target, "recipe": recipe,
                "round": number, "source": source,
            }
            for name, texts, target, recipe, number, source in rows
        ]  # fmt: skip

    def write(self, path: str | Path) -> None:
        """Writes a line of JSON for each example: labelled data that every command reads."""
        Folder(Path(path).parent).write_lines(Path(path).name, self.lines())

    def joined(self, other: AdversarialExamples) -> AdversarialExamples:
        """These examples and those of a later round, without counts, which are of one round."""
        return AdversarialExamples(
            joined(self.data, other.data), self.sources + other.sources, self.recipes + other.recipes,
            self.rounds + other.rounds,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Attacked:
    """The feed of the second phase: what another feed gives, and adversarial examples beside it, the same in every epoch."""

    feed: Feed
    adversarial: AdversarialExamples

    @property
    def data(self) -> Dataset:
        return self.feed.data

    @property
    def identity(self) -> str:
        return f"attacked|{self.feed.identity}|adversarial:{self.adversarial.digest}"

    def epoch(self, number: int) -> Dataset:
        return joined(self.feed.epoch(number), self.adversarial.data)


def attacked_feed(feed: Feed | Dataset, adversarial: AdversarialExamples) -> Attacked:
    """A feed with adversarial examples beside its own."""
    return Attacked(Clean(feed) if isinstance(feed, Dataset) else feed, adversarial)


def joined(one: Dataset, other: Dataset) -> Dataset:
    """The examples of two data sets of one task."""
    return replace(
        one,
        columns=tuple((*a, *b) for a, b in zip(one.columns, other.columns, strict=True)),
        targets=(*one.targets, *other.targets),
        ids=(*one.ids, *other.ids),
        known=one.labels,
    )


def adversarial_examples(
    model: Any,
    data: Any,
    recipes: Recipe | Sequence[Recipe],
    *,
    gamma: float = GAMMA,
    seed: int = 0,
    max_queries: int | None = None,
    engine: str = LOCAL,
    address: str | None = None,
    workers: int | None = None,
    output: str | Path | None = None,
    from_runs: Iterable[str | Path] = (),
    even: bool = False,
    avoid: Collection[Texts] = (),
    number: int = 1,
    say: Say = silent,
    show: Show | None = None,
    **settings: Any,
) -> AdversarialExamples:
    """Attacks training data until each recipe has gamma |D| adversarial examples, exactly as many for each.

    model, data: as for `scuff.attack`; a search asks the model as it is now. recipes: names, specs or attacks. Each recipe walks
    through all examples, every one in an order of its own that the seed decides. Whom a recipe attacks is its goal's choice:
    ToxicTrap's is about toxic texts that the model detects. A text that the data, `avoid` or an adversarial example before it has
    already does not count, and the walk goes on. A recipe that runs dry, at the end of the data, says so and gives what it has;
    even: then all others are cut to as many.

    output: a folder for the attacks, one run folder for each part of a walk; called again with the same arguments, it goes on
    where it was killed, to the same bytes, and with fewer or more recipes it takes what is there. None: they are thrown away.
    from_runs: folders of attacks on this data, made before (`scuff attack MODEL TRAIN -o FOLDER`): their examples are not
    attacked again. If their model was another one, only those of their adversarial texts count that fool this model, too. With
    recipes=() nothing else is attacked. number: of the round of training, for `AdversarialExamples.rounds`. show: called with a
    Harvest now and then. settings: as for `scuff.attack` (goal, vectors, side, ...).

    Raises ValueError if model, data and a recipe do not fit together, before anything is attacked.
    """
    check_number(gamma, 0, 1, "gamma")
    data = read_dataset(data)
    if data.task == "text":
        raise ValueError("expected data with labels or tags for adversarial examples, got texts: see train_translator")
    named = [recipes] if isinstance(recipes, str | Attack) else list(recipes)
    given = {
        **settings, "seed": seed, "max_queries": max_queries, "engine": engine, "address": address, "workers": workers,
    }  # fmt: skip
    for name in ("recipe", "examples", "attacked", "predictions"):
        if name in given:
            raise ValueError(f"expected recipes and gamma to decide what is attacked, got {name}")
    model = opened(model, data, given)
    hunt = Hunt(model, replace(data, known=data.labels), given, math.ceil(gamma * len(data) - 1e-9), seed, say, show)
    for recipe in named:
        hunt.add(recipe)
    for run in from_runs:
        hunt.take_run(Folder(run))
    if not hunt.walks:
        raise ValueError("expected recipes, or runs that have adversarial examples, got neither")
    with closing(open_engine(engine, workers, address)):  # one cluster for all attacks, if one has to be started
        kept = hunt.run(None if output is None else Path(output), {*avoid, *zip(*data.columns, strict=True)})
    if even:
        least = min(map(len, kept))
        kept = [walk[:least] for walk in kept]
    return _examples(hunt, kept, number)


def _examples(hunt: Hunt, kept: Sequence[Sequence[Found]], number: int) -> AdversarialExamples:
    """The chosen examples, recipe after recipe, as data. number: of the round of training."""
    rows = np.array([row for walk in kept for row, _ in walk], np.int64)
    names = [walk.label for walk, some in zip(hunt.walks, kept, strict=True) for _ in some]
    texts = [texts for walk in kept for _, texts in walk]
    old = hunt.data.take(rows)
    columns = tuple(tuple(each[side] for each in texts) for side in range(len(old.columns)))
    ids = tuple(f"{name}~{label}~{number}" for name, label in zip(old.ids, names, strict=True))
    made = replace(old, name=f"{old.name}, attacked", columns=columns, ids=ids, skipped={})
    return AdversarialExamples(made, old.ids, tuple(names), (number,) * len(names), hunt.counts(kept))
