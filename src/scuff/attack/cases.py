"""What attacks work on and what they make: columns of texts, and cases, which are changed versions of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..text import Corpus, Edits, Spans
from ..text.dataset import Text
from ..text.ragged import Ints, bounds, spread


@dataclass(frozen=True, eq=False)
class Column:
    """A column of texts as a corpus, and where its tokens are if it is cut into tokens."""

    corpus: Corpus
    tokens: Spans | None = None

    @classmethod
    def of(cls, texts: Sequence[Text]) -> Column:
        if texts and isinstance(texts[0], tuple):
            return cls(*Corpus.of_tokens([list(tokens) for tokens in texts]))
        return cls(Corpus.of([text for text in texts if isinstance(text, str)]))

    def take(self, rows: Ints) -> Column:
        if self.tokens is None:
            return Column(self.corpus.take(rows))
        edges = np.searchsorted(self.tokens.row, np.arange(len(self.corpus) + 1))
        count = np.diff(edges)[rows]
        part = self.corpus.take(rows)
        picked, row = self.tokens.where(spread(edges[:-1][rows], count)), np.repeat(np.arange(rows.size), count)
        shift = part.offsets[row] - self.corpus.offsets[picked.row]
        return Column(part, Spans(row, picked.start + shift, picked.stop + shift))

    def texts(self, edits: Edits | None = None) -> list[Text]:
        """What the victim sees, after some edits."""
        edits = edits.in_order() if edits is not None else None
        after = self.corpus if edits is None else self.corpus.apply(edits)
        if self.tokens is None:
            return list(after.strings())
        spans = self.tokens if edits is None else edits.carry(self.tokens, self.corpus.offsets)
        flat = after.cut(spans).strings()
        return [tuple(flat[a:b]) for a, b in pairwise(bounds(self.tokens.per_row(len(self.corpus))).tolist())]


@dataclass(frozen=True, eq=False)
class Cases:
    """Versions of texts: of which example, which draw, what changed in each column, how far it went.

    `reached` is the share of units changed, `distance` the edit distance over the length; `unfit` counts draws, per example, that
    went above the degree and were thrown away.
    """

    example: Ints
    draw: Ints
    edits: tuple[Edits | None, ...]
    columns: tuple[list[Text], ...]
    reached: npt.NDArray[np.float64]
    distance: npt.NDArray[np.float64]
    unfit: Ints

    def __len__(self) -> int:
        return self.example.size
