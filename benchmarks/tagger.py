"""Measures accuracy and speed of the tagger beside others, on the test part of the English Web Treebank (UPOS).

    python benchmarks/tagger.py                       # needs SCUFF_SHARED/data/ud_ewt
    python benchmarks/tagger.py --model FOLDER        # and a transformers model for tokens, trained on that treebank
    python benchmarks/tagger.py --retrain             # and gruut's recipe trained anew without the test part (minutes)

Time is processor time, so that other work on the machine does not count. NLTK and TextBlob are measured in a virtual
environment of their own (SCUFF_PEERS/venv-tagger, default under ~/.cache/scuff-peers: python -m venv ...; pip install
nltk textblob) with NLTK's data in SCUFF_SHARED/data/nltk_data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from string import punctuation
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

from scuff.english import inflection, tagger
from scuff.english.tagger import Crf

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
PEERS = Path(os.environ.get("SCUFF_PEERS", Path.home() / ".cache/scuff-peers"))
# Penn tags do not distinguish these: is (AUX, VERB), that (SCONJ, ADP, DET, PRON), to (PART, ADP)
MERGED = {"AUX": "VERB", "SCONJ": "ADP", "PART": "ADP", "DET": "PRON"}
CONTENT = {"NOUN": "noun", "PROPN": "noun", "VERB": "verb", "AUX": "verb", "ADJ": "adjective", "ADV": "adverb"}
Sentences = list[list[str]]
Tag = Callable[[Sentences], Sentences]

PEER = {
    "NLTK averaged perceptron": """
from nltk.tag import PerceptronTagger
tagger = PerceptronTagger()
tag = lambda words: [tag for _, tag in tagger.tag(words)]""",
    "TextBlob PatternTagger": """
from textblob.en import tag as find
def tag(words):
    found = [tag for _, tag in find(" ".join(words), tokenize=False)]
    return found if len(found) == len(words) else ["XX"] * len(words)""",
}
AROUND = """
import json, sys, time
sentences = json.load(sys.stdin)
tag(sentences[0])
begin = time.process_time()
tags = [tag(words) for words in sentences]
json.dump([time.process_time() - begin, tags], sys.stdout)"""


def read(part: str) -> tuple[Sentences, Sentences]:
    with gzip.open(SHARED / "data" / "ud_ewt" / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["tokens"] for row in rows], [row["tags"] for row in rows]


def universal(tags: Sentences) -> Sentences:
    return [[tagger.UNIVERSAL.get(tag, "X") for tag in each] for each in tags]


def most_frequent() -> Tag:
    """Tags each word as most often in the training part; NOUN if it is not there."""
    count: dict[str, Counter[str]] = {}
    for words, tags in zip(*read("train"), strict=True):
        for word, tag in zip(words, tags, strict=True):
            count.setdefault(word, Counter())[tag] += 1
    best = {word: tags.most_common(1)[0][0] for word, tags in count.items()}
    return lambda sentences: [[best.get(word, "NOUN") for word in words] for words in sentences]


def features(words: Sequence[str], at: int) -> dict[str, float | str]:
    """Returns the features that gruut gives CRFsuite for a token."""
    found: dict[str, float | str] = {"BOS": float(at == 0), "EOS": float(at == len(words) - 1)}
    for shift, place in ((0, ""), (-1, "-1:"), (-2, "-2:"), (1, "+1:"), (2, "+2:")):
        if 0 <= at + shift < len(words):
            word = words[at + shift]
            found |= {place + "bias": 1.0, place + "word": b64encode(word.encode()).decode()}
            found |= {place + "len(word)": len(word), place + "word.ispunctuation": float(word in punctuation)}
            found |= {place + "word.isdigit()": float(word.isdigit())}
            found |= {place + f"word[:{size}]": word[:size] for size in (2, 3)}
            found |= {place + f"word[-{size}:]": word[-size:] for size in (2, 3)}
    return found


def retrained() -> Crf:
    """Trains gruut's features and settings with universal tags on the training part only."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for words, tags in zip(*read("train"), strict=True):
        trainer.append([features(words, at) for at in range(len(words))], tags)
    trainer.set_params({"c1": 0.25, "c2": 0.3, "max_iterations": 100, "feature.possible_transitions": True})
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        return Crf.read(Path(f"{folder}/model").read_bytes())


def ours(model: Crf | None = None, dictionary: bool = True) -> Tag:
    """Returns Scuff's tagger, with another model or without the dictionary of forms if wanted."""

    def against(possible: frozenset[str], known: bool) -> npt.NDArray[np.float32]:
        assert model
        missing = [family for family, tags in inflection.FAMILIES.items() if possible and not possible & set(tags)]
        return np.array([-tagger.AGAINST[known] if label in missing else 0 for label in model.labels], np.float32)

    def tag(sentences: Sentences) -> Sentences:
        changes: dict[str, Any] = {"_model": lambda: model, "_against": against} if model else {}
        if not dictionary:
            changes["possible_tags"] = lambda word: frozenset()
        for memory in (tagger._features, inflection.possible_tags, inflection._variants, inflection._table):
            memory.cache_clear()  # so that every word is looked up for the first time
        with mock.patch.multiple(
            tagger, **{"TOGETHER": tagger.TOGETHER, **changes}
        ):  # patch.multiple needs at least one
            tags = tagger.tag_words(sentences)
        return tags if model else universal(tags)

    return tag


def neural(folder: str) -> Tag:
    """Returns a tagger by a transformers model for tokens; the first piece of a word decides."""
    import torch
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForTokenClassification.from_pretrained(folder).eval()

    def tag(sentences: Sentences) -> Sentences:
        found = []
        for begin in range(0, len(sentences), 32):
            part = sentences[begin : begin + 32]
            batch = tokenizer(part, is_split_into_words=True, padding=True, return_tensors="pt")
            with torch.inference_mode():
                best = model(**batch).logits.argmax(-1).tolist()
            for row in range(len(part)):
                first: dict[int, int] = {}
                for piece, word in enumerate(batch.word_ids(row)):
                    if word is not None:
                        first.setdefault(word, piece)
                found.append(
                    [model.config.id2label[best[row][first[w]]] if w in first else "X" for w in range(len(part[row]))]
                )
        return found

    return tag


def timed(tag: Tag) -> Callable[[Sentences], tuple[float, Sentences]]:
    def run(sentences: Sentences) -> tuple[float, Sentences]:
        tag(sentences[:1])  # loads the models
        begin = time.process_time()
        tags = tag(sentences)
        return time.process_time() - begin, tags

    return run


def peer(python: Path, code: str) -> Callable[[Sentences], tuple[float, Sentences]]:
    def run(sentences: Sentences) -> tuple[float, Sentences]:
        env = {**os.environ, "NLTK_DATA": str(SHARED / "data" / "nltk_data")}
        done = subprocess.run(
            [str(python), "-c", code + AROUND], input=json.dumps(sentences), capture_output=True, text=True, env=env
        )
        if done.returncode:
            sys.exit(f"{python}: {done.stderr.splitlines()[-1]}")
        seconds, tags = json.loads(done.stdout)
        return seconds, universal(tags)

    return run


def right(found: Sentences, gold: Sentences, of: Callable[[str], str]) -> str:
    """Returns the share of tokens with the right tag, after `of` has merged some tags."""
    pairs = [pair for a, b in zip(found, gold, strict=True) for pair in zip(a, b, strict=True)]
    return f"{sum(of(a) == of(b) for a, b in pairs) / len(pairs):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a folder with a transformers model for tokens")
    parser.add_argument("--retrain", action="store_true", help="gruut's recipe without the test part")
    args = parser.parse_args()
    if not (SHARED / "data" / "ud_ewt").is_dir():
        sys.exit(f"needs the treebank in {SHARED}/data/ud_ewt (SCUFF_SHARED)")
    rivals = {
        "most frequent tag": timed(most_frequent()),
        "gruut-lang-en's CRF": timed(ours(dictionary=False)),
        "the same with the dictionary: Scuff": timed(ours()),
    }
    if args.retrain:
        model = retrained()
        rivals["gruut's recipe, test part unseen"] = timed(ours(model, dictionary=False))
        rivals["the same with the dictionary"] = timed(ours(model))
    python = PEERS / "venv-tagger" / "bin" / "python"
    for name, code in PEER.items():
        if python.exists():
            rivals[name] = peer(python, code)
        else:
            print(f"{name}: skipped, no environment in {python.parents[1]}", file=sys.stderr)
    if args.model:
        rivals["neural"] = timed(neural(args.model))
    words, gold = read("test")
    lower = [[word.lower() for word in each] for each in words]
    print(f"{len(words):,} sentences, {sum(map(len, words)):,} tokens\n")
    print("| tagger | UPOS | merged | content | lower-cased: UPOS | merged | content | sentences per second |")
    print("|---" * 8 + "|")
    ways: tuple[Callable[[str], str], ...] = (str, lambda tag: MERGED.get(tag, tag), lambda tag: CONTENT.get(tag, ""))
    for name, run in rivals.items():
        seconds, found = run(words)
        _, small = run(lower)
        shares = [right(tags, gold, way) for tags in (found, small) for way in ways]
        print(f"| {name} | {' | '.join(shares)} | {len(words) / seconds:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
