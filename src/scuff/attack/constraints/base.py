"""What every constraint shares: it says of changed texts whether they are still close enough to the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...text import Corpus, Edits
from ...text.calls import spec_of
from ...text.ragged import Mask


@dataclass(frozen=True)
class Constraint:
    """Its fields are its options; `name(option=value)` is its spec. Always against the original text, never the step before."""

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""

    def sites(self, corpus: Corpus, edits: Edits) -> Mask:
        """Which proposed edits of the original texts may be used at all: asked once, before a search begins."""
        return np.ones(len(edits), np.bool_)

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        """Which of some changed texts are allowed: after[i] is before[i] with the edits whose row is i, which are in order."""
        return np.ones(len(before), np.bool_)

    @property
    def spec(self) -> str:
        return spec_of(self)


def check_count(value: Any, least: int, what: str) -> None:
    if type(value) is not int or value < least:
        raise ValueError(f"expected a whole number from {least} for {what}, got {value!r}")
