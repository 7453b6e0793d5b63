"""Batches of as many tokens as the machine takes fastest, and of fewer where its memory does not suffice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from .pieces import Pieces

Result = TypeVar("Result")
SECONDS = 2.0  # that trials may take
MARGIN = 1.15  # by which a size must beat the usual one: clocks are not exact, and no two trials see the same rows
TWICE = 2  # the first batch of a size also pays for memory that is fetched once


class Tuner:
    """Tries sizes on batches that have to be asked anyway, from small to large, until they get slower.

    otherwise: the usual size, which stays where none is clearly faster or time runs out.
    """

    def __init__(self, sizes: Sequence[int], otherwise: int) -> None:
        self.sizes, self.otherwise = sizes, otherwise
        self.speed: dict[int, float] = {}  # tokens per second
        self.trials, self.seconds = 0, 0.0

    @property
    def enough(self) -> int:
        """Tokens that all trials together may take."""
        return TWICE * sum(self.sizes)

    @property
    def size(self) -> int:
        return self.sizes[self.trials // TWICE]

    def record(self, tokens: int, seconds: float) -> int | None:
        """Note a trial; the best size once it is known."""
        size = self.size
        self.speed[size] = max(self.speed.get(size, 0.0), tokens / max(seconds, 1e-9))
        self.trials += 1
        self.seconds += seconds
        complete = self.trials % TWICE == 0
        slower = complete and self.speed[size] < 0.9 * max(self.speed.values())
        if not slower and self.seconds < SECONDS and self.trials < TWICE * len(self.sizes):
            return None
        if not complete:  # a size that was tried once would look slower than it is
            del self.speed[size]
        if self.otherwise not in self.speed:
            return self.otherwise
        best = max(self.speed, key=self.speed.__getitem__)
        return best if self.speed[best] > MARGIN * self.speed[self.otherwise] else self.otherwise


def in_batches(
    pieces: Pieces,
    step: Callable[[int, int], Result],
    tokens: int | None,
    tuner: Tuner,
    wait: Callable[[Result], object],
) -> tuple[list[Result], int | None]:
    """What `step(begin, end)` gives for all rows, and the batch size that was settled on, if it was.

    tokens: that size if it is known. wait: for a result that a device may still be working on, so that the clock is right.
    """
    done: list[Result] = []
    tuning = tokens is None and int(pieces.length.sum()) >= tuner.enough
    at = 0
    while at < len(pieces):
        size = tokens or (tuner.size if tuning else tuner.otherwise)
        end = pieces.fit(at, size)
        begin = time.perf_counter()
        try:
            done.append(step(at, end))
        except RuntimeError as error:  # not torch.OutOfMemoryError: some devices raise nothing more exact
            if not is_memory(error) or end - at == 1:
                raise
            tokens, tuning = max(1, (end - at) * int(pieces.length[at]) // 2), False
            continue
        if tuning:
            wait(done[-1])
            tokens = tuner.record((end - at) * int(pieces.length[at]), time.perf_counter() - begin)
            tuning = tokens is None
        at = end
    return done, tokens


def is_memory(error: RuntimeError) -> bool:
    said = str(error).lower()
    return "out of memory" in said or "can't allocate memory" in said or "not enough memory" in said
