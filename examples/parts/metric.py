"""A metric: one row of numbers per example, and a score of the sum of such rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from scuff.metrics import Metric
from scuff.text.ragged import Floats


@dataclass(frozen=True)
class BalancedAccuracy(Metric):
    """The mean over labels of the share of their examples that is right: rare labels count as much."""

    name: ClassVar[str] = "balanced-accuracy"
    summary: ClassVar[str] = "accuracy in which every label counts alike"
    tasks = ("single",)

    def statistics(self, answers: npt.NDArray[Any], targets: npt.NDArray[Any], labels: Sequence[str]) -> Floats:
        member = np.eye(len(labels))[targets]  # label numbers as rows of 0 and 1
        return np.concatenate([member * (answers == targets)[:, None], member], 1)

    def score(self, total: Floats) -> Floats:
        right, count = np.split(total, 2, axis=-1)  # also of many sums at once, for intervals
        seen = count > 0
        mean: Floats = (right / np.where(seen, count, 1)).sum(-1) / np.maximum(seen.sum(-1), 1)
        return mean
