"""The base class of constraints, which say whether changed texts are still close enough to the original.

A constraint overrides one or both of two methods. `sites` is asked once, before the search: which of the proposed edits may be
used at all. It suits rules about single words, such as "leave stop words alone": a search never sees what `sites` forbids.
`__call__` is asked for every batch of candidate texts during the search: which of them are allowed. A batch has candidates of
many examples, so nothing may depend on what else is in it. Both compare with the original text, never with the step before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...specs import Part
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Mask

if TYPE_CHECKING:
    from ..candidates import Candidates


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

    def allows(self, candidates: Candidates) -> Mask:
        """Returns what `__call__` returns for candidates whose texts are not written yet. Overridden where their edits tell as
        much as the texts.
        """
        if type(self).__call__ is Constraint.__call__:
            return np.ones(len(candidates), np.bool_)
        tried = candidates.tried
        return self(tried.before.corpus, candidates.after, tried.edits)


def allowed_by(constraint: Constraint, candidates: Candidates) -> Mask:
    """Which candidates a constraint allows. A class that overrides `__call__` alone is asked by it, whatever it inherits."""
    kinds = type(constraint).__mro__
    allows, call = (next(at for at, kind in enumerate(kinds) if name in vars(kind)) for name in ("allows", "__call__"))
    return constraint.allows(candidates) if allows <= call else Constraint.allows(constraint, candidates)
