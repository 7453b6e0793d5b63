"""Runs the searches of many examples in lock step, and enforces the query budget of each example.

`search/base.py` explains what a search yields and what it is sent. In each step the engine collects what all running searches
want to try, makes the texts, drops those that a constraint forbids, asks the victim about the rest in one batch, and sends every
search its results.

Budgets: `max_queries` of an attack is a limit per example, and is enforced here, in `Engine._affordable`. (The run-wide limit of
an evaluation is in `victims/query.py`.) The original text is an example's first query, and a backward pass for gradients is
another; a text counts once for an example, however often its search tries it. When the budget or the time is spent, the search
ends with the best text so far.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.dataset import Text
from ..isolation import Blameless, isolated, reason_of
from ..metrics.chrf import chrf_likeness
from ..text.ragged import Floats, Ints, Mask
from ..text.random import Rng
from ..victims.base import Outputs
from .constraints.base import Constraint
from .goals import Goal
from .search.base import Dice, Offer, Request, Search, Slope, Told, Try, Walk
from .space import Space, State, Tried, View
from .substitutes import Climb, Substitutes

Answered = tuple[float, Any]  # margin, answer; None where the victim gave no answer
UNASKED: Answered = (-np.inf, None)

Result = tuple[float, float, Any]  # margin, likeness, answer; None for a state that cannot be the outcome of the search
NO_RESULT: Result = (-np.inf, 0.0, None)

# reasons why a search ended early
NO_QUERY, NO_CHANGE, NO_TIME = "no query was left", "no query was left to try a change", "no time was left"

CHARACTERS = 1 << 21  # texts with so many characters together are made at once; more might not fit into memory
LEAST_TIMED = CHARACTERS // 64  # as which a text counts, at least, if time is limited: so the clock is read often


MOST_IDLE = 10_000  # requests in a row without a new state: a search that never ends costs no query that could stop it


@dataclass(eq=False)
class Pursuit:
    """The search of one example while it runs: its latest request, everything it has found out, and how it ended."""

    view: View
    walk: Walk
    answers: dict[Text, Answered]  # by text, in the order of the queries: different states may write the same text
    results: dict[State, Result]  # of every state that the search has tried
    request: Request = field(default_factory=lambda: Try(()))  # what the search yielded last
    offers: dict[Climb, Offer] = field(default_factory=dict)  # of every Slope
    queries: int = 1  # without gradients; the original text is the first
    passes: int = 0  # backward passes that the search asked for
    needed: int = 1  # queries spent, with gradients, before the current request
    asked: bool = False  # whether the victim was asked about a text that could be the outcome
    reached: int = 0  # the query budget that the first success needed; 0: no success yet
    state: State = ()  # the outcome
    reason: str = ""  # why the engine ended it early: NO_QUERY, NO_TIME
    failed: str = ""  # the error that ended it
    short: bool = False  # whether an offer was left out for want of queries
    idle: int = 0  # requests in a row that had nothing new
    unjudged: int = 0  # answers that the goal gave no number for: they do not fool the victim, but prove nothing either

    @classmethod
    def of(cls, view: View, walk: Walk, original: Text) -> Pursuit:
        return cls(view, walk, {original: (view.clean, None)}, {(): (view.clean, 0.0, None)})

    def begin(self) -> bool:
        """Starts the search. Returns False if it ends without trying anything."""
        return self._go_on(lambda: next(self.walk))

    def advance(self) -> bool:
        """Sends the search the results of its request, or ends it if there is a `reason`. Returns False once it has ended."""
        if self.reason:
            return self._settle(self._best())
        request = self.request
        if isinstance(request, Slope):
            offers = [self.offers[state, request.most, request.each] for state in request.states]
            return self._go_on(lambda: self.walk.send(offers))
        found = [self.results[state] for state in request.states]
        margin, likeness = np.array([f[0] for f in found], np.float64), np.array([f[1] for f in found], np.float64)
        return self._go_on(lambda: self.walk.send(Told(margin, likeness)))

    def _go_on(self, step: Callable[[], Request]) -> bool:
        """Takes the search to its next request. A search that raises, or breaks the rules, fails for this example alone."""
        try:
            self.request = step()
            if not isinstance(self.request, Try | Slope):
                raise TypeError(f"expected Try(states) from a search, got {type(self.request).__name__}")
            new = self.untried() if isinstance(self.request, Try) else self.unclimbed()
            self.idle = 0 if new else self.idle + 1
            if self.idle > MOST_IDLE:
                raise RuntimeError(f"expected a search that ends, got {self.idle:,} requests in a row with nothing new")
        except StopIteration as end:
            if end.value not in self.results:
                self.failed = f"error: expected a state that was tried from a search, got {end.value!r:.60}"
                return False
            return self._settle(end.value)
        except Blameless:
            raise
        except Exception as error:
            self.failed = reason_of(error)
            return False
        return True

    def _settle(self, state: State) -> bool:
        """Sets the outcome to `state`, or to the best success if the search saw one but returned none. Returns False."""
        self.state = self._best() if self.reached and self.results[state][0] <= 0 else state
        if self.short and not self.reason:
            self.reason = NO_QUERY
        return False

    def _best(self) -> State:
        """The answered state with the highest margin, the earliest of several; () if none is better than the original."""
        seen = [
            (found[0], -at, state) for at, (state, found) in enumerate(self.results.items()) if found[2] is not None
        ]
        top = max(seen, default=(-np.inf, 0, ()))
        return top[2] if top[0] > self.view.clean else ()

    @property
    def margin(self) -> float:
        return self.results[self.state][0]

    @property
    def answer(self) -> Any:
        return self.results[self.state][2]

    @property
    def spent(self) -> int:
        """Queries so far. A backward pass counts as one: that for word importance, before the search, and each of a Slope."""
        return self.queries + self.passes + (self.view.importance is not None)

    @property
    def answered(self) -> bool:
        """Whether the victim answered a text that could be the outcome."""
        return any(answer is not None for _, _, answer in self.results.values())

    def record_success(self, texts: Sequence[Text]) -> None:
        """Sets `reached`, if this is the first success. texts: those of the request, up to the one that reaches the goal.

        `reached` is the smallest budget with which this search would have found it: all queries before this request, and those
        up to the last of these texts.
        """
        if not self.reached:
            number = {text: at for at, text in enumerate(self.answers, 1 + self.spent - self.queries)}
            self.reached = max(self.needed, *(number[text] for text in texts))

    def record_request(self, counts: bool) -> None:
        """Records that a request was answered. counts: whether some of its texts could be the outcome."""
        self.asked |= counts
        self.needed = self.spent

    def untried(self) -> list[State]:
        """The states of the request without a result, each once."""
        return [state for state in dict.fromkeys(self.request.states) if state not in self.results]

    def unclimbed(self) -> list[Climb]:
        """The states of a Slope without an offer, each once."""
        assert isinstance(self.request, Slope)
        states, most, each = self.request
        return [one for state in dict.fromkeys(states) if (one := (state, most, each)) not in self.offers]

    def unasked(self, texts: Sequence[Text], room: float) -> tuple[list[int], int]:
        """The places of the texts to ask about, each text once and at most `room` of them; and how many texts, counted from the
        first, have an answer after that.
        """
        found: dict[Text, int] = {}
        for at, text in enumerate(texts):
            if text not in self.answers and text not in found:
                if len(found) >= room:
                    return list(found.values()), at
                found[text] = at
        return list(found.values()), len(texts)


@dataclass(eq=False)
class Engine:
    """Runs one search on the examples of a space.

    ask: calls the victim with columns of texts and the example of each text. targets: of all examples of the space. max_queries:
    the budget of each example. at_once: about how many texts make a batch; when examples finish, others start. late: tells
    whether the time is up. substitutes: finds what a search asks for by a Slope.
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
    substitutes: Substitutes | None = None

    def run(self, rows: Sequence[int], clean: Floats, importance: dict[int, Floats] | None = None) -> Iterator[Pursuit]:
        """Yields the finished search of each example, in the order in which they finish.

        rows: the examples to attack. clean: the margins of their original texts. importance: of the sites of an example, by row,
        for searches that need gradients.
        """
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
                    size += len(pursuit.request.states)
                else:
                    yield pursuit
            self._answer(part)
            for pursuit in part:
                if pursuit.failed or not pursuit.advance():
                    yield pursuit
                else:
                    active.append(pursuit)

    def _answer(self, part: Sequence[Pursuit]) -> None:
        """Finds the results of these searches' requests. If something raises on a search, sets its `failed` to the reason."""

        def failed(pursuit: Pursuit, reason: str) -> None:
            pursuit.failed = reason

        isolated([pursuit for pursuit in part if isinstance(pursuit.request, Try)], self._answer_in_parts, failed)
        if climbing := [pursuit for pursuit in part if isinstance(pursuit.request, Slope)]:
            isolated(climbing, self._climb, failed)

    def _climb(self, part: Sequence[Pursuit]) -> None:
        """Finds the offers that these searches ask for, by one backward pass for each text. They are empty for a search that
        could not afford to try one of them.
        """
        if self.substitutes is None:
            raise TypeError("expected Try(states) from a search without slopes = True, got Slope")
        late = bool(self.late and self.late())
        wanted: list[tuple[Pursuit, Climb]] = []
        for pursuit in part:
            new = pursuit.unclimbed()
            if late:
                pursuit.reason = NO_TIME
            elif new and self.max_queries is not None and len(new) >= self.max_queries - pursuit.spent:
                pursuit.short = True
                pursuit.offers |= dict.fromkeys(new, Offer((), np.zeros(0)))
            else:
                wanted += [(pursuit, climb) for climb in new]
        if not wanted:
            return
        offers = self.substitutes([(pursuit.view.row, climb) for pursuit, climb in wanted])
        for (pursuit, climb), offer in zip(wanted, offers, strict=True):
            pursuit.offers[climb] = offer
            pursuit.passes += 1
            pursuit.needed = pursuit.spent

    def _answer_in_parts(self, part: Sequence[Pursuit]) -> None:
        """Tries all new states, as many at once as fit into memory, and looks at the clock in between."""
        wanted = [(pursuit, state) for pursuit in part for state in pursuit.untried()]
        rows = np.array([pursuit.view.row for pursuit, _ in wanted], np.int64)
        size = self.space.column.corpus.lengths[rows]
        size = np.maximum(size, LEAST_TIMED) if self.late else size
        load = np.cumsum(size) // CHARACTERS
        for places in np.split(np.arange(rows.size), np.flatnonzero(np.diff(load)) + 1):
            some = [wanted[at] for at in places.tolist()]
            if self.late and self.late():
                for pursuit, _ in some:
                    pursuit.reason = pursuit.reason or NO_TIME
            self._try([(pursuit, state) for pursuit, state in some if not pursuit.reason])
            for pursuit, state in some:
                pursuit.results.setdefault(state, NO_RESULT)  # of searches that time or budget has ended

    def _try(self, wanted: Sequence[tuple[Pursuit, State]]) -> None:
        """Stores the result of each of these states: checks constraints and budgets, then asks the victim once."""
        if not wanted:
            return
        rows = np.array([pursuit.view.row for pursuit, _ in wanted])
        tried = self.space.tried(rows.tolist(), [state for _, state in wanted])
        free = np.array([isinstance(pursuit.request, Try) and pursuit.request.free for pursuit, _ in wanted])
        rest = np.flatnonzero(self._allowed(tried, free))
        some, free, pursuits = tried.take(rest), free[rest], [wanted[at][0] for at in rest.tolist()]
        texts = self.space.texts(rows[rest], some)
        mine = texts[self.space.side]
        begins = np.flatnonzero(np.diff(rows[rest], prepend=-1))  # the first text of each example
        new, answered = self._affordable(pursuits, begins, mine)
        self._ask(pursuits, rows[rest], some, texts, new)
        found = [
            p.answers[text] if ok else UNASKED for p, text, ok in zip(pursuits, mine, answered.tolist(), strict=True)
        ]
        reached = np.array([margin > 0 for margin, _ in found], np.bool_)
        likeness = self._likeness(some, np.flatnonzero(reached & ~free))
        results: list[Result] = [NO_RESULT] * len(wanted)
        for place, (margin, answer), like, only_to_learn in zip(
            rest.tolist(), found, likeness.tolist(), free.tolist(), strict=True
        ):
            results[place] = margin, like, None if only_to_learn else answer
        for at in np.flatnonzero(reached & ~free).tolist():
            begin = int(begins[np.searchsorted(begins, at, "right") - 1])
            pursuits[at].record_success(mine[begin : at + 1])
        for at in begins.tolist():
            pursuits[at].record_request(bool(answered[at] and not free[at]))
        # results are stored last: if anything above raises, `isolated` tries the same states again
        for (pursuit, state), result in zip(wanted, results, strict=True):
            pursuit.results[state] = result
        for at in np.flatnonzero(~answered).tolist():
            pursuits[at].reason = NO_QUERY

    def _ask(
        self, pursuits: Sequence[Pursuit], rows: Ints, tried: Tried, texts: Sequence[Sequence[Text]], new: Ints
    ) -> None:
        """Asks the victim about texts number `new`, and stores the margins and answers."""
        if not new.size:
            return
        columns = [[column[at] for at in new.tolist()] for column in texts]
        outputs = self.ask(*columns, examples=rows[new].tolist())
        some = tried.take(new)
        margin = self.goal(outputs, self.targets[rows[new]], some.changed(), *self._kept(some))
        margins = np.where(np.isnan(margin), -np.inf, margin).tolist()
        answered = zip(
            new.tolist(), columns[self.space.side], margins, outputs.problem.tolist(), outputs.answers, strict=True
        )
        for place, text, value, problem, answer in answered:
            unjudged = not problem and value == -np.inf
            pursuits[place].answers[text] = value, None if problem or unjudged else answer
            pursuits[place].queries += 1
            pursuits[place].unjudged += unjudged

    def _kept(self, tried: Tried) -> tuple[Floats, ...]:
        """chrF of texts against their originals, if the goal weighs it."""
        if not self.goal.weighs_source:
            return ()
        return (chrf_likeness(tried.before.corpus.strings(), tried.after.strings()),)

    def _allowed(self, tried: Tried, free: Mask) -> Mask:
        """Which texts all constraints allow. Each constraint sees only what those before it allow, `free` ones see none."""
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
        """Enforces the budget: returns the places of the texts to ask about, and which texts have an answer after that.

        An example with too little budget left gets answers to its first texts, as many as the budget pays for.
        """
        new, answered = [], np.zeros(len(texts), np.bool_)
        for first, last in pairwise([*begins.tolist(), len(texts)]):
            pursuit = pursuits[first]
            room = np.inf if self.max_queries is None else self.max_queries - pursuit.spent
            places, count = pursuit.unasked(texts[first:last], room)
            new += [first + at for at in places]
            answered[first : first + count] = True
        return np.array(new, np.int64), answered

    def _likeness(self, tried: Tried, rows: Ints) -> Floats:
        """How similar texts number `rows` are to their originals, by the first constraint that has `similarity`; 0 elsewhere."""
        out = np.zeros(len(tried.before.corpus))
        measure = next((c for c in self.constraints if hasattr(c, "similarity")), None)
        if measure is not None and rows.size:
            part = tried.take(rows)
            out[rows] = measure.similarity(part.before.corpus.strings(), part.after.strings())
        return out
