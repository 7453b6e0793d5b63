"""How long fine-tuning takes beside a plain loop that pads every text to the maximum, and beside one that pads to the batch.

    PYTHONPATH=src python benchmarks/training.py [DATA.jsonl.gz] [--start FOLDER] [--examples 128] [--rounds 5] [--device cpu]

DATA has `text` and `label` in each line; default: the embedded reviews. --start: default MiniLM if it is installed, else a random
network of its shape. Every way takes the same examples once, round by round in turns, so that other work on the machine hits all
of them alike; the median of the rounds' ratios is shown. plain: batches of 32 in random order, padded to 128 pieces, which is the
default of the example scripts of Transformers (pad_to_max_length) and was TextAttack's; dynamic: the same batches,
padded to their longest text. All three train with AdamW and clipping, from the same weights.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from scuff.data.dataset import Dataset
from scuff.data.toy import toy_dataset
from scuff.huggingface.encoder import find_encoder
from scuff.training.checkpoints import Checkpoints
from scuff.training.feeds import Clean
from scuff.training.heads import Classification, open_start
from scuff.training.loop import Loop
from scuff.training.schedule import Schedule

ROWS, PIECES = 32, 128  # of the plain loop


def read(path: Path | None) -> Dataset:
    if path is None:
        return toy_dataset("toy:sentiment", "train")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts, labels = (tuple(str(row[name]) for row in rows) for name in ("text", "label"))
    return Dataset(path.name, "single", (texts,), labels, tuple(map(str, range(len(rows)))))


def random_minilm(folder: Path, texts: tuple[Any, ...]) -> Path:
    """A network of MiniLM's shape with random weights, and a vocabulary of the words of the texts."""
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    cut = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    cut.normalizer, cut.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    cut.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=30522, special_tokens=special))
    cut.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    transformers.PreTrainedTokenizerFast(tokenizer_object=cut, **names).save_pretrained(folder)
    shape = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    transformers.BertModel(transformers.BertConfig(**shape)).save_pretrained(folder)
    return folder


class Plain:
    """A loop as the example scripts have it. whole: pads to PIECES, otherwise to the longest text of the batch."""

    def __init__(self, start: Path, data: Dataset, device: str, whole: bool) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.data, self.whole = data, whole
        self.tokenizer = AutoTokenizer.from_pretrained(start)
        self.model = AutoModelForSequenceClassification.from_pretrained(start, num_labels=len(data.labels)).to(device)
        self.model.train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-4)

    def epoch(self, number: int) -> int:
        order = np.random.default_rng(number).permutation(len(self.data)).tolist()
        pieces = 0
        for at in range(0, len(order), ROWS):
            rows = order[at : at + ROWS]
            texts = [str(self.data.columns[0][row]) for row in rows]
            target = torch.tensor([self.data.labels.index(str(self.data.targets[row])) for row in rows])
            padding = "max_length" if self.whole else "longest"
            inputs = self.tokenizer(texts, padding=padding, truncation=True, max_length=PIECES, return_tensors="pt")
            pieces += inputs["input_ids"].numel()
            inputs = {name: array.to(self.model.device) for name, array in inputs.items()}
            self.model(**inputs, labels=target.to(self.model.device)).loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
        return pieces


class Ours:
    """The loop of fine_tune on the same examples; texts are cut anew in each epoch, as the others do."""

    def __init__(self, start: Path, data: Dataset, device: str, out: Path, tokens: int) -> None:
        self.schedule = Schedule(rate=1e-4, epochs=100, batch_tokens=tokens, smoothing=0.0)
        options: dict[str, Any] = {"labels": None, "new_head": False, "max_length": PIECES, "freeze_embeddings": False}
        self.opened = open_start(start, data, seed=0, device=device, **options)
        self.data = data
        checkpoints = Checkpoints(out, {}, None)
        self.loop = Loop(self.opened.model, self._task(), self.schedule, checkpoints, seed=0, seconds=None, show=None)
        self.opened.model.train()

    def _task(self) -> Classification:
        return Classification(self.opened, Clean(self.data), self.data.take(range(1)), self.schedule, "accuracy", 0)

    def epoch(self, number: int) -> int:
        epoch = self._task().epoch(number, self.loop.pad_step)
        for at in range(len(epoch.batches)):
            self.loop._step(number, at, epoch)
        return sum(epoch.take(rows)["input_ids"].size for rows in epoch.batches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--examples", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=1024, help="of a batch of ours")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    data = read(args.data).sample(args.examples, 0)
    with TemporaryDirectory() as folder:
        found = find_encoder()
        start = args.start or (Path(found) if found else random_minilm(Path(folder) / "start", data.columns[0]))
        ways: dict[str, Callable[[int], int]] = {
            "plain": Plain(start, data, args.device, whole=True).epoch,
            "dynamic": Plain(start, data, args.device, whole=False).epoch,
            "ours": Ours(start, data, args.device, Path(folder) / "out", args.tokens).epoch,
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        pieces: dict[str, int] = {}
        for number in range(args.rounds + 1):
            for name, epoch in ways.items():
                begin = time.perf_counter()
                pieces[name] = epoch(number)
                if args.device.startswith("cuda"):
                    torch.cuda.synchronize()
                if number:  # the first round warms up
                    seconds[name].append(time.perf_counter() - begin)
    for name in ways:
        ratio = median(a / b for a, b in zip(seconds[name], seconds["ours"], strict=True))
        each = 1000 * median(seconds[name]) / len(data)
        print(
            f"{name:8} {each:8.1f} ms per example  {ratio:5.2f} times ours  {pieces[name] / len(data):6.1f} pieces per example"
        )


if __name__ == "__main__":
    main()
