"""Texts as the pieces of a Hugging Face tokenizer, longest first, and batches of them as padded arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ..text.ragged import Ints, Mask

Column = Sequence[Any]


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of one length for a network; `mask` is true where a piece stands and false where padding does."""

    inputs: dict[str, Ints]
    mask: Mask


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of n rows, one row after the other, the longest first: row `order[i]` of the caller stands at i."""

    order: Ints
    length: Ints
    flat: dict[str, Ints]  # input_ids; token_type_ids where there are any; word, the token of a piece (-1: of none)

    @classmethod
    def of(cls, rows: dict[str, Sequence[Sequence[int]]]) -> Pieces:
        length = np.fromiter(map(len, rows["input_ids"]), np.int64)
        order = np.argsort(-length, kind="stable")
        return cls(order, length[order], {name: _flat(values, order, length) for name, values in rows.items()})

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def start(self) -> Ints:
        return np.append(0, np.cumsum(self.length))

    def fit(self, at: int, tokens: int) -> int:
        """The end of the batch that begins at row `at` and holds so many tokens with its padding, or one row."""
        return min(len(self), at + max(1, tokens // int(self.length[at])))

    def pad(self, at: int, end: int, fill: dict[str, int], left: bool) -> Batch:
        """Rows as arrays; `fill` names the arrays that are wanted and what stands where no piece is."""
        length = self.length[at:end, None]
        column = np.arange(length[0, 0])
        mask = column >= length[0, 0] - length if left else column < length
        inputs = {}
        for name, value in fill.items():
            if name in self.flat:
                inputs[name] = np.full(mask.shape, value, np.int64)
                inputs[name][mask] = self.flat[name][self.start[at] : self.start[end]]
        return Batch({**inputs, "attention_mask": mask.astype(np.int64)}, mask)

    def back(self, values: Sequence[Any]) -> list[Any]:
        """Values of the rows here, in the caller's order."""
        return [values[i] for i in np.argsort(self.order).tolist()]


def _flat(values: Sequence[Sequence[int]], order: Ints, length: Ints) -> Ints:
    return np.fromiter(chain.from_iterable(values[i] for i in order.tolist()), np.int64, int(length.sum()))


def encode(tokenizer: Any, columns: Sequence[Column], max_length: int, words: bool = False) -> Pieces:
    """Cut texts, pairs of texts, or (`words`) texts in tokens into pieces, at most `max_length` of them."""
    # a tokenizer that marks no ends makes nothing of an empty text; one piece has to stand there
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id, tokenizer.pad_token_id, 0)
    mark = next(number for number in marks if number is not None)
    if tokenizer.is_fast:
        rows = _encode_fast(tokenizer, columns, max_length, words)
    else:
        found = tokenizer(*map(list, columns), truncation=True, max_length=max_length, padding=False)
        rows = {name: found[name] for name in ("input_ids", "token_type_ids") if name in found}
    for name, values in rows.items():
        spare = {"input_ids": mark, "word": -1}.get(name, 0)
        rows[name] = [row or [spare] for row in values]
    return Pieces.of(rows)


def _encode_fast(tokenizer: Any, columns: Sequence[Column], max_length: int, words: bool) -> dict[str, Any]:
    """What `tokenizer(...)` does, without the dictionaries that it builds for every row."""
    backend = tokenizer.backend_tokenizer
    before = backend.truncation, backend.padding  # some tokenizers are stored with 128 and padding
    backend.no_padding()
    backend.enable_truncation(max_length, strategy="longest_first", direction=tokenizer.truncation_side)
    try:
        texts = list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))
        # the fast one does not note where pieces come from
        found = (backend.encode_batch if words else backend.encode_batch_fast)(texts, is_pretokenized=words)
    finally:
        backend.no_truncation()
        for again, settings in zip((backend.enable_truncation, backend.enable_padding), before, strict=True):
            if settings is not None:
                again(**settings)
    rows: dict[str, Any] = {"input_ids": [row.ids for row in found]}
    if "token_type_ids" in tokenizer.model_input_names:
        rows["token_type_ids"] = [row.type_ids for row in found]
    if words:
        rows["word"] = [[-1 if word is None else word for word in row.word_ids] for row in found]
    return rows
