"""The settings of an attack, and the attack that they make of a recipe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..metrics.meaning import MINILM, distance_in_meaning, usual_meaning
from ..perturbations.base import Perturbation
from ..perturbations.combine import OneOf
from ..perturbations.contextual import Contextual
from ..perturbations.embedding import FILE, Embedding, Lists, read_space
from ..resources import MissingResource, modified
from ..runs.settings import SIDES, Settings
from ..specs import known_name
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ragged
from .attack import Attack, Transform
from .constraints import CONSTRAINTS, parse_constraint
from .constraints.base import Constraint
from .constraints.meaning import Meaning
from .constraints.vectors import WordVectors
from .goals import parse_goal
from .recipes import find_recipe
from .search import parse_search

VECTORS = "word vectors: --vectors FILE, such as counter-fitted-vectors.txt (github.com/nmrksic/counter-fitting)"

OTHERS = (
    "or lists of neighbours. Without: --recipe tt-pwws, tt-deepwordbug, pwws or deepwordbug, or other transformations, as in "
    "--transform typo homoglyph synonym"
)


@dataclass(frozen=True)
class AttackSettings(Settings):
    """What can be set; `scuff attack --help` explains each."""

    recipe: str = "toxictrap"
    goal: str | None = None
    transform: tuple[str, ...] = ()
    search: str | None = None
    constraint: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    vectors: str | None = None
    max_time: float | None = None
    valid: float = 0.2

    @classmethod
    def of(cls, **settings: Any) -> AttackSettings:
        """As all settings; a file may write `no-pos: true`, as the flags do, for `without: [pos]`."""
        flags = {f"no-{name}" for name in CONSTRAINTS if isinstance(settings.get(f"no-{name}"), bool)}
        without = [name for name in sorted(flags) if settings[name]]
        rest = {name: value for name, value in settings.items() if name not in flags}
        if without:
            given = rest.get("without") or []
            more = [given] if isinstance(given, str) else list(given)
            rest["without"] = [*more, *(name.removeprefix("no-") for name in without)]
        return super().of(**rest)

    def check(self) -> None:
        super().check()
        find_recipe(self.recipe)
        if self.goal:
            parse_goal(self.goal)
        if self.search:
            parse_search(self.search)
        for spec in self.transform:
            Transform.parse(spec)
        for spec in self.constraint:
            parse_constraint(spec)
        for name in self.without:
            known_name(name, CONSTRAINTS, "a constraint")
        if self.side == "both":
            raise ValueError("expected first or second for side, got both: a search changes one text of a pair")
        if self.max_time is not None and not self.max_time > 0:
            raise ValueError(f"expected a number above 0 for max_time, got {self.max_time}")
        if not 0 <= self.valid <= 1:
            raise ValueError(f"expected a number in [0, 1] for valid, got {self.valid}")

    @property
    def column(self) -> int:
        return SIDES[self.side][0]

    @property
    def meaning(self) -> str:
        """How the meaning of successes is measured."""
        return self.encoder or usual_meaning()

    def recipe_for(self) -> Attack:
        """The recipe with what was chosen otherwise; whatever it needs and nobody has is told here."""
        recipe = find_recipe(self.recipe)
        named = {constraint.name: constraint for constraint in recipe.constraints}
        for constraint in map(parse_constraint, self.constraint):
            named[constraint.name] = constraint
        parts = tuple(map(Transform.parse, self.transform)) or recipe.transform
        transform = tuple(replace(part, perturbation=self._equipped(part.perturbation)) for part in parts)
        cheap_first = [self._filled(named[name]) for name in CONSTRAINTS if name in named and name not in self.without]
        chosen = replace(
            recipe,
            goal=parse_goal(self.goal) if self.goal else recipe.goal,
            search=parse_search(self.search) if self.search else recipe.search,
            transform=transform,
            constraints=tuple(cheap_first),
        )
        other = [
            part.spec
            for part in parts
            if chosen.goal.transforms and part.perturbation.name not in chosen.goal.transforms
        ]
        if other:
            only = " or ".join(chosen.goal.transforms)
            raise ValueError(
                f"expected the transformation {only} for the goal {chosen.goal.name}, got {', '.join(other)}"
            )
        _try(chosen)
        distance_in_meaning(self.meaning)(["one"], ["other"])  # by which successes are judged
        return replace(chosen, deviations=self._deviations(recipe, chosen, parts))

    def _deviations(self, recipe: Attack, chosen: Attack, parts: tuple[Transform, ...]) -> dict[str, str]:
        """Those of the recipe whose part is still as it was, and what was chosen otherwise. parts: without files filled in."""
        was, now = _specs(recipe), _specs(replace(chosen, transform=parts))
        if "word-vectors" in was and self.vectors:  # a file is no other choice
            now["word-vectors"] = was["word-vectors"] if "word-vectors" in now else ""
        other = [name for name in (was | now) if was.get(name, "") != now.get(name, "")]
        kept = {part: text for part, text in recipe.deviations.items() if part not in other}
        names = ", ".join(name if now.get(name) else f"no {name}" for name in other)
        return kept | ({"other": f"chosen otherwise: {names}"} if other else {}) | _short_lists(chosen)

    def _equipped(self, perturbation: Perturbation) -> Perturbation:
        """An attack with the files and models that the user gave."""
        if isinstance(perturbation, OneOf):
            return OneOf(tuple(map(self._equipped, perturbation.parts)), perturbation.per)
        if isinstance(perturbation, Embedding) and perturbation.file is None:
            if self.vectors is None:
                raise MissingResource(f"{'embedding' if self.transform else self.recipe} needs {VECTORS} {OTHERS}")
            return replace(perturbation, file=self.vectors)
        if isinstance(perturbation, Contextual):  # the spec says by which model
            return (
                replace(perturbation, mlm=self.mlm) if self.mlm and not perturbation.mlm else perturbation
            ).settled()
        return perturbation

    def _filled(self, constraint: Constraint) -> Constraint:
        if isinstance(constraint, WordVectors) and constraint.file is None:
            if self.vectors is None:
                raise MissingResource(f"word-vectors needs {VECTORS}; or leave the constraint out: --no-word-vectors")
            return replace(constraint, file=self.vectors)
        if isinstance(constraint, Meaning) and self.encoder and constraint.encoder == MINILM:
            return replace(constraint, encoder=self.encoder)
        return constraint


def _specs(recipe: Attack) -> dict[str, str]:
    """The spec of each part, by its name."""
    constraints = {constraint.name: constraint.spec for constraint in recipe.constraints}
    transform = ", ".join(part.spec for part in recipe.transform)
    return {"goal": recipe.goal.spec, "transform": transform, "search": recipe.search.spec, **constraints}


def _short_lists(recipe: Attack) -> dict[str, str]:
    """Whether a file has fewer neighbours of each word than were asked for."""
    for perturbation in (part.perturbation for part in recipe.transform):
        if isinstance(perturbation, Embedding) and perturbation.file:
            space = read_space(Path(perturbation.file), modified(Path(perturbation.file), FILE))
            most = (
                max(map(len, space.near.values()), default=0) if isinstance(space, Lists) else perturbation.neighbours
            )
            if most < perturbation.neighbours:
                return {
                    "neighbours": f"{perturbation.file} lists at most {most} neighbours of a word, not {perturbation.neighbours}"
                }
    return {}


def _try(recipe: Attack) -> None:
    """Use everything once on one text, so that a missing file or package is told before a model is opened."""
    one, text = Corpus.of(["the good film"]), Ragged.of(["great"])
    row, start, stop = (np.array([value]) for value in (0, 4, 8))
    edits = Edits(row, start, stop, text, start, stop)
    for part in recipe.transform:
        part.perturbation.proposals(one, 0.0, k=part.count)
    for constraint in recipe.constraints:
        try:
            constraint.sites(one, edits)
            constraint(one, one.apply(edits), edits)
        except (MissingResource, ValueError) as error:
            raise type(error)(f"{error}; or leave the constraint out: --no-{constraint.name}") from None
