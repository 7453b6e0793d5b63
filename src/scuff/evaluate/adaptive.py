"""Where more cases pay: cells whose interval is still too wide and would narrow if each example had more cases."""

from __future__ import annotations

import numpy as np

from .interval import mean_interval, resamples, weighted_means
from .protocol import Protocol
from .table import Table
from .truth import Truth

NEGLIGIBLE = 0.1  # of the variance: below that more cases would not narrow the interval by more than a twentieth


def open_cells(table: Table, protocol: Protocol, truth: Truth, cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of the cells that were open in the last round, those that stay open.

    A mean over examples varies because examples differ and because each has few cases. Only the second part shrinks with
    more cases; a cell in which it is a small part of the whole is closed, however wide its interval.
    """
    assert protocol.width is not None, "only an adaptive protocol has rounds"
    draws = resamples(table.examples, protocol.seed)
    means, again = weighted_means(table.mean_score, truth.weight, draws)
    ones = np.ones(len(table.cell))
    count = table.per_example(ones, table.answered)
    square = table.per_example(np.nan_to_num(table["score"]).astype(np.float64) ** 2, table.answered)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (square / count - table.mean_score**2) / np.maximum(count - 1, 1)  # variance of an example's mean
    left = []
    for dimension, degree in cells:
        here = table.mean_score[dimension, degree]
        known = np.isfinite(here)
        low, high = mean_interval(float(means[dimension, degree]), again[dimension, degree], int(known.sum()))
        between = np.var(here[known]) if known.any() else 0.0
        within = np.nanmean(spread[dimension, degree][known]) if known.any() else 0.0
        if high - low > protocol.width and within > NEGLIGIBLE * between:
            left.append((dimension, degree))
    return left
