"""Train reading, spelling and likeness; respell all common words.

    python build/phonetics/train.py g2p|p2g|wordsim|respell carry/lexicon.json.gz OUT [--epochs 60] [--shard 0/4]

The first three train and test a model each and may run side by side; `respell` needs all three. It writes respellings-N.json.gz
(word: [[respelling, log probability of the spelling, WordSim's probability of identical or very similar, sounds that differ when
read back], ...]).
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from models import Seq2Seq, Vocabulary, WordSim
from pairs import distance

LETTERS = "abcdefghijklmnopqrstuvwxyz'0123456789"


def learn(model: Seq2Seq, data: list[tuple[list[str], list[str]]], epochs: int, name: str, device: str) -> Seq2Seq:
    model.to(device).train()
    x = model.source.encode([a for a, _ in data], device)
    y = model.target.encode([b for _, b in data], device)
    size = min(512, len(data))
    steps = epochs * (len(data) // size)
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3, (0.9, 0.98), weight_decay=0.01)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-3, steps + 1, pct_start=0.08)
    begin, total = time.time(), 0.0
    for epoch in range(epochs):
        order = torch.randperm(len(data), device=device)
        for batch in order[: len(data) // size * size].split(size):
            a, b = x[batch], y[batch]
            a, b = a[:, : int((a != 0).sum(1).max())], b[:, : int((b != 0).sum(1).max())]
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                loss = model.loss(a, b)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            rate.step()
            total = float(loss.detach()) if epoch % 10 == 9 else total
        if epoch % 10 == 9:
            print(f"{name} epoch {epoch + 1}: loss {total:.3f}, {time.time() - begin:.0f} s", flush=True)
    return model.eval()


def read_all(g2p: Seq2Seq, words: list[str], device: str, width: int = 4) -> list[list[str]]:
    """The pronunciation of each word; words of like length go together."""
    order = sorted(range(len(words)), key=lambda at: len(words[at]))
    out: list[list[str]] = [[]] * len(words)
    for begin in range(0, len(order), 4096 // width):
        part = order[begin : begin + 4096 // width]
        rows, _ = g2p.beam(g2p.source.encode([list(words[at]) for at in part], device), width, 24)
        for at, row in zip(part, rows[:, 0].tolist(), strict=True):
            out[at] = g2p.target.decode(row)
    return out


def spell_all(
    p2g: Seq2Seq, sounds: list[list[str]], device: str, beams: int = 10, samples: int = 8
) -> list[dict[str, float]]:
    """Spellings of each pronunciation with their log probability per letter."""
    order = sorted(range(len(sounds)), key=lambda at: len(sounds[at]))
    out: list[dict[str, float]] = [{} for _ in sounds]
    for begin in range(0, len(order), 512):
        part = order[begin : begin + 512]
        x = p2g.source.encode([sounds[at] for at in part], device)
        rows, scores = p2g.beam(x, beams, 24)
        drawn = p2g.sample(x, samples, 24, 0.9)
        for at, beam, score, more in zip(part, rows.tolist(), scores.tolist(), drawn.tolist(), strict=True):
            for row in more:
                out[at].setdefault("".join(p2g.target.decode(row)), -9.0)  # sampled only: scored by WordSim alone
            for row, value in zip(beam, score, strict=True):
                word = "".join(p2g.target.decode(row))
                out[at][word] = max(out[at].get(word, -99.0), value)
    return out


def learn_likeness(model: WordSim, data: dict[str, Any], epochs: int, device: str) -> tuple[WordSim, dict[str, Any]]:
    model.to(device)
    clean = lambda found: [(a, b, k) for a, b, k in found if len(a) < 26 and len(b) < 26]  # noqa: E731
    found, held = clean(data["pairs"]), clean(data["held_pairs"])
    one, other = (model.letters.encode([list(p[i]) for p in found], device) for i in (0, 1))
    kind = torch.tensor([p[2] for p in found], device=device)
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3)
    steps = epochs * (len(found) // 1024)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, steps + 1)
    for epoch in range(epochs):
        for batch in torch.randperm(len(found), device=device)[: len(found) // 1024 * 1024].split(1024):
            loss = F.cross_entropy(model(one[batch], other[batch]), kind[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            rate.step()
        print(f"WordSim epoch {epoch + 1}: loss {float(loss):.3f}", flush=True)
    model.eval()
    table = torch.zeros(4, 4, dtype=torch.long)
    with torch.no_grad():
        said = likeness(model, [(a, b) for a, b, _ in held], device).argmax(1).cpu()
    for (_, _, true), guess in zip(held, said.tolist(), strict=True):
        table[true, guess] += 1
    right = float(table.diag().sum() / table.sum())
    return model, {"pairs": len(found), "held_out": len(held), "accuracy": right, "confusion": table.tolist()}


@torch.no_grad()
def likeness(model: WordSim, found: list[tuple[str, str]], device: str) -> torch.Tensor:
    out = []
    for begin in range(0, len(found), 16384):
        part = found[begin : begin + 16384]
        out.append(model(*(model.letters.encode([list(p[i]) for p in part], device) for i in (0, 1))).softmax(1))
    return torch.cat(out)


def test_reading(g2p: Seq2Seq, data: dict[str, Any], device: str) -> dict[str, Any]:
    words = [w for w, part in data["part"].items() if part == "test"]
    read = read_all(g2p, words, device)
    errors = [
        min((distance(r, s.split()), len(s.split())) for s in data["sounds"][w])
        for w, r in zip(words, read, strict=True)
    ]
    return {
        "held_out_words": len(words),
        "word_accuracy": sum(e == 0 for e, _ in errors) / len(errors),
        "phoneme_error_rate": sum(e for e, _ in errors) / sum(n for _, n in errors),
    }


def test_spelling(p2g: Seq2Seq, data: dict[str, Any], device: str) -> dict[str, Any]:
    words = [w for w, part in data["part"].items() if part == "test"]
    spelled = spell_all(p2g, [data["sounds"][w][0].split() for w in words], device, samples=1)
    best = [max(found, key=lambda word: found[word]) for found in spelled]
    return {
        "held_out_words": len(words),
        "word_accuracy": sum(w == b for w, b in zip(words, best, strict=True)) / len(words),
        "among_ten": sum(w in found for w, found in zip(words, spelled, strict=True)) / len(words),
    }


def respell(
    models: tuple[Seq2Seq, Seq2Seq, WordSim], data: dict[str, Any], common: list[str], device: str
) -> dict[str, Any]:
    """Spell the sound of each word anew; keep what WordSim calls identical or very similar."""
    g2p, p2g, wordsim = models
    sounds, begin = data["sounds"], time.time()
    missing = [word for word in common if word not in sounds]
    guessed = dict(zip(missing, read_all(g2p, missing, device), strict=True)) if missing else {}
    heard = {word: sounds[word][0].split() if word in sounds else guessed[word] for word in common}
    common = [word for word in common if heard[word]]
    found = spell_all(p2g, [heard[word] for word in common], device)
    print(f"spelled {len(common)} words, {time.time() - begin:.0f} s", flush=True)
    candidates = [
        (word, spelling, score)
        for word, spellings in zip(common, found, strict=True)
        for spelling, score in spellings.items()
        if spelling and spelling != word and len(spelling) < 24
    ]
    alike = likeness(wordsim, [(word, spelling) for word, spelling, _ in candidates], device)
    close, kind = (alike[:, 0] + alike[:, 1]).tolist(), alike.argmax(1).tolist()
    kept = [(*candidate, close[at]) for at, candidate in enumerate(candidates) if kind[at] < 2]
    print(f"{len(candidates)} candidates, WordSim keeps {len(kept)}, {time.time() - begin:.0f} s", flush=True)
    unique = sorted({spelling for _, spelling, _, _ in kept})
    back = dict(zip(unique, read_all(g2p, unique, device, width=1), strict=True))
    table: dict[str, list[tuple[str, float, float, int]]] = {}
    for word, spelling, score, like in kept:
        known = [s.split() for s in sounds.get(spelling, [])] or [
            back[spelling]
        ]  # a real word sounds as the lexicon says
        away = min(distance(heard[word], k) for k in known)
        table.setdefault(word, []).append((spelling, round(score, 2), round(like, 3), away))
    print(f"{len(table)} of {len(common)} words with respellings, {time.time() - begin:.0f} s", flush=True)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=["g2p", "p2g", "wordsim", "respell"])
    parser.add_argument("lexicon")
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--shard", default="0/1", help="which part of the words to respell, such as 0/4")
    parser.add_argument("--limit", type=int, help="only so many words, for a trial")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with gzip.open(args.lexicon, "rt", encoding="utf-8") as file:
        data = json.load(file)
    if args.limit:
        data["part"] = dict([*data["part"].items()][:: max(1, len(data["part"]) // args.limit)])
        data["common"] = data["common"][: args.limit]
        data["pairs"] = data["pairs"][: 4 * args.limit]
    sounds = data["sounds"]
    phonemes = Vocabulary(sorted({p for found in sounds.values() for line in found for p in line.split()}))
    letters = Vocabulary(list(LETTERS))
    models = (Seq2Seq(letters, phonemes), Seq2Seq(phonemes, letters), WordSim(letters))
    if args.stage == "respell":
        for model, name in zip(models, ("g2p", "p2g", "wordsim"), strict=True):
            model.load_state_dict(torch.load(args.out / f"{name}.pt", weights_only=True))
            model.to(device).eval()
        part, parts = map(int, args.shard.split("/"))
        table = respell(models, data, data["common"][part::parts], device)
        with gzip.open(args.out / f"respellings-{part}.json.gz", "wt", encoding="utf-8") as out:
            json.dump(table, out, ensure_ascii=False)
        return
    mine = [(word, line.split()) for word, part in data["part"].items() if part == args.stage for line in sounds[word]]
    model: torch.nn.Module
    if args.stage == "g2p":
        model = learn(models[0], [(list(word), heard) for word, heard in mine], args.epochs, "G2P", device)
        figures = test_reading(models[0], data, device)
    elif args.stage == "p2g":
        model = learn(models[1], [(heard, list(word)) for word, heard in mine], args.epochs, "P2G", device)
        figures = test_spelling(models[1], data, device)
    else:
        model, figures = learn_likeness(models[2], data, 16, device)
    print(args.stage, figures, flush=True)
    torch.save(model.state_dict(), args.out / f"{args.stage}.pt")
    (args.out / f"{args.stage}.json").write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
