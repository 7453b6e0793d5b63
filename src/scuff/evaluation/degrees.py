"""Enforces degrees: keeps as many proposed edits as leave the measured distance of a text within the degree.

`by_characters` measures the edit distance, `by_meaning` the distance in meaning; both take the edits of each text in a given
order. `cases.py` calls them. A degree that is a share of units (words, letters) needs no measuring: `cases.py` counts units. It
also drops any case that is above the degree in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def renumbered(edits: Edits, place: Ints) -> Edits:
    """Returns the edits with each row replaced by its entry in `place`; edits of rows with -1 are dropped."""
    kept = edits.where(place[edits.row] >= 0)
    return replace(kept, row=place[kept.row]).in_order()


def _first_edits(edits: Edits, rank: Ints, count: Ints, rows: Ints) -> Edits:
    """Returns the edits of these rows whose rank is below the row's `count`; rows are renumbered 0, 1, ... in the order given."""
    place = np.full(count.size, -1, np.int64)
    place[rows] = np.arange(rows.size)
    return renumbered(edits.where(rank < count[edits.row]), place)


def ranked(row: Ints, *keys: npt.NDArray[Any]) -> Ints:
    """Returns each edit's rank among those of its row. The last key sorts first, as in np.lexsort."""
    order = np.lexsort((*keys, row))
    out = np.empty(row.size, np.int64)
    out[order] = np.arange(row.size) - np.searchsorted(row[order], row[order])
    return out


def ranked_by_chance(edits: Edits, rng: Rng) -> Ints:
    """Returns random ranks within each row. The edits must be in order."""
    count = np.bincount(edits.row)
    out = np.empty(len(edits), np.int64)
    out[shuffled(count, rng.bits(edits.row, edits.site))] = spread(np.zeros_like(count), count)
    return out


ROUNDS = 8  # of guesses at how many more edits fit; the first guess is mostly right


def most_units(total: Ints, degree: float, rounding: str = "down") -> Ints:
    """Returns how many of so many words or characters a degree lets change: rounded down, so that it is never exceeded, or up, as
    RobTest's code does, so that a text of ten words changes at 0.05, too.
    """
    exact = total * degree
    return (np.ceil(exact - 1e-9) if rounding == "up" else np.floor(exact + 1e-9)).astype(np.int64)


def by_characters(
    corpus: Corpus, edits: Edits, rank: Ints, degree: float, rounding: str = "down", before: Sequence[str] | None = None
) -> tuple[Edits, Ints]:
    """Returns as many of each text's edits, in order of rank, as keep its edit distance within the degree, and the distances.

    The costs of edits are only upper bounds, and one edit may delete what another inserts. So the distance is measured, and
    the number of edits is searched between one that is known to fit and one that is known not to. before: the texts, if they
    are known as strings already.
    """
    limit = most_units(corpus.lengths, degree, rounding)
    before = corpus.strings() if before is None else before
    every = np.arange(len(corpus))
    total = np.bincount(edits.row, minlength=len(corpus))
    fits = _affordable(edits, rank, limit)
    chosen = _first_edits(edits, rank, fits, every)
    reached, changed = edits_distance(corpus, chosen, before), False
    above = total + 1  # so many edits do not fit, or there are fewer
    for _ in range(ROUNDS):
        left = np.flatnonzero((reached < limit) & (fits + 1 < above))
        if not left.size:
            break
        gap = limit[left] - reached[left]
        each = np.maximum(reached[left], 1) / np.maximum(fits[left], 1)
        guess = fits[left] + np.maximum(1, (gap / each).astype(np.int64))
        too_many = above[left] <= total[left]  # `above` is known not to fit: guess the middle at most
        guess = np.where(too_many, np.minimum(guess, (fits[left] + above[left]) // 2), np.minimum(guess, total[left]))
        count = fits.copy()
        count[left] = guess
        some = [before[row] for row in left.tolist()]
        distance = edits_distance(corpus.take(left), _first_edits(edits, rank, count, left), some)
        good = distance <= limit[left]
        changed = changed or bool(good.any())
        fits[left[good]], reached[left[good]] = guess[good], distance[good]
        above[left[~good]] = guess[~good]
    return (_first_edits(edits, rank, fits, every) if changed else chosen), reached


def _affordable(edits: Edits, rank: Ints, limit: Ints) -> Ints:
    """Returns how many edits of each row fit into its limit by their own costs, which are upper bounds."""
    first = bounds(np.bincount(edits.row, minlength=limit.size))[edits.row]
    cost = np.empty(len(edits), np.int64)
    cost[first + rank] = np.maximum(edits.cost, 1)
    spent = np.cumsum(cost)
    spent -= (spent - cost)[first]
    return np.bincount(edits.row[spent <= limit[edits.row]], minlength=limit.size)


STEPS = 10  # sentence-level edits that are tried, one after the other
PASSED_OVER = 4  # a text whose first so many edits all exceed the degree keeps none


def by_meaning(corpus: Corpus, edits: Edits, rank: Ints, degree: float, far: Distance) -> tuple[Edits, Floats]:
    """Returns each text's edits in order of rank, up to the first that exceeds the degree, and the distance in meaning reached.

    Before the first edit that fits, edits that exceed the degree are skipped, unless the first PASSED_OVER all do. Later ones are
    not skipped: that would measure ten times as many texts, none of them the same at another degree.
    """
    before = corpus.strings()
    reached, count = np.zeros(len(corpus)), np.zeros(len(corpus), np.int64)
    active = np.ones(len(corpus), np.bool_)  # texts that may take another edit
    kept = np.zeros(len(edits), np.bool_)
    for step in range(min(STEPS, int(rank.max(initial=-1)) + 1)):
        new = np.flatnonzero((rank == step) & active[edits.row])  # at most one per text
        rows = edits.row[new]
        place = np.full(len(corpus), -1, np.int64)
        place[rows] = np.arange(rows.size)
        tried = kept.copy()
        tried[new] = True
        after = corpus.take(rows).apply(renumbered(edits.where(tried), place)).strings()
        distance = far([before[row] for row in rows.tolist()], after)
        good = distance <= degree + 1e-9
        kept[new[good]] = True
        reached[rows[good]] = distance[good]
        count[rows[good]] += 1
        active[rows[~good]] = (count[rows[~good]] == 0) & (step + 1 < PASSED_OVER)
    return edits.where(kept), reached
