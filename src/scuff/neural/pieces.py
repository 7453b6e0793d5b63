"""Texts as the pieces of a Hugging Face tokenizer, longest first, and batches of them as padded arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any, TypeVar

import numpy as np

from ..text.ragged import Ints, Mask

Column = Sequence[Any]
Kind = TypeVar("Kind", bound="Pieces")
Read = Callable[[Any], Sequence[int]] | None  # of a tokenizer's row; None: zeros


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
    flat: dict[str, Ints]
    """input_ids; token_type_ids where there are any; where asked for, `word`, the token of a piece (-1: of none), or `side`, the
    column (-1: none), `begin` and `end`, its place in the text there."""

    @classmethod
    def of(cls: type[Kind], rows: dict[str, Sequence[Sequence[int]]]) -> Kind:
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

    def pad(self, at: int, end: int, fill: dict[str, int], left: bool, step: int = 1) -> Batch:
        """Rows as arrays, a multiple of `step` wide; `fill` names those that are wanted and what stands where no piece is."""
        length = self.length[at:end, None]
        width = -(-length[0, 0] // step) * step
        column = np.arange(width)
        mask = column >= width - length if left else column < length
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


def encode(
    tokenizer: Any, columns: Sequence[Column], max_length: int, words: bool = False, places: bool = False
) -> Pieces:
    """Cut texts, pairs of texts, or (`words`) texts in tokens into pieces, at most `max_length` of them.

    places: also note in which column (side; -1 for marks that the tokenizer sets) and where in its text a piece stands.
    """
    # a tokenizer that marks no ends makes nothing of an empty text; one piece has to stand there
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id, tokenizer.pad_token_id, 0)
    spare = {"input_ids": next(number for number in marks if number is not None), "word": -1, "side": -1}
    if tokenizer.is_fast:
        found = _encode_fast(tokenizer, columns, max_length, words, places)
        read: dict[str, Read] = {"input_ids": lambda row: row.ids}
        if "token_type_ids" in tokenizer.model_input_names:
            # types of single texts do not depend on the text: if one has no other than 0, none has
            typed = len(columns) > 1 or any(any(row.type_ids) for row in sorted(found, key=len)[-1:])
            read["token_type_ids"] = (lambda row: row.type_ids) if typed else None
        if words:
            read["word"] = lambda row: [-1 if word is None else word for word in row.word_ids]
        if places:
            read["side"] = lambda row: [-1 if side is None else side for side in row.sequence_ids]
            read["begin"] = lambda row: [begin for begin, _ in row.offsets]
            read["end"] = lambda row: [end for _, end in row.offsets]
        return _gathered(found, read, spare)
    rows = tokenizer(*map(list, columns), truncation=True, max_length=max_length, padding=False)
    names = [name for name in ("input_ids", "token_type_ids") if name in rows]
    return Pieces.of({name: [row or [spare.get(name, 0)] for row in rows[name]] for name in names})


def _encode_fast(tokenizer: Any, columns: Sequence[Column], max_length: int, words: bool, places: bool) -> list[Any]:
    """What `tokenizer(...)` does, without the dictionaries that it builds for every row."""
    backend = tokenizer.backend_tokenizer
    before = backend.truncation, backend.padding  # some tokenizers are stored with 128 and padding
    backend.no_padding()
    backend.enable_truncation(max_length, strategy="longest_first", direction=tokenizer.truncation_side)
    try:
        texts = list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))
        # the fast one does not note where pieces come from
        encode_all = backend.encode_batch if words or places else backend.encode_batch_fast
        return list(encode_all(texts, is_pretokenized=words))
    finally:
        backend.no_truncation()
        for again, settings in zip((backend.enable_truncation, backend.enable_padding), before, strict=True):
            if settings is not None:
                again(**settings)


def _gathered(found: list[Any], read: dict[str, Read], spare: dict[str, int]) -> Pieces:
    """Straight into arrays, a row at a time: a list of lists for all rows would keep Python's garbage collector busy."""
    length = np.fromiter(map(len, found), np.int64, len(found))
    order = np.argsort(-length, kind="stable")
    total, empty = int(length.sum()), np.count_nonzero(length == 0)  # empty rows come last
    found = [found[i] for i in order.tolist()]
    flat = {}
    for name, values in read.items():
        pieces = chain.from_iterable(map(values, found)) if values else repeat(0, total)
        flat[name] = np.append(np.fromiter(pieces, np.int64, total), np.full(empty, spare.get(name, 0)))
    return Pieces(order, np.maximum(length[order], 1), flat)
