"""Write src/scuff/resources/data/visual.npz: the 20 nearest neighbours of each character in three spaces.

    python build/glyphs/table.py carry/glyphs.npz NEIGHBOURS_ICES.npz NEIGHBOURS_VAEGAN.npz

dces needs no pictures: characters whose Unicode names speak of the same letter in the same case, the fewest other words first. Han
ideographs and Hangul syllables (38,000 of 54,000 characters, of which a text holds whole sentences that no reader of other scripts
can check) are neither replaced nor offered in the learnt spaces: with them the table would be three times as large.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/visual.npz"
COUNT = 20
Codes = npt.NDArray[np.uint16]
Likeness = npt.NDArray[np.uint8]


def alphabetic(codes: Codes) -> npt.NDArray[np.bool_]:
    name = [unicodedata.name(chr(code), "") for code in codes.tolist()]
    return np.array([not re.match(r"CJK (UNIFIED|COMPATIBILITY) IDEOGRAPH|HANGUL SYLLABLE", n) for n in name])


def learnt(path: str, codes: Codes) -> tuple[Codes, Likeness]:
    """The nearest among the characters that are kept."""
    with np.load(path) as file:
        data = {name: file[name] for name in file.files}
    kept = np.zeros(0x10000, np.bool_)
    kept[codes] = True
    near, alike = np.zeros((codes.size, COUNT), np.uint16), np.zeros((codes.size, COUNT), np.uint8)
    rows = np.searchsorted(data["codes"], codes)
    for at, row in enumerate(rows.tolist()):
        some = np.flatnonzero(kept[data["near"][row]] & (data["likeness"][row] > 0))[:COUNT]
        near[at, : some.size] = data["near"][row, some]
        alike[at, : some.size] = np.maximum(np.round(data["likeness"][row, some].astype(np.float32) * 255), 1)
    return near, alike


def described(codes: Codes) -> tuple[Codes, Likeness]:
    """Same letter, same case; likeness is the share of words that two names have in common."""
    words = {code: set(unicodedata.name(chr(code), "").split()) for code in codes.tolist()}
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for code in codes.tolist():
        found = re.fullmatch(
            r"(?:[A-Z-]+ )+?(SMALL |CAPITAL |)LETTER (?:SMALL CAPITAL )?([A-Z-]+)(?: WITH .*)?",
            unicodedata.name(chr(code), ""),
        )
        if found:
            groups[found[1], found[2]].append(code)
    near, alike = np.zeros((codes.size, COUNT), np.uint16), np.zeros((codes.size, COUNT), np.uint8)
    row = {code: at for at, code in enumerate(codes.tolist())}
    for group in groups.values():
        for code in group:
            share = {n: len(words[code] & words[n]) / len(words[code] | words[n]) for n in group if n != code}
            best = sorted(share, key=lambda n: (-share[n], n))[:COUNT]
            near[row[code], : len(best)] = best
            alike[row[code], : len(best)] = [round(share[n] * 255) for n in best]
    return near, alike


def main(glyphs: str, ices: str, vaegan: str) -> None:
    codes: Codes = np.load(glyphs)["codes"]
    codes = codes[alphabetic(codes)]
    spaces = {"vaegan": learnt(vaegan, codes), "ices": learnt(ices, codes), "dces": described(codes)}
    # neighbours as distances from the character, column by column: small numbers, which pack well
    arrays = {name: (near - codes[:, None]).T.astype(np.uint16) * (near.T > 0) for name, (near, _) in spaces.items()}
    likeness = {
        f"{name}_likeness": -np.diff(alike.astype(np.int16), prepend=255, axis=1)
        .T.astype(np.int16)
        .clip(-255, 255)
        .astype(np.uint8)
        for name, (_, alike) in spaces.items()
    }
    np.savez_compressed(TARGET, codes=codes, **arrays, **likeness)
    for name, (near, _) in spaces.items():
        print(
            f"{name}: {(near[:, 0] > 0).sum()} characters with neighbours, {(near > 0).sum() / max(1, (near[:, 0] > 0).sum()):.1f} each"
        )
    print(f"{codes.size} characters, {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
