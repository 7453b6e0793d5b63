"""Classifiers and taggers of Hugging Face whose forward pass another backend than PyTorch computes (`backend=onnxruntime`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..data.dataset import Task
from ..huggingface.backends import SESSIONS, Session, exported, open_session, require_backend
from ..huggingface.batches import Batch, EqualPieces, Pieces, encode
from ..huggingface.loading import BadModel, answering, first_line, quiet
from ..specs import known_name
from . import huggingface
from .base import Access
from .huggingface import Answered, Transformer

PYTORCH = "pytorch"
BACKENDS = dict.fromkeys((PYTORCH, *SESSIONS))
BATCH_TOKENS = 256  # of a batch: what fits into a core's cache
FEWEST_TOKENS = 128  # into which rows are divided
CLOSE = 1e-4  # how far a logit may be from PyTorch's; of logits above 1, how far in proportion to the largest
PROBES = ["", "bad", "It is not a good film.", "Ünïcödé, 3.5% 😀", "good " * 60, "very good " * 1000]  # of many lengths


class Exported(Transformer):
    """A Transformer on the CPU, in float32, whose batches a session of another backend answers.

    Each batch takes one thread, and as many batches are computed at once as torch may use threads: that is faster than many
    threads for one batch, and a score cannot depend on the number of threads.
    """

    def __init__(self, victim: Transformer, backend: str) -> None:
        """Takes the victim over: its weights are freed. Raises BadModel if the backend's answers are not those of PyTorch."""
        import torch

        self.__dict__.update(victim.__dict__)
        if victim.access == Access.GRADIENT or victim.gives_slopes:
            self.hint = f": gradients need backend={PYTORCH}, got {backend}"
        self.backend, self.gives_slopes = backend, False
        self.access = min(self.access, Access.SCORE)
        self.batch_tokens = self.batch_tokens or BATCH_TOKENS
        self._threads = torch.get_num_threads()
        rows = [self._pieces([PROBES])] + ([self._pieces([PROBES, PROBES[::-1]])] if self.task != "tokens" else [])
        names = [*self._padded(rows[0], 0, 1).inputs, *(["position_ids"] if self.counts_places else [])]
        right = [self._right(rows[0])]
        with suppress(BadModel):  # of a network that takes no pairs, since it has one type of pieces
            right += map(self._right, rows[1:])
        file = exported(self.model, self._digest(), names, backend)
        self._session: Session = open_session(backend, file, self._threads)
        for pieces, wanted in zip(rows, right, strict=False):
            try:
                found = self._all_logits(pieces, by_torch=False)
            except Exception as error:  # of the backend's own classes
                raise BadModel(
                    f"expected a model that {backend} can run, got {self.name}: {first_line(error)}; use backend={PYTORCH}"
                ) from None
            self._check(wanted, found)
        for weights in self.model.parameters():
            weights.data = weights.data.new_empty(0)  # they are in the session now

    def _pieces(self, columns: list[list[str]]) -> Pieces:
        """The probes as the task's texts."""
        tokens = self.task == "tokens"
        texts: list[Any] = (
            [[tuple(text.split()) or ("a",) for text in column] for column in columns] if tokens else columns
        )
        return encode(self.tokenizer, texts, self.max_length, words=tokens)

    def _padded(self, pieces: Pieces, at: int, end: int) -> Batch:
        return pieces.pad(at, end, self.fill, self.tokenizer.padding_side == "left")

    def _all_logits(self, pieces: Pieces, by_torch: bool) -> Any:
        """The logits of all pieces, in two batches of other lengths: the longest rows, and the others together."""
        found = []
        for at, end in ((0, 2), (2, len(pieces))):
            batch = self._padded(pieces, at, end)
            logits = super()._score(super()._inputs(batch)) if by_torch else self._score(batch.inputs)
            found.append(logits.numpy()[batch.mask if self.task == "tokens" else slice(None)].ravel())
        return np.concatenate(found)

    def _right(self, pieces: Pieces) -> Any:
        """The logits of PyTorch. Raises BadModel if it cannot answer."""
        try:
            with quiet(), answering(self.model):
                return self._all_logits(pieces, by_torch=True)
        except (IndexError, RuntimeError, ValueError) as error:
            raise BadModel(f"expected a model that answers, got {self.name}: {first_line(error)}") from None

    def _check(self, wanted: Any, found: Any) -> None:
        """Raises BadModel if logits are not those of PyTorch."""
        same = wanted.shape == found.shape
        apart = float(np.abs(wanted - found).max()) if same else np.inf
        if not apart <= CLOSE * max(1.0, float(np.abs(wanted).max())):
            gap = f"which are {apart:.2g} apart" if same else "of another shape"
            raise BadModel(
                f"expected logits of {self.backend} within {CLOSE:g} of PyTorch's for {self.name}, got some {gap}: "
                f"use backend={PYTORCH}"
            )

    def _run(self, pieces: Pieces, answer: Callable[[dict[str, Any]], Any]) -> Answered:
        from concurrent.futures import ThreadPoolExecutor

        if self.sees_padding:
            pieces = EqualPieces(pieces.order, pieces.length, pieces.flat)
        share = -(-int(pieces.length.sum()) // self._threads)
        tokens = min(self.usual_tokens, max(FEWEST_TOKENS, share))
        edges = [0]
        while edges[-1] < len(pieces):
            edges.append(pieces.fit(edges[-1], tokens))

        def step(at: int, end: int) -> tuple[Any, Any]:
            batch = self._padded(pieces, at, end)
            return answer(self._inputs(batch)), batch.mask

        if self._threads == 1 or len(edges) == 2:
            return list(map(step, edges[:-1], edges[1:]))
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(step, edges[:-1], edges[1:]))

    def _inputs(self, batch: Batch) -> dict[str, Any]:
        return batch.inputs

    def _score(self, inputs: dict[str, Any]) -> Any:
        import torch

        if self.counts_places:
            inputs = {**inputs, "position_ids": np.maximum(inputs["attention_mask"].cumsum(1) - 1, 0)}
        return torch.from_numpy(self._session(inputs)[0])


def load(name: str | Path, task: Task, *, backend: str = PYTORCH, **options: Any) -> Transformer:
    """Opens a model as `huggingface.load` does, whose options these are.

    backend: pytorch, or, on a CPU, onnxruntime or openvino, for classifiers and taggers. The model is exported once.
    """
    try:
        known_name(str(backend), BACKENDS, "a backend")
    except ValueError as error:
        raise BadModel(str(error)) from None
    if backend == PYTORCH:
        return huggingface.load(name, task, **options)
    if task == "text":
        raise BadModel(
            f"expected backend={PYTORCH} for task text, got {backend}, which runs classifiers and taggers only"
        )
    for option, only in (("device", "cpu"), ("dtype", "float32")):
        if options.get(option) not in (None, "auto", only):
            raise BadModel(f"expected {option}={only} for backend={backend}, got {options[option]}")
    require_backend(backend)
    victim = huggingface.load(name, task, **{**options, "device": "cpu", "dtype": "float32"})
    return Exported(victim, backend)


_taken = inspect.signature(huggingface.load)
_own = inspect.signature(load).parameters["backend"]
# so that an unknown option is told from those of either
load.__signature__ = _taken.replace(parameters=[*_taken.parameters.values(), _own])  # type: ignore[attr-defined]
