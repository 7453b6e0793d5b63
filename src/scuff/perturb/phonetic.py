"""Words that sound alike."""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from ..resources import load
from .base import Facts
from .channel import Channel
from .lookup import Spellings
from .respell import Respell


@cache
def _table() -> Spellings:
    rows = [line.split("\t") for line in lzma.decompress(load("phonetic.txt.xz")).decode().split("\n")]
    weights = (weight for _, _, numbers in rows for weight in bytes.fromhex(numbers))
    return Spellings.of([word for word, _, _ in rows], [spellings.split(" ") for _, spellings, _ in rows], weights)


@cache
def _rules() -> Channel:
    return Channel.read(load("phonetic-rules.xz"))


@dataclass(frozen=True)
class Phonetic(Respell):
    """Replace a word by another spelling of its sound.

    Respellings of 129,000 words were made as in the papers: the word's sound is spelled anew by a model that learnt
    to spell sounds, and kept where WordSim calls the two identical or very similar; not one but up to 8 a word, and
    only what a model of reading reads back as the same sound. They are drawn by the spelling model's probability. Any
    other word gets one or two letters that stand for the same sound there; `listed=True` leaves it alone, as the
    papers do.
    """

    listed: bool = False

    name: ClassVar[str] = "phonetic"
    shortest: ClassVar[int] = 5  # in a shorter word one letter more is soon another sound
    facts: ClassVar[Facts] = Facts(
        summary="respell a word by its sound",
        paper="Zéroe 3.2, 3.3, A.1; thesis 3.2.1, 3.3.1",
        example="Advercerial atacs ahr harmlus.",
        scripts="Latin",
        languages=("en",),
    )

    def table(self) -> Spellings:
        return _table()

    def channel(self) -> Channel:
        return _rules()
