"""chrF: how many character n-grams two texts share. By sacrebleu for translations, by arrays for degrees of change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..text import Ragged
from ..text.hash import BASE, mix
from ..text.ragged import Bits, Floats, Ints, bounds, sums
from ..text.unicode import classes, word_class
from ..text.unicode_data import BLANK

ORDERS, BETA = 6, 2
PART = 1_000_000  # characters at a time


class MissingMetric(LookupError):
    """A metric's package is not installed; the message is the command that installs it."""


def chrf(outputs: Sequence[str], references: Sequence[str]) -> npt.NDArray[np.float64]:
    """Sentence chrF (Popović, 2015), in [0, 1]."""
    try:
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise MissingMetric("expected sacrebleu for translations, got none: pip install 'scuff[translation]'") from None
    metric = CHRF()
    found = (
        metric.sentence_score(output, [reference]).score for output, reference in zip(outputs, references, strict=True)
    )
    return np.fromiter(found, np.float64, len(outputs)) / 100


def chrf_distance(before: Sequence[str], after: Sequence[str]) -> Floats:
    """1 - chrF of each changed text against the original. The same numbers as sacrebleu's, without its loops; 0 for equal texts,
    even if they are empty.
    """
    out = np.empty(len(before))
    size = np.cumsum([len(one) + len(other) for one, other in zip(before, after, strict=True)])
    edges = [0, *(np.flatnonzero(np.diff(size // PART)) + 1).tolist(), len(before)]
    for low, high in pairwise(edges):
        out[low:high] = 1 - _alike(_solid(after[low:high]), _solid(before[low:high]))
    out[[at for at in range(len(before)) if before[at] == after[at]]] = 0
    return out


def _solid(texts: Sequence[str]) -> Ragged:
    """Without white space."""
    ragged = Ragged.of(texts)
    kept = word_class(classes(ragged.codes)) != BLANK
    return Ragged(ragged.codes[kept], bounds(sums(kept, ragged.offsets)))


def _alike(hypothesis: Ragged, reference: Ragged) -> Floats:
    precision, recall, orders = np.zeros((3, len(hypothesis)))
    for order in range(1, ORDERS + 1):
        mine, wanted = _grams(hypothesis, order), _grams(reference, order)
        match, of_mine, of_wanted = _shared(*mine, *wanted, len(hypothesis))
        both = (of_mine > 0) & (of_wanted > 0)
        precision += np.where(both, match / np.maximum(of_mine, 1), 0)
        recall += np.where(both, match / np.maximum(of_wanted, 1), 0)
        orders += both
    precision, recall = precision / np.maximum(orders, 1), recall / np.maximum(orders, 1)
    return (1 + BETA**2) * precision * recall / np.maximum(BETA**2 * precision + recall, 1e-16)


def _grams(texts: Ragged, order: int) -> tuple[Bits, Ints]:
    """A hash of each n-gram together with its text's number, and that number."""
    codes = texts.codes.astype(np.uint64)
    row = np.repeat(np.arange(len(texts)), texts.lengths)
    state = np.zeros(max(codes.size - order + 1, 0), np.uint64)
    for place in range(order):
        state = state * np.uint64(BASE) + codes[place : place + state.size] + np.uint64(1)
    whole = row[: state.size] == row[order - 1 :]
    row = row[: state.size][whole]
    return mix(mix(state[whole]) + row.astype(np.uint64) * np.uint64(BASE)), row


def _shared(mine: Bits, my_row: Ints, wanted: Bits, its_row: Ints, rows: int) -> tuple[Ints, Ints, Ints]:
    """How many n-grams each pair shares, and how many each of the two has."""
    of_mine, of_wanted = np.bincount(my_row, minlength=rows), np.bincount(its_row, minlength=rows)
    keys, first, often = np.unique(mine, return_index=True, return_counts=True)
    other, also = np.unique(wanted, return_counts=True)
    at = np.minimum(np.searchsorted(other, keys), max(other.size - 1, 0))
    same = other[at] == keys if other.size else np.zeros(keys.size, np.bool_)
    match = np.bincount(my_row[first[same]], np.minimum(often[same], also[at[same]]), rows)
    return match.astype(np.int64), of_mine, of_wanted
