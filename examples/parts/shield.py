"""A shield: where a text is wrong, and what it becomes there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import ClassVar

from scuff.shields import Corpus, Repairs, Shield

ENTITY = re.compile(r"&#?\w{2,31};")


@dataclass(frozen=True)
class Entities(Shield):
    """Write HTML entities as the characters that they stand for; `numbers` leaves those with names alone."""

    numbers: bool = False

    summary: ClassVar[str] = "HTML entities as characters"
    kinds = ("entity",)  # names of what it finds, for reports

    def mend(self, corpus: Corpus) -> Repairs:
        places = [
            (row, found.start(), found.end(), unescape(found[0]), "entity")
            for row, text in enumerate(corpus.strings())
            for found in ENTITY.finditer(text)
            if not self.numbers or found[0][1] == "#"
        ]
        return Repairs.at(places, self.kinds)
