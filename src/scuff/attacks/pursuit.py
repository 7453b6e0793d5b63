"""A pursuit: the search of one example while it runs, and everything that it has found out.

Queries and tried states are numbered in the order in which they came. Numbers index plain lists, to which a request adds many
entries at once: a text or a state costs an entry in a dictionary and little more.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.dataset import Text
from ..isolation import Blameless, reason_of
from ..text.ragged import Mask
from ..victims.base import Outputs
from .search.base import Offer, Request, Slope, Told, Try, Walk
from .space import State, View
from .substitutes import Climb

# reasons why a search ended early
NO_QUERY, NO_CHANGE, NO_TIME = "no query was left", "no query was left to try a change", "no time was left"

MOST_IDLE = 10_000  # requests in a row without a new state: a search that never ends costs no query that could stop it
NONE = -1  # in place of the number of a query


@dataclass(eq=False)
class Queries:
    """The texts that the victim was asked about, in order. Number 0 is the original, whose answer nobody needs."""

    number: dict[Text, int]  # different states may write the same text
    margin: list[float]  # -inf where the victim gave no answer, or the goal no number for it
    # number of a query, answers, its place among them
    found: list[tuple[int, Outputs, int]] = field(default_factory=list)
    mute: set[int] = field(default_factory=set)  # those that have a margin, but no answer that could be the outcome's

    def add(self, texts: Sequence[Text], margin: Sequence[float], outputs: Outputs, first: int) -> None:
        """Adds texts with their margins. first: the place of their first answer in `outputs`, where the others follow."""
        at = len(self.margin)
        self.number.update(zip(texts, range(at, at + len(texts)), strict=True))
        self.margin += margin
        self.found.append((at, outputs, first))

    def answered(self, number: int) -> bool:
        """Whether a query has an answer that could be the outcome's."""
        return number > 0 and self.margin[number] > -np.inf and number not in self.mute

    def answer(self, number: int) -> Any:
        begin, outputs, first = self.found[bisect(self.found, number, key=lambda run: run[0]) - 1]
        return outputs.answers[first + number - begin]


@dataclass(eq=False)
class Results:
    """What came of the states that the search has tried, in order."""

    number: dict[State, int]
    margin: list[float]  # -inf where a constraint forbids the text, or it was not asked about
    likeness: list[float]
    query: list[int]  # the number of the query; NONE for a state that cannot be the outcome

    def add(
        self, states: Sequence[State], margin: Sequence[float], likeness: Sequence[float], query: Sequence[int]
    ) -> None:
        at = len(self.margin)
        self.number.update(zip(states, range(at, at + len(states)), strict=True))
        self.margin += margin
        self.likeness += likeness
        self.query += query

    def without(self, states: Sequence[State]) -> Sequence[State]:
        """Those of some states that were not tried, each once."""
        if self.number.keys().isdisjoint(states):
            return states if len(set(states)) == len(states) else list(dict.fromkeys(states))
        return [state for state in dict.fromkeys(states) if state not in self.number]


@dataclass(eq=False)
class Pursuit:
    """The search of one example while it runs: its latest request, everything it has found out, and how it ended."""

    view: View
    walk: Walk
    asked_for: Queries
    results: Results
    request: Request = field(default_factory=lambda: Try(()))  # what the search yielded last
    new: Sequence[State] = ()  # those states of a Try that were not tried before, each once
    done: int = 0  # how many of these have a result
    told: Told | None = None  # what the search is sent for a Try, if its states were tried together, none before
    offers: dict[Climb, Offer] = field(default_factory=dict)  # of every Slope
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
        return cls(view, walk, Queries({original: 0}, [view.clean]), Results({(): 0}, [view.clean], [0.0], [NONE]))

    def begin(self) -> bool:
        """Starts the search. Returns False if it ends without trying anything."""
        return self._go_on(self.walk.__next__)

    def advance(self) -> bool:
        """Sends the search the results of its request, or ends it if there is a `reason`. Returns False once it has ended."""
        if self.reason:
            return self._settle(self._best())
        request = self.request
        if isinstance(request, Slope):
            offers = [self.offers[state, request.most, request.each] for state in request.states]
            return self._go_on(self.walk.send, offers)
        told, self.told = self.told, None
        return self._go_on(self.walk.send, self._recall(request) if told is None else told)

    def _recall(self, request: Try) -> Told:
        """The results of a request some of whose states were tried before."""
        results = self.results
        places = [results.number[state] for state in request.states]
        margin = np.array([results.margin[at] for at in places], np.float64)
        return Told(margin, np.array([results.likeness[at] for at in places], np.float64))

    def _go_on(self, step: Callable[..., Request], *sent: Any) -> bool:
        """Takes the search to its next request. A search that raises, or breaks the rules, fails for this example alone."""
        try:
            self.request = request = step(*sent)
            if isinstance(request, Try):
                new = self.new = self.results.without(request.states)
                self.done = 0
            elif isinstance(request, Slope):
                new = self.unclimbed()  # type: ignore[assignment]
            else:
                raise TypeError(f"expected Try(states) from a search, got {type(request).__name__}")
            self.idle = 0 if new else self.idle + 1
            if self.idle > MOST_IDLE:
                raise RuntimeError(f"expected a search that ends, got {self.idle:,} requests in a row with nothing new")
        except StopIteration as end:
            if end.value not in self.results.number:
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
        lost = self.reached and self.results.margin[self.results.number[state]] <= 0
        self.state = self._best() if lost else state
        if self.short and not self.reason:
            self.reason = NO_QUERY
        return False

    def _best(self) -> State:
        """The answered state with the highest margin, the earliest of several; () if none is better than the original."""
        results = self.results
        seen = [
            (margin, -at)
            for at, (margin, query) in enumerate(zip(results.margin, results.query, strict=True))
            if query != NONE
        ]
        top, at = max(seen, default=(-np.inf, 0))
        return list(results.number)[-at] if top > self.view.clean else ()

    @property
    def margin(self) -> float:
        return self.results.margin[self.results.number[self.state]]

    @property
    def answer(self) -> Any:
        query = self.results.query[self.results.number[self.state]]
        return None if query == NONE else self.asked_for.answer(query)

    @property
    def queries(self) -> int:
        """Texts asked about; the original is the first."""
        return len(self.asked_for.margin)

    @property
    def spent(self) -> int:
        """Queries so far. A backward pass counts as one: that for word importance, before the search, and each of a Slope."""
        return len(self.asked_for.margin) + self.passes + (self.view.importance is not None)

    @property
    def answered(self) -> bool:
        """Whether the victim answered a text that could be the outcome."""
        return any(query != NONE for query in self.results.query)

    def unclimbed(self) -> list[Climb]:
        """The states of a Slope without an offer, each once."""
        assert isinstance(self.request, Slope)
        states, most, each = self.request
        return [one for state in dict.fromkeys(states) if (one := (state, most, each)) not in self.offers]


@dataclass(eq=False, slots=True)
class Turn:
    """States of one search that are tried together with those of others, and what comes of them step by step."""

    pursuit: Pursuit
    states: Sequence[State]
    free: bool
    texts: Sequence[Text] = ()  # of those states that the constraints allow
    asked: Sequence[Text] = ()  # those of them that the victim is asked about
    begin: int = 0  # the place of the first of these among the texts of all searches
    answered: int = 0  # how many texts, counted from the first, have an answer
    margin: Sequence[float] = ()  # of each text
    query: Sequence[int] = ()  # the number of the query of each text; NONE without one
    likeness: Sequence[float] = ()  # of each text; (): 0

    def choose(self, texts: Sequence[Text], room: float) -> Sequence[int]:
        """Takes the texts of the states that are allowed, and decides which of them the victim is asked about: new ones, each
        once, and at most `room` of them. Returns their places.
        """
        known, self.texts, self.answered = self.pursuit.asked_for.number, texts, len(texts)
        if len(texts) <= room and known.keys().isdisjoint(texts) and len(set(texts)) == len(texts):
            self.asked = texts
            return range(len(texts))
        found: dict[Text, int] = {}
        for at, text in enumerate(texts):
            if text not in known and text not in found:
                if len(found) >= room:
                    self.answered = at
                    break
                found[text] = at
        self.asked = list(found)
        return list(found.values())

    def look_up(self) -> None:
        """Finds margin and query of each text, after the victim was asked."""
        asked_for = self.pursuit.asked_for
        if len(self.asked) == len(self.texts):
            first, end = len(asked_for.margin) - len(self.asked), len(asked_for.margin)
            self.query, self.margin = range(first, end), asked_for.margin[first:]
            return
        missing = len(self.texts) - self.answered
        query = [asked_for.number[text] for text in self.texts[: self.answered]]
        self.margin = [asked_for.margin[at] for at in query] + [-np.inf] * missing
        self.query = query + [NONE] * missing

    def store(self, allowed: Mask | None) -> None:
        """Stores the results, and what the request cost. allowed: which states the constraints allow; None: all."""
        pursuit, size = self.pursuit, len(self.states)
        margin, query = self.margin, self.query
        if margin:
            if not (self.free or pursuit.reached) and max(margin) > 0:
                self._record_success()
            pursuit.asked |= self.answered > 0 and not self.free
            pursuit.needed = pursuit.spent
        query, likeness = self._outcomes(), self.likeness or [0.0] * len(margin)
        if len(margin) < size:
            assert allowed is not None
            margin, likeness, query = (
                _spread(some, allowed, nothing) for some, nothing in ((margin, -np.inf), (likeness, 0.0), (query, NONE))
            )
        if not pursuit.done and size == len(pursuit.request.states):
            pursuit.told = Told(np.array(margin), np.array(likeness))
        pursuit.results.add(self.states, margin, likeness, query)
        pursuit.done += size
        if self.answered < len(self.texts):
            pursuit.reason = NO_QUERY

    def _record_success(self) -> None:
        """Sets `reached`: the smallest budget with which this search would have found its first success, which is all queries
        before this request, and those up to the last of its texts to the one that reaches the goal.
        """
        at, pursuit = next(at for at, margin in enumerate(self.margin) if margin > 0), self.pursuit
        others = pursuit.spent - pursuit.queries  # gradients
        pursuit.reached = max(pursuit.needed, 1 + max(self.query[: at + 1]) + others)

    def _outcomes(self) -> Sequence[int]:
        """The queries of the texts; NONE for those that cannot be the outcome."""
        if self.free:
            return [NONE] * len(self.texts)
        asked_for = self.pursuit.asked_for
        if len(self.asked) == len(self.texts) and not asked_for.mute and min(self.margin, default=0.0) > -np.inf:
            return self.query
        return [number if asked_for.answered(number) else NONE for number in self.query]


def _spread(some: Sequence[Any], allowed: Mask, nothing: Any) -> list[Any]:
    """Values at the places that are allowed, and nothing at the others."""
    left = iter(some)
    return [next(left) if fine else nothing for fine in allowed.tolist()]
