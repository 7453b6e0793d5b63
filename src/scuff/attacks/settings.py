"""The settings of an attack, and the attack that they make from a recipe."""

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
from ..runs.settings import DATA, MODEL, Settings, setting
from ..specs import known_name, remember
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ragged
from .attack import Attack, Proposals
from .constraints import CONSTRAINTS, parse_constraint
from .constraints.base import Constraint
from .constraints.meaning import Meaning
from .constraints.vectors import WordVectors
from .goals import parse_goal
from .outcomes import AWARE, UNAWARE
from .published import CONTEXT, as_published, but_for
from .recipes import find_recipe
from .search import parse_search, same_steps

# the recipe if the user names none: the second if the first would need a file that is not given
DEFAULT, TOXICTRAP, PLAIN = "default", "toxictrap", "deepwordbug"
VECTORS = "word vectors: --vectors FILE, such as counter-fitted-vectors.txt (github.com/nmrksic/counter-fitting)"
OTHERS = (
    "or lists of neighbours. Without: --recipe tt-pwws, tt-deepwordbug, pwws or deepwordbug, or other perturbations, as in "
    "--perturbations typo homoglyph synonym"
)


@dataclass(frozen=True)
class AttackSettings(Settings):
    """The settings of an attack beside model and data; `scuff attack --help` lists them."""

    recipe: str = setting(
        TOXICTRAP,
        f"default: {TOXICTRAP} if --vectors (or -p) is given, else {PLAIN}, which needs nothing",
        metavar="NAME",
        names_parts=True,
    )
    as_published: bool = setting(
        False, "the recipe as its paper has it, as far as that is possible; parts that are given stay as they are given"
    )
    goal: str | None = setting(
        None, 'e.g. untargeted, "targeted(label=\'ok\')", "toxictrap(threshold=0.7)"', metavar="SPEC", names_parts=True
    )
    perturbations: tuple[str, ...] = setting(
        (),
        "what proposes changes (`scuff list`), e.g. 'embedding(n=50)' synonym typo; 3*typo: three for each word",
        metavar="SPEC",
        names_parts=True,
        flags=("-p", "--perturbations", "--transform"),
        old_name="transform",
    )
    search: str | None = setting(
        None,
        "e.g. unk, delete, weighted-saliency, gradient, 'beam(width=4)', best-of",
        metavar="SPEC",
        names_parts=True,
    )
    constraint: tuple[str, ...] = setting(
        (), "added, or in place of the recipe's of that name: 'changed(share=0.2)'", metavar="SPEC", names_parts=True
    )
    without: tuple[str, ...] = setting((), "constraints of the recipe that are left out", group="", metavar="NAME")
    vectors: str | None = setting(
        None, "word vectors or lists of neighbours, for embedding and word-vectors", metavar="FILE"
    )
    attacker: str = setting(
        AWARE, "with --shield: aware of it (default: searches against the shielded model), or unaware (searches against the "
        "model alone; what it finds is tried on the shielded one)", group=MODEL, choices=(AWARE, UNAWARE),
    )  # fmt: skip
    max_time: float | None = setting(None, "for the run; what is not done then counts as failed", metavar="SECONDS")
    valid: float = setting(
        0.2, "successes that moved more in meaning are not valid; default 0.2", metavar="D", bounds=(0, 1)
    )
    max_queries: int | None = setting(None, "for each example", metavar="N", least=1)
    attacked: int | None = setting(
        None,
        "sample until there are N examples that the goal applies to; --examples is then the most that are looked at",
        group=DATA,
        metavar="N",
        least=1,
    )

    @classmethod
    def of(cls, **settings: Any) -> AttackSettings:
        """As for all settings. Also accepts `no-pos: true` in a file, like the flag, for `without: [pos]`, `default` as recipe,
        and in Python objects as recipe and parts.
        """
        flags = {f"no-{name}" for name in CONSTRAINTS if isinstance(settings.get(f"no-{name}"), bool)}
        without = [name for name in sorted(flags) if settings[name]]
        rest = {name: value for name, value in settings.items() if name not in flags}
        if without:
            given = rest.get("without") or []
            more = [given] if isinstance(given, str) else list(given)
            rest["without"] = [*more, *(name.removeprefix("no-") for name in without)]
        if rest.get("recipe") == DEFAULT:
            given = cls.renamed(rest)
            rest["recipe"] = TOXICTRAP if given.get("vectors") or given.get("perturbations") else PLAIN
        if isinstance(recipe := rest.get("recipe"), Attack):
            rest["recipe"] = remember(recipe, f"__main__:{recipe.name}")
        return super().of(**rest)

    def check(self) -> None:
        super().check()
        self.find_recipe()
        if self.goal:
            parse_goal(self.goal)
        if self.search:
            parse_search(self.search)
        for spec in self.perturbations:
            Proposals.parse(spec)
        for spec in self.constraint:
            parse_constraint(spec)
        for name in self.without:
            known_name(name, {**CONSTRAINTS, **dict.fromkeys(self._own_constraints())}, "a constraint")
        if self.side == "both":
            raise ValueError("expected first or second for side, got both: a search changes one text of a pair")
        if self.max_time is not None and not self.max_time > 0:
            raise ValueError(f"expected a number above 0 for max_time, got {self.max_time}")

    def _own_constraints(self) -> list[str]:
        """The names of constraints that do not ship with Scuff."""
        found = (*self.find_recipe().constraints, *map(parse_constraint, self.constraint))
        return list(dict.fromkeys(constraint.name for constraint in found if constraint.name not in CONSTRAINTS))

    def find_recipe(self) -> Attack:
        """The recipe that the settings name, as its paper has it if they say so. Raises ValueError if there is none."""
        recipe = find_recipe(self.recipe)
        return as_published(recipe, self.recipe) if self.as_published else recipe

    @property
    def column(self) -> int:
        return self.sides[0]

    @property
    def meaning(self) -> str:
        """How the meaning of successes is measured."""
        return self.encoder or usual_meaning()

    def make_attack(self) -> Attack:
        """The recipe with the parts that the settings replace, tried out on one text.

        Raises MissingResource if a file or a package is missing, ValueError if parts do not fit together.
        """
        recipe = self.find_recipe()
        named = {constraint.name: constraint for constraint in recipe.constraints}
        for constraint in map(parse_constraint, self.constraint):
            named[constraint.name] = constraint
        proposed = tuple(map(Proposals.parse, self.perturbations)) or recipe.perturbations
        cheap_first = [name for name in (*CONSTRAINTS, *self._own_constraints()) if name in named]
        chosen = replace(
            recipe,
            goal=parse_goal(self.goal) if self.goal else recipe.goal,
            search=parse_search(self.search) if self.search else recipe.search,
            perturbations=tuple(replace(part, perturbation=self._equipped(part.perturbation)) for part in proposed),
            constraints=tuple(self._filled(named[name]) for name in cheap_first if name not in self.without),
        )
        if chosen.search.slopes and self.perturbations:
            raise ValueError(
                f"expected no perturbations for the search {chosen.search.name}, got {', '.join(self.perturbations)}"
            )
        if not chosen.search.slopes and not proposed:
            raise ValueError(
                f"expected perturbations (-p) for the search {chosen.search.name} of {self.recipe}, got none"
            )
        fitting = chosen.goal.perturbations
        other = [part.spec for part in proposed if fitting and part.perturbation.name not in fitting]
        if other:
            only = " or ".join(fitting)
            raise ValueError(
                f"expected the perturbation {only} for the goal {chosen.goal.name}, got {', '.join(other)}"
            )
        _try(chosen)
        distance_in_meaning(self.meaning)(["one"], ["other"])  # judges successes; raises if its model is missing
        return self._told(recipe, chosen, proposed)

    def _told(self, recipe: Attack, chosen: Attack, proposed: tuple[Proposals, ...]) -> Attack:
        """The chosen attack with the deviations of the recipe's unchanged parts, and one that names the changed parts.

        proposed: the perturbations before files were filled in, since a file is no change. As published, that deviation also has
        what the paper has in their place, and the attack is headed as published but for these parts.
        """
        was, now = _specs(recipe), _specs(replace(chosen, perturbations=proposed))
        if "word-vectors" in was and self.vectors:  # a file is no change of the part
            now["word-vectors"] = was["word-vectors"] if "word-vectors" in now else ""
        other = [name for name in (was | now) if was.get(name, "") != now.get(name, "")]
        kept = {part: text for part, text in recipe.deviations.items() if part not in other}
        names = [name if now.get(name) else f"no {name}" for name in other]
        if self.as_published:
            if same_steps(
                recipe.search, chosen.search
            ):  # these deviations are about the steps, not about what ranks words
                kept = {part: text for part, text in recipe.deviations.items() if part in kept or part == "search"}
            if any(isinstance(part.perturbation, Contextual) for part in proposed):
                kept["proposals"] = CONTEXT
            limits = self._limits()
            names = [
                *(_beside_the_paper(name, was.get(name, ""), now.get(name, "")) for name in other),
                *limits.values(),
            ]
            if names:
                chosen = replace(chosen, paper=but_for(find_recipe(self.recipe), [*other, *limits]))
        more = {"other": f"chosen otherwise: {', '.join(names)}"} if names else {}
        return replace(chosen, deviations=kept | more | _short_lists(chosen))

    def _limits(self) -> dict[str, str]:
        """What holds a search back and is no part of an attack, by setting; no paper has it."""
        limits = {
            "max-queries": f"at most {self.max_queries} queries for each text" if self.max_queries else "",
            "max-time": f"at most {self.max_time:g} seconds" if self.max_time else "",
            "protect": f"{' and '.join(self.protect)} protected" if self.protect else "",
        }
        return {name: text for name, text in limits.items() if text}

    def _equipped(self, perturbation: Perturbation) -> Perturbation:
        """A perturbation with the files and models that the user gave. Raises MissingResource if one is needed and not given."""
        if isinstance(perturbation, OneOf):
            return OneOf(tuple(map(self._equipped, perturbation.parts)), perturbation.per)
        if isinstance(perturbation, Embedding) and perturbation.file is None:
            if self.vectors is None:
                raise MissingResource(f"{'embedding' if self.perturbations else self.recipe} needs {VECTORS} {OTHERS}")
            return replace(perturbation, file=self.vectors)
        if isinstance(perturbation, Contextual):  # its spec names the model
            return (
                replace(perturbation, mlm=self.mlm) if self.mlm and not perturbation.mlm else perturbation
            ).settled()
        return perturbation

    def _filled(self, constraint: Constraint) -> Constraint:
        """A constraint with the files and models that the user gave. Raises MissingResource if one is needed and not given."""
        if isinstance(constraint, WordVectors) and constraint.file is None:
            if self.vectors is None:
                raise MissingResource(f"word-vectors needs {VECTORS}; or leave the constraint out: --no-word-vectors")
            return replace(constraint, file=self.vectors)
        if isinstance(constraint, Meaning) and self.encoder and constraint.encoder == MINILM:
            return replace(constraint, encoder=self.encoder)
        return constraint


def _specs(attack: Attack) -> dict[str, str]:
    """The spec of each part, by the part's name in `deviations`."""
    constraints = {constraint.name: constraint.spec for constraint in attack.constraints}
    transform = ", ".join(part.spec for part in attack.perturbations)
    return {"goal": attack.goal.spec, "transform": transform, "search": attack.search.spec, **constraints}


def _beside_the_paper(name: str, was: str, now: str) -> str:
    """A part that is not the published one, and what the paper has in its place. was, now: specs; "" for none."""
    if not now:
        return f"no {name} (published: {was})"
    what = {"transform": f"changes {now}", "search": f"search {now}", "goal": f"goal {now}"}.get(name, now)
    return f"{what} (published: {was or f'no {name}'})"


def _short_lists(attack: Attack) -> dict[str, str]:
    """A deviation if a file of word vectors lists fewer neighbours of a word than the attack wants, else none."""
    for perturbation in (part.perturbation for part in attack.perturbations):
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


def _try(attack: Attack) -> None:
    """Uses every part once on one text, so that a missing file or package raises before a model is opened."""
    one, text = Corpus.of(["the good film"]), Ragged.of(["great"])
    row, start, stop = (np.array([value]) for value in (0, 4, 8))
    edits = Edits(row, start, stop, text, start, stop)
    for part in attack.perturbations:
        part.perturbation.proposals(one, 0.0, k=part.count)
    for constraint in attack.constraints:
        try:
            constraint.sites(one, edits)
            constraint(one, one.apply(edits), edits)
        except (MissingResource, ValueError) as error:
            raise type(error)(f"{error}; or leave the constraint out: --no-{constraint.name}") from None
