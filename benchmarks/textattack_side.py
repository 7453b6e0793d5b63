"""TextAttack's side of benchmarks/attack.py, for its own environment: imports nothing of Scuff, prints one line of JSON.

  VENV/bin/python benchmarks/textattack_side.py --model FOLDER --data FILE --recipe pwws [--wrapper plain] [--asked FILE]

The clock covers the attacks alone: the model and WordNet are loaded, and one example attacked, before. Works offline: NLTK_DATA
names the folder with stop words and WordNet; the file post_install_check_3 in TA_CACHE_DIR stops downloads on import.
"""

# mypy: ignore-errors
# ruff: noqa: E402

from __future__ import annotations

import argparse
import json
import os
import random
import time
import warnings
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--model", required=True, help="a Hugging Face folder")
parser.add_argument("--data", required=True, help='JSONL: {"text": ..., "label": ...}')
parser.add_argument("--recipe", required=True, choices=["deepwordbug", "pwws"])
parser.add_argument("--wrapper", default="dynamic", choices=["dynamic", "plain"])
parser.add_argument("--batch", type=int, default=32, help="texts per call of the model; TextAttack's own default is 32")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--seconds", type=float, default=float("inf"), help="start no further example after this time")
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--device", default="cpu")
parser.add_argument("--asked", help="file to write the texts to that the model saw, a JSON string per line")
args = parser.parse_args()

cache = Path(os.environ.setdefault("TA_CACHE_DIR", str(Path.home() / ".cache/scuff-peers/ta_cache")))
cache.mkdir(parents=True, exist_ok=True)
(cache / "post_install_check_3").touch()
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ["OMP_NUM_THREADS"] = str(args.threads)
warnings.filterwarnings("ignore")

import nltk

nltk.download = lambda *_, **__: False  # PWWS asks for omw-1.4 each time it is built; English does not need it

import numpy as np
import torch
import transformers
from textattack.attack_recipes import DeepWordBugGao2018, PWWSRen2019
from textattack.attack_results import SkippedAttackResult, SuccessfulAttackResult
from textattack.models.wrappers import HuggingFaceModelWrapper

RECIPES = {"deepwordbug": DeepWordBugGao2018, "pwws": PWWSRen2019}
asked: list[str] = []  # texts that the model saw, without those answered by TextAttack's cache
calls: list[float] = []  # seconds of each call of the model, tokenising included


class Plain(HuggingFaceModelWrapper):
    """TextAttack's default: every text padded to the tokenizer's maximum, 512 pieces."""

    def __call__(self, texts):
        begin = time.perf_counter()
        scores = self.scores(texts)
        calls.append(time.perf_counter() - begin)
        asked.extend(texts)
        return scores

    def scores(self, texts):
        return super().__call__(texts)


class Dynamic(Plain):
    """Pads to the longest text of the call instead, as an experienced user would."""

    def scores(self, texts):
        inputs = self.tokenizer(list(texts), truncation=True, padding=True, return_tensors="pt").to(args.device)
        with torch.inference_mode():
            return self.model(**inputs).logits.cpu().clone()


def words_changed(result) -> int:
    """Counts changed words as TextAttack's own statistics do: words at the same place that differ."""
    return len(result.original_result.attacked_text.all_words_diff(result.perturbed_result.attacked_text))


torch.set_num_threads(args.threads)
tokenizer = transformers.AutoTokenizer.from_pretrained(args.model)
model = transformers.AutoModelForSequenceClassification.from_pretrained(args.model).eval().to(args.device)
rows = [json.loads(line) for line in Path(args.data).read_text(encoding="utf-8").splitlines()]
examples = [(row["text"], model.config.label2id[row["label"]]) for row in rows]


def build():
    attack = RECIPES[args.recipe].build({"plain": Plain, "dynamic": Dynamic}[args.wrapper](model, tokenizer))
    attack.goal_function.batch_size = args.batch
    return attack


build().attack(*examples[0])
random.seed(args.seed)
np.random.seed(args.seed)
attack = build()
asked.clear()
calls.clear()
results, seen = [], [0]
begin = time.perf_counter()
for text, label in examples:
    results.append(attack.attack(text, label))
    seen.append(len(asked))
    if time.perf_counter() - begin > args.seconds:
        break
seconds = time.perf_counter() - begin

each = [
    {
        "success": isinstance(result, SuccessfulAttackResult), "skipped": isinstance(result, SkippedAttackResult),
        "queries": result.num_queries, "seen": after - before, "changed": words_changed(result),
        "words": len(result.original_result.attacked_text.words),
    }
    for result, (before, after) in zip(results, pairwise(seen), strict=True)
]  # fmt: skip
shares = [one["changed"] / one["words"] for one in each if one["success"]]
queries = sum(one["queries"] for one in each)
if args.asked:
    Path(args.asked).write_text("".join(json.dumps(text) + "\n" for text in asked), encoding="utf-8")
summary = {
    "recipe": args.recipe, "wrapper": args.wrapper, "batch": args.batch, "seed": args.seed, "threads": args.threads,
    "attacked": len(each), "skipped": sum(one["skipped"] for one in each),
    "success": sum(one["success"] for one in each) / len(each), "queries": queries, "mean_queries": queries / len(each),
    "changed": float(np.mean(shares)) if shares else None, "seconds": seconds, "forwards": len(asked), "calls": len(calls),
    "victim_seconds": sum(calls), "examples": each,
    "versions": {name: version(name) for name in ("textattack", "torch", "transformers", "nltk")},
}  # fmt: skip
print(json.dumps(summary))
