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
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.dataset import Text
from ..isolation import isolated
from ..metrics.chrf import chrf_likeness
from ..text.ragged import Floats, Ints, Mask, bounds, sums
from ..text.random import Rng
from ..victims.base import Outputs
from .candidates import Candidates
from .constraints.base import Constraint, allowed_by
from .goals import Goal
from .pursuit import NO_CHANGE, NO_QUERY, NO_TIME, Pursuit, Turn
from .search.base import Dice, Offer, Search, Slope, Try
from .space import Space, View
from .substitutes import Climb, Substitutes

__all__ = ["NO_CHANGE", "NO_QUERY", "NO_TIME", "Engine", "Pursuit"]

CHARACTERS = 1 << 21  # texts with so many characters together are made at once; more might not fit into memory
LEAST_TIMED = CHARACTERS // 64  # as which a text counts, at least, if time is limited: so the clock is read often


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
                    pursuit = Pursuit.of(view, self.search.walk(view, Dice(rng, row)), self._original(row))
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

    def _original(self, row: int) -> Text:
        """The original text as the victim is given it."""
        text, seen = self.space.originals[self.space.side][row], self.space.seen
        return seen.reading.first(str(text)) if seen and seen.long[row] else text

    @cached_property
    def _sizes(self) -> Ints:
        """How many characters of each text the victim is given, about."""
        lengths, seen = self.space.column.corpus.lengths, self.space.seen
        return (
            lengths if seen is None else np.where(seen.reading.long, seen.reading.end(np.arange(lengths.size)), lengths)
        )

    def _answer(self, part: Sequence[Pursuit]) -> None:
        """Finds the results of these searches' requests. If something raises on a search, sets its `failed` to the reason."""

        def failed(pursuit: Pursuit, reason: str) -> None:
            pursuit.failed = reason

        if trying := [pursuit for pursuit in part if isinstance(pursuit.request, Try)]:
            isolated(trying, self._answer_in_parts, failed)
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
        count = np.array([len(pursuit.new) - pursuit.done for pursuit in part], np.int64)
        size = self._sizes[[pursuit.view.row for pursuit in part]]
        size = np.maximum(size, LEAST_TIMED) if self.late else size
        load = np.cumsum(size.repeat(count)) // CHARACTERS
        edges, cuts = bounds(count).tolist(), (np.flatnonzero(load[1:] != load[:-1]) + 1).tolist()
        at = 0  # the first search that is not done
        for low, high in pairwise([0, *cuts, load.size]):
            turns = []
            while at < len(part) and edges[at] < high:
                pursuit, first = part[at], edges[at]
                begin, end = max(low, first), min(high, edges[at + 1])
                if end > begin:
                    whole = end - begin == len(pursuit.new)
                    states = pursuit.new if whole else pursuit.new[pursuit.done : pursuit.done + end - begin]
                    turns.append(Turn(pursuit, states, bool(pursuit.request.free)))  # type: ignore[union-attr]
                if edges[at + 1] > high:
                    break
                at += 1
            if self.late and self.late():
                for turn in turns:
                    turn.pursuit.reason = turn.pursuit.reason or NO_TIME
            ended = [turn for turn in turns if turn.pursuit.reason]  # by time or budget
            self._try([turn for turn in turns if not turn.pursuit.reason] if ended else turns)
            for turn in ended:
                turn.store(np.zeros(len(turn.states), np.bool_))

    def _try(self, turns: Sequence[Turn]) -> None:
        """Stores the result of each of these states: checks constraints and budgets, then asks the victim once."""
        if not turns:
            return
        count = np.array([len(turn.states) for turn in turns], np.int64)
        rows = np.array([turn.pursuit.view.row for turn in turns], np.int64).repeat(count)
        candidates = Candidates(self.space, rows, list(chain.from_iterable(turn.states for turn in turns)))
        if not candidates.simple:
            _ = candidates.after  # raises for edits that overlap, allowed or not
        allowed = self._allowed(candidates, np.array([turn.free for turn in turns]).repeat(count))
        edges = all_edges = bounds(count)
        if allowed is not None:
            candidates, edges = candidates.take(allowed), bounds(sums(allowed, edges))
        self._ask(candidates, self._affordable(turns, candidates, edges.tolist()), turns)
        for turn in turns:
            turn.look_up()
        self._compare(candidates, turns, edges.tolist())
        # results are stored last: if anything above raises, `isolated` tries the same states again
        for turn, (first, last) in zip(turns, pairwise(all_edges.tolist()), strict=True):
            turn.store(None if allowed is None else allowed[first:last])

    def _affordable(self, turns: Sequence[Turn], candidates: Candidates, edges: list[int]) -> Ints | None:
        """Enforces the budget: returns the places of the texts to ask about; None: all.

        An example with too little budget left gets answers to its first texts, as many as the budget pays for.
        """
        texts, places, begin = candidates.texts, list[Sequence[int]](), 0
        for turn, (first, last) in zip(turns, pairwise(edges), strict=True):
            turn.begin = begin
            room = np.inf if self.max_queries is None else self.max_queries - turn.pursuit.spent
            places.append(turn.choose(texts[first:last], room))
            begin += len(turn.asked)
        if begin == len(texts):
            return None
        chosen = [first + at for first, some in zip(edges[:-1], places, strict=True) for at in some]
        return np.array(chosen, np.int64)

    def _ask(self, candidates: Candidates, places: Ints | None, turns: Sequence[Turn]) -> None:
        """Asks the victim about the texts at these places, and stores the margins and answers."""
        if not len(candidates) or (places is not None and not places.size):
            return
        if places is not None:
            chosen = np.zeros(len(candidates), np.bool_)
            chosen[places] = True
            candidates = candidates.take(chosen)
        outputs = self.ask(*candidates.columns, examples=candidates.rows.tolist())
        margin = self.goal(outputs, self.targets[candidates.rows], candidates.changed, *self._kept(candidates))
        margin = np.where(np.isnan(margin), -np.inf, margin)
        answered, judged = outputs.answered, margin > -np.inf
        silent = not (answered & judged).all()
        margins = margin.tolist()
        for turn in turns:
            if turn.asked:
                part = slice(turn.begin, turn.begin + len(turn.asked))
                asked_for = turn.pursuit.asked_for
                if silent:
                    turn.pursuit.unjudged += int((answered[part] & ~judged[part]).sum())
                    asked_for.mute.update((np.flatnonzero(~answered[part]) + turn.pursuit.queries).tolist())
                asked_for.add(turn.asked, margins[part], outputs, turn.begin)

    def _kept(self, candidates: Candidates) -> tuple[Floats, ...]:
        """chrF of texts against their originals, if the goal weighs it."""
        return (chrf_likeness(*candidates.pairs),) if self.goal.weighs_source else ()

    def _allowed(self, candidates: Candidates, free: Mask) -> Mask | None:
        """Which texts all constraints allow; None: all. Each constraint sees only what those before it allow, `free` ones see
        none.
        """
        allowed, left = np.ones(len(candidates), np.bool_), candidates
        if free.any():
            left = candidates.take(~free)
        places = np.flatnonzero(~free)
        for constraint in self.constraints:
            if not len(left):
                break
            fine = allowed_by(constraint, left)
            if not fine.all():
                allowed[places[~fine]] = False
                places, left = places[fine], left.take(fine)
        return None if allowed.all() else allowed

    def _compare(self, candidates: Candidates, turns: Sequence[Turn], edges: list[int]) -> None:
        """Measures how similar texts that reach the goal are to their originals, by the first constraint with `similarity`."""
        measure = next((c for c in self.constraints if hasattr(c, "similarity")), None)
        if measure is None:
            return
        reached = np.zeros(len(candidates), np.bool_)
        for turn, first in zip(turns, edges, strict=False):
            if not turn.free:
                reached[first : first + len(turn.margin)] = [margin > 0 for margin in turn.margin]
        if reached.any():
            likeness = np.zeros(len(candidates))
            likeness[reached] = measure.similarity(*candidates.take(reached).pairs)
            for turn, (first, last) in zip(turns, pairwise(edges), strict=True):
                turn.likeness = likeness[first:last].tolist()
