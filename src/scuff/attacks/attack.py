"""`Attack`: a goal, perturbations, a search and constraints. A recipe is a function that returns a named one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..perturbations.base import Perturbation
from ..perturbations.combine import Then
from ..perturbations.names import parse
from ..perturbations.synonym import Synonym
from ..specs import spec_of
from .constraints import parse_constraint
from .constraints.base import Constraint
from .goals import Goal, parse_goal
from .search import parse_search
from .search.base import Search

ALL = 1000  # proposals, more than any word has
SOME = 20  # proposals of perturbations that change whole sentences
COUNTED = re.compile(r"\s*(\d+)\s*\*(.+)", re.DOTALL)  # K*SPEC


@dataclass(frozen=True)
class Proposals:
    """A perturbation, and how many of its proposals a search may try at every site. Spec: `SPEC`, or `K*SPEC` for K proposals.

    By default one if the perturbation changes random letters, all if it has a list of substitutes for each word, some if it
    changes whole sentences.
    """

    perturbation: Perturbation
    count: int

    @classmethod
    def parse(cls, spec: str | Perturbation | Proposals) -> Proposals:
        """The proposals that a spec or a perturbation stands for. Raises ValueError if a search cannot choose among them."""
        if isinstance(spec, Proposals):
            return spec
        counted = COUNTED.fullmatch(spec) if isinstance(spec, str) else None
        text = counted[2] if counted else spec
        perturbation = parse(text) if isinstance(text, str) else text
        if isinstance(perturbation, Then):
            raise ValueError(
                f"expected perturbations that a search can choose from word by word, got the sequence {spec!r}"
            )
        count = int(counted[1]) if counted else _usual(perturbation)
        if count < 1:
            raise ValueError(f"expected 1 or more proposals, got {spec!r}")
        return cls(perturbation, count)

    @property
    def parts(self) -> tuple[Perturbation]:
        """The perturbation, for `specs.as_spec`."""
        return (self.perturbation,)

    @property
    def spec(self) -> str:
        """The spec, with the options that are not at their default, and the count if it is not the usual one."""
        return self._counted(self.perturbation.spec)

    @property
    def in_full(self) -> str:
        """The spec with all options; for combined perturbations, only those that are not at their default."""
        part = self.perturbation.settled() if isinstance(self.perturbation, Synonym) else self.perturbation
        alone = part.spec == spec_of(part)
        return self._counted(spec_of(part, full=True) if alone else part.spec)

    def _counted(self, spec: str) -> str:
        return spec if self.count == _usual(self.perturbation) else f"{self.count}*{spec}"


def _usual(perturbation: Perturbation) -> int:
    """How many proposals a search may try by default."""
    return {"char": 1, "word": ALL}.get(perturbation.facts.level, SOME)


@dataclass(frozen=True)
class Attack:
    """A search among the edits that perturbations propose, for texts that reach a goal within constraints.

    deviations: where it differs from its paper, by part: "goal", "transform" (the perturbations), "search", or the name of a
    constraint.
    """

    name: str
    paper: str
    goal: Goal
    perturbations: tuple[Proposals, ...]
    search: Search
    constraints: tuple[Constraint, ...] = ()
    deviations: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        paper: str,
        goal: str | Goal,
        perturbations: Iterable[str | Perturbation | Proposals],
        search: str | Search,
        constraints: Iterable[str | Constraint] = (),
        deviations: dict[str, str] | None = None,
    ) -> Attack:
        """An attack from parts that are given as specs or as objects. Raises ValueError for a wrong spec."""
        return cls(
            name, paper, parse_goal(goal), tuple(map(Proposals.parse, perturbations)), parse_search(search),
            tuple(map(parse_constraint, constraints)), deviations or {},
        )  # fmt: skip

    @property
    def specs(self) -> dict[str, str | list[str]]:
        """The specs of its parts, which are part of a run's identity. The perturbations are under "transform" in files."""
        return self._specs(full=False)

    @property
    def in_full(self) -> dict[str, str | list[str]]:
        """The same with every option, for display."""
        return self._specs(full=True)

    def _specs(self, full: bool) -> dict[str, str | list[str]]:
        proposals = [part.in_full if full else part.spec for part in self.perturbations]
        return {
            "goal": spec_of(self.goal, full), "transform": proposals, "search": spec_of(self.search, full),
            "constraints": [spec_of(part, full) for part in self.constraints],
        }  # fmt: skip
