"""Full batches for a network: texts as pieces, sorted by length, padded, in the batch size that is fastest here."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from typing import Any, TypeVar

import numpy as np

from ..text.ragged import Ints, Mask, spread
from .loading import Loaded, answering, quiet
from .templates import template_of
from .words import backend_of, bare, words_of

# ---- texts as pieces ----

Kind = TypeVar("Kind", bound="Pieces")
Read = Callable[[Any], Sequence[int]] | None  # reads values of a tokenizer's row; None: zeros


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of one length for a network; `mask` is true where a piece stands and false where padding does."""

    inputs: dict[str, Ints]
    mask: Mask


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of n rows, one row after the other, the longest first: row `order[i]` of the caller stands at i.

    flat: input_ids; token_type_ids if the model has them; if asked for, `word`, the token that a piece is of (-1: none), or
    `side`, its column (-1: none), with `begin` and `end`, its place in the text there. texts: how many a row has.
    """

    order: Ints
    length: Ints
    flat: dict[str, Ints]
    texts: int = 1

    @classmethod
    def of(cls: type[Kind], rows: dict[str, Sequence[Sequence[int]]]) -> Kind:
        """From the values of each row, by name."""
        length = np.fromiter(map(len, rows["input_ids"]), np.int64)
        order = np.argsort(-length, kind="stable")
        return cls(order, length[order], {name: _flat(values, order, length) for name, values in rows.items()})

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def start(self) -> Ints:
        """Where each row begins, and, as the last entry, where all end."""
        return np.append(0, np.cumsum(self.length))

    def fit(self, at: int, tokens: int) -> int:
        """The end of the batch that begins at row `at` and has at most so many tokens with its padding, but at least one row."""
        return min(len(self), at + max(1, tokens // int(self.length[at])))

    def pad(self, at: int, end: int, fill: dict[str, int], left: bool, step: int = 1) -> Batch:
        """Rows as arrays whose width is a multiple of `step`; `fill`: the arrays that are wanted, and the value for padding."""
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
        """Values of these rows in the caller's order."""
        return [values[i] for i in np.argsort(self.order).tolist()]


def _flat(values: Sequence[Sequence[int]], order: Ints, length: Ints) -> Ints:
    return np.fromiter(chain.from_iterable(values[i] for i in order.tolist()), np.int64, int(length.sum()))


def encode(
    tokenizer: Any, columns: Sequence[Sequence[Any]], max_length: int, words: bool = False, places: bool = False
) -> Pieces:
    """Cut texts, pairs of texts, or (`words`) texts in tokens into pieces, at most `max_length` of them.

    places: also note in which column (side; -1 for marks that the tokenizer sets) and where in its text a piece stands.
    """
    # without marks at its ends an empty text has no pieces; one has to stand there
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id, tokenizer.pad_token_id, 0)
    spare = {"input_ids": next(number for number in marks if number is not None), "word": -1, "side": -1}
    if tokenizer.is_fast:
        if not words and not places and (known := _encode_known(tokenizer, columns, max_length, spare["input_ids"])):
            return known
        found = _encode_fast(tokenizer, columns, max_length, words, places)
        read: dict[str, Read] = {"input_ids": lambda row: row.ids}
        if "token_type_ids" in tokenizer.model_input_names:
            # types of single texts do not depend on the text: if one row has no other than 0, none has
            typed = len(columns) > 1 or any(any(row.type_ids) for row in sorted(found, key=len)[-1:])
            read["token_type_ids"] = (lambda row: row.type_ids) if typed else None
        if words:
            read["word"] = lambda row: [-1 if word is None else word for word in row.word_ids]
        if places:
            read["side"] = lambda row: [-1 if side is None else side for side in row.sequence_ids]
            read["begin"] = lambda row: [begin for begin, _ in row.offsets]
            read["end"] = lambda row: [end for _, end in row.offsets]
        return _gathered(found, read, spare, len(columns))
    rows = tokenizer(*map(list, columns), truncation=True, max_length=max_length, padding=False)
    names = [name for name in ("input_ids", "token_type_ids") if name in rows]
    pieces = Pieces.of({name: [row or [spare.get(name, 0)] for row in rows[name]] for name in names})
    return replace(pieces, texts=len(columns))


def _encode_known(tokenizer: Any, columns: Sequence[Sequence[str]], max_length: int, spare: int) -> Pieces | None:
    """The same from words that were cut before; None if this tokenizer's words cannot be cut one by one."""
    table, template = words_of(tokenizer), template_of(tokenizer.backend_tokenizer, len(columns))
    if table is None or template is None or max_length <= template.added:
        return None
    rows = template.rows([table.cut(column) for column in columns], max_length, tokenizer.truncation_side == "left")
    empty = np.count_nonzero(rows.length == 0)  # these rows come last
    flat = {"input_ids": np.append(rows.ids, np.full(empty, spare))}
    if "token_type_ids" in tokenizer.model_input_names:
        flat["token_type_ids"] = np.append(rows.types, np.zeros(empty, np.int64))
    return Pieces(rows.order, np.maximum(rows.length, 1), flat, len(columns))


def _encode_fast(
    tokenizer: Any, columns: Sequence[Sequence[Any]], max_length: int, words: bool, places: bool
) -> list[Any]:
    """What `tokenizer(...)` does, without the dictionaries that it builds for every row."""
    backend = backend_of(tokenizer)
    texts = list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))
    # encode_batch_fast does not note where pieces come from
    encode_all = backend.encode_batch if words or places else backend.encode_batch_fast
    with bare(backend):
        backend.enable_truncation(max_length, strategy="longest_first", direction=tokenizer.truncation_side)
        try:
            return list(encode_all(texts, is_pretokenized=words))
        finally:
            backend.no_truncation()


def _gathered(found: list[Any], read: dict[str, Read], spare: dict[str, int], texts: int = 1) -> Pieces:
    """Writes values of rows straight into arrays: a list of lists for all rows would keep the garbage collector busy."""
    length = np.fromiter(map(len, found), np.int64, len(found))
    order = np.argsort(-length, kind="stable")
    total, empty = int(length.sum()), np.count_nonzero(length == 0)  # empty rows come last
    found = [found[i] for i in order.tolist()]
    flat = {}
    for name, values in read.items():
        pieces = chain.from_iterable(map(values, found)) if values else repeat(0, total)
        flat[name] = np.append(np.fromiter(pieces, np.int64, total), np.full(empty, spare.get(name, 0)))
    return Pieces(order, np.maximum(length[order], 1), flat, texts)


# ---- batches of the size that is fastest ----

Result = TypeVar("Result")
SECONDS = 2.0  # that all trials may take
MARGIN = 1.15  # by which a size must beat the usual one: clocks are not exact, and trials have different rows
TWICE = 2  # trials of each size, because the first also allocates memory


class Tuner:
    """Tries batch sizes, from small to large until they get slower, on batches that have to be computed anyway.

    otherwise: the usual size, which stays if none is clearly faster or time runs out.
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
        """The size to try next."""
        return self.sizes[self.trials // TWICE]

    def record(self, tokens: int, seconds: float) -> int | None:
        """Notes a trial. Returns the best size once it is known."""
        size = self.size
        self.speed[size] = max(self.speed.get(size, 0.0), tokens / max(seconds, 1e-9))
        self.trials += 1
        self.seconds += seconds
        complete = self.trials % TWICE == 0
        slower = complete and self.speed[size] < 0.9 * max(self.speed.values())
        if not slower and self.seconds < SECONDS and self.trials < TWICE * len(self.sizes):
            return None
        if not complete:  # a size that was tried only once looks slower than it is
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
    """What `step(begin, end)` returns for all rows, and the batch size in tokens, if it is known by then.

    tokens: that size if it is known before. wait: waits for a result that a device may still be working on, so that the time of a
    trial is right.
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


NO_MEMORY = (
    "out of memory", "can't allocate memory", "not enough memory", "failed to allocate memory", "cublas_status_alloc_failed",
)  # fmt: skip


def is_memory(error: RuntimeError) -> bool:
    """Whether an error says that memory does not suffice."""
    said = str(error).lower()
    return any(words in said for words in NO_MEMORY)


class EqualPieces(Pieces):
    """Pieces in batches of rows of one length, which need no padding: for networks whose answers depend on it."""

    def fit(self, at: int, tokens: int) -> int:
        shorter = np.searchsorted(-self.length, 1 - self.length[at])
        return min(int(shorter), super().fit(at, tokens))


# ---- even batches: a row's result depends on nothing but the row ----

STEP = 8  # rows are padded to multiples of so many pieces

# tokens of a batch: fewer are slower, more need more rows to fill up (on a GPU 16,384 are two to ten times what a block has)
TOKENS = {"cpu": 512, "cuda": 4096}


class EvenPieces(Pieces):
    """Pieces in batches that all have the same shape for rows of the same padded length."""

    def width(self, at: int) -> int:
        """The padded length of a row."""
        return -(-int(self.length[at]) // STEP) * STEP

    def rows(self, at: int, tokens: int) -> int:
        """The rows of a batch that begins with row `at`, with those that fill it up."""
        return max(1, tokens // self.width(at))

    def fit(self, at: int, tokens: int) -> int:
        shorter = np.searchsorted(-self.length, STEP - self.width(at))  # the first row that needs fewer pieces
        return min(int(shorter), at + self.rows(at, tokens))

    def even(self, at: int, tokens: int, pad: int, full: bool = True) -> tuple[Ints, dict[str, Ints]]:
        """The batch that begins at row `at`: its rows, repeated until it is full, and the arrays for a network.

        full: False does not repeat rows, which is faster; results may then differ in their last bits from batch to batch.
        """
        end = self.fit(at, tokens)
        rows = at + np.arange(self.rows(at, tokens) if full else end - at) % (end - at)
        mask = np.arange(self.width(at)) < self.length[rows, None]
        ids = np.full(mask.shape, pad, np.int64)
        ids[mask] = self.flat["input_ids"][spread(self.start[rows], self.length[rows])]
        return rows, {"input_ids": ids, "attention_mask": mask.astype(np.int64)}


def padded_length(loaded: Loaded) -> int:
    """The most pieces of a row, with padding, that a model takes."""
    return max(STEP, loaded.longest // STEP * STEP)


def run_evenly(
    loaded: Loaded, pieces: EvenPieces, answer: Callable[[dict[str, Any], Ints], Any], *, share: int = 1, full: bool = True
) -> list[Any]:  # fmt: skip
    """What `answer(inputs, rows)` returns for batches of all rows, in the order of `pieces`; rows: their numbers there.

    share: how many times as much memory as usual a row takes. full: as for `EvenPieces.even`. If memory does not suffice,
    everything is computed again in smaller batches, because results may depend on the shape of a batch.
    """
    import torch

    device = loaded.model.device
    tokens = loaded.batch_tokens or TOKENS["cuda" if device.type == "cuda" else "cpu"] // share
    while True:
        done, at = [], 0
        try:
            with quiet(), answering(loaded.model):
                while at < len(pieces):
                    rows, arrays = pieces.even(at, tokens, loaded.pad, full)
                    inputs = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
                    end = pieces.fit(at, tokens)
                    done.append(answer(inputs, rows)[: end - at])
                    at = end
            return done
        except RuntimeError as error:
            if not is_memory(error) or tokens <= STEP:
                raise
            tokens = loaded.batch_tokens = tokens // 2
