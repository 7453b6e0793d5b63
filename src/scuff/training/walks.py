"""Walks of attacks through data, until each recipe has as many adversarial examples as are wanted or the data ends.

A walk is a sequence of ordinary attacks on parts of the data: lock step, full batches, `Query`, run folders that a killed process
goes on with. The walk of a recipe does not depend on the others, so leaving one of them out needs no new attacks.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np

from ..attacks.attack import Attack
from ..attacks.goals import parse_goal
from ..attacks.settings import AttackSettings
from ..attacks.setup import AttackSetup
from ..data.dataset import Dataset, Target, Text
from ..runs.folder import BadRun, Folder
from ..runs.inputs import open_model
from ..runs.progress import Progress, duration
from ..runs.run import ATTACK, check_command, start_run
from ..runs.schema import AttackLine
from ..runs.setup import Say
from ..specs import some
from ..text.ragged import Ints, Ragged
from ..text.random import mix, name_bits, text_bits
from ..victims.base import Victim
from ..victims.open import open_victim
from ..victims.query import Query
from ..victims.truth import Truth

LEAST = 32  # examples of a part: fewer would not fill the batches of a search in lock step
SPARE = 1.1  # times as many examples as the successes so far say: another small part costs more than a few searches
MOST = 4  # times as many examples as were tried before: few successes say little about how many there will be

Texts = tuple[Text, ...]  # of one example
Found = tuple[int, Texts]  # the number of an example, and its adversarial texts
Recipe = str | Attack
Show = Callable[["Harvest"], None]


@dataclass(frozen=True)
class Harvest:
    """How far the search for adversarial examples is. found, wanted, looked: of the recipe at work. left: seconds until all
    recipes are done, by the speed so far; None as long as nothing was found.
    """

    recipe: str
    number: int  # of the recipe, from 1
    recipes: int
    found: int
    wanted: int
    looked: int
    examples: int
    seconds: float
    left: float | None

    def __str__(self) -> str:
        which = f" ({self.number} of {self.recipes})" if self.recipes > 1 else ""
        left = f", {duration(self.left)} left" if self.left is not None else ""
        return (
            f"{self.recipe}{which}: {self.found:,} of {self.wanted:,} adversarial examples, "
            f"{self.looked:,} of {self.examples:,} examples tried{left}"
        )


class RecipeCounts(TypedDict):
    """What a recipe found. dry: the data ended before it had what was wanted. looked: examples that it tried. attacked: those
    that its goal applies to. duplicates: successes that another example, clean or adversarial, is equal to; they are left out.
    no_longer: successes of earlier runs that do not fool the model now.
    """

    wanted: int
    found: int
    dry: bool
    looked: int
    attacked: int
    succeeded: int
    duplicates: int
    no_longer: int
    queries: int


@dataclass(eq=False)
class Walk:
    """One recipe on its way through the data."""

    recipe: Recipe | None  # None: only successes of earlier runs
    label: str
    name: str  # of the attack
    order: Ints
    tried: dict[int, Texts | None] = field(default_factory=dict)  # by example: its adversarial texts
    attacked: int = 0
    queries: int = 0
    no_longer: int = 0
    duplicates: int = 0
    unread: int = 0  # successes of the part at work

    @property
    def untried(self) -> Ints:
        return self.order[[row not in self.tried for row in self.order.tolist()]] if self.recipe else self.order[:0]

    @property
    def succeeded(self) -> int:
        return sum(texts is not None for texts in self.tried.values())

    def usable(self, taken: Collection[Texts], most: int) -> list[Found]:
        """The first successes on the walk whose texts are not taken, each text once."""
        found: dict[Texts, int] = {}
        for row in self.order.tolist():
            texts = self.tried.get(row)
            if texts is not None and texts not in taken and texts not in found:
                found[texts] = row
                if len(found) == most:
                    break
        return [(row, texts) for texts, row in found.items()]

    def next_size(self, found: int, wanted: int) -> int:
        """How many examples to attack next: about as many as give what is missing, by the successes so far."""
        looked = len(self.tried)
        if not looked:
            return max(LEAST, wanted)
        per_success = looked / found if found else 2 * looked
        return max(LEAST, min(MOST * looked, math.ceil(SPARE * (wanted - found) * per_success)))

    def record(self, row: int, line: AttackLine) -> None:
        found = line["adversarial"] if line["status"] == "succeeded" else None
        self.tried[row] = _texts(found["texts"]) if found else None
        self.attacked += line["status"] != "skipped"
        self.queries += line["queries"]


class Hunt:
    """The walks of all recipes."""

    def __init__(
        self, model: Any, data: Dataset, given: dict[str, Any], wanted: int, seed: int, say: Say, show: Show | None
    ) -> None:
        self.model, self.data, self.given, self.wanted, self.seed, self.say = model, data, given, wanted, seed, say
        self.show, self.walks, self.begun, self.before = show, list[Walk](), time.monotonic(), 0

    def add(self, recipe: Recipe | None, label: str = "", name: str = "") -> Walk:
        """Adds a walk. Opens its attack on a few examples, which raises ValueError if anything does not fit."""
        if recipe is not None:
            setup = self._open(recipe, self.data.take(range(min(4, len(self.data)))), None)
            setup.close()
            label, name = label_of(recipe), setup.attack.name
            if setup.attack.goal.open_ended:
                raise ValueError(f"expected a goal that makes the model wrong, got {setup.attack.goal.name} of {label}")
        if any(walk.label == label for walk in self.walks):
            raise ValueError(f"expected each recipe once, got {label} twice")
        order = mix(text_bits(Ragged.of(self.data.ids)) ^ name_bits("attacked", label, self.seed))
        self.walks.append(Walk(recipe, label, name, np.lexsort((np.arange(len(self.data)), order))))
        return self.walks[-1]

    def _open(self, recipe: Recipe, data: Dataset, output: Path | None, found: Any = None) -> AttackSetup:
        return AttackSetup.open(
            self.model, data, {**self.given, "recipe": recipe, "examples": len(data)}, output, found
        )

    def take_run(self, folder: Folder) -> None:
        """Records the outcomes of an attack on the data. Raises BadRun if it is about other data or by another recipe."""
        check_command(folder.path, ATTACK)
        run, lines = folder.run(), list(folder.attack_results())
        named = (run["config"].get("recipe", ""), run["recipe"]["name"])
        walk = next((walk for walk in self.walks if walk.name == named[1] or walk.label in named), None)
        if walk is None and any(walk.recipe for walk in self.walks):
            known = some(walk.label for walk in self.walks)
            raise BadRun(f"{folder.path}: expected an attack by {known}, got {named[1]}")
        walk = walk or self.add(None, named[1], named[1])
        rows = [self._rows.get((_texts(line["texts"]), _plain(line["target"]))) for line in lines]
        if strange := sum(row is None for row in rows):
            raise BadRun(
                f"{folder.path}: expected an attack on the data to train on, got {strange:,} of {len(lines):,} examples that are "
                "not in it"
            )
        victim = self.model if isinstance(self.model, Victim) else None
        same = victim is not None and run["key"]["model"].startswith(f"{victim.identity}#")
        fools = np.ones(len(lines), np.bool_) if same else self._fools(str(cast(Any, run["key"])["goal"]), lines)
        for row, line, still in zip(rows, lines, fools.tolist(), strict=True):
            if row is not None and row not in walk.tried:
                walk.record(row, line)
                if not still:
                    walk.tried[row] = None
                    walk.no_longer += 1

    @cached_property
    def _rows(self) -> dict[tuple[Texts, Target], int]:
        """The number of each example, by its texts and its target."""
        texts = zip(*self.data.columns, strict=True)
        return {key: row for row, key in reversed(list(enumerate(zip(texts, self.data.targets, strict=True))))}

    def _fools(self, goal: str, lines: Sequence[AttackLine]) -> Any:
        """Which lines have no adversarial text, or one that fools the model as it is now."""
        out = np.ones(len(lines), np.bool_)
        places = [at for at, line in enumerate(lines) if line["status"] == "succeeded" and line["adversarial"]]
        if not places:
            return out
        about = AttackSettings.of(**self.given)
        victim = open_model(self.model, about, self.data)
        rows = np.array([self._rows[_texts(lines[at]["texts"]), _plain(lines[at]["target"])] for at in places])
        truth = Truth.of(self.data, victim.labels, about.map, about.none).take(rows)
        ready = parse_goal(goal).ready(self.data.task, truth.labels)
        query, found = Query(victim), [lines[at]["adversarial"] for at in places]
        texts = [_texts(each["texts"]) for each in found if each]
        changed = np.array([each["changed"] for each in found if each])
        clean = query(*self.data.take(rows).columns)
        outputs = query(*(list(column) for column in zip(*texts, strict=True)))
        margin = ready(outputs, ready.aims(truth.targets, clean.answers), changed)
        out[places] = margin > 0  # nan, for no answer, is not
        return out

    def run(self, output: Path | None, taken: set[Texts]) -> list[list[Found]]:
        """Walks with one recipe after the other. Returns the examples that each keeps."""
        out, own = [], set(taken)
        for walk in self.walks:
            # first what it needs alone, so that the parts of a walk do not depend on the other recipes
            for without in (own, taken):
                while len(kept := walk.usable(without, self.wanted)) < self.wanted and walk.untried.size:
                    self._attack(walk, walk.untried[: walk.next_size(len(kept), self.wanted)], len(kept), output)
            self._tell(walk, len(kept))
            what = f"attack  {walk.label}: {len(kept):,} adversarial examples of {len(walk.tried):,} examples tried"
            self.say(f"{what}, {walk.attacked:,} attacked, {walk.queries:,} queries")
            if len(kept) < self.wanted:
                self.say(f"WARNING {walk.label} ran dry: {len(kept):,} of {self.wanted:,} adversarial examples")
            walk.duplicates = walk.succeeded - len(walk.usable(taken, len(self.data)))
            taken |= {texts for _, texts in kept}
            self.before += len(kept)
            out.append(kept)
        return out

    def _attack(self, walk: Walk, rows: Ints, known: int, output: Path | None) -> None:
        """Attacks some examples, as one run. known: how many adversarial examples the walk has so far."""
        assert walk.recipe is not None
        data, folder = self.data.take(rows), None
        if output is not None:  # named by what it is about: other walks have other parts
            which = sha256(json.dumps(data.ids).encode()).hexdigest()[:8]
            folder = output / folder_name(walk.label) / f"{len(walk.tried):06}-{which}"
        walk.unread = 0

        def success(line: dict[str, Any]) -> None:
            walk.unread += 1

        def moved(progress: Progress) -> None:
            self._tell(walk, min(known + walk.unread, self.wanted))

        live = self.show is not None and AttackSettings.of(**self.given).alone
        setup = self._open(walk.recipe, data, folder, success if live else None)
        lines = start_run(setup, folder, _lines, show=moved if self.show else None, forecast=False)
        for row, line in zip(rows.tolist(), lines, strict=True):
            walk.record(row, line)

    def _tell(self, walk: Walk, found: int) -> None:
        if not self.show:
            return
        seconds, all_found, number = time.monotonic() - self.begun, self.before + found, self.walks.index(walk) + 1
        still = self.wanted - found + self.wanted * (len(self.walks) - number)
        left = seconds * still / all_found if all_found else None
        tried, of = len(walk.tried), len(self.data)
        self.show(Harvest(walk.label, number, len(self.walks), found, self.wanted, tried, of, seconds, left))

    def counts(self, kept: Sequence[Sequence[Found]]) -> dict[str, RecipeCounts]:
        """What each recipe found. kept: the examples that are chosen of each."""
        return {
            walk.label: {
                "wanted": self.wanted, "found": len(chosen), "dry": not walk.untried.size and len(chosen) < self.wanted,
                "looked": len(walk.tried), "attacked": walk.attacked, "succeeded": walk.succeeded,
                "duplicates": walk.duplicates, "no_longer": walk.no_longer, "queries": walk.queries,
            }
            for walk, chosen in zip(self.walks, kept, strict=True)
        }  # fmt: skip


def _lines(folder: Folder, summary: Any) -> list[AttackLine]:
    return list(folder.attack_results())


def opened(model: Any, data: Dataset, settings: Mapping[str, Any]) -> Any:
    """A model as a victim, which several attacks can share, unless workers are to open it by its name. settings: as for an
    attack; a shield is put before it by each.
    """
    about = AttackSettings.of(**settings)
    if not about.alone:
        return model
    return open_victim(model, data.task, about.labels, dict(about.options), data_labels=data.labels)


def label_of(recipe: Recipe) -> str:
    """What a recipe is called: its spec, or the name of an attack."""
    return recipe if isinstance(recipe, str) else recipe.name


def folder_name(label: str) -> str:
    """A name for the folder of a recipe."""
    return re.sub(r"[^\w.-]+", "-", label).strip("-")[:60]


def _texts(texts: Sequence[Any]) -> Texts:
    """The texts of a line of results, tokens as tuples."""
    return tuple(map(_plain, texts))


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
