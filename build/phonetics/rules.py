"""Respelling rules for words outside the table: letters that stand for the same sound, by the letters around them.

    python build/phonetics/rules.py      # writes src/scuff/resources/data/phonetic-rules.xz

From the aligned letters and sounds of gruut-lang-en. A rule must be sure twice: the letters have that sound in that context, and the new
letters are read as that sound before the letter that follows.
"""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from prepare import WORD, plain

from channel import Context, Rule, contexts, pack, rates

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/phonetic-rules.xz"


def units(line: str) -> list[tuple[str, str]]:
    """(letters, sound) of an aligned word; silent letters have no sound."""
    split = (unit.replace("|", "").rsplit("}", 1) for unit in line.split())
    return [(letters, "" if sound == "_" else sound) for letters, sound in split]


def place(begins: bool, ends: bool) -> int:
    return 0 if begins else 2 if ends else 1


def main() -> None:
    spec = find_spec("gruut_lang_en")
    if spec is None or spec.origin is None:
        sys.exit("needs gruut-lang-en: pip install gruut-lang-en")
    lexicon = sqlite3.connect(Path(spec.origin).parent / "lexicon.db")
    aligned = {
        w: plain(line) for w, line in lexicon.execute("select word, alignment from g2p_alignments") if WORD.fullmatch(w)
    }
    heard: dict[tuple[Context, str], Counter[str]] = defaultdict(Counter)  # which sounds some letters have in a context
    read: dict[tuple[str, str, int], Counter[str]] = defaultdict(Counter)  # and before a letter, at a place
    spelled: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)  # which letters a sound has at a place
    met: Counter[Context] = Counter()
    for word, line in aligned.items():
        around, at = contexts(word), 0
        met.update(around)
        for letters, sound in units(line):
            after = (word + "^")[at + len(letters)]
            where = place(at == 0, after == "^")
            heard[around[at], letters][sound] += 1
            read[letters, after, where][sound] += 1
            spelled[sound, where][letters] += 1
            at += len(letters)
    seen: Counter[tuple[Context, Rule]] = Counter()
    for (context, letters), found in heard.items():
        if len(letters) > 2:
            continue
        after = context[2] if len(letters) == 1 else "?"
        for sound, count in found.items():
            sure = count / found.total()
            if not sound or sure < 0.9:
                continue
            where = place(context[0] == "^", context[2] == "^")
            options = spelled[sound, where]
            total = options.total()
            for other, weight in options.items():
                nexts = (
                    read[other, after, where]
                    if len(letters) == 1
                    else sum((read[other, c, where] for c in "aeioutsrn"), Counter())
                )
                back = nexts[sound] / max(1, nexts.total())
                if other != letters and len(other) <= 3 and "'" not in other and weight > 0.02 * total and back > 0.9:
                    seen[context, (len(letters), other)] += count * sure**2 * back**2 * weight / total  # type: ignore[assignment]
    pack(rates(seen, met, strength=2.0, most=12, least=0.02), TARGET)


if __name__ == "__main__":
    main()
