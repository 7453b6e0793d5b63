"""Edit distances of many short texts at once."""

from __future__ import annotations

import numpy as np

from .ragged import Codes, Ints, Ragged, bounds, spread

BITS = 64  # of a machine word, which holds one column of the table

PART = 1 << 14  # pairs that are worked on at once


def edit_distance(old: Ragged, new: Ragged, *, bound: Ints | None = None) -> Ints:
    """How many code points must be inserted, deleted or replaced to make each new text of the old one (Levenshtein).

    Common beginnings and ends are left out first. Where more than 64 code points are left, the answer is the smaller of `bound`
    and the longer length: never too low. Bit-parallel, after Myers 1999 and Hyyrö 2003.
    """
    shorter = np.minimum(old.lengths, new.lengths)
    ahead = _alike(old, new, old.offsets[:-1], new.offsets[:-1], shorter, back=False)
    shorter -= ahead
    behind = _alike(old, new, old.offsets[1:] - shorter, new.offsets[1:] - shorter, shorter, back=True)
    size = np.stack((old.lengths, new.lengths)) - ahead - behind
    longer = size.max(0)
    out = longer if bound is None else np.minimum(longer, bound)
    hard = np.flatnonzero((size.min(0) > 0) & (longer > 1) & (longer <= BITS))
    hard = hard[np.argsort(longer[hard], kind="stable")]  # so that pairs of like size are worked on together
    out[size.min(0) == 0] = longer[size.min(0) == 0]
    for at in range(0, hard.size, PART):
        part = hard[at : at + PART]
        out[part] = _myers(
            _padded(old, (old.offsets[:-1] + ahead)[part], size[0, part], 0xFFFFFFFF),
            _padded(new, (new.offsets[:-1] + ahead)[part], size[1, part], 0xFFFFFFFE),
            size[0, part],
            size[1, part],
        )
    return out


def _alike(old: Ragged, new: Ragged, old_start: Ints, new_start: Ints, length: Ints, *, back: bool) -> Ints:
    """How many code points two stretches of the same length share at their beginning, or, read backwards, at their end."""
    differ = np.flatnonzero(old.codes[spread(old_start, length)] != new.codes[spread(new_start, length)])
    edges = bounds(length)
    if back:
        last = np.append(-1, differ)[np.searchsorted(differ, edges[1:])]
        return edges[1:] - 1 - np.maximum(last, edges[:-1] - 1)
    first = np.append(differ, edges[-1])[np.searchsorted(differ, edges[:-1])]
    return np.minimum(first, edges[1:]) - edges[:-1]


def _padded(texts: Ragged, start: Ints, length: Ints, pad: int) -> Codes:
    """Stretches of texts as the rows of a table."""
    out = np.full((start.size, int(length.max())), pad, np.uint32)
    out[np.arange(out.shape[1]) < length[:, None]] = texts.codes[spread(start, length)]
    return out


def _myers(old: Codes, new: Codes, old_size: Ints, new_size: Ints) -> Ints:
    """A column of the table is two bit vectors: where it goes up by one, and where down. One step a letter of `new`."""
    one = np.uint64(1)
    last = one << (old_size - 1).astype(np.uint64)
    power = one << np.arange(old.shape[1], dtype=np.uint64)
    up, down = np.full(old_size.size, ~np.uint64(0)), np.zeros(old_size.size, np.uint64)
    distance = old_size.copy()
    for at in range(new.shape[1]):
        equal = np.bitwise_or.reduce(np.where(old == new[:, at : at + 1], power, np.uint64(0)), axis=1) | down
        diagonal = (((equal & up) + up) ^ up) | equal
        right_up, right_down = down | ~(diagonal | up), diagonal & up
        goes_on = at < new_size
        distance += (goes_on & ((right_up & last) > 0)).astype(np.int64)
        distance -= (goes_on & ((right_down & last) > 0)).astype(np.int64)
        right_up, right_down = (right_up << one) | one, right_down << one
        up, down = right_down | ~(diagonal | right_up), right_up & diagonal
    return distance
