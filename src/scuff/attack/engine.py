"""Searches of many examples in lock step: what all want to try is one batch for the constraints and one for the victim."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..text import Rng
from ..text.dataset import Text
from ..text.ragged import Floats, Ints, Mask
from ..victims.base import Outputs
from .constraints import Constraint
from .goals import Goal
from .pursuit import Pursuit
from .sample import CANNOT_GO_ON
from .search import Dice, Search
from .space import Space, Tried, View

NO_QUERY, NO_TIME = "no query was left", "no time was left"
UNHEARD = (-np.inf, None)


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
        rest = np.flatnonzero(self._allowed(tried, free))
        some, free = _part(tried, rest), free[rest]
        pursuits = [wanted[at][0] for at in rest.tolist()]
        texts = self._hear(pursuits, rows[rest], some, late)
        found = [pursuit.heard.get(text, UNHEARD) for pursuit, text in zip(pursuits, texts, strict=True)]
        margin = np.array([margin for margin, _ in found], np.float64)
        likeness = self._likeness(some, np.flatnonzero((margin > 0) & ~free))
        for pursuit, state in wanted:
            pursuit.known[state] = (-np.inf, 0.0, None)
        for at, number in enumerate(rest.tolist()):
            pursuit, state = wanted[number]
            pursuit.known[state] = (found[at][0], float(likeness[at]), None if free[at] else found[at][1])

    def _hear(self, pursuits: Sequence[Pursuit], rows: Ints, tried: Tried, late: bool) -> list[Text]:
        """Ask about texts, of each example those that are new to it; gives all of them."""
        columns = self.space.texts(rows, tried)
        texts = columns[self.space.side]
        new = np.array(self._affordable(pursuits, texts, late), np.int64)
        if new.size:
            some = _part(tried, new)
            outputs = self.ask(*([column[at] for at in new.tolist()] for column in columns), examples=rows[new].tolist())
            margin = self.goal(outputs, self.targets[rows[new]], some.changed())
            for at, place in enumerate(new.tolist()):
                value = -np.inf if np.isnan(margin[at]) else float(margin[at])
                answer = None if outputs.problem[at] else outputs.answers[at]
                pursuits[place].heard[texts[place]] = value, answer
                pursuits[place].queries += 1
        return texts

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

    def _affordable(self, pursuits: Sequence[Pursuit], texts: Sequence[Text], late: bool) -> list[int]:
        """Which are to be asked: each text once for an example, and of one whose budget ends what is left of it."""
        chosen: dict[tuple[int, Text], int] = {}
        many: Counter[int] = Counter()
        for at, (pursuit, text) in enumerate(zip(pursuits, texts, strict=True)):
            row = pursuit.view.row
            if text in pursuit.heard or (row, text) in chosen:
                continue
            if late or (self.max_queries is not None and pursuit.spent + many[row] >= self.max_queries):
                pursuit.reason = NO_TIME if late else NO_QUERY
            else:
                chosen[row, text] = at
                many[row] += 1
        return list(chosen.values())

    def _likeness(self, tried: Tried, rows: Ints) -> Floats:
        """How like the original the texts that reach the goal are, where a constraint measures it."""
        out = np.zeros(len(tried.before.corpus))
        measure = next((c for c in self.constraints if hasattr(c, "similarity")), None)
        if measure is not None and rows.size:
            part = _part(tried, rows)
            out[rows] = measure.similarity(part.before.corpus.strings(), part.after.strings())
        return out


def _part(tried: Tried, rows: Ints) -> Tried:
    if rows.size == len(tried.before.corpus):
        return tried
    number = np.full(len(tried.before.corpus), -1)
    number[rows] = np.arange(rows.size)
    mine = tried.edits.where(number[tried.edits.row] >= 0)
    edits = type(mine)(number[mine.row], mine.start, mine.stop, mine.text, mine.site, mine.cost)
    return Tried(tried.before.take(rows), edits)
