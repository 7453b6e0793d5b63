"""Searches of many examples in lock step: what all want to try is one batch for the constraints and one for the victim."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text import Rng
from ..text.ragged import Floats, Mask
from ..victims.base import Outputs
from .constraints import Constraint
from .goals import Goal
from .pursuit import Pursuit
from .sample import CANNOT_GO_ON
from .search import Dice, Search
from .space import Space, State, Tried, View

NO_QUERY, NO_TIME = "no query was left", "no time was left"


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
    late: Callable[[], bool] = lambda: False

    def run(self, rows: Sequence[int], clean: Floats, importance: dict[int, Floats] | None = None) -> Iterator[Pursuit]:
        """Search for these examples, whose originals have these margins; each comes when it is done."""
        rng = Rng.of(self.space.column.corpus.keys, self.seed, "search", self.search.spec)
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
                    pursuit = Pursuit(view, self.search.walk(view, Dice(rng, row)))
                    goes_on = pursuit.begin()
                if goes_on:
                    part.append(pursuit)
                    size += len(pursuit.wish.states)
                else:
                    yield pursuit
            late = self.late()
            self._learn(part, late)
            for pursuit in part:
                if pursuit.failed or not pursuit.advance():
                    yield pursuit
                else:
                    active.append(pursuit)

    def _learn(self, part: Sequence[Pursuit], late: bool) -> None:
        """Find out what these want to know. Where something breaks, each for itself, so that one does not harm the others."""
        try:
            self._find_out(part, late)
        except CANNOT_GO_ON:
            raise
        except Exception as error:
            if len(part) == 1:
                part[0].failed = f"error: {type(error).__name__}: {error}".splitlines()[0][:300]
            else:
                for pursuit in part:
                    self._learn([pursuit], late)

    def _find_out(self, part: Sequence[Pursuit], late: bool) -> None:
        wanted = [(pursuit, state) for pursuit in part for state in pursuit.new()]
        if not wanted:
            return
        rows = np.array([pursuit.view.row for pursuit, _ in wanted])
        tried = self.space.tried(rows.tolist(), [state for _, state in wanted])
        free = np.array([pursuit.wish.free for pursuit, _ in wanted])
        allowed = self._allowed(tried, free)
        asked = self._affordable(wanted, allowed, late)
        for at in np.flatnonzero(~asked).tolist():
            wanted[at][0].known[wanted[at][1]] = (-np.inf, 0.0, None)
        rest = np.flatnonzero(asked)
        if not rest.size:
            return
        some = _part(tried, rest)
        outputs = self.ask(*self.space.texts(rows[rest], some), examples=rows[rest].tolist())
        changed = some.changed()
        margin = self.goal(outputs, self.targets[rows[rest]], changed)
        margin = np.where(np.isnan(margin), -np.inf, margin)
        likeness = self._likeness(some, np.flatnonzero((margin > 0) & ~free[rest]))
        for at, number in enumerate(rest.tolist()):
            pursuit, state = wanted[number]
            answer = None if free[number] or outputs.problem[at] else outputs.answers[at]
            pursuit.known[state] = (float(margin[at]), float(likeness[at]), answer)

    def _allowed(self, tried: Tried, free: Mask) -> Mask:
        """What all constraints let pass: each is asked only about what those before it did."""
        allowed = np.ones(len(free), np.bool_)
        left = np.flatnonzero(~free)
        part = _part(tried, left)
        for constraint in self.constraints:
            if not left.size:
                break
            fine = constraint(part.before.corpus, part.after, part.edits)
            allowed[left[~fine]] = False
            if not fine.all():
                kept = np.flatnonzero(fine)
                left, part = left[kept], _part(part, kept)
        return allowed

    def _affordable(self, wanted: list[tuple[Pursuit, State]], allowed: Mask, late: bool) -> Mask:
        """What may be asked, and counted: an example whose budget ends gets what is left of it."""
        asked = allowed.copy()
        for at in np.flatnonzero(allowed).tolist():
            pursuit = wanted[at][0]
            if late or (self.max_queries is not None and pursuit.queries >= self.max_queries):
                asked[at] = False
                pursuit.reason = NO_TIME if late else NO_QUERY
            else:
                pursuit.queries += 1
        return asked

    def _likeness(self, tried: Tried, rows: npt.NDArray[np.int64]) -> Floats:
        """How like the original the texts that reach the goal are, where a constraint measures it."""
        out = np.zeros(len(tried.before.corpus))
        measure = next((c for c in self.constraints if hasattr(c, "similarity")), None)
        if measure is not None and rows.size:
            part = _part(tried, rows)
            out[rows] = measure.similarity(part.before.corpus.strings(), part.after.strings())
        return out


def _part(tried: Tried, rows: npt.NDArray[np.int64]) -> Tried:
    if rows.size == len(tried.before.corpus):
        return tried
    number = np.full(len(tried.before.corpus), -1)
    number[rows] = np.arange(rows.size)
    mine = tried.edits.where(number[tried.edits.row] >= 0)
    edits = type(mine)(number[mine.row], mine.start, mine.stop, mine.text, mine.site, mine.cost)
    return Tried(tried.before.take(rows), edits)
