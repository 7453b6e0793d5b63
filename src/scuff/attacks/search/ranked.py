"""Greedy searches by word importance: sites one after the other, the most important first, each with its best edit."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...specs import check_number
from ...text.ragged import Floats
from ...victims.base import Access
from ..space import State, View
from .base import EVEN, Dice, Search, Told, Try, Walk, highest_first, without_step

Rank = Generator[Try, Told, Floats]  # returns the importance of each site


@dataclass(frozen=True)
class Ranked(Search):
    """Visits every site once, in the order of importance in the original text, and stops at the first success.

    Subclasses differ in `rank`.
    """

    def rank(self, view: View, dice: Dice) -> Rank:
        """Returns the importance of each site: the margin of the text in which it is hidden."""
        told = yield Try([view.hides(site) for site in view.sites], free=True)
        return np.where(np.isfinite(told.margin), told.margin, view.clean)

    def walk(self, view: View, dice: Dice) -> Walk:
        rank = yield from self.rank(view, dice)
        state: State = ()
        margin = view.clean
        for place in highest_first(rank).tolist():
            states = view.with_each(state, view.sites[place])
            told = yield Try(states)
            best = told.best()
            if best is None or told.margin[best] <= margin + EVEN:
                continue
            state, margin = states[best], float(told.margin[best])
            if not view.open_ended and (won := told.winner()) is not None:
                return states[won]
        return state


class Unk(Ranked):
    """By the margin with the model's unknown token in a word's place (as TextAttack's `unk`; DeepWordBug is similar)."""

    name: ClassVar[str] = "unk"
    summary: ClassVar[str] = "greedy; a word matters as much as putting [UNK] in its place does"
    hidden: ClassVar[bool] = True


class Delete(Ranked):
    """By the margin when a word is left out (TextFooler, TextBugger)."""

    name: ClassVar[str] = "delete"
    summary: ClassVar[str] = "greedy; a word matters as much as leaving it out does"


@dataclass(frozen=True)
class HeadTail(Ranked):
    """By what a word adds to the text before it, and to the text behind it: DeepWordBug's combined score (Gao et al. 2018).

    The head score is the goal's score of the words before it minus that with it, the tail score the same of the words behind it;
    their sum counts, the tail's times `weight`.
    """

    weight: float = 1.0

    name: ClassVar[str] = "head-tail"
    summary: ClassVar[str] = "greedy; a word matters by what it adds to the text before it and to the text behind it"
    cuts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self.weight, 0, 1e6, "head-tail.weight")

    def rank(self, view: View, dice: Dice) -> Rank:
        told = yield Try([state for site in view.sites for state in view.cut(site)], free=True)
        with_it, before, from_it, behind = without_step(told.margin).reshape(-1, 4).T
        with np.errstate(invalid="ignore"):  # -inf minus -inf: no answer
            gain = (before - with_it) + self.weight * (behind - from_it)
        return np.where(np.isfinite(gain), gain, 0.0)


class WeightedSaliency(Ranked):
    """PWWS (Ren et al. 2019, eq. 8): softmax over all sites of the gain by hiding, times the highest gain by replacing."""

    name: ClassVar[str] = "weighted-saliency"
    summary: ClassVar[str] = "greedy; a word matters by hiding it and by its best replacement, which costs many queries"
    hidden: ClassVar[bool] = True

    def rank(self, view: View, dice: Dice) -> Rank:
        clean = without_step(np.array(view.clean))
        hiding = without_step((yield from super().rank(view, dice))) - clean
        options = [view.options(site) for site in view.sites]
        told = yield Try([(edit,) for some in options for edit in some])
        first = np.array([some.start - options[0].start for some in options], np.int64)
        best = np.maximum.reduceat(told.margin, first) if first.size else told.margin
        gain = np.where(np.isfinite(best), without_step(best) - clean, 0.0)  # 0 where every edit is forbidden
        return np.exp(hiding) * gain  # the denominator of the softmax is the same for all sites


@dataclass(frozen=True)
class Gradient(Ranked):
    """By what a word adds to the goal's weighted scores: integrated gradients in one step.

    norm="l1": by the L1 norm of the gradient of the loss, as in A2T (Yoo and Qi 2021) and TextAttack: the loss is that of the
    model's own answer, the gradient is that by the word's embedding, the mean over its pieces, without dropout.
    """

    norm: str | None = None

    name: ClassVar[str] = "gradient"
    summary: ClassVar[str] = "greedy; a word matters by the model's gradient"
    needs: ClassVar[Access] = Access.GRADIENT

    def __post_init__(self) -> None:
        if self.norm not in (None, "l1"):
            raise ValueError(f"expected None or 'l1' for gradient.norm, got {self.norm!r}")

    @property
    def gradient_norm(self) -> str | None:
        return self.norm

    def rank(self, view: View, dice: Dice) -> Rank:
        assert view.importance is not None, "gradients are asked for before the search begins"
        return view.importance
        yield  # makes this a generator


class Random(Ranked):
    """In random order: a baseline that shows what a ranking is worth."""

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "greedy; words in random order"

    def rank(self, view: View, dice: Dice) -> Rank:
        return dice.uniform(len(view.sites))
        yield  # makes this a generator
