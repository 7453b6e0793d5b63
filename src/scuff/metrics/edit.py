"""How far a text is from the original, in characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def edit_distance(before: Sequence[str], after: Sequence[str]) -> npt.NDArray[np.int64]:
    """Levenshtein distances of texts row by row, in code points; over the length it is RobTest's degree (appendix C)."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    return cpdist(before, after, scorer=Levenshtein.distance, dtype=np.int64)
