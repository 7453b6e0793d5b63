"""Degrees are enforced here: takes as many proposed edits as keep the measured distance of a text within the degree.

`by_characters` measures the edit distance, `by_meaning` the distance in meaning; both take the edits of each text in a given
order. `cases.py` calls them. A degree that is a share of units (words, letters) needs no measuring: `cases.py` counts units. It
also drops any case that is above the degree in the end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..metrics.edit import edits_distance
from ..metrics.meaning import Distance
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Floats, Ints, bounds, spread
from ..text.random import Rng, shuffled

ROUNDS = 8  # in which more edits are tried; the first guess is mostly right

STEPS = 10  # sentence-level edits that are tried, one after the other

PASSED_OVER = 4  # of them, if they go too far by themselves


def renumbered(edits: Edits, place: Ints) -> Edits:
    """The edits of some rows, under new numbers; -1 drops a row."""
    kept = edits.where(place[edits.row] >= 0)
    return replace(kept, row=place[kept.row]).in_order()


def taken(edits: Edits, rank: Ints, count: Ints, rows: Ints) -> Edits:
    """The first `count` edits of some rows, numbered as these rows are."""
    place = np.full(count.size, -1, np.int64)
    place[rows] = np.arange(rows.size)
    return renumbered(edits.where(rank < count[edits.row]), place)


def ranked(row: Ints, *keys: npt.NDArray[Any]) -> Ints:
    """Each edit's place among those of its row: by the last key, then the one before it (as np.lexsort has it)."""
    order = np.lexsort((*keys, row))
    out = np.empty(row.size, np.int64)
    out[order] = np.arange(row.size) - np.searchsorted(row[order], row[order])
    return out


def ranked_by_chance(edits: Edits, rng: Rng) -> Ints:
    """Places at random, for edits that are in order."""
    count = np.bincount(edits.row)
    out = np.empty(len(edits), np.int64)
    out[shuffled(count, rng.bits(edits.row, edits.site))] = spread(np.zeros_like(count), count)
    return out


def by_characters(corpus: Corpus, edits: Edits, rank: Ints, degree: float) -> Edits:
    """As many of each text's edits, in order of rank, as keep its edit distance within the degree.

    Costs are upper bounds, and what one edit inserts another may delete; so the distance itself is measured, and the number of
    edits is searched for between one that fits and one that does not.
    """
    limit = np.floor(corpus.lengths * degree + 1e-9).astype(np.int64)
    every = np.arange(len(corpus))
    total = np.bincount(edits.row, minlength=len(corpus))
    fits = _affordable(edits, rank, limit)
    reached = edits_distance(corpus, taken(edits, rank, fits, every))
    above = total + 1  # does not fit, or does not exist
    for _ in range(ROUNDS):
        left = np.flatnonzero((reached < limit) & (fits + 1 < above))
        if not left.size:
            break
        gap = limit[left] - reached[left]
        each = np.maximum(reached[left], 1) / np.maximum(fits[left], 1)
        guess = fits[left] + np.maximum(1, (gap / each).astype(np.int64))
        too_many = above[left] <= total[left]  # known not to fit: halve
        guess = np.where(too_many, np.minimum(guess, (fits[left] + above[left]) // 2), np.minimum(guess, total[left]))
        count = fits.copy()
        count[left] = guess
        found = edits_distance(corpus.take(left), taken(edits, rank, count, left))
        good = found <= limit[left]
        fits[left[good]], reached[left[good]] = guess[good], found[good]
        above[left[~good]] = guess[~good]
    return taken(edits, rank, fits, every)


def _affordable(edits: Edits, rank: Ints, limit: Ints) -> Ints:
    """How many edits of each row fit if each costs what it says."""
    first = bounds(np.bincount(edits.row, minlength=limit.size))[edits.row]
    cost = np.empty(len(edits), np.int64)
    cost[first + rank] = np.maximum(edits.cost, 1)
    spent = np.cumsum(cost)
    spent -= (spent - cost)[first]
    return np.bincount(edits.row[spent <= limit[edits.row]], minlength=limit.size)


def by_meaning(corpus: Corpus, edits: Edits, rank: Ints, degree: float, far: Distance) -> tuple[Edits, Floats]:
    """Each text's edits in order of rank, up to the first that would take it farther than the degree; and how far it got.

    As long as none was taken, one that goes too far is passed over, a few times. (To pass over later ones, too, would mean ten
    times as many texts to measure, none of them the same at another degree.)
    """
    before = corpus.strings()
    reached, count = np.zeros(len(corpus)), np.zeros(len(corpus), np.int64)
    open_to = np.ones(len(corpus), np.bool_)
    kept = np.zeros(len(edits), np.bool_)
    for step in range(min(STEPS, int(rank.max(initial=-1)) + 1)):
        new = np.flatnonzero((rank == step) & open_to[edits.row])  # at most one a row
        rows = edits.row[new]
        place = np.full(len(corpus), -1, np.int64)
        place[rows] = np.arange(rows.size)
        tried = kept.copy()
        tried[new] = True
        after = corpus.take(rows).apply(renumbered(edits.where(tried), place)).strings()
        found = far([before[row] for row in rows.tolist()], after)
        good = found <= degree + 1e-9
        kept[new[good]] = True
        reached[rows[good]] = found[good]
        count[rows[good]] += 1
        open_to[rows[~good]] = (count[rows[~good]] == 0) & (step + 1 < PASSED_OVER)
    return edits.where(kept), reached
