"""Edit distances of many short texts at once."""

from __future__ import annotations

import numpy as np

from .ragged import Codes, Ints, Mask, Ragged, bounds, spread

BITS = 64  # of a machine word, which holds a column of the table


def edit_distance(old: Ragged, new: Ragged, *, bound: Ints | None = None) -> Ints:
    """How many code points must be inserted, deleted or replaced to make each new text of the old one (Levenshtein).

    Common beginnings and ends are left out first. Where more than 64 code points are left, the answer is `bound`; without one the
    length of the longer text is taken, which is never too low. Bit-parallel, after Myers 1999 and Hyyrö 2003.
    """
    bound = np.maximum(old.lengths, new.lengths) if bound is None else bound
    ahead = _common(old, new, np.minimum(old.lengths, new.lengths), 0)
    behind = _common(old, new, np.minimum(old.lengths, new.lengths) - ahead, 1)
    old_size, new_size = old.lengths - ahead - behind, new.lengths - ahead - behind
    out = np.maximum(old_size, new_size)  # right if one of the two is empty, or has one code point
    hard = np.minimum(old_size, new_size) > 1
    long = hard & (np.maximum(old_size, new_size) > BITS)
    out[long] = np.minimum(bound[long], out[long])
    left = np.flatnonzero(hard & ~long)
    one = np.flatnonzero((np.minimum(old_size, new_size) == 1) & (out > 1))
    return out
