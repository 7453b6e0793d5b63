"""Makes word vectors for attacks, to use instead of the counter-fitted ones of Mrkšić et al. (2016).

  python benchmarks/papers/word_vectors.py OUT.txt.gz [--words 40000] [--size 128]
  python benchmarks/papers/word_vectors.py OUT.tsv.gz --near 50 [--vectors VECTORS.txt.gz]

Every word of the shared frequency list, of the shared neighbour lists and of the tweets is encoded by MiniLM as a text of its
own; then the vectors are counter-fitted as in the paper: synonyms (PPDB) are pulled together, antonyms (PPDB, WordNet) pushed
apart until they are orthogonal, and all other words are held in place. Writes lines of `word number number ...`, for
`scuff attack --vectors`. Needs scuff[meaning] and the project's shared data. These are not the vectors of the papers, and figures
made with them say so. `--near N` writes instead the N nearest words of each word that occurs in the training and test parts of
the toxicity data (`word<TAB>word word ...`): the same neighbours in less space, for machines to which files are carried.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np

from scuff.huggingface.encoder import Encoder, find_encoder
from scuff.perturbations.embedding import Vectors, read_space
from scuff.text.corpus import Corpus

WORD = re.compile(r"[a-z][a-z'’-]+")
EPOCHS, RATE, HOLD = 20, 0.1, 0.1


def lines(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def vocabulary(data: Path, most: int) -> list[str]:
    """Returns at most `most` words: those of the tweets first, then the most frequent ones, then those of the lists."""
    tweets: Counter[str] = Counter()
    with gzip.open(data / "davidson" / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            tweets.update(WORD.findall(json.loads(line)["text"].lower()))
    common = [row[0] for row in lines(data / "word_freq" / "en.tsv.gz")]
    listed = [word for row in lines(data / "counterfitted" / "neighbours.tsv.gz") for word in (row[0], *row[1].split())]
    often = [word for word, count in tweets.most_common() if count >= 5]
    return [word for word in dict.fromkeys((*often, *common, *listed)) if WORD.fullmatch(word)][:most]


def pairs(data: Path, names: tuple[str, ...], number: dict[str, int]) -> np.ndarray:
    rows = [row for name in names for row in lines(data / "counterfitted" / f"{name}.tsv.gz")]
    known = [(number[row[0]], number[row[1]]) for row in rows if row[0] in number and row[1] in number]
    return np.array(sorted(set(known)), np.int64).reshape(-1, 2)


def counter_fitted(vectors: np.ndarray, same: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Takes gradient steps on unit vectors until 1 - cos is small for synonyms and at least 1 for antonyms."""
    first, now = vectors.copy(), vectors.copy()
    for _ in range(EPOCHS):
        step = HOLD * (first - now)
        for found, sign in ((same, 1.0), (other, -1.0)):
            cos = (now[found[:, 0]] * now[found[:, 1]]).sum(1)
            acts = found[cos < 0.95] if sign > 0 else found[cos > 0]
            np.add.at(step, acts[:, 0], sign * RATE * now[acts[:, 1]])
            np.add.at(step, acts[:, 1], sign * RATE * now[acts[:, 0]])
        now = now + step
        now /= np.linalg.norm(now, axis=1, keepdims=True)
    return now


def smaller(vectors: np.ndarray, size: int) -> np.ndarray:
    """Projects vectors on the `size` directions in which the words differ most."""
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return vectors @ directions[:, -size:]


def used(data: Path) -> set[str]:
    """Returns the words of the texts of the toxicity data that are attacked, in lower case."""
    words: set[str] = set()
    for task, part in product(("davidson", "jigsaw"), ("train", "test")):
        with gzip.open(data / task / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
            texts = [json.loads(line)["text"] for line in file]
        corpus = Corpus.of(texts)
        words.update(word.lower() for word in corpus.cut(corpus.words).strings())
    return words


def write_lists(vectors: Path, out: Path, near: int, data: Path) -> str:
    """Writes the neighbours of words that occur in the data. Returns what was done."""
    space = read_space(vectors, vectors.stat().st_mtime)
    assert isinstance(space, Vectors)
    here = used(data)
    words = [word for word in space.words if word in here]
    with gzip.open(out, "wt", encoding="utf-8") as file:
        for word, found in zip(words, space.nearest(words, near, None), strict=True):
            file.write(f"{word}\t{' '.join(found)}\n")
    return f"the {near} nearest words of {len(words):,} words: {out}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", type=int, default=40_000)
    parser.add_argument("--size", type=int, default=128, help="numbers of a vector")
    parser.add_argument("--near", type=int, help="write lists of so many neighbours")
    parser.add_argument("--vectors", type=Path, help="with --near: made before")
    args = parser.parse_args()
    data = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[3] / "shared")) / "data"
    if args.near and args.vectors:
        print(write_lists(args.vectors, args.out, args.near, data))
        return
    folder = find_encoder()
    if folder is None or not data.is_dir():
        sys.exit("expected scuff[meaning] and the shared data, got one or none of them")
    words = vocabulary(data, args.words)
    number = {word: at for at, word in enumerate(words)}
    same, other = pairs(data, ("ppdb_synonyms",), number), pairs(data, ("ppdb_antonyms", "wordnet_antonyms"), number)
    vectors = smaller(counter_fitted(Encoder.load(folder)(words).astype(np.float64), same, other), args.size)
    made = args.out.with_name("vectors.txt.gz") if args.near else args.out
    with gzip.open(made, "wt", encoding="utf-8") if made.suffix == ".gz" else open(made, "w") as out:
        for word, row in zip(words, vectors, strict=True):
            out.write(f"{word} {' '.join(f'{value:.4f}' for value in row)}\n")
    print(f"{len(words):,} words, {len(same):,} synonyms pulled together, {len(other):,} antonyms pushed apart: {made}")
    if args.near:
        print(write_lists(made, args.out, args.near, data))


if __name__ == "__main__":
    main()
