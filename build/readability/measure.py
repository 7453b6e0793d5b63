"""How far a perturbed text is from its original: for a machine, for the eye, and for somebody who knows English."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

Floats = npt.NDArray[np.float64]
ASSIGNED = 144_697  # characters of Unicode 14: what an unseen one is drawn from


class CharacterModel:
    """An interpolated character n-gram model (Witten-Bell), which gives every text of Unicode a probability."""

    def __init__(self, texts: Sequence[str], order: int = 5) -> None:
        self.order = order
        self.known = np.unique(self._codes(texts))
        stream = self._numbers(texts)
        # order 0: how often a character follows anything; per order the n-grams, their counts, and of their contexts the counts and kinds
        self.grams, self.contexts = [], []
        for n in range(1, order + 1):
            keys, counts = np.unique(self._keys(stream, n), return_counts=True)
            self.grams.append((keys, counts))
            heads, first, kinds = np.unique(keys // self.size, return_index=True, return_counts=True)
            self.contexts.append((heads, np.add.reduceat(counts, first), kinds))

    @property
    def size(self) -> int:
        return len(self.known) + 1  # 0 is any other character

    def _codes(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        pad = "\n" * (self.order - 1)
        joined = pad + pad.join(f"{text}\n" for text in texts)
        return np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)

    def _numbers(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        codes = self._codes(texts)
        at = np.searchsorted(self.known, codes).clip(0, len(self.known) - 1)
        return np.where(self.known[at] == codes, at + 1, 0)

    def _keys(self, stream: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
        """Each character with the n - 1 before it, as one number; the padding at the start is left out."""
        keys = np.zeros(len(stream) - self.order + 1, np.int64)
        for back in range(n - 1, -1, -1):
            keys = keys * self.size + stream[self.order - 1 - back : len(stream) - back]
        return keys

    def bits(self, text: str) -> float:
        """Bits per character; none costs more than one that is drawn blindly from Unicode."""
        stream = self._numbers([text])
        chance = np.full(len(stream) - self.order + 1, 1 / ASSIGNED)
        for n, ((grams, counts), (heads, sums, kinds)) in enumerate(zip(self.grams, self.contexts, strict=True), 1):
            keys = self._keys(stream, n)
            count = _looked_up(grams, counts, keys)
            total, kind = _looked_up(heads, sums, keys // self.size), _looked_up(heads, kinds, keys // self.size)
            count = np.where(stream[self.order - 1 :] == 0, 0, count)  # other characters share nothing but their chance
            chance = np.where(total > 0, (count + kind * chance) / np.maximum(total + kind, 1), chance)
        return float(np.minimum(-np.log2(chance), np.log2(ASSIGNED)).mean())


def _looked_up(keys: npt.NDArray[np.int64], values: npt.NDArray[np.int64], asked: npt.NDArray[np.int64]) -> Floats:
    at = np.searchsorted(keys, asked).clip(0, len(keys) - 1)
    return np.where(keys[at] == asked, values[at], 0).astype(np.float64)


class Pictures:
    """How alike drawn characters are: 1 if the pictures are the same, 0 if they are as unlike as two letters of the alphabet.

    Cosine of slightly blurred pictures, moved sideways by up to a dot. A character is read as another if they are more alike than
    99 % of the pairs of small letters.
    """

    def __init__(self, codes: npt.NDArray[np.uint16], images: npt.NDArray[np.uint8]) -> None:
        wide = np.pad(images.astype(np.float32), ((0, 0), (1, 1), (2, 2)))
        weights = {0: 0.5, 1: 1.0, 2: 0.5}
        high, broad = wide.shape[1] - 2, wide.shape[2] - 2
        blurred = sum(weights[y] * weights[x] * wide[:, y : y + high, x : x + broad] for y in weights for x in weights)
        self.pictures = np.asarray(blurred, np.float32)
        self.pictures /= np.linalg.norm(self.pictures, axis=(1, 2), keepdims=True)
        self.rows = {chr(code): at for at, code in enumerate(codes.tolist())}
        letters = [self._cosine(a, b) for a, b in combinations("abcdefghijklmnopqrstuvwxyz", 2)]
        self.unlike = float(np.mean(letters))
        self.read_as = self._scaled(float(np.quantile(letters, 0.99)))

    def _cosine(self, a: str, b: str) -> float:
        one, other = self.pictures[self.rows[a]], self.pictures[self.rows[b]]
        return max(float((one * np.roll(other, by, 1)).sum()) for by in (-1, 0, 1))

    def _scaled(self, cosine: float) -> float:
        return max(0.0, (cosine - self.unlike) / (1 - self.unlike))

    def __call__(self, a: str, b: str) -> float:
        if a == b or a not in self.rows or b not in self.rows:
            return float(a == b)
        return self._scaled(self._cosine(a, b))


def unseen(char: str) -> bool:
    """Whether a character shows nothing, such as a zero-width space."""
    return unicodedata.category(char) == "Cf"


def looked_at(before: str, after: str, alike: Pictures) -> tuple[float, str]:
    """Returns the edits, each weighted by how different it looks, as a share of the longer text; and the text as it is read.

    What shows nothing costs nothing and is not read; a look-alike costs little and is read as what it looks like.
    """
    cost, read = 0.0, list(after)
    for op in Levenshtein.opcodes(before, after):
        old, new = before[op.src_start : op.src_end], after[op.dest_start : op.dest_end]
        if op.tag == "replace":
            for at, (a, b) in enumerate(zip(old, new, strict=True), op.dest_start):
                likeness = alike(a, b)
                cost += 1 - likeness
                read[at] = a if likeness > alike.read_as else b
        elif op.tag != "equal":
            cost += sum(not unseen(c) for c in old + new)
    return cost / max(len(before), len(after), 1), "".join(c for c in read if not unseen(c))


def measure(before: Sequence[str], after: Sequence[str], model: CharacterModel, alike: Pictures) -> dict[str, float]:
    """Means over texts; effort is the geometric mean of what the eye sees and what it cannot expect."""
    edits = [Levenshtein.normalized_distance(a, b) for a, b in zip(before, after, strict=True)]
    looks = [looked_at(a, b, alike) for a, b in zip(before, after, strict=True)]
    clean = np.array([model.bits(text) for text in before])
    surprise = float(np.mean(np.array([model.bits(text) for text in after]) - clean))
    read = float(np.mean(np.array([model.bits(text) for _, text in looks]) - clean))
    seen = float(np.mean([cost for cost, _ in looks]))
    return {
        "edits": float(np.mean(edits)),
        "seen": seen,
        "surprise": surprise,
        "surprise_read": read,
        "effort": float(np.sqrt(seen * max(read, 0.0))),
    }
