"""The base class of constraints, which say whether changed texts are still close enough to the original.

A constraint overrides one or both of two methods. `sites` is asked once, before the search: which of the proposed edits may be
used at all. It suits rules about single words, such as "leave stop words alone": a search never sees what `sites` forbids.
`__call__` is asked for every batch of candidate texts during the search: which of them are allowed. A batch has candidates of
many examples, so nothing may depend on what else is in it. Both compare with the original text, never with the step before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...specs import Part
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Mask


@dataclass(frozen=True)
class Constraint(Part):
    """A limit on changed texts. Its fields are its options; `name(option=value)` is its spec.

    If it also has `similarity(before, after) -> float[n]`, for lists of strings, searches prefer the most similar of several
    successes.
    """

    def sites(self, corpus: Corpus, edits: Edits) -> Mask:
        """Returns which proposed edits of the original texts may be used: bool[len(edits)]. Called once, before a search."""
        return np.ones(len(edits), np.bool_)

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        """Returns which changed texts are allowed: bool[len(before)]. Called for every batch of candidates.

        Rows are aligned: after[i] is before[i] with the edits whose `row` is i. Edits are in order of row and place. The same
        original may be in `before` several times.
        """
        return np.ones(len(before), np.bool_)
