"""Write src/scuff/resources/data/irregular.txt: WordNet's lists of irregular forms, of the lemmas that are in wordnet.npz.

    python build/wordnet/irregular.py DIR/usr/share/wordnet        (table.py says where the folder comes from)

A line: part of speech, form, its lemmas. scuff.english.morphy reads it.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

from read import FILES

from scuff.english.wordnet import PARTS, table

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/irregular.txt"


def main() -> None:
    net, lines = table(), []
    for part, name in FILES.items():
        for line in (Path(sys.argv[1]) / f"{name}.exc").read_text(encoding="utf-8").splitlines():
            form, *lemmas = line.replace("_", " ").split()
            kept = [lemma for lemma in lemmas if net.senses(lemma, PARTS[part])]
            if kept and "_" not in line:
                lines.append(" ".join([part, form, *kept]))
    TARGET.write_text("\n".join(sorted(set(lines))) + "\n", encoding="utf-8")
    print(f"{len(lines)} forms, {TARGET.stat().st_size} bytes, sha256 {sha256(TARGET.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
