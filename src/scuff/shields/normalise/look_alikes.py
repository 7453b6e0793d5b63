"""What Normalise knows of characters: what each is, its script, and what it looks like. Built by build/shields/look_alikes.py."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ...resources import load
from ...text.ragged import Codes

Bytes = npt.NDArray[np.uint8]

# Kinds of characters. 0: nothing to do with it.
INVISIBLE, BIDI, DELETE, SPACE, LINE, MARK = 1, 2, 3, 4, 5, 6  # not seen, or seen only on the letter before
# other forms of plain letters; SUPER: raised or lowered; FLAG: regional indicators
WIDE, STYLED, SUPER, FLAG = 7, 8, 9, 10
# ORDINARY: Latin letters that many languages have beside a to z
ORDINARY, LETTER, NUMBER, SYMBOL, SIGN, POINT = 11, 12, 13, 14, 15, 16  # POINT: looks like plain punctuation

# Scripts. 0: none, or all.
LATIN, GREEK, CYRILLIC, LEFTWARD, BRAHMIC, EASTERN, CHINESE, OTHER = 1, 2, 3, 4, 5, 6, 7, 8


@dataclass(frozen=True, eq=False)
class LookAlikes:
    """kind and script have an entry for each code point; `number` says which row of near, cost, cyrillic, greek is that of a
    code point (0: none).
    """

    kind: Bytes
    script: Bytes
    number: npt.NDArray[np.uint16]
    near: Bytes  # [n, 4] printable ASCII, the most alike first; 0: none
    cost: Bytes  # [n, 4] how unlike: 0 the same letter in another style, 10 by Unicode's list, more by the learnt space
    cyrillic: Codes
    greek: Codes


@cache
def look_alikes() -> LookAlikes:
    """The shipped table."""
    with np.load(io.BytesIO(load("look-alikes.npz"))) as file:
        codes = file["codes"]
        number = np.zeros(0x110000, np.uint16)
        number[codes] = np.arange(1, codes.size + 1)

        def padded(name: str) -> npt.NDArray[np.uint8]:
            rows = file[name]
            return np.concatenate([np.zeros_like(rows[:1]), rows])

        return LookAlikes(
            kind=file["kind"],
            script=file["script"],
            number=number,
            near=padded("near"),
            cost=padded("cost"),
            cyrillic=padded("cyrillic").astype(np.uint32),
            greek=padded("greek").astype(np.uint32),
        )
