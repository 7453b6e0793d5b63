"""Paraphrase: whole texts in other words, by a sequence-to-sequence model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ..huggingface.paraphrase import Paraphraser
from ..resources import MissingResource
from ..text.corpus import Corpus
from ..text.edits import Edits
from ..text.ragged import Ragged, bounds
from ..text.random import Rng, some_of_each
from ..text.words import Spans
from .base import Facts, Perturbation

REMEMBERED = 16  # sets of texts whose paraphrases are kept: an evaluation asks for the same ones at every degree


@dataclass(frozen=True)
class Paraphrase(Perturbation):
    """Say a text in other words, by a model that was trained to do so.

    model: folder or id of a sequence-to-sequence model. prefix: what it expects before a text ("paraphrase: "). beams: how many
    paraphrases are looked for, of which one is drawn. longest: pieces of a paraphrase at most.
    """

    model: str = ""
    prefix: str = ""
    beams: int = 4
    longest: int = 128

    name: ClassVar[str] = "paraphrase"
    facts: ClassVar[Facts] = Facts(
        summary="say whole texts in other words, by a model that you name",
        paper="RobTest (Chen et al. 2023); after SCPN (Iyyer et al. 2018)",
        example="(as your model says it)",
        level="sentence",
        tags=("general",),
        unit="texts",
        keeps_tokens=False,
    )

    def units(self, corpus: Corpus) -> Spans:
        """Whole texts, without white space around them."""
        texts = corpus.strings()
        before = np.array([len(text) - len(text.lstrip()) for text in texts], np.int64)
        length = np.array([len(text.strip()) for text in texts], np.int64)
        row = np.flatnonzero(length)
        start = corpus.offsets[row] + before[row]
        return Spans(row, start, start + length[row])

    def propose(self, corpus: Corpus, rng: Rng, *, k: int = 1) -> Edits:
        if not self.model:
            raise MissingResource(
                "paraphrase needs a model: paraphrase(model='FOLDER_OR_ID'), and for some prefix='...'"
            )
        units = self.units(corpus)
        old = corpus.cut(units).strings()
        distinct = tuple(dict.fromkeys(old))
        known = dict(zip(distinct, _reworded(self, distinct), strict=True))
        count = np.array([len(known[text]) for text in old], np.int64)
        draws = rng.stream("paraphrase").bits(units.row, np.zeros_like(units.row))
        unit, option = some_of_each(count, draws, k)
        new = Ragged.of([text for each in old for text in known[each]]).take(bounds(count)[unit] + option)
        chosen = units.where(unit)
        row, start = corpus.place(chosen.row, chosen.start)
        length = chosen.stop - chosen.start
        return Edits(row, start, start + length, new, np.zeros_like(row), np.maximum(length, new.lengths))


@lru_cache(REMEMBERED)
def _reworded(paraphrase: Paraphrase, texts: tuple[str, ...]) -> list[list[str]]:
    """The paraphrases of each text."""
    if not texts:
        return []
    model = Paraphraser.load(paraphrase.model)
    return model(texts, beams=paraphrase.beams, prefix=paraphrase.prefix, longest=paraphrase.longest)
