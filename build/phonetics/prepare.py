"""Read the pronunciation lexicon of gruut-lang-en (MIT) into one small file for training.

    pip install gruut-lang-en && python build/phonetics/prepare.py carry/lexicon.json.gz [FREQUENCIES.tsv.gz]

Stress is dropped. A twentieth of the words is held out; the rest is cut into two disjoint halves, one to learn reading (G2P) and
one to learn spelling (P2G), as in the thesis. FREQUENCIES (word<TAB>count) only decides which words come first.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sqlite3
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

from pairs import pairs

WORD = re.compile(r"[a-z]+('[a-z]+)?")


def plain(phonemes: str) -> str:
    return phonemes.replace("ˈ", "").replace("ˌ", "")


def main(target: str, frequencies: str | None = None) -> None:
    spec = find_spec("gruut_lang_en")
    if spec is None or spec.origin is None:
        sys.exit("needs gruut-lang-en: pip install gruut-lang-en")
    lexicon = sqlite3.connect(Path(spec.origin).parent / "lexicon.db")
    sounds: dict[str, list[str]] = defaultdict(list)
    for word, phonemes in lexicon.execute("select word, phonemes from word_phonemes order by word, pron_order"):
        if WORD.fullmatch(word) and len(word) <= 20 and plain(phonemes) not in sounds[word]:
            sounds[word].append(plain(phonemes))
    aligned = {
        word: plain(line)
        for word, line in lexicon.execute("select word, alignment from g2p_alignments")
        if word in sounds
    }
    count: dict[str, int] = {}
    if frequencies:
        with gzip.open(frequencies, "rt", encoding="utf-8") as lines:
            count = {word: int(n) for word, n in (line.rstrip("\n").split("\t") for line in lines)}
    words = [word for word, found in sounds.items() if found]
    random.Random(1).shuffle(words)
    held = len(words) // 20
    half = (len(words) - held) // 2
    part = {word: "test" if at < held else "g2p" if at < held + half else "p2g" for at, word in enumerate(words)}
    common = sorted(
        {*words, *(w for w in count if WORD.fullmatch(w) and len(w) <= 20)}, key=lambda w: (-count.get(w, 0), w)
    )
    known = {word: line for word, line in aligned.items() if part.get(word) != "test"}
    data = {
        "sounds": dict(sounds), "part": part, "common": common,
        "pairs": pairs(sounds, known, 40_000, 1),
        "held_pairs": pairs(sounds, {w: line for w, line in aligned.items() if w not in known}, 2_000, 2),
    }  # fmt: skip
    with gzip.open(target, "wt", encoding="utf-8") as out:
        json.dump(data, out, ensure_ascii=False)
    print(f"{len(words)} words, {sum(map(len, sounds.values()))} pronunciations, {len(common)} to respell")


if __name__ == "__main__":
    main(*sys.argv[1:])
