"""The network of tier `context` in torch, its training loop, and its weights as int8 (scuff/shields/restore/network.py runs them)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from scuff.shields.lexicon import lexicon
from scuff.shields.restore import features as ft
from scuff.shields.restore.network import words_bits

V = 49152
TABLE, WORD, WIDTH, HIDDEN, LAYERS, HEADS, REACH = 160, 96, 256, 640, 4, 8, 16


class Layer(nn.Module):
    """Attention to all words of the text, with a bias for the distance, then two dense maps; norms come first."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mix, self.back = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.near = nn.Parameter(torch.zeros(HEADS, 2 * REACH + 1))

    def forward(self, x: torch.Tensor, fill: torch.Tensor, drop: float) -> torch.Tensor:
        texts, size, _ = x.shape
        parts = self.mix(self.norm1(x)).view(texts, size, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        place = torch.arange(size, device=x.device)
        far = (place[None] - place[:, None]).clamp(-REACH, REACH) + REACH
        bias = (self.near[:, far][None] + fill[:, None, None]).to(parts.dtype)
        seen = F.scaled_dot_product_attention(parts[0], parts[1], parts[2], attn_mask=bias)
        x = x + F.dropout(self.back(seen.transpose(1, 2).reshape(texts, size, WIDTH)), drop, self.training)
        return x + F.dropout(self.down(F.relu(self.up(self.norm2(x)))), drop, self.training)


class Network(nn.Module):
    """Features of each word in; out: whether it was changed, and a vector to compare with the words of the lexicon."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(ft.ROWS, TABLE) * 0.05)
        self.words = nn.Parameter(torch.randn(V + 1, WORD) * 0.05)  # the last: a word that is not in the lexicon
        self.common = nn.Parameter(torch.zeros(V + 1))
        self.gates = nn.Parameter(torch.ones(ft.HINTS, WORD))
        self.ranks = nn.Parameter(torch.ones(ft.GUESSES, WORD) * 0.2)
        self.mixed = nn.Parameter(torch.ones(WORD) * 2)
        self.lift = nn.Linear(WORD, TABLE, bias=False)
        self.norm = nn.LayerNorm(TABLE)
        self.up, self.down, self.across = nn.Linear(TABLE, HIDDEN), nn.Linear(HIDDEN, WIDTH), nn.Linear(TABLE, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.last = nn.LayerNorm(WIDTH)
        self.changed, self.ask = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, WORD)

    def forward(self, b: dict[str, torch.Tensor], drop: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
        vectors = F.embedding_bag(b["rows"], self.table, b["first"], mode="sum", include_last_offset=True)
        known = torch.cat((self.words[:V], self.words.new_zeros(2, WORD)))
        hinted = F.embedding(b["hints"], known, padding_idx=V + 1)  # [words, HINTS, WORD]
        if self.training:
            hinted = hinted * (torch.rand(len(hinted), 1, 1, device=hinted.device) > 0.1)
        guessed = F.embedding(b["guess"], known, padding_idx=V + 1)
        if self.training:
            guessed = guessed * (torch.rand(len(guessed), 1, 1, device=guessed.device) > 0.1)
        guessed = (guessed * (self.ranks + self.mixed * b["share"][..., None])).sum(1)
        vectors = vectors + self.lift((hinted * self.gates).sum(1) + guessed)
        word = b["word"]
        x = F.embedding(word.clamp(min=0), vectors) + F.embedding(b["gaps"], self.table).sum(2)
        x = self.norm(x)
        x = (self.across(x) + self.down(F.dropout(F.relu(self.up(x)), drop, self.training))).float()
        fill = torch.where(word < 0, -1e4, 0.0)
        for layer in self.layers:
            x = layer(x, fill, drop)
        x = self.last(x)
        return self.changed(x)[..., 0], self.ask(x)

    def scores(self, asked: torch.Tensor) -> torch.Tensor:
        return asked @ self.words.T + self.common


def on(batch: Any, device: str) -> dict[str, torch.Tensor]:
    def put(array: Any, kind: torch.dtype) -> torch.Tensor:
        return torch.from_numpy(array).to(device, non_blocking=True).to(kind)

    out = {
        name: put(getattr(batch, name), torch.int64)
        for name in ("rows", "first", "hints", "guess", "word", "gaps", "target")
    }
    out["share"] = put(batch.share, torch.float32)
    out["changed"], out["doubtful"] = put(batch.changed, torch.bool), put(batch.doubtful, torch.bool)
    return out


def judge(net: Network, dev: dict[str, Any], device: str) -> str:
    """Per kind of noise: changed words that were found and mended (top 1 and top 16 of the lexicon), and kept words."""
    out = []
    net.eval()
    with torch.no_grad():
        for name, batches in dev.items():
            cells = []
            for batch in batches:
                b = on(batch, device)
                flag, asked = net(b)
                real = b["word"] >= 0
                hit = real & b["changed"]
                kept = (flag[real & ~b["changed"]] < 0).float().mean().item()
                if not hit.any():
                    cells.append(f"kept {kept:.4f}")
                    continue
                scores, target = net.scores(asked[hit]), b["target"][hit]
                scores[:, V] = -1e9
                found = (flag[hit] > 0).float().mean().item()
                inside = target < V
                top = scores.topk(16, 1).indices
                one = (top[:, 0] == target).float().mean().item()
                sixteen = (top == target[:, None]).any(1).float().mean().item()
                cells.append(
                    f"{found:.3f} {one:.3f} {sixteen:.3f} (of {inside.float().mean().item():.3f}) kept {kept:.4f}"
                )
            out.append(f"  {name:14s}" + " | ".join(cells))
    net.train()
    return "\n".join(out)


def train(args: Any, queues: Iterator[Any], dev: dict[str, Any]) -> None:
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = args.device
    net = Network().to(device)
    if args.start:
        halves = [np.load(args.start / name) for name in ("half-words.npz", "half-rest.npz")]
        net.load_state_dict({name: torch.from_numpy(half[name].astype(np.float32)) for half in halves for name in half})
    mean = Network().to(device)  # running mean of the weights: what is judged and kept
    mean.load_state_dict(net.state_dict())
    flat = [p for p in net.parameters() if p.ndim < 2]
    wide = [p for p in net.parameters() if p.ndim >= 2]
    optimiser = torch.optim.AdamW(
        [{"params": wide, "weight_decay": 0.01}, {"params": flat, "weight_decay": 0.0}],
        lr=args.rate, betas=(0.9, 0.98), fused=device != "cpu",
    )  # fmt: skip
    log = (args.out / "log.txt").open("a")

    def say(text: str) -> None:
        print(text, flush=True)
        print(text, file=log, flush=True)

    say(f"{sum(p.numel() for p in net.parameters())} weights, torch {torch.__version__}")
    began = told = time.time()
    waited, words, step = 0.0, 0, 0
    losses = torch.zeros(3, device=device)
    every = min(60.0, args.seconds / 4)
    for source in queues:
        clock = time.time()
        share = (clock - began) / args.seconds
        if share >= 1:
            break
        batch = source.get()
        waited += time.time() - clock
        rate = args.rate * min(1, (step + 1) / 400) * (0.5 + 0.5 * math.cos(math.pi * share)) + 1e-6
        for group in optimiser.param_groups:
            group["lr"] = rate
        b = on(batch, device)
        real = b["word"] >= 0
        masked = real & (torch.rand(real.shape, device=device) < 0.05)
        b["word"] = torch.where(masked, 0, b["word"])
        with torch.autocast(device, torch.bfloat16, enabled=device != "cpu"):
            flag, asked = net(b, 0.1)
            told_apart = real & ~masked & ~b["doubtful"]
            one = F.binary_cross_entropy_with_logits(flag[told_apart].float(), b["changed"][told_apart].float())
            hit = torch.nonzero((masked & (b["target"] < V)) | (real & b["changed"]), as_tuple=True)
        scores = net.scores(asked[hit].float())  # in single precision: many words are nearly as good as the best
        two = F.cross_entropy(scores, b["target"][hit])
        optimiser.zero_grad(set_to_none=True)
        (3 * one + two).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        with torch.no_grad():
            keep = min(0.999, (step + 1) / (step + 10))
            torch._foreach_lerp_(list(mean.parameters()), list(net.parameters()), 1 - keep)
            losses += torch.stack((one, two, torch.ones_like(one)))
        words += int((batch.word >= 0).sum())
        step += 1
        if time.time() - told > every:
            told = time.time()
            a, c, n = losses.tolist()
            losses.zero_()
            say(
                f"{told - began:.0f} s, step {step}, {words / 1e6:.1f} M words, waited {waited:.0f} s, rate {rate:.5f}, "
                f"changed {a / n:.4f}, word {c / n:.4f}"
            )
            say("  found, top 1, top 16 (in lexicon), kept, at 0.2 | 0.5 | 0.8\n" + judge(mean, dev, device))
            save(mean, args.out)
    say(f"{time.time() - began:.0f} s, step {step}, {words / 1e6:.1f} M words\n" + judge(mean, dev, device))
    save(mean, args.out)


def save(net: Network, out: Path) -> None:
    """The weights in half precision for torch, and as int8 with a scale per row for NumPy."""
    state = {name: value.detach().cpu().float() for name, value in net.state_dict().items()}
    half = {name: value.numpy().astype(np.float16) for name, value in state.items()}
    np.savez(out / "half-words.npz", words=half.pop("words"))
    np.savez(out / "half-rest.npz", **half)
    words = lexicon().words.take(np.arange(V))
    packed: dict[str, Any] = {"lexicon": np.uint64(words_bits(words))}
    for name, value in state.items():
        array = value.numpy()
        if array.ndim == 2 and array.size > 10_000:
            scale = (
                (np.maximum(np.abs(array).max(1, keepdims=True), 1e-4) / 127 * 1.0005)
                .astype(np.float16)
                .astype(np.float32)
            )
            packed[name] = np.rint(array / scale).astype(np.int8)
            packed[name + ".scale"] = scale[:, 0].astype(np.float16)
        else:
            packed[name] = array.astype(np.float16 if name == "common" else np.float32)
    np.savez_compressed(out / "shield-context.npz", **packed)
