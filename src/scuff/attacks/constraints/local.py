"""Constraints that look at each edited word and at what stands around it, never at the whole text.

Their verdict on a text is that on its edits, taken together where they are near each other. A search tries the same edits again
and again, each time with one more; only what is new has to be judged.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...text.ragged import Ints, Mask
from .base import Constraint

if TYPE_CHECKING:
    from ..candidates import Candidates
    from ..space import Space, State

OPEN = -1  # in place of a verdict


@dataclass(eq=False)
class Verdicts:
    """What a constraint has said about the edits of a space: about each by itself, and about some that are near each other.

    first, last: which words or tokens each edit is about, as `Local.extent` says.
    """

    first: Ints
    last: Ints
    alone: npt.NDArray[np.int8]
    together: dict[State, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Local(Constraint):
    """A constraint whose `__call__` judges every edited word by itself, with what stands around it in the original and after the
    edits there. Subclasses say `allows = Local.allows`: one that inherits it is asked by its `__call__` (see `allowed_by`).
    """

    reach = 0  # from the end of an edit: how many words or tokens of `extent` further another edit begins that changes nothing

    @abstractmethod
    def extent(self, space: Space) -> tuple[Ints, Ints]:
        """Returns which words or tokens each of `space.all_edits` is about: the first one, and the one behind the last."""

    def allows(self, candidates: Candidates) -> Mask:
        if not candidates.simple or not len(candidates):
            return super().allows(candidates)
        found = self._verdicts(candidates.space)
        number, edges = candidates.number, candidates.edges
        begins = np.ones(number.size, np.bool_)  # a group of edits that are near each other
        begins[1:] = found.first[number[1:]] - found.last[number[:-1]] >= self.reach
        begins[edges[:-1]] = True
        at = np.flatnonzero(begins)
        single = np.diff(at, append=number.size) == 1
        fine = found.alone[number[at]]
        numbers, ends = number.tolist(), np.append(at[1:], number.size).tolist()
        groups = {place: tuple(numbers[at[place] : ends[place]]) for place in np.flatnonzero(~single).tolist()}
        new = dict.fromkeys((one,) for one in number[at[single & (fine == OPEN)]].tolist())
        new |= dict.fromkeys(group for group in groups.values() if group not in found.together)
        if new:
            self._judge(candidates, list(new), found)
            fine = found.alone[number[at]]
        fine[list(groups)] = [found.together[group] for group in groups.values()]
        return np.logical_and.reduceat(fine == 1, np.searchsorted(at, edges[:-1]))

    def _verdicts(self, space: Space) -> Verdicts:
        """What is known of the edits of a space."""
        known = space.remembered.get(self.spec)
        if not isinstance(known, Verdicts):
            known = Verdicts(*self.extent(space), np.full(len(space.all_edits), OPEN, np.int8))
            space.remembered[self.spec] = known
        return known

    def _judge(self, candidates: Candidates, groups: list[State], found: Verdicts) -> None:
        """Judges groups of edits as if each were all of a text's."""
        space = candidates.space
        rows = space.all_edits.row[[group[0] for group in groups]]
        fine = super().allows(type(candidates)(space, rows, groups))
        for group, verdict in zip(groups, fine.tolist(), strict=True):
            if len(group) == 1:
                found.alone[group[0]] = verdict
            else:
                found.together[group] = verdict
