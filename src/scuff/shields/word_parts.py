"""Parts of words: what stands between hyphens, and the possessive 's behind a word."""

from __future__ import annotations

import numpy as np

from ..text.ragged import Codes, Ints, Mask, bounds
from ..text.words import Spans

APOSTROPHE, CURLY, HYPHEN = 0x27, 0x2019, 0x2D
HYPHENS = (HYPHEN, 0x2010, 0x2011)


def at_hyphens(codes: Codes, words: Spans, hyphens: tuple[int, ...] = (HYPHEN,)) -> tuple[Spans, Ints]:
    """Words cut at their hyphens, and where the parts of each begin; a part may be empty."""
    hyphen = codes == hyphens[0]
    for other in hyphens[1:]:
        hyphen |= codes == other
    where = np.flatnonzero(hyphen)
    if not where.size:
        return words, np.arange(len(words) + 1)
    of = np.searchsorted(words.start, where, "right") - 1
    inside = (of >= 0) & (where < words.stop[of]) if len(words) else np.zeros(where.size, np.bool_)
    where, count = where[inside], 1 + np.bincount(of[inside], minlength=len(words))
    start = np.sort(np.concatenate((words.start, where + 1)), kind="stable")
    stop = np.sort(np.concatenate((words.stop, where)), kind="stable")
    return Spans(np.repeat(words.row, count), start, stop), bounds(count)


def has_own(codes: Codes, words: Spans) -> Mask:
    """Which words end in a possessive 's."""
    found = words.stop - words.start > 2
    at = np.flatnonzero(found)
    last, before = codes[words.stop[at] - 1], codes[words.stop[at] - 2]
    found[at] = (last | np.uint32(0x20) == ord("s")) & ((before == APOSTROPHE) | (before == CURLY))
    return found
