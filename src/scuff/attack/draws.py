"""Random versions of texts, before the cases among them are chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..text import Edits
from ..text.ragged import Bits, Ints, Mask
from .fill import renumbered

MORE = 3  # this many times as many versions are tried as cases are wanted


def _number(example: Ints) -> Ints:
    """0, 1, 2, ... within each example, for examples that are in order."""
    return np.arange(example.size) - np.searchsorted(example, example)


@dataclass(frozen=True, eq=False)
class Draws:
    """Versions of texts before the cases among them are chosen; rows of the edits are numbers of versions.

    A version that did not fit was put back to the unchanged text.
    """

    example: Ints
    draw: Ints
    text: Bits  # a hash of all columns
    reached: npt.NDArray[np.float64]
    fits: Mask
    edits: tuple[Edits | None, ...]

    def with_more(self, other: Draws) -> Draws:
        both = (self, other)
        edits = tuple(
            None
            if mine is None or more is None
            else Edits.join([mine, replace(more, row=more.row + self.example.size)])
            for mine, more in zip(self.edits, other.edits, strict=True)
        )
        join = np.concatenate
        return Draws(
            join([d.example for d in both]), join([d.draw for d in both]), join([d.text for d in both]),
            join([d.reached for d in both]), join([d.fits for d in both]), edits,
        )  # fmt: skip

    def take(self, rows: Ints) -> Draws:
        """Some versions, in this order."""
        place = np.full(self.example.size, -1, np.int64)
        place[rows] = np.arange(rows.size)
        edits = tuple(None if e is None else renumbered(e, place) for e in self.edits)
        return Draws(
            self.example[rows], self.draw[rows], self.text[rows], self.reached[rows], self.fits[rows], edits
        )  # fmt: skip

    def changed(self, clean: Bits) -> Mask:
        return self.text != clean[self.example]

    def distinct(self, clean: Bits, patience: int) -> tuple[Ints, Ints]:
        """The different texts of each example in the order of draws, and which case each is.

        The unchanged text is a case only where there is no other. Case number n is looked for in the first MORE * (n + 1) draws,
        at least `patience`, so how many cases are wanted in the end does not matter for it.
        """
        order = np.lexsort((self.draw, self.example))
        changed = self.changed(clean)[order]
        early = order[changed & (self.draw[order] < patience)]
        able = np.bincount(self.example[early], minlength=clean.size) > 0
        order = order[changed == able[self.example[order]]]
        by_text = order[
            np.lexsort((self.text[order], self.example[order]))
        ]  # stable: the first draw of a text comes first
        again = (np.diff(self.text[by_text]) == 0) & (np.diff(self.example[by_text]) == 0)
        repeated = np.zeros(self.example.size, np.bool_)
        repeated[by_text[1:][again]] = True
        order = order[~repeated[order]]
        example, draw = self.example[order], self.draw[order]
        place = _number(example)
        late = np.where(draw < patience, 0, draw // MORE) - place
        apart = example << 32  # so that the running maximum begins anew with each example
        return order, place + np.maximum.accumulate(late + apart) - apart
