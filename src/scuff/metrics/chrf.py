"""chrF, the share of common character n-grams (Popović, 2015): sacrebleu's numbers, by arrays, for many pairs of texts at once.

Each pair is one row of characters, `output 00000 reference 11111...`. The six characters from each place on, packed into one
number, are sorted inside the row: an n-gram of any order is a prefix of that number, so equal ones stand side by side for all six
orders after one sort. The padding differs between the two sides, so that what runs over the end of a text matches nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ..text.ragged import Bits, Floats, Ints, Mask, bounds, spread
from ..version import __version__
from .base import Answers, Mean, Task

ORDERS, BETA = 6, 2  # n-grams of 1 to 6 characters; recall counts twice as much as precision (sacrebleu's defaults)
CELLS = 1 << 15  # characters that are compared at once: what the processor's cache holds
ROWS = 1 << 10  # pairs at once, at most
PAD = ORDERS - 1
SACREBLEU = "2.6.0"
WIDEST = 10  # bits of a character, so that six of them and one bit for the side fit into 64


@dataclass(frozen=True)
class Chrf(Mean):
    """Sentence chrF2 (Popović, 2015) with sacrebleu's defaults, averaged over texts."""

    name: ClassVar[str] = "chrf"
    summary: ClassVar[str] = "the character n-grams that a text shares with its reference (chrF), averaged over texts"
    title: ClassVar[str] = "chrF"
    tasks: ClassVar[tuple[Task, ...]] = ("text",)

    @property
    def signature(self) -> str:
        """sacrebleu's, whose version is the one that the numbers are tested to be equal to."""
        return f"nrefs:1|case:mixed|eff:yes|nc:{ORDERS}|nw:0|space:no|version:{SACREBLEU}+scuff.{__version__}"

    def values(self, answers: Answers, targets: Answers, labels: Sequence[str] = ()) -> Floats:
        return chrf(answers.tolist(), targets.tolist())


def chrf(outputs: Sequence[str], references: Sequence[str]) -> Floats:
    """Sentence chrF2 of each output, in [0, 1]; 0 for an empty one. Raises ValueError if there are not as many references."""
    return 100 * _alike(outputs, references) / 100  # as sacrebleu's, to the last bit


def chrf_distance(before: Sequence[str], after: Sequence[str]) -> Floats:
    """1 - chrF of each changed text against the original. 0 for equal texts, even empty ones."""
    out = 1 - _alike(after, before)
    out[[at for at in range(len(before)) if before[at] == after[at]]] = 0
    return out


def chrf_likeness(before: Sequence[str], after: Sequence[str]) -> Floats:
    """chrF of each changed text against the original. 1 for equal texts, even empty ones."""
    out = np.ones(len(before))
    if changed := [at for at, text in enumerate(before) if text != after[at]]:
        out[changed] = chrf([after[at] for at in changed], [before[at] for at in changed])
    return out


def _alike(outputs: Sequence[str], references: Sequence[str]) -> Floats:
    """chrF of pairs of texts."""
    if len(outputs) != len(references):
        raise ValueError(f"expected as many outputs as references, got {len(outputs)} and {len(references)}")
    matches = np.zeros((ORDERS, len(outputs)))
    lengths = np.zeros((2, len(outputs)), np.int64)
    for rows in _batches(outputs, references):
        where = rows.tolist()
        said, wanted = (_Solid.of([side[at] for at in where]) for side in (outputs, references))
        matches[:, rows] = _matches(said, wanted)
        lengths[:, rows] = said.length, wanted.length
    precision, recall, orders = np.zeros((3, len(outputs)))
    for order, match in enumerate(matches):
        mine, due = np.maximum(lengths - order, 0)
        both = (mine > 0) & (due > 0)
        precision += np.where(both, match / np.maximum(mine, 1), 0)
        recall += np.where(both, match / np.maximum(due, 1), 0)
        orders += both
    precision, recall = precision / np.maximum(orders, 1), recall / np.maximum(orders, 1)
    return (1 + BETA**2) * precision * recall / np.maximum(BETA**2 * precision + recall, 1e-16)


def _batches(outputs: Sequence[str], references: Sequence[str]) -> Iterator[Ints]:
    """Yields the rows of pairs of about the same size, which one array can hold with little padding."""
    size = np.fromiter(map(len, outputs), np.int64, len(outputs))
    size += np.fromiter(map(len, references), np.int64, len(references))
    order, at = np.argsort(size, kind="stable"), len(outputs)
    while at:
        begin = max(at - max(min(CELLS // (int(size[order[at - 1]]) + 2 * PAD), ROWS), 1), 0)
        yield order[begin:at]
        at = begin


@cache
def _spaces() -> Mask:
    """By code point, whether it is white space, which does not count; the last entry stands for all higher ones."""
    return np.array([chr(code).isspace() for code in range(0x3001)] + [False])


class _Solid(NamedTuple):
    """Texts without white space, which does not count: all their characters, and how many each text has."""

    codes: npt.NDArray[np.uint32]
    length: Ints

    @classmethod
    def of(cls, texts: list[str]) -> _Solid:
        raw = "".join(texts).encode("utf-32-le", "surrogatepass")  # a model may write half a character
        codes = np.frombuffer(raw, np.uint32)
        kept = np.flatnonzero(~_spaces().take(codes, mode="clip"))  # indices are faster than a mask
        edges = bounds(np.fromiter(map(len, texts), np.int64, len(texts)))
        return cls(codes.take(kept), np.diff(np.searchsorted(kept, edges)))


def _matches(mine: _Solid, wanted: _Solid) -> Ints:
    """How many n-grams of each order both texts of each pair have: [orders, pairs]."""
    rows, width = mine.length.size, int((mine.length + wanted.length).max(initial=0)) + PAD
    letters, bits = _numbered(mine, wanted)
    if bits > WIDEST:
        return _counted(mine, wanted)
    begin, behind = np.arange(rows) * (width + PAD), mine.length + PAD
    cells = np.ones(rows * (width + PAD), np.uint32)
    cells[spread(begin, mine.length)] = letters[: mine.codes.size]
    cells[(begin + mine.length)[:, None] + np.arange(PAD)] = 0
    cells[spread(begin + behind, wanted.length)] = letters[mine.codes.size :]
    grid = cells.reshape(rows, width + PAD)
    three = (grid[:, :-2] << np.uint32(2 * bits)) | (grid[:, 1:-1] << np.uint32(bits)) | grid[:, 2:]
    key = three[:, :width].astype(np.uint64) << np.uint64(3 * bits + 1)
    key |= (three[:, 3 : 3 + width].astype(np.uint64) << np.uint64(1)) | (np.arange(width) >= behind[:, None])
    key.sort(axis=1)
    return _paired(key, bits)


def _paired(key: Bits, bits: int) -> Ints:
    """How many n-grams of each order are on both sides, from the sorted rows of keys, whose lowest bit is the side."""
    rows, width = key.shape
    flat = key.reshape(-1)
    running = np.zeros(flat.size + 1, np.int32)  # those of one side less those of the other, up to each place
    np.cumsum((flat.astype(np.int32) & 1) * 2 - 1, out=running[1:])
    differs = flat[1:] ^ flat[:-1]
    fresh = np.ones(flat.size + 1, np.bool_)  # where a group of equal n-grams begins, and at last where all end
    starts = np.arange(0, flat.size, width)
    out = np.empty((ORDERS, rows), np.int64)
    for order in range(ORDERS):
        np.greater_equal(differs, np.uint64(1 << (1 + bits * (PAD - order))), out=fresh[1:-1])
        fresh[starts] = True
        groups = np.flatnonzero(fresh)
        left = np.abs(np.diff(running.take(groups)))  # of each group, what is left over on one side
        out[order] = (width - np.add.reduceat(left, np.searchsorted(groups, starts))) // 2
    return out


def _numbered(mine: _Solid, wanted: _Solid) -> tuple[npt.NDArray[np.uint32], int]:
    """Numbers for all characters, from 2 on, and the bits that they take. Code points serve where they are low enough, else all
    pairs have one numbering, or, where there are many different characters, as in Chinese, each pair its own.
    """
    codes = np.concatenate([mine.codes, wanted.codes])
    highest = int(codes.max(initial=0))
    if highest + 2 < 1 << WIDEST:
        return codes + np.uint32(2), WIDEST
    there = np.zeros(highest + 1, np.bool_)
    there[codes] = True
    last = int(np.count_nonzero(there)) + 1
    if last < 1 << WIDEST:
        return np.cumsum(there, dtype=np.uint32).take(codes) + np.uint32(1), WIDEST
    pair = np.concatenate([np.repeat(np.arange(each.length.size), each.length) for each in (mine, wanted)])
    known, number = np.unique(pair << 21 | codes, return_inverse=True)
    number += 2 - np.searchsorted(known, np.arange(mine.length.size) << 21)[pair]
    return number.astype(np.uint32), max(int(number.max()).bit_length(), WIDEST)


def _counted(mine: _Solid, wanted: _Solid) -> Ints:
    """The same as `_matches`, one pair after the other, for texts of more different characters than a key can tell apart."""
    out = np.empty((ORDERS, mine.length.size), np.int64)
    edges = [bounds(each.length).tolist() for each in (mine, wanted)]
    for pair in range(mine.length.size):
        texts = [
            each.codes[edge[pair] : edge[pair + 1]].tobytes() for each, edge in zip((mine, wanted), edges, strict=True)
        ]
        for order in range(ORDERS):
            one, other = (
                Counter(text[at : at + 4 * order + 4] for at in range(0, len(text) - 4 * order, 4)) for text in texts
            )
            out[order, pair] = sum((one & other).values())
    return out
