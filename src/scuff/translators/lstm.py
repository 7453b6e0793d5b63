"""The LSTM encoder-decoder with dot-product attention (Luong et al. 2015)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from .network import Batch, Memory, Network, Sizes
from .vocabulary import PAD


class Lstm(Network):
    """The encoder reads in both directions, each with half of the hidden size; the decoder starts with its last states.

    The attention does not feed back into the decoder, so that all pieces of a target are decoded in one call.
    """

    def __init__(self, sizes: Sizes, source: int, target: int) -> None:
        super().__init__()
        if sizes.hidden % 2:
            raise ValueError(f"expected an even number for hidden of an LSTM, got {sizes.hidden}")
        self.source = nn.Embedding(source, sizes.embedding, PAD)
        self.target = nn.Embedding(target, sizes.embedding, PAD)
        between = sizes.dropout if sizes.layers > 1 else 0.0
        options: dict[str, Any] = {"num_layers": sizes.layers, "batch_first": True, "dropout": between}
        self.encoder = nn.LSTM(sizes.embedding, sizes.hidden // 2, bidirectional=True, **options)
        self.decoder = nn.LSTM(sizes.embedding, sizes.hidden, **options)
        self.mixed = nn.Linear(2 * sizes.hidden, sizes.hidden, bias=False)
        self.output = nn.Linear(sizes.hidden, target)
        self.drop = nn.Dropout(sizes.dropout)
        self._initialise()

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _initialise(self) -> None:
        """Orthogonal recurrences and wide embeddings: with small ones, attention takes several times as long to form."""
        for name, weight in self.named_parameters():
            if name in ("source.weight", "target.weight"):
                nn.init.normal_(weight)
                weight[PAD] = 0
            elif weight.dim() < 2:
                nn.init.zeros_(weight)
            elif "weight_hh" in name:
                for gate in weight.chunk(4):
                    nn.init.orthogonal_(gate)
            else:
                nn.init.xavier_uniform_(weight)

    def encode(self, embedded: Any, batch: Batch) -> Memory:
        packed = pack_padded_sequence(self.drop(embedded), batch.lengths, batch_first=True)
        found, (hidden, cell) = self.encoder(packed)
        vectors, _ = pad_packed_sequence(found, batch_first=True, total_length=embedded.shape[1])
        return Memory(vectors, batch.mask, (_both(hidden), _both(cell)))

    def decode(self, target: Any, memory: Memory) -> Any:
        hidden, _ = self.decoder(self.drop(self.target(target)), memory.start)
        return self._attend(hidden, memory)[0]

    def step(self, last: Any, memory: Memory, state: Any) -> tuple[Any, Any, Any]:
        hidden, state = self.decoder(self.target(last[:, None]), memory.start if state is None else state)
        mixed, attention = self._attend(hidden, memory)
        return mixed[:, 0], attention[:, 0], state

    def reorder(self, state: Any, rows: Any) -> Any:
        return tuple(part[:, rows].contiguous() for part in state)

    def _attend(self, hidden: Any, memory: Memory) -> tuple[Any, Any]:
        scores = hidden @ memory.vectors.transpose(1, 2)
        attention = scores.masked_fill(~memory.mask[:, None], -torch.inf).softmax(-1)
        mixed = torch.tanh(self.mixed(torch.cat((attention @ memory.vectors, hidden), -1)))
        return self.drop(mixed), attention


def _both(state: Any) -> Any:
    """States of both directions side by side: [layers * 2, rows, half] becomes [layers, rows, size]."""
    return torch.cat((state[0::2], state[1::2]), -1)
