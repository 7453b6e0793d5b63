"""Edit distances (Levenshtein, in code points) of texts, words and edited texts, by RapidFuzz."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ints, Ragged

NEAR = 31  # a distance to expect; a hint that makes long pairs that differ little fast and changes no result
LONG = 5000  # characters; the time that a distance takes grows with the square


def edit_distance(before: Sequence[str], after: Sequence[str]) -> npt.NDArray[np.int64]:
    """How far each text is from the one before it was changed. Over the length it is RobTest's degree (appendix C)."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    return cpdist(before, after, scorer=Levenshtein.distance, dtype=np.int64, score_hint=NEAR)


def word_distance(old: Ragged, new: Ragged) -> Ints:
    """How far each new word or phrase is from the old one."""
    return edit_distance(old.strings(), new.strings())


def edits_distance(corpus: Corpus, edits: Edits) -> Ints:
    """How far edits take each text. Of a very long one only the edits are measured: together they are never nearer."""
    before, after = corpus.strings(), corpus.apply(edits).strings()
    long = corpus.lengths > LONG
    if not long.any():
        return edit_distance(before, after)
    short = np.flatnonzero(~long).tolist()
    out = np.zeros(long.size, np.int64)
    out[short] = edit_distance([before[at] for at in short], [after[at] for at in short])
    some = edits.where(long[edits.row])
    old, new = corpus.cut(some.spans(corpus.offsets)).strings(), some.text.strings()
    return out + np.bincount(some.row, edit_distance(old, new), long.size).astype(np.int64)
