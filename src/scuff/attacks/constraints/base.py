"""What every constraint shares: it says of changed texts whether they are still close enough to the original."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...specs import Part
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Mask


@dataclass(frozen=True)
class Constraint(Part):
    """Its fields are its options; `name(option=value)` is its spec. Always against the original text, never the step before."""

    def sites(self, corpus: Corpus, edits: Edits) -> Mask:
        """Which proposed edits of the original texts may be used at all: asked once, before a search begins."""
        return np.ones(len(edits), np.bool_)

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        """Which of some changed texts are allowed: after[i] is before[i] with the edits whose row is i, which are in order."""
        return np.ones(len(before), np.bool_)
