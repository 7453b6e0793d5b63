"""Substitution by the victim's gradients: pieces that raise the adversarial loss most, to first order (Michel et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...specs import check_switch
from ...victims.base import Access
from ...victims.substitution import MAX_SCRAMBLING, NEAREST
from ..space import State, View, with_edit
from .base import Candidates, Dice, Search, Slope, Try, Walk
from .beam import Further, by_rounds

WITHIN = ("vocabulary", "neighbours", "swaps")


@dataclass(frozen=True)
class Substitution(Search):
    """Substitutes up to `n` pieces (words, of a model that knows words), each chosen by the gradient of the adversarial loss.

    within: what may take the place of a piece. "vocabulary": any piece of the same kind (Unconstrained); "neighbours": its
    `nearest` neighbours by the model's embeddings (kNN); "swaps": a spelling that the model does not know, by up to
    `max_scrambling` swaps of inner letters (CharSwap, appendix A.1). sign: takes the sign of the gradient only.

    With verify=0 the search is the paper's: one substitution after the other, the gradient computed anew each time, and the model
    asked only about the outcome; with one_shot=True, all at once by the gradient at the original text, as in their adversarial
    training. With verify=K the K best substitutions of each text are tried, and the `beam` best texts go on to the next round: a
    stronger search that asks more.
    """

    within: str = "vocabulary"
    n: int = 3
    sign: bool = True
    one_shot: bool = False
    beam: int = 1
    verify: int = 0
    nearest: int = NEAREST
    max_scrambling: int = MAX_SCRAMBLING

    name: ClassVar[str] = "substitution"
    summary: ClassVar[str] = (
        "other words or pieces in their place, by the gradient of the model's loss; proposes them itself"
    )
    needs: ClassVar[Access] = Access.GRADIENT
    slopes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.within not in WITHIN:
            raise ValueError(
                f"expected {', '.join(WITHIN[:-1])} or {WITHIN[-1]} for substitution.within, got {self.within!r}"
            )
        check_switch(self.sign, "substitution.sign")
        check_switch(self.one_shot, "substitution.one_shot")
        for option, least in {"n": 1, "beam": 1, "verify": 0, "nearest": 1, "max_scrambling": 1}.items():
            value = getattr(self, option)
            if type(value) is not int or value < least:
                raise ValueError(f"expected a whole number of {least} or more for substitution.{option}, got {value!r}")
        if self.one_shot and self.verify:
            raise ValueError("expected verify=0 with substitution.one_shot, which verifies nothing, got "
                             f"{self.verify}")  # fmt: skip
        if self.beam > max(1, self.verify):
            raise ValueError(
                f"expected verify={self.beam} or more for substitution.beam={self.beam}, got {self.verify}"
            )

    @property
    def candidates(self) -> Candidates:
        return Candidates(self.within, self.sign, self.nearest, self.max_scrambling)

    def walk(self, view: View, dice: Dice) -> Walk:
        if self.verify:
            return (yield from by_rounds(view, self._tried, self.beam, self.n))
        states = yield from (self._at_once() if self.one_shot else self._one_by_one())
        for state in reversed(states):  # the last one, unless a constraint forbids it
            told = yield Try([state])
            if told.best() is not None:
                return state
        return ()

    def _one_by_one(self) -> Further:
        """Returns the states with 1 to n substitutions, fewer if no site or too few queries are left."""
        states: list[State] = []
        while len(states) < self.n:
            state = states[-1] if states else ()
            (offer,) = yield Slope([state], 1, 1)
            if not offer.edits:
                break
            states.append(with_edit(state, offer.edits[0]))
        return states

    def _at_once(self) -> Further:
        """Returns the states with the best 1 to n substitutions in the original text."""
        (offer,) = yield Slope([()], self.n, 1)
        return [tuple(sorted(offer.edits[:many])) for many in range(1, len(offer.edits) + 1)]

    def _tried(self, beam: Sequence[State]) -> Further:
        """Returns the texts with one more of the best substitutions."""
        offers = yield Slope(beam, self.verify, self.verify)
        pairs = zip(beam, offers, strict=True)
        return list(dict.fromkeys(with_edit(old, edit) for old, offer in pairs for edit in offer.edits))
