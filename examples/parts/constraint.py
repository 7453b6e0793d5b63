"""A constraint: which of the changed texts a search may try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from scuff.attacks.constraints import Constraint
from scuff.text import Corpus, Edits
from scuff.text.ragged import Mask


@dataclass(frozen=True)
class SameLength(Constraint):
    """The text becomes at most `most` characters longer or shorter."""

    most: int = 0

    name: ClassVar[str] = "same-length"
    summary: ClassVar[str] = "the length of the text hardly changes"

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        near: Mask = np.abs(after.lengths - before.lengths) <= self.most
        return near
