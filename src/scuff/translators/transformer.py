"""The Transformer (Vaswani et al. 2017), with norms before the layers, which needs less care in training."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from .network import Batch, Memory, Network, Sizes
from .vocabulary import PAD


class Attention(nn.Module):  # type: ignore[misc]
    """Attention with several heads. `keys` computes what it attends to, so that a decoder can keep it."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        size = sizes.embedding
        if size % sizes.heads:
            raise ValueError(f"expected a multiple of heads={sizes.heads} for embedding of a Transformer, got {size}")
        self.heads, self.dropout = sizes.heads, sizes.dropout
        self.query, self.pair, self.out = nn.Linear(size, size), nn.Linear(size, 2 * size), nn.Linear(size, size)

    def keys(self, vectors: Any) -> tuple[Any, Any]:
        """Keys and values, [rows, heads, places, size of a head]."""
        key, value = self.pair(vectors).chunk(2, -1)
        return self._apart(key), self._apart(value)

    def forward(self, vectors: Any, keys: tuple[Any, Any], mask: Any, causal: bool = False) -> Any:
        """mask: what may be seen, [rows, 1, 1, places]; None: all. causal: only places up to the vector's own."""
        found = functional.scaled_dot_product_attention(
            self._apart(self.query(vectors)), *keys, attn_mask=mask, is_causal=causal,
            dropout_p=self.dropout if self.training else 0.0,
        )  # fmt: skip
        return self.out(found.transpose(1, 2).flatten(2))

    def weights(self, vectors: Any, keys: tuple[Any, Any], mask: Any) -> Any:
        """How much is attended to each place, the mean over heads: [rows, vectors, places]."""
        query = self._apart(self.query(vectors))
        scores = query @ keys[0].transpose(-1, -2) / math.sqrt(query.shape[-1])
        return scores.masked_fill(~mask, -torch.inf).softmax(-1).mean(1)

    def _apart(self, vectors: Any) -> Any:
        return vectors.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Layer(nn.Module):  # type: ignore[misc]
    """A layer of the encoder, or, with `across`, of the decoder."""

    def __init__(self, sizes: Sizes, across: bool) -> None:
        super().__init__()
        size = sizes.embedding
        self.own, self.before_own = Attention(sizes), nn.LayerNorm(size)
        if across:
            self.across, self.before_across = Attention(sizes), nn.LayerNorm(size)
        self.wide, self.narrow = nn.Linear(size, sizes.hidden), nn.Linear(sizes.hidden, size)
        self.before_wide, self.drop = nn.LayerNorm(size), nn.Dropout(sizes.dropout)

    def attend(self, x: Any, mask: Any, causal: bool) -> Any:
        normed = self.before_own(x)
        return x + self.drop(self.own(normed, self.own.keys(normed), mask, causal))

    def look(self, x: Any, keys: tuple[Any, Any], mask: Any) -> Any:
        return x + self.drop(self.across(self.before_across(x), keys, mask))

    def widen(self, x: Any) -> Any:
        inner = self.drop(functional.relu(self.wide(self.before_wide(x))))
        return x + self.drop(self.narrow(inner))


class Transformer(Network):
    """Target embeddings are the weights of the output, too (Press and Wolf 2017)."""

    places: Any  # vectors of places, more of them when a text needs more

    def __init__(self, sizes: Sizes, source: int, target: int) -> None:
        super().__init__()
        self.scale = math.sqrt(sizes.embedding)
        self.source = nn.Embedding(source, sizes.embedding, PAD)
        self.target = nn.Embedding(target, sizes.embedding, PAD)
        self.encoder = nn.ModuleList([Layer(sizes, across=False) for _ in range(sizes.layers)])
        self.decoder = nn.ModuleList([Layer(sizes, across=True) for _ in range(sizes.layers)])
        self.encoded, self.decoded = nn.LayerNorm(sizes.embedding), nn.LayerNorm(sizes.embedding)
        self.output = nn.Linear(sizes.embedding, target)
        self.drop = nn.Dropout(sizes.dropout)
        self.register_buffer("places", positions(128, sizes.embedding), persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)
        for table in (self.source, self.target):
            nn.init.normal_(table.weight, std=sizes.embedding**-0.5)
            with torch.no_grad():
                table.weight[PAD] = 0
        self.output.weight = self.target.weight

    def encode(self, embedded: Any, batch: Batch) -> Memory:
        mask = batch.mask
        x = self.drop(embedded + self._places(embedded.shape[1]))
        for layer in self.encoder:
            x = layer.widen(layer.attend(x, mask[:, None, None], causal=False))
        return Memory(self.encoded(x), mask)

    def decode(self, target: Any, memory: Memory) -> Any:
        x = self.target(target) * self.scale
        x = self.drop(x + self._places(x.shape[1]))
        mask = memory.mask[:, None, None]
        for layer in self.decoder:
            # padding of targets is behind their pieces, which causal attention does not see
            x = layer.attend(x, None, causal=True)
            x = layer.widen(layer.look(x, layer.across.keys(memory.vectors), mask))
        return self.decoded(x)

    def step(self, last: Any, memory: Memory, state: Any) -> tuple[Any, Any, Any]:
        """The state: of each layer the keys and values of the pieces so far, and those of the source."""
        state = state or [(None, layer.across.keys(memory.vectors)) for layer in self.decoder]
        at = 0 if state[0][0] is None else state[0][0][0].shape[2]
        x = self.target(last[:, None]) * self.scale
        x = self.drop(x + self._places(at + 1)[at:])
        mask, after, attention = memory.mask[:, None, None], [], None
        for layer, (so_far, across) in zip(self.decoder, state, strict=True):
            normed = layer.before_own(x)
            keys = layer.own.keys(normed)
            if so_far is not None:
                keys = tuple(torch.cat(pair, 2) for pair in zip(so_far, keys, strict=True))
            x = x + layer.drop(layer.own(normed, keys, None))
            if layer is self.decoder[-1]:
                attention = layer.across.weights(layer.before_across(x), across, mask)[:, 0]
            x = layer.widen(layer.look(x, across, mask))
            after.append((keys, across))
        return self.decoded(x)[:, 0], attention, after

    def _places(self, count: int) -> Any:
        if count > len(self.places):
            self.places = positions(2 * count, self.places.shape[1]).to(self.places.device)
        return self.places[:count]

    def reorder(self, state: Any, rows: Any) -> Any:
        return [tuple(tuple(part[rows] for part in pair) for pair in layer) for layer in state]


def positions(count: int, size: int) -> Any:
    """Sines and cosines of places: [count, size]."""
    half = -(-size // 2)
    rate = torch.exp(torch.arange(half) * (-math.log(10000.0) / max(1, half - 1)))
    angle = torch.arange(count)[:, None] * rate
    return torch.cat((angle.sin(), angle.cos()), -1)[:, :size]
