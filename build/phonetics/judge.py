"""How good the phonetic perturbation is: which words it reaches in real text, and whether espeak-ng hears the same.

    pip install espeakng-loader phonemizer scuff && python build/phonetics/judge.py TEXTS.jsonl.gz ...

Texts are JSON lines with a field `text`. Prints Markdown.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from pairs import distance
from referee import sounds

import scuff
from scuff.perturbations.phonetic import Phonetic
from scuff.text.corpus import Corpus

FUNCTION = {
    "a",
    "an",
    "the",
    "and",
    "or",
    "but",
    "if",
    "of",
    "at",
    "by",
    "for",
    "with",
    "about",
    "to",
    "from",
    "in",
    "on",
    "off",
    "over",
    "under",
    "then",
    "than",
    "so",
    "as",
    "is",
    "am",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "have",
    "has",
    "had",
    "do",
    "does",
    "did",
    "will",
    "would",
    "can",
    "could",
    "should",
    "may",
    "might",
    "must",
    "i",
    "you",
    "he",
    "she",
    "it",
    "we",
    "they",
    "me",
    "him",
    "her",
    "us",
    "them",
    "my",
    "your",
    "his",
    "its",
    "our",
    "their",
    "this",
    "that",
    "these",
    "those",
    "there",
    "here",
    "what",
    "which",
    "who",
    "whom",
    "how",
    "when",
    "where",
    "why",
    "not",
    "no",
    "nor",
    "n't",
    "'s",
    "'re",
    "'ve",
    "'ll",
    "'d",
    "'m",
    "s",
    "t",
}


def main(paths: list[str]) -> None:
    chance = random.Random(0)
    words: Counter[str] = Counter()
    print("| text | words | can change | content words | can change |\n|---|---|---|---|---|")
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            texts = [json.loads(line)["text"] for line in file][:4000]
        corpus = Corpus.of(texts)
        able = Phonetic().able(corpus)
        found = corpus.cut(corpus.words).strings()
        content = np.array([bool(re.search(r"[a-z]", w.lower())) and w.lower() not in FUNCTION for w in found])
        words.update(w for w, a in zip(found, able.tolist(), strict=True) if a)
        name = Path(path).parent.name
        print(f"| {name} | {len(found):,} | {able.mean():.1%} | {content.sum():,} | {able[content].mean():.1%} |")
    sample = chance.choices(list(words), list(words.values()), k=5000)
    new = scuff.perturb(sample, "phonetic", 1, ids=range(len(sample)))
    types = chance.sample(sorted(words), min(5000, len(words)))
    new_types = scuff.perturb(types, "phonetic", 1, ids=range(len(types)))
    others = chance.sample(sample, len(sample))
    heard = sounds([w.lower() for w in [*sample, *new, *types, *new_types]])
    print("\n| pairs | same | within one sound | mean distance, sounds |\n|---|---|---|---|")
    for name, pairs in {
        "word and respelling, running words": list(zip(sample, new, strict=True)),
        "word and respelling, each word once": list(zip(types, new_types, strict=True)),
        "two random words": list(zip(sample, others, strict=True)),
    }.items():
        away = np.array([distance(heard[a.lower()], heard[b.lower()]) for a, b in pairs])
        print(f"| {name} | {(away == 0).mean():.1%} | {(away <= 1).mean():.1%} | {away.mean():.2f} |")
    shown = chance.sample([(a, b) for a, b in zip(types, new_types, strict=True) if a.isalpha()], 40)
    print("\n" + ", ".join(f"{a} → {b}" for a, b in shown))


if __name__ == "__main__":
    main(sys.argv[1:])
