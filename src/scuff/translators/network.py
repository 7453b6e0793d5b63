"""What the two architectures share: a network of sizes, its batches, its losses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from ..specs import check_count, check_number
from ..text.ragged import Ints, filled
from .vocabulary import BEGIN, END, PAD


@dataclass(frozen=True)
class Sizes:
    """Of a network. embedding: of pieces; hidden: of an LSTM's layers, or of the Transformer's feed-forward ones."""

    embedding: int
    hidden: int
    layers: int
    heads: int = 4  # of a Transformer
    dropout: float = 0.3

    def __post_init__(self) -> None:
        for name in ("embedding", "hidden", "layers", "heads"):
            check_count(getattr(self, name), 1, f"sizes.{name}")
        check_number(self.dropout, 0, 0.99, "sizes.dropout")


@dataclass(frozen=True, eq=False)
class Batch:
    """Source texts as pieces, padded, the longest first; `lengths` stays on the CPU, so that no step waits for the device."""

    ids: Any  # int64[rows, places], each row with END behind its pieces
    lengths: Any  # int64[rows]

    @property
    def mask(self) -> Any:
        """True where a piece stands."""
        return self.ids != PAD


@dataclass(frozen=True, eq=False)
class Memory:
    """What an encoder makes of a batch: a vector for each place, and what the decoder starts with."""

    vectors: Any  # [rows, places, size]
    mask: Any  # bool[rows, places]
    start: Any = None  # of an LSTM: its states

    def take(self, rows: Any) -> Memory:
        start = self.start and tuple(part[:, rows] for part in self.start)
        return Memory(self.vectors[rows], self.mask[rows], start)


class Network(nn.Module):  # type: ignore[misc]
    """A translator's network. A subclass has `encode`, `decode` and `step`; all take pieces of one device."""

    source: Any  # the table of source embeddings
    output: Any  # from a decoder's vector to scores of target pieces
    scale: float = 1.0  # of source embeddings

    @abstractmethod
    def encode(self, embedded: Any, batch: Batch) -> Memory:
        """Reads source pieces, given as vectors: those of `embed`, or others in their place."""

    @abstractmethod
    def decode(self, target: Any, memory: Memory) -> Any:
        """The decoder's vector behind each target piece, all at once: [rows, pieces, size]."""

    @abstractmethod
    def step(self, last: Any, memory: Memory, state: Any) -> tuple[Any, Any, Any]:
        """The decoder's vector behind the last piece of each row, its attention to source places, and the next state."""

    @abstractmethod
    def reorder(self, state: Any, rows: Any) -> Any:
        """The state of these rows."""

    @property
    def device(self) -> Any:
        return self.source.weight.device

    def embed(self, ids: Any) -> Any:
        return self.source(ids) * self.scale

    def vectors(self) -> Any:
        """The source embeddings of all pieces, as `encode` gets them."""
        return self.source.weight.detach() * self.scale

    def forward(self, embedded: Any, batch: Batch, target: Any) -> Any:
        """Scores (logits) of the target piece behind each of `target`: [rows, pieces, vocabulary]."""
        return self.output(self.decode(target, self.encode(embedded, batch)))

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Turns off dropout, yet gradients can be taken: cudnn computes none for an LSTM in evaluation mode."""
        before = [(part, part.training) for part in self.modules()]
        recurrent = [(part, part.dropout) for part in self.modules() if isinstance(part, nn.LSTM)]
        self.eval()
        for part, _ in recurrent:
            part.training, part.dropout = True, 0.0
        try:
            yield
        finally:
            for part, dropout in recurrent:
                part.dropout = dropout
            for part, training in before:
                part.training = training


@contextmanager
def exact() -> Iterator[None]:
    """Full float32 on a GPU: rounded products (TF32) would differ between batches by more than ties allow."""
    matrix, recurrent = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = matrix, recurrent


def adversarial_loss(logits: Any, target: Any, padding: int = PAD) -> Any:
    """Eq. (4) of Michel et al. (2019) for each row: the sum over its pieces of log(1 - p(piece)).

    1 - p is the sum of the other pieces' p, which is exact where p is near 1. padding: what stands where no piece does.
    """
    others = logits.scatter(-1, target.clamp_min(0)[..., None], -torch.inf).logsumexp(-1)
    return (others - logits.logsumexp(-1)).masked_fill(target == padding, 0).sum(-1)


def nll(logits: Any, target: Any, smoothing: float = 0.0) -> Any:
    """The negative log-likelihood of each row; smoothing: of the labels (Szegedy et al. 2016)."""
    loss = functional.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=PAD, reduction="none", label_smoothing=smoothing
    )
    return loss.view(target.shape).sum(-1)


def padded(rows: Sequence[Ints], *, begin: bool = False) -> Ints:
    """Rows of pieces as one array, END behind each, PAD up to the longest; begin: BEGIN before each."""
    first = int(begin)
    out = np.pad(filled(rows, PAD, 0), ((0, 0), (first, 1)), constant_values=PAD)
    out[np.arange(len(rows)), np.array([len(row) for row in rows], np.int64) + first] = END
    out[:, :first] = BEGIN
    return out
