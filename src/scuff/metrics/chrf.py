"""chrF, the share of common character n-grams: as a metric by sacrebleu, as a distance between texts by arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..text.ragged import Bits, Codes, Floats, Ints, Ragged, bounds, spread
from ..text.random import BASE, mix
from .base import Answers, Mean, Task

ORDERS, BETA = 6, 2  # n-grams of 1 to 6 characters; recall counts twice as much as precision (sacrebleu's defaults)
PART = 1_000_000  # characters that are compared at once


@dataclass(frozen=True)
class Chrf(Mean):
    """Sentence chrF (Popović, 2015) by sacrebleu, averaged over texts."""

    name: ClassVar[str] = "chrf"
    summary: ClassVar[str] = "the character n-grams that a text shares with its reference (chrF), averaged over texts"
    title: ClassVar[str] = "chrF"
    tasks: ClassVar[tuple[Task, ...]] = ("text",)

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        return chrf(answers.tolist(), targets.tolist())


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
    """1 - chrF of each changed text against the original: sacrebleu's numbers, by arrays. 0 for equal texts, even empty ones."""
    out = np.empty(len(before))
    solid = [["".join(text.split()) for text in texts] for texts in (before, after)]  # white space does not count
    size = np.cumsum([len(one) + len(other) for one, other in zip(before, after, strict=True)])
    edges = [0, *(np.flatnonzero(np.diff(size // PART)) + 1).tolist(), len(before)]
    for low, high in pairwise(edges):
        out[low:high] = 1 - _alike(Ragged.of(solid[1][low:high]), Ragged.of(solid[0][low:high]))
    out[[at for at in range(len(before)) if before[at] == after[at]]] = 0
    return out


def _alike(hypothesis: Ragged, reference: Ragged) -> Floats:
    """chrF of text pairs. Counts n-grams only where the two texts differ, since all others match."""
    mine, wanted = _apart(hypothesis, reference)
    precision, recall, orders = np.zeros((3, len(hypothesis)))
    for order in range(1, ORDERS + 1):
        of_mine, of_wanted = (np.maximum(texts.lengths - order + 1, 0) for texts in (hypothesis, reference))
        match = of_wanted - _lost(*_grams(wanted, order), _grams(mine, order)[0], len(hypothesis))
        both = (of_mine > 0) & (of_wanted > 0)
        precision += np.where(both, match / np.maximum(of_mine, 1), 0)
        recall += np.where(both, match / np.maximum(of_wanted, 1), 0)
        orders += both
    precision, recall = precision / np.maximum(orders, 1), recall / np.maximum(orders, 1)
    return (1 + BETA**2) * precision * recall / np.maximum(BETA**2 * precision + recall, 1e-16)


def _apart(one: Ragged, other: Ragged) -> tuple[Ragged, Ragged]:
    """The middle parts in which two texts differ, with as many characters around them as an n-gram reaches."""
    size = np.minimum(one.lengths, other.lengths)
    begin = _run(one.codes, other.codes, one.offsets[:-1], other.offsets[:-1], size, 1)
    end = _run(one.codes, other.codes, one.offsets[1:] - 1, other.offsets[1:] - 1, size - begin, -1)
    added = (begin == other.lengths) | (end == other.lengths)  # only added at one end: no n-gram of the other is lost
    begin, end = np.maximum(begin - ORDERS + 1, 0), np.maximum(end - ORDERS + 1, 0)

    def middle(texts: Ragged) -> Ragged:
        length = np.where(added, 0, texts.lengths - begin - end)
        return Ragged(texts.codes[spread(texts.offsets[:-1] + begin, length)], bounds(length))

    return middle(one), middle(other)


def _run(one: Codes, other: Codes, from_one: Ints, from_other: Ints, most: Ints, step: int) -> Ints:
    """How many characters are equal from given places on, forwards (step 1) or backwards (-1), at most `most`."""
    place = spread(np.zeros_like(most), most)
    row = np.repeat(np.arange(most.size), most)
    differs = np.flatnonzero(one[from_one[row] + step * place] != other[from_other[row] + step * place])
    out = most.copy()
    np.minimum.at(out, row[differs], place[differs])
    return out


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


def _lost(wanted: Bits, row: Ints, mine: Bits, rows: int) -> Ints:
    """Counts the n-grams of each reference that the other text lacks."""
    keys, first, often = np.unique(wanted, return_index=True, return_counts=True)
    at = np.searchsorted(keys, mine)
    same = np.append(keys, np.uint64(0))[at] == mine
    there = np.bincount(at[same & (at < keys.size)], minlength=keys.size)
    return np.bincount(row[first], np.maximum(often - there, 0), rows).astype(np.int64)
