"""Examples in pieces, and batches of them by tokens: texts of like lengths together, padded to the longest of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.dataset import Text
from ..huggingface.batches import Batch, Pieces, encode
from ..text.ragged import Ints

WINDOW = 50  # batches whose examples are sorted by length together: little padding, but new neighbours in each epoch

Row = dict[str, Ints]  # the pieces of an example, and what belongs to each of them


class Cutter:
    """Cuts texts into pieces, each distinct example once; what the last call saw need not be cut again in the next one."""

    def __init__(self, tokenizer: Any, max_length: int, words: bool = False, places: bool = False) -> None:
        self.tokenizer, self.max_length, self.words, self.places = tokenizer, max_length, words, places
        self._known: dict[tuple[Text, ...], Row] = {}

    def __call__(self, columns: Sequence[Sequence[Text]]) -> list[Row]:
        examples = list(zip(*columns, strict=True))
        new = list(dict.fromkeys(example for example in examples if example not in self._known))
        found = dict(zip(new, self._cut(new), strict=True))
        known = {example: found[example] if example in found else self._known[example] for example in examples}
        self._known = known
        return [known[example] for example in examples]

    def _cut(self, examples: list[tuple[Text, ...]]) -> list[Row]:
        if not examples:
            return []
        pieces = encode(self.tokenizer, list(zip(*examples, strict=True)), self.max_length, self.words, self.places)
        parts = {name: np.split(flat.astype(np.int32), pieces.start[1:-1]) for name, flat in pieces.flat.items()}
        return pieces.back([dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)])


def token_batches(length: Ints, tokens: int, chance: np.random.Generator | None = None) -> list[Ints]:
    """Row numbers of batches, each row in one of them, the longest first in each; `tokens`: rows x longest row, padding included.

    A row that is longer than `tokens` is a batch of its own. chance: shuffles rows and batches; otherwise the longest come first.
    """
    if not len(length):
        return []
    count = 1
    order = np.arange(len(length))
    if chance is not None:
        count = max(1, round(float(length.sum()) / (WINDOW * tokens)))
        order = chance.permutation(len(length))
    out = []
    for rows in np.array_split(order, count):
        rows = rows[np.argsort(-length[rows], kind="stable")]
        while rows.size:
            fit = max(1, tokens // int(length[rows[0]]))
            out.append(rows[:fit])
            rows = rows[fit:]
    return [out[at] for at in chance.permutation(len(out))] if chance is not None else out


def joined_rows(rows: Sequence[Row], length: Ints, fill: dict[str, int], left: bool, step: int, most: int) -> Batch:
    """Rows, the longest first, as arrays of one width: that of the longest, up to a multiple of `step`, but at most `most`.

    fill: the arrays that are wanted, and the value for padding.
    """
    flat = {name: np.concatenate([row[name] for row in rows]) for name in fill if name in rows[0]}
    wide = step if -(-int(length[0]) // step) * step <= most else 1
    return Pieces(np.arange(len(rows)), length, flat).pad(0, len(rows), fill, left, wide)
