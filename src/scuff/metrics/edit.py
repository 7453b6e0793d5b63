"""How far a text is from the original, in characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def edit_distance(before: Sequence[str], after: Sequence[str]) -> npt.NDArray[np.int64]:
    """Levenshtein distances of texts row by row, in code points."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    return cpdist(before, after, scorer=Levenshtein.distance, dtype=np.int64)


def relative_edit_distance(before: Sequence[str], after: Sequence[str]) -> npt.NDArray[np.float64]:
    """Levenshtein distance over the length of the original (RobTest, appendix C); 0 for an empty original."""
    length = np.fromiter(map(len, before), np.int64, len(before))
    return edit_distance(before, after) / np.maximum(length, 1)
