"""Writes the hashes of words that offend, from words on the standard input, one in a line; the words themselves are kept nowhere.

    ... | PYTHONPATH=src python build/shields/offensive.py src/scuff/resources/data/offensive.bin

Plurals and other regular forms are added to each word, but not to those that end in "=", whose forms are other words.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from scuff.shields.hashes import word_bits
from scuff.text.ragged import Ragged

ENDINGS = ("", "s", "es", "ed", "er", "ers", "in", "ing", "y", "ish", "'s")


def main() -> None:
    lines = sorted({line.strip().lower() for line in sys.stdin if line.strip()})
    stems = [line for line in lines if not line.endswith("=")]
    forms = {line.rstrip("=") for line in lines} | {stem + ending for stem in stems for ending in ENDINGS}
    forms |= {stem + stem[-1] + ending for stem in stems for ending in ENDINGS if ending[:1] in ("e", "i", "y")}
    keys = np.unique(word_bits(Ragged.of(sorted(forms))))
    Path(sys.argv[1]).write_bytes(keys.astype("<u8").tobytes())
    print(f"{len(lines)} words, {keys.size} hashes")


if __name__ == "__main__":
    main()
