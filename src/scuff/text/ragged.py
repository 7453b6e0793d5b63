"""Many small texts in one flat array: the arithmetic that everything else is built from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint32]  # code points
Ints = npt.NDArray[np.int64]  # positions, lengths, row numbers
Bits = npt.NDArray[np.uint64]  # hashes
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def spread(start: Ints, length: Ints) -> Ints:
    """The indices start, start + 1, ... of each run, one run after the other."""
    end = length.cumsum()
    index = (start - end + length).repeat(length)
    index += np.arange(index.size)
    return index


def bounds(length: Ints | Mask) -> Ints:
    """Where runs of these lengths begin, and, as the last entry, where all of them end. Of a mask: how many are true
    before each place.
    """
    out = np.zeros(length.size + 1, np.int64)
    np.cumsum(length, out=out[1:])
    return out


def filled(rows: Sequence[npt.ArrayLike], fill: int, least: int = 1) -> Ints:
    """Rows of numbers as one array: `fill` behind each, up to the longest, and to `least` columns."""
    flat = [np.asarray(row, np.int64) for row in rows]
    length = np.array([row.size for row in flat], np.int64)
    out = np.full((len(rows), max(least, int(length.max(initial=0)))), fill, np.int64)
    out[np.arange(out.shape[1]) < length[:, None]] = np.concatenate([*flat, np.empty(0, np.int64)])
    return out


def run_lengths(labels: Ints) -> Ints:
    """How often each label repeats, for labels that stand in groups."""
    return np.diff(np.append(np.flatnonzero(np.diff(labels, prepend=-1)), labels.size))


def sums(values: npt.NDArray[Any], edges: Ints) -> npt.NDArray[Any]:
    """The sum of each run values[edges[i]:edges[i+1]]; empty runs, which np.add.reduceat gets wrong, give 0."""
    running = np.zeros(
        values.size + 1, np.result_type(values.dtype, np.int64) if values.dtype != np.uint64 else np.uint64
    )
    np.cumsum(values, out=running[1:])
    return running[edges[1:]] - running[edges[:-1]]  # wraps correctly for uint64


def rows_of(at: Ints, offsets: Ints) -> Ints:
    """The run of each of some positions, which ascend: i for those in offsets[i]:offsets[i+1]."""
    return np.repeat(np.arange(offsets.size - 1), np.diff(np.searchsorted(at, offsets)))


def text_lengths(texts: Sequence[str]) -> Ints:
    """The length of each text; raises TypeError for anything but a str."""
    for at, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"expected str for text {at}, got {type(text).__name__}")
    return np.fromiter(map(len, texts), np.int64, len(texts))


@dataclass(frozen=True, eq=False)
class Ragged:
    """Texts as one array of code points; text i is codes[offsets[i]:offsets[i + 1]]."""

    codes: Codes
    offsets: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Ragged:
        """Texts from strings, joined and encoded once. Raises ValueError for a lone surrogate, which is no text."""
        edges = bounds(text_lengths(texts))
        joined = "".join(texts)
        try:
            raw = joined.encode("utf-32-le")
        except UnicodeEncodeError as error:
            at = int(np.searchsorted(edges, error.start, "right")) - 1
            raise ValueError(
                f"expected Unicode text, got the lone surrogate U+{ord(joined[error.start]):04X} "
                f"at character {error.start - edges[at]} of text {at}"
            ) from None
        return cls(np.frombuffer(raw, np.uint32), edges)

    @staticmethod
    def blank(count: int) -> Ragged:
        """So many empty texts."""
        return Ragged(np.empty(0, np.uint32), np.zeros(count + 1, np.int64))

    @staticmethod
    def join(parts: Sequence[Ragged]) -> Ragged:
        """All texts of several parts, one part after the other."""
        length = np.concatenate([part.lengths for part in parts])
        return Ragged(np.concatenate([part.codes for part in parts]), bounds(length))

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def lengths(self) -> Ints:
        """Code points per text."""
        return self.offsets[1:] - self.offsets[:-1]  # np.diff takes five times as long where there are few

    def take(self, rows: Ints) -> Ragged:
        """Some texts, in this order; one may come several times."""
        length = self.lengths[rows]
        return Ragged(self.codes[spread(self.offsets[:-1][rows], length)], bounds(length))

    def strings(self) -> list[str]:
        """The texts as strings, decoded once and then cut."""
        joined = self.codes.tobytes().decode("utf-32-le")
        edges = self.offsets.tolist()
        return [joined[a:b] for a, b in pairwise(edges)]
