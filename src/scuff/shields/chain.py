"""Several shields, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..text.corpus import Corpus
from .base import Repairs, Shield, mended


@dataclass(frozen=True)
class Chain(Shield):
    """One shield after the other: each sees the text as those before it left it."""

    parts: tuple[Shield, ...]

    name: ClassVar[str] = "chain"
    summary: ClassVar[str] = "several shields, one after the other"

    @property
    def spec(self) -> str:
        return "+".join(part.spec for part in self.parts)

    def leaves(self, text: str) -> bool:
        return not self.in_doubt([text])

    def in_doubt(self, texts: Sequence[str]) -> list[int]:
        left = list(range(len(texts)))
        for part in reversed(self.parts):  # the last ones seldom leave a text at a glance
            odd = set(part.in_doubt([texts[at] for at in left]))
            left = [at for place, at in enumerate(left) if place not in odd]
        clear = set(left)
        return [at for at in range(len(texts)) if at not in clear]

    def mend(self, corpus: Corpus) -> Repairs:
        done, now = Repairs.none(), corpus
        for part in self.parts:
            found = part.repairs(now)
            done = done.then(found, corpus)
            now = mended(now, found)
        return done
