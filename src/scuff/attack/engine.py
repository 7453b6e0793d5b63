"""Searches of many examples in lock step: what all want to try is one batch for the constraints and one for the victim."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text import Rng
from ..text.dataset import Text
from ..text.ragged import Floats, Ints, Mask
from ..victims.base import Outputs, reason_of
from .constraints import Constraint
from .goals import Goal
from .pursuit import Heard, Known, Pursuit
from .sample import CANNOT_GO_ON
from .search import Dice, Search
from .space import Space, State, Tried, View

NO_QUERY, NO_TIME = "no query was left", "no time was left"
UNHEARD: Heard = (-np.inf, None)
NEVER: Known = (-np.inf, 0.0, None)
CHARACTERS = 1 << 21  # of texts that are made at once, so that memory holds them
HURRIED = CHARACTERS // 64  # as which each text counts where time is short, so that the clock is looked at often


@dataclass(eq=False)
class Engine:
    """ask: the door to the victim. targets: of the examples of the space. at_once: texts of a batch, about; examples that
    finish make room for others. late: whether time is up.
    """

    space: Space
    goal: Goal
    search: Search
    constraints: Sequence[Constraint]
    ask: Callable[..., Outputs]
    targets: npt.NDArray[Any]
    seed: int = 0
    max_queries: int | None = None
    at_once: int = 2048
    late: Callable[[], bool] | None = None

    def run(self, rows: Sequence[int], clean: Floats, importance: dict[int, Floats] | None = None) -> Iterator[Pursuit]:
        """Search for these examples, whose originals have these margins; each comes when it is done."""
        rng = Rng.of(self.space.column.corpus.keys, self.seed, "search", self.search.spec)
        originals = self.space.column.texts()
        waiting = deque(zip(rows, clean.tolist(), strict=True))
        active: deque[Pursuit] = deque()
        while waiting or active:
            part, size = [], 0
            while size < self.at_once and (active or waiting):
                if active:
                    pursuit, goes_on = active.popleft(), True
                else:
                    row, margin = waiting.popleft()
                    view = View(self.space, row, margin, self.goal.open_ended, (importance or {}).get(row))
                    pursuit = Pursuit.of(view, self.search.walk(view, Dice(rng, row)), originals[row])
                    goes_on = pursuit.begin()
                if goes_on:
                    part.append(pursuit)
                    size += len(pursuit.wish.states)
                else:
                    yield pursuit
            self._learn(part)
            for pursuit in part:
                if pursuit.failed or not pursuit.advance():
                    yield pursuit
                else:
                    active.append(pursuit)

    def _learn(self, part: Sequence[Pursuit]) -> None:
        """Find out what these want to know. Where something breaks, each for itself, so that one does not harm the others."""
        try:
            self._find_out(part)
        except CANNOT_GO_ON:
            raise
        except Exception as error:
            if len(part) == 1:
                part[0].failed = reason_of(error)
            else:
                for pursuit in part:
                    self._learn([pursuit])

    def _find_out(self, part: Sequence[Pursuit]) -> None:
        wanted = [(pursuit, state) for pursuit in part for state in pursuit.new()]
        rows = np.array([pursuit.view.row for pursuit, _ in wanted], np.int64)
        size = self.space.column.corpus.lengths[rows]
        size = np.maximum(size, HURRIED) if self.late else size
        load = np.cumsum(size) // CHARACTERS
        for places in np.split(np.arange(rows.size), np.flatnonzero(np.diff(load)) + 1):
            some = [wanted[at] for at in places.tolist()]
            if self.late and self.late():
                for pursuit, _ in some:
                    pursuit.reason = pursuit.reason or NO_TIME
            self._try([(pursuit, state) for pursuit, state in some if not pursuit.reason])
            for pursuit, state in some:
                pursuit.known.setdefault(state, NEVER)  # its search is over

    def _try(self, wanted: Sequence[tuple[Pursuit, State]]) -> None:
        if not wanted:
            return
        rows = np.array([pursuit.view.row for pursuit, _ in wanted])
        tried = self.space.tried(rows.tolist(), [state for _, state in wanted])
        free = np.array([pursuit.wish.free for pursuit, _ in wanted])
        rest = np.flatnonzero(self._allowed(tried, free))
        some, free, pursuits = tried.take(rest), free[rest], [wanted[at][0] for at in rest.tolist()]
        texts = self.space.texts(rows[rest], some)
        mine = texts[self.space.side]
        begins = np.flatnonzero(np.diff(rows[rest], prepend=-1))  # of each example
        new, told = self._affordable(pursuits, begins, mine)
        self._ask(pursuits, rows[rest], some, texts, new)
        found = [p.heard[text] if ok else UNHEARD for p, text, ok in zip(pursuits, mine, told.tolist(), strict=True)]
        reached = np.array([margin > 0 for margin, _ in found], np.bool_)
        likeness = self._likeness(some, np.flatnonzero(reached & ~free))
        values: list[Known] = [NEVER] * len(wanted)
        for place, (margin, answer), like, apart in zip(
            rest.tolist(), found, likeness.tolist(), free.tolist(), strict=True
        ):
            values[place] = margin, like, None if apart else answer
        for at in np.flatnonzero(reached & ~free).tolist():
            begin = int(begins[np.searchsorted(begins, at, "right") - 1])
            pursuits[at].reach(mine[begin : at + 1])
        for at in begins.tolist():
            pursuits[at].told(bool(told[at] and not free[at]))
        for (pursuit, state), value in zip(wanted, values, strict=True):  # not before, since what broke is tried again
            pursuit.known[state] = value
        for at in np.flatnonzero(~told).tolist():
            pursuits[at].reason = NO_QUERY

    def _ask(
        self, pursuits: Sequence[Pursuit], rows: Ints, tried: Tried, texts: Sequence[Sequence[Text]], new: Ints
    ) -> None:
        """Ask about the new ones of some texts."""
        if not new.size:
            return
        columns = [[column[at] for at in new.tolist()] for column in texts]
        outputs = self.ask(*columns, examples=rows[new].tolist())
        margin = self.goal(outputs, self.targets[rows[new]], tried.take(new).changed())
        margins = np.where(np.isnan(margin), -np.inf, margin).tolist()
        heard = zip(
            new.tolist(), columns[self.space.side], margins, outputs.problem.tolist(), outputs.answers, strict=True
        )
        for place, text, value, problem, answer in heard:
            pursuits[place].heard[text] = value, None if problem else answer
            pursuits[place].queries += 1

    def _allowed(self, tried: Tried, free: Mask) -> Mask:
        """What all constraints let pass: each is asked only about what those before it did."""
        allowed = np.ones(len(free), np.bool_)
        left = np.flatnonzero(~free)
        part = tried.take(left)
        for constraint in self.constraints:
            if not left.size:
                break
            fine = constraint(part.before.corpus, part.after, part.edits)
            allowed[left[~fine]] = False
            if not fine.all():
                kept = np.flatnonzero(fine)
                left, part = left[kept], part.take(kept)
        return allowed

    def _affordable(self, pursuits: Sequence[Pursuit], begins: Ints, texts: Sequence[Text]) -> tuple[Ints, Mask]:
        """What is to be asked, and of what there is an answer then: an example whose budget ends gets what is left of it."""
        new, told = [], np.zeros(len(texts), np.bool_)
        for first, last in pairwise([*begins.tolist(), len(texts)]):
            pursuit = pursuits[first]
            room = np.inf if self.max_queries is None else self.max_queries - pursuit.spent
            places, known = pursuit.fresh(texts[first:last], room)
            new += [first + at for at in places]
            told[first : first + known] = True
        return np.array(new, np.int64), told

    def _likeness(self, tried: Tried, rows: Ints) -> Floats:
        """How like the original the texts that reach the goal are, where a constraint measures it."""
        out = np.zeros(len(tried.before.corpus))
        measure = next((c for c in self.constraints if hasattr(c, "similarity")), None)
        if measure is not None and rows.size:
            part = tried.take(rows)
            out[rows] = measure.similarity(part.before.corpus.strings(), part.after.strings())
        return out
