"""What a search may do to a word: a perturbation and how many of its proposals."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..perturb import Perturbation, Then, parse
from ..text.calls import spec_of

ALL, SOME = 1000, 20  # more than any word has; of what is drawn for a whole text
COUNTED = re.compile(r"\s*(\d+)\s*\*(.+)", re.DOTALL)


@dataclass(frozen=True)
class Transform:
    """`SPEC`, or `K*SPEC` for K proposals at every site: by default one where letters are drawn, all
    where a word has a list, some where whole sentences change."""

    attack: Perturbation
    count: int

    @classmethod
    def parse(cls, spec: str) -> Transform:
        counted = COUNTED.fullmatch(spec)
        attack = parse(counted[2] if counted else spec)
        if isinstance(attack, Then):
            raise ValueError(f"expected attacks that a search can choose from word by word, got the sequence {spec!r}")
        count = int(counted[1]) if counted else _usual(attack)
        if count < 1:
            raise ValueError(f"expected 1 or more proposals, got {spec!r}")
        return cls(attack, count)

    @property
    def spec(self) -> str:
        return self._counted(self.attack.spec)

    @property
    def in_full(self) -> str:
        """With all options, but of what is put together."""
        alone = self.attack.spec == spec_of(self.attack)
        return self._counted(spec_of(self.attack, full=True) if alone else self.attack.spec)

    def _counted(self, spec: str) -> str:
        return spec if self.count == _usual(self.attack) else f"{self.count}*{spec}"


def _usual(attack: Perturbation) -> int:
    return {"char": 1, "word": ALL}.get(attack.facts.level, SOME)
