"""Draw replacements of `synonym` from real texts, to be judged by hand: docs/spot-checks/synonym.md.

    python build/synonyms/sample.py DATA dev 2028 34 > sample.tsv

DATA holds folders of JSON lines (agnews/test.jsonl.gz, ...). From each set 4,000 texts are drawn by the seed, of those of 20 to 500 characters the
first 700 are taken, and of these 34 words that can be replaced, at most one in a text, each by one of its synonyms. Columns: set, likeness of both
words where they stand by the packaged encoder (needs scuff[meaning]), the text around with [old>new]. Toxic texts are not drawn.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path

from scuff.perturbations.replace import PACKAGED, likeness
from scuff.perturbations.synonym import listed_gaps
from scuff.text.corpus import Corpus

SETS = ("agnews", "sst2", "snli", "mnli", "wikitext", "jigsaw", "davidson")


def texts(file: Path, seed: int) -> list[str]:
    """The texts of a set that are neither toxic nor very short or long."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [row for row in rows if not row.get("labels") and row.get("label") not in ("offensive", "hate")]
    fields = ("text",) if "text" in rows[0] else ("premise", "hypothesis")
    found = list(dict.fromkeys(row[field] for row in rows for field in fields))
    random.Random(seed).shuffle(found)
    return [text for text in found[:4000] if 20 < len(text) < 500][:700]


def main() -> None:
    data, part, seed, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    print("set\tlikeness\ttext")
    for name in SETS:
        corpus = Corpus.of(texts(data / name / f"{part}.jsonl.gz", seed))
        all_texts = corpus.strings()
        gaps = listed_gaps(corpus, all_texts)
        rng = random.Random(f"{seed} {name}")
        rng.shuffle(gaps)
        seen: set[int] = set()
        drawn = []
        for gap, new in gaps:
            if gap.text not in seen and len(drawn) < count:
                seen.add(gap.text)
                drawn.append((gap, rng.choice(new)))
        scores = likeness(PACKAGED, all_texts, [gap for gap, _ in drawn], [[word] for _, word in drawn])
        for (gap, word), (score,) in zip(drawn, scores, strict=True):
            text = all_texts[gap.text]
            before, behind = text[max(0, gap.start - 80) : gap.start], text[gap.stop : gap.stop + 60]
            around = " ".join(f"{before}[{gap.word}>{word}]{behind}".split())
            print(f"{name}\t{score:.2f}\t{around}")


if __name__ == "__main__":
    main()
