"""Reading (G2P), spelling (P2G) and phonetic likeness (WordSim): the three models of the phonetic perturbation."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PAD, BEGIN, END = 0, 1, 2


class Vocabulary:
    def __init__(self, symbols: list[str]) -> None:
        self.symbols = ["", "<", ">", *symbols]
        self.number = {symbol: at for at, symbol in enumerate(self.symbols)}

    def encode(self, sequences: list[list[str]], device: str) -> Tensor:
        """Padded rows of <, the symbols, >."""
        longest = max(map(len, sequences)) + 2
        rows = [[BEGIN, *(self.number[s] for s in sequence), END] for sequence in sequences]
        return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows], device=device)

    def decode(self, row: list[int]) -> list[str]:
        out = []
        for number in row:
            if number == END:
                break
            if number > END:
                out.append(self.symbols[number])
        return out


class Seq2Seq(nn.Module):
    """A small transformer from one alphabet to another."""

    def __init__(self, source: Vocabulary, target: Vocabulary, width: int = 256, layers: int = 3) -> None:
        super().__init__()
        self.source, self.target, self.width = source, target, width
        self.embed_source = nn.Embedding(len(source.symbols), width, PAD)
        self.embed_target = nn.Embedding(len(target.symbols), width, PAD)
        self.places = nn.Embedding(40, width)
        self.body = nn.Transformer(width, 4, layers, layers, 2 * width, 0.15, batch_first=True, norm_first=True)
        self.out = nn.Linear(width, len(target.symbols))

    def placed(self, embedded: Tensor) -> Tensor:
        return embedded * math.sqrt(self.width) + self.places(torch.arange(embedded.shape[1], device=embedded.device))

    def read(self, x: Tensor) -> Tensor:
        return self.body.encoder(self.placed(self.embed_source(x)), src_key_padding_mask=x == PAD)

    def write(self, memory: Tensor, x: Tensor, y: Tensor) -> Tensor:
        mask = torch.triu(torch.ones(y.shape[1], y.shape[1], dtype=torch.bool, device=y.device), 1)
        h = self.body.decoder(
            self.placed(self.embed_target(y)),
            memory,
            tgt_mask=mask,
            tgt_key_padding_mask=y == PAD,
            memory_key_padding_mask=x == PAD,
        )
        return self.out(h)

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        scores = self.write(self.read(x), x, y[:, :-1])
        return F.cross_entropy(scores.flatten(0, 1), y[:, 1:].flatten(), ignore_index=PAD, label_smoothing=0.05)

    @torch.no_grad()
    def beam(self, x: Tensor, width: int, longest: int) -> tuple[Tensor, Tensor]:
        """The `width` best outputs of each input (batch, width, length) and their log probabilities."""
        memory = self.read(x).repeat_interleave(width, 0)
        x = x.repeat_interleave(width, 0)
        batch = x.shape[0] // width
        rows = torch.full((batch * width, 1), BEGIN, device=x.device)
        score = torch.full((batch, width), -1e9, device=x.device)
        score[:, 0] = 0
        done = torch.zeros(batch * width, dtype=torch.bool, device=x.device)
        for _ in range(longest):
            step = F.log_softmax(self.write(memory, x, rows)[:, -1].float(), -1)
            step[:, :END] = -1e9
            step[done] = -1e9
            step[done, PAD] = 0
            total = (score.view(-1, 1) + step).view(batch, -1)
            score, best = total.topk(width)
            origin = (best // step.shape[1] + torch.arange(batch, device=x.device)[:, None] * width).flatten()
            symbol = (best % step.shape[1]).flatten()
            rows = torch.cat([rows[origin], symbol[:, None]], 1)
            done = done[origin] | (symbol == END)
            if done.all():
                break
        return rows[:, 1:].view(batch, width, -1), score

    @torch.no_grad()
    def sample(self, x: Tensor, count: int, longest: int, temperature: float) -> Tensor:
        """`count` random outputs of each input."""
        memory = self.read(x).repeat_interleave(count, 0)
        x = x.repeat_interleave(count, 0)
        rows = torch.full((x.shape[0], 1), BEGIN, device=x.device)
        done = torch.zeros(x.shape[0], dtype=torch.bool, device=x.device)
        for _ in range(longest):
            scores = self.write(memory, x, rows)[:, -1].float() / temperature
            scores[:, :END] = -1e9
            symbol = torch.multinomial(scores.softmax(-1), 1)[:, 0].masked_fill(done, PAD)
            rows = torch.cat([rows, symbol[:, None]], 1)
            done |= symbol == END
            if done.all():
                break
        return rows[:, 1:].view(-1, count, rows.shape[1] - 1)


class WordSim(nn.Module):
    """InferSent's Siamese network on letters (thesis 3.2.1): shared BiLSTM with max pooling, 100 dimensions, four classes."""

    def __init__(self, letters: Vocabulary) -> None:
        super().__init__()
        self.letters = letters
        self.embed = nn.Embedding(len(letters.symbols), 64, PAD)
        self.lstm = nn.LSTM(64, 50, batch_first=True, bidirectional=True)
        self.head = nn.Sequential(
            nn.Linear(400, 512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 4)
        )

    def encode(self, x: Tensor) -> Tensor:
        hidden, _ = self.lstm(self.embed(x))
        return hidden.masked_fill((x == PAD)[..., None], -1e9).amax(1)

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        u, v = self.encode(one), self.encode(other)
        return self.head(torch.cat([u, v, u * v, (u - v).abs()], 1))
