"""A constraint on meaning: how similar a changed text must be to the original, by a sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...metrics.meaning import MINILM, distance_in_meaning
from ...specs import check_count, check_number
from ...text.corpus import Corpus
from ...text.edits import Edits
from ...text.ragged import Floats, Mask, bounds
from ...text.words import Spans
from .base import Constraint

WAYS = ("angular", "cosine")


@dataclass(frozen=True)
class Meaning(Constraint):
    """The sentence vectors of the original and of the changed text have a similarity of at least `least`.

    `by` is angular (1 - arccos(cosine) / pi; ToxicTrap, 2.3: 0.84) or cosine (TextBugger: 0.8; A2T: 0.9). `encoder`: `minilm`
    (`scuff[meaning]`), a folder or an id; the papers mostly use the Universal Sentence Encoder. `window`: compares only so many
    words around each edited word, and the least similar place decides (TextFooler, Jin et al. 2020: 15). Shorter texts are
    compared as a whole, or, with skip_short=True, not at all, as in TextFooler's own code and TextAttack.
    """

    least: float = 0.84
    by: str = "angular"
    encoder: str = MINILM
    window: int = 0
    skip_short: bool = False

    name: ClassVar[str] = "meaning"
    summary: ClassVar[str] = "the meaning stays close, by a sentence encoder"

    def __post_init__(self) -> None:
        check_number(self.least, 0, 1, "meaning.least")
        if self.by not in WAYS:
            raise ValueError(f"expected {' or '.join(WAYS)} for meaning.by, got {self.by!r}")
        if not (isinstance(self.encoder, str) and self.encoder):
            raise ValueError(f"expected minilm, a folder or an id for meaning.encoder, got {self.encoder!r}")
        check_count(self.window, 0, "meaning.window")
        if not isinstance(self.skip_short, bool):
            raise ValueError(f"expected True or False for meaning.skip_short, got {self.skip_short!r}")
        if self.skip_short and not self.window:
            raise ValueError("expected a window for meaning.skip_short, which is about texts of fewer words, got none")

    def similarity(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        """The similarity of texts, pair by pair, in [0, 1]; 1 for equal ones."""
        out = np.ones(len(before))
        differ = [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
        if differ:
            far = distance_in_meaning(self.encoder)
            cosine = 1 - far([before[at] for at in differ], [after[at] for at in differ])
            out[differ] = cosine if self.by == "cosine" else 1 - np.arccos(cosine) / np.pi
        return out

    def __call__(self, before: Corpus, after: Corpus, edits: Edits) -> Mask:
        old, new = self._parts(before, after, edits)
        alike = self.similarity(before.cut(old).strings(), after.cut(new).strings())
        worst = np.ones(len(before))
        np.minimum.at(worst, old.row, alike)
        return worst >= self.least - 1e-9

    def _parts(self, before: Corpus, after: Corpus, edits: Edits) -> tuple[Spans, Spans]:
        """The spans to compare: windows around the edited words of long texts, and other edited texts as a whole."""
        words, edges = before.words, bounds(before.words.per_row(len(before)))
        long = (np.diff(edges) > self.window) & (self.window > 0)
        middle = np.flatnonzero(edits.touched(words, before.offsets) & long[words.row])
        row = words.row[middle]
        first = np.clip(middle - self.window // 2, edges[row], edges[row + 1] - self.window)
        last = first + self.window - 1
        old = Spans(row, words.start[first], words.stop[last])
        new = edits.carry(old, before.offsets)
        opens, ends = first == edges[row], last + 1 == edges[row + 1]  # such windows reach to the edge of the text
        whole = np.setdiff1d(edits.row, row)
        if self.skip_short:
            whole = whole[np.diff(edges)[whole] >= self.window]

        def parts(corpus: Corpus, spans: Spans) -> Spans:
            begin, end = corpus.offsets[:-1], corpus.offsets[1:]
            start, stop = np.where(opens, begin[row], spans.start), np.where(ends, end[row], spans.stop)
            return Spans(np.append(row, whole), np.append(start, begin[whole]), np.append(stop, end[whole]))

        return parts(before, old), parts(after, new)
