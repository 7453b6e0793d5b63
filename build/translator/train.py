"""Trains toy:translate on the grammar of the embedded data and writes resources/data/toy-translate.npz. Needs torch.

    PYTHONPATH=src python build/translator/train.py OUT.npz

Weights are rounded to multiples of 2^-BITS while training, as the shipped ones are. The PAIRS are those of the
train split and as many more that belong to it; a tenth is held out and printed, and the test split is not looked at.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import torch
from torch import Tensor, nn

from scuff.data.toy_pairs import pairs_by_split
from scuff.victims.toy_translator import (
    END,
    MEMORY,
    PAD,
    POSITIONS,
    REACH,
    Network,
    rows_of,
    source_numbers,
    split,
    target_numbers,
)

PAIRS = 12_000
SIZE, BITS = 40, 6  # of vectors; of weights behind the point
LEAST = 24  # how often a word occurs that is in the vocabulary
EPOCHS, BATCH, RATE, DROPOUT = 30, 64, 4e-3, 0.1


def vocabulary(texts: list[str], lower: bool) -> list[str]:
    """The frequent words. Without `lower`, the first word of a sentence counts in lower case unless it has a capital elsewhere."""
    places = [pair for words in map(split, texts) for pair in zip(words, starts(words), strict=True)]
    names = {word for word, begins in places if not begins}
    counts = Counter(word.lower() if lower or (begins and word not in names) else word for word, begins in places)
    return ["", "<unk>", "<end>", *sorted(word for word, count in counts.items() if count >= LEAST)]


def starts(words: list[str]) -> list[bool]:
    """Whether each word begins a sentence."""
    return [before in (".", "?", "!") for before in [".", *words[:-1]]]


class Rounded(torch.autograd.Function):
    """Rounds forwards, and lets gradients pass."""

    @staticmethod
    def forward(ctx: object, weight: Tensor) -> Tensor:
        return (weight * 2**BITS).round().clamp(-127, 127) / 2**BITS

    @staticmethod
    def backward(ctx: object, gradient: Tensor) -> Tensor:
        return gradient


class Translator(nn.Module):
    """The network of scuff.victims.toy_translator in torch."""

    def __init__(self, sources: int, targets: int) -> None:
        super().__init__()
        d = SIZE
        shapes = {
            "source": (sources, d), "source_place": (POSITIONS, d), "mix": (2 * REACH + 1, d, d), "mix_bias": (d,),
            "target": (targets, d), "target_place": (POSITIONS, d), "recall": (MEMORY, d, d), "recall_bias": (d,),
            "key": (d, d), "hop": (d, d), "hop_bias": (d,), "join": (2 * d, d), "join_bias": (d,), "out": (d, targets), "out_bias": (targets,),
        }  # fmt: skip
        scale = {"source": 0.5, "target": 0.5, "source_place": 0.2, "target_place": 0.2}
        self.weights = nn.ParameterDict(
            {name: nn.Parameter(torch.randn(shape) * scale.get(name, shape[-2] ** -0.5 if len(shape) > 1 else 0))
             for name, shape in shapes.items()}
        )  # fmt: skip

    def forward(self, source: Tensor, before: Tensor) -> Tensor:
        """The logits. source: [n, words]; before: [n, target, MEMORY]."""
        w = {name: Rounded.apply(weight) for name, weight in self.weights.items()}
        known = (source != PAD)[..., None]
        read = (w["source"][source] + w["source_place"][torch.arange(source.shape[1]).clamp(max=POSITIONS - 1)]) * known
        read = nn.functional.dropout(read, DROPOUT, self.training)
        around = nn.functional.pad(read, (0, 0, REACH, REACH))
        size = source.shape[1]
        mixed = sum(around[:, at : at + size] @ w["mix"][at] for at in range(2 * REACH + 1)) + w["mix_bias"]
        hidden = (read + torch.tanh(mixed)) * known
        last = nn.functional.dropout(w["target"][before], DROPOUT, self.training)
        place = w["target_place"][torch.arange(before.shape[1]).clamp(max=POSITIONS - 1)]
        query = torch.tanh(sum(last[:, :, at] @ w["recall"][at] for at in range(MEMORY)) + w["recall_bias"] + place)

        def attended(query: Tensor) -> Tensor:
            fit = (query @ w["key"]) @ hidden.transpose(1, 2)
            return fit.masked_fill(~known[:, None, :, 0], -1e9).softmax(-1) @ hidden

        again = torch.tanh(query + attended(query) @ w["hop"] + w["hop_bias"])
        joint = torch.tanh(torch.cat((again, attended(again)), -1) @ w["join"] + w["join_bias"])
        return joint @ w["out"] + w["out_bias"]


def windows(target: np.ndarray) -> np.ndarray:
    """The MEMORY words before each word: [n, target, MEMORY]."""
    padded = np.pad(target, ((0, 0), (MEMORY, 0)), constant_values=PAD)
    return np.stack([padded[:, at : at + target.shape[1]] for at in range(MEMORY)], -1)


def main(path: str) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = pairs_by_split({"train": PAIRS, "test": 0})["train"]
    words = [vocabulary([pair[side] for pair in data], side == 0) for side in range(2)]
    known = [{word: at for at, word in enumerate(mine)} for mine in words]
    known[0].pop(""), known[1].pop("")
    sources = [source_numbers(split(source), known[0]) for source, _ in data]
    targets = [[*target_numbers(target, known[1]), END] for _, target in data]
    held = len(data) * 9 // 10
    net = Translator(len(words[0]), len(words[1]))
    print("parameters", sum(weight.numel() for weight in net.parameters()), "words", *map(len, words))
    optimiser = torch.optim.Adam(net.parameters(), RATE)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, EPOCHS * -(-held // BATCH))
    for epoch in range(EPOCHS):
        net.train()
        for part in torch.randperm(held).split(BATCH):
            source = rows_of([sources[at] for at in part.tolist()])
            target = rows_of([targets[at] for at in part.tolist()])
            logits = net(torch.tensor(source), torch.tensor(windows(target)))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(target).flatten(), ignore_index=PAD)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            plan.step()
        if epoch % 5 == 4:
            net.eval()
            with torch.no_grad():
                source, target = rows_of(sources[held:]), rows_of(targets[held:])
                logits = net(torch.tensor(source), torch.tensor(windows(target)))
                right = ((logits.argmax(-1).numpy() == target) | (target == PAD)).all(1).mean()
                each = (logits.argmax(-1).numpy() == target)[target != PAD].mean()
            print(
                epoch + 1,
                f"loss {loss.item():.3f}, held out: words right {each:.4f}, sentences {right:.4f}",
                flush=True,
            )
    arrays = {
        name: (Rounded.apply(net.weights[name]).detach().numpy() * 2**BITS).astype(np.int8) for name in Network._fields
    }
    texts = {
        f"{side}_words": np.frombuffer("\n".join(mine).encode(), np.uint8)
        for side, mine in zip(("source", "target"), words, strict=True)
    }
    np.savez_compressed(path, bits=np.int8(BITS), **arrays, **texts)


if __name__ == "__main__":
    main(sys.argv[1])
