"""How often the tagger is right, and how fast it is, beside others: the test part of the English Web Treebank (UPOS).

    python benchmarks/tagger.py                       # needs SCUFF_SHARED/data/ud_ewt
    python benchmarks/tagger.py --model FOLDER        # and a transformers model for tokens, trained on that treebank
    python benchmarks/tagger.py --retrain             # and gruut's recipe trained anew without the test part (minutes)

NLTK and TextBlob are measured in a virtual environment of their own (SCUFF_PEERS/venv-tagger, default under
~/.cache/scuff-peers: python -m venv ...; pip install nltk textblob) with NLTK's data in SCUFF_SHARED/data/nltk_data.
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
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from string import punctuation

from scuff.language import tagger

SHARED = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[2] / "shared"))
PEERS = Path(os.environ.get("SCUFF_PEERS", Path.home() / ".cache/scuff-peers"))
CONTENT = {"NOUN": "noun", "PROPN": "name", "VERB": "verb", "AUX": "verb", "ADJ": "adjective", "ADV": "adverb"}
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
begin = time.perf_counter()
tags = [tag(words) for words in sentences]
json.dump([time.perf_counter() - begin, tags], sys.stdout)"""


def read(part: str) -> tuple[Sentences, Sentences]:
    with gzip.open(SHARED / "data" / "ud_ewt" / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["tokens"] for row in rows], [row["tags"] for row in rows]


def universal(tags: Sentences) -> Sentences:
    return [[tagger.UNIVERSAL.get(tag, "X") for tag in each] for each in tags]


def most_frequent() -> Tag:
    """The tag that each word mostly has in the training part; NOUN for others."""
    count: dict[str, Counter[str]] = {}
    for words, tags in zip(*read("train"), strict=True):
        for word, tag in zip(words, tags, strict=True):
            count.setdefault(word, Counter())[tag] += 1
    best = {word: tags.most_common(1)[0][0] for word, tags in count.items()}
    return lambda sentences: [[best.get(word, "NOUN") for word in words] for words in sentences]


def features(words: Sequence[str], at: int) -> dict[str, float | str]:
    """What gruut tells CRFsuite about a token."""
    found: dict[str, float | str] = {"BOS": float(at == 0), "EOS": float(at == len(words) - 1)}
    for shift, place in ((0, ""), (-1, "-1:"), (-2, "-2:"), (1, "+1:"), (2, "+2:")):
        if 0 <= at + shift < len(words):
            word = words[at + shift]
            found |= {place + "bias": 1.0, place + "word": word, place + "len(word)": len(word)}
            found |= {place + "punctuation": float(word in punctuation), place + "digit": float(word.isdigit())}
            found |= {place + f"[:{size}]": word[:size] for size in (2, 3)}
            found |= {place + f"[-{size}:]": word[-size:] for size in (2, 3)}
    return found


def retrained() -> Tag:
    """gruut's features and settings, universal tags, the training part only."""
    import pycrfsuite

    trainer, model = pycrfsuite.Trainer(verbose=False), pycrfsuite.Tagger()
    for words, tags in zip(*read("train"), strict=True):
        trainer.append([features(words, at) for at in range(len(words))], tags)
    trainer.set_params({"c1": 0.25, "c2": 0.3, "max_iterations": 100, "feature.possible_transitions": True})
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        model.open(f"{folder}/model")
    return lambda sentences: [model.tag([features(words, at) for at in range(len(words))]) for words in sentences]


def neural(folder: str) -> Tag:
    """A transformers model for tokens; the first piece of a word decides."""
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
        tag(sentences[:1])  # models are read when they are first used
        begin = time.perf_counter()
        tags = tag(sentences)
        return time.perf_counter() - begin, tags

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


def right(found: Sentences, gold: Sentences, merge: dict[str, str] | None = None) -> float:
    """The share of tokens with the right tag; `merge` puts tags together, all that it does not name are one."""
    pairs = [pair for a, b in zip(found, gold, strict=True) for pair in zip(a, b, strict=True)]
    same = (merge.get(a) == merge.get(b) if merge else a == b for a, b in pairs)
    return sum(same) / len(pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a folder with a transformers model for tokens")
    parser.add_argument("--retrain", action="store_true", help="gruut's recipe without the test part")
    args = parser.parse_args()
    if not (SHARED / "data" / "ud_ewt").is_dir():
        sys.exit(f"needs the treebank in {SHARED}/data/ud_ewt (SCUFF_SHARED)")
    rivals = {
        "most frequent tag": timed(most_frequent()),
        "Scuff: gruut-lang-en's CRF": timed(lambda sentences: universal(tagger.tag_words(sentences))),
    }
    if args.retrain:
        rivals["the same recipe, test part unseen"] = timed(retrained())
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
    print("| tagger | UPOS | six classes | lower-cased: UPOS | six classes | sentences/s |\n|---|---|---|---|---|---|")
    for name, run in rivals.items():
        seconds, found = run(words)
        _, small = run(lower)
        shares = [right(found, gold), right(found, gold, CONTENT), right(small, gold), right(small, gold, CONTENT)]
        print(f"| {name} | {' | '.join(f'{x:.3f}' for x in shares)} | {len(words) / seconds:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
