"""Write src/scuff/resources/data/phonetic.txt.xz: respellings of common words with weights.

    python build/phonetics/table.py respellings-*.json.gz [--words FREQUENCIES.tsv.gz]

Keeps respellings that WordSim calls identical or very similar with some certainty, that G2P reads back as exactly the sound of
the word, and that P2G finds likely; at most 8 a word. A word that has none gets less likely ones, then up to two that differ in
one sound. A line: word, respellings, weights in hexadecimal (proportional to the square root of P2G's probability).
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import math
from pathlib import Path

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/phonetic.txt.xz"


def kept(word: str, found: list[tuple[str, float, float, int]]) -> list[tuple[str, float]]:
    fits = [c for c in found if len(c[0]) <= len(word) + 3 and c[0].count("'") <= word.count("'")]
    same = [(spelling, score) for spelling, score, like, away in fits if away == 0 and like > 0.7 and score > -5.2]
    if not same:  # rather a bolder spelling than none
        same = [(spelling, score) for spelling, score, like, away in fits if away == 0 and like > 0.55 and score > -6.5]
    if not same:  # or, in a longer word, one sound off
        same = [
            (spelling, score) for spelling, score, like, away in fits if away == 1 and score > -3.2 and len(word) > 5
        ][:2]
    return sorted(same, key=lambda each: (-each[1], each[0]))[:8]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--words", help="word<TAB>count: these words come first")
    parser.add_argument("--limit", type=int, default=150_000)
    args = parser.parse_args()
    table: dict[str, list[tuple[str, float, float, int]]] = {}
    for path in args.files:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            table |= json.load(file)
    first: list[str] = []
    if args.words:
        with gzip.open(args.words, "rt", encoding="utf-8") as file:
            first = [line.split("\t")[0] for line in file]
    order = list(dict.fromkeys([*(w for w in first if w in table), *sorted(table)]))
    lines, count = [], 0
    for word in order:
        found = kept(word, table[word])
        if found and len(lines) < args.limit:
            best = found[0][1]
            weights = "".join(f"{max(1, round(255 * math.exp((score - best) / 2))):02x}" for _, score in found)
            lines.append(f"{word}\t{' '.join(spelling for spelling, _ in found)}\t{weights}")
            count += len(found)
    lines.sort()
    TARGET.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(lines)} words, {count / len(lines):.2f} respellings each, {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
