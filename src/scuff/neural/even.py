"""Batches whose shape follows from the length of their rows alone, so that a row's result does not depend on its company.

Matrix products round differently for different shapes. What is chosen by score, a word or a degree, would then change now and
then with the texts that happen to be asked together; here rows of like length always go in batches of the same shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..text.ragged import Ints, spread
from .batching import is_memory
from .library import answering, quiet
from .loading import Loaded
from .pieces import Pieces

STEP = 8  # rows are padded to multiples of so many pieces
# of a batch: fewer would be slower, more would fill up more rows (on a GPU 16,384 two to ten times as many as a block has)
TOKENS = {"cpu": 512, "cuda": 4096}


class EvenPieces(Pieces):
    """Pieces whose batches end where the padded length changes."""

    def width(self, at: int) -> int:
        return -(-int(self.length[at]) // STEP) * STEP

    def rows(self, at: int, tokens: int) -> int:
        """Of a batch with row `at`, with those that fill it up."""
        return max(1, tokens // self.width(at))

    def fit(self, at: int, tokens: int) -> int:
        shorter = np.searchsorted(-self.length, STEP - self.width(at))  # the first row that needs fewer pieces
        return min(int(shorter), at + self.rows(at, tokens))

    def even(self, at: int, tokens: int, pad: int) -> tuple[Ints, dict[str, Ints]]:
        """The batch that begins at row `at`: which rows, again and again until it is full, and the arrays for a network."""
        end = self.fit(at, tokens)
        rows = at + np.arange(self.rows(at, tokens)) % (end - at)
        mask = np.arange(self.width(at)) < self.length[rows, None]
        ids = np.full(mask.shape, pad, np.int64)
        ids[mask] = self.flat["input_ids"][spread(self.start[rows], self.length[rows])]
        return rows, {"input_ids": ids, "attention_mask": mask.astype(np.int64)}


def room(loaded: Loaded) -> int:
    """Pieces of the longest row, padded."""
    return max(STEP, loaded.longest // STEP * STEP)


def run(
    loaded: Loaded, pieces: EvenPieces, answer: Callable[[dict[str, Any], Ints], Any], *, share: int = 1
) -> list[Any]:
    """What `answer(inputs, rows)` gives for batches of all rows, in the order of `pieces`; rows: their numbers there.

    share: how many times as much memory as usual a row takes.
    Where memory does not suffice, everything is asked again in smaller batches: half of it in one shape and half in another
    would not be even.
    """
    import torch

    device = loaded.model.device
    tokens = loaded.batch_tokens or TOKENS["cuda" if device.type == "cuda" else "cpu"] // share
    while True:
        done, at = [], 0
        try:
            with quiet(), answering(loaded.model):
                while at < len(pieces):
                    rows, arrays = pieces.even(at, tokens, loaded.pad)
                    inputs = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
                    end = pieces.fit(at, tokens)
                    done.append(answer(inputs, rows)[: end - at])
                    at = end
            return done
        except RuntimeError as error:
            if not is_memory(error) or tokens <= STEP:
                raise
            tokens = loaded.batch_tokens = tokens // 2
