"""Runs the searches of many examples in lock step: one batch for the constraints and one for the victim per step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.dataset import Text
from ..isolation import isolated
from ..text.ragged import Floats, Ints, Mask
from ..text.random import Rng
from ..victims.base import Outputs
from .constraints.base import Constraint
from .goals import Goal
from .search.base import Dice, Search, Told, Try, Walk
from .space import Space, State, Tried, View

Heard = tuple[float, Any]  # margin and answer, none if there is none

Known = tuple[float, float, Any]  # margin, likeness, answer; no answer of what cannot be the result


@dataclass(eq=False)
class Pursuit:
    """The search of one example: what it wants to know, what it has learnt, where it ended."""

    view: View
    walk: Walk
    heard: dict[Text, Heard]  # every text that was asked, in that order: two states may write the same
    known: dict[State, Known]  # every state that it wanted to try
    wish: Try = field(default_factory=lambda: Try(()))
    queries: int = 1  # the original was asked, too
    needed: int = 1  # queries before what it wants to know now
    asked: bool = False  # whether about a text that could be the result
    reached: int = 0  # queries that the first one took that reaches the goal; 0: none did
    state: State = ()
    reason: str = ""  # why it ended before the search did
    failed: str = ""  # what broke it

    @classmethod
    def of(cls, view: View, walk: Walk, original: Text) -> Pursuit:
        return cls(view, walk, {original: (view.clean, None)}, {(): (view.clean, 0.0, None)})

    def begin(self) -> bool:
        """Whether it wants to try anything."""
        try:
            self.wish = next(self.walk)
        except StopIteration as end:
            return self._settle(end.value)
        return True

    def advance(self) -> bool:
        """Tell the search what it wanted to know; whether it wants more."""
        told = [self.known[state] for state in self.wish.states]
        margin, likeness = np.array([t[0] for t in told], np.float64), np.array([t[1] for t in told], np.float64)
        if self.reason:
            return self._settle(self._best())
        try:
            self.wish = self.walk.send(Told(margin, likeness))
        except StopIteration as end:
            return self._settle(end.value)
        return True

    def _settle(self, state: State) -> bool:
        """End there; where the search went on past a text that reaches the goal and lost it, at that."""
        self.state = self._best() if self.reached and self.known[state][0] <= 0 else state
        return False

    def _best(self) -> State:
        """The first of the best that were answered; the original if none is better."""
        seen = [(known[0], -at, state) for at, (state, known) in enumerate(self.known.items()) if known[2] is not None]
        top = max(seen, default=(-np.inf, 0, ()))
        return top[2] if top[0] > self.view.clean else ()

    @property
    def margin(self) -> float:
        return self.known[self.state][0]

    @property
    def answer(self) -> Any:
        return self.known[self.state][2]

    @property
    def spent(self) -> int:
        """Queries so far; a pass for gradients is one, which was made beforehand."""
        return self.queries + (self.view.importance is not None)

    @property
    def answered(self) -> bool:
        """Whether it knows the answer to a text that could be the result."""
        return any(answer is not None for _, _, answer in self.known.values())

    def reach(self, texts: Sequence[Text]) -> None:
        """The last of these texts, told in this order, reaches the goal. With as many queries as that took and no more, a search
        would have come to it, too.
        """
        if not self.reached:
            number = {text: at for at, text in enumerate(self.heard, 1 + self.spent - self.queries)}
            self.reached = max(self.needed, *(number[text] for text in texts))

    def told(self, counts: bool) -> None:
        """All that it wanted to know is told; whether some of it could be the result."""
        self.asked |= counts
        self.needed = self.spent

    def new(self) -> list[State]:
        """What it wants to try and does not know yet, each once."""
        return [state for state in dict.fromkeys(self.wish.states) if state not in self.known]

    def fresh(self, texts: Sequence[Text], room: float) -> tuple[list[int], int]:
        """Which of these texts are to be asked, each once, no more than there is room for; how many can be told then."""
        found: dict[Text, int] = {}
        for at, text in enumerate(texts):
            if text not in self.heard and text not in found:
                if len(found) >= room:
                    return list(found.values()), at
                found[text] = at
        return list(found.values()), len(texts)


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
        """Answer what these searches want to know; a search on which something raises ends with the reason."""

        def failed(pursuit: Pursuit, reason: str) -> None:
            pursuit.failed = reason

        isolated(part, self._find_out, failed)

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
