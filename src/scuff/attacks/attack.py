"""An attack: a goal, what may be changed, a search and constraints. Recipes return one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..perturbations.base import Perturbation
from ..perturbations.combine import Then
from ..perturbations.names import parse
from ..specs import spec_of
from .constraints import parse_constraint
from .constraints.base import Constraint
from .goals import Goal, parse_goal
from .search import parse_search
from .search.base import Search

ALL, SOME = 1000, 20  # more than any word has; of what is drawn for a whole text

COUNTED = re.compile(r"\s*(\d+)\s*\*(.+)", re.DOTALL)


@dataclass(frozen=True)
class Transform:
    """`SPEC`, or `K*SPEC` for K proposals at every site: by default one where letters are drawn, all
    where a word has a list, some where whole sentences change."""

    perturbation: Perturbation
    count: int

    @classmethod
    def parse(cls, spec: str) -> Transform:
        counted = COUNTED.fullmatch(spec)
        perturbation = parse(counted[2] if counted else spec)
        if isinstance(perturbation, Then):
            raise ValueError(f"expected attacks that a search can choose from word by word, got the sequence {spec!r}")
        count = int(counted[1]) if counted else _usual(perturbation)
        if count < 1:
            raise ValueError(f"expected 1 or more proposals, got {spec!r}")
        return cls(perturbation, count)

    @property
    def spec(self) -> str:
        return self._counted(self.perturbation.spec)

    @property
    def in_full(self) -> str:
        """With all options, but of what is put together."""
        alone = self.perturbation.spec == spec_of(self.perturbation)
        return self._counted(spec_of(self.perturbation, full=True) if alone else self.perturbation.spec)

    def _counted(self, spec: str) -> str:
        return spec if self.count == _usual(self.perturbation) else f"{self.count}*{spec}"


def _usual(perturbation: Perturbation) -> int:
    return {"char": 1, "word": ALL}.get(perturbation.facts.level, SOME)


@dataclass(frozen=True)
class Attack:
    name: str
    paper: str
    goal: Goal
    transform: tuple[Transform, ...]
    search: Search
    constraints: tuple[Constraint, ...] = ()
    deviations: dict[str, str] = field(
        default_factory=dict
    )  # by the part that they are about: goal, search, a constraint, ...

    @classmethod
    def of(
        cls, name: str, paper: str, goal: str, transform: tuple[str, ...], search: str, constraints: tuple[str, ...],
        deviations: dict[str, str] | None = None,
    ) -> Attack:  # fmt: skip
        parts = tuple(map(Transform.parse, transform)), parse_search(search), tuple(map(parse_constraint, constraints))
        return cls(name, paper, parse_goal(goal), *parts, deviations or {})

    @property
    def specs(self) -> dict[str, str | list[str]]:
        """Its parts by name: what decides a run."""
        return self._told(full=False)

    @property
    def in_full(self) -> dict[str, str | list[str]]:
        """The same with every option, for people."""
        return self._told(full=True)

    def _told(self, full: bool) -> dict[str, str | list[str]]:
        return {
            "goal": spec_of(self.goal, full), "transform": [part.in_full if full else part.spec for part in self.transform],
            "search": spec_of(self.search, full), "constraints": [spec_of(part, full) for part in self.constraints],
        }  # fmt: skip
