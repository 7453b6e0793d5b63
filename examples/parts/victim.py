"""A victim: a model that needs more than a function, here because it names its labels and gives scores."""

from __future__ import annotations

import numpy as np

from scuff.victims import Access, Column, Outputs, Victim


class Keywords(Victim):
    """Reviews with more of the good words than of the bad ones are positive."""

    task = "single"
    labels = ("negative", "positive")  # in the order of the scores
    access = Access.SCORE

    def __init__(self, good: str = "good great love superb", bad: str = "bad worse cold awful") -> None:
        self.good, self.bad = good.split(), bad.split()
        self.name = f"keywords of {good}, {bad}"  # another model, another name

    def __call__(self, *columns: Column) -> Outputs:
        words = [str(text).lower().split() for text in columns[0]]
        margin = [sum((w in self.good) - (w in self.bad) for w in text) for text in words]
        positive = 1 / (1 + np.exp(-np.array(margin, np.float64)))
        return Outputs.of(np.stack([1 - positive, positive], 1))
